//! Every operation end to end under real noise, against the same operation on complex numbers.

use super::linear::{GiantStep, LinearTransform};
use super::masked_matmul::Frame;
use super::*;
use crate::math::fft::Complex;
use crate::math::prime::primes_near;
use crate::math::sampler::Sampler;
use crate::ring::{Galois, RingSpec};
use crate::rlwe::{ChainSpec, EvaluationKeys, Gadget, KeySource, PublicKey, SecretKey};
use std::collections::BTreeMap;

/// Too small to be secure.
const TOY_RINGS: [RingSpec; 2] = [RingSpec::PowerOfTwo { log_n: 8 }, RingSpec::Gl { n: 32, p: 5 }];

/// Degree 2^13, where 128-bit security allows log PQ <= 214 (guidelines 2024/463): 43 + 2 x 40 + 2 x 45 = 213.
const SECURE_RINGS: [RingSpec; 2] = [RingSpec::PowerOfTwo { log_n: 13 }, RingSpec::Gl { n: 16, p: 257 }];

struct Setting {
    ckks: Ckks,
    secret: SecretKey,
    keys: EvaluationKeys,
    sampler: Sampler,
}

impl Setting {
    fn new(ring: RingSpec, levels: usize, key_sources: &[KeySource]) -> Setting {
        let step = ring.modulus_step();
        let mut primes = primes_near(43, step, 1, &[]).expect("enough");
        primes.extend(primes_near(40, step, levels, &[]).expect("enough"));
        let special = primes_near(45, step, 2, &primes).expect("enough");
        let chain =
            Chain::new(ChainSpec { ring, primes, gadget: Gadget { special, alpha: 2 } }).expect("a chain");
        let ckks = Ckks::new(Arc::new(chain), 2f64.powi(40)).expect("scales near the primes");
        let mut sampler = Sampler::from_seed([5; 32]);
        let secret = SecretKey::generate(ckks.chain(), &mut sampler);
        let mut keys = EvaluationKeys::new();
        for &source in key_sources {
            keys.generate(ckks.chain(), &secret, source, levels, &mut sampler).expect("a level of the chain");
        }
        Setting { ckks, secret, keys, sampler }
    }

    fn encrypt(&mut self, slots: &[Complex], level: usize) -> Ciphertext {
        let plaintext = self.ckks.encode(slots, level).expect("small slots");
        self.ckks.encrypt(&self.secret, &plaintext, &mut self.sampler).expect("a plaintext of the chain")
    }

    /// The largest slot error, in bits.
    #[track_caller]
    fn assert_close(&self, ct: &Ciphertext, expected: &[Complex], bits: f64) {
        let found = self.ckks.decode(&self.ckks.decrypt(&self.secret, ct));
        assert_eq!(found.len(), expected.len());
        let error = found.iter().zip(expected).map(|(&f, &e)| (f - e).abs()).fold(0.0, f64::max);
        assert!(error < 2f64.powf(-bits), "error 2^{:.1}, needed 2^-{bits}", error.log2());
        assert!(error > 0.0, "no noise at all");
    }
}

/// Slots in the unit square.
fn slots(count: usize, seed: u64) -> Vec<Complex> {
    let unit = |i: u64| {
        let hash = (i + seed * 1_000_003)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (hash >> 11) as f64 / 2f64.powi(52) - 1.0
    };
    (0..count as u64).map(|i| Complex::new(unit(2 * i), unit(2 * i + 1))).collect()
}

fn zip(a: &[Complex], b: &[Complex], f: impl Fn(Complex, Complex) -> Complex) -> Vec<Complex> {
    a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect()
}

/// New slot (l, j) is old slot (l + w, j + row), conjugated if asked.
fn permute(ring: RingSpec, a: &[Complex], conj: bool, row: usize, w: usize) -> Vec<Complex> {
    let (rows, w_len) = (ring.rows(), ring.w_len());
    let place = |i: usize| (i / rows + w) % w_len * rows + (i % rows + row) % rows;
    (0..a.len()).map(|i| if conj { a[place(i)].conj() } else { a[place(i)] }).collect()
}

fn arithmetic(ring: RingSpec, levels: usize, bits: f64) {
    let mut setting = Setting::new(ring, levels, &[KeySource::SQUARE]);
    let (a, b) = (slots(ring.slots(), 1), slots(ring.slots(), 2));
    let (x, y) = (setting.encrypt(&a, levels), setting.encrypt(&b, levels));
    let Setting { ckks, keys, .. } = &setting;
    let plain = ckks.encode(&b, levels).expect("small slots");
    let (low, low_scale) = (levels - 1, ckks.scale(levels - 1).expect("in the chain"));

    setting.assert_close(&ckks.add(&x, &y).expect("same scale"), &zip(&a, &b, |x, y| x + y), bits + 3.0);
    setting.assert_close(&ckks.sub(&x, &y).expect("same scale"), &zip(&a, &b, |x, y| x - y), bits + 3.0);
    setting.assert_close(&ckks.neg(&x), &zip(&a, &a, |x, _| -x), bits + 3.0);
    setting.assert_close(
        &ckks.add_plain(&x, &plain).expect("same scale"),
        &zip(&a, &b, |x, y| x + y),
        bits + 3.0,
    );
    setting.assert_close(&ckks.mul_integer(&x, -5), &zip(&a, &a, |x, _| x.scale(-5.0)), bits);
    setting.assert_close(&ckks.mul_imaginary(&x), &zip(&a, &a, |x, _| x * Complex::I), bits + 3.0);
    let c = Complex::new(0.75, -1.3);
    setting.assert_close(&ckks.add_constant(&x, c).expect("small"), &zip(&a, &a, |x, _| x + c), bits + 3.0);

    let product = zip(&a, &b, |x, y| x * y);
    let results = [
        ckks.mul(&x, &y, keys),
        ckks.mul_plain_rescale(&x, &plain),
        ckks.tensor(&x, &y).and_then(|t| ckks.relinearize(&t, keys)).and_then(|t| ckks.rescale(&t)),
    ];
    setting.assert_close(&ckks.tensor(&x, &y).expect("same level"), &product, bits + 3.0);
    for result in results {
        let result = result.expect("keys and levels at hand");
        assert_eq!((result.level(), result.scale()), (low, low_scale), "canonical scale");
        setting.assert_close(&result, &product, bits);
    }
    let square = ckks.square(&x, keys).expect("key at hand");
    assert_eq!(square, ckks.mul(&x, &x, keys).expect("key at hand"));
    let scale = ckks.scale(levels).expect("in the chain");
    let scaled = ckks.mul_constant(&x, c, scale).and_then(|t| ckks.rescale(&t)).expect("level at hand");
    assert_eq!(scaled.scale(), low_scale);
    setting.assert_close(&scaled, &zip(&a, &a, |x, _| x * c), bits);

    // a fresh value meets a product, and a deep product meets both
    let met = ckks.add(&ckks.adjust(&x, low).expect("lower"), &square).expect("same scale");
    setting.assert_close(&met, &zip(&a, &a, |x, _| x + x * x), bits);
    let cube = ckks.mul(&square, &ckks.adjust(&x, low).expect("lower"), keys).expect("key at hand");
    let sum = ckks.add(&cube, &ckks.adjust(&x, low - 1).expect("lower")).expect("same scale");
    setting.assert_close(&sum, &zip(&a, &a, |x, _| x * x * x + x), bits - 1.5);
}

#[test]
fn arithmetic_at_toy_size() {
    TOY_RINGS.into_iter().for_each(|ring| arithmetic(ring, 4, 25.0));
}

#[test]
fn arithmetic_at_secure_size() {
    SECURE_RINGS.into_iter().for_each(|ring| arithmetic(ring, 2, 22.0));
}

fn rotations(ring: RingSpec, levels: usize, bits: f64) {
    let half = ring.w_len() / 2;
    let cases = [
        (false, 1, 0),
        (false, ring.rows() - 2, 0),
        (false, 0, 1 % ring.w_len()),
        (true, 0, half),
        (true, 3, half),
    ];
    let galois = |(conj, row, w): (bool, usize, usize)| ring.galois(conj, row as i64, w as i64);
    let mut setting = Setting::new(ring, levels, &cases.map(|case| KeySource::Galois(galois(case))));
    let a = slots(ring.slots(), 3);
    for level in 0..=levels {
        let x = setting.encrypt(&a, level);
        let Setting { ckks, keys, .. } = &setting;
        let hoisted = ckks.rotate_hoisted(&x, &cases.map(galois), keys).expect("keys at hand");
        for ((conj, row, w), image) in cases.into_iter().zip(hoisted) {
            // a change of sign alone conjugates only together with W -> W^-1
            let w_slots = if conj { w + half } else { w };
            setting.assert_close(&image, &permute(ring, &a, conj, row, w_slots), bits);
            assert_eq!(image, ckks.rotate(&x, galois((conj, row, w)), keys).expect("key at hand"));
        }
    }
    let x = setting.encrypt(&a, levels);
    let conjugate = setting.ckks.conjugate(&x, &setting.keys).expect("key at hand");
    setting.assert_close(&conjugate, &permute(ring, &a, true, 0, 0), bits);
}

#[test]
fn rotations_at_toy_size() {
    TOY_RINGS.into_iter().for_each(|ring| rotations(ring, 3, 26.0));
}

#[test]
fn rotations_at_secure_size() {
    SECURE_RINGS.into_iter().for_each(|ring| rotations(ring, 2, 22.0));
}

fn keys_for(setting: &mut Setting, level: usize, galois: impl IntoIterator<Item = Galois>) {
    for g in galois {
        let Setting { ckks, secret, keys, sampler } = setting;
        keys.generate(ckks.chain(), secret, KeySource::Galois(g), level, sampler)
            .expect("a level of the chain");
    }
}

#[test]
fn linear_transforms_by_diagonals() {
    for ring in TOY_RINGS {
        let mut setting = Setting::new(ring, 3, &[]);
        let a = slots(ring.slots(), 4);
        for (level, baby_steps) in [(3, 1), (3, 4), (2, 3), (1, 64)] {
            let diagonals: BTreeMap<usize, Vec<Complex>> =
                [0, 1, 2, 5, 6, 11, ring.rows() - 1].map(|r| (r, slots(ring.slots(), 10 + r as u64))).into();
            let transform = LinearTransform::from_diagonals(&setting.ckks, level, &diagonals, baby_steps)
                .expect("small slots");
            keys_for(&mut setting, level, transform.automorphisms());
            let x = setting.encrypt(&a, level);
            let y = transform.apply(&setting.ckks, &x, &setting.keys).expect("keys at hand");
            assert_eq!(
                (y.level(), y.scale()),
                (level - 1, setting.ckks.scale(level - 1).expect("in the chain"))
            );
            let terms = diagonals.iter().map(|(&r, d)| zip(d, &permute(ring, &a, false, r, 0), |x, y| x * y));
            let expected = terms.reduce(|a, b| zip(&a, &b, |x, y| x + y)).expect("diagonals");
            setting.assert_close(&y, &expected, 23.0);
        }
    }
}

#[test]
fn linear_transforms_with_any_automorphism() {
    let ring = RingSpec::Gl { n: 8, p: 17 };
    let mut setting = Setting::new(ring, 2, &[]);
    let (a, m1, m2) = (slots(ring.slots(), 5), slots(ring.slots(), 6), slots(ring.slots(), 7));
    let (giant, baby) = (ring.batch_rotation(4), ring.conjugation());
    let steps = [
        GiantStep { giant: Galois::default(), babies: vec![(baby, m1.clone())] },
        GiantStep { giant, babies: vec![(baby, m1.clone()), (Galois::default(), m2.clone())] },
    ];
    let transform = LinearTransform::new(&setting.ckks, 2, &steps).expect("small slots");
    keys_for(&mut setting, 2, transform.automorphisms());
    let x = setting.encrypt(&a, 2);
    let y = transform.apply(&setting.ckks, &x, &setting.keys).expect("keys at hand");
    let first = zip(&m1, &a, |m, x| m * x.conj());
    let second = zip(&first, &zip(&m2, &a, |m, x| m * x), |x, y| x + y);
    let expected = zip(&first, &permute(ring, &second, false, 0, 4), |x, y| x + y);
    setting.assert_close(&y, &expected, 23.0);
    let lower = setting.ckks.drop_to_level(&x, 1).expect("lower");
    assert!(transform.apply(&setting.ckks, &lower, &setting.keys).is_err());
}

/// A batch of I x K times K x J products in frames of nr x nc.
fn matmul(
    ring: RingSpec,
    levels: usize,
    (nr, nc): (usize, usize),
    (i, k, j): (usize, usize, usize),
    bits: f64,
) {
    let mut setting = Setting::new(ring, levels, &[KeySource::SQUARE]);
    let frame = Frame::new(&setting.ckks, nr, nc).expect("frames fit");
    let rotations = frame.automorphisms(&setting.ckks);
    keys_for(&mut setting, levels - 1, rotations);
    let matrix = |values: &[Complex], rows: usize, columns: usize| {
        let inside = |s: usize| s / nc % nr < rows && s % nc < columns;
        (0..ring.slots()).map(|s| if inside(s) { values[s] } else { Complex::ZERO }).collect::<Vec<_>>()
    };
    let (a, b) = (matrix(&slots(ring.slots(), 8), i, k), matrix(&slots(ring.slots(), 9), k, j));
    let (x, y) = (setting.encrypt(&a, levels), setting.encrypt(&b, levels));
    let z = frame.matmul(&setting.ckks, &x, &y, k, &setting.keys).expect("keys at hand");
    assert_eq!((z.level(), z.scale()), (levels - 2, setting.ckks.scale(levels - 2).expect("in the chain")));
    let mut expected = vec![Complex::ZERO; ring.slots()];
    for batch in 0..frame.batch(&setting.ckks) {
        for (r, c) in (0..nr).flat_map(|r| (0..nc).map(move |c| (r, c))) {
            let term = |t| a[frame.slot(batch, r, t)] * b[frame.slot(batch, t, c)];
            expected[frame.slot(batch, r, c)] = (0..k).map(term).fold(Complex::ZERO, |x, y| x + y);
        }
    }
    setting.assert_close(&z, &expected, bits);
}

#[test]
fn masked_products_at_toy_size() {
    matmul(TOY_RINGS[0], 3, (8, 8), (8, 8, 8), 21.0);
    matmul(TOY_RINGS[0], 2, (8, 16), (5, 6, 11), 21.0);
    matmul(TOY_RINGS[0], 2, (4, 1), (3, 1, 1), 21.0);
    matmul(TOY_RINGS[1], 2, (4, 4), (4, 3, 2), 21.0);
}

#[test]
fn masked_products_at_secure_size() {
    matmul(SECURE_RINGS[0], 2, (4, 4), (4, 4, 4), 19.0);
    matmul(SECURE_RINGS[1], 2, (4, 4), (4, 4, 4), 19.0);
}

#[test]
fn public_keys_encrypt() {
    for ring in TOY_RINGS {
        let mut setting = Setting::new(ring, 2, &[]);
        let public = PublicKey::generate(setting.ckks.chain(), &setting.secret, &mut setting.sampler);
        let a = slots(ring.slots(), 1);
        let plaintext = setting.ckks.encode(&a, 1).expect("small slots");
        let ct = setting.ckks.encrypt_public(&public, &plaintext, &mut setting.sampler).expect("a plaintext");
        setting.assert_close(&ct, &a, 24.0);
    }
}

#[test]
fn mismatches_are_errors() {
    let ring = TOY_RINGS[0];
    let mut setting = Setting::new(ring, 3, &[]);
    let a = slots(ring.slots(), 1);
    let (x, low) = (setting.encrypt(&a, 3), setting.encrypt(&a, 1));
    let ckks = &setting.ckks;
    let dropped = ckks.drop_to_level(&x, 1).expect("lower");
    assert!(matches!(ckks.add(&dropped, &low), Err(CkksError::ScaleMismatch { .. })));
    assert!(matches!(ckks.adjust(&dropped, 1), Err(CkksError::ScaleMismatch { .. })));
    assert_eq!(ckks.adjust(&low, 1), Ok(low.clone()));
    assert!(matches!(
        ckks.adjust(&low, 2),
        Err(CkksError::Rlwe(RlweError::LevelTooLow { needed: 2, available: 1 }))
    ));
    assert!(matches!(ckks.mul(&x, &x, &setting.keys), Err(CkksError::Rlwe(RlweError::MissingKey { .. }))));
    assert!(matches!(ckks.encode(&vec![Complex::ONE; 129], 0), Err(CkksError::Encode(_))));
    assert!(matches!(ckks.encode_at(&a, 0, 0.5), Err(CkksError::InvalidScale { .. })));
    assert!(matches!(ckks.mul_constant(&x, Complex::ONE, 1e40), Err(CkksError::ConstantTooLarge { .. })));
    assert!(matches!(Frame::new(ckks, 16, 16), Err(CkksError::InvalidFrame { available: 128, .. })));
    assert!(matches!(Frame::new(ckks, 3, 4), Err(CkksError::InvalidFrame { .. })));
    let frame = Frame::new(ckks, 4, 8).expect("fits");
    assert!(matches!(
        frame.matmul(ckks, &x, &x, 5, &setting.keys),
        Err(CkksError::InnerDimension { available: 4, .. })
    ));
    assert!(matches!(frame.matmul(ckks, &low, &low, 4, &setting.keys), Err(CkksError::Rlwe(_))));
    assert!(Ckks::new(Arc::clone(&ckks.chain), 2f64.powi(20)).is_err());
}
