//! What a value can become: all useful ways to bootstrap and convert it, none of which another one beats.

use super::Action;
use super::graph::{Cost, Operation, PlanningGraph};
use super::levels::{highest, up_to};

/// A way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// by space: levels at which the value exists
    pub sets: Vec<u64>,
    /// what it costs
    pub cost: Cost,
    /// what is done, in order
    pub actions: Vec<Action>,
}

/// All ways from the result of an operation that exists at `sets`.
///
/// Doing it at once costs no more than doing it later: prices do not change, and what exists stays.
pub fn options(graph: &PlanningGraph, op: &Operation, sets: &[u64]) -> Vec<Choice> {
    let weight = op.weight;
    let mut found = vec![Choice { sets: sets.to_vec(), cost: 0, actions: vec![] }];
    let mut at = 0;
    while at < found.len() {
        let from = found[at].clone();
        for next in bootstraps(graph, op, &from).into_iter().chain(conversions(graph, weight, &from)) {
            if !found.iter().any(|f| beats(graph, weight, f, &next)) {
                found.push(next);
            }
        }
        at += 1;
    }
    let kept = |i: &usize| {
        let other = |j: usize| {
            let both = beats(graph, weight, &found[j], &found[*i]);
            both && (j < *i || !beats(graph, weight, &found[*i], &found[j]))
        };
        !(0..found.len()).any(|j| j != *i && other(j))
    };
    (0..found.len()).filter(kept).map(|i| found[i].clone()).collect()
}

/// The cheapest way to have a value in a space at a level or above.
pub fn cheapest(
    graph: &PlanningGraph,
    op: &Operation,
    sets: &[u64],
    space: usize,
    level: u32,
) -> Option<Choice> {
    let enough = |sets: &[u64]| highest(sets[space]).is_some_and(|h| h >= level);
    if enough(sets) {
        return Some(Choice { sets: sets.to_vec(), cost: 0, actions: vec![] });
    }
    options(graph, op, sets).into_iter().filter(|c| enough(&c.sets)).min_by_key(|c| c.cost)
}

/// Adds a level to a set; where drops are free, all lower ones too.
pub fn with_level(graph: &PlanningGraph, space: usize, set: u64, level: u32) -> u64 {
    if graph.spaces[space].drop.is_empty() { set | up_to(level) } else { set | 1 << level }
}

fn bootstraps(graph: &PlanningGraph, op: &Operation, c: &Choice) -> Vec<Choice> {
    let mut next = Vec::new();
    for (space, s) in graph.spaces.iter().enumerate().filter(|_| op.refreshable) {
        let Some(bootstrap) = &s.bootstrap else { continue };
        let Some(level) = highest(c.sets[space]).filter(|&l| l >= bootstrap.from) else { continue };
        let read = c.read(graph, op.weight, space, bootstrap.from);
        for &(target, price) in bootstrap.targets.iter().filter(|t| t.0 > level) {
            next.push(read.then(
                graph,
                Action::Bootstrap { space, target },
                space,
                target,
                op.weight * price,
            ));
        }
    }
    next
}

fn conversions(graph: &PlanningGraph, weight: u64, c: &Choice) -> Vec<Choice> {
    let mut next = Vec::new();
    for (conversion, way) in graph.conversions.iter().enumerate() {
        let Some(top) = highest(c.sets[way.from]) else { continue };
        for level in way.depth..=top {
            let Some(price) = way.cost.get(level as usize) else { break };
            let after = level - way.depth;
            if c.sets[way.to] >> after & 1 == 1 {
                continue;
            }
            let action = Action::Convert { conversion, level };
            next.push(c.read(graph, weight, way.from, level).then(
                graph,
                action,
                way.to,
                after,
                weight * price,
            ));
        }
    }
    next
}

impl Choice {
    /// With a copy at a level below one that exists.
    fn read(&self, graph: &PlanningGraph, weight: u64, space: usize, level: u32) -> Choice {
        let mut next = self.clone();
        if self.sets[space] >> level & 1 == 0 {
            next.cost += graph.drop_cost(space, weight, level);
            next.sets[space] |= 1 << level;
        }
        next
    }

    fn then(&self, graph: &PlanningGraph, action: Action, space: usize, level: u32, price: Cost) -> Choice {
        let mut next = self.clone();
        next.sets[space] = with_level(graph, space, next.sets[space], level);
        next.cost += price;
        next.actions.push(action);
        next
    }
}

/// Whether the first way, with drops as needed, gives all that the second one gives at no higher cost.
fn beats(graph: &PlanningGraph, weight: u64, a: &Choice, b: &Choice) -> bool {
    let spaces = (0..a.sets.len()).map(|s| (s, weight));
    a.cost <= b.cost && super::front::covers(graph, &a.sets, &b.sets, b.cost - a.cost, spaces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::graph::{Bootstrap, Conversion, Space};

    #[test]
    fn a_value_goes_elsewhere_to_be_bootstrapped_and_comes_back() {
        let space = |bootstrap| Space { drop: vec![], bootstrap };
        let way = |from, to| Conversion { from, to, depth: 1, cost: vec![5; 10] };
        let graph = PlanningGraph {
            spaces: vec![space(None), space(Some(Bootstrap { from: 0, targets: vec![(8, 100)] }))],
            conversions: vec![way(0, 1), way(1, 0)],
            operations: vec![],
        };
        let value = Operation { args: vec![], weight: 2, refreshable: true, modes: vec![] };
        let best = cheapest(&graph, &value, &[up_to(1), 0], 0, 7).unwrap();
        assert_eq!((best.cost, best.actions.len()), (2 * (5 + 100 + 5), 3));
        assert!(cheapest(&graph, &value, &[up_to(0), 0], 0, 7).is_none(), "no level is left for the way");
    }
}
