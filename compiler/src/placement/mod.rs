//! Where operations run: the level, scheme and layout of every operation, and where values are bootstrapped or converted, at
//! the least cost. Knows nothing of tensors: a program comes as a [`PlanningGraph`].
//!
//! Minimising bootstraps on a general graph is NP-complete (Paindavoine, Vialla 2015), but programs keep few values alive at a
//! time. [`exact`] walks the operations in an order that keeps few of them alive and carries, for every way the live values may
//! be available, the least cost so far; a state that another one dominates is dropped. It proves its result, or says how far
//! from the least cost it may be. [`greedy`] has the same signature and takes the first way that works.
//!
//! Costs are whole numbers in the unit of the caller, so that sums are exact and every machine decides alike.

mod bound;
mod check;
mod exact;
mod front;
pub mod graph;
mod greedy;
mod levels;
mod options;
mod order;
mod visit;

pub use bound::least_cost;
pub use check::check;
pub use exact::exact;
pub use graph::{Bootstrap, Conversion, Cost, Mode, Operation, PlanningGraph, Space};
pub use greedy::greedy;
pub use levels::MAX_LEVEL;

/// How a placement was found, for messages: [`greedy`] or [`exact`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// as late as possible; bootstraps only where nothing else works
    Greedy,
    /// the least cost
    #[default]
    Exact,
}

impl Policy {
    /// Places a graph.
    ///
    /// # Errors
    /// As [`exact`] and [`greedy`].
    pub fn place(self, graph: &PlanningGraph) -> Result<Placement, NoPlacement> {
        match self {
            Policy::Greedy => greedy(graph),
            Policy::Exact => exact(graph),
        }
    }
}

/// One way to run a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// the operations in the order in which they run
    pub order: Vec<usize>,
    /// by operation: how it runs
    pub steps: Vec<Step>,
    /// what it costs
    pub cost: Cost,
    /// no placement costs less; equal to `cost` when that is proved to be the least
    pub lower_bound: Cost,
}

/// How an operation runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// which of its modes
    pub mode: usize,
    /// level at which all operands are read
    pub level: u32,
    /// what is done with the result, in order
    pub actions: Vec<Action>,
}

/// What makes a value available elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Raises it to a level.
    Bootstrap {
        /// where
        space: usize,
        /// level after
        target: u32,
    },
    /// Takes it to another space.
    Convert {
        /// which conversion of the graph
        conversion: usize,
        /// level at which it is read
        level: u32,
    },
}

impl Placement {
    /// Whether the cost is known to be the least.
    pub fn proved(&self) -> bool {
        self.lower_bound >= self.cost
    }

    /// Largest part of the cost that another placement could save, 0 when the cost is proved to be the least.
    pub fn gap(&self) -> f64 {
        if self.proved() { 0.0 } else { (self.cost - self.lower_bound) as f64 / self.cost as f64 }
    }

    /// Number of bootstraps of values.
    pub fn bootstraps(&self) -> usize {
        let actions = self.steps.iter().flat_map(|s| &s.actions);
        actions.filter(|a| matches!(a, Action::Bootstrap { .. })).count()
    }
}

/// Why there is no placement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPlacement {
    /// An operation cannot run: whatever was done before, its operands do not reach a level it needs.
    #[error("operation {operation} needs operands at level {needed}, no more than {available} can be had")]
    OutOfReach {
        /// the operation
        operation: usize,
        /// least level its operands need
        needed: u32,
        /// highest level they can have together
        available: u32,
    },
    /// The graph breaks a rule of [`PlanningGraph`].
    #[error("operation {operation}: {rule}")]
    Malformed {
        /// the operation, or the number of operations if it is about none
        operation: usize,
        /// the rule
        rule: &'static str,
    },
}
