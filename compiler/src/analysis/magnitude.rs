//! Typical values: sample inputs drawn from the declared ranges with a fixed seed, and what the operations of a plan make of
//! them in f64.
//!
//! Values are kept inside the analysed ranges: random inputs need not obey assumptions (`in`, `on`) that real data obey, and
//! a polynomial left its interval says nothing about typical values.

use crate::lower::error::PlanError;
use crate::lower::linear::Kernel;
use plan::linear;
use plan::plan::Constant;
use plan::{Input, Node, Op, Tensor, TensorOp};
use rand::{Rng, SeedableRng, rngs::ChaCha20Rng};

/// Seed of all samples: the same program has the same plan everywhere.
const SEED: u64 = 0x6668_6563;

/// A deterministic source of samples.
pub struct Samples {
    rng: ChaCha20Rng,
}

impl Default for Samples {
    fn default() -> Samples {
        Samples { rng: ChaCha20Rng::seed_from_u64(SEED) }
    }
}

impl Samples {
    /// A number in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// A tensor with elements uniform in `[low, high]`.
    pub fn uniform(&mut self, shape: &[usize], low: f64, high: f64) -> Tensor {
        fill(shape, || low + (high - low) * self.unit())
    }
    /// A tensor with independent elements of mean 0 and a standard deviation.
    pub fn noise(&mut self, shape: &[usize], deviation: f64) -> Tensor {
        let half_width = deviation * 3.0_f64.sqrt();
        self.uniform(shape, -half_width, half_width)
    }
    /// A tensor with elements `size` or `-size`.
    pub fn signs(&mut self, shape: &[usize], size: f64) -> Tensor {
        fill(shape, || if self.rng.next_u64() & 1 == 0 { size } else { -size })
    }
    /// Sample number `k` of a declared input: uniform in its range, and every other one at its ends, where values and errors
    /// are largest.
    pub fn input(&mut self, input: &Input, k: usize) -> Tensor {
        let half = (input.high - input.low) / 2.0;
        match k % 2 {
            0 => self.uniform(&input.shape, input.low, input.high),
            _ => self.signs(&input.shape, half).map(|x| if x > 0.0 { input.high } else { input.low }),
        }
    }
}

/// A tensor of drawn elements.
fn fill(shape: &[usize], mut draw: impl FnMut() -> f64) -> Tensor {
    let cell = std::cell::RefCell::new(&mut draw);
    Tensor::full(shape, 0.0).map(|_| (*cell.borrow_mut())())
}

/// What the evaluation of a node reads beside its operands.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// constants of the plan
    pub constants: &'a [Constant],
    /// kernel of a linear node
    pub kernel: Option<&'a Kernel>,
}

/// The value of a node that is no input.
///
/// # Errors
/// When the node does not apply to its operands.
pub fn evaluate(node: &Node, args: &[&Tensor], context: Context) -> Result<Tensor, PlanError> {
    let wrong = |e: plan::op::OpError| PlanError::Unsupported(e.to_string(), None);
    let tensor = |op: TensorOp| op.eval(args).map_err(wrong);
    match &node.op {
        Op::Constant(c) => Ok(context.constants[*c].value.clone()),
        Op::Clear(op) => op.eval(args).map_err(wrong),
        Op::Add | Op::AddClear => tensor(TensorOp::Add),
        Op::Sub => tensor(TensorOp::Sub),
        Op::Mul | Op::MulClear => tensor(TensorOp::Mul),
        Op::MatMul | Op::MaskedMatMul => tensor(TensorOp::MatMul),
        Op::Combine { constant, .. } => Ok(linear_part(node, args, context)?.map(|x| x + constant)),
        Op::Input(_) => Err(PlanError::Unsupported("inputs are sampled".into(), None)),
        _ => linear_part(node, args, context),
    }
}

/// What a node that is linear in its encrypted operands does to a perturbation of them.
///
/// # Errors
/// When the node does not apply to its operands.
pub fn linear_part(node: &Node, args: &[&Tensor], context: Context) -> Result<Tensor, PlanError> {
    let wrong = |e: linear::LinearError| PlanError::Unsupported(e.to_string(), None);
    Ok(match &node.op {
        Op::Add => args[0].zip(args[1], |x, y| x + y),
        Op::Sub => args[0].zip(args[1], |x, y| x - y),
        Op::Neg => args[0].map(|x| -x),
        Op::MulInteger(k) => args[0].map(|x| x * *k as f64),
        Op::MulClear => args[0].zip(args[1], |x, y| x * y),
        Op::Combine { coefficients, .. } => {
            let start = Tensor::full(&node.shape, 0.0);
            coefficients.iter().zip(args).fold(start, |sum, (&c, &x)| sum.zip(x, |s, v| s + c * v))
        }
        Op::Linear { steps, .. } | Op::LinearRows { steps } => {
            match context.kernel.and_then(|k| k.matrix.as_ref()) {
                Some(m) => Tensor::new(node.shape.clone(), m.apply(args[0].data()))
                    .map_err(|e| PlanError::Unsupported(e.to_string(), None))?,
                None => linear::apply(steps, args[0], &args[1..]).map_err(wrong)?,
            }
        }
        Op::MatMulClear => clear_product(args[0], args[1], &node.shape)?,
        _ => args[0].clone(),
    })
}

/// `a @ w` with the batch axes of `a` or none.
fn clear_product(a: &Tensor, w: &Tensor, shape: &[usize]) -> Result<Tensor, PlanError> {
    let wrong = |e: &dyn std::fmt::Display| PlanError::Unsupported(e.to_string(), None);
    let flat = |t: &Tensor, shape: Vec<usize>| Tensor::new(shape, t.data().to_vec()).map_err(|e| wrong(&e));
    if a.shape().len() == w.shape().len() {
        return TensorOp::MatMul.eval(&[a, w]).map_err(|e| wrong(&e));
    }
    let columns = a.shape().last().copied().unwrap_or(1).max(1);
    let rows = flat(a, vec![a.len() / columns, columns])?;
    flat(&TensorOp::MatMul.eval(&[&rows, w]).map_err(|e| wrong(&e))?, shape.to_vec())
}

/// Multiply-adds of one evaluation of a node, for choosing how many samples to take.
pub fn work(node: &Node, args: &[&[usize]], kernel: Option<&Kernel>) -> usize {
    let size = |s: &[usize]| s.iter().product::<usize>();
    match (&node.op, kernel.and_then(|k| k.matrix.as_ref())) {
        (_, Some(m)) => m.len(),
        (Op::MatMul | Op::MaskedMatMul | Op::MatMulClear, None) => {
            size(args[0]) * node.shape.last().copied().unwrap_or(1)
        }
        _ => size(&node.shape),
    }
}

/// Root mean square over all elements of samples.
pub fn root_mean_square<'a>(samples: impl Iterator<Item = &'a Tensor>) -> f64 {
    let (sum, count) = samples
        .fold((0.0, 0usize), |(s, n), t| (s + t.data().iter().map(|x| x * x).sum::<f64>(), n + t.len()));
    (sum / count.max(1) as f64).sqrt()
}
