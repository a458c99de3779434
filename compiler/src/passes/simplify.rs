//! Algebra that needs no analysis: products by 0 and 1, sums with 0, doubled signs, small powers, linear steps that move
//! nothing. A value that does not depend on what is encrypted becomes clear.

use crate::ir::{Graph, NodeId, Op};
use crate::passes::rewrite::{Rewrite, uniform_value};
use crate::passes::simplify_steps::simplify_steps;
use grammar::Span;
use plan::{LinearStep, Operand, TensorOp};

/// The same program in simpler terms.
pub fn simplify(g: &Graph) -> Graph {
    Rewrite::each(g, |r, id| {
        let (node, args) = (g.node(id), r.args(id));
        let found = match &node.op {
            Op::Tensor(op) => tensor(r, op, &args, &node.shape, node.span),
            Op::Combine { coefficients, constant } => {
                (*constant == 0.0 && coefficients[..] == [1.0]).then(|| args[0])
            }
            _ => None,
        };
        found.unwrap_or_else(|| r.add(node.op.clone(), &args, node.span))
    })
}

/// A simpler form of an operation on new operands, if there is one.
fn tensor(
    r: &mut Rewrite,
    op: &TensorOp,
    args: &[NodeId],
    shape: &[usize],
    span: Option<Span>,
) -> Option<NodeId> {
    match op {
        TensorOp::Add => sum(r, args, span),
        TensorOp::Sub => difference(r, args, shape, span),
        TensorOp::Mul => product(r, args, shape, span),
        TensorOp::Neg => negated(r.graph(), args[0]),
        TensorOp::MatMul => {
            let zero = args.iter().any(|&a| uniform_value(r.graph(), a) == Some(0.0));
            zero.then(|| r.uniform(shape, 0.0, span))
        }
        TensorOp::Div => (uniform_value(r.graph(), args[1]) == Some(1.0)).then(|| args[0]),
        TensorOp::Pow { exponent } => power(r, *exponent, args[0], shape, span),
        TensorOp::Polynomial { coefficients } => polynomial(r, coefficients, args[0], shape, span),
        TensorOp::Chebyshev { coefficients, .. } => {
            let constant = coefficients.iter().skip(1).all(|&c| c == 0.0);
            constant.then(|| r.uniform(shape, coefficients.first().copied().unwrap_or(0.0), span))
        }
        TensorOp::Linear { steps } => linear(r, steps, args, shape, span),
        TensorOp::Apply { .. } => None,
    }
}

fn is(g: &Graph, id: NodeId, value: f64) -> bool {
    uniform_value(g, id) == Some(value)
}

/// The operand of a negation.
fn negated(g: &Graph, id: NodeId) -> Option<NodeId> {
    matches!(g.node(id).op, Op::Tensor(TensorOp::Neg)).then(|| g.args(id)[0])
}

fn sum(r: &mut Rewrite, args: &[NodeId], span: Option<Span>) -> Option<NodeId> {
    let (a, b) = (args[0], args[1]);
    if is(r.graph(), b, 0.0) {
        return Some(a);
    }
    if is(r.graph(), a, 0.0) {
        return Some(b);
    }
    if r.graph().is_cipher(a) != r.graph().is_cipher(b) {
        return None;
    }
    if let Some(b) = negated(r.graph(), b) {
        return Some(r.tensor(TensorOp::Sub, &[a, b], span));
    }
    let a = negated(r.graph(), a)?;
    Some(r.tensor(TensorOp::Sub, &[b, a], span))
}

fn difference(r: &mut Rewrite, args: &[NodeId], shape: &[usize], span: Option<Span>) -> Option<NodeId> {
    let (a, b) = (args[0], args[1]);
    if a == b {
        return Some(r.uniform(shape, 0.0, span));
    }
    if is(r.graph(), b, 0.0) {
        return Some(a);
    }
    if is(r.graph(), a, 0.0) {
        return Some(r.tensor(TensorOp::Neg, &[b], span));
    }
    let b = negated(r.graph(), b)?;
    let args = if r.graph().is_cipher(a) { [a, b] } else { [b, a] };
    Some(r.tensor(TensorOp::Add, &args, span))
}

fn product(r: &mut Rewrite, args: &[NodeId], shape: &[usize], span: Option<Span>) -> Option<NodeId> {
    let (a, b) = (args[0], args[1]);
    for (factor, other) in [(b, a), (a, b)] {
        match uniform_value(r.graph(), factor) {
            Some(0.0) => return Some(r.uniform(shape, 0.0, span)),
            Some(1.0) => return Some(other),
            Some(-1.0) => return Some(r.tensor(TensorOp::Neg, &[other], span)),
            _ => {}
        }
    }
    let (a, b) = (negated(r.graph(), a)?, negated(r.graph(), b)?);
    Some(r.tensor(TensorOp::Mul, &[a, b], span))
}

fn power(r: &mut Rewrite, exponent: u32, x: NodeId, shape: &[usize], span: Option<Span>) -> Option<NodeId> {
    match exponent {
        0 => Some(r.uniform(shape, 1.0, span)),
        1 => Some(x),
        2 => Some(r.tensor(TensorOp::Mul, &[x, x], span)),
        _ => None,
    }
}

fn polynomial(
    r: &mut Rewrite,
    coefficients: &[f64],
    x: NodeId,
    shape: &[usize],
    span: Option<Span>,
) -> Option<NodeId> {
    let degree = coefficients.iter().rposition(|&c| c != 0.0).unwrap_or(0);
    let constant = coefficients.first().copied().unwrap_or(0.0);
    if degree == 0 {
        return Some(r.uniform(shape, constant, span));
    }
    if constant == 0.0
        && coefficients[..=degree].iter().skip(1).enumerate().all(|(i, &c)| c == f64::from(i == 0))
    {
        return Some(x);
    }
    let shorter = TensorOp::Polynomial { coefficients: coefficients[..=degree].to_vec() };
    (degree + 1 < coefficients.len()).then(|| r.tensor(shorter, &[x], span))
}

fn linear(
    r: &mut Rewrite,
    steps: &[LinearStep],
    args: &[NodeId],
    shape: &[usize],
    span: Option<Span>,
) -> Option<NodeId> {
    let g = r.graph();
    if matches!(steps, [LinearStep::Broadcast { .. }]) && g.constant_value(args[0]).is_some() {
        return None;
    }
    if is(g, args[0], 0.0) || kills(g, steps, args) {
        return Some(r.uniform(shape, 0.0, span));
    }
    let fewer = simplify_steps(steps, g.shape(args[0]), |o| uniform_value(g, args[o.0 + 1]));
    if let Some(found) = joined(r, &fewer, args, span) {
        return Some(found);
    }
    match fewer[..] {
        [] => Some(args[0]),
        _ if fewer != steps => Some(add_linear(r, &fewer, args[0], &args[1..], span)),
        _ => None,
    }
}

/// Whether a step multiplies by zero.
fn kills(g: &Graph, steps: &[LinearStep], args: &[NodeId]) -> bool {
    steps.iter().any(|s| match s {
        LinearStep::ScaleBy { factor } => *factor == 0.0,
        other => other.operand().is_some_and(|o| is(g, args[o.0 + 1], 0.0)),
    })
}

/// The chain after the chain that makes its operand, when both together are no longer than the chain alone.
fn joined(r: &mut Rewrite, steps: &[LinearStep], args: &[NodeId], span: Option<Span>) -> Option<NodeId> {
    let g = r.graph();
    let Op::Tensor(TensorOp::Linear { steps: first }) = &g.node(args[0]).op else { return None };
    let source = g.args(args[0]);
    let clear = [&source[1..], &args[1..]].concat();
    let shifted = steps.iter().map(|s| s.with_operand(|o| Operand(o.0 + source.len() - 1)));
    let chain: Vec<LinearStep> = first.iter().cloned().chain(shifted).collect();
    let fewer = simplify_steps(&chain, g.shape(source[0]), |o| uniform_value(g, clear[o.0]));
    if fewer.len() > steps.len().max(first.len()) || (fewer.len() == chain.len()) {
        return None;
    }
    if fewer.is_empty() {
        return Some(source[0]);
    }
    Some(add_linear(r, &fewer, source[0], &clear, span))
}

/// A chain whose steps name operands among `clear`: the unused ones are dropped, the others renumbered.
pub(crate) fn add_linear(
    r: &mut Rewrite,
    steps: &[LinearStep],
    x: NodeId,
    clear: &[NodeId],
    span: Option<Span>,
) -> NodeId {
    let mut args = vec![x];
    let mut number = |o: Operand| {
        let at = args.iter().skip(1).position(|&a| a == clear[o.0]).unwrap_or_else(|| {
            args.push(clear[o.0]);
            args.len() - 2
        });
        Operand(at)
    };
    let numbers: Vec<Option<Operand>> = steps.iter().map(|s| s.operand().map(&mut number)).collect();
    let steps = steps.iter().zip(numbers).map(|(s, n)| s.with_operand(|o| n.unwrap_or(o))).collect();
    r.tensor(TensorOp::Linear { steps }, &args, span)
}
