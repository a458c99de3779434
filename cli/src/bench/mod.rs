//! `fhec bench`: primitives at secure parameters, timed, and checked against the same operation in clear.

mod bootstrap;
mod calibrate;
mod ckks;
mod gl;
mod measure;
mod setting;

use crate::args::{BenchArgs, BenchName};
use crate::console::Console;
use crate::failure::Failure;
use measure::{Measured, measure};
use plan::Level;
use runtime::ckks::bootstrap::Parts;
use runtime::exec::book::Books;
use runtime::exec::ckks::CkksScheme;
use runtime::exec::clear::{Clear, Slots};
use runtime::exec::{Backend, OpError, Precision, Scheme};
use serde_json::{Value, json};
use setting::{Problem, Setting};

pub fn run(args: &BenchArgs, console: &Console) -> Result<(), Failure> {
    if let Some(path) = &args.calibrate {
        return calibrate::calibrate(path, console);
    }
    let all = [
        BenchName::Ntt,
        BenchName::GlMatmul,
        BenchName::GlMatmulPlain,
        BenchName::GlPlainMatmul,
        BenchName::GlGram,
        BenchName::GlHadamard,
        BenchName::GlHadamardPlain,
        BenchName::GlRotate,
        BenchName::GlTranspose,
        BenchName::GlConjugateTranspose,
        BenchName::GlConjugate,
        BenchName::GlEncrypt,
        BenchName::GlDecrypt,
        BenchName::CkksMultiply,
        BenchName::CkksMultiplyPlain,
        BenchName::CkksRotate,
        BenchName::CkksRotateHoisted,
        BenchName::CkksEncrypt,
        BenchName::CkksDecrypt,
        BenchName::CkksMaskedMatmul,
    ];
    let mut results = Vec::new();
    for name in args.name.map_or(all.to_vec(), |n| vec![n]) {
        let result = bench(name, args, console)?;
        console.result(&line(&result));
        results.push(result);
    }
    match args.name {
        Some(_) => console.object(&results[0]),
        None => console.object(&json!({"benches": results})),
    }
    Ok(())
}

fn bench(name: BenchName, args: &BenchArgs, console: &Console) -> Result<Value, Failure> {
    match name {
        BenchName::Ntt => ntt(args),
        BenchName::CkksMaskedMatmul => masked_matmul(args, console),
        BenchName::CkksMultiply
        | BenchName::CkksMultiplyPlain
        | BenchName::CkksRotate
        | BenchName::CkksRotateHoisted
        | BenchName::CkksEncrypt
        | BenchName::CkksDecrypt => ckks::bench(name, args),
        BenchName::CkksBootstrap => bootstrap::bench(name, Parts::Complex, args, console),
        BenchName::CkksBootstrapReal => bootstrap::bench(name, Parts::Real, args, console),
        _ => gl::bench(name, args),
    }
}

/// Times a product by masks under encryption and compares its result with the same operation in clear.
fn masked_matmul(args: &BenchArgs, console: &Console) -> Result<Value, Failure> {
    let ([batch, rows, cols], level) = (args.shape, Level(args.level as u32));
    let problem = Problem::ckks_frames(batch, rows, cols, args.level)?;
    let (inner, keys) = (rows.min(cols), plan::verify::masked_matmul_keys(&problem.plan.geometry));
    let setting = Setting::<CkksScheme>::new(&problem, &keys, level, console)?;
    let (scheme, [a, b]) = (&setting.scheme, &setting.operands);
    let (measured, result) = measure(|| scheme.masked_matmul(a, b, inner))?;
    let book = Books { params: &problem.plan.params }.fresh(level);
    let [first, second] = [0, 1].map(|i| Slots { values: setting.values[i].clone(), book });
    let expected = Clear::new(&problem.plan).masked_matmul(&first, &second, inner)?;
    let found = scheme.decrypt(&setting.secret, &result)?;
    let tensor = |v: &[f64]| plan::Tensor::new(vec![v.len()], v.to_vec()).ok();
    let precision = tensor(&found).zip(tensor(&expected.values)).and_then(|(f, e)| Precision::of(&f, &e));
    let mut parameters = problem.describe(args.level);
    parameters["pairs"] = json!(problem.pairs);
    let mut value = object(BenchName::CkksMaskedMatmul, &parameters, &measured, setting.bytes());
    value["precision_bits"] = json!(precision.map(|p| Precision::bits(p.max)));
    value["max_abs_error"] = json!(precision.map(|p| p.max));
    Ok(value)
}

fn ntt(args: &BenchArgs) -> Result<Value, Failure> {
    let problem = Problem::ckks(args.level, args.log_dimension)?;
    let chain = runtime::exec::scheme::chain(&problem.plan.params).map_err(OpError::from)?;
    let ring = chain.ring();
    let mut limb: Vec<u64> = (0..ring.degree() as u64).collect();
    let transform = || {
        ring.ntt_limb(0, &mut limb);
        Ok(limb[0])
    };
    let (measured, _) = measure(transform)?;
    Ok(object(BenchName::Ntt, &problem.describe(args.level), &measured, 8 * ring.degree()))
}

fn object(name: BenchName, parameters: &Value, m: &Measured, bytes: usize) -> Value {
    json!({
        "name": name.name(), "parameters": parameters, "threads": rayon::current_num_threads(), "runs": m.runs,
        "median_s": m.median, "min_s": m.min, "max_s": m.max, "cpu_s": m.cpu, "bytes": bytes,
    })
}

fn line(v: &Value) -> String {
    let number = |key: &str| v[key].as_f64().unwrap_or(f64::NAN);
    let bits = v["precision_bits"].as_f64().map_or(String::new(), |b| format!(", {b:.1} bits"));
    let p = &v["parameters"];
    let ring = p["ring"].as_str().unwrap_or_default();
    format!(
        "{:<20} median {}, min {}, max {}, cpu {} ({} runs, {} threads){bits}\n{:20} {ring}, dimension {}, level {}, log2(PQ) {:.0}",
        v["name"].as_str().unwrap_or_default(),
        seconds(number("median_s")),
        seconds(number("min_s")),
        seconds(number("max_s")),
        seconds(number("cpu_s")),
        v["runs"],
        v["threads"],
        "",
        p["dimension"],
        p["level"],
        p["log_pq"].as_f64().unwrap_or(f64::NAN),
    )
}

/// A time with a fitting unit.
pub fn seconds(s: f64) -> String {
    match s {
        s if s.is_nan() => "-".into(),
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
