//! The fhec runtime.

pub mod ckks;
pub mod data;
pub mod exec;
pub mod files;
pub mod gl;
pub mod math;
pub mod ring;
pub mod rlwe;
