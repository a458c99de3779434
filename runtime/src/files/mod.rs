//! Files of plans, keys and ciphertexts. Complete or absent, versioned, tied to their plan, checksummed.

mod atomic;
mod ciphertexts;
mod container;
mod keys;
mod plan_file;

pub(crate) use atomic::write_atomically;
pub use ciphertexts::{read_inputs, read_outputs, write_inputs, write_outputs};
pub use container::{Container, FileError, Kind, VERSION, is_container};
pub use keys::{
    is_secret, read_evaluation, read_public, read_secret, write_evaluation, write_public, write_secret,
};
pub use plan_file::{PlanFileError, read_plan, write_plan};
