//! Newtypes for what crosses modules, and which way each of them runs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Rescales left: limbs of Q in use minus one. Fresh values have the highest, spent ones 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Level(pub u32);

impl Level {
    /// The level after `n` rescales, if there is one.
    pub fn after_rescales(self, n: u32) -> Option<Level> {
        self.0.checked_sub(n).map(Level)
    }
    /// Limbs of Q a ciphertext at this level has.
    pub fn limbs(self) -> usize {
        self.0 as usize + 1
    }
}

/// A node of a plan; operands have smaller numbers than their users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Position in the plan's node list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Bytes of memory or storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bytes(pub u64);

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            b if b >= 1 << 30 => (b as f64 / (1u64 << 30) as f64, "GiB"),
            b if b >= 1 << 20 => (b as f64 / (1u64 << 20) as f64, "MiB"),
            b if b >= 1 << 10 => (b as f64 / 1024.0, "KiB"),
            b => return write!(f, "{b} B"),
        };
        write!(f, "{value:.1} {unit}")
    }
}
