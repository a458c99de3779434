//! One step of the dynamic programme: what makes two visits of operations alike, and how a visit changes a state.

use super::bound::Bounds;
use super::front::State;
use super::graph::{Cost, Mode, PlanningGraph};
use super::levels::{highest, up_to};
use super::order::distinct;

/// A visit of an operation, as far as the states after it depend on it. Values are given by their position among those alive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Visit {
    /// number of the operation's weight, modes, and whether it is refreshable
    pub kind: usize,
    /// position of every operand
    pub args: Vec<usize>,
    /// by live value, that of the operation last: least and highest of the levels that the readers to come need at least;
    /// None for a value that has no more readers
    pub stays: Vec<Option<(u32, u32)>>,
}

/// The readers of every value that are still to come.
pub struct Readers<'g> {
    graph: &'g PlanningGraph,
    /// by value and number of readers to come: least and highest level they need at least
    wishes: Vec<Vec<(u32, u32)>>,
}

impl<'g> Readers<'g> {
    /// All readers, in an order of the operations.
    pub fn new(graph: &'g PlanningGraph, order: &[usize], bounds: &Bounds) -> Readers<'g> {
        let mut wishes: Vec<Vec<(u32, u32)>> = vec![Vec::new(); order.len()];
        for &reader in order.iter().rev() {
            let needed = bounds.run[reader];
            for a in distinct(&graph.operations[reader].args) {
                let (low, high) = wishes[a].last().copied().unwrap_or((needed, needed));
                wishes[a].push((low.min(needed), high.max(needed)));
            }
        }
        Readers { graph, wishes }
    }

    /// Takes note that an operation has run.
    pub fn pass(&mut self, operation: usize) {
        for a in distinct(&self.graph.operations[operation].args) {
            self.wishes[a].pop();
        }
    }

    /// Levels that the readers to come need at least, the least and the highest one.
    pub fn wish(&self, value: usize) -> Option<(u32, u32)> {
        self.wishes[value].last().copied()
    }
}

/// Highest level at which an operation can run from a state in a mode.
pub fn reach(state: &[u64], visit: &Visit, mode: &Mode, spaces: usize) -> Option<u32> {
    let top = mode.cost.len().checked_sub(1)? as u32;
    let mut reads = visit.args.iter().zip(&mode.reads);
    reads.try_fold(top, |least, (&a, &space)| Some(least.min(highest(state[a * spaces + space])?)))
}

/// The state after the operands are read at a level, and the price of the copies that takes.
pub fn read(
    graph: &PlanningGraph,
    state: &[u64],
    visit: &Visit,
    live: &[usize],
    mode: &Mode,
    level: u32,
) -> (State, Cost) {
    let (mut after, mut price): (State, Cost) = (state.into(), 0);
    for (&a, &space) in visit.args.iter().zip(&mode.reads) {
        let set = &mut after[a * graph.spaces.len() + space];
        if *set >> level & 1 == 0 {
            price += graph.drop_cost(space, graph.operations[live[a]].weight, level);
            *set |= 1 << level;
        }
    }
    (after, price)
}

/// The state without values that have no more readers, and with that of the operation: None if a value is out of reach for a
/// reader. Levels below all readers are left out.
pub fn keep(state: &[u64], own: &[u64], visit: &Visit) -> Option<State> {
    let mut next = Vec::with_capacity(state.len() + own.len());
    let values = state.chunks(own.len()).chain([own]);
    for (sets, &(low, high)) in values.zip(&visit.stays).filter_map(|(v, s)| Some((v, s.as_ref()?))) {
        sets.iter().filter_map(|&s| highest(s)).max().filter(|&top| top >= high)?;
        let below = up_to(low) >> 1;
        next.extend(sets.iter().map(|&s| s & !below));
    }
    Some(next.into())
}
