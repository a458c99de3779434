//! How much an error at a node weighs at the outputs: the error there, in units of the precision asked for, for an absolute
//! error of 1 here. Bounds by the ranges of values, so mostly too large: fit for choosing defaults, not for refusing programs.

use crate::analysis::range::Ranges;
use crate::ir::{Graph, NodeId, Op};
use plan::{LinearStep, TensorOp};

/// Points at which the slope of a function is looked at.
const SAMPLES: usize = 64;

/// For every node: an absolute error of e in it is an error of at most e times this at the outputs, where 1 is the precision
/// asked for. 0 for nodes that reach no output.
pub fn sensitivities(g: &Graph, ranges: &Ranges) -> Vec<f64> {
    let mut weight = vec![0.0; g.len()];
    g.outputs.iter().for_each(|o| weight[o.node.index()] += 1.0 / o.precision);
    for id in g.ids().rev() {
        let args = g.args(id);
        for (position, a) in args.iter().enumerate() {
            weight[a.index()] += weight[id.index()] * gain(g, id, &args, position, ranges);
        }
    }
    weight
}

/// Largest change of a node for a change of 1 of one operand.
fn gain(g: &Graph, id: NodeId, args: &[NodeId], position: usize, ranges: &Ranges) -> f64 {
    let size = |a: NodeId| ranges[a].max_abs();
    let (low, high) = (ranges[args[position]].low, ranges[args[position]].high);
    match &g.node(id).op {
        Op::Input(_) | Op::Constant(_) => 0.0,
        Op::Assume { .. } | Op::Approximated { .. } => 1.0,
        Op::Combine { coefficients, .. } => coefficients[position].abs(),
        Op::Function { function, wish } => {
            let (low, high) = wish.on.unwrap_or((low, high));
            slope(|x| function.eval(x), low, high)
        }
        Op::Tensor(op) => match op {
            TensorOp::Add | TensorOp::Sub | TensorOp::Neg => 1.0,
            TensorOp::Mul => size(args[1 - position]),
            TensorOp::Div => 1.0 / ranges[args[1]].low.abs().min(ranges[args[1]].high.abs()),
            TensorOp::MatMul => {
                let inner = g.shape(args[0]).last().copied().unwrap_or(1);
                inner as f64 * size(args[1 - position])
            }
            TensorOp::Linear { steps } if position == 0 => chain_gain(g, steps, args, ranges),
            TensorOp::Linear { .. } => 0.0,
            TensorOp::Pow { exponent } => {
                f64::from(*exponent) * plan::op::power(low.abs().max(high.abs()), exponent.saturating_sub(1))
            }
            TensorOp::Apply { function } => slope(|x| function.eval(x), low, high),
            TensorOp::Polynomial { coefficients } => {
                slope(|x| coefficients.iter().rev().fold(0.0, |s, c| s * x + c), low, high)
            }
            TensorOp::Chebyshev { coefficients, low, high } => {
                let f = |x: f64| plan::op::chebyshev(coefficients, (2.0 * x - low - high) / (high - low));
                slope(f, *low, *high)
            }
        },
    }
}

/// Largest slope between neighbours of a grid; steeper than jumps look is not said.
fn slope(f: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let step = (high - low) / SAMPLES as f64;
    let at = |i: usize| f(low + step * i as f64);
    let slopes = (0..SAMPLES).map(|i| ((at(i + 1) - at(i)) / step).abs());
    slopes.filter(|s| s.is_finite()).fold(0.0, f64::max)
}

fn chain_gain(g: &Graph, steps: &[LinearStep], args: &[NodeId], ranges: &Ranges) -> f64 {
    let mut shape = g.shape(args[0]).to_vec();
    let mut total = 1.0;
    for step in steps {
        let weight = step.operand().and_then(|o| args.get(o.0 + 1)).map_or(1.0, |&a| ranges[a].max_abs());
        let terms = match step {
            LinearStep::Sum { axes } => axes.iter().map(|&a| shape[a]).product(),
            LinearStep::MatMulRight { shape, .. } => shape[shape.len() - 2],
            LinearStep::MatMulLeft { shape, .. } => shape[shape.len() - 1],
            LinearStep::Conv2d { shape, .. } => shape[1..].iter().product(),
            _ => 1,
        };
        let factor = if let LinearStep::ScaleBy { factor } = step { factor.abs() } else { 1.0 };
        total *= weight * factor * terms as f64;
        shape = step.output_shape(&shape).unwrap_or_default();
    }
    total
}
