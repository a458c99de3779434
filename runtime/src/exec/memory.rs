//! Whether a plan fits into the memory there is.

use plan::{Bytes, Plan};

/// A plan larger than the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan needs about {needed} of memory, {available} are available")]
pub struct MemoryError {
    /// the planner's estimate
    pub needed: Bytes,
    /// what the system can give
    pub available: Bytes,
}

/// Memory the system can give to this process, where it says so.
pub fn available() -> Option<Bytes> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes(kib << 10))
}

/// Checks the planner's estimate against the memory of the machine; passes where the system does not say.
///
/// # Errors
/// Both numbers.
pub fn check(plan: &Plan) -> Result<(), MemoryError> {
    let needed = plan.estimate.peak_bytes;
    match available() {
        Some(available) if needed > available => Err(MemoryError { needed, available }),
        _ => Ok(()),
    }
}
