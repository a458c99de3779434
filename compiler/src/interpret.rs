//! The judge: what a graph means, in f64 with exact functions, at any stage of compilation.
//!
//! Inputs are held against their declarations. What a program states about its values (`in [a, b]`, `on = [a, b]`) is
//! checked as [`OutOfRange`] says; facts without a name need no check.

use crate::analysis::interval::{Range, show_number};
use crate::diag::{Code, Diagnostic, Diagnostics, Label, nearest};
use crate::ir::{Graph, InputDecl, NodeId, Op};
use plan::linear::{self, LinearError, LinearStep};
use plan::op::OpError;
use plan::tensor::show;
use plan::{Tensor, TensorOp};
use std::collections::BTreeMap;

/// An input is not given, or one is given that the program does not have.
pub const INPUT_NAME: Code = Code("E0801");
/// An input has another shape than declared.
pub const INPUT_SHAPE: Code = Code("E0802");
/// A value of an input is NaN, infinite, or outside the declared range.
pub const INPUT_VALUE: Code = Code("E0803");
/// A value leaves the range that the program states for it.
pub const STATED_RANGE: Code = Code("E0804");
/// A value is not finite.
pub const NOT_FINITE: Code = Code("E0805");
/// An operation does not apply to its operands; the graph is at fault, not the program.
pub const BROKEN_GRAPH: Code = Code("E0899");

/// Values may leave their range by this much, relative to its bounds: what rounding in f64 can do.
const SLACK: f64 = 1e-9;

/// What to do about a value outside the range that is declared or stated for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutOfRange {
    /// It is an error.
    #[default]
    Refuse,
    /// It is a warning.
    Warn,
    /// It is right: where graphs are compared.
    Ignore,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// values of the outputs in order of declaration, or of all nodes in node order
    pub values: Vec<Tensor>,
    /// values outside their range, if that is not refused
    pub warnings: Diagnostics,
}

/// The outputs for given inputs.
pub fn interpret(
    graph: &Graph,
    inputs: &BTreeMap<String, Tensor>,
    out_of_range: OutOfRange,
) -> Result<Run, Diagnostics> {
    let keep = |id: NodeId| graph.outputs.iter().any(|o| o.node == id);
    let (values, warnings) = evaluate(graph, inputs, out_of_range, keep)?;
    let outputs = graph.outputs.iter().map(|o| o.node.index());
    let values = outputs.filter_map(|i| values[i].clone()).collect();
    Ok(Run { values, warnings })
}

/// The value of every node for given inputs.
pub fn interpret_all(
    graph: &Graph,
    inputs: &BTreeMap<String, Tensor>,
    out_of_range: OutOfRange,
) -> Result<Run, Diagnostics> {
    let (values, warnings) = evaluate(graph, inputs, out_of_range, |_| true)?;
    Ok(Run { values: values.into_iter().flatten().collect(), warnings })
}

/// Holds inputs against their declarations: names, shapes, numbers, ranges. One message per input.
pub fn check_inputs(
    graph: &Graph,
    inputs: &BTreeMap<String, Tensor>,
    out_of_range: OutOfRange,
) -> Diagnostics {
    let mut found = Diagnostics::new();
    for decl in &graph.inputs {
        let place = Label::main(decl.span.unwrap_or_default(), "");
        match inputs.get(&decl.name) {
            None => {
                let message = format!("the input `{}` is not given", decl.name);
                let text = format!("a tensor of shape {} in {}", show(&decl.shape), range_of(decl));
                found.push(Diagnostic::error(INPUT_NAME, message, Label { text, ..place }));
            }
            Some(value) if value.shape() != decl.shape => {
                let message = format!(
                    "the input `{}` is declared with shape {}, but given with {}",
                    decl.name,
                    show(&decl.shape),
                    show(value.shape())
                );
                let text = "declared here".to_string();
                found.push(Diagnostic::error(INPUT_SHAPE, message, Label { text, ..place }));
            }
            Some(value) => {
                found.extend(check_values(decl, value, place, out_of_range));
            }
        }
    }
    for name in inputs.keys().filter(|n| graph.inputs.iter().all(|d| d.name != **n)) {
        let near = nearest(name, graph.inputs.iter().map(|d| d.name.as_str()));
        let help = near.map(|n| format!("did you mean `{n}`?"));
        let message = format!("the program has no input `{name}`");
        let place = graph.inputs.first().and_then(|d| d.span).unwrap_or_default();
        let label = Label::main(place, "inputs are declared here");
        found.push(Diagnostic::error(INPUT_NAME, message, label).with_help_if(help));
    }
    found
}

fn range_of(decl: &InputDecl) -> Range {
    Range::new(decl.low, decl.high)
}

fn check_values(decl: &InputDecl, value: &Tensor, place: Label, out_of_range: OutOfRange) -> Diagnostics {
    let mut found = Diagnostics::new();
    let at = |i: usize| (show_number(value.data()[i]), show(&value.index_of(i)));
    if let Some(i) = value.data().iter().position(|x| !x.is_finite()) {
        let (shown, index) = at(i);
        let message = format!("the input `{}` is {shown} at index {index}", decl.name);
        let label = Label { text: "all values must be finite".into(), ..place };
        found.push(Diagnostic::error(INPUT_VALUE, message, label));
        return found;
    }
    if let Some((i, others)) = first_outside(value, range_of(decl)) {
        let (shown, index) = at(i);
        let message = format!(
            "the input `{}` is {shown} at index {index}, outside its range {}{}",
            decl.name,
            range_of(decl),
            and_more(others)
        );
        let label = Label { text: "declared here".into(), ..place };
        let help = "scale the data, or declare a wider range";
        push_out_of_range(&mut found, INPUT_VALUE, message, label, help, out_of_range);
    }
    found
}

fn and_more(others: usize) -> String {
    if others == 0 { String::new() } else { format!(" (and {others} more)") }
}

fn push_out_of_range(
    found: &mut Diagnostics,
    code: Code,
    message: String,
    label: Label,
    help: &str,
    out_of_range: OutOfRange,
) {
    let diagnostic = match out_of_range {
        OutOfRange::Refuse => Diagnostic::error(code, message, label),
        OutOfRange::Warn => Diagnostic::warning(code, message, label),
        OutOfRange::Ignore => return,
    };
    found.push(diagnostic.with_help(help));
}

/// The first element outside a range and how many follow.
fn first_outside(value: &Tensor, range: Range) -> Option<(usize, usize)> {
    let slack = SLACK * (1.0 + range.max_abs());
    let outside = |x: &f64| *x < range.low - slack || *x > range.high + slack;
    let first = value.data().iter().position(outside)?;
    Some((first, value.data()[first + 1..].iter().filter(|x| outside(x)).count()))
}

/// Values of the nodes that are kept; others are dropped after their last use.
fn evaluate(
    graph: &Graph,
    inputs: &BTreeMap<String, Tensor>,
    out_of_range: OutOfRange,
    keep: impl Fn(NodeId) -> bool,
) -> Result<(Vec<Option<Tensor>>, Diagnostics), Diagnostics> {
    let mut found = check_inputs(graph, inputs, out_of_range);
    if found.has_errors() {
        return Err(found);
    }
    let live = graph.live();
    let mut values: Vec<Option<Tensor>> = vec![None; graph.len()];
    for id in graph.ids() {
        let args = graph.args(id);
        let wanted = live[id.index()] || keep(id);
        if wanted {
            let value =
                node_value(graph, id, &args, &values, inputs).map_err(|error| broken(graph, id, &error))?;
            check_stated(graph, id, &args, &values, out_of_range, &mut found);
            check_finite(graph, id, &value, &mut found);
            values[id.index()] = Some(value);
        }
        for a in args {
            if !keep(a) && graph.users(a).iter().all(|&u| u <= id) {
                values[a.index()] = None;
            }
        }
    }
    if found.has_errors() { Err(found) } else { Ok((values, found)) }
}

fn broken(graph: &Graph, id: NodeId, error: &OpError) -> Diagnostics {
    let mut found = Diagnostics::new();
    let label = Label::main(graph.node(id).span.unwrap_or_default(), format!("node {id}"));
    found.push(Diagnostic::error(BROKEN_GRAPH, error.to_string(), label));
    found
}

fn node_value(
    graph: &Graph,
    id: NodeId,
    args: &[NodeId],
    values: &[Option<Tensor>],
    inputs: &BTreeMap<String, Tensor>,
) -> Result<Tensor, OpError> {
    let op = &graph.node(id).op;
    let missing = || OpError::Arity { op: "node", expected: args.len(), found: 0 };
    let operands: Vec<&Tensor> =
        args.iter().map(|a| values[a.index()].as_ref().ok_or_else(missing)).collect::<Result<_, _>>()?;
    match op {
        Op::Input(i) => inputs.get(&graph.inputs[*i].name).cloned().ok_or_else(missing),
        Op::Constant(c) => Ok(graph.constants[*c].value.clone()),
        Op::Tensor(TensorOp::Linear { steps }) => {
            let (x, clear) = operands.split_first().ok_or_else(missing)?;
            apply_linear(steps, x, clear)
        }
        op => op.eval(&operands),
    }
}

/// A chain of linear steps; what is large in sparse form is computed without it.
pub(crate) fn apply_linear(steps: &[LinearStep], x: &Tensor, clear: &[&Tensor]) -> Result<Tensor, OpError> {
    let mut value = x.clone();
    for step in steps {
        let shape = step.output_shape(value.shape())?;
        let weight = |batch: &[usize]| -> Result<Tensor, OpError> {
            let missing = LinearError::Operand {
                step: step.name(),
                operand: step.operand().unwrap_or(plan::Operand(0)),
            };
            let w = step.operand().and_then(|o| clear.get(o.0)).ok_or(missing)?;
            let full = [batch, &w.shape()[w.shape().len().saturating_sub(2)..]].concat();
            Ok(w.broadcast_to(&full).map_err(LinearError::from)?)
        };
        value = match step {
            LinearStep::MatMulRight { .. } => {
                let w = weight(&shape[..shape.len() - 2])?;
                TensorOp::MatMul.eval(&[&value, &w])?
            }
            LinearStep::MatMulLeft { .. } => {
                let w = weight(&shape[..shape.len() - 2])?;
                TensorOp::MatMul.eval(&[&w, &value])?
            }
            LinearStep::Reshape { .. } => Tensor::new(shape, value.into_data()).map_err(LinearError::from)?,
            LinearStep::Broadcast { .. } => value.broadcast_to(&shape).map_err(LinearError::from)?,
            LinearStep::ScaleBy { factor } => value.map(|v| v * factor),
            step => linear::apply(std::slice::from_ref(step), &value, clear)?,
        };
    }
    Ok(value)
}

/// `in` and `on`: the operand lies in the stated range.
fn check_stated(
    graph: &Graph,
    id: NodeId,
    args: &[NodeId],
    values: &[Option<Tensor>],
    out_of_range: OutOfRange,
    found: &mut Diagnostics,
) {
    let node = graph.node(id);
    let (what, range) = match &node.op {
        Op::Assume { name, low, high } if !name.is_empty() => (format!("`{name}`"), Range::new(*low, *high)),
        Op::Function { function, wish } => match wish.on {
            Some((low, high)) => (format!("the argument of {}", function.name()), Range::new(low, high)),
            None => return,
        },
        _ => return,
    };
    let Some(value) = args.first().and_then(|a| values[a.index()].as_ref()) else { return };
    let Some((i, others)) = first_outside(value, range) else { return };
    let message = format!(
        "{what} is {} at index {}, outside the stated range {range}{}",
        show_number(value.data()[i]),
        show(&value.index_of(i)),
        and_more(others)
    );
    let label = Label::main(node.span.unwrap_or_default(), "stated here");
    let help = "widen the range; an encrypted run could give anything for such data";
    push_out_of_range(found, STATED_RANGE, message, label, help, out_of_range);
}

/// The first node with NaN or infinity; what is computed from it says nothing.
fn check_finite(graph: &Graph, id: NodeId, value: &Tensor, found: &mut Diagnostics) {
    if found.has_errors() {
        return;
    }
    if let Some(i) = value.data().iter().position(|x| !x.is_finite()) {
        let message =
            format!("a value is {} at index {}", show_number(value.data()[i]), show(&value.index_of(i)));
        let label = Label::main(graph.node(id).span.unwrap_or_default(), "computed here");
        found.push(Diagnostic::error(NOT_FINITE, message, label));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::OutputDecl;
    use plan::{Operand, Secrecy};

    fn tensor(shape: &[usize], data: &[f64]) -> Tensor {
        Tensor::new(shape.to_vec(), data.to_vec()).unwrap()
    }

    fn program() -> Graph {
        let mut g = Graph::new("t");
        let (name, shape) = ("x".to_string(), vec![2, 2]);
        g.inputs =
            vec![InputDecl { name, secrecy: Secrecy::Cipher, shape, low: -1.0, high: 1.0, span: None }];
        let x = g.add(Op::Input(0), &[], None).unwrap();
        let w = g.constant("w", tensor(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), None);
        let right = LinearStep::MatMulRight { weight: Operand(0), shape: vec![2, 2] };
        let left = LinearStep::MatMulLeft { weight: Operand(0), shape: vec![2, 2] };
        let y = g.add(Op::Tensor(TensorOp::Linear { steps: vec![right, left] }), &[x, w], None).unwrap();
        let z = g.add(Op::Assume { name: "z".into(), low: -20.0, high: 20.0 }, &[y], None).unwrap();
        g.outputs = vec![OutputDecl { name: "z".into(), node: z, precision: 1e-3, span: None }];
        g
    }

    fn given(data: &[f64]) -> BTreeMap<String, Tensor> {
        BTreeMap::from([("x".to_string(), tensor(&[2, 2], data))])
    }

    #[test]
    fn chains_agree_with_their_matrices() {
        let (g, inputs) = (program(), given(&[0.5, -0.5, 0.25, 0.0]));
        let run = interpret(&g, &inputs, OutOfRange::Refuse).unwrap();
        let Op::Tensor(op) = &g.node(NodeId(2)).op else { panic!("the third node is linear") };
        let expect = op.eval(&[&inputs["x"], &g.constants[0].value]).unwrap();
        assert_eq!((&run.values[0], run.warnings.len()), (&expect, 0));
        assert_eq!(interpret_all(&g, &inputs, OutOfRange::Refuse).unwrap().values.len(), 4);
    }

    #[test]
    fn values_outside_their_ranges_are_named() {
        let g = program();
        let messages = |d: Diagnostics| d.iter().map(|d| d.message.clone()).collect::<Vec<_>>();
        let refused = messages(interpret(&g, &given(&[1.0; 4]), OutOfRange::Refuse).unwrap_err());
        assert_eq!(refused, ["`z` is 28 at index [1, 0], outside the stated range [-20, 20] (and 1 more)"]);
        let warned = interpret(&g, &given(&[1.0; 4]), OutOfRange::Warn).unwrap();
        assert_eq!((warned.warnings.len(), warned.values[0].data()[3]), (1, 42.0));
        let wrong =
            messages(interpret(&g, &given(&[0.0, f64::NAN, 3.0, 0.0]), OutOfRange::Warn).unwrap_err());
        assert_eq!(wrong, ["the input `x` is NaN at index [0, 1]"]);
        let wrong = messages(interpret(&g, &given(&[0.0, 0.0, 3.0, 0.0]), OutOfRange::Refuse).unwrap_err());
        assert_eq!(wrong, ["the input `x` is 3 at index [1, 0], outside its range [-1, 1]"]);
        let missing = BTreeMap::from([("y".to_string(), Tensor::scalar(0.0))]);
        assert_eq!(interpret(&g, &missing, OutOfRange::Refuse).unwrap_err().len(), 1);
    }
}
