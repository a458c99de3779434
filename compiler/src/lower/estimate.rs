//! Switch keys of a plan, exactly, and what a run will take: key switches, bytes.

use super::schedule::Schedule;
use crate::cost::CostModel;
use plan::plan::Estimate;
use plan::verify::{keys_in_steps, masked_matmul_keys};
use plan::{Bytes, Geometry, Key, KeyKind, Level, Op, Params};
use std::collections::BTreeMap;

/// The keys that the operations of a schedule need, each up to the highest level it is used at.
pub fn keys(s: &Schedule, params: &Params) -> Vec<Key> {
    let mut keys: BTreeMap<KeyKind, Level> = BTreeMap::new();
    let mut want = |kind: KeyKind, level: Level| {
        let highest = keys.entry(kind).or_insert(level);
        *highest = level.max(*highest);
    };
    for i in 0..s.nodes.len() {
        let Some(level) = s.working_level(i) else { continue };
        let kinds = match &s.nodes[i].op {
            Op::Mul => vec![KeyKind::Relinearize],
            Op::Flip => vec![KeyKind::Flip],
            Op::MaskedMatMul => masked_matmul_keys(&s.draft.geometry),
            op @ (Op::Linear { .. } | Op::LinearRows { .. } | Op::MatMul) => {
                let shifts = s.origin(i).kernel.iter().flat_map(|k| &k.shifts);
                let product = (*op == Op::MatMul).then_some(KeyKind::Product);
                shifts.map(|&shift| KeyKind::Rotate(shift)).chain(product).collect()
            }
            Op::Bootstrap { .. } => {
                params.bootstrap_keys().into_iter().for_each(|k| want(k.kind, k.level));
                vec![]
            }
            _ => vec![],
        };
        kinds.into_iter().for_each(|kind| want(kind, level));
    }
    keys.into_iter().map(|(kind, level)| Key { kind, level }).collect()
}

/// Bytes of keys with one part per diagonal beyond which a plan takes products and flips in steps: they need few keys and
/// more key switches.
const MAX_DIAGONAL_KEYS: u64 = 4 << 30;

/// The keys with those of GL products and flips replaced by keys in steps, where they would take too much memory.
pub fn fitting(keys: Vec<Key>, params: &Params, geometry: &Geometry) -> Vec<Key> {
    let steps = |key: &Key| keys_in_steps(key.kind, geometry);
    let diagonal = keys.iter().filter(|key| steps(key).is_some());
    if diagonal.map(|key| key_bytes(key, params, geometry.rows)).sum::<u64>() <= MAX_DIAGONAL_KEYS {
        return keys;
    }
    let mut fitting: BTreeMap<KeyKind, Level> = BTreeMap::new();
    for key in &keys {
        for kind in steps(key).unwrap_or(vec![key.kind]) {
            let highest = fitting.entry(kind).or_insert(key.level);
            *highest = key.level.max(*highest);
        }
    }
    fitting.into_iter().map(|(kind, level)| Key { kind, level }).collect()
}

/// Key switches of base-ring ciphertexts by the level of the operand; those of bootstraps are not among them.
pub fn switches_by_level(s: &Schedule, cost: &CostModel) -> Vec<u64> {
    let mut switches = vec![0; s.top as usize + 1];
    for i in 0..s.nodes.len() {
        if let Some(level) = s.working_level(i) {
            switches[level.0 as usize] += operation_switches(s, i, cost);
        }
    }
    switches
}

fn operation_switches(s: &Schedule, i: usize, cost: &CostModel) -> u64 {
    cost.key_switches(&s.nodes[i].op, s.kernel(i), s.ciphertexts(i), &s.draft.geometry, s.inner(i))
}

/// Nanoseconds of every node.
pub fn costs(s: &Schedule, params: &Params, model: &CostModel) -> Vec<f64> {
    let of = |i: usize| {
        let (node, cts) = (&s.nodes[i], s.ciphertexts(i) as f64);
        match (&node.op, s.working_level(i)) {
            (_, None) | (Op::Input(_), _) => 0.0,
            (Op::Adjust, Some(level)) => cts * model.adjust(level.limbs() as f64),
            (Op::Bootstrap { .. }, Some(_)) => {
                cts * model.bootstrap(params, node.level().unwrap_or(Level(0)))
            }
            (_, Some(level)) => model.node(&s.draft, s.of[i], level.limbs() as f64),
        }
    };
    (0..s.nodes.len()).map(of).collect()
}

/// Key switches of all bootstraps.
fn bootstrap_switches(s: &Schedule, params: &Params) -> u64 {
    let bootstraps = (0..s.nodes.len()).filter(|&i| matches!(s.nodes[i].op, Op::Bootstrap { .. }));
    let of = |i: usize| {
        let target = s.nodes[i].level().unwrap_or(Level(0));
        let switches = params.bootstrap_switches(target).iter().map(|(_, n)| n).sum::<u64>();
        switches * s.ciphertexts(i) as u64
    };
    bootstraps.map(of).sum()
}

/// Bytes of a key: one component of every digit, over the limbs of its level and the special primes; the other component
/// is expanded from a seed. GL keys for products and flips have one base-ring key per diagonal and source.
fn key_bytes(key: &Key, params: &Params, slices: usize) -> u64 {
    let limbs = key.level.limbs();
    let words = limbs.div_ceil(params.digit) * (limbs + params.special.len()) * params.ring.degree();
    let count = match key.kind {
        KeyKind::Product => 2 * slices,
        KeyKind::Flip => slices,
        // the keys of the sparse secret have a single digit
        KeyKind::Raise => return 8 * ((limbs + params.special.len()) * params.ring.degree()) as u64,
        KeyKind::Encapsulate => return 16 * params.ring.degree() as u64,
        KeyKind::Relinearize | KeyKind::Rotate(_) | KeyKind::Conjugate => 1,
    };
    8 * (words * count) as u64
}

/// What a run takes.
pub fn estimate(s: &Schedule, keys: &[Key], params: &Params, cost: &CostModel) -> Estimate {
    let slices = cost.slices as usize;
    let key_bytes: u64 = keys.iter().map(|k| key_bytes(k, params, slices)).sum();
    Estimate {
        key_switches: switches_by_level(s, cost).iter().sum::<u64>()
            + switches_in_steps(s, keys, slices)
            + bootstrap_switches(s, params),
        key_bytes: Bytes(key_bytes),
        // evaluation expands the masks of the keys, which doubles them
        peak_bytes: Bytes(base_bytes(s, params, slices) + 2 * key_bytes + peak_values(s, params, slices)),
        levels_used: s.top,
        optimality: s.optimality,
    }
}

/// What products and flips in steps take beyond direct ones: n (log2 n + 3) for 2n key switches, n log2(n) / 2 for n.
fn switches_in_steps(s: &Schedule, keys: &[Key], slices: usize) -> u64 {
    let direct = |kind| keys.iter().any(|key| key.kind == kind);
    let (n, bits) = (slices as u64, u64::from(slices.ilog2()));
    let more = |i: usize| match s.nodes[i].op {
        Op::MatMul if !direct(KeyKind::Product) => s.ciphertexts(i) as u64 * n * (bits + 1),
        Op::Flip if !direct(KeyKind::Flip) => (s.ciphertexts(i) as u64 * n * bits / 2).saturating_sub(n),
        _ => 0,
    };
    (0..s.nodes.len()).map(more).sum()
}

/// Code, stacks, and what compiling leaves behind.
const PROCESS: u64 = 64 << 20;
/// Words of a table of roots for one prime, in ring dimensions: forward and back, with their quotients, for client and server.
const TABLES: usize = 8;

/// Bytes that a run has from the start: the process, tables of roots, the public key, and the encrypted inputs.
fn base_bytes(s: &Schedule, params: &Params, slices: usize) -> u64 {
    let degree = params.ring.degree();
    let primes = params.q.len() + params.special.len();
    let inputs = (0..s.nodes.len()).filter(|&i| matches!(s.nodes[i].op, Op::Input(_)));
    let inputs: u64 = inputs.map(|i| s.value_bytes(i, degree, slices).0).sum();
    PROCESS + inputs + 8 * (primes * degree * (TABLES + 2)) as u64
}

/// Bytes of values, encoded constants and the parts of products at the worst moment. Values are freed after their last reader; the
/// constants of an operation are encoded for it.
fn peak_values(s: &Schedule, params: &Params, slices: usize) -> u64 {
    let degree = params.ring.degree();
    let mut last: Vec<usize> = (0..s.nodes.len()).collect();
    for (i, node) in s.nodes.iter().enumerate() {
        node.args.iter().for_each(|a| last[a.index()] = i);
    }
    s.outputs.iter().for_each(|o| last[o.index()] = s.nodes.len());
    let (mut live, mut peak) = (0, 0);
    for (i, node) in s.nodes.iter().enumerate() {
        live += s.value_bytes(i, degree, slices).0;
        let limbs = s.working_level(i).map_or(0, Level::limbs);
        let encoded = match (&node.op, s.kernel(i)) {
            (_, Some(k)) => k.plaintexts as usize,
            (Op::AddClear, None) => slices * s.ciphertexts(i),
            _ => 0,
        };
        // the four products of two components each, before their switch
        let parts = if matches!(node.op, Op::MatMul) { 4 * slices * s.ciphertexts(i) } else { 0 };
        peak = peak.max(live + 8 * ((encoded + parts) * limbs * degree) as u64);
        let dead = |a: &usize| last[*a] == i;
        let mut read: Vec<usize> = node.args.iter().map(|a| a.index()).chain([i]).filter(dead).collect();
        read.sort_unstable();
        read.dedup();
        live -= read.into_iter().map(|a| s.value_bytes(a, degree, slices).0).sum::<u64>();
    }
    peak
}
