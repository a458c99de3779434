//! Every stage decrypted and held against the same stage in f64, on rings that protect nothing.

use super::*;
use crate::math::ntt::bit_reverse;
use crate::math::sampler::Sampler;
use crate::ring::RingSpec;
use crate::rlwe::{Chain, ChainSpec, EncapsulationKeys, Gadget, KeySource, SecretKey};
use plan::bootstrap::{SPARSE_WEIGHT, toy_set};
use plan::{KeyKind, Params, Shift};
use std::sync::Arc;

const TOY_LOG_N: u32 = 9;
const LEVELS: u32 = 3;

struct Setting {
    params: Params,
    ckks: Ckks,
    bootstrap: Bootstrap,
    secret: SecretKey,
    keys: EvaluationKeys,
    sampler: Sampler,
}

impl Setting {
    fn toy(seed: u8) -> Setting {
        let params = toy_set(TOY_LOG_N).params(LEVELS, 128).expect("primes of a toy ring");
        let primes = params.q.iter().copied().chain(params.raised_primes()).collect();
        let gadget = Gadget { special: params.special.clone(), alpha: params.digit };
        let ring = RingSpec::PowerOfTwo { log_n: TOY_LOG_N };
        let chain = Chain::new(ChainSpec { ring, primes, gadget }).expect("a chain");
        let ckks = Ckks::with_scales(Arc::new(chain), params.raised_scales()).expect("scales");
        let mut sampler = Sampler::from_seed([seed; 32]);
        let chain = ckks.chain();
        let secret = SecretKey::generate(chain, &mut sampler);
        let mut keys = EvaluationKeys::new();
        for key in params.bootstrap_keys() {
            let source = match key.kind {
                KeyKind::Relinearize => KeySource::SQUARE,
                KeyKind::Conjugate => KeySource::Galois(ring.conjugation()),
                KeyKind::Rotate(Shift::Slots(s)) => KeySource::Galois(ring.rotation(s as i64)),
                _ => continue,
            };
            keys.generate(chain, &secret, source, key.level.0 as usize, &mut sampler).expect("raised");
        }
        let weight = SPARSE_WEIGHT as usize;
        let pair = EncapsulationKeys::generate(chain, &secret, weight, &mut sampler).expect("its secret");
        keys.set_encapsulation(pair);
        let bootstrap = Bootstrap::new(&ckks, params.top().0 as usize).expect("its primes");
        Setting { params, ckks, bootstrap, secret, keys, sampler }
    }

    fn top(&self) -> usize {
        self.params.top().0 as usize
    }

    fn encrypt(&mut self, slots: &[Complex]) -> Ciphertext {
        let plaintext = self.ckks.encode(slots, STEPS_DOWN).expect("small slots");
        self.ckks.encrypt(&self.secret, &plaintext, &mut self.sampler).expect("a plaintext of the chain")
    }

    fn decrypt(&self, ckks: &Ckks, ct: &Ciphertext) -> Vec<Complex> {
        ckks.decode(&ckks.decrypt(&self.short_secret(ckks), ct))
    }

    /// Coefficients over the scale, packed as the slots they came from.
    fn coefficients(&self, ckks: &Ckks, ct: &Ciphertext) -> Vec<Complex> {
        let poly = ckks.decrypt(&self.short_secret(ckks), ct);
        let found = ckks.chain().ring().to_signed(poly.poly());
        let n = ckks.slots();
        let at = |j: usize| {
            let i = bit_reverse(j, n.trailing_zeros());
            Complex::new(found[i] as f64, found[i + n] as f64).scale(1.0 / ct.scale())
        };
        (0..n).map(at).collect()
    }

    fn short_secret(&self, ckks: &Ckks) -> SecretKey {
        SecretKey::from_coefficients(ckks.chain(), self.secret.coefficients().to_vec()).expect("ternary")
    }
}

/// Slots in the unit square.
fn random_slots(count: usize, seed: u64) -> Vec<Complex> {
    let unit = |i: u64| {
        let hash = (i + seed * 1_000_003).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        (hash.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / 2f64.powi(52) - 1.0
    };
    (0..count as u64).map(|i| Complex::new(unit(2 * i), unit(2 * i + 1))).collect()
}

/// log2 of the mean and of the largest distance.
fn error_bits(found: &[Complex], expected: &[Complex]) -> (f64, f64) {
    let distances = found.iter().zip(expected).map(|(&f, &e)| (f - e).abs());
    let (sum, largest) = distances.fold((0.0, 0.0), |(sum, max), d| (sum + d, f64::max(max, d)));
    (f64::log2(sum / found.len() as f64), largest.log2())
}

#[track_caller]
fn assert_error(stage: &str, found: &[Complex], expected: &[Complex], mean: f64, largest: f64) {
    let (m, l) = error_bits(found, expected);
    println!("{stage}: mean error 2^{m:.1}, largest 2^{l:.1}");
    assert!(m < mean && l < largest, "{stage}: mean 2^{m:.1}, largest 2^{l:.1}");
}

fn fraction(z: Complex) -> Complex {
    Complex::new(z.re - z.re.round(), z.im - z.im.round())
}

#[test]
fn stages_agree_with_the_same_stages_in_clear() {
    let mut setting = Setting::toy(1);
    let z = random_slots(setting.ckks.slots(), 1);
    let ct = setting.encrypt(&z);
    let Setting { ckks, bootstrap, keys, .. } = &setting;
    let (top, target) = (setting.top(), setting.top() - 1);
    let packed = bootstrap.slots_to_coeffs(ckks, &ct, target, 0, keys).expect("keys at hand");
    assert_eq!(packed.level(), 0);
    assert_error("slots to coefficients", &setting.coefficients(ckks, &packed), &z, -31.0, -29.5);

    let short = ckks.without(target + 1..top + 1).expect("levels of values");
    let raised = bootstrap.raise(ckks, &short, &packed, keys).expect("keys at hand");
    let x = setting.coefficients(&short, &raised);
    let ratio = setting.params.bootstrap_ratio_log2(plan::Level(target as u32)).exp2();
    let over_q0: Vec<Complex> = z.iter().map(|z| z.scale(1.0 / ratio)).collect();
    let parts: Vec<Complex> = x.iter().map(|&x| fraction(x)).collect();
    assert_error("raised, modulo q_0", &parts, &over_q0, -37.0, -36.0);
    let largest = x.iter().fold(0.0, |m: f64, x| m.max(x.re.abs()).max(x.im.abs()));
    assert!((2.0..f64::from(RANGE)).contains(&largest), "{largest}");

    let slots = bootstrap.coeffs_to_slots(&short, &raised, keys).expect("keys at hand");
    assert_eq!(slots.level(), target + EVAL_MOD);
    let expected: Vec<Complex> = x.iter().map(|x| x.scale(0.5 / f64::from(RANGE))).collect();
    assert_error("coefficients to slots", &setting.decrypt(&short, &slots), &expected, -37.0, -35.5);

    let found = bootstrap.eval_mod(&short, &slots, Parts::Complex, keys).expect("keys at hand");
    assert_eq!(found.level(), target);
    let values: Vec<Complex> =
        setting.decrypt(&short, &found).iter().map(|f| f.scale(1.0 / (24.0 * PI))).collect();
    let expected: Vec<Complex> = x.iter().map(|&x| fraction(x)).collect();
    assert_error("eval-mod", &values, &expected, -28.5, -27.0);
}

#[test]
fn values_come_back_at_every_level() {
    let mut setting = Setting::toy(2);
    let n = setting.ckks.slots();
    let constant = |re: f64, im: f64| vec![Complex::new(re, im); n];
    let messages =
        [random_slots(n, 3), constant(0.0, 0.0), constant(1.0, 1.0), constant(-1.0, 1.0), constant(0.5, 0.0)];
    for (target, z) in [6, 5, 4, 6, 6].into_iter().zip(messages) {
        let ct = setting.encrypt(&z);
        let Setting { ckks, bootstrap, keys, .. } = &setting;
        let out = bootstrap.apply(ckks, &ct, target, 0, Parts::Complex, keys).expect("keys at hand");
        assert_eq!((out.level(), Ok(out.scale())), (target, ckks.scale(target)));
        assert_error("complex", &setting.decrypt(ckks, &out), &z, -20.0, -19.5);
        let real: Vec<Complex> = z.iter().map(|z| z.re.into()).collect();
        let out = bootstrap.apply(ckks, &ct, target, 0, Parts::Real, keys).expect("keys at hand");
        assert_error("real", &setting.decrypt(ckks, &out), &real, -20.0, -19.5);
        // it is a ciphertext like any other
        let squares: Vec<Complex> = real.iter().map(|&z| z * z).collect();
        let square = ckks.square(&out, keys).expect("levels left");
        assert_error("square", &setting.decrypt(ckks, &square), &squares, -19.5, -19.0);
    }
}

#[test]
fn large_values_are_bounded_by_a_power_of_two() {
    let mut setting = Setting::toy(3);
    let z: Vec<Complex> = random_slots(setting.ckks.slots(), 5).iter().map(|z| z.scale(40.0)).collect();
    let ct = setting.encrypt(&z);
    let Setting { ckks, bootstrap, keys, .. } = &setting;
    let out = bootstrap.apply(ckks, &ct, 5, 6, Parts::Complex, keys).expect("keys at hand");
    assert_error("up to 64", &setting.decrypt(ckks, &out), &z, -18.5, -17.0);
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut setting = Setting::toy(4);
    let ct = setting.encrypt(&random_slots(setting.ckks.slots(), 1));
    let Setting { ckks, bootstrap, keys, .. } = &setting;
    let apply = |target| bootstrap.apply(ckks, &ct, target, 0, Parts::Real, keys);
    assert!(matches!(apply(7), Err(CkksError::Rlwe(RlweError::LevelTooLow { needed: 7, available: 6 }))));
    assert!(apply(3).is_err());
    let low = ckks.drop_to_level(&ct, 2).expect("below");
    assert!(bootstrap.apply(ckks, &low, 5, 0, Parts::Real, keys).is_err());
    let none = bootstrap.apply(ckks, &ct, 5, 0, Parts::Real, &EvaluationKeys::new());
    assert!(none.is_err());
}

/// The overflow after raising is a sum of `SPARSE_WEIGHT` uniform numbers: its tail is what the failure probability assumes.
#[test]
fn overflow_has_the_predicted_tail() {
    let mut setting = Setting::toy(5);
    let (mut counts, mut total) = ([0.0; 6], 0.0);
    for seed in 0..24 {
        let ct = setting.encrypt(&random_slots(setting.ckks.slots(), seed));
        let Setting { ckks, bootstrap, keys, .. } = &setting;
        let packed = bootstrap.slots_to_coeffs(ckks, &ct, setting.top(), 0, keys).expect("keys at hand");
        let raised = bootstrap.raise(ckks, ckks, &packed, keys).expect("keys at hand");
        for x in setting.coefficients(ckks, &raised).iter().flat_map(|z| [z.re, z.im]) {
            total += 1.0;
            counts.iter_mut().enumerate().for_each(|(k, count)| *count += f64::from(x.abs() > k as f64));
        }
    }
    for (k, count) in counts.into_iter().enumerate().skip(1) {
        // 32 uniform numbers and one more that rounds
        let expected = total * plan::bootstrap::tail_log2(SPARSE_WEIGHT + 1, k as f64).exp2();
        let deviation = expected.sqrt().max(1.0);
        assert!((count - expected).abs() < 6.0 * deviation, "beyond {k}: {count}, expected {expected}");
    }
}
