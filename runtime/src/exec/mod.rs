//! Execution of plans: one executor for every backend, the data that go in and come out, and what a run reports.
//!
//! [`executor`] walks the nodes of a verified plan; a [`Backend`] does one operation on one ciphertext. Backends:
//! [`clear`] (slots in f64), [`book`] (levels and scales only), and the two schemes.

pub mod backend;
pub mod book;
pub mod ckks;
mod ckks_linear;
pub mod clear;
pub mod client;
pub mod executor;
pub mod gl;
mod gl_linear;
pub mod inputs;
pub mod layout;
pub mod memory;
pub mod noise;
pub mod precision;
mod rows;
pub mod scheme;

pub use backend::{Backend, Map, OpError};
pub use executor::{Encrypted, ExecError, Run, Step, Value, execute};
pub use inputs::{InputError, Required, check_inputs};
pub use precision::Precision;
pub use scheme::{EncryptionKey, Scheme};
