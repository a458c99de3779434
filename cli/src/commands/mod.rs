//! One file per command: arguments in, results out.

pub mod check;
pub mod compile;
pub mod decrypt;
pub mod dump;
pub mod encrypt;
pub mod eval;
pub mod explain;
pub mod keygen;
pub mod run;

use crate::failure::Failure;
use runtime::math::sampler::Sampler;
use std::path::Path;

/// Randomness from the system.
fn system_sampler() -> Result<Sampler, Failure> {
    Sampler::from_system().map_err(|e| Failure::System {
        what: "cannot get randomness".into(),
        source: std::io::Error::other(e),
    })
}

/// Makes a folder and those above it.
fn make_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path)
        .map_err(|source| Failure::System { what: format!("cannot make {}", path.display()), source })
}

/// Size of a file that was just written.
fn file_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |m| m.len())
}
