//! Files of plans, keys and ciphertexts. Complete or absent, versioned, tied to their plan, checksummed.

mod atomic;
mod container;
mod plan_file;

pub(crate) use atomic::write_atomically;
pub use container::{Container, FileError, Kind, VERSION};
pub use plan_file::{read_plan, write_plan};
