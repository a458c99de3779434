//! Powers become products of squares, with the depth of a balanced tree; polynomials in powers become polynomials in the
//! Chebyshev basis on the range of their argument, where they are evaluated with small intermediate values.

use crate::analysis::range::Ranges;
use crate::ir::{Graph, NodeId, Op};
use crate::passes::rewrite::Rewrite;
use plan::TensorOp;
use std::collections::BTreeMap;

/// The same program without `Pow` and `Polynomial` of encrypted values.
pub fn expand_powers(g: &Graph, ranges: &Ranges) -> Graph {
    let mut powers = BTreeMap::new();
    Rewrite::each(g, |r, id| match &g.node(id).op {
        Op::Tensor(TensorOp::Pow { exponent }) if g.is_cipher(id) && *exponent > 0 => {
            power(r, &mut powers, r.args(id)[0], *exponent, g.node(id).span)
        }
        Op::Tensor(TensorOp::Polynomial { coefficients }) if g.is_cipher(id) => {
            let range = ranges[g.args(id)[0]];
            let (low, high) = if range.low < range.high {
                (range.low, range.high)
            } else {
                (range.low - 1.0, range.low + 1.0)
            };
            let coefficients = chebyshev_basis(coefficients, low, high);
            r.tensor(TensorOp::Chebyshev { coefficients, low, high }, &r.args(id), g.node(id).span)
        }
        _ => r.copy(id),
    })
}

/// `x^e` at ceil(log2 e) levels: halves of even exponents, the largest power of two of odd ones.
fn power(
    r: &mut Rewrite,
    made: &mut BTreeMap<(NodeId, u32), NodeId>,
    x: NodeId,
    e: u32,
    span: Option<grammar::Span>,
) -> NodeId {
    if e == 1 {
        return x;
    }
    if let Some(&known) = made.get(&(x, e)) {
        return known;
    }
    let first = if e.is_multiple_of(2) { e / 2 } else { 1 << e.ilog2() };
    let a = power(r, made, x, first, span);
    let b = power(r, made, x, e - first, span);
    let product = r.tensor(TensorOp::Mul, &[a, b], span);
    made.insert((x, e), product);
    product
}

/// Coefficients of `sum c_k x^k` in the Chebyshev basis on `[low, high]`, the last one not 0 unless it is the only one.
///
/// Horner's rule with x = middle + half u, where u T_k = (T_(k+1) + T_|k-1|) / 2.
pub fn chebyshev_basis(c: &[f64], low: f64, high: f64) -> Vec<f64> {
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    let mut sum = vec![0.0; c.len().max(1)];
    for &coefficient in c.iter().rev() {
        let mut next: Vec<f64> = sum.iter().map(|s| s * middle).collect();
        for k in 0..sum.len() {
            let part = sum[k] * half;
            if k == 0 && sum.len() > 1 {
                next[1] += part;
            } else if k > 0 {
                next[k - 1] += part / 2.0;
                if k + 1 < sum.len() {
                    next[k + 1] += part / 2.0;
                }
            }
        }
        next[0] += coefficient;
        sum = next;
    }
    while sum.len() > 1 && sum.last() == Some(&0.0) {
        sum.pop();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bases_give_the_same_polynomial() {
        let c = [0.5, -1.0, 0.0, 2.0, 0.25];
        for (low, high) in [(-1.0, 1.0), (-3.0, 3.0), (0.5, 4.0)] {
            let t = chebyshev_basis(&c, low, high);
            for i in 0..=20 {
                let x = low + (high - low) * f64::from(i) / 20.0;
                let direct = c.iter().rev().fold(0.0, |s, c| s * x + c);
                let found = plan::op::chebyshev(&t, (2.0 * x - low - high) / (high - low));
                assert!((direct - found).abs() < 1e-12 * direct.abs().max(100.0));
            }
        }
        assert_eq!(chebyshev_basis(&[0.0, 0.0, 1.0], -1.0, 1.0), [0.5, 0.0, 0.5]);
        assert_eq!(chebyshev_basis(&[1.0, 2.0, 0.0], -1.0, 1.0), [1.0, 2.0]);
    }
}
