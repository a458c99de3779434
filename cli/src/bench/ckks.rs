//! Operations of CKKS on full slots, with keys for their level and kind alone.
//!
//! Slots are on the unit circle. Digits are those with the cheapest key switch that is secure; where a product is rescaled in the
//! division by P, the special primes may be smaller than the digits ([`gadget`]).

use super::measure::measure;
use super::setting::{LOG_SCALE, Problem, gadget};
use super::{BenchName, object};
use crate::args::BenchArgs;
use crate::failure::Failure;
use compiler::cost::CostModel;
use plan::security::max_log_pq;
use runtime::ckks::{Ciphertext, Ckks, CkksError, Plaintext};
use runtime::exec::OpError;
use runtime::math::fft::Complex;
use runtime::math::sampler::Sampler;
use runtime::ring::Galois;
use runtime::rlwe::{Chain, ChainSpec, Digits, EvaluationKeys, Gadget, KeySource, PublicKey, SecretKey};
use serde_json::{Value, json};
use std::sync::Arc;

/// Slots that a rotation moves by.
const STEPS: usize = 1;

/// Keys, operands in clear, encoded and encrypted.
struct Setting {
    ckks: Ckks,
    secret: SecretKey,
    public: PublicKey,
    keys: EvaluationKeys,
    rotation: Galois,
    clear: [Vec<Complex>; 2],
    encoded: [Plaintext; 2],
    encrypted: [Ciphertext; 2],
    /// of the first operand
    digits: Digits,
}

/// Times one operation and compares its result with the same operation in clear.
pub fn bench(name: BenchName, args: &BenchArgs) -> Result<Value, Failure> {
    let mut problem = Problem::ckks(args.level, args.log_dimension)?;
    let fused = name == BenchName::CkksMultiply;
    let gadget = cheapest(&problem, args.level, fused)?;
    problem.plan.params.digit = gadget.alpha;
    problem.plan.params.special.clone_from(&gadget.special);
    let s = Setting::new(&problem, gadget, fused).map_err(OpError::from)?;
    let mut sampler = Sampler::from_seed([3; 32]);
    let ([a, b], keys) = (&s.encrypted, &s.keys);
    let (measured, found) = if name == BenchName::CkksDecrypt {
        measure(|| Ok(s.ckks.decode(&s.ckks.decrypt(&s.secret, a))))?
    } else {
        let mut apply = || -> Result<Ciphertext, CkksError> {
            Ok(match name {
                BenchName::CkksMultiply => s.ckks.mul(a, b, keys)?,
                BenchName::CkksMultiplyPlain => s.ckks.mul_plain_rescale(a, &s.encoded[1])?,
                BenchName::CkksRotate => s.ckks.rotate(a, s.rotation, keys)?,
                BenchName::CkksRotateHoisted => {
                    let chain = s.ckks.chain();
                    let image = chain.automorphism_hoisted(a.rlwe(), &s.digits, s.rotation, keys)?;
                    Ciphertext::new(image, a.scale())?
                }
                _ => s.ckks.encrypt_public(&s.public, &s.encoded[0], &mut sampler)?,
            })
        };
        let (measured, result) = measure(|| Ok(apply()?))?;
        (measured, s.ckks.decode(&s.ckks.decrypt(&s.secret, &result)))
    };
    let differences = s.expected(name).into_iter().zip(&found).map(|(x, &y)| (x - y).abs());
    let error = differences.fold(0.0, f64::max);
    let words = |polys: &[runtime::ring::Poly]| polys.iter().map(|p| size_of_val(p.words())).sum::<usize>();
    let key_bytes: usize = keys.iter().map(|(_, key)| words(key.bodies())).sum();
    let bytes = words(a.rlwe().parts()) + words(b.rlwe().parts()) + key_bytes;
    let mut value = object(name, &problem.describe(args.level), &measured, bytes);
    value["key_bytes"] = json!(key_bytes);
    value["precision_bits"] = json!(-error.log2());
    value["max_abs_error"] = json!(error);
    Ok(value)
}

impl Setting {
    fn new(problem: &Problem, gadget: Gadget, fused: bool) -> Result<Setting, CkksError> {
        let params = &problem.plan.params;
        let spec = ChainSpec { ring: params.ring, primes: params.q.clone(), gadget };
        let ckks = Ckks::new(Arc::new(Chain::new(spec)?), LOG_SCALE.exp2())?;
        let (chain, level) = (ckks.chain(), ckks.max_level());
        let mut sampler = Sampler::from_seed([1; 32]);
        let secret = SecretKey::generate(chain, &mut sampler);
        let public = PublicKey::generate(chain, &secret, &mut sampler);
        let rotation = params.ring.rotation(STEPS as i64);
        let source = if fused { KeySource::SQUARE } else { KeySource::Galois(rotation) };
        let mut keys = EvaluationKeys::new();
        keys.generate(chain, &secret, source, level, &mut sampler)?;
        let wave = |k: f64| {
            (0..ckks.slots())
                .map(|i| Complex::new((i as f64 * k).cos(), (i as f64 * k).sin()))
                .collect::<Vec<_>>()
        };
        let clear = [wave(0.37), wave(0.73)];
        let encoded = [ckks.encode(&clear[0], level)?, ckks.encode(&clear[1], level)?];
        let mut encrypt = |plain| ckks.encrypt(&secret, plain, &mut sampler);
        let encrypted = [encrypt(&encoded[0])?, encrypt(&encoded[1])?];
        let digits = chain.decompose(encrypted[0].rlwe().mask());
        Ok(Setting { secret, public, keys, rotation, clear, encoded, encrypted, digits, ckks })
    }

    /// The result in clear.
    fn expected(&self, name: BenchName) -> Vec<Complex> {
        let [a, b] = &self.clear;
        let slots = a.len();
        let slot = |i: usize| match name {
            BenchName::CkksMultiply | BenchName::CkksMultiplyPlain => a[i] * b[i],
            BenchName::CkksRotate | BenchName::CkksRotateHoisted => a[(i + STEPS) % slots],
            _ => a[i],
        };
        (0..slots).map(slot).collect()
    }
}

/// How keys are made: the secure digits with the cheapest key switch.
fn cheapest(problem: &Problem, level: usize, fused: bool) -> Result<Gadget, Failure> {
    let params = &problem.plan.params;
    let bound = max_log_pq(params.ring.degree(), params.security.bits).unwrap_or(0.0);
    let bits = |primes: &[u64]| primes.iter().map(|&q| (q as f64).log2()).sum::<f64>();
    let cost = |gadget: &Gadget| {
        let (special, digit) = (gadget.special.len() as f64, gadget.alpha as f64);
        CostModel { special, digit, ..CostModel::of(&problem.plan.geometry) }.key_switch(level as f64 + 1.0)
    };
    (1..=params.q.len())
        .filter_map(|alpha| gadget(params, alpha, fused))
        .filter(|gadget| bits(&params.q) + bits(&gadget.special) <= bound)
        .min_by(|a, b| cost(a).total_cmp(&cost(b)))
        .ok_or_else(|| Failure::Usage("no digits are secure in this ring".into()))
}
