//! What the rest of a graph costs at least: for every operation its least price, and for the deepest path the price of running
//! it alone, bootstraps included, from the level at which its last value exists.
//!
//! The path is a chain, so its least cost follows by going backwards over its operations and levels. Every placement of the graph
//! places the chain too, and pays at least the least price for each of the other operations.

use super::graph::{Bootstrap, Cost, PlanningGraph};
use super::levels::highest;

/// Bounds of every operation and of the deepest path.
pub struct Bounds {
    /// least level at which the operands of an operation are read
    pub run: Vec<u32>,
    /// least price of an operation
    cost: Vec<Cost>,
    /// the deepest path, in order; empty with several spaces
    path: Vec<usize>,
    /// by operation of the path and level of its operand on the path: least price of the path from there on
    to_go: Vec<Vec<Cost>>,
}

/// What is left at some point of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// least price of the operations that are not on the path
    pub others: Cost,
    /// operations of the path that have run
    pub passed: usize,
}

impl Bounds {
    /// Without bootstraps an operation runs no lower than its readers make it; with them, no lower than its own depth.
    pub fn new(graph: &PlanningGraph) -> Bounds {
        let count = graph.operations.len();
        let (mut run, mut cost, mut out) = (vec![0; count], vec![0; count], vec![0; count]);
        for (i, op) in graph.operations.iter().enumerate().rev() {
            let levels = op.modes.iter().map(|m| m.least.max(out[i] + m.depth));
            run[i] = levels.clone().min().unwrap_or(0);
            let prices = op.modes.iter().zip(levels).filter_map(|(m, l)| m.cost.get(l as usize));
            cost[i] = prices.copied().min().unwrap_or(0);
            if !graph.bootstraps() {
                op.args.iter().for_each(|&a| out[a] = out[a].max(run[i]));
            }
        }
        let path = if graph.spaces.len() == 1 { deepest_path(graph) } else { vec![] };
        let to_go = to_go(graph, &path, &run);
        Bounds { run, cost, path, to_go }
    }

    /// The least price of everything.
    pub fn all(&self) -> Cost {
        let order: Vec<usize> = (0..self.run.len()).collect();
        let rest = self.rests(&order)[0];
        self.to_go(rest, None).saturating_add(rest.others)
    }

    /// What is left before every operation of an order, and at its end.
    pub fn rests(&self, order: &[usize]) -> Vec<Rest> {
        let mut on_path = vec![false; order.len()];
        self.path.iter().for_each(|&i| on_path[i] = true);
        let mut rests = vec![Rest { others: 0, passed: self.path.len() }];
        for &i in order.iter().rev() {
            let Rest { others, passed } = rests[rests.len() - 1];
            rests.push(match on_path[i] {
                true => Rest { others, passed: passed - 1 },
                false => Rest { others: others + self.cost[i], passed },
            });
        }
        rests.reverse();
        rests
    }

    /// The value that the next operation of the path reads.
    pub fn value(&self, rest: Rest) -> Option<usize> {
        let next = rest.passed < self.path.len();
        rest.passed.checked_sub(1).filter(|_| next).map(|last| self.path[last])
    }

    /// Least price of the rest of the path from the levels at which that value exists.
    pub fn to_go(&self, rest: Rest, levels: Option<u64>) -> Cost {
        let Some(by_level) = self.to_go.get(rest.passed) else { return 0 };
        let lowest = by_level.last().copied().unwrap_or(0);
        levels.and_then(highest).map_or(lowest, |l| by_level.get(l as usize).copied().unwrap_or(lowest))
    }
}

/// No placement of a graph costs less; found without placing it.
pub fn least_cost(graph: &PlanningGraph) -> Cost {
    Bounds::new(graph).all()
}

/// The path that spends most levels, from an operation without operands to an output.
fn deepest_path(graph: &PlanningGraph) -> Vec<usize> {
    let depth = |i: usize| graph.operations[i].modes.iter().map(|m| m.depth).min().unwrap_or(0);
    // levels, then operations, so that the path has as many of them as it can
    let mut longest: Vec<(u32, usize)> = Vec::with_capacity(graph.operations.len());
    let mut from: Vec<Option<usize>> = Vec::with_capacity(graph.operations.len());
    for (i, op) in graph.operations.iter().enumerate() {
        let last = op.args.iter().copied().max_by_key(|&a| longest[a]);
        let before = last.map_or((0, 0), |a| longest[a]);
        longest.push((before.0 + depth(i), before.1 + 1));
        from.push(last);
    }
    let end = (0..longest.len()).max_by_key(|&i| longest[i]);
    let mut path: Vec<usize> = std::iter::successors(end, |&i| from[i]).collect();
    path.reverse();
    path
}

fn to_go(graph: &PlanningGraph, path: &[usize], run: &[u32]) -> Vec<Vec<Cost>> {
    let top = |i: &usize| graph.operations[*i].modes.iter().map(|m| m.cost.len()).max().unwrap_or(0);
    let bootstrap = graph.spaces.first().and_then(|s| s.bootstrap.as_ref());
    let targets = bootstrap.iter().flat_map(|b| &b.targets).map(|t| t.0 as usize + 1);
    let levels = path.iter().map(top).chain(targets).max().unwrap_or(0);
    let mut all = vec![vec![]; path.len()];
    // of the value that the next operation of the path reads
    let mut next = vec![0; levels];
    for (at, &i) in path.iter().enumerate().rev() {
        let op = &graph.operations[i];
        let exists = match bootstrap.filter(|_| op.refreshable && at + 1 < path.len()) {
            Some(b) => refreshed(b, op.weight, &next),
            None => next,
        };
        let mut least = vec![Cost::MAX; levels];
        for m in &op.modes {
            for level in m.least.max(run[i]) as usize..m.cost.len() {
                let price = exists[level - m.depth as usize].saturating_add(m.cost[level]);
                least[level] = least[level].min(price);
            }
        }
        for level in 1..levels {
            least[level] = least[level].min(least[level - 1]);
        }
        next = least.clone();
        all[at] = least;
    }
    all
}

/// Least price to go from a value at every level, when it may be bootstrapped first.
fn refreshed(b: &Bootstrap, weight: u64, to_go: &[Cost]) -> Vec<Cost> {
    let raised = b.targets.iter().map(|t| to_go[t.0 as usize].saturating_add(weight * t.1)).min();
    let raised = raised.unwrap_or(Cost::MAX);
    let of = |(l, &c): (usize, &Cost)| if l >= b.from as usize { c.min(raised) } else { c };
    to_go.iter().enumerate().map(of).collect()
}
