//! What a plan holds and spends over time, for the charts.

use plan::text::operation;
use plan::{Op, Plan, Scheme};
use std::collections::BTreeMap;

/// Bytes of encrypted values alive after every node. Values are freed after their last reader.
pub fn live_bytes(plan: &Plan) -> Vec<u64> {
    let slices = if plan.geometry.scheme == Scheme::Gl { plan.geometry.rows } else { 1 };
    let bytes = |i: usize| {
        let node = &plan.nodes[i];
        let polynomial = |limbs: usize| 8 * (limbs * plan.params.ring.degree()) as u64;
        node.level().map_or(0, |l| {
            2 * polynomial(l.limbs()) * (slices * plan.geometry.ciphertexts(&node.layout())) as u64
        })
    };
    let last = plan.last_uses();
    let mut live = 0;
    let mut all = Vec::with_capacity(plan.nodes.len());
    for (i, node) in plan.nodes.iter().enumerate() {
        live += bytes(i);
        all.push(live);
        let mut read: Vec<usize> = node.args.iter().map(|a| a.index()).chain([i]).collect();
        read.sort_unstable();
        read.dedup();
        live -= read.into_iter().filter(|&a| last[a].index() == i).map(bytes).sum::<u64>();
    }
    all
}

/// Name of the kind of an operation: its first word.
pub fn kind(op: &Op) -> String {
    operation(op).split_whitespace().next().unwrap_or_default().to_string()
}

/// Cost by kind of operation, the dearest first.
pub fn shares(plan: &Plan, costs: &[f64]) -> Vec<(String, usize, f64)> {
    let mut by_kind: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    for (node, &cost) in plan.nodes.iter().zip(costs).filter(|(_, c)| **c > 0.0) {
        let entry = by_kind.entry(kind(&node.op)).or_default();
        *entry = (entry.0 + 1, entry.1 + cost);
    }
    let mut all: Vec<(String, usize, f64)> = by_kind.into_iter().map(|(k, (n, c))| (k, n, c)).collect();
    all.sort_by(|a, b| b.2.total_cmp(&a.2));
    all
}
