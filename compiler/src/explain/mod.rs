//! Why a plan is as it is: as text (security, cost and its proof, the path that sets the depth, bootstraps, level costs, keys,
//! predicted errors, and, for a program that was just compiled, approximations and rejected schemes), as a page, as a graph.

mod dot;
mod html;
mod profile;

pub use dot::dot;
pub use html::html;

use crate::analysis::level::deepest_path;
use crate::analysis::level_cost::{Kind, TABLE};
use crate::driver::Compiled;
use plan::text::operation;
use plan::{KeyKind, NodeId, Op, Plan, security};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Longest text of an operation.
const OPERATION_WIDTH: usize = 60;

/// Everything about a plan alone.
pub fn explain_plan(plan: &Plan) -> String {
    let mut text = String::new();
    // writing to a string does not fail
    let _ = write_plan(&mut text, plan);
    text
}

/// A plan with what the compiler knows beside it.
pub fn explain(compiled: &Compiled) -> String {
    let mut text = explain_plan(&compiled.planned.plan);
    let _ = write_compiled(&mut text, compiled);
    text
}

/// The page of a program that was just compiled.
pub fn page(compiled: &Compiled) -> String {
    let planned = &compiled.planned;
    html(&planned.plan, &explain(compiled), Some(&planned.costs))
}

fn write_plan(f: &mut String, plan: &Plan) -> std::fmt::Result {
    let p = &plan.params;
    writeln!(
        f,
        "scheme    {}, ring {} of dimension {}",
        plan.geometry.scheme.name(),
        p.ring,
        p.ring.degree()
    )?;
    match security::max_log_pq(p.ring.degree(), p.security.bits) {
        Some(bound) if !p.insecure => writeln!(
            f,
            "security  {} bits: log2(PQ) = {:.1} of {bound:.1}, {}",
            p.security.bits,
            p.log_pq(),
            security::TABLE
        )?,
        _ => writeln!(f, "security  NONE: a ring for trials, log2(PQ) = {:.1}", p.log_pq())?,
    }
    writeln!(
        f,
        "levels    {} used, scale 2^{:.1}, q_0 of {:.1} bits, {} special primes, digits of {}",
        plan.estimate.levels_used,
        libm::log2(p.scale_at(p.top())),
        libm::log2(p.q[0] as f64),
        p.special.len(),
        p.digit
    )?;
    let e = &plan.estimate;
    writeln!(f, "keys      {} ({})", key_counts(plan), e.key_bytes)?;
    writeln!(f, "run       {} key switches, at most {} of memory", e.key_switches, e.peak_bytes)?;
    write_cost(f, plan)?;
    write_path(f, plan)?;
    write_bootstraps(f, plan)?;
    write_level_costs(f, plan)?;
    for a in &plan.assumptions {
        writeln!(f, "assumed   {} in [{}, {}], line {}", a.name, a.low, a.high, a.line)?;
    }
    for o in &plan.outputs {
        writeln!(
            f,
            "output    {}: error at most {:.1e}, {:.1e} of it by approximations, {:.1e} expected; {:e} asked for",
            o.name, o.predicted_error, o.approximation_error, o.expected_error, o.precision
        )?;
    }
    Ok(())
}

fn key_counts(plan: &Plan) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for key in &plan.keys {
        *counts
            .entry(match key.kind {
                KeyKind::Relinearize => "relinearization",
                KeyKind::Rotate(_) => "rotation",
                KeyKind::Product => "product",
                KeyKind::Flip => "flip",
                KeyKind::Conjugate => "conjugation",
                KeyKind::Encapsulate | KeyKind::Raise => "sparse secret",
            })
            .or_default() += 1;
    }
    let parts: Vec<String> = counts.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    if parts.is_empty() { "none".into() } else { parts.join(", ") }
}

fn write_cost(f: &mut String, plan: &Plan) -> std::fmt::Result {
    let o = &plan.estimate.optimality;
    let seconds = |cost: u64| crate::cost::show(cost as f64);
    let proof = match o.proved() {
        true => "proved: no other levels or bootstraps cost less".to_string(),
        false => format!("at least {} needed, gap {:.1} %", seconds(o.lower_bound), 100.0 * o.gap()),
    };
    writeln!(f, "cost      {}, {proof}", seconds(o.cost))?;
    match o.greedy {
        Some(greedy) if greedy > o.cost => {
            let saved = 100.0 * (greedy - o.cost) as f64 / greedy as f64;
            writeln!(f, "greedy    {}: {saved:.2} % saved over it", seconds(greedy))
        }
        Some(greedy) => writeln!(f, "greedy    {}: nothing saved over it", seconds(greedy)),
        None => writeln!(f, "greedy    finds no placement"),
    }
}

fn write_bootstraps(f: &mut String, plan: &Plan) -> std::fmt::Result {
    let level = |id: NodeId| plan.node(id).level().map_or(0, |l| l.0);
    for (i, node) in plan.nodes.iter().enumerate() {
        if let Op::Bootstrap { log_bound } = node.op {
            let id = NodeId(i as u32);
            let (from, to) = (level(node.args[0]), level(id));
            writeln!(
                f,
                "bootstrap {id:<6} level {from} to {to}, values up to 2^{log_bound}, line {}",
                node.line
            )?;
        }
    }
    Ok(())
}

fn write_path(f: &mut String, plan: &Plan) -> std::fmt::Result {
    writeln!(f, "the path that sets the depth:")?;
    deepest_path(plan).into_iter().try_for_each(|id: NodeId| {
        let node = plan.node(id);
        let level = node.level().map_or(0, |l| l.0);
        let text: String = operation(&node.op).chars().take(OPERATION_WIDTH).collect();
        writeln!(f, "  level {level:>2}  {id:<6} {text}, line {}", node.line)
    })
}

fn write_level_costs(f: &mut String, plan: &Plan) -> std::fmt::Result {
    let mut used: BTreeMap<usize, usize> = BTreeMap::new();
    let kinds = plan.nodes.iter().filter(|n| n.level().is_some()).filter_map(|n| Kind::of(&n.op));
    let rows = kinds.filter_map(|kind| TABLE.iter().position(|row| row.kind == kind));
    rows.for_each(|row| *used.entry(row).or_default() += 1);
    if !used.is_empty() {
        writeln!(f, "level costs (ckks / gl):")?;
    }
    let cell = |levels: Option<u32>| levels.map_or("-".to_string(), |l| l.to_string());
    used.into_iter().try_for_each(|(row, count)| {
        let row = &TABLE[row];
        writeln!(
            f,
            "  {:>1} / {:<1}  {} ({count} times): {}",
            cell(row.ckks),
            cell(row.gl),
            row.name,
            row.source
        )
    })
}

fn write_compiled(f: &mut String, compiled: &Compiled) -> std::fmt::Result {
    for a in &compiled.arithmetic.approximations {
        let (low, high) = a.interval;
        writeln!(
            f,
            "approximated  {} on [{low}, {high}]: degree {}, {} levels, error at most {:.1e}",
            a.function.name(),
            a.degree,
            a.depth,
            a.error_bound
        )?;
    }
    let own = compiled.planned.cost;
    compiled.rejected.iter().try_for_each(|(scheme, other)| match other {
        Ok(p) => writeln!(
            f,
            "rejected  {}: {}, {:.2} times as much",
            scheme.name(),
            crate::cost::show(p.cost),
            p.cost / own
        ),
        Err(e) => writeln!(f, "rejected  {}: {e}", scheme.name()),
    })
}
