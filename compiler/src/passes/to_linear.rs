//! Writes everything that is linear in one encrypted operand as a chain of linear steps, and brings sums and differences with
//! clear values to the form `encrypted + clear`.

use crate::ir::{Graph, NodeId, Op};
use crate::passes::rewrite::{Rewrite, known_value, uniform_value};
use grammar::Span;
use plan::{Function, LinearStep, Operand, TensorOp};

/// The same program where products and quotients with clear values are linear maps.
pub fn to_linear(g: &Graph) -> Graph {
    Rewrite::each(g, |r, id| {
        let args = r.args(id);
        match &g.node(id).op {
            Op::Tensor(op) if args.iter().any(|&a| r.graph().is_cipher(a)) => cipher(r, g, id, op, &args),
            _ => r.copy(id),
        }
    })
}

fn cipher(r: &mut Rewrite, g: &Graph, id: NodeId, op: &TensorOp, args: &[NodeId]) -> NodeId {
    let span = g.node(id).span;
    let clear: Vec<bool> = args.iter().map(|&a| !r.graph().is_cipher(a)).collect();
    match (op, &clear[..]) {
        (TensorOp::Mul, [false, true]) => scale(r, args[0], args[1], span),
        (TensorOp::Mul, [true, false]) => scale(r, args[1], args[0], span),
        (TensorOp::Div, [false, true]) => {
            let inverse = r.tensor(TensorOp::Apply { function: Function::Inv }, &args[1..], span);
            scale(r, args[0], inverse, span)
        }
        (TensorOp::MatMul, [false, true]) => {
            let (weight, shape) = weight(r, args[1], span);
            let steps = vec![LinearStep::MatMulRight { weight: Operand(0), shape }];
            r.tensor(TensorOp::Linear { steps }, &[args[0], weight], span)
        }
        (TensorOp::MatMul, [true, false]) => {
            let (weight, shape) = weight(r, args[0], span);
            let steps = vec![LinearStep::MatMulLeft { weight: Operand(0), shape }];
            r.tensor(TensorOp::Linear { steps }, &[args[1], weight], span)
        }
        (TensorOp::Add, [true, false]) => r.tensor(TensorOp::Add, &[args[1], args[0]], span),
        (TensorOp::Sub, [false, true]) => {
            let negative = negative(r, args[1], span);
            r.tensor(TensorOp::Add, &[args[0], negative], span)
        }
        (TensorOp::Sub, [true, false]) => {
            let negative = r.tensor(TensorOp::Neg, &args[1..], span);
            r.tensor(TensorOp::Add, &[negative, args[0]], span)
        }
        (TensorOp::Linear { .. }, _) => {
            let known: Vec<NodeId> = args[1..].iter().map(|&a| materialized(r, a, span)).collect();
            r.tensor(op.clone(), &[&args[..1], &known].concat(), span)
        }
        _ => r.tensor(op.clone(), args, span),
    }
}

/// Encrypted times clear, element by element.
fn scale(r: &mut Rewrite, x: NodeId, by: NodeId, span: Option<Span>) -> NodeId {
    let by = if uniform_value(r.graph(), by).is_some() { by } else { materialized(r, by, span) };
    if let Some(factor) = uniform_value(r.graph(), by) {
        return r.tensor(TensorOp::Linear { steps: vec![LinearStep::ScaleBy { factor }] }, &[x], span);
    }
    r.tensor(TensorOp::Linear { steps: vec![LinearStep::Scale { by: Operand(0) }] }, &[x, by], span)
}

/// The clear side of a matrix product: repeated batches are left out.
fn weight(r: &mut Rewrite, id: NodeId, span: Option<Span>) -> (NodeId, Vec<usize>) {
    let g = r.graph();
    let repeated = match &g.node(id).op {
        Op::Tensor(TensorOp::Linear { steps }) if matches!(steps[..], [LinearStep::Broadcast { .. }]) => {
            let source = g.args(id)[0];
            let matrix = &g.shape(id)[g.shape(id).len() - 2..];
            (g.shape(source) == matrix).then_some(source)
        }
        _ => None,
    };
    let weight = materialized(r, repeated.unwrap_or(id), span);
    (weight, r.graph().shape(weight).to_vec())
}

/// A constant for a clear value made of constants, so that a chain of steps has its matrix at hand.
fn materialized(r: &mut Rewrite, id: NodeId, span: Option<Span>) -> NodeId {
    if r.graph().constant_value(id).is_some() {
        return id;
    }
    match known_value(r.graph(), id) {
        Some(value) => r.constant(value, span),
        None => id,
    }
}

fn negative(r: &mut Rewrite, id: NodeId, span: Option<Span>) -> NodeId {
    if let Some(value) = uniform_value(r.graph(), id) {
        let shape = r.graph().shape(id).to_vec();
        return r.uniform(&shape, -value, span);
    }
    match r.graph().constant_value(id).map(|t| t.map(|x| -x)) {
        Some(value) => r.constant(value, span),
        None => r.tensor(TensorOp::Neg, &[id], span),
    }
}
