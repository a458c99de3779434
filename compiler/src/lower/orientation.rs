//! GL: which values are held transposed, so that few transposes (flips) are needed.
//!
//! Element-wise operations need all operands and the result held alike; `A @ B` takes A plain and B transposed and gives
//! either; a linear map chooses by cost. Values connected by element-wise operations form a cluster with one label. The
//! labels start plain and change, cluster by cluster and then value by value, as long as the total cost falls: a local
//! search in a fixed order, so the result is the same everywhere. A flip is made once for all readers.

use super::error::PlanError;
use super::linear::{Chain, Kernels};
use crate::ir::{Graph, NodeId, Op};
use plan::TensorOp;
use std::collections::{BTreeMap, BTreeSet};

/// Rounds of the search; each ends early when nothing improves.
const MAX_ROUNDS: usize = 8;

/// How every encrypted value is held.
#[derive(Clone, Debug, Default)]
pub struct Orientation {
    /// by node: held transposed where it is computed
    pub transposed: Vec<bool>,
    /// by linear node: orientation its operand is read in
    pub reads: BTreeMap<NodeId, bool>,
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
}

/// Everything held plain: CKKS.
pub fn plain(graph: &Graph) -> Orientation {
    Orientation { transposed: vec![false; graph.len()], reads: BTreeMap::new() }
}

/// Chooses orientations for GL.
///
/// # Errors
/// When a linear map is too large to be laid out.
pub fn choose(graph: &Graph, kernels: &mut Kernels) -> Result<Orientation, PlanError> {
    let problem = Problem::new(graph, kernels)?;
    let mut labels = vec![false; graph.len()];
    let clusters = problem.clusters();
    let single: Vec<Vec<NodeId>> =
        clusters.iter().filter(|c| c.len() > 1).flatten().map(|&n| vec![n]).collect();
    for moves in [clusters, single] {
        for _ in 0..MAX_ROUNDS {
            let tried = moves.iter().chain(moves.iter().rev());
            let improved = tried.filter(|nodes| problem.try_move(nodes, &mut labels)).count();
            if improved == 0 {
                break;
            }
        }
    }
    let reads = problem.linear.keys().map(|&id| (id, problem.read(id, &labels).0)).collect();
    Ok(Orientation { transposed: labels, reads })
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
        let nodes: Vec<NodeId> =
            graph.ids().filter(|&id| live[id.index()] && graph.is_cipher(id)).collect();
        let (mut args, mut users) = (vec![Vec::new(); graph.len()], vec![Vec::new(); graph.len()]);
        let (mut linear, mut flip) = (BTreeMap::new(), vec![0.0; graph.len()]);
        let one_flip = kernels.cost().flip();
        for &id in &nodes {
            let all = graph.args(id);
            for (operand, &a) in all.iter().enumerate().filter(|(_, a)| graph.is_cipher(**a)) {
                let wish = match &graph.node(id).op {
                    Op::Tensor(TensorOp::Linear { .. }) => Wish::Any,
                    Op::Tensor(TensorOp::MatMul) => Wish::Fixed(operand == 1),
                    _ => Wish::Own,
                };
                args[id.index()].push((a, wish));
                users[a.index()].push((id, wish));
            }
            flip[id.index()] = kernels.ciphertexts(graph.shape(id), false) as f64 * one_flip;
            let Some(chain) = chain_of(graph, id, all.get(1..).unwrap_or(&[])) else { continue };
            let mut costs = [[f64::INFINITY; 2]; 2];
            for (from, to) in [(false, false), (true, true), (false, true), (true, false)] {
                if let Some(kernel) = kernels.choose(chain, from, to)? {
                    costs[usize::from(from)][usize::from(to)] = kernels.cost().kernel(&kernel);
                }
            }
            linear.insert(id, costs);
        }
        Ok(Problem { nodes, args, users, linear, flip })
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

    /// Cheapest read of a linear node: orientation and cost, a flip that is not made anyway included.
    fn read(&self, id: NodeId, labels: &[bool]) -> (bool, f64) {
        let operand = self.args[id.index()][0].0;
        let (held, to) = (labels[operand.index()], usize::from(labels[id.index()]));
        let costs = &self.linear[&id];
        let flip = if self.flipped(operand, labels) { 0.0 } else { self.flip[operand.index()] };
        let (direct, turned) = (costs[usize::from(held)][to], flip + costs[usize::from(!held)][to]);
        if turned < direct { (!held, turned) } else { (held, direct) }
    }

    /// Flips the labels of some values if that costs less in all; only what they touch is counted.
    fn try_move(&self, moved: &[NodeId], labels: &mut [bool]) -> bool {
        let operands = moved.iter().flat_map(|n| self.args[n.index()].iter().map(|a| a.0));
        let values: BTreeSet<NodeId> = moved.iter().copied().chain(operands).collect();
        let readers = values.iter().flat_map(|v| self.users[v.index()].iter().map(|u| u.0));
        let maps: BTreeSet<NodeId> =
            readers.chain(moved.iter().copied()).filter(|n| self.linear.contains_key(n)).collect();
        let cost = |labels: &[bool]| -> f64 {
            let flips = values.iter().filter(|&&v| self.flipped(v, labels));
            let flips: f64 = flips.map(|v| self.flip[v.index()]).sum();
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

    /// Values joined by element-wise operations, in order of their first node.
    fn clusters(&self) -> Vec<Vec<NodeId>> {
        let mut parent: Vec<usize> = (0..self.args.len()).collect();
        fn root(parent: &[usize], mut i: usize) -> usize {
            while parent[i] != i {
                i = parent[i];
            }
            i
        }
        for &id in &self.nodes {
            for &(a, _) in self.args[id.index()].iter().filter(|a| a.1 == Wish::Own) {
                let (x, y) = (root(&parent, id.index()), root(&parent, a.index()));
                parent[x.max(y)] = x.min(y);
            }
        }
        let mut clusters: BTreeMap<usize, Vec<NodeId>> = BTreeMap::new();
        for &id in &self.nodes {
            clusters.entry(root(&parent, id.index())).or_default().push(id);
        }
        clusters.into_values().collect()
    }
}
