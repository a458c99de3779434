//! Bootstrapping a draft in given parameters: how high values come back, which values can be bootstrapped, and where they fit.
//!
//! A bootstrap acts on all slots, those outside the tensor included. They hold zeros at first and stay small: masks clear
//! them, sums and products act on them as on the others, rotations without masks bring in elements.

use super::draft::{Draft, DraftNode};
use crate::params::moduli::VALUE_MARGIN_BITS;
use plan::bootstrap::{MAX_LOG_BOUND, SLOTS_TO_COEFFS};
use plan::{Level, Op, Params};

/// A draft and the parameters it is bootstrapped in.
#[derive(Clone, Debug)]
pub struct Refresh<'a> {
    /// the parameters, with primes for bootstrapping
    pub params: &'a Params,
    /// by node of the draft: largest absolute value of all slots
    bounds: Vec<f64>,
}

impl<'a> Refresh<'a> {
    /// Bounds of all values of a draft.
    pub fn new(draft: &Draft, params: &'a Params) -> Refresh<'a> {
        let mut outside: Vec<f64> = Vec::with_capacity(draft.nodes.len());
        for node in &draft.nodes {
            let bound = outside_bound(draft, node, &outside);
            outside.push(bound);
        }
        let bounds = draft.nodes.iter().zip(outside).map(|(n, o)| n.max_abs().max(o)).collect();
        Refresh { params, bounds }
    }

    /// Levels to which a value can be raised.
    pub fn targets(&self) -> impl Iterator<Item = Level> {
        (SLOTS_TO_COEFFS + 1..=self.params.top().0).map(Level)
    }

    /// log2 of a power of two above all slots of a node, if they are small enough for a bootstrap.
    pub fn log_bound(&self, node: usize) -> Option<u32> {
        let bits = libm::ceil(libm::log2(self.bounds[node].max(1.0)));
        (bits <= f64::from(MAX_LOG_BOUND)).then_some(bits as u32)
    }

    /// The lowest level whose modulus holds a node at its scale, one above the highest level if there is none.
    pub fn least_level(&self, node: usize) -> u32 {
        let bits = libm::log2(self.bounds[node].max(1.0)) + 1.0 + VALUE_MARGIN_BITS;
        let (mut modulus, mut level) = (0.0, 0);
        for (&q, &scale) in self.params.q.iter().zip(&self.params.scale) {
            modulus += libm::log2(q as f64);
            // primes are not exactly powers of two
            if modulus + 0.1 >= libm::log2(scale) + bits {
                return level;
            }
            level += 1;
        }
        level
    }
}

/// Largest absolute value of the slots outside the tensor, from those of the operands.
fn outside_bound(draft: &Draft, node: &DraftNode, outside: &[f64]) -> f64 {
    let arg = |i: usize| node.args.get(i).map_or(0.0, |&a| outside[a]);
    let all = |i: usize| node.args.get(i).map_or(0.0, |&a| outside[a].max(draft.nodes[a].max_abs()));
    match &node.op {
        Op::Add | Op::Sub => arg(0) + arg(1),
        Op::Neg | Op::AddClear | Op::Flip | Op::Adjust | Op::Bootstrap { .. } => arg(0),
        Op::MulInteger(k) => arg(0) * k.unsigned_abs() as f64,
        Op::Mul => arg(0) * arg(1),
        Op::Combine { coefficients, .. } => {
            coefficients.iter().enumerate().map(|(i, c)| c.abs() * arg(i)).sum()
        }
        // integers: the sum of their absolute values is at most that of their squares
        Op::Linear { masks: false, .. } => {
            all(0) * node.kernel.as_ref().map_or(1.0, |k| k.spread.max(k.square))
        }
        Op::MaskedMatMul | Op::MatMul => {
            let inner = node.args.first().and_then(|&a| draft.nodes[a].shape.last()).copied().unwrap_or(1);
            inner as f64 * all(0) * all(1)
        }
        Op::Input(_) | Op::Constant(_) | Op::Clear(_) | Op::MulClear => 0.0,
        Op::Linear { masks: true, .. } | Op::LinearRows { .. } | Op::MatMulClear => 0.0,
    }
}
