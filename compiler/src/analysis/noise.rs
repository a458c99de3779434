//! Noise of every value of a plan, and the errors that approximations bring in.
//!
//! [`NoiseModel`] has the deviation of the error that each operation adds: the root mean square over the slots divided by the
//! scale, and by sqrt(2), since values are the real parts of slots; otherwise the formulas are those of the runtime. How errors travel is a first-order simulation: every
//! sample carries a value, a perturbation by noise (independent elements of those deviations) and one by approximations
//! (elements `+e` or `-e`, `e` the largest error of the approximation), and operations act on the perturbations by their
//! derivative at the value. Errors that meet again after a fan-out cancel or add as they do in an encrypted run, which rules
//! by ranges cannot see. Deviations are those of the worst element over the samples.

use super::magnitude::{Context, Samples, evaluate, linear_part, root_mean_square, work};
use crate::lower::error::PlanError;
use crate::lower::schedule::Schedule;
use plan::params::ERROR_STD;
use plan::{Input, Op, Scheme, Tensor, TensorOp};
use std::collections::BTreeMap;

/// log2 of the scale at which noise is simulated; at another scale it is proportionally smaller or larger.
pub const NOMINAL_LOG_SCALE: f64 = 40.0;
/// P is at least this many times the largest digit.
pub const SPECIAL_MARGIN: f64 = 8.0;
/// Multiply-adds that all samples together may take.
const WORK: usize = 1 << 27;
/// Most samples.
const MAX_SAMPLES: usize = 16;
/// log2 of the largest probability that some element of an output has a larger error than predicted.
pub const LOG2_FAILURE: f64 = -20.0;
/// Approximation errors seen on samples count this many times: samples do not meet the worst case.
const SAMPLED_MARGIN: f64 = 2.5;

/// Deviations of the real parts of what operations add, relative to the scale: N the ring dimension, h = 2 N / 3 the mean square of a slot of
/// the ternary secret, sigma the deviation of an error coefficient, S the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseModel {
    /// N
    pub degree: f64,
    /// S
    pub scale: f64,
    /// digits of a key switch at the highest level
    pub digits: f64,
    /// error of a bootstrapped value up to 1
    pub bootstrap: f64,
}

impl NoiseModel {
    fn secret(&self) -> f64 {
        2.0 * self.degree / 3.0
    }
    /// The real part of an error polynomial's slots, relative to the scale.
    fn real(&self, square: f64) -> f64 {
        (square / 2.0).sqrt() / self.scale
    }
    /// Encryption under the public key: sigma sqrt(N (1 + 2 h)) / S.
    pub fn fresh(&self) -> f64 {
        self.real(ERROR_STD * ERROR_STD * self.degree * (1.0 + 2.0 * self.secret()))
    }
    /// Rounding of both components after a division: sqrt(N (1 + h) / 12) / S. One for every rescale.
    pub fn rounding(&self) -> f64 {
        self.real(self.degree * (1.0 + self.secret()) / 12.0)
    }
    /// A key switch: N sigma sqrt(sum_j D_j^2 / 12) / P with digits D_j <= P / 8, then one rounding.
    pub fn key_switch(&self) -> f64 {
        self.key_product().hypot(self.rounding())
    }
    /// The part of a key switch before the division by P.
    fn key_product(&self) -> f64 {
        self.real((self.degree * ERROR_STD / SPECIAL_MARGIN).powi(2) * self.digits / 12.0)
    }
    /// Rounding of an encoded plaintext: sqrt(N / 12) / S.
    pub fn encode(&self) -> f64 {
        self.real(self.degree / 12.0)
    }
}

/// What a simulation finds, by node of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// deviation of the noise of the worst element
    pub noise: Vec<f64>,
    /// largest error by approximations
    pub approximation: Vec<f64>,
    /// root mean square of the value
    pub rms: Vec<f64>,
    /// root mean square of the noise over all elements, for inputs uniform in their ranges
    pub typical: Vec<f64>,
}

/// The samples of one node.
struct Track {
    value: Vec<Tensor>,
    noise: Vec<Tensor>,
    error: Vec<Tensor>,
}

/// Simulates a plan.
///
/// # Errors
/// When an operation does not apply to its operands.
pub fn simulate(s: &Schedule, inputs: &[Input], model: &NoiseModel) -> Result<Simulation, PlanError> {
    let count = s.nodes.len();
    let zeros = || vec![0.0; count];
    let mut sim = Simulation { noise: zeros(), approximation: zeros(), rms: zeros(), typical: zeros() };
    let mut tracks: Vec<Option<Track>> = (0..count).map(|_| None).collect();
    let last = last_uses(s);
    let mut run =
        Run { s, inputs, model, samples: Samples::default(), drawn: BTreeMap::new(), count: sample_count(s) };
    for i in 0..count {
        let track = run.node(i, &tracks, &sim)?;
        sim.rms[i] = root_mean_square(track.value.iter());
        sim.noise[i] = worst_deviation(&track.noise);
        sim.typical[i] = root_mean_square(track.noise.iter().step_by(2));
        sim.approximation[i] = SAMPLED_MARGIN * track.error.iter().map(Tensor::max_abs).fold(0.0, f64::max);
        tracks[i] = Some(track);
        for a in s.nodes[i].args.iter().map(|a| a.index()).filter(|&a| last[a] == i) {
            tracks[a] = None;
        }
    }
    Ok(sim)
}

/// Errors of `elements` elements stay below this many deviations with probability 1 - 2^-20.
///
/// An error in a slot is a Gaussian times the size of the secret there (of the rounding that the secret multiplies), and the
/// square of that size is exponential over the slots: the error is Laplacian, P(|e| > c sigma) = exp(-sqrt(2) c), summed over
/// the elements.
pub fn deviations(elements: usize) -> f64 {
    let ln_failure = LOG2_FAILURE * std::f64::consts::LN_2;
    (libm::log(elements.max(1) as f64) - ln_failure) / std::f64::consts::SQRT_2
}

/// The largest error of node `i` that a run on inputs uniform in their ranges is expected to show: the approximation error
/// that samples met, and the mean of the largest of as many Laplacian errors as there are elements, `(ln n + 0.577) / sqrt(2)`
/// deviations. Noise counts `factor` times.
pub fn expected(sim: &Simulation, shape: &[usize], i: usize, factor: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    let elements = shape.iter().product::<usize>().max(1) as f64;
    let largest = (libm::log(elements) + EULER) / std::f64::consts::SQRT_2;
    sim.approximation[i] / SAMPLED_MARGIN + factor * largest * sim.typical[i]
}

fn last_uses(s: &Schedule) -> Vec<usize> {
    let mut last: Vec<usize> = (0..s.nodes.len()).collect();
    for (i, node) in s.nodes.iter().enumerate() {
        node.args.iter().for_each(|a| last[a.index()] = i);
    }
    last
}

fn sample_count(s: &Schedule) -> usize {
    let of = |i: usize| {
        let args: Vec<&[usize]> =
            s.nodes[i].args.iter().map(|a| s.nodes[a.index()].shape.as_slice()).collect();
        work(&s.nodes[i], &args, s.origin(i).kernel.as_deref())
    };
    let total: usize = (0..s.nodes.len()).map(of).sum::<usize>() * 5;
    (WORK / total.max(1)).clamp(2, MAX_SAMPLES)
}

/// For every element the root mean square over the samples; the largest.
fn worst_deviation(samples: &[Tensor]) -> f64 {
    let Some(first) = samples.first() else { return 0.0 };
    let square = |at: usize| samples.iter().map(|t| t.data()[at].powi(2)).sum::<f64>();
    let worst = (0..first.len()).map(square).fold(0.0, f64::max);
    (worst / samples.len() as f64).sqrt()
}

struct Run<'a> {
    s: &'a Schedule,
    inputs: &'a [Input],
    model: &'a NoiseModel,
    samples: Samples,
    /// samples of inputs by number
    drawn: BTreeMap<(usize, usize), Tensor>,
    count: usize,
}

impl Run<'_> {
    fn node(&mut self, i: usize, tracks: &[Option<Track>], sim: &Simulation) -> Result<Track, PlanError> {
        let node = &self.s.nodes[i];
        let origin = self.s.origin(i);
        let mut track = Track { value: vec![], noise: vec![], error: vec![] };
        let args: Vec<&Track> = node.args.iter().filter_map(|a| tracks[a.index()].as_ref()).collect();
        let added = self.added(i, sim);
        let error = if matches!(node.op, Op::Adjust | Op::Bootstrap { .. }) { 0.0 } else { origin.error };
        for k in 0..self.count {
            let value = self.value(i, &args, k)?.map(|x| keep(x, origin.range));
            let (mut noise, mut wrong) =
                (self.pushed(i, &args, k, |t| &t.noise)?, self.pushed(i, &args, k, |t| &t.error)?);
            if added > 0.0 {
                noise = noise.zip(&self.samples.noise(&node.shape, added), |x, e| x + e);
            }
            if error > 0.0 {
                wrong = wrong.zip(&self.samples.signs(&node.shape, error), |x, e| x + e);
            }
            track.value.push(value);
            track.noise.push(noise);
            track.error.push(wrong);
        }
        Ok(track)
    }

    fn context(&self, i: usize) -> Context<'_> {
        Context { constants: &self.s.draft.constants, kernel: self.s.origin(i).kernel.as_deref() }
    }

    fn value(&mut self, i: usize, args: &[&Track], k: usize) -> Result<Tensor, PlanError> {
        let node = &self.s.nodes[i];
        if let Op::Input(input) = node.op {
            // an input may be encrypted several times: it has one value
            let (samples, declared) = (&mut self.samples, &self.inputs[input]);
            return Ok(self.drawn.entry((input, k)).or_insert_with(|| samples.input(declared, k)).clone());
        }
        let values: Vec<&Tensor> = args.iter().map(|t| &t.value[k]).collect();
        evaluate(node, &values, self.context(i))
    }

    /// A perturbation of the operands after the operation, by its derivative.
    fn pushed(
        &self,
        i: usize,
        args: &[&Track],
        k: usize,
        part: impl Fn(&Track) -> &Vec<Tensor>,
    ) -> Result<Tensor, PlanError> {
        let node = &self.s.nodes[i];
        if node.level().is_none() || args.is_empty() {
            return Ok(Tensor::full(&node.shape, 0.0));
        }
        let bilinear = |op: TensorOp| -> Result<Tensor, PlanError> {
            let product = |x: &Tensor, y: &Tensor| {
                op.eval(&[x, y]).map_err(|e| PlanError::Unsupported(e.to_string(), None))
            };
            let left = product(&part(args[0])[k], &args[1].value[k])?;
            Ok(left.zip(&product(&args[0].value[k], &part(args[1])[k])?, |x, y| x + y))
        };
        match node.op {
            Op::Mul => bilinear(TensorOp::Mul),
            Op::MatMul | Op::MaskedMatMul => bilinear(TensorOp::MatMul),
            Op::AddClear => Ok(part(args[0])[k].clone()),
            Op::Combine { .. } | Op::Add | Op::Sub => {
                let moved: Vec<&Tensor> = args.iter().map(|t| &part(t)[k]).collect();
                linear_part(node, &moved, self.context(i))
            }
            _ => {
                let clear = args.iter().skip(1).map(|t| &t.value[k]);
                let moved: Vec<&Tensor> = std::iter::once(&part(args[0])[k]).chain(clear).collect();
                linear_part(node, &moved, self.context(i))
            }
        }
    }

    /// Deviation of the error that an operation adds to every element.
    fn added(&self, i: usize, sim: &Simulation) -> f64 {
        let (node, m) = (&self.s.nodes[i], self.model);
        if node.level().is_none() {
            return 0.0;
        }
        let kernel = self.s.origin(i).kernel.as_deref();
        let rms = |operand: usize| sim.rms[node.args[operand].index()];
        let noise = |operand: usize| sim.noise[node.args[operand].index()];
        let squares = match &node.op {
            Op::Input(_) => vec![m.fresh()],
            Op::AddClear => vec![m.encode()],
            Op::Flip => vec![m.key_switch()],
            Op::Bootstrap { log_bound } => vec![m.bootstrap * libm::exp2(f64::from(*log_bound))],
            Op::MulClear | Op::Combine { .. } | Op::Adjust => vec![m.rounding(), m.encode() * rms(0)],
            // the digits of the key switch stand at the product's scale: the rescale divides them away
            Op::Mul => vec![m.rounding()],
            Op::MatMul => {
                // rotations that add inner tiles
                let turns = kernel.map_or(1.0, |k| k.spread);
                vec![
                    turns.sqrt() * m.rounding(),
                    if turns > 1.0 { turns.sqrt() * m.key_switch() } else { 0.0 },
                ]
            }
            Op::MaskedMatMul => vec![m.rounding(), self.masked_product(i, rms(0), rms(1))],
            Op::Linear { masks: false, .. } => {
                let (square, spread) = kernel.map_or((1.0, 1.0), |k| (k.square, k.spread));
                let moved = kernel.is_some_and(|k| !k.shifts.is_empty());
                let empty = (spread - square).max(0.0).sqrt() * noise(0);
                vec![empty, if moved { spread.sqrt() * m.key_switch() } else { 0.0 }]
            }
            Op::Linear { .. } | Op::LinearRows { .. } | Op::MatMulClear => {
                let square = kernel.map_or(1.0, |k| k.square);
                let moved = kernel.is_some_and(|k| !k.shifts.is_empty());
                let switched = if moved { square.sqrt() * m.key_switch() } else { 0.0 };
                vec![m.rounding(), switched, m.encode() * rms(0) * self.terms(i).sqrt()]
            }
            _ => vec![],
        };
        squares.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// Encoded coefficients that one element of a linear map meets: columns of a clear matrix, or masks.
    fn terms(&self, i: usize) -> f64 {
        let g = &self.s.draft.geometry;
        let slices = if g.scheme == Scheme::Gl { g.rows as f64 } else { 1.0 };
        match self.s.origin(i).kernel.as_deref() {
            Some(k) if k.products > 0 => g.cols as f64,
            Some(k) => k.plaintexts as f64 / slices,
            None => 1.0,
        }
    }

    /// Both operands of a masked product are masked (a rescale), then spread by doublings, which add the errors of `rows` or
    /// `cols` slots and of their key switches; K products of them are added.
    fn masked_product(&self, i: usize, a: f64, b: f64) -> f64 {
        let g = &self.s.draft.geometry;
        let one = self.model.rounding().hypot(self.model.key_switch());
        let spread = |extent: usize, other: f64| (extent as f64).sqrt() * one * other;
        (self.s.inner(i) as f64).sqrt() * spread(g.cols, b).hypot(spread(g.rows, a))
    }
}

/// The value if it lies in the range, else the nearest end.
fn keep(x: f64, range: (f64, f64)) -> f64 {
    if x.is_nan() { range.0 } else { x.max(range.0).min(range.1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_at_known_sizes() {
        let m = NoiseModel { degree: 32768.0, scale: 0.5_f64.sqrt(), digits: 1.0, bootstrap: 0.0 };
        assert!((m.rounding() / 7724.0 - 1.0).abs() < 1e-3, "{}", m.rounding());
        assert!((m.fresh() / (3.2 * 181.02 * 209.02) - 1.0).abs() < 1e-3, "{}", m.fresh());
        assert!(m.key_switch() > m.rounding() && m.encode() < m.rounding());
    }

    #[test]
    fn the_bound_grows_with_the_elements() {
        assert!((9.8..9.81).contains(&deviations(1)), "{}", deviations(1));
        assert!((deviations(1 << 16) - deviations(1) - 16.0 * 0.4901).abs() < 1e-2);
    }
}
