//! Toy schemes, random batches, and matrix algebra in f64.

use runtime::gl::{Gl, GlCiphertext, GlOperation, Matrices, Rotation};
use runtime::math::fft::Complex;
use runtime::math::prime::primes_near;
use runtime::math::sampler::Sampler;
use runtime::ring::RingSpec;
use runtime::rlwe::{Chain, ChainSpec, EvaluationKeys, Gadget, SecretKey};

/// Rings far too small to protect anything: (n, p).
pub const TOY_SHAPES: [(usize, usize); 4] = [(4, 5), (8, 17), (4, 13), (16, 17)];

/// log2 of the scale at the highest level.
pub const LOG_SCALE: i32 = 40;

/// Whether long tests are asked for: `FHEC_SLOW=1`.
pub fn slow() -> bool {
    std::env::var_os("FHEC_SLOW").is_some_and(|v| v == "1")
}

/// A scheme with its keys.
pub struct Toy {
    pub gl: Gl,
    pub secret: SecretKey,
    pub keys: EvaluationKeys,
    pub sampler: Sampler,
}

impl Toy {
    /// Primes of 50, 40, 40, 40 bits, `special` primes of 58 bits, digits of `alpha` primes.
    pub fn new((n, p): (usize, usize), special: usize, alpha: usize) -> Toy {
        let ring = RingSpec::Gl { n, p };
        let find = |bits, count, avoid: &[u64]| {
            primes_near(bits, ring.modulus_step(), count, avoid).expect("enough primes")
        };
        let mut primes = find(50, 1, &[]);
        primes.extend(find(LOG_SCALE as u32, 3, &primes));
        let gadget = Gadget { special: find(58, special, &primes), alpha };
        let chain = Chain::new(ChainSpec { ring, primes, gadget }).expect("a chain");
        let gl = Gl::new(chain, 2f64.powi(LOG_SCALE)).expect("a scheme");
        let mut sampler = Sampler::from_seed([n as u8 ^ p as u8; 32]);
        let secret = SecretKey::generate(gl.chain(), &mut sampler);
        Toy { gl, secret, keys: EvaluationKeys::new(), sampler }
    }

    /// With the keys of some operations, up to the highest level.
    pub fn with_keys(mut self, operations: &[GlOperation]) -> Toy {
        let level = self.gl.max_level();
        for &operation in operations {
            let made =
                self.gl.generate_keys(&mut self.keys, &self.secret, operation, level, &mut self.sampler);
            made.expect("keys");
        }
        self
    }

    /// A batch of uniform entries in the unit square, re, im in [-1, 1].
    pub fn random(&self, seed: u64) -> Matrices {
        random(self.gl.batch(), self.gl.side(), seed)
    }

    pub fn encrypt(&mut self, m: &Matrices) -> GlCiphertext {
        let level = self.gl.max_level();
        let plain = self.gl.encode(m, level, self.gl.scale(level).expect("level")).expect("encodes");
        self.gl.encrypt(&self.secret, &plain, &mut self.sampler).expect("encrypts")
    }

    pub fn decrypt(&self, ct: &GlCiphertext) -> Matrices {
        self.gl.decrypt(&self.secret, ct).expect("decrypts")
    }
}

pub fn random(count: usize, side: usize, seed: u64) -> Matrices {
    let unit = |x: u64| {
        let mut z = x.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed << 32);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    Matrices::from_fn(count, side, |l, j, c| {
        let i = ((l * side + j) * side + c) as u64;
        Complex::new(unit(2 * i), unit(2 * i + 1))
    })
}

/// A new batch of the same shape from entries.
pub fn map(like: &Matrices, f: impl Fn(usize, usize, usize) -> Complex) -> Matrices {
    Matrices::from_fn(like.count(), like.side(), f)
}

pub fn zip(a: &Matrices, b: &Matrices, f: impl Fn(Complex, Complex) -> Complex) -> Matrices {
    map(a, |l, j, c| f(a.get(l, j, c), b.get(l, j, c)))
}

/// A B^dagger.
pub fn times_dagger(a: &Matrices, b: &Matrices) -> Matrices {
    map(a, |l, j, c| (0..a.side()).fold(Complex::ZERO, |sum, k| sum + a.get(l, j, k) * b.get(l, c, k).conj()))
}

pub fn rotated(a: &Matrices, r: Rotation) -> Matrices {
    let shift = |i: usize, by: i64, len: usize| (i as i64 + by).rem_euclid(len as i64) as usize;
    let (count, n) = (a.count(), a.side());
    map(a, |l, j, c| a.get(shift(l, r.batch, count), shift(j, r.rows, n), shift(c, r.columns, n)))
}

/// Root mean square of the entries.
pub fn rms(a: &Matrices) -> f64 {
    let total: f64 = a.entries().iter().map(|z| z.norm_squared()).sum();
    (total / a.entries().len() as f64).sqrt()
}

/// Root mean square of the differences.
pub fn error(found: &Matrices, expected: &Matrices) -> f64 {
    assert_eq!((found.count(), found.side()), (expected.count(), expected.side()));
    rms(&zip(found, expected, |x, y| x - y))
}

/// Largest difference.
pub fn max_error(found: &Matrices, expected: &Matrices) -> f64 {
    zip(found, expected, |x, y| x - y).entries().iter().map(|z| z.abs()).fold(0.0, f64::max)
}
