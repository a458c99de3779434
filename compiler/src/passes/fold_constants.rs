//! Evaluates clear nodes whose operands are constants. A result with all elements equal becomes a scalar and its repetition,
//! so that large tensors of one number stay small. A result that is not finite is left to whoever reports it.

use crate::ir::{Graph, NodeId, Op};
use crate::passes::rewrite::{Rewrite, uniform, uniform_value};
use plan::Tensor;

/// The same program with clear arithmetic on constants done.
pub fn fold_constants(g: &Graph) -> Graph {
    let mut values: Vec<Option<Tensor>> = Vec::with_capacity(g.len());
    Rewrite::each(g, |r, id| {
        let value = value(g, id, &values);
        let new = match &value {
            Some(v) => place(r, g, id, v),
            None => r.copy(id),
        };
        values.push(value);
        new
    })
}

fn value(g: &Graph, id: NodeId, values: &[Option<Tensor>]) -> Option<Tensor> {
    let op = &g.node(id).op;
    if let Op::Input(_) | Op::Assume { .. } | Op::Approximated { .. } = op {
        return None;
    }
    if let Some(constant) = g.constant_value(id) {
        return Some(constant.clone());
    }
    let args = g.args(id);
    let args: Option<Vec<&Tensor>> = args.iter().map(|a| values[a.index()].as_ref()).collect();
    let value = op.eval(&args?).ok()?;
    value.data().iter().all(|x| x.is_finite()).then_some(value)
}

fn place(r: &mut Rewrite, g: &Graph, id: NodeId, value: &Tensor) -> NodeId {
    let span = g.node(id).span;
    let is_constant = matches!(g.node(id).op, Op::Constant(_));
    match uniform(value) {
        Some(_) if uniform_value(g, id).is_some() && !is_constant => r.copy(id),
        Some(v) if value.len() > 1 => r.uniform(value.shape(), v, span),
        _ if is_constant => r.copy(id),
        _ => r.constant(value.clone(), span),
    }
}
