//! The stable text form of a plan: what people read, review and compare. Constants appear by shape and hash.

use crate::bootstrap::{SPARSE_WEIGHT, failure_log2};
use crate::layout::{Placement, Split};
use crate::linear::LinearStep;
use crate::op::TensorOp;
use crate::params::Params;
use crate::plan::{Form, KeyKind, Node, Op, Plan, Secrecy};
use crate::ring::RingSpec;
use crate::security;
use crate::tensor::{Tensor, show};
use std::fmt::{self, Write};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "plan {} ; format {}, scheme {}",
            self.program,
            self.format,
            self.geometry.scheme.name()
        )?;
        params(f, &self.params)?;
        bootstraps(f, self)?;
        let g = &self.geometry;
        writeln!(f, "layout lanes {}, rows {}, cols {}", g.lanes, g.rows, g.cols)?;
        for i in &self.inputs {
            let kind = if i.secrecy == Secrecy::Cipher { "cipher" } else { "plain" };
            writeln!(f, "input {} : {kind} f64{} in [{}, {}]", i.name, show(&i.shape), i.low, i.high)?;
        }
        for (n, c) in self.constants.iter().enumerate() {
            writeln!(f, "const c{n} {} : {}", c.name, tensor(&c.value))?;
        }
        for k in &self.keys {
            let kind = match k.kind {
                KeyKind::Relinearize => "relinearize".to_string(),
                KeyKind::Rotate(s) => format!("rotate {s}"),
                KeyKind::Product => "product".to_string(),
                KeyKind::Flip => "flip".to_string(),
                KeyKind::Conjugate => "conjugate".to_string(),
                KeyKind::Encapsulate => "encapsulate".to_string(),
                KeyKind::Raise => "raise".to_string(),
            };
            writeln!(f, "key {kind} {{ level {} }}", k.level)?;
        }
        for a in &self.assumptions {
            writeln!(f, "assume {} in [{}, {}] ; line {}", a.name, a.low, a.high, a.line)?;
        }
        for (n, node) in self.nodes.iter().enumerate() {
            writeln!(f, "n{n} = {}", line(node))?;
        }
        for o in &self.outputs {
            writeln!(
                f,
                "output {} = {} {{ precision {:e}, bound {:.1e}, expected {:.1e}, approximation {:.1e}, max {:.3} }}",
                o.name,
                o.node,
                o.precision,
                o.predicted_error,
                o.expected_error,
                o.approximation_error,
                o.max_abs
            )?;
        }
        let e = &self.estimate;
        writeln!(
            f,
            "estimate levels {}, key switches {}, keys {}, peak {}",
            e.levels_used, e.key_switches, e.key_bytes, e.peak_bytes
        )?;
        let o = &e.optimality;
        let proof = if o.proved() { "proved".into() } else { format!("at least {}", o.lower_bound) };
        let greedy = o.greedy.map_or("none".into(), |g| g.to_string());
        writeln!(f, "cost {}, {proof}, greedy {greedy}", o.cost)
    }
}

/// The bootstraps of a plan and the probability that one of them fails.
fn bootstraps(f: &mut fmt::Formatter<'_>, plan: &Plan) -> fmt::Result {
    let (count, RingSpec::PowerOfTwo { log_n }) = (plan.bootstraps(), plan.params.ring) else {
        return Ok(());
    };
    if count == 0 {
        return Ok(());
    }
    writeln!(f, "bootstraps {count} ; failure 2^{:.0}", failure_log2(log_n, count))
}

fn params(f: &mut fmt::Formatter<'_>, p: &Params) -> fmt::Result {
    writeln!(f, "ring {}, dimension {}", p.ring, p.ring.degree())?;
    for (l, (q, s)) in p.q.iter().zip(&p.scale).enumerate() {
        writeln!(f, "modulus q{l} = {q} ; scale at level {l} = {s}")?;
    }
    for (k, q) in p.special.iter().enumerate() {
        writeln!(f, "modulus p{k} = {q}")?;
    }
    if let Some(b) = &p.bootstrap {
        let primes = |list: &[u64]| list.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        writeln!(
            f,
            "bootstrap {} ; secret of weight {} modulo 2^{:.1}",
            b.set,
            SPARSE_WEIGHT,
            p.sparse_log_pq()
        )?;
        writeln!(f, "bootstrap eval-mod {}", primes(&b.eval_mod))?;
        writeln!(f, "bootstrap coeffs-to-slots {}", primes(&b.coeffs_to_slots))?;
    }
    writeln!(f, "digit {} of {} primes", p.digit, p.raised().limbs())?;
    if p.insecure {
        return writeln!(f, "security NONE: ring for tests only ; log2(PQ) = {:.1}", p.log_pq());
    }
    let bound = security::max_log_pq(p.ring.degree(), p.security.bits).unwrap_or(0.0);
    writeln!(
        f,
        "security {} bits ; log2(PQ) = {:.1} of {bound:.1}, secret uniform ternary, {}",
        p.security.bits,
        p.log_pq(),
        security::TABLE
    )
}

/// `f64[2, 3] blake3:0123456789ab`, or the values of a small tensor.
fn tensor(t: &Tensor) -> String {
    if t.len() <= 4 {
        return format!("f64{} = {:?}", show(t.shape()), t.data());
    }
    let bytes: Vec<u8> = t.data().iter().flat_map(|x| x.to_le_bytes()).collect();
    format!("f64{} blake3:{}", show(t.shape()), &blake3::hash(&bytes).to_hex()[..12])
}

fn line(node: &Node) -> String {
    let mut s = String::new();
    s.push_str(&operation(&node.op));
    let args: Vec<String> = node.args.iter().map(ToString::to_string).collect();
    let space = if args.is_empty() { "" } else { " " };
    let _ = write!(s, "{space}{} : {}", args.join(", "), show(&node.shape));
    match node.form {
        Form::Clear => s.push_str(" { clear }"),
        Form::Cipher { level, transposed, noise } => {
            let held = if transposed { ", transposed" } else { "" };
            let tiles = node.placement.as_ref().map_or(String::new(), placement);
            let _ = write!(s, " {{ level {level}{held}{tiles}, noise {noise:.1e} }}");
        }
    }
    if node.line > 0 {
        let _ = write!(s, " ; line {}", node.line);
    }
    s
}

/// `, tiles by [0, 2, 1] times 3 by 4`: strides of batch axes, row and column tiles, then copies.
fn placement(p: &Placement) -> String {
    let copies = p.copies.iter().map(|c| format!(" times {} by {}", c.count, c.stride));
    format!(", tiles by {:?}{}", p.strides, copies.collect::<String>())
}

/// One operation without its operands.
pub fn operation(op: &Op) -> String {
    match op {
        Op::Input(i) => format!("input {i}"),
        Op::Constant(c) => format!("const c{c}"),
        Op::Clear(op) => format!("clear {}", tensor_op(op)),
        Op::Add => "add".into(),
        Op::Sub => "sub".into(),
        Op::Neg => "neg".into(),
        Op::AddClear => "add_clear".into(),
        Op::MulClear => "mul_clear".into(),
        Op::MulInteger(k) => format!("mul_integer {k}"),
        Op::Mul => "mul".into(),
        Op::Combine { coefficients, constant } => format!("combine {coefficients:?} + {constant}"),
        Op::Adjust => "adjust".into(),
        Op::Bootstrap { log_bound } => format!("bootstrap <bound 2^{log_bound}>"),
        Op::Linear { steps, split, masks } => {
            let split = match split {
                Split::Slots { baby } => format!("baby {baby}"),
                Split::Rows { baby } => format!("baby {baby} rows"),
                Split::Lanes { baby } => format!("baby {baby} lanes"),
            };
            let free = if *masks { "" } else { ", no masks" };
            format!("linear ({}) <{split}{free}>", chain(steps))
        }
        Op::MaskedMatMul => "masked_matmul".into(),
        Op::MatMul => "matmul".into(),
        Op::MatMulClear => "matmul_clear".into(),
        Op::LinearRows { steps } => format!("linear_rows ({})", chain(steps)),
        Op::Flip => "flip".into(),
    }
}

/// A tensor operation with its parameters, as in the text form of graphs and plans.
pub fn tensor_op(op: &TensorOp) -> String {
    match op {
        TensorOp::Pow { exponent } => format!("pow {exponent}"),
        TensorOp::Linear { steps } => format!("linear ({})", chain(steps)),
        TensorOp::Polynomial { coefficients } => format!("poly {coefficients:?}"),
        TensorOp::Chebyshev { coefficients, low, high } => {
            format!("cheb {coefficients:?} on [{low}, {high}]")
        }
        TensorOp::Apply { function: crate::function::Function::Clip { low, high } } => {
            format!("clip [{low}, {high}]")
        }
        other => other.name().to_string(),
    }
}

fn chain(steps: &[LinearStep]) -> String {
    let parts: Vec<String> = steps.iter().map(step).collect();
    parts.join("; ")
}

fn step(s: &LinearStep) -> String {
    let name = s.name();
    match s {
        LinearStep::Transpose { perm } => format!("{name} {perm:?}"),
        LinearStep::Reshape { shape } | LinearStep::Broadcast { shape } => format!("{name} {shape:?}"),
        LinearStep::Slice { start, step, count } => format!("{name} {start:?} by {step:?} of {count:?}"),
        LinearStep::Pad { before, after } => format!("{name} {before:?} {after:?}"),
        LinearStep::Roll { axis, shift } => format!("{name} {axis} by {shift}"),
        LinearStep::Sum { axes } => format!("{name} {axes:?}"),
        LinearStep::DiagonalOf | LinearStep::DiagonalMatrix => name.to_string(),
        LinearStep::Scale { by } => format!("{name} %{}", by.0),
        LinearStep::ScaleBy { factor } => format!("{name} {factor}"),
        LinearStep::MatMulRight { weight, shape } | LinearStep::MatMulLeft { weight, shape } => {
            format!("{name} %{} {shape:?}", weight.0)
        }
        LinearStep::Conv2d { kernel, shape, stride, padding, dilation, groups } => {
            format!(
                "{name} %{} {shape:?} stride {stride:?} padding {padding:?} dilation {dilation:?} groups {groups}",
                kernel.0
            )
        }
        LinearStep::AvgPool2d { kernel, stride, padding } => {
            format!("{name} {kernel:?} stride {stride:?} padding {padding:?}")
        }
    }
}
