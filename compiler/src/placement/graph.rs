//! A program as the planner sees it: operations on values, spaces in which values can be available, and what everything costs.

use super::NoPlacement;
use super::levels::MAX_LEVEL;

/// A cost, in the unit of the caller.
pub type Cost = u64;

/// Where a value can be available: a layout in a scheme. Available at a level, it can be read at that level, and at every lower
/// one at the price of a drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// price of a copy of one ciphertext at a level, by that level; empty where drops are free
    pub drop: Vec<Cost>,
    /// how values gain levels here, if they can
    pub bootstrap: Option<Bootstrap>,
}

/// Bootstrapping in a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// level at which it reads the value
    pub from: u32,
    /// levels it can be raised to, with the price per ciphertext; the levels that bootstrapping itself consumes lie above
    pub targets: Vec<(u32, Cost)>,
}

/// A way from one space to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// read here
    pub from: usize,
    /// available there
    pub to: usize,
    /// levels it spends
    pub depth: u32,
    /// price per ciphertext, by the level at which the value is read
    pub cost: Vec<Cost>,
}

/// A way to run an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// space in which every operand is read, in the order of the operands
    pub reads: Vec<usize>,
    /// space of the result
    pub gives: usize,
    /// levels it spends
    pub depth: u32,
    /// lowest level at which operands are read, `depth` or more
    pub least: u32,
    /// price of the whole operation, by the level at which operands are read; there is no higher level
    pub cost: Vec<Cost>,
}

/// An operation and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// operations whose results it reads
    pub args: Vec<usize>,
    /// ciphertexts of the result
    pub weight: u64,
    /// whether the result may be bootstrapped
    pub refreshable: bool,
    /// ways to run it
    pub modes: Vec<Mode>,
}

/// A program. Operations come after those they read; a result that nobody reads is an output, at any level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanningGraph {
    /// where values can be available
    pub spaces: Vec<Space>,
    /// ways between spaces
    pub conversions: Vec<Conversion>,
    /// operations in a topological order
    pub operations: Vec<Operation>,
}

impl PlanningGraph {
    /// A graph in one space with free drops, where bootstraps take a value from level `from` to level `top`.
    pub fn single(from: u32, top: u32, price: Cost) -> PlanningGraph {
        let bootstrap = Bootstrap { from, targets: vec![(top, price)] };
        let space = Space { drop: vec![], bootstrap: Some(bootstrap) };
        PlanningGraph { spaces: vec![space], ..PlanningGraph::default() }
    }

    /// Adds an operation whose result may be bootstrapped, and gives its number.
    pub fn add(&mut self, args: &[usize], weight: u64, modes: Vec<Mode>) -> usize {
        self.operations.push(Operation { args: args.to_vec(), weight, refreshable: true, modes });
        self.operations.len() - 1
    }

    /// Readers of every result, each once, in order.
    pub fn readers(&self) -> Vec<Vec<usize>> {
        let mut readers = vec![Vec::new(); self.operations.len()];
        for (i, op) in self.operations.iter().enumerate() {
            for &a in &op.args {
                if readers[a].last() != Some(&i) {
                    readers[a].push(i);
                }
            }
        }
        readers
    }

    /// Whether some space has a bootstrap.
    pub fn bootstraps(&self) -> bool {
        self.spaces.iter().any(|s| s.bootstrap.is_some())
    }

    /// Price of a copy of `weight` ciphertexts at a level.
    pub fn drop_cost(&self, space: usize, weight: u64, level: u32) -> Cost {
        let drop = &self.spaces[space].drop;
        drop.get(level as usize).map_or(0, |c| c * weight)
    }

    /// Checks the rules: operands before readers, spaces that exist, levels below the limit, costs that do not fall with level.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), NoPlacement> {
        let count = self.operations.len();
        let broken = |operation: usize, rule: &'static str| Err(NoPlacement::Malformed { operation, rule });
        let known = |s: usize| s < self.spaces.len();
        for s in &self.spaces {
            let high = s.bootstrap.iter().flat_map(|b| &b.targets).any(|t| t.0 > MAX_LEVEL);
            if high || !rises(&s.drop) {
                return broken(count, "targets are too high, or a drop costs more to a lower level");
            }
        }
        for c in &self.conversions {
            if !known(c.from) || !known(c.to) || c.cost.len() > MAX_LEVEL as usize + 1 || !rises(&c.cost) {
                return broken(count, "a conversion names no space, or its costs are out of order");
            }
        }
        for (i, op) in self.operations.iter().enumerate() {
            if op.args.iter().any(|&a| a >= i) {
                return broken(i, "operands come before it");
            }
            for m in &op.modes {
                if m.reads.len() != op.args.len() || !m.reads.iter().all(|&s| known(s)) || !known(m.gives) {
                    return broken(i, "a mode reads every operand in a space");
                }
                if m.cost.len() > MAX_LEVEL as usize + 1 || !rises(&m.cost) || m.least < m.depth {
                    return broken(i, "levels suffice for the depth, and costs do not fall with the level");
                }
            }
        }
        Ok(())
    }
}

fn rises(costs: &[Cost]) -> bool {
    costs.is_sorted()
}
