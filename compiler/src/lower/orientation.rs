//! Which values are held transposed, so that linear maps are cheap and few transposes (flips) are needed.
//!
//! Element-wise operations need all operands and the result held alike. `A @ B` takes A plain and B transposed and gives either
//! in GL; in CKKS, which has no flips, it takes and gives plain ones. A linear map chooses by cost: a sum over columns is a
//! column, and a column spreads over columns without masks. Values connected by element-wise operations form a cluster with one label. The
//! labels start plain and change as long as the total cost falls: clusters, clusters on both sides of a linear map together,
//! everything joined by maps that cost nothing (transposes, reshapes), and at last single values. It is a local search in a
//! fixed order, so the result is the same everywhere. A flip is made once for all readers; the result of a map that costs
//! nothing in the other orientation too is mapped again instead.

use super::error::PlanError;
use super::linear::{Chain, Kernels};
use crate::ir::{Graph, NodeId, Op};
use plan::{Scheme, TensorOp};
use std::collections::{BTreeMap, BTreeSet};

/// Rounds of the search; each ends early when nothing improves.
const MAX_ROUNDS: usize = 8;

/// Coefficients up to which a map is laid out in all orientations in CKKS.
const MAX_TRIED: usize = 1 << 17;

/// How every encrypted value is held.
#[derive(Clone, Debug, Default)]
pub struct Orientation {
    /// by node: held transposed where it is computed
    pub transposed: Vec<bool>,
    /// by linear node: orientation its operand is read in
    pub reads: BTreeMap<NodeId, bool>,
    /// by linear node that is read in both orientations: orientation in which its operand is read to map it again, in place
    /// of a flip
    pub again: BTreeMap<NodeId, bool>,
}

/// Costs of a linear node by orientation of operand and result; infinite where there is no kernel.
type Costs = [[f64; 2]; 2];

/// How a node reads an encrypted operand.
#[derive(Clone, Copy, PartialEq)]
enum Wish {
    /// as itself
    Own,
    /// in this orientation
    Fixed(bool),
    /// whatever is cheaper
    Any,
}

/// What the search needs of the graph.
struct Problem {
    /// encrypted nodes that run, in order
    nodes: Vec<NodeId>,
    /// by node: encrypted operands
    args: Vec<Vec<(NodeId, Wish)>>,
    /// by node: readers
    users: Vec<Vec<(NodeId, Wish)>>,
    linear: BTreeMap<NodeId, Costs>,
    /// cost of flipping one value, by node
    flip: Vec<f64>,
    /// products of CKKS, which are held plain
    fixed: BTreeSet<NodeId>,
}

/// Chooses orientations.
///
/// # Errors
/// When a linear map is too large to be laid out.
pub fn choose(graph: &Graph, kernels: &mut Kernels) -> Result<Orientation, PlanError> {
    let problem = Problem::new(graph, kernels)?;
    let mut labels = vec![false; graph.len()];
    for moves in problem.moves() {
        for _ in 0..MAX_ROUNDS {
            let tried = moves.iter().chain(moves.iter().rev());
            let improved = tried.filter(|nodes| problem.try_move(nodes, &mut labels)).count();
            if improved == 0 {
                break;
            }
        }
    }
    let reads = problem.linear.keys().map(|&id| (id, problem.read(id, &labels).0)).collect();
    let again =
        problem.linear.keys().filter_map(|&id| problem.again(id, &labels).map(|from| (id, from))).collect();
    Ok(Orientation { transposed: labels, reads, again })
}

/// The chain of a linear node on an encrypted operand.
pub fn chain_of<'g>(graph: &'g Graph, id: NodeId, clear: &'g [NodeId]) -> Option<Chain<'g>> {
    let Op::Tensor(TensorOp::Linear { steps }) = &graph.node(id).op else { return None };
    let input = graph.shape(graph.args(id)[0]);
    Some(Chain { steps, input, output: graph.shape(id), clear, node: id })
}

impl Problem {
    fn new(graph: &Graph, kernels: &mut Kernels) -> Result<Problem, PlanError> {
        let live = graph.live();
        let nodes: Vec<NodeId> = graph.ids().filter(|&id| live[id.index()] && graph.is_cipher(id)).collect();
        let (mut args, mut users) = (vec![Vec::new(); graph.len()], vec![Vec::new(); graph.len()]);
        let (mut linear, mut flip) = (BTreeMap::new(), vec![0.0; graph.len()]);
        let gl = kernels.geometry().scheme == Scheme::Gl;
        let one_flip = if gl { kernels.cost().flip() } else { f64::INFINITY };
        let mut fixed = BTreeSet::new();
        for &id in &nodes {
            let all = graph.args(id);
            for (operand, &a) in all.iter().enumerate().filter(|(_, a)| graph.is_cipher(**a)) {
                let wish = match &graph.node(id).op {
                    Op::Tensor(TensorOp::Linear { .. }) => Wish::Any,
                    Op::Tensor(TensorOp::MatMul) => Wish::Fixed(gl && operand == 1),
                    _ => Wish::Own,
                };
                args[id.index()].push((a, wish));
                users[a.index()].push((id, wish));
            }
            flip[id.index()] = kernels.ciphertexts(graph.shape(id), false) as f64 * one_flip;
            if !gl && graph.node(id).op == Op::Tensor(TensorOp::MatMul) {
                fixed.insert(id);
            }
            let Some(chain) = chain_of(graph, id, all.get(1..).unwrap_or(&[])) else { continue };
            let mut costs = [[f64::INFINITY; 2]; 2];
            let orientations = [(false, false), (true, true), (false, true), (true, false)];
            let tried = if !gl && chain.entries() > MAX_TRIED { &orientations[..1] } else { &orientations };
            for &(from, to) in tried {
                if let Some(kernel) = kernels.choose(chain, from, to)? {
                    costs[usize::from(from)][usize::from(to)] = kernels.cost().kernel(&kernel);
                }
            }
            linear.insert(id, costs);
        }
        Ok(Problem { nodes, args, users, linear, flip, fixed })
    }

    /// Whether readers with fixed wishes need a value flipped.
    fn flipped(&self, id: NodeId, labels: &[bool]) -> bool {
        let held = labels[id.index()];
        self.users[id.index()].iter().any(|&(user, wish)| match wish {
            Wish::Own => labels[user.index()] != held,
            Wish::Fixed(wanted) => wanted != held,
            Wish::Any => false,
        })
    }

    /// Orientation in which a linear node can read its operand to give its other orientation for nothing.
    fn again(&self, id: NodeId, labels: &[bool]) -> Option<bool> {
        let costs = self.linear.get(&id)?;
        let operand = self.args[id.index()][0].0;
        let (held, other) = (labels[operand.index()], usize::from(!labels[id.index()]));
        let free = |from: bool| costs[usize::from(from)][other] == 0.0;
        let at_hand = [Some(held), Some(!held).filter(|_| self.flipped(operand, labels))];
        at_hand.into_iter().flatten().find(|&from| free(from))
    }

    fn flip_cost(&self, id: NodeId, labels: &[bool]) -> f64 {
        if self.again(id, labels).is_some() { 0.0 } else { self.flip[id.index()] }
    }

    /// Cheapest read of a linear node: orientation and cost, a flip that is not made anyway included.
    fn read(&self, id: NodeId, labels: &[bool]) -> (bool, f64) {
        let operand = self.args[id.index()][0].0;
        let (held, to) = (labels[operand.index()], usize::from(labels[id.index()]));
        let costs = &self.linear[&id];
        let flip = if self.flipped(operand, labels) { 0.0 } else { self.flip_cost(operand, labels) };
        let (direct, turned) = (costs[usize::from(held)][to], flip + costs[usize::from(!held)][to]);
        if turned < direct { (!held, turned) } else { (held, direct) }
    }

    /// Flips the labels of some values if that costs less in all; only what they touch is counted.
    fn try_move(&self, moved: &[NodeId], labels: &mut [bool]) -> bool {
        if moved.iter().any(|n| self.fixed.contains(n)) {
            return false;
        }
        let operands = moved.iter().flat_map(|n| self.args[n.index()].iter().map(|a| a.0));
        let values: BTreeSet<NodeId> = moved.iter().copied().chain(operands).collect();
        let readers = values.iter().flat_map(|v| self.users[v.index()].iter().map(|u| u.0));
        let maps: BTreeSet<NodeId> =
            readers.chain(moved.iter().copied()).filter(|n| self.linear.contains_key(n)).collect();
        let values: BTreeSet<NodeId> = values.union(&maps).copied().collect();
        let cost = |labels: &[bool]| -> f64 {
            let flips = values.iter().filter(|&&v| self.flipped(v, labels));
            let flips: f64 = flips.map(|&v| self.flip_cost(v, labels)).sum();
            flips + maps.iter().map(|&m| self.read(m, labels).1).sum::<f64>()
        };
        let before = cost(labels);
        moved.iter().for_each(|n| labels[n.index()] ^= true);
        let better = cost(labels) < before;
        if !better {
            moved.iter().for_each(|n| labels[n.index()] ^= true);
        }
        better
    }

    /// Sets of values whose labels are changed together, in the order in which they are tried.
    fn moves(&self) -> [Vec<Vec<NodeId>>; 2] {
        let same = |_: NodeId, wish: Wish| wish == Wish::Own;
        let clusters = self.joined(same);
        let mut cluster_of = vec![0; self.args.len()];
        for (c, nodes) in clusters.iter().enumerate() {
            nodes.iter().for_each(|n| cluster_of[n.index()] = c);
        }
        let pairs: BTreeSet<(usize, usize)> = self
            .linear
            .keys()
            .map(|m| (cluster_of[self.args[m.index()][0].0.index()], cluster_of[m.index()]))
            .filter(|(a, b)| a != b)
            .collect();
        let pairs = pairs.into_iter().map(|(a, b)| [clusters[a].as_slice(), &clusters[b]].concat());
        let free = |m: &Costs| m.iter().flatten().any(|&cost| cost == 0.0);
        let families = self.joined(|id, wish| same(id, wish) || self.linear.get(&id).is_some_and(free));
        let single = clusters.iter().filter(|c| c.len() > 1).flatten().map(|&n| vec![n]).collect();
        let together = pairs.chain(families.into_iter().filter(|f| f.len() > 1)).collect::<Vec<_>>();
        [[clusters, together].concat(), single]
    }

    /// Values joined with those operands that `joins` says, in order of their first node.
    fn joined(&self, joins: impl Fn(NodeId, Wish) -> bool) -> Vec<Vec<NodeId>> {
        let mut parent: Vec<usize> = (0..self.args.len()).collect();
        fn root(parent: &mut [usize], mut i: usize) -> usize {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        }
        for &id in &self.nodes {
            for &(a, _) in self.args[id.index()].iter().filter(|a| joins(id, a.1)) {
                let (x, y) = (root(&mut parent, id.index()), root(&mut parent, a.index()));
                parent[x.max(y)] = x.min(y);
            }
        }
        let mut sets: BTreeMap<usize, Vec<NodeId>> = BTreeMap::new();
        for &id in &self.nodes {
            sets.entry(root(&mut parent, id.index())).or_default().push(id);
        }
        sets.into_values().collect()
    }
}
