//! Which values are held transposed, so that linear maps are cheap and few transposes (flips) are needed.
//!
//! Element-wise operations need all operands and the result held alike. `A @ B` takes A plain and B transposed and gives either
//! in GL; in CKKS, which has no flips, it takes and gives plain ones. A linear map chooses by cost: a sum over columns is a
//! column, and a column spreads over columns without masks. A flip is made once for all readers; the result of a map that
//! costs nothing in the other orientation too is mapped again instead, and an input is encrypted again. The labels of least
//! cost are found by [`super::labelling`].

use super::error::PlanError;
use super::labelling::{Costs, Item, Wish, label};
use super::linear::{Chain, Kernels};
use crate::ir::{Graph, NodeId, Op};
use plan::{Scheme, TensorOp};
use std::collections::BTreeMap;

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

/// Chooses orientations.
///
/// # Errors
/// When a linear map is too large to be laid out.
pub fn choose(graph: &Graph, kernels: &mut Kernels) -> Result<Orientation, PlanError> {
    let live = graph.live();
    let nodes: Vec<NodeId> = graph.ids().filter(|&id| live[id.index()] && graph.is_cipher(id)).collect();
    let mut number = vec![0; graph.len()];
    nodes.iter().enumerate().for_each(|(i, id)| number[id.index()] = i);
    let gl = kernels.geometry().scheme == Scheme::Gl;
    let mut items = Vec::with_capacity(nodes.len());
    for &id in &nodes {
        let product = graph.node(id).op == Op::Tensor(TensorOp::MatMul);
        let args = graph.args(id);
        let wishes = match chain_of(graph, id, args.get(1..).unwrap_or(&[])) {
            Some(chain) => vec![(args[0], Wish::Any(costs(kernels, chain)?))],
            None if product => vec![(args[0], Wish::Fixed(false)), (args[1], Wish::Fixed(gl))],
            None => args.iter().filter(|&&a| graph.is_cipher(a)).map(|&a| (a, Wish::Own)).collect(),
        };
        let args = wishes.into_iter().map(|(a, wish)| (number[a.index()], wish)).collect();
        items.push(Item { args, flip: flip(graph, id, kernels), plain: product && !gl });
    }
    let labels = label(&items);
    let mut orientation = Orientation { transposed: vec![false; graph.len()], ..Orientation::default() };
    for (i, &id) in nodes.iter().enumerate() {
        orientation.transposed[id.index()] = labels.of[i];
        if matches!(items[i].args[..], [(_, Wish::Any(_))]) {
            orientation.reads.insert(id, labels.reads[i]);
        }
        orientation.again.extend(labels.again[i].map(|read| (id, read)));
    }
    Ok(orientation)
}

/// The chain of a linear node on an encrypted operand.
pub fn chain_of<'g>(graph: &'g Graph, id: NodeId, clear: &'g [NodeId]) -> Option<Chain<'g>> {
    let Op::Tensor(TensorOp::Linear { steps }) = &graph.node(id).op else { return None };
    let input = graph.shape(graph.args(id)[0]);
    Some(Chain { steps, input, output: graph.shape(id), clear, node: id })
}

/// Costs of a map in all orientations; large ones of CKKS are laid out plain only.
fn costs(kernels: &mut Kernels, chain: Chain) -> Result<Costs, PlanError> {
    let gl = kernels.geometry().scheme == Scheme::Gl;
    let orientations = [(false, false), (true, true), (false, true), (true, false)];
    let tried = if !gl && chain.entries() > MAX_TRIED { &orientations[..1] } else { &orientations };
    let mut costs = [[f64::INFINITY; 2]; 2];
    for &(from, to) in tried {
        if let Some(kernel) = kernels.choose(chain, from, to)? {
            costs[usize::from(from)][usize::from(to)] = kernels.cost().kernel(&kernel);
        }
    }
    Ok(costs)
}

/// Cost of having a value both ways: an input is encrypted once more, others are flipped.
fn flip(graph: &Graph, id: NodeId, kernels: &Kernels) -> f64 {
    let one = match kernels.geometry().scheme {
        Scheme::Ckks => f64::INFINITY,
        Scheme::Gl if kernels.is_input(id) => kernels.cost().encryption(),
        Scheme::Gl => kernels.cost().flip(),
    };
    kernels.ciphertexts(graph.shape(id), false) as f64 * one
}
