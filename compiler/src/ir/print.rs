//! The text form of a graph. [`mod@crate::ir::parse`] reads it back: `parse(print(g)) == g`, spans and constants included.
//!
//! ```text
//! circuit @dense(%x: cipher f64[2, 2] in [-1, 1]) {
//!   const c0 "w" = f64[2] [1.0, 0.5]
//!   n0 = input %x
//!   n1 = const c0
//!   n2 = linear (matmul_right %0 [2]) n0, n1 : cipher [2, 2]
//!   n3 = exp n2 { on [-2, 2], within 0.001 } : cipher [2, 2]
//!   return "y" = n3 { precision 0.001 }
//! }
//! ```
//! A comment runs from `;` to the end of the line (inside parentheses `;` separates the steps of a chain). `@ 12..20` is the
//! place in the source a line comes from.

use crate::ir::graph::{Graph, InputDecl, NodeId};
use crate::ir::op::{Approximation, Op};
use grammar::Span;
use plan::{Secrecy, TensorOp, tensor::show, text};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Graph {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let inputs: Vec<String> = self.inputs.iter().map(input).collect();
        writeln!(f, "circuit @{}({}) {{", name(&self.name), inputs.join(", "))?;
        for (n, c) in self.constants.iter().enumerate() {
            writeln!(f, "  const c{n} {:?} = f64{} {:?}", c.name, show(c.value.shape()), c.value.data())?;
        }
        for id in self.ids() {
            writeln!(f, "  {id} = {}", line(self, id))?;
        }
        for o in &self.outputs {
            let at = place(o.span);
            writeln!(f, "  return {:?} = {} {{ precision {:?} }}{at}", o.name, o.node, o.precision)?;
        }
        writeln!(f, "}}")
    }
}

fn input(i: &InputDecl) -> String {
    let (kind, shape) = (secrecy(i.secrecy), show(&i.shape));
    format!("%{}: {kind} f64{shape} in [{:?}, {:?}]{}", name(&i.name), i.low, i.high, place(i.span))
}

/// A name as it is if it is a word, quoted otherwise.
fn name(name: &str) -> String {
    let word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if word { name.to_string() } else { format!("{name:?}") }
}

fn secrecy(s: Secrecy) -> &'static str {
    match s {
        Secrecy::Cipher => "cipher",
        Secrecy::Plain => "plain",
    }
}

fn place(span: Option<Span>) -> String {
    span.map(|s| format!(" @ {}..{}", s.start, s.end)).unwrap_or_default()
}

/// One node without its number: operation, operands, facts, secrecy and shape.
pub fn line(g: &Graph, id: NodeId) -> String {
    let node = g.node(id);
    let mut s = bare_operation(g, &node.op);
    let args: Vec<String> = g.args(id).iter().map(NodeId::to_string).collect();
    if !args.is_empty() {
        let _ = write!(s, " {}", args.join(", "));
    }
    if let Op::Function { wish, .. } = &node.op {
        s.push_str(&wishes(wish));
    }
    let _ = write!(s, " : {} {}{}", secrecy(node.secrecy), show(&node.shape), place(node.span));
    s
}

/// An operation with its parameters and wishes, without operands: equal texts mean equal operations.
pub fn operation(g: &Graph, op: &Op) -> String {
    match op {
        Op::Function { wish, .. } => bare_operation(g, op) + &wishes(wish),
        other => bare_operation(g, other),
    }
}

fn bare_operation(g: &Graph, op: &Op) -> String {
    match op {
        Op::Input(i) => format!("input %{}", name(&g.inputs[*i].name)),
        Op::Constant(c) => format!("const c{c}"),
        Op::Tensor(op @ TensorOp::Apply { .. }) => format!("apply {}", text::tensor_op(op)),
        Op::Tensor(op) => text::tensor_op(op),
        Op::Function { function, .. } => text::tensor_op(&TensorOp::Apply { function: *function }),
        Op::Assume { name, low, high } => format!("assume {name:?} in [{low:?}, {high:?}]"),
        Op::Approximated { error, low, high } => format!("approximated {error:?} in [{low:?}, {high:?}]"),
        Op::Combine { coefficients, constant } => format!("combine {coefficients:?} + {constant:?}"),
    }
}

fn wishes(w: &Approximation) -> String {
    let on = w.on.map(|(low, high)| format!("on [{low:?}, {high:?}]"));
    let within = w.within.map(|e| format!("within {e:?}"));
    let degree = w.degree.map(|d| format!("degree {d}"));
    let gap = w.gap.map(|g| format!("gap {g:?}"));
    let given: Vec<String> = [on, within, degree, gap].into_iter().flatten().collect();
    if given.is_empty() { String::new() } else { format!(" {{ {} }}", given.join(", ")) }
}
