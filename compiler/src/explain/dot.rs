//! A plan as a graph in the DOT language, for graphviz and its kin.

use plan::text::operation;
use plan::{Form, Op, Plan};
use std::fmt::Write;

/// Longest label of a node.
const LABEL: usize = 40;

/// The graph of a plan: encrypted nodes with their levels, clear ones in grey, outputs as double circles.
pub fn dot(plan: &Plan) -> String {
    let mut text = String::new();
    // writing to a string does not fail
    let _ = write_dot(&mut text, plan);
    text
}

fn write_dot(f: &mut String, plan: &Plan) -> std::fmt::Result {
    writeln!(f, "digraph \"{}\" {{", escaped(&plan.program))?;
    writeln!(f, "  rankdir=TB; node [shape=box, style=filled, fontname=\"sans-serif\"];")?;
    for (i, node) in plan.nodes.iter().enumerate() {
        let name: String = operation(&node.op).chars().take(LABEL).collect();
        let (level, colour) = match node.form {
            Form::Cipher { level, .. } => (format!("\\nlevel {level}"), colour(&node.op)),
            Form::Clear => (String::new(), "#e0e0e0"),
        };
        writeln!(f, "  n{i} [label=\"n{i} {}{level}\", fillcolor=\"{colour}\"];", escaped(&name))?;
        node.args.iter().try_for_each(|a| writeln!(f, "  {a} -> n{i};"))?;
    }
    for (i, o) in plan.outputs.iter().enumerate() {
        writeln!(f, "  out{i} [label=\"{}\", shape=doublecircle, fillcolor=\"#ffffff\"];", escaped(&o.name))?;
        writeln!(f, "  {} -> out{i};", o.node)?;
    }
    writeln!(f, "}}")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Colour of an encrypted operation, the same in every picture: what switches keys is warm, bootstraps are red.
pub fn colour(op: &Op) -> &'static str {
    match op {
        Op::Bootstrap { .. } => "#e4572e",
        Op::Mul | Op::MatMul | Op::MaskedMatMul => "#f3a712",
        Op::Linear { .. } | Op::LinearRows { .. } | Op::MatMulClear | Op::Flip => "#a8c686",
        Op::Input(_) => "#8ab6d6",
        Op::Adjust => "#d6c9e4",
        _ => "#cfe8ef",
    }
}
