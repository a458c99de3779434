//! Moves factors into what makes the value: `c (x @ w + b)` becomes `x @ (c w) + c b`, which saves the level of the factor.
//!
//! A factor that is no integer goes to operations that multiply by numbers anyway (linear maps, combinations, polynomials),
//! through sums, signs, products and moves of elements, as long as the values on the way have no other reader.

use crate::ir::{Graph, NodeId, Op};
use crate::passes::fuse_linear::{is_integer, is_structural, readers};
use crate::passes::rewrite::Rewrite;
use plan::{LinearStep, TensorOp};

/// The same program with fewer products by numbers.
pub fn absorb_scales(g: &Graph) -> Graph {
    let readers = readers(g);
    let mut factors: Vec<Option<f64>> = vec![None; g.len()];
    let mut dropped = vec![false; g.len()];
    for id in g.ids().rev() {
        if let Some(factor) = lone_factor(g, id) {
            let total = factor * factors[id.index()].unwrap_or(1.0);
            let source = g.args(id)[0];
            if !is_integer(total) && accepts(g, &readers, source) {
                (dropped[id.index()], factors[id.index()]) = (true, None);
                factors[source.index()] = Some(total);
            }
        } else if let Some(factor) = factors[id.index()] {
            targets(g, &readers, id).into_iter().for_each(|a| factors[a.index()] = Some(factor));
        }
    }
    Rewrite::each(g, |r, id| match factors[id.index()] {
        _ if dropped[id.index()] => r.args(id)[0],
        Some(factor) => scaled(r, g, id, factor),
        None => r.copy(id),
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

/// Whether a node can give its value times any factor at no cost, all of it to the one who asks.
pub(crate) fn accepts(g: &Graph, readers: &[usize], id: NodeId) -> bool {
    if !g.is_cipher(id) {
        return true;
    }
    if readers[id.index()] != 1 {
        return false;
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
            TensorOp::Mul | TensorOp::MatMul => args.iter().filter(|&&a| g.is_cipher(a)).any(each),
            _ => false,
        },
        _ => false,
    }
}

/// The operands that a node with a factor hands it on to.
fn targets(g: &Graph, readers: &[usize], id: NodeId) -> Vec<NodeId> {
    let args: Vec<NodeId> = g.args(id).into_iter().filter(|&a| g.is_cipher(a)).collect();
    match &g.node(id).op {
        Op::Approximated { .. } => args,
        Op::Tensor(op) => match op {
            TensorOp::Linear { steps } if is_structural(steps) => args,
            TensorOp::Add | TensorOp::Sub | TensorOp::Neg => args,
            TensorOp::Mul | TensorOp::MatMul => {
                args.into_iter().filter(|&a| accepts(g, readers, a)).take(1).collect()
            }
            _ => vec![],
        },
        _ => vec![],
    }
}

/// The node with its value times the factor; operands that take the factor have it already.
fn scaled(r: &mut Rewrite, g: &Graph, id: NodeId, factor: f64) -> NodeId {
    let (node, mut args) = (g.node(id), r.args(id));
    let op = match &node.op {
        Op::Combine { coefficients, constant } => Op::Combine {
            coefficients: coefficients.iter().map(|c| c * factor).collect(),
            constant: constant * factor,
        },
        Op::Approximated { error, low, high } => {
            let (a, b) = (low * factor, high * factor);
            Op::Approximated { error: error * factor.abs(), low: a.min(b), high: a.max(b) }
        }
        Op::Tensor(TensorOp::Linear { steps }) if !is_structural(steps) => {
            let mut steps = steps.clone();
            steps.push(LinearStep::ScaleBy { factor });
            Op::Tensor(TensorOp::Linear { steps })
        }
        Op::Tensor(TensorOp::Chebyshev { coefficients, low, high }) => {
            let coefficients = coefficients.iter().map(|c| c * factor).collect();
            Op::Tensor(TensorOp::Chebyshev { coefficients, low: *low, high: *high })
        }
        other => {
            if let Op::Tensor(TensorOp::Add | TensorOp::Sub) = other {
                let clear: Vec<usize> = (0..args.len()).filter(|&i| !r.graph().is_cipher(args[i])).collect();
                clear.into_iter().for_each(|i| args[i] = clear_times(r, args[i], factor));
            }
            other.clone()
        }
    };
    r.add(op, &args, node.span)
}

fn clear_times(r: &mut Rewrite, id: NodeId, factor: f64) -> NodeId {
    let (shape, span) = (r.graph().shape(id).to_vec(), r.graph().node(id).span);
    let by = r.uniform(&shape, factor, span);
    r.tensor(TensorOp::Mul, &[id, by], span)
}
