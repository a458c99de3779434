//! Moves factors into what makes the value: `c (x @ w + b)` becomes `x @ (c w) + c b`, which saves the level of the factor.
//!
//! A factor that is no integer goes to operations that multiply by numbers anyway (linear maps, combinations, polynomials),
//! through sums, signs, products and moves of elements. Where other readers need the value without the factor, both are made,
//! unless that would repeat a product; polynomials share their powers.

use crate::ir::{Graph, NodeId, Op};
use crate::passes::fuse_linear::{is_integer, is_structural, readers};
use crate::passes::rewrite::Rewrite;
use plan::{LinearStep, TensorOp};

/// The same program with fewer products by numbers.
pub fn absorb_scales(g: &Graph) -> Graph {
    let readers = readers(g);
    Rewrite::each(g, |r, id| match lone_factor(g, id) {
        Some(factor) if !is_integer(factor) && accepts(g, &readers, g.args(id)[0]) => {
            scaled(r, g, &readers, g.args(id)[0], factor)
        }
        _ => r.copy(id),
    })
}

/// The factor of a node that does nothing else.
fn lone_factor(g: &Graph, id: NodeId) -> Option<f64> {
    match &g.node(id).op {
        Op::Tensor(TensorOp::Linear { steps }) if g.is_cipher(id) => match steps[..] {
            [LinearStep::ScaleBy { factor }] => Some(factor),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a node can give its value times any factor without a level for it.
pub(crate) fn accepts(g: &Graph, readers: &[usize], id: NodeId) -> bool {
    if !g.is_cipher(id) {
        return true;
    }
    let args = g.args(id);
    let each = |a: &NodeId| accepts(g, readers, *a);
    match &g.node(id).op {
        Op::Combine { .. } => true,
        Op::Approximated { .. } => each(&args[0]),
        Op::Tensor(op) => match op {
            TensorOp::Linear { steps } => !is_structural(steps) || each(&args[0]),
            TensorOp::Chebyshev { coefficients, .. } => coefficients.len() > 1,
            TensorOp::Add | TensorOp::Sub | TensorOp::Neg => args.iter().all(each),
            TensorOp::Mul | TensorOp::MatMul => {
                readers[id.index()] == 1 && taker(g, readers, &args).is_some()
            }
            _ => false,
        },
        _ => false,
    }
}

/// Position of the encrypted factor of a product that takes a number.
fn taker(g: &Graph, readers: &[usize], args: &[NodeId]) -> Option<usize> {
    args.iter().position(|&a| g.is_cipher(a) && accepts(g, readers, a))
}

/// The value of an old node that accepts a factor, times the factor.
fn scaled(r: &mut Rewrite, g: &Graph, readers: &[usize], id: NodeId, factor: f64) -> NodeId {
    let (node, mut args) = (g.node(id), r.args(id));
    if !g.is_cipher(id) {
        let by = r.uniform(&node.shape, factor, node.span);
        return r.tensor(TensorOp::Mul, &[r.at(id), by], node.span);
    }
    let old = g.args(id);
    let mut each = |r: &mut Rewrite, positions: &[usize]| {
        positions.iter().for_each(|&i| args[i] = scaled(r, g, readers, old[i], factor));
    };
    let op = match &node.op {
        Op::Combine { coefficients, constant } => Op::Combine {
            coefficients: coefficients.iter().map(|c| c * factor).collect(),
            constant: constant * factor,
        },
        Op::Approximated { error, low, high } => {
            each(r, &[0]);
            let (a, b) = (low * factor, high * factor);
            Op::Approximated { error: error * factor.abs(), low: a.min(b), high: a.max(b) }
        }
        Op::Tensor(TensorOp::Chebyshev { coefficients, low, high }) => {
            let coefficients = coefficients.iter().map(|c| c * factor).collect();
            Op::Tensor(TensorOp::Chebyshev { coefficients, low: *low, high: *high })
        }
        Op::Tensor(TensorOp::Linear { steps }) if !is_structural(steps) => {
            if let Some(own) = lone_factor(g, id).filter(|_| accepts(g, readers, old[0])) {
                return scaled(r, g, readers, old[0], own * factor);
            }
            let steps = steps.iter().cloned().chain([LinearStep::ScaleBy { factor }]).collect();
            Op::Tensor(TensorOp::Linear { steps })
        }
        Op::Tensor(TensorOp::Mul | TensorOp::MatMul) => {
            each(r, taker(g, readers, &old).as_slice());
            node.op.clone()
        }
        Op::Tensor(TensorOp::Add | TensorOp::Sub) => {
            each(r, &[0, 1]);
            node.op.clone()
        }
        _ => {
            each(r, &[0]);
            node.op.clone()
        }
    };
    r.add(op, &args, node.span)
}
