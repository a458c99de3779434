//! The fhec runtime.

pub mod ckks;
pub mod math;
pub mod ring;
pub mod rlwe;
