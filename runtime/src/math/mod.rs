//! Exact arithmetic on words and on vectors of residues, random sampling, and the canonical embedding.

pub(crate) mod buffer;
pub mod embedding;
pub mod fft;
pub mod modulus;
pub mod ntt;
pub(crate) mod parallel;
pub(crate) mod products;
pub mod rns;
pub mod root;
pub mod sampler;
pub(crate) mod simd;

pub use plan::prime;
