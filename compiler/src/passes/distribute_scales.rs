//! Moves factors by clear tensors through sums with clear tensors: `s o (x @ w + b)` becomes `s o (x @ w) + s o b`.
//!
//! This is done where the sum is of a map that multiplies: the factor then joins that map ([`super::fuse_linear`]) and costs
//! no level. A normalization after a dense layer or a convolution becomes part of its weights. Other readers of the sum keep
//! it as it is.

use crate::ir::{Graph, NodeId, Op};
use crate::passes::fuse_linear::is_structural;
use crate::passes::rewrite::Rewrite;
use crate::passes::simplify::add_linear;
use plan::{LinearStep, TensorOp};

/// The same program with factors beside the maps they join.
pub fn distribute_scales(g: &Graph) -> Graph {
    Rewrite::each(g, |r, id| match scales(g, id) {
        Some(steps) if is_sum(g, g.args(id)[0]) && ends_in_map(g, g.args(id)[0]) => {
            let by = r.args(id)[1..].to_vec();
            distributed(r, g, g.args(id)[0], &steps, &by)
        }
        _ => r.copy(id),
    })
}

/// The steps of an encrypted node that only scales, by some tensor at least.
fn scales(g: &Graph, id: NodeId) -> Option<Vec<LinearStep>> {
    match &g.node(id).op {
        Op::Tensor(TensorOp::Linear { steps }) if g.is_cipher(id) => {
            let only =
                steps.iter().all(|s| matches!(s, LinearStep::Scale { .. } | LinearStep::ScaleBy { .. }));
            let some = steps.iter().any(|s| matches!(s, LinearStep::Scale { .. }));
            (only && some).then(|| steps.clone())
        }
        _ => None,
    }
}

fn is_sum(g: &Graph, id: NodeId) -> bool {
    let encrypted = g.args(id).iter().filter(|&&a| g.is_cipher(a)).count();
    matches!(g.node(id).op, Op::Tensor(TensorOp::Add | TensorOp::Sub)) && encrypted == 1
}

/// Whether a value is a map that multiplies, plus clear tensors.
fn ends_in_map(g: &Graph, id: NodeId) -> bool {
    match &g.node(id).op {
        Op::Tensor(TensorOp::Linear { steps }) => g.is_cipher(id) && !is_structural(steps),
        _ => is_sum(g, id) && g.args(id).iter().any(|&a| g.is_cipher(a) && ends_in_map(g, a)),
    }
}

/// The value of an old node times factors.
fn distributed(r: &mut Rewrite, g: &Graph, id: NodeId, steps: &[LinearStep], by: &[NodeId]) -> NodeId {
    let span = g.node(id).span;
    if !is_sum(g, id) || !g.is_cipher(id) {
        return add_linear(r, steps, r.at(id), by, span);
    }
    let terms: Vec<NodeId> = g.args(id).into_iter().map(|a| distributed(r, g, a, steps, by)).collect();
    r.add(g.node(id).op.clone(), &terms, span)
}
