//! The fhec runtime.

pub mod math;
pub mod ring;
pub mod rlwe;
