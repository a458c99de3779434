//! Fronts: the states after an operation that no other state dominates.
//!
//! A state says at which levels every live value exists in every space, and what that cost. Since going down is possible and
//! prices do not fall with level, a state whose values reach as high dominates another one if it can afford the copies that
//! only the other one has. Whatever can follow the dominated state can then follow the other at no higher cost.

use super::graph::{Cost, PlanningGraph};
use super::levels::{levels, reaches};
use std::collections::HashMap;

/// A state: by live value and space the levels at which it exists.
pub type State = Box<[u64]>;

/// A state, its least cost, and where it comes from.
#[derive(Clone, Debug)]
pub struct Point<From> {
    /// the state
    pub state: State,
    /// least cost
    pub cost: Cost,
    /// the decision that led here
    pub from: From,
}

/// States found so far, each at its least cost.
pub struct Candidates<From> {
    at: HashMap<State, usize>,
    points: Vec<Point<From>>,
}

impl<From> Candidates<From> {
    /// None.
    pub fn new() -> Candidates<From> {
        Candidates { at: HashMap::new(), points: Vec::new() }
    }

    /// Adds a state unless it is there at no higher cost.
    pub fn add(&mut self, state: &[u64], cost: Cost, from: impl FnOnce() -> From) {
        match self.at.get(state) {
            Some(&i) if self.points[i].cost <= cost => {}
            Some(&i) => {
                self.points[i].cost = cost;
                self.points[i].from = from();
            }
            None => {
                self.at.insert(state.into(), self.points.len());
                self.points.push(Point { state: state.into(), cost, from: from() });
            }
        }
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Keeps some states, at least the cheapest one; tells whether all are kept.
    pub fn retain(&mut self, keep: impl Fn(&Point<From>) -> bool) -> bool {
        let before = self.points.len();
        let cheapest = (0..before).min_by_key(|&i| self.points[i].cost);
        let mut i = 0;
        self.points.retain(|p| {
            i += 1;
            keep(p) || Some(i - 1) == cheapest
        });
        self.points.len() == before
    }

    /// The states that no other one dominates, cheapest first. `slots` has the space and the weight of every entry of a state.
    /// At most `cap` states are kept; the others are handed to `dropped`, cheapest first.
    pub fn front(
        self,
        graph: &PlanningGraph,
        slots: &[(usize, u64)],
        cap: usize,
        mut dropped: impl FnMut(&Point<From>),
    ) -> Vec<Point<From>> {
        let mut points = self.points;
        points.sort_by(|a, b| a.cost.cmp(&b.cost).then_with(|| b.state.cmp(&a.state)));
        let mut front: Vec<Point<From>> = Vec::new();
        for p in points {
            let dominated =
                |f: &Point<From>| covers(graph, &f.state, &p.state, p.cost - f.cost, slots.iter().copied());
            if front.iter().any(dominated) {
                continue;
            }
            if front.len() < cap { front.push(p) } else { dropped(&p) }
        }
        front
    }
}

/// Whether state `a` reaches all that `b` has, and the copies that only `b` has cost no more than `slack`.
pub fn covers(
    graph: &PlanningGraph,
    a: &[u64],
    b: &[u64],
    slack: Cost,
    slots: impl Iterator<Item = (usize, u64)>,
) -> bool {
    let mut left = slack;
    for ((&a, &b), (space, weight)) in a.iter().zip(b).zip(slots) {
        if !reaches(a, b) {
            return false;
        }
        for level in levels(b & !a) {
            match left.checked_sub(graph.drop_cost(space, weight, level)) {
                Some(rest) => left = rest,
                None => return false,
            }
        }
    }
    true
}
