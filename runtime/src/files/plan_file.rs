//! A compiled plan in a file. It is verified when it is read: a stranger may have written it.

use super::container::{self, Container, FileError, Kind};
use plan::Plan;
use plan::verify::{VerifyError, verify};
use std::path::Path;

/// Why a plan file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// The file is not a right container.
    #[error(transparent)]
    File(#[from] FileError),
    /// The plan breaks a rule.
    #[error("{file}: {source}")]
    Verify {
        /// the file
        file: String,
        /// the rule
        source: VerifyError,
    },
}

/// Writes a plan.
///
/// # Errors
/// When the file cannot be written.
pub fn write_plan(path: &Path, plan: &Plan) -> Result<(), FileError> {
    container::write(path, Kind::Plan, &plan.hash(), plan, &[])
}

/// Reads and verifies a plan.
///
/// # Errors
/// When the file cannot be read, or the plan is not a right one.
pub fn read_plan(path: &Path) -> Result<Plan, PlanFileError> {
    let file = Container::open(path, Kind::Plan, None)?;
    let plan: Plan = file.header()?;
    if plan.hash() != file.plan_hash() {
        return Err(file.content("plan", file.plan_hash(), plan.hash()).into());
    }
    file.finish()?;
    verify(&plan).map_err(|source| PlanFileError::Verify { file: path.display().to_string(), source })?;
    Ok(plan)
}
