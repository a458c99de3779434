//! Moves factors into what makes the value: `c (x @ w + b)` becomes `x @ (c w) + c b`, which saves the level of the factor.
//!
//! A factor that is no integer goes to operations that multiply by numbers anyway (linear maps, combinations, polynomials),
//! through sums, signs, products and moves of elements. A product hands it to the factor that is less deep, where it costs
//! a level that the other one takes anyway. Where other readers need the value without the factor, both are made,
//! unless that would repeat a product; polynomials share their powers.

use crate::analysis::depth::depths;
use crate::ir::{Graph, NodeId, Op};
use crate::passes::fuse_linear::{is_integer, is_structural, readers};
use crate::passes::rewrite::Rewrite;
use plan::{LinearStep, Scheme, TensorOp};
use std::cmp::Ordering;

/// The same program with fewer products by numbers.
pub fn absorb_scales(g: &Graph) -> Graph {
    let facts = Facts::new(g);
    Rewrite::each(g, |r, id| match lone_factor(g, id) {
        Some(factor) if !is_integer(factor) && facts.accepts(g.args(id)[0]) => {
            facts.scaled(r, g.args(id)[0], factor)
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

/// What decides where factors go.
pub(crate) struct Facts<'g> {
    g: &'g Graph,
    readers: Vec<usize>,
    depths: Vec<u32>,
}

/// The factor of a product that takes a number: its position.
enum Taker {
    /// it takes the number without a level
    Free(usize),
    /// it is less deep than the other one: a level for the number makes the product no deeper
    Shallow(usize),
}

impl<'g> Facts<'g> {
    pub(crate) fn new(g: &'g Graph) -> Facts<'g> {
        Facts { g, readers: readers(g), depths: depths(g, Scheme::Ckks) }
    }

    /// Whether a node can give its value times any factor without being deeper for it.
    pub(crate) fn accepts(&self, id: NodeId) -> bool {
        if !self.g.is_cipher(id) {
            return true;
        }
        let args = self.g.args(id);
        let each = |a: &NodeId| self.accepts(*a);
        match &self.g.node(id).op {
            Op::Combine { .. } => true,
            Op::Approximated { .. } => each(&args[0]),
            Op::Tensor(op) => match op {
                TensorOp::Linear { steps } => !is_structural(steps) || each(&args[0]),
                TensorOp::Chebyshev { coefficients, .. } => coefficients.len() > 1,
                TensorOp::Add | TensorOp::Sub | TensorOp::Neg => args.iter().all(each),
                TensorOp::Mul | TensorOp::MatMul => {
                    self.readers[id.index()] == 1 && self.taker(&args).is_some()
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn taker(&self, args: &[NodeId]) -> Option<Taker> {
        let free = args.iter().position(|&a| self.g.is_cipher(a) && self.accepts(a));
        let depth = |i: usize| self.depths[args[i].index()];
        let shallow = || match depth(0).cmp(&depth(1)) {
            Ordering::Less => Some(Taker::Shallow(0)),
            Ordering::Greater => Some(Taker::Shallow(1)),
            Ordering::Equal => None,
        };
        free.map(Taker::Free).or_else(shallow)
    }

    /// The value of an old node that accepts a factor, times the factor.
    fn scaled(&self, r: &mut Rewrite, id: NodeId, factor: f64) -> NodeId {
        let (node, mut args) = (self.g.node(id), r.args(id));
        if !self.g.is_cipher(id) {
            let by = r.uniform(&node.shape, factor, node.span);
            return r.tensor(TensorOp::Mul, &[r.at(id), by], node.span);
        }
        let old = self.g.args(id);
        let mut each = |r: &mut Rewrite, positions: &[usize]| {
            positions.iter().for_each(|&i| args[i] = self.scaled(r, old[i], factor));
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
                if let Some(own) = lone_factor(self.g, id).filter(|_| self.accepts(old[0])) {
                    return self.scaled(r, old[0], own * factor);
                }
                let steps = steps.iter().cloned().chain([LinearStep::ScaleBy { factor }]).collect();
                Op::Tensor(TensorOp::Linear { steps })
            }
            Op::Tensor(TensorOp::Mul | TensorOp::MatMul) => {
                match self.taker(&old) {
                    Some(Taker::Free(i)) => each(r, &[i]),
                    Some(Taker::Shallow(i)) => {
                        let steps = vec![LinearStep::ScaleBy { factor }];
                        args[i] = r.tensor(TensorOp::Linear { steps }, &args[i..=i], node.span);
                    }
                    None => {}
                }
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
}
