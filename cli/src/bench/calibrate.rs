//! `fhec bench --calibrate`: what arithmetic costs on this machine, fitted to the times of primitives.
//!
//! Every primitive takes known amounts of arithmetic ([`Work`]); the rates are those, none of them negative, that miss the times
//! least, relatively and in squares.

use super::measure::measure;
use super::seconds;
use super::setting::{Problem, Setting};
use crate::console::Console;
use crate::failure::Failure;
use compiler::cost::CostModel;
use compiler::cost::machine::{Machine, Rates, SchemeRates, Work};
use plan::{KeyKind, Level, Op};
use runtime::exec::ckks::CkksScheme;
use runtime::exec::gl::GlScheme;
use runtime::exec::{Backend, OpError, Scheme};
use serde_json::json;
use std::path::Path;

/// Levels of the operands.
const LEVELS: [usize; 2] = [2, 6];
/// Pairs, rows and columns of the matrices.
const SHAPE: [usize; 3] = [256, 64, 64];
/// Rounds of the fit; each one fits every rate to what the others leave.
const ROUNDS: usize = 10_000;

/// Amounts of arithmetic and the time they took.
struct Sample {
    name: &'static str,
    work: Work,
    nanoseconds: f64,
}

/// Measures and writes the machine to `path`.
pub fn calibrate(path: &Path, console: &Console) -> Result<(), Failure> {
    let (mut ckks, mut gl) = (Vec::new(), Vec::new());
    for level in LEVELS {
        ckks.extend(ckks_samples(level, console)?);
        gl.extend(gl_samples(level, console)?);
    }
    let rates = SchemeRates { ckks: fit(&ckks), gl: fit(&gl) };
    report(&ckks, &rates.ckks, console);
    report(&gl, &rates.gl, console);
    let machine = Machine { name: processor(), threads: rayon::current_num_threads(), rates };
    let text = serde_json::to_string_pretty(&machine).map_err(|e| Failure::Compiler(e.to_string()))?;
    std::fs::write(path, text + "\n").map_err(|source| {
        let what = format!("cannot write {}", path.display());
        Failure::System { what, source }
    })?;
    console.say(&format!("written    {}", path.display()));
    console.object(&json!({"machine": machine, "path": path}));
    Ok(())
}

fn ckks_samples(level: usize, console: &Console) -> Result<Vec<Sample>, Failure> {
    let [batch, rows, cols] = SHAPE;
    let problem = Problem::ckks(level, None)?;
    let subject = Subject { problem: &problem, level, console };
    let (model, limbs) = subject.model();
    let product = |s: &Setting<CkksScheme>| s.scheme.mul(&s.operands[0], &s.operands[1]);
    let mask = |s: &Setting<CkksScheme>| s.scheme.mul_clear(&s.operands[0], &s.values[1]);
    let work = |op: Op| subject.work(&op, 0);
    let mut all = vec![
        subject.sample("product", &[KeyKind::Relinearize], product, work(Op::Mul))?,
        subject.sample("clear product", &[], mask, work(Op::MulClear) + model.mask(limbs))?,
    ];
    let problem = Problem::ckks_frames(batch, rows, cols, level)?;
    let (subject, inner) = (Subject { problem: &problem, level, console }, rows.min(cols));
    let keys = plan::verify::masked_matmul_keys(&problem.plan.geometry);
    let masked = |s: &Setting<CkksScheme>| s.scheme.masked_matmul(&s.operands[0], &s.operands[1], inner);
    all.push(subject.sample(
        "masked matrix product",
        &keys,
        masked,
        subject.work(&Op::MaskedMatMul, inner),
    )?);
    Ok(all)
}

fn gl_samples(level: usize, console: &Console) -> Result<Vec<Sample>, Failure> {
    let problem = Problem::gl(SHAPE, level)?;
    let subject = Subject { problem: &problem, level, console };
    let (model, limbs) = subject.model();
    let product = |s: &Setting<GlScheme>| s.scheme.mul(&s.operands[0], &s.operands[1]);
    let matrices = |s: &Setting<GlScheme>| s.scheme.matmul(&[(&s.operands[0], &s.operands[1])]);
    let clear = |s: &Setting<GlScheme>| s.scheme.matmul_clear(&[(&s.operands[0], s.values[1].clone())]);
    let work = |op: Op| subject.work(&op, 0);
    Ok(vec![
        subject.sample("product", &[KeyKind::Relinearize], product, work(Op::Mul))?,
        subject.sample(
            "matrix product",
            &[KeyKind::Product],
            matrices,
            work(Op::MatMul) + model.product(limbs),
        )?,
        subject.sample(
            "clear matrix product",
            &[],
            clear,
            work(Op::MatMulClear) + model.clear_product(limbs),
        )?,
    ])
}

/// What is timed: parameters, the level of the operands.
struct Subject<'a> {
    problem: &'a Problem,
    level: usize,
    console: &'a Console,
}

impl Subject<'_> {
    /// The cost model of the parameters, and limbs of the operands.
    fn model(&self) -> (CostModel, f64) {
        let plan = &self.problem.plan;
        (CostModel::of(&plan.geometry).with(&plan.params), (self.level + 1) as f64)
    }

    fn work(&self, op: &Op, inner: usize) -> Work {
        let (model, limbs) = self.model();
        model.operation(op, None, 1, limbs, &self.problem.plan.geometry, inner)
    }

    /// Times an operation that takes some work.
    fn sample<S: Scheme, T>(
        &self,
        name: &'static str,
        keys: &[KeyKind],
        run: impl Fn(&Setting<S>) -> Result<T, OpError>,
        work: Work,
    ) -> Result<Sample, Failure> {
        let setting = Setting::<S>::new(self.problem, keys, Level(self.level as u32), self.console)?;
        let (time, _) = measure(|| run(&setting))?;
        Ok(Sample { name, work, nanoseconds: 1e9 * time.median })
    }
}

/// The rates that miss the samples least.
fn fit(samples: &[Sample]) -> Rates {
    let rows: Vec<[f64; 4]> = samples.iter().map(|s| s.work.amounts().map(|a| a / s.nanoseconds)).collect();
    let mut rates = [0.0; 4];
    for round in 0..4 * ROUNDS {
        let k = round % 4;
        let others = |row: &[f64; 4]| (0..4).filter(|&j| j != k).map(|j| row[j] * rates[j]).sum::<f64>();
        let left: f64 = rows.iter().map(|row| row[k] * (1.0 - others(row))).sum();
        let square: f64 = rows.iter().map(|row| row[k] * row[k]).sum();
        rates[k] = if square > 0.0 { (left / square).max(0.0) } else { 0.0 };
    }
    let [transform, pointwise, product, encode] = rates;
    Rates { transform, pointwise, product, encode }
}

fn report(samples: &[Sample], rates: &Rates, console: &Console) {
    for s in samples {
        let (found, fitted) = (s.nanoseconds / 1e9, s.work.time(rates) / 1e9);
        console.say(&format!("{:<24} {:>10}, by the rates {:>10}", s.name, seconds(found), seconds(fitted)));
    }
}

/// Name of the processor, as the system gives it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|l| l.starts_with("model name"));
    let name = line.and_then(|l| l.split_once(':')).map(|(_, name)| name.trim().to_string());
    name.unwrap_or_else(|| std::env::consts::ARCH.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_explain_the_times_are_found() {
        let work = |transforms, pointwise, products| Work { transforms, pointwise, products, encodes: 0.0 };
        let rates = Rates { transform: 0.8, pointwise: 0.3, product: 0.05, encode: 0.0 };
        let all = [work(1e6, 1e5, 0.0), work(2e5, 4e6, 0.0), work(1e5, 1e5, 1e8), work(3e6, 2e6, 1e7)];
        let samples = all.map(|work| Sample { name: "", work, nanoseconds: work.time(&rates) });
        let found = fit(&samples);
        for ((name, a), (_, b)) in found.named().into_iter().zip(rates.named()) {
            assert!((a - b).abs() < 1e-6, "{name}: {a} {b}");
        }
    }
}
