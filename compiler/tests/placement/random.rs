//! Random planning graphs.

use compiler::placement::{Bootstrap, Conversion, Cost, Mode, PlanningGraph, Space};

/// splitmix64: the same graphs on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// What a random graph may have.
#[derive(Clone, Copy)]
pub struct Shape {
    pub operations: usize,
    pub spaces: usize,
    /// highest level
    pub top: u32,
    /// whether copies at lower levels have a price
    pub drops: bool,
    pub bootstraps: bool,
}

fn rising(r: &mut Random, top: u32, start: u64, step: u64) -> Vec<Cost> {
    let mut cost = r.below(start + 1);
    (0..=top)
        .map(|_| {
            cost += r.below(step + 1);
            cost
        })
        .collect()
}

fn space(r: &mut Random, shape: Shape) -> Space {
    let targets = |r: &mut Random| {
        let all = rising(r, shape.top, 40, 12);
        let mut some: Vec<(u32, Cost)> = (1..=shape.top).map(|t| (t, all[t as usize])).collect();
        if r.below(2) == 0 {
            some.retain(|t| t.0 == shape.top);
        }
        some
    };
    let drop = if shape.drops { rising(r, shape.top, 4, 3) } else { vec![] };
    let bootstrap = shape.bootstraps.then(|| Bootstrap { from: r.below(2) as u32, targets: targets(r) });
    Space { drop, bootstrap }
}

/// A graph with forks, skips across each other, squares, several outputs, and modes of mixed depth in one or more spaces.
pub fn graph(r: &mut Random, shape: Shape) -> PlanningGraph {
    let spaces = (0..shape.spaces).map(|_| space(r, shape)).collect();
    let mut g = PlanningGraph { spaces, ..PlanningGraph::default() };
    for from in 0..shape.spaces {
        for to in (0..shape.spaces).filter(|&to| to != from) {
            let cost = rising(r, shape.top, 20, 3);
            g.conversions.push(Conversion { from, to, depth: r.below(2) as u32, cost });
        }
    }
    let slope = if r.below(2) == 0 { 0 } else { 8 };
    for i in 0..shape.operations {
        let arity = if i == 0 { 0 } else { r.of(&[0, 1, 1, 1, 2, 2, 3]) };
        let near = i.min(r.of(&[2, 4, 9]));
        let args: Vec<usize> = (0..arity).map(|_| i - 1 - r.below(near as u64) as usize).collect();
        let only = r.below(2 * shape.spaces as u64) as usize;
        let mut modes = Vec::new();
        for s in (0..shape.spaces).filter(|&s| only >= shape.spaces || s == only) {
            let depth = if arity == 0 { 0 } else { r.of(&[0, 1, 1, 2]) };
            let cost = rising(r, shape.top, 10, slope);
            let least = depth + r.of(&[0, 0, 0, 1]);
            modes.push(Mode { reads: vec![s; arity], gives: s, depth, least, cost });
        }
        if shape.spaces > 1 && arity == 2 && r.below(3) == 0 {
            // a product of values in different layouts
            let cost = rising(r, shape.top, 10, slope);
            modes.push(Mode { reads: vec![0, 1], gives: r.below(2) as usize, depth: 1, least: 1, cost });
        }
        let i = g.add(&args, r.of(&[1, 1, 2, 5]), modes);
        g.operations[i].refreshable = r.below(4) > 0;
    }
    g
}
