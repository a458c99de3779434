//! Networks with known least costs, and graphs that are large.

use compiler::placement::{Bootstrap, Conversion, Cost, Mode, PlanningGraph, Space, check, exact, greedy};
use std::time::{Duration, Instant};

/// Tests share the machine: ten times what an idle one takes in this profile.
const LIMIT: Duration = Duration::from_secs(1);

/// A graph where only bootstraps cost: operations of one mode in one space.
struct Net {
    graph: PlanningGraph,
    top: u32,
}

impl Net {
    fn new(top: u32) -> Net {
        Net { graph: PlanningGraph::single(1, top, 1), top }
    }
    fn op(&mut self, depth: u32, args: &[usize]) -> usize {
        let cost = vec![0; self.top as usize + 1];
        self.graph.add(
            args,
            1,
            vec![Mode { reads: vec![0; args.len()], gives: 0, depth, least: depth, cost }],
        )
    }
    fn relu(&mut self, x: usize) -> usize {
        let sign = [4, 4, 5].into_iter().fold(x, |y, depth| self.op(depth, &[y]));
        self.op(1, &[sign, x])
    }
    fn bootstraps(&self) -> usize {
        let placement = exact(&self.graph).expect("it has a placement");
        assert!(placement.proved());
        assert_eq!(check(&self.graph, &placement), Ok(placement.cost));
        assert_eq!(placement.cost, placement.bootstraps() as Cost);
        placement.bootstraps()
    }
}

/// ResNet for small images with `blocks` blocks in each of three stages; ReLU by three polynomials and a product. The input
/// comes at the highest level and is not bootstrapped.
fn resnet(blocks: usize, top: u32) -> Net {
    let mut net = Net::new(top);
    let image = net.op(0, &[]);
    let first = net.op(1, &[image]);
    let mut x = net.relu(first);
    for block in 0..3 * blocks {
        let a = net.op(1, &[x]);
        let a = net.relu(a);
        let b = net.op(1, &[a]);
        let skip = if block == blocks || block == 2 * blocks { net.op(1, &[x]) } else { x };
        let sum = net.op(0, &[b, skip]);
        x = net.relu(sum);
    }
    let pool = net.op(1, &[x]);
    let dense = net.op(1, &[pool]);
    net.op(0, &[dense]);
    net
}

#[test]
fn residual_networks() {
    let known = [(3, [56, 37, 27]), (5, [92, 61, 45]), (9, [164, 109, 81]), (18, [326, 217, 162])];
    for (blocks, expected) in known {
        for (top, expected) in [8, 10, 14].into_iter().zip(expected) {
            let net = resnet(blocks, top);
            let start = Instant::now();
            assert_eq!(net.bootstraps(), expected, "{blocks} blocks, {top} levels");
            assert!(start.elapsed() < LIMIT / 2, "{:?}", start.elapsed());
        }
    }
}

/// x <- x^2 + x: a level each step.
fn squares(steps: usize, top: u32) -> Net {
    let mut net = Net::new(top);
    let mut x = net.op(0, &[]);
    for _ in 0..steps {
        let square = net.op(1, &[x]);
        x = net.op(0, &[square, x]);
    }
    net
}

#[test]
fn iterated_squares() {
    for top in [3, 6, 10] {
        for steps in [12, 30, 60, 1000] {
            let net = squares(steps, top);
            let start = Instant::now();
            // a bootstrap takes level 1 or more, so that each but the last stretch has `top - 1` steps
            let expected = (steps - 1).saturating_sub(1) / (top as usize - 1);
            assert_eq!(net.bootstraps(), expected, "{steps} steps, {top} levels");
            assert!(start.elapsed() < LIMIT / 2, "{:?}", start.elapsed());
        }
    }
}

const SPACES: [(u32, Cost); 2] = [(8, 60), (14, 45)];

/// Encoder layers of a transformer in two schemes: products cost less in the first one, functions exist in the second one only.
fn encoder(layers: usize, second: bool) -> PlanningGraph {
    let space = |(top, price)| Space {
        drop: vec![],
        bootstrap: Some(Bootstrap { from: 1, targets: vec![(top, price)] }),
    };
    let way =
        |from: usize, to| Conversion { from, to, depth: 1, cost: vec![15; SPACES[from].0 as usize + 1] };
    let mut g = PlanningGraph {
        spaces: SPACES.into_iter().map(space).collect(),
        conversions: vec![way(0, 1), way(1, 0)],
        operations: vec![],
    };
    let mut op = |depth: u32, args: &[usize], product: bool| {
        let mode = |s: usize, depth: u32, price: Cost| Mode {
            reads: vec![s; args.len()],
            gives: s,
            depth,
            least: depth,
            cost: vec![price; SPACES[s].0 as usize + 1],
        };
        let mut modes = vec![mode(1, depth, if product { 40 } else { 8 })];
        if product && !second {
            modes.push(mode(0, 1, 10));
        }
        g.add(args, 1, modes)
    };
    let mut x = op(1, &[], false);
    for _ in 0..layers {
        let [q, k, v] = [0; 3].map(|_| op(2, &[x], true));
        let scores = op(2, &[q, k], true);
        let soft = op(6, &[scores], false);
        let mixed = op(2, &[soft, v], true);
        let out = op(2, &[mixed], true);
        let sum = op(0, &[out, x], false);
        let normal = op(7, &[sum], false);
        let wide = op(2, &[normal], true);
        let gelu = op(5, &[wide], false);
        let narrow = op(2, &[gelu], true);
        let sum = op(0, &[narrow, normal], false);
        x = op(7, &[sum], false);
    }
    g
}

#[test]
fn transformers_in_two_schemes() {
    for layers in [2, 12, 24] {
        let start = Instant::now();
        let both = exact(&encoder(layers, false)).unwrap();
        assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
        let one = exact(&encoder(layers, true)).unwrap();
        let lazy = greedy(&encoder(layers, false)).unwrap();
        assert!(both.proved() && one.proved());
        assert!(both.cost < one.cost && both.cost < lazy.cost, "{} {} {}", both.cost, one.cost, lazy.cost);
    }
}

#[test]
fn large_graphs() {
    let start = Instant::now();
    let mut chain = Net::new(10);
    let x = chain.op(0, &[]);
    (0..10_000).fold(x, |x, _| chain.op(1, &[x]));
    assert_eq!(chain.bootstraps(), 1110);
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());

    let start = Instant::now();
    let mut sum = Net::new(10);
    let inputs: Vec<usize> = (0..2000).map(|_| sum.op(0, &[])).collect();
    inputs.into_iter().reduce(|x, y| sum.op(0, &[x, y]));
    assert_eq!(sum.bootstraps(), 0);
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
}

#[test]
fn forks_skips_and_outputs_that_are_read() {
    // three readers of one value, skips that cross, and an output (2) that is also read
    let mut net = Net::new(4);
    let x = net.op(0, &[]);
    let [q, k, v] = [0; 3].map(|_| net.op(1, &[x]));
    let a = net.op(2, &[q, k]);
    let b = net.op(1, &[v, x]);
    let c = net.op(2, &[a, b]);
    let d = net.op(2, &[b, a]);
    net.op(0, &[q]);
    net.op(1, &[c, d]);
    assert_eq!(net.bootstraps(), 2);
}

#[test]
fn placements_are_the_same_every_time() {
    let graph = encoder(4, false);
    assert_eq!(exact(&graph), exact(&graph));
}
