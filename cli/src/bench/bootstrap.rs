//! Bootstrapping, timed by stage and held against the slots that went in.

use super::setting::empty_plan;
use crate::args::{BenchArgs, BenchName};
use crate::console::Console;
use crate::failure::Failure;
use crate::usage::{cpu_seconds, peak_bytes};
use plan::bootstrap::{BootstrapSet, SETS, SLOTS_TO_COEFFS, failure_log2};
use plan::{Geometry, Plan, Scheme as SchemeName};
use runtime::ckks::bootstrap::Parts;
use runtime::exec::ckks::CkksScheme;
use runtime::exec::scheme::generate_keys;
use runtime::exec::{OpError, Scheme};
use runtime::math::fft::Complex;
use runtime::math::sampler::Sampler;
use runtime::rlwe::{EvaluationKeys, SecretKey};
use serde_json::{Value, json};
use std::time::Instant;

const SECURITY: u32 = 128;
/// Timed runs after one that warms up.
const RUNS: usize = 2;

/// Times bootstraps of random slots in the unit square, `--level` levels up.
pub fn bench(name: BenchName, parts: Parts, args: &BenchArgs, console: &Console) -> Result<Value, Failure> {
    let slots: usize = args.shape.iter().product();
    let set = set_for(slots, args.level as u32)?;
    let plan = plan_for(set, args.level as u32)?;
    let mut sampler = Sampler::from_seed([1; 32]);
    let client = CkksScheme::new(&plan, EvaluationKeys::new())?;
    let secret = SecretKey::generate(client.ckks().chain(), &mut sampler);
    let bar = console.bar(plan.keys.len(), "keys");
    let keys = generate_keys(&client, &plan, &secret, &mut sampler, &mut |done, _| bar.step(done, ""))?;
    let key_bytes: usize =
        keys.iter().flat_map(|(_, key)| key.bodies()).map(|body| size_of_val(body.words())).sum();
    let scheme = CkksScheme::new(&plan, keys)?;
    let (ckks, target) = (scheme.ckks(), plan.params.top().0 as usize);
    let wave = |i: usize, k: f64| (i as f64 * k).sin() / std::f64::consts::SQRT_2;
    let values: Vec<Complex> =
        (0..ckks.slots()).map(|i| Complex::new(wave(i, 0.37), wave(i, 0.73))).collect();
    let ct = ckks
        .encode(&values, SLOTS_TO_COEFFS as usize)
        .and_then(|plaintext| ckks.encrypt(&secret, &plaintext, &mut sampler))
        .map_err(OpError::from)?;
    let (bootstrap, mut runs) = (scheme.bootstrapping().map_err(OpError::from)?, Vec::new());
    let mut output = None;
    for _ in 0..=RUNS {
        let (mut stages, mut start) = (Vec::new(), (Instant::now(), cpu_seconds()));
        let (begin, cpu) = start;
        let mut done = |stage: &'static str| {
            let now = (Instant::now(), cpu_seconds());
            stages.push((stage, (now.0 - start.0).as_secs_f64(), seconds_between(start.1, now.1)));
            start = now;
        };
        let keys = scheme.keys();
        let refreshed = bootstrap.apply_observed(ckks, &ct, target, 0, parts, keys, &mut done);
        output = Some(refreshed.map_err(OpError::from)?);
        runs.push((begin.elapsed().as_secs_f64(), seconds_between(cpu, cpu_seconds()), stages));
    }
    runs.remove(0);
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let found = output.map_or(vec![], |ct| ckks.decode(&ckks.decrypt(&secret, &ct)));
    let (mean, worst) = precision(&found, &values, parts);
    let (seconds, cpu, stages) = &runs[runs.len() / 2];
    let stages: serde_json::Map<String, Value> =
        stages.iter().map(|(s, t, cpu)| (s.to_string(), json!({"s": t, "cpu_s": cpu}))).collect();
    let p = &plan.params;
    Ok(json!({
        "name": name.name(),
        "parameters": {
            "ring": format!("Z[X]/(X^{} + 1)", p.ring.degree()), "dimension": p.ring.degree(),
            "security_bits": p.security.bits, "level": args.level, "set": set.name, "log_pq": p.log_pq(),
            "sparse_log_pq": p.sparse_log_pq(), "special": p.special.len(), "digit": p.digit,
            "log_scale": set.scale_bits, "slots": ckks.slots(), "failure_log2": failure_log2(set.log_n, 1),
        },
        "threads": rayon::current_num_threads(), "runs": RUNS, "median_s": seconds, "min_s": runs[0].0,
        "max_s": runs[runs.len() - 1].0, "cpu_s": cpu, "stages": stages, "bytes": key_bytes,
        "mask_bytes": bootstrap.bytes(), "peak_bytes": peak_bytes(), "precision_bits": worst,
        "mean_precision_bits": mean,
    }))
}

/// The first set with so many slots and levels.
fn set_for(slots: usize, levels: u32) -> Result<&'static BootstrapSet, Failure> {
    let fits = |s: &&BootstrapSet| 1 << (s.log_n - 1) >= slots && s.max_levels(SECURITY) >= levels;
    SETS.iter().find(fits).ok_or_else(|| {
        Failure::Usage(format!("no parameters bootstrap {slots} slots by {levels} levels at {SECURITY} bits"))
    })
}

/// A plan without nodes that has the keys of a bootstrap.
fn plan_for(set: &BootstrapSet, levels: u32) -> Result<Plan, Failure> {
    let params = set.params(levels.max(1), SECURITY).map_err(|e| Failure::Usage(e.to_string()))?;
    let lanes = params.ring.degree() / 2;
    let geometry = Geometry { scheme: SchemeName::Ckks, lanes, rows: 1, cols: 1 };
    let keys = params.bootstrap_keys();
    Ok(Plan { keys, ..empty_plan(params, geometry) })
}

fn seconds_between(before: Option<f64>, after: Option<f64>) -> Option<f64> {
    before.zip(after).map(|(before, after)| after - before)
}

/// -log2 of the mean and of the largest error of a part of a slot.
fn precision(found: &[Complex], expected: &[Complex], parts: Parts) -> (f64, f64) {
    let errors = found.iter().zip(expected).flat_map(|(f, e)| match parts {
        Parts::Real => vec![(f.re - e.re).abs()],
        Parts::Complex => vec![(f.re - e.re).abs(), (f.im - e.im).abs()],
    });
    let errors: Vec<f64> = errors.collect();
    let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
    (-mean.log2(), -errors.iter().copied().fold(0.0, f64::max).log2())
}
