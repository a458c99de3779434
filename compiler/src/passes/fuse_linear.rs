//! Joins linear maps that follow each other into one chain, which costs one level however long it is.
//!
//! A map with several readers is joined only where the copy saves a level: both it and its reader multiply.

use crate::ir::{Graph, NodeId, Op};
use crate::passes::rewrite::Rewrite;
use crate::passes::simplify::add_linear;
use plan::{LinearStep, Operand, TensorOp};

/// Whether a chain only moves, repeats and adds elements, or multiplies by integers: no coefficient needs a level.
pub fn is_structural(steps: &[LinearStep]) -> bool {
    steps.iter().all(|step| match step {
        LinearStep::ScaleBy { factor } => is_integer(*factor),
        LinearStep::AvgPool2d { kernel, .. } => kernel == &[1, 1],
        other => other.operand().is_none(),
    })
}

/// Whether a factor is a free multiple of a ciphertext.
pub(crate) fn is_integer(factor: f64) -> bool {
    factor.fract() == 0.0 && factor.abs() < (1u64 << 40) as f64
}

/// Readers of every node, outputs included.
pub(crate) fn readers(g: &Graph) -> Vec<usize> {
    let mut count: Vec<usize> = g.ids().map(|id| g.users(id).len()).collect();
    g.outputs.iter().for_each(|o| count[o.node.index()] += 1);
    count
}

/// The same program with consecutive linear maps, and signs between them, in one chain.
pub fn fuse_linear(g: &Graph) -> Graph {
    let readers = readers(g);
    Rewrite::each(g, |r, id| fused(r, g, id, &readers).unwrap_or_else(|| r.copy(id)))
}

/// The node joined with the chain of its operand, if that is good.
fn fused(r: &mut Rewrite, g: &Graph, id: NodeId, readers: &[usize]) -> Option<NodeId> {
    let steps = chain(g, id)?;
    let args = r.args(id);
    let first = chain(r.graph(), args[0])?;
    if matches!(g.node(id).op, Op::Tensor(TensorOp::Neg)) && first.len() == 1 && first == steps {
        return None;
    }
    let saves = !is_structural(&first) && !is_structural(&steps);
    if readers[g.args(id)[0].index()] > 1 && !saves {
        return None;
    }
    let source = r.graph().args(args[0]);
    let shift = source.len() - 1;
    let later = steps.iter().map(|s| s.with_operand(|o| Operand(o.0 + shift)));
    let steps: Vec<LinearStep> = first.into_iter().chain(later).collect();
    Some(add_linear(r, &steps, source[0], &[&source[1..], &args[1..]].concat(), g.node(id).span))
}

/// The steps of an encrypted linear map or sign.
fn chain(g: &Graph, id: NodeId) -> Option<Vec<LinearStep>> {
    match &g.node(id).op {
        Op::Tensor(TensorOp::Linear { steps }) if g.is_cipher(id) => Some(steps.clone()),
        Op::Tensor(TensorOp::Neg) if g.is_cipher(id) => Some(vec![LinearStep::ScaleBy { factor: -1.0 }]),
        _ => None,
    }
}
