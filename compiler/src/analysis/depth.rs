//! Multiplicative depth: levels used from the inputs to every node, by the table of level costs, before anything is laid out.
//!
//! Linear chains without coefficients count as free; a layout may still make one need a mask. Functions and polynomials count
//! what their evaluation takes when the degree is known, and a guess of one level otherwise.

use crate::analysis::level_cost::{Kind, levels};
use crate::approximate::scheme::{polynomial_depth, scheme as evaluation};
use crate::ir::{Graph, NodeId, Op};
use crate::passes::fuse_linear::is_structural;
use plan::{Scheme, TensorOp};

/// Levels used from the inputs to every node; 0 for clear nodes.
pub fn depths(g: &Graph, scheme: Scheme) -> Vec<u32> {
    let mut depth = vec![0; g.len()];
    for id in g.ids().filter(|&id| g.is_cipher(id)) {
        let args = g.args(id).into_iter().map(|a| depth[a.index()]).max().unwrap_or(0);
        depth[id.index()] = args + cost(g, id, scheme);
    }
    depth
}

/// Levels that an encrypted node uses itself.
pub fn cost(g: &Graph, id: NodeId, scheme: Scheme) -> u32 {
    let args = g.args(id);
    let clear = args.iter().any(|&a| !g.is_cipher(a));
    let of = |kind| levels(kind, scheme);
    match &g.node(id).op {
        Op::Input(_) | Op::Constant(_) | Op::Assume { .. } | Op::Approximated { .. } => 0,
        Op::Combine { .. } => of(Kind::Combine),
        Op::Function { wish, .. } => wish.degree.map_or(1, |d| polynomial_depth(d as usize)),
        Op::Tensor(op) => match op {
            TensorOp::Add | TensorOp::Sub | TensorOp::Neg => of(Kind::Add),
            TensorOp::Mul | TensorOp::Div if clear => of(Kind::MulClear),
            TensorOp::Mul => of(Kind::Mul),
            TensorOp::MatMul if clear => of(Kind::Linear),
            TensorOp::MatMul => of(Kind::MatMul),
            TensorOp::Linear { steps } if is_structural(steps) => of(Kind::Rotate),
            TensorOp::Linear { .. } => of(Kind::Linear),
            TensorOp::Pow { exponent } => exponent.next_power_of_two().trailing_zeros() * of(Kind::Mul),
            TensorOp::Polynomial { coefficients } => polynomial_depth(coefficients.len().saturating_sub(1)),
            TensorOp::Chebyshev { coefficients, low, high } if coefficients.len() > 1 => {
                evaluation(coefficients, *low, *high).depth
            }
            TensorOp::Chebyshev { .. } | TensorOp::Div | TensorOp::Apply { .. } => 0,
        },
    }
}
