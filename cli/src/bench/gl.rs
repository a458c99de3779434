//! Operations of GL on one batch of matrices, with keys for their level and kind alone.
//!
//! Entries are uniform in [-1, 1]. Digits are the largest that are secure.

use super::measure::measure;
use super::setting::{LOG_SCALE, Problem, gadget};
use super::{BenchName, object};
use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::usage;
use plan::{Params, security::max_log_pq};
use runtime::exec::OpError;
use runtime::gl::{Gl, GlCiphertext, GlError, GlOperation, GlPlaintext, Matrices, Rotation};
use runtime::math::fft::Complex;
use runtime::math::sampler::Sampler;
use runtime::rlwe::{Chain, ChainSpec, EvaluationKeys, Gadget, SecretKey};
use serde_json::{Value, json};

/// What is rotated: everything that moves by a key switch.
const ROTATION: Rotation = Rotation { batch: 3, rows: 5, columns: 0 };

/// Keys, operands in clear, encoded and encrypted.
struct Setting {
    gl: Gl,
    secret: SecretKey,
    keys: EvaluationKeys,
    clear: [Matrices; 2],
    encrypted: [GlCiphertext; 2],
    /// the second operand, as a factor
    factor: GlPlaintext,
    level: usize,
}

/// The operation behind a name and whether it divides by a prime of the level, too.
fn operation(name: BenchName) -> (Option<GlOperation>, bool) {
    match name {
        BenchName::GlMatmul => (Some(GlOperation::Product), true),
        BenchName::GlPlainMatmul => (Some(GlOperation::PlainLeftProduct), true),
        BenchName::GlHadamard => (Some(GlOperation::Hadamard), true),
        BenchName::GlGram => (Some(GlOperation::Gram), false),
        BenchName::GlRotate => (Some(GlOperation::Rotate(ROTATION)), false),
        BenchName::GlTranspose => (Some(GlOperation::Transpose), false),
        BenchName::GlConjugateTranspose => (Some(GlOperation::ConjugateTranspose), false),
        BenchName::GlConjugate => (Some(GlOperation::Conjugate), false),
        _ => (None, true),
    }
}

/// Times one operation and compares its result with the same operation in clear.
pub fn bench(name: BenchName, args: &BenchArgs) -> Result<Value, Failure> {
    let problem = Problem::gl(args.shape, args.level)?;
    let mut s = Setting::new(&problem.plan.params, args, operation(name))?;
    usage::reset_peak();
    let (measured, result) = match name {
        BenchName::GlEncrypt => {
            let mut sampler = Sampler::from_seed([3; 32]);
            measure(|| Ok(s.encrypt(0, &mut sampler)?))?
        }
        BenchName::GlDecrypt => {
            let (measured, found) = measure(|| Ok(s.gl.decrypt(&s.secret, &s.encrypted[0])?))?;
            s.clear[1] = found;
            (measured, s.encrypted[0].clone())
        }
        _ => measure(|| s.apply(name))?,
    };
    let peak = usage::peak_bytes();
    let found = match name {
        BenchName::GlDecrypt => s.clear[1].clone(),
        _ => s.gl.decrypt(&s.secret, &result).map_err(OpError::from)?,
    };
    let expected = s.expected(name);
    let differences = expected.entries().iter().zip(found.entries()).map(|(x, y)| (*x - *y).abs());
    let error = differences.fold(0.0, f64::max);
    let key_bytes: usize =
        s.keys.iter().flat_map(|(_, key)| key.bodies()).map(|p| size_of_val(p.words())).sum();
    let gadget = &s.gl.chain().spec().gadget;
    let mut parameters = problem.describe(args.level);
    parameters["special"] = json!(gadget.special.len());
    parameters["digit"] = json!(gadget.alpha);
    parameters["log_pq"] = json!(s.gl.chain().log_pq(args.level));
    parameters["pairs"] = json!(problem.pairs);
    let mut value = object(name, &parameters, &measured, s.encrypted[0].bytes() * 2 + key_bytes);
    value["key_bytes"] = json!(key_bytes);
    value["peak_bytes"] = json!(peak);
    value["precision_bits"] = json!(-error.log2());
    value["max_abs_error"] = json!(error);
    Ok(value)
}

impl Setting {
    fn new(
        params: &Params,
        args: &BenchArgs,
        (operation, fused): (Option<GlOperation>, bool),
    ) -> Result<Setting, Failure> {
        let gadget = fewest(params, fused)?;
        let ring = params.ring;
        let chain =
            Chain::new(ChainSpec { ring, primes: params.q.clone(), gadget }).map_err(OpError::from)?;
        let gl = Gl::new(chain, LOG_SCALE.exp2()).map_err(OpError::from)?;
        let mut sampler = Sampler::from_seed([1; 32]);
        let secret = SecretKey::generate(gl.chain(), &mut sampler);
        let mut keys = EvaluationKeys::new();
        if let Some(operation) = operation {
            gl.generate_keys(&mut keys, &secret, operation, args.level, &mut sampler)
                .map_err(OpError::from)?;
        }
        let clear = [1, 2].map(|seed| uniform(gl.batch().min(args.shape[0]), gl.side(), seed));
        let made = |gl: &Gl, sampler: &mut Sampler| -> Result<_, GlError> {
            let scale = gl.scale(args.level)?;
            let mut encrypt = |m| gl.encrypt(&secret, &gl.encode(m, args.level, scale)?, sampler);
            let encrypted = [encrypt(&clear[0])?, encrypt(&clear[1])?];
            Ok((encrypted, gl.encode(&clear[1], args.level, gl.factor_scale(args.level)?)?))
        };
        let (encrypted, factor) = made(&gl, &mut sampler).map_err(OpError::from)?;
        Ok(Setting { gl, secret, keys, clear, encrypted, factor, level: args.level })
    }

    fn encrypt(&self, which: usize, sampler: &mut Sampler) -> Result<GlCiphertext, GlError> {
        let plain = self.gl.encode(&self.clear[which], self.level, self.gl.scale(self.level)?)?;
        self.gl.encrypt(&self.secret, &plain, sampler)
    }

    fn apply(&self, name: BenchName) -> Result<GlCiphertext, OpError> {
        let (gl, keys, [a, b], p) = (&self.gl, &self.keys, &self.encrypted, &self.factor);
        Ok(match name {
            BenchName::GlMatmul => gl.matmul(a, b, keys)?,
            BenchName::GlMatmulPlain => gl.matmul_plain(a, p)?,
            BenchName::GlPlainMatmul => gl.plain_matmul(p, a, keys)?,
            BenchName::GlGram => gl.gram(a, keys)?,
            BenchName::GlHadamard => gl.hadamard(a, b, keys)?,
            BenchName::GlHadamardPlain => gl.hadamard_plain(a, p)?,
            BenchName::GlRotate => gl.rotate(a, ROTATION, keys)?,
            BenchName::GlTranspose => gl.transpose(a, keys)?,
            BenchName::GlConjugateTranspose => gl.conjugate_transpose(a, keys)?,
            BenchName::GlConjugate => gl.conjugate(a, keys)?,
            _ => a.clone(),
        })
    }

    /// The result in clear.
    fn expected(&self, name: BenchName) -> Matrices {
        let [a, b] = &self.clear;
        let zero = Complex::ZERO;
        let (count, n, batch) = (a.count(), a.side(), self.gl.batch());
        let at = |m: &Matrices, l: usize, j: usize, c: usize| if l < count { m.get(l, j, c) } else { zero };
        let product = |x: &Matrices, y: &Matrices, l, j, c| {
            (0..n).fold(zero, |sum, k| sum + at(x, l, j, k) * at(y, l, c, k).conj())
        };
        Matrices::from_fn(batch, n, |l, j, c| match name {
            BenchName::GlMatmul | BenchName::GlMatmulPlain => product(a, b, l, j, c),
            BenchName::GlPlainMatmul => product(b, a, l, j, c),
            BenchName::GlGram => product(a, a, l, j, c),
            BenchName::GlHadamard | BenchName::GlHadamardPlain => at(a, l, j, c) * at(b, l, j, c),
            BenchName::GlRotate => {
                let steps = [(l, ROTATION.batch, batch), (j, ROTATION.rows, n)];
                let [l, j] = steps.map(|(i, by, len)| (i + by as usize) % len);
                at(a, l, j, c)
            }
            BenchName::GlTranspose => at(a, l, c, j),
            BenchName::GlConjugateTranspose => at(a, l, c, j).conj(),
            BenchName::GlConjugate => at(a, l, j, c).conj(),
            _ => at(a, l, j, c),
        })
    }
}

/// How keys are made: the fewest digits that are secure.
fn fewest(params: &Params, fused: bool) -> Result<Gadget, Failure> {
    let bits = |primes: &[u64]| primes.iter().map(|&q| (q as f64).log2()).sum::<f64>();
    let bound = max_log_pq(params.ring.degree(), params.security.bits).unwrap_or(0.0);
    let limbs = params.q.len();
    (1..=limbs)
        .filter_map(|digits| gadget(params, limbs.div_ceil(digits), fused))
        .find(|gadget| bits(&params.q) + bits(&gadget.special) <= bound)
        .ok_or_else(|| Failure::Usage("the ring has too few primes for secure keys".into()))
}

/// Entries uniform in [-1, 1], the same for the same seed.
fn uniform(count: usize, side: usize, seed: u64) -> Matrices {
    Matrices::from_fn(count, side, |l, j, c| {
        let mut z = (((l * side + j) * side + c) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) + (seed << 32);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0).into()
    })
}
