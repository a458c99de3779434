//! `fhec bench`: primitives at secure parameters, timed, and checked against the same operation in clear.

mod bootstrap;
mod gl;
mod measure;
mod setting;

use crate::args::{BenchArgs, BenchName};
use crate::console::Console;
use crate::failure::Failure;
use measure::{Measured, measure};
use plan::{KeyKind, Level, Shift, Split, Transform};
use runtime::ckks::bootstrap::Parts;
use runtime::exec::book::Books;
use runtime::exec::ckks::CkksScheme;
use runtime::exec::clear::{Clear, Slots};
use runtime::exec::{Backend, Map, OpError, Precision, Scheme};
use serde_json::{Value, json};
use setting::{Problem, Setting};

/// An operation on operands of a backend: what is timed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Primitive {
    Multiply,
    Rotate,
    MaskedMatMul { inner: usize },
}

impl Primitive {
    fn keys(self, geometry: &plan::Geometry) -> Vec<KeyKind> {
        match self {
            Primitive::Multiply => vec![KeyKind::Relinearize],
            Primitive::Rotate => vec![KeyKind::Rotate(Shift::Slots(1))],
            Primitive::MaskedMatMul { .. } => plan::verify::masked_matmul_keys(geometry),
        }
    }

    /// The operation; `second` is also there in clear.
    fn apply<B: Backend>(
        self,
        backend: &B,
        first: &B::Ciphertext,
        second: &B::Ciphertext,
        clear: &[f64],
    ) -> Result<B::Ciphertext, OpError> {
        match self {
            Primitive::Multiply => backend.mul(first, second),
            Primitive::MaskedMatMul { inner } => backend.masked_matmul(first, second, inner),
            Primitive::Rotate => {
                let blocks = [((0, 0), [(Shift::Slots(1), vec![(0, 1.0)])].into())].into();
                let integers = [((0, 0), [(Shift::Slots(1), 1)].into())].into();
                let transform = Transform { blocks, outputs: 1, inputs: 1, integers: Some(integers) };
                let split = Split::Slots { baby: clear.len() };
                let map = Map { transform: &transform, split, masks: false };
                Ok(backend.linear(std::slice::from_ref(first), &map)?.remove(0))
            }
        }
    }
}

pub fn run(args: &BenchArgs, console: &Console) -> Result<(), Failure> {
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
        BenchName::CkksRotate,
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
    let [batch, rows, cols] = args.shape;
    let ckks = || Problem::ckks(args.level);
    match name {
        BenchName::Ntt => ntt(&ckks()?, args),
        BenchName::CkksMultiply => {
            primitive::<CkksScheme>(name, Primitive::Multiply, &ckks()?, args, console)
        }
        BenchName::CkksBootstrap => bootstrap::bench(name, Parts::Complex, args, console),
        BenchName::CkksBootstrapReal => bootstrap::bench(name, Parts::Real, args, console),
        BenchName::CkksRotate => primitive::<CkksScheme>(name, Primitive::Rotate, &ckks()?, args, console),
        BenchName::CkksMaskedMatmul => {
            let problem = Problem::ckks_frames(batch, rows, cols, args.level)?;
            let primitive_of = Primitive::MaskedMatMul { inner: rows.min(cols) };
            primitive::<CkksScheme>(name, primitive_of, &problem, args, console)
        }
        _ => gl::bench(name, args),
    }
}

/// Times one operation under encryption and compares its result with the same operation in clear.
fn primitive<S: Scheme>(
    name: BenchName,
    primitive: Primitive,
    problem: &Problem,
    args: &BenchArgs,
    console: &Console,
) -> Result<Value, Failure> {
    let level = Level(args.level as u32);
    let setting = Setting::<S>::new(problem, &primitive.keys(&problem.plan.geometry), level, console)?;
    let (scheme, values) = (&setting.scheme, &setting.values);
    let apply = || primitive.apply(scheme, &setting.operands[0], &setting.operands[1], &values[1]);
    let (measured, result) = measure(apply)?;
    let clear = Clear::new(&problem.plan);
    let book = Books { params: &problem.plan.params }.fresh(level);
    let [first, second] = [0, 1].map(|i| Slots { values: values[i].clone(), book });
    let expected = primitive.apply(&clear, &first, &second, &values[1])?;
    let found = scheme.decrypt(&setting.secret, &result)?;
    let tensor = |v: &[f64]| plan::Tensor::new(vec![v.len()], v.to_vec()).ok();
    let precision = tensor(&found).zip(tensor(&expected.values)).and_then(|(f, e)| Precision::of(&f, &e));
    let mut parameters = problem.describe(args.level);
    parameters["pairs"] = json!(problem.pairs);
    let mut value = object(name, &parameters, &measured, setting.bytes());
    value["precision_bits"] = json!(precision.map(|p| Precision::bits(p.max)));
    value["max_abs_error"] = json!(precision.map(|p| p.max));
    Ok(value)
}

fn ntt(problem: &Problem, args: &BenchArgs) -> Result<Value, Failure> {
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
