//! A plan as one HTML page without scripts or network: graph, levels over time, bootstraps, memory, cost shares.

use super::dot::colour;
use super::profile::{live_bytes, shares};
use plan::text::operation;
use plan::{Bytes, NodeId, Op, Plan};
use std::fmt::Write;

/// Width of a chart.
const WIDTH: f64 = 1100.0;
/// Height of a chart.
const HEIGHT: f64 = 260.0;
/// Space around a chart, for its axes.
const MARGIN: f64 = 60.0;
/// Largest plan whose graph is drawn.
const MAX_DRAWN: usize = 600;
/// Distance of neighbouring rows of the graph.
const ROW: f64 = 46.0;

const STYLE: &str = "body{font:14px sans-serif;margin:2em auto;max-width:1160px;color:#222}\
    pre{background:#f6f6f6;padding:1em;overflow:auto}svg{background:#fcfcfc;border:1px solid #ddd}\
    table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:left;border-bottom:1px solid #ddd}";

/// The page: `text` is the explanation in words, `costs` what every node costs, if that is known.
pub fn html(plan: &Plan, text: &str, costs: Option<&[f64]>) -> String {
    let mut page = String::new();
    // writing to a string does not fail
    let _ = write_page(&mut page, plan, text, costs);
    page
}

fn write_page(f: &mut String, plan: &Plan, text: &str, costs: Option<&[f64]>) -> std::fmt::Result {
    let name = escaped(&plan.program);
    writeln!(f, "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name}</title>")?;
    writeln!(f, "<style>{STYLE}</style></head><body><h1>{name}</h1><pre>{}</pre>", escaped(text))?;
    writeln!(f, "<h2>Levels over time</h2>")?;
    timeline(f, plan)?;
    bootstraps(f, plan)?;
    writeln!(f, "<h2>Memory of encrypted values over time</h2>")?;
    memory(f, plan)?;
    if let Some(costs) = costs {
        writeln!(f, "<h2>Cost by operation</h2>")?;
        cost_table(f, plan, costs)?;
    }
    writeln!(f, "<h2>Graph</h2>")?;
    graph(f, plan)?;
    writeln!(f, "</body></html>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Maps `0..=most` to the inside of a chart.
fn across(value: f64, most: f64, from: f64, to: f64) -> f64 {
    from + (to - from) * value / most.max(1.0)
}

/// Title of a node, shown under the pointer.
fn title(plan: &Plan, i: usize) -> String {
    let node = &plan.nodes[i];
    let level = node.level().map_or("clear".to_string(), |l| format!("level {l}"));
    let text = format!("n{i} {} {} line {}", operation(&node.op), level, node.line);
    escaped(&text.chars().take(160).collect::<String>())
}

/// Every encrypted node at its time and level, with lines from its operands.
fn timeline(f: &mut String, plan: &Plan) -> std::fmt::Result {
    let top = f64::from(plan.params.top().0);
    let x = |i: usize| across(i as f64, plan.nodes.len() as f64, MARGIN, WIDTH - 10.0);
    let y = |level: u32| across(f64::from(level), top, HEIGHT - 30.0, 15.0);
    open(f, WIDTH, HEIGHT)?;
    for level in 0..=plan.params.top().0 {
        let at = y(level);
        writeln!(f, "<line x1=\"{MARGIN}\" y1=\"{at:.1}\" x2=\"{WIDTH}\" y2=\"{at:.1}\" stroke=\"#eee\"/>")?;
        writeln!(f, "<text x=\"8\" y=\"{:.1}\" font-size=\"11\">level {level}</text>", at + 4.0)?;
    }
    let at = |i: usize| plan.nodes[i].level().map(|l| (x(i), y(l.0)));
    for (i, node) in plan.nodes.iter().enumerate() {
        let Some((x2, y2)) = at(i) else { continue };
        for (x1, y1) in node.args.iter().filter_map(|a: &NodeId| at(a.index())) {
            line(f, (x1, y1), (x2, y2))?;
        }
    }
    for (i, node) in plan.nodes.iter().enumerate() {
        let Some((x, y)) = at(i) else { continue };
        let (fill, title) = (colour(&node.op), title(plan, i));
        writeln!(
            f,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{fill}\"><title>{title}</title></circle>"
        )?;
    }
    writeln!(f, "</svg>")
}

fn open(f: &mut String, width: f64, height: f64) -> std::fmt::Result {
    writeln!(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\">")
}

fn line(f: &mut String, from: (f64, f64), to: (f64, f64)) -> std::fmt::Result {
    let ((x1, y1), (x2, y2)) = (from, to);
    writeln!(f, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#bbb\"/>")
}

fn bootstraps(f: &mut String, plan: &Plan) -> std::fmt::Result {
    let all = plan.nodes.iter().enumerate().filter(|(_, n)| matches!(n.op, Op::Bootstrap { .. }));
    let rows: Vec<String> = all
        .map(|(i, n)| {
            let level = |id: usize| plan.nodes[id].level().map_or(0, |l| l.0);
            let (from, to) = (level(n.args[0].index()), level(i));
            format!("<tr><td>n{i}</td><td>{from}</td><td>{to}</td><td>{}</td></tr>", n.line)
        })
        .collect();
    match rows.is_empty() {
        true => writeln!(f, "<p>No bootstraps.</p>"),
        false => writeln!(
            f,
            "<h2>Bootstraps</h2><table><tr><th>node</th><th>from level</th><th>to level</th><th>line</th></tr>{}</table>",
            rows.concat()
        ),
    }
}

fn memory(f: &mut String, plan: &Plan) -> std::fmt::Result {
    let bytes = live_bytes(plan);
    let most = bytes.iter().copied().max().unwrap_or(0);
    let x = |i: usize| across(i as f64, bytes.len() as f64, MARGIN, WIDTH - 10.0);
    let y = |b: u64| across(b as f64, most as f64, HEIGHT - 30.0, 15.0);
    let points: Vec<String> =
        bytes.iter().enumerate().map(|(i, &b)| format!("{:.1},{:.1}", x(i), y(b))).collect();
    open(f, WIDTH, HEIGHT)?;
    writeln!(f, "<text x=\"4\" y=\"19\" font-size=\"11\">{}</text>", Bytes(most))?;
    writeln!(
        f,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#2e6f95\" stroke-width=\"2\"/>",
        points.join(" ")
    )?;
    writeln!(f, "</svg>")
}

fn cost_table(f: &mut String, plan: &Plan, costs: &[f64]) -> std::fmt::Result {
    let total: f64 = costs.iter().sum();
    writeln!(f, "<table><tr><th>operation</th><th>times</th><th>share</th><th></th></tr>")?;
    for (kind, count, cost) in shares(plan, costs) {
        let share = 100.0 * cost / total.max(f64::MIN_POSITIVE);
        let (kind, width) = (escaped(&kind), 6.0 * share);
        writeln!(
            f,
            "<tr><td>{kind}</td><td>{count}</td><td>{share:.1} %</td><td><svg width=\"600\" height=\"12\">\
             <rect width=\"{width:.1}\" height=\"12\" fill=\"#f3a712\"/></svg></td></tr>"
        )?;
    }
    writeln!(f, "</table>")
}

/// Nodes in rows by their distance from the inputs.
fn graph(f: &mut String, plan: &Plan) -> std::fmt::Result {
    if plan.nodes.len() > MAX_DRAWN {
        return writeln!(
            f,
            "<p>{} nodes: too many to draw; `--emit dot` has them all.</p>",
            plan.nodes.len()
        );
    }
    let mut rank: Vec<usize> = Vec::with_capacity(plan.nodes.len());
    for node in &plan.nodes {
        rank.push(node.args.iter().map(|a| rank[a.index()] + 1).max().unwrap_or(0));
    }
    let rows = rank.iter().max().map_or(0, |r| r + 1);
    let mut widths = vec![0usize; rows];
    rank.iter().for_each(|&r| widths[r] += 1);
    let mut next = vec![0usize; rows];
    let places: Vec<(f64, f64)> = rank
        .iter()
        .map(|&r| {
            next[r] += 1;
            let x = WIDTH * next[r] as f64 / (widths[r] + 1) as f64;
            (x, 24.0 + ROW * r as f64)
        })
        .collect();
    open(f, WIDTH, 48.0 + ROW * rows as f64)?;
    for (i, node) in plan.nodes.iter().enumerate() {
        node.args.iter().try_for_each(|a| line(f, places[a.index()], places[i]))?;
    }
    for (i, node) in plan.nodes.iter().enumerate() {
        let (x, y) = places[i];
        let fill = if node.level().is_some() { colour(&node.op) } else { "#e0e0e0" };
        writeln!(
            f,
            "<g><title>{}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\" fill=\"{fill}\" stroke=\"#777\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"9\" text-anchor=\"middle\">{i}</text></g>",
            title(plan, i),
            y + 3.0
        )?;
    }
    writeln!(f, "</svg>")
}
