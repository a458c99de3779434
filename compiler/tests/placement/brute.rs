//! Every placement of small graphs: operands are bootstrapped, converted and copied just before an operation, in any way.

use crate::random::{Random, Shape, graph};
use compiler::placement::{Cost, PlanningGraph, check, exact, greedy};
use std::collections::HashMap;

type Values = Vec<Vec<u64>>;

struct Brute<'g> {
    graph: &'g PlanningGraph,
    last_reader: Vec<usize>,
    known: HashMap<(usize, Values), Option<Cost>>,
}

fn least_cost(graph: &PlanningGraph) -> Option<Cost> {
    let count = graph.operations.len();
    let readers = graph.readers();
    let last_reader = readers.iter().map(|r| r.last().copied().unwrap_or(0)).collect();
    let mut brute = Brute { graph, last_reader, known: HashMap::new() };
    brute.from(0, vec![vec![0; graph.spaces.len()]; count])
}

impl Brute<'_> {
    /// The least cost of the operations from `i` on.
    fn from(&mut self, i: usize, values: Values) -> Option<Cost> {
        if i == self.graph.operations.len() {
            return Some(0);
        }
        let key = (i, values);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let mut best = None;
        for (next, price, ran) in self.moves(i, &key.1) {
            let rest = self.from(if ran { i + 1 } else { i }, next);
            best = rest.map(|r| r + price).into_iter().chain(best).min();
        }
        self.known.insert(key, best);
        best
    }

    fn moves(&self, i: usize, values: &Values) -> Vec<(Values, Cost, bool)> {
        let mut all = Vec::new();
        let op = &self.graph.operations[i];
        for m in &op.modes {
            for level in m.least..m.cost.len() as u32 {
                let (mut next, mut price, mut runs) = (values.clone(), m.cost[level as usize], true);
                for (&a, &s) in op.args.iter().zip(&m.reads) {
                    match self.copied(&next[a], s, level, self.graph.operations[a].weight) {
                        Some((sets, copy)) => (next[a], price) = (sets, price + copy),
                        None => runs = false,
                    }
                }
                if runs {
                    next[i][m.gives] = self.exists(m.gives, 0, level - m.depth);
                    for (v, sets) in next.iter_mut().enumerate() {
                        if v <= i && self.last_reader[v] <= i {
                            sets.fill(0);
                        }
                    }
                    all.push((next, price, true));
                }
            }
        }
        for &a in &op.args {
            all.extend(self.actions(a, values).into_iter().map(|(v, price)| (v, price, false)));
        }
        all
    }

    fn actions(&self, a: usize, values: &Values) -> Vec<(Values, Cost)> {
        let op = &self.graph.operations[a];
        let weight = op.weight;
        let mut all = Vec::new();
        let mut push = |sets: Vec<u64>, price| {
            if sets != values[a] {
                let mut next = values.clone();
                next[a] = sets;
                all.push((next, price));
            }
        };
        for (s, space) in self.graph.spaces.iter().enumerate() {
            let Some(b) = space.bootstrap.as_ref().filter(|_| op.refreshable) else { continue };
            if let Some((read, copy)) = self.copied(&values[a], s, b.from, weight) {
                for &(target, price) in &b.targets {
                    let mut sets = read.clone();
                    sets[s] = self.exists(s, sets[s], target);
                    push(sets, copy + weight * price);
                }
            }
        }
        for way in &self.graph.conversions {
            for level in way.depth..way.cost.len() as u32 {
                if let Some((mut sets, copy)) = self.copied(&values[a], way.from, level, weight) {
                    sets[way.to] = self.exists(way.to, sets[way.to], level - way.depth);
                    push(sets, copy + weight * way.cost[level as usize]);
                }
            }
        }
        all
    }

    fn exists(&self, space: usize, set: u64, level: u32) -> u64 {
        let free = self.graph.spaces[space].drop.is_empty();
        if free { set | ((2 << level) - 1) } else { set | 1 << level }
    }

    fn copied(&self, sets: &[u64], space: usize, level: u32, weight: u64) -> Option<(Vec<u64>, Cost)> {
        let set = sets[space];
        if set >> level & 1 == 1 {
            return Some((sets.to_vec(), 0));
        }
        if set >> level == 0 {
            return None;
        }
        let mut copied = sets.to_vec();
        copied[space] |= 1 << level;
        Some((copied, weight * self.graph.spaces[space].drop[level as usize]))
    }
}

/// Graphs placed, and those among them where greedy costs more.
fn compare(seed: u64, count: usize, shape: impl Fn(&mut Random) -> Shape) -> (usize, usize) {
    let mut r = Random(seed);
    let (mut placed, mut saved) = (0, 0);
    for case in 0..count {
        let shape = shape(&mut r);
        let g = graph(&mut r, shape);
        let expected = least_cost(&g);
        let found = exact(&g);
        match (expected, &found) {
            (Some(cost), Ok(p)) => {
                assert_eq!(p.cost, cost, "case {case} of seed {seed}: {g:?}");
                assert!(p.proved());
                assert_eq!(check(&g, p), Ok(cost));
                placed += 1;
            }
            (None, Err(_)) => {}
            _ => panic!("case {case} of seed {seed}: {expected:?} against {found:?} of {g:?}"),
        }
        if let Ok(p) = greedy(&g) {
            let least = expected.expect("greedy places nothing that has no placement");
            assert!(p.cost >= least && p.lower_bound <= least, "case {case} of seed {seed}");
            assert_eq!(check(&g, &p), Ok(p.cost));
            saved += usize::from(p.cost > least);
        }
    }
    (placed, saved)
}

#[test]
fn one_scheme_with_bootstraps() {
    let shape = |r: &mut Random| Shape {
        operations: 2 + r.below(8) as usize,
        spaces: 1,
        top: 2 + r.below(4) as u32,
        drops: false,
        bootstraps: true,
    };
    let (placed, saved) = compare(1, 2000, shape);
    assert!(placed > 1000 && saved > 100, "{placed} {saved}");
}

fn two_schemes(seed: u64, count: usize) -> (usize, usize) {
    let shape = |r: &mut Random| Shape {
        operations: 2 + r.below(8) as usize,
        spaces: 2,
        top: 2 + r.below(2) as u32,
        drops: false,
        bootstraps: true,
    };
    compare(seed, count, shape)
}

#[test]
fn two_schemes_with_bootstraps() {
    let (placed, saved) = two_schemes(2, 200);
    assert!(placed > 100 && saved > 20, "{placed} {saved}");
}

#[test]
#[ignore = "enumerates thousands of graphs: minutes"]
fn two_schemes_with_bootstraps_thousands_of_times() {
    let (placed, saved) = two_schemes(5, 5000);
    assert!(placed > 2500 && saved > 500, "{placed} {saved}");
}

#[test]
fn copies_at_lower_levels_have_a_price() {
    let shape = |r: &mut Random| Shape {
        operations: 2 + r.below(8) as usize,
        spaces: 1,
        top: 2 + r.below(6) as u32,
        drops: true,
        bootstraps: false,
    };
    let (placed, saved) = compare(3, 2000, shape);
    assert!(placed > 500 && saved > 50, "{placed} {saved}");
}

#[test]
fn everything_together() {
    let shape = |r: &mut Random| Shape {
        operations: 2 + r.below(4) as usize,
        spaces: 1 + r.below(2) as usize,
        top: 2,
        drops: r.below(2) == 0,
        bootstraps: r.below(3) > 0,
    };
    let (placed, saved) = compare(4, 1000, shape);
    assert!(placed > 500 && saved > 100, "{placed} {saved}");
}
