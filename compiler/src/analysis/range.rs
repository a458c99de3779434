//! The interval of every node: between which bounds all elements of its value lie, whatever the data in the declared
//! ranges.
//!
//! `in [a, b]` and `on = [a, b]` replace what is computed here; they are trusted. A square of one node is not negative,
//! and linear maps with known weights take the sums of their weights. Passes keep [`Ranges`] beside their graph.

pub use crate::analysis::interval::Range;
use crate::analysis::interval::show_number;
use crate::diag::{Code, Diagnostic, Diagnostics, Label};
use crate::ir::{Graph, NodeId, Op};
use plan::linear::{self, LinearStep};
use plan::tensor::size_of;
use plan::{Function, Tensor, TensorOp};
use std::ops::Index;

/// A value can leave what any parameters can hold.
pub const OVERFLOW: Code = Code("E0601");

/// Largest absolute value a ciphertext is planned for: 2^40. A modulus of 60 bits leaves 20 for precision there.
pub const MAX_MAGNITUDE: f64 = (1u64 << 40) as f64;

/// Largest number of coefficients of a product of linear steps that is multiplied out to bound it exactly.
const MAX_COEFFICIENTS: usize = 1 << 20;

/// A function is applied to values outside its domain.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{} needs {}, and its argument lies in {range}", .function.name(), .function.domain())]
pub struct DomainError {
    /// the function
    pub function: Function,
    /// where its argument lies
    pub range: Range,
    /// whether `on` says so
    pub stated: bool,
}

/// The interval of every node of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges(Vec<Range>);

impl Index<NodeId> for Ranges {
    type Output = Range;
    fn index(&self, id: NodeId) -> &Range {
        &self.0[id.index()]
    }
}

impl Ranges {
    /// No nodes yet.
    pub fn new() -> Ranges {
        Ranges::default()
    }
    /// Computes the interval of the next node, which is [`Range::UNKNOWN`] after an error.
    pub fn push_next(&mut self, graph: &Graph) -> Result<Range, DomainError> {
        let id = NodeId(self.0.len() as u32);
        let result = of_node(graph, id, self);
        self.0.push(*result.as_ref().unwrap_or(&Range::UNKNOWN));
        result
    }
    /// Computes the intervals of all nodes that the graph has more.
    pub fn extend(&mut self, graph: &Graph) {
        while self.0.len() < graph.len() {
            // an unknown interval is stored for nodes outside the domain of their function
            let _ = self.push_next(graph);
        }
    }
    /// States the interval of the next node.
    pub fn push(&mut self, range: Range) {
        self.0.push(range);
    }
    /// Tightens the interval of a node by another one that it is known to lie in.
    pub fn restrict(&mut self, id: NodeId, to: Range) {
        let now = self.0[id.index()];
        let both = Range::new(now.low.max(to.low), now.high.min(to.high));
        self.0[id.index()] = if both.low <= both.high { both } else { to };
    }
    /// The intervals as pairs, in node order.
    pub fn pairs(&self) -> Vec<(f64, f64)> {
        self.0.iter().map(|r| (r.low, r.high)).collect()
    }
}

/// The interval of every node. Nodes outside the domain of their function are unknown.
pub fn analyse(graph: &Graph) -> Ranges {
    let mut ranges = Ranges(Vec::with_capacity(graph.len()));
    while ranges.0.len() < graph.len() {
        let _unknown_after_an_error = ranges.push_next(graph);
    }
    ranges
}

/// Encrypted values that can be larger than [`MAX_MAGNITUDE`], each where it first happens. A value that is only the
/// subject of `in` or of a function's `on` is not meant: those say that it stays small.
pub fn overflows(graph: &Graph, ranges: &Ranges) -> Diagnostics {
    let beyond = |id: NodeId| ranges[id].max_abs() > MAX_MAGNITUDE;
    let excused = |id: NodeId| {
        let users = graph.users(id);
        let trusted = |u: &NodeId| match &graph.node(*u).op {
            Op::Assume { .. } => true,
            Op::Function { wish, .. } => wish.on.is_some(),
            _ => false,
        };
        !users.is_empty() && users.iter().all(trusted) && graph.outputs.iter().all(|o| o.node != id)
    };
    let mut found = Diagnostics::new();
    for id in graph.ids().filter(|&id| graph.is_cipher(id) && beyond(id)) {
        if graph.args(id).into_iter().any(beyond) || excused(id) || matches!(graph.node(id).op, Op::Input(_))
        {
            continue;
        }
        let range = ranges[id];
        let place = graph.node(id).span.unwrap_or_default();
        let message = format!(
            "this value can overflow: it can reach {}, beyond the limit of 2^40",
            show_number(range.max_abs())
        );
        let label = Label::main(place, format!("lies in {range} by the ranges of its operands"));
        let help = "if it stays smaller, say so: `in [low, high]` behind the value of a let, an assignment or an output is \
                    trusted, and checked in clear runs";
        found.push(Diagnostic::error(OVERFLOW, message, label).with_help(help));
    }
    found
}

fn of_node(graph: &Graph, id: NodeId, ranges: &Ranges) -> Result<Range, DomainError> {
    let args = graph.args(id);
    let arg = |i: usize| ranges[args[i]];
    Ok(match &graph.node(id).op {
        Op::Input(i) => Range::new(graph.inputs[*i].low, graph.inputs[*i].high),
        Op::Constant(c) => Range::of(&graph.constants[*c].value),
        Op::Assume { low, high, .. } => Range::new(*low, *high),
        Op::Approximated { error, low, high } => Range::new(low - error, high + error),
        Op::Function { function, wish } => {
            let range = wish.on.map_or(arg(0), |(low, high)| Range::new(low, high));
            of_function(*function, range, wish.on.is_some())?
        }
        Op::Combine { coefficients, constant } => {
            let start = Range::new(*constant, *constant);
            coefficients.iter().enumerate().fold(start, |sum, (i, &c)| sum.plus(arg(i).scaled(c)))
        }
        Op::Tensor(op) => match op {
            TensorOp::Add => arg(0).plus(arg(1)),
            TensorOp::Sub => arg(0).minus(arg(1)),
            TensorOp::Mul if args[0] == args[1] => arg(0).power(2),
            TensorOp::Mul => arg(0).times(arg(1)),
            TensorOp::Div => arg(0).times(of_function(Function::Inv, arg(1), false)?),
            TensorOp::Neg => arg(0).negative(),
            TensorOp::Pow { exponent } => arg(0).power(*exponent),
            TensorOp::MatMul => {
                let inner = graph.shape(args[0]).last().copied().unwrap_or(1);
                arg(0).times(arg(1)).scaled(inner as f64)
            }
            TensorOp::Linear { steps } => of_linear(graph, steps, &args, ranges),
            TensorOp::Apply { function } => of_function(*function, arg(0), false)?,
            TensorOp::Polynomial { coefficients } => {
                let f = |x: f64| coefficients.iter().rev().fold(0.0, |s, c| s * x + c);
                arg(0).polynomial(coefficients.len().saturating_sub(1), f)
            }
            TensorOp::Chebyshev { coefficients, low, high } => {
                let f = |x: f64| plan::op::chebyshev(coefficients, (2.0 * x - low - high) / (high - low));
                arg(0).polynomial(coefficients.len().saturating_sub(1), f)
            }
        },
    })
}

fn of_function(function: Function, range: Range, stated: bool) -> Result<Range, DomainError> {
    let known = !range.is_unknown() && range.max_abs() < f64::MAX;
    let refused = known && !function.defined_on(range.low, range.high);
    if refused { Err(DomainError { function, range, stated }) } else { Ok(range.function(function)) }
}

/// A clear operand of a linear step: its value, or its interval only.
#[derive(Clone, Copy)]
enum Clear<'g> {
    Known(&'g Tensor),
    Within(Range),
}

impl Clear<'_> {
    fn range(self) -> Range {
        match self {
            Clear::Known(t) => Range::of(t),
            Clear::Within(r) => r,
        }
    }
}

fn of_linear(graph: &Graph, steps: &[LinearStep], args: &[NodeId], ranges: &Ranges) -> Range {
    let known: Vec<Option<&Tensor>> = args[1..].iter().map(|&a| graph.constant_value(a)).collect();
    let clear: Vec<Clear> = known
        .iter()
        .zip(&args[1..])
        .map(|(k, &a)| k.map_or(Clear::Within(ranges[a]), Clear::Known))
        .collect();
    let (mut shape, mut range) = (graph.shape(args[0]).to_vec(), ranges[args[0]]);
    if let Some(weights) = known.into_iter().collect::<Option<Vec<&Tensor>>>()
        && is_small_product(steps, &shape)
        && let Ok(matrix) = linear::matrix(steps, &shape, &weights)
    {
        let rows = (0..matrix.rows()).map(|i| range.weighted_sum(matrix.row(i).iter().map(|e| e.1)));
        return rows.reduce(Range::hull).unwrap_or(Range::UNKNOWN);
    }
    for step in steps {
        range = of_step(step, range, &shape, &clear);
        shape = step.output_shape(&shape).unwrap_or_default();
    }
    range
}

/// Whether multiplying the steps out says more than taking them one by one, at a reasonable price.
fn is_small_product(steps: &[LinearStep], input: &[usize]) -> bool {
    let mut shape = input.to_vec();
    let (mut mixing, mut per_row, mut largest) = (0, 1usize, 0usize);
    for step in steps {
        let fan_in = fan_in(step, &shape);
        mixing += usize::from(fan_in > 1);
        per_row = per_row.saturating_mul(fan_in);
        let Ok(next) = step.output_shape(&shape) else { return false };
        shape = next;
        let rows = size_of(&shape).unwrap_or(usize::MAX);
        largest = largest.max(rows.saturating_mul(per_row)).max(rows.saturating_mul(fan_in));
    }
    mixing > 1 && largest <= MAX_COEFFICIENTS && size_of(input).is_ok_and(|n| n <= MAX_COEFFICIENTS)
}

/// Input elements that one output element of a step reads, at most.
fn fan_in(step: &LinearStep, x: &[usize]) -> usize {
    match step {
        LinearStep::Sum { axes } => axes.iter().map(|&a| x[a]).product(),
        LinearStep::MatMulRight { shape, .. } => shape[shape.len() - 2],
        LinearStep::MatMulLeft { shape, .. } => shape[shape.len() - 1],
        LinearStep::Conv2d { shape, .. } => shape[1..].iter().product(),
        LinearStep::AvgPool2d { kernel, .. } => kernel[0] * kernel[1],
        _ => 1,
    }
}

fn of_step(step: &LinearStep, x: Range, shape: &[usize], clear: &[Clear]) -> Range {
    let weight = step.operand().map(|o| clear.get(o.0).copied().unwrap_or(Clear::Within(Range::UNKNOWN)));
    let with_zero_if = |padded: bool| if padded { x.hull(Range::ZERO) } else { x };
    match (step, weight) {
        (LinearStep::Pad { before, after }, _) => with_zero_if(before.iter().chain(after).any(|&n| n > 0)),
        (LinearStep::DiagonalMatrix, _) => with_zero_if(shape[0] > 1),
        (LinearStep::AvgPool2d { padding, .. }, _) => with_zero_if(padding != &[0, 0]),
        (LinearStep::ScaleBy { factor }, _) => x.scaled(*factor),
        (LinearStep::Scale { .. }, Some(w)) => x.times(w.range()),
        (LinearStep::MatMulRight { shape: w, .. }, Some(Clear::Known(t))) => {
            let (inner, columns) = (w[w.len() - 2], w[w.len() - 1]);
            sums(x, t, |batch, j| (0..inner).map(move |k| (batch * inner + k) * columns + j), columns, inner)
        }
        (LinearStep::MatMulLeft { shape: w, .. }, Some(Clear::Known(t))) => {
            let (rows, inner) = (w[w.len() - 2], w[w.len() - 1]);
            sums(x, t, |batch, i| (0..inner).map(move |k| (batch * rows + i) * inner + k), rows, inner)
        }
        (LinearStep::Conv2d { padding, .. }, Some(Clear::Known(t))) => {
            let per_channel = fan_in(step, shape);
            let x = with_zero_if(padding != &[0, 0]);
            sums(x, t, |_, o| o * per_channel..(o + 1) * per_channel, t.shape()[0], per_channel)
        }
        (LinearStep::Conv2d { padding, .. }, Some(w)) => {
            with_zero_if(padding != &[0, 0]).times(w.range()).scaled(fan_in(step, shape) as f64)
        }
        (LinearStep::MatMulRight { .. } | LinearStep::MatMulLeft { .. }, Some(w)) => {
            x.times(w.range()).scaled(fan_in(step, shape) as f64)
        }
        (LinearStep::Sum { .. }, _) => x.scaled(fan_in(step, shape) as f64),
        _ => x,
    }
}

/// The interval of all sums of products of `x` with groups of weights: `group(batch, i)` lists the weights of sum `i` of
/// `groups`, `length` of them.
fn sums<I: Iterator<Item = usize>>(
    x: Range,
    weights: &Tensor,
    group: impl Fn(usize, usize) -> I,
    groups: usize,
    length: usize,
) -> Range {
    let batches = weights.len() / (groups * length).max(1);
    let each = (0..batches).flat_map(|b| (0..groups).map(move |i| (b, i)));
    let ranges = each.map(|(b, i)| x.weighted_sum(group(b, i).map(|at| weights.data()[at])));
    ranges.reduce(Range::hull).unwrap_or(Range::UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::InputDecl;
    use crate::ir::op::Approximation;
    use grammar::Span;
    use plan::{Operand, Secrecy};

    fn graph(shape: &[usize], low: f64, high: f64) -> (Graph, NodeId) {
        let mut g = Graph::new("t");
        let (name, shape) = ("x".to_string(), shape.to_vec());
        g.inputs = vec![InputDecl { name, secrecy: Secrecy::Cipher, shape, low, high, span: None }];
        let x = g.add(Op::Input(0), &[], None).unwrap();
        (g, x)
    }

    fn add(g: &mut Graph, op: TensorOp, args: &[NodeId]) -> NodeId {
        g.add(Op::Tensor(op), args, Some(Span::new(1, 2))).unwrap()
    }

    #[test]
    fn known_weights_give_exact_bounds() {
        let (mut g, x) = graph(&[2, 2], -1.0, 1.0);
        let w = g.constant("w", Tensor::new(vec![2, 2], vec![1.0, 0.5, -3.0, 0.5]).unwrap(), None);
        let by = LinearStep::MatMulRight { weight: Operand(0), shape: vec![2, 2] };
        let y = add(&mut g, TensorOp::Linear { steps: vec![by.clone()] }, &[x, w]);
        let square = add(&mut g, TensorOp::Mul, &[y, y]);
        let back = LinearStep::MatMulRight { weight: Operand(1), shape: vec![2, 2] };
        let inverse = g.constant("v", Tensor::new(vec![2, 2], vec![0.25, -0.25, 1.5, 0.5]).unwrap(), None);
        let same = add(&mut g, TensorOp::Linear { steps: vec![by, back] }, &[x, w, inverse]);
        let r = analyse(&g);
        assert_eq!((r[y], r[square]), (Range::new(-4.0, 4.0), Range::new(0.0, 16.0)));
        assert_eq!(r[same], Range::new(-1.0, 1.0));
    }

    #[test]
    fn overflow_is_said_once_unless_a_range_is_stated() {
        let (mut g, x) = graph(&[2], -10.0, 10.0);
        let mut y = x;
        for _ in 0..12 {
            y = add(&mut g, TensorOp::Mul, &[y, y]);
        }
        let found = overflows(&g, &analyse(&g));
        assert_eq!(found.len(), 1);
        let (mut g, x) = graph(&[2], -10.0, 10.0);
        let y = add(&mut g, TensorOp::Pow { exponent: 64 }, &[x]);
        assert_eq!(overflows(&g, &analyse(&g)).len(), 1);
        let z = g.add(Op::Assume { name: "z".into(), low: 0.0, high: 1.0 }, &[y], None).unwrap();
        let r = analyse(&g);
        assert_eq!((overflows(&g, &r).len(), r[z]), (0, Range::new(0.0, 1.0)));
    }

    #[test]
    fn domains_are_checked_where_they_are_known() {
        let (mut g, x) = graph(&[2], -1.0, 1.0);
        let log =
            |on| Op::Function { function: Function::Log, wish: Approximation { on, ..Default::default() } };
        let mut ranges = Ranges::new();
        ranges.push_next(&g).unwrap();
        g.add(log(None), &[x], None).unwrap();
        assert_eq!(ranges.push_next(&g).unwrap_err().range, Range::new(-1.0, 1.0));
        g.add(log(Some((1.0, 2.0))), &[x], None).unwrap();
        assert_eq!(ranges.push_next(&g).unwrap().low, 0.0);
    }
}
