//! The canonical embedding: complex slots <-> real coefficients, in f64, for both rings.
//!
//! A polynomial m is determined by its values at half of the roots; the other half are the complex conjugates.
//! - R(n, p), coefficients `c[t][x]` of W^(gamma^t) X^x at t 2n + x: slot l n + j is m(zeta^(5^j), eta^(gamma^l)) with
//!   zeta = e^(2 pi i / 4n), eta = e^(2 pi i / p) and gamma the smallest generator mod p.
//! - `Z[X]/(X^N + 1)`: the same without W and with n = N/2; slot j is m(zeta^(5^j)).
//!
//! Because zeta^n = i at every slot, `c[t][x] + i c[t][n + x]` are n complex coefficients, and because 5^j = 1 + 4 e_j, the
//! values along X are a discrete Fourier transform of length n after the twist by zeta^x, in the order e_j. Along W,
//! z_l = sum_t c_t eta^(gamma^(l+t)) is a cyclic correlation of length p - 1 with a fixed vector (Rader, "Discrete Fourier
//! transforms when the number of data samples is prime", 1968), whose spectrum consists of Gauss sums of equal size: the
//! transform is well conditioned. Both directions take O(N log N) operations, with errors of about 2^-50 relative to the
//! root mean square.

use crate::math::fft::{Complex, Fft};
use crate::math::ntt::bit_reverse;
use crate::math::prime::primitive_root;
use crate::ring::RingSpec;
use thiserror::Error;

/// Coefficients returned by [`Embedding::encode`] are smaller than this in absolute value.
pub const COEFFICIENT_LIMIT: f64 = (1u64 << 62) as f64;

/// Why slots have no encoding.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum EncodeError {
    /// More values than slots.
    #[error("{given} values do not fit into {available} slots")]
    TooManySlots {
        /// values given
        given: usize,
        /// slots of the ring
        available: usize,
    },
    /// A value is infinite or not a number.
    #[error("slot {index} holds a value that is not finite")]
    NotFinite {
        /// its position
        index: usize,
    },
    /// Rounding at this scale would leave the range of coefficients.
    #[error(
        "a coefficient of the encoding is {value:e}, the limit is {limit:e}: the scale {scale:e} is too large"
    )]
    TooLarge {
        /// the scaled coefficient
        value: f64,
        /// [`COEFFICIENT_LIMIT`]
        limit: f64,
        /// the scale asked for
        scale: f64,
    },
}

/// Tables of the embedding of one ring.
#[derive(Clone, Debug)]
pub struct Embedding {
    /// complex coefficients along X
    n: usize,
    along_x: Fft,
    /// zeta^x
    twist: Vec<Complex>,
    /// position after the transform along X of slot j
    position: Vec<usize>,
    along_w: Option<BatchTransform>,
}

impl Embedding {
    /// Tables for a ring.
    pub fn new(spec: RingSpec) -> Embedding {
        let (n, along_w) = match spec {
            RingSpec::PowerOfTwo { log_n } => ((1 << log_n) / 2, None),
            RingSpec::Gl { n, p } => (n, Some(BatchTransform::new(p))),
        };
        let order = 4 * n as u64;
        let mut power = 1;
        let position = (0..n)
            .map(|_| {
                let e = (power / 4) as usize;
                power = power * 5 % order;
                bit_reverse(e, n.trailing_zeros())
            })
            .collect();
        let twist = (0..n as u64).map(|x| Complex::root_of_unity(x, order)).collect();
        Embedding { n, along_x: Fft::new(n), twist, position, along_w }
    }

    /// Number of complex slots, half the ring dimension.
    pub fn slots(&self) -> usize {
        self.n * self.along_w.as_ref().map_or(1, |w| w.length)
    }

    /// The real coefficients, before rounding, of the polynomial with these values, times `scale`. Missing slots are 0.
    ///
    /// # Errors
    /// [`EncodeError::TooManySlots`], [`EncodeError::NotFinite`].
    pub fn coefficients(&self, slots: &[Complex], scale: f64) -> Result<Vec<f64>, EncodeError> {
        if slots.len() > self.slots() {
            return Err(EncodeError::TooManySlots { given: slots.len(), available: self.slots() });
        }
        if let Some(index) = slots.iter().position(|z| !z.is_finite()) {
            return Err(EncodeError::NotFinite { index });
        }
        let n = self.n;
        let mut rows = vec![Complex::ZERO; self.slots()];
        for (row, values) in rows.chunks_exact_mut(n).zip(slots.chunks(n)) {
            for (&position, &z) in self.position.iter().zip(values) {
                row[position] = z;
            }
            self.along_x.inverse(row);
            for (c, w) in row.iter_mut().zip(&self.twist) {
                *c = (*c * w.conj()).scale(scale / n as f64);
            }
        }
        if let Some(along_w) = &self.along_w {
            along_w.coefficients(&mut rows);
        }
        let mut coeffs = Vec::with_capacity(2 * rows.len());
        for row in rows.chunks_exact(n) {
            coeffs.extend(row.iter().map(|c| c.re));
            coeffs.extend(row.iter().map(|c| c.im));
        }
        Ok(coeffs)
    }

    /// The integer coefficients of the polynomial whose values are `scale` times these slots, rounded to nearest.
    /// Missing slots are 0.
    ///
    /// # Errors
    /// [`EncodeError`], when there are too many values, one is not finite, or a coefficient reaches
    /// [`COEFFICIENT_LIMIT`].
    pub fn encode(&self, slots: &[Complex], scale: f64) -> Result<Vec<i64>, EncodeError> {
        let limit = COEFFICIENT_LIMIT;
        self.coefficients(slots, scale)?
            .into_iter()
            .map(|c| match c.round_ties_even() {
                value if value.abs() < limit => Ok(value as i64),
                value => Err(EncodeError::TooLarge { value, limit, scale }),
            })
            .collect()
    }

    /// The values at the slots of the polynomial with these coefficients (as many as the ring dimension).
    pub fn decode(&self, coeffs: &[f64]) -> Vec<Complex> {
        debug_assert_eq!(coeffs.len(), 2 * self.slots());
        let n = self.n;
        let mut rows = Vec::with_capacity(self.slots());
        for row in coeffs.chunks_exact(2 * n) {
            let (re, im) = row.split_at(n);
            rows.extend(re.iter().zip(im).zip(&self.twist).map(|((&re, &im), &w)| Complex::new(re, im) * w));
        }
        if let Some(along_w) = &self.along_w {
            along_w.values(&mut rows);
        }
        let mut slots = Vec::with_capacity(self.slots());
        for row in rows.chunks_exact_mut(n) {
            self.along_x.forward(row);
            slots.extend(self.position.iter().map(|&position| row[position]));
        }
        slots
    }
}

/// The transform along W on all columns: coefficients in the basis W^(gamma^t), t < p - 1 <-> values at eta^(gamma^l).
#[derive(Clone, Debug)]
struct BatchTransform {
    /// p - 1
    length: usize,
    /// of length p - 1 where that is a power of two, otherwise long enough not to wrap
    fft: Fft,
    /// spectrum of eta^(gamma^t)
    forward: Vec<Complex>,
    /// spectrum of (eta^(-gamma^t) - 1) / p
    inverse: Vec<Complex>,
}

impl BatchTransform {
    fn new(p: usize) -> BatchTransform {
        let (order, length) = (p as u64, p - 1);
        let gamma = primitive_root(order);
        let powers: Vec<u64> =
            std::iter::successors(Some(1), |power| Some(power * gamma % order)).take(length).collect();
        let period = if length.is_power_of_two() { length } else { (2 * length).next_power_of_two() };
        let fft = Fft::new(period);
        let spectrum = |kernel: &dyn Fn(u64) -> Complex| {
            let mut a: Vec<Complex> =
                (0..period).map(|i| kernel(powers[i % length]).scale(1.0 / period as f64)).collect();
            fft.forward(&mut a);
            a
        };
        let forward = spectrum(&|power| Complex::root_of_unity(power, order));
        let inverse = spectrum(&|power| {
            (Complex::root_of_unity(power, order).conj() - Complex::ONE).scale(1.0 / p as f64)
        });
        BatchTransform { length, fft, forward, inverse }
    }

    fn values(&self, rows: &mut [Complex]) {
        self.correlate(rows, &self.forward);
    }

    fn coefficients(&self, rows: &mut [Complex]) {
        self.correlate(rows, &self.inverse);
    }

    /// Rows a_t -> rows sum_t a_t k_(t + u), k the kernel of this spectrum: the cyclic convolution of k with the
    /// reversed rows.
    fn correlate(&self, rows: &mut [Complex], spectrum: &[Complex]) {
        let (width, period) = (rows.len() / self.length, self.fft.length());
        let mut padded = vec![Complex::ZERO; period * width];
        for (t, row) in rows.chunks_exact(width).enumerate() {
            padded[(period - t) % period * width..][..width].copy_from_slice(row);
        }
        self.fft.forward(&mut padded);
        for (row, &k) in padded.chunks_exact_mut(width).zip(spectrum) {
            row.iter_mut().for_each(|a| *a = *a * k);
        }
        self.fft.inverse(&mut padded);
        rows.copy_from_slice(&padded[..rows.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RINGS: [RingSpec; 8] = [
        RingSpec::PowerOfTwo { log_n: 3 },
        RingSpec::PowerOfTwo { log_n: 8 },
        RingSpec::Gl { n: 4, p: 3 },
        RingSpec::Gl { n: 4, p: 5 },
        RingSpec::Gl { n: 8, p: 7 },
        RingSpec::Gl { n: 4, p: 13 },
        RingSpec::Gl { n: 8, p: 17 },
        RingSpec::Gl { n: 4, p: 37 },
    ];

    fn random(count: usize, seed: u64) -> Vec<Complex> {
        let mut state = seed;
        let mut unit = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..count).map(|_| Complex::new(unit(), unit())).collect()
    }

    fn distance(a: &[Complex], b: &[Complex]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(x, y)| (*x - *y).abs()).fold(0.0, f64::max)
    }

    fn dimensions(spec: RingSpec) -> (usize, usize) {
        match spec {
            RingSpec::PowerOfTwo { log_n } => ((1 << log_n) / 2, 2),
            RingSpec::Gl { n, p } => (n, p),
        }
    }

    /// `c[t][x]` -> values at every slot, by sums; p = 2 stands for the ring without W.
    fn by_definition(coeffs: &[f64], n: usize, p: usize) -> Vec<Complex> {
        let (order, gamma) = (4 * n as u64, primitive_root(p as u64));
        let power = |base: u64, e: usize, modulus: u64| (0..e).fold(1, |x, _| x * base % modulus);
        let value = |l: usize, j: usize| {
            (0..coeffs.len()).fold(Complex::ZERO, |sum, i| {
                let (t, x) = (i / (2 * n), (i % (2 * n)) as u64);
                let along_w = if p == 2 {
                    Complex::ONE
                } else {
                    Complex::root_of_unity(power(gamma, l + t, p as u64), p as u64)
                };
                sum + (along_w * Complex::root_of_unity(power(5, j, order) * x, order)).scale(coeffs[i])
            })
        };
        (0..(p - 1) * n).map(|i| value(i / n, i % n)).collect()
    }

    /// X^x -> X^(x e), W^(gamma^t) -> W^(gamma^(t + r)) on coefficients.
    fn automorphism(coeffs: &[i64], n: usize, e: usize, r: usize) -> Vec<f64> {
        let mut out = vec![0.0; coeffs.len()];
        for (i, &c) in coeffs.iter().enumerate() {
            let (t, x) = (i / (2 * n), i % (2 * n) * e % (4 * n));
            let t = (t + r) % (coeffs.len() / (2 * n));
            out[t * 2 * n + x % (2 * n)] = if x < 2 * n { c as f64 } else { -c as f64 };
        }
        out
    }

    #[test]
    fn decoding_agrees_with_the_definition() {
        for spec in RINGS {
            let (n, p) = dimensions(spec);
            let embedding = Embedding::new(spec);
            let coeffs: Vec<f64> = random(embedding.slots(), 1).iter().flat_map(|z| [z.re, z.im]).collect();
            let error = distance(&embedding.decode(&coeffs), &by_definition(&coeffs, n, p));
            assert!(error < 1e-13 * coeffs.len() as f64, "{spec:?}: {error:e}");
        }
    }

    #[test]
    fn encoding_inverts_decoding_to_45_bits() {
        let large = [
            RingSpec::PowerOfTwo { log_n: 15 },
            RingSpec::Gl { n: 64, p: 257 },
            RingSpec::Gl { n: 32, p: 1153 },
            RingSpec::Gl { n: 4, p: 1999 },
        ];
        for spec in RINGS.into_iter().chain(large) {
            let embedding = Embedding::new(spec);
            let slots = random(embedding.slots(), 2);
            let coeffs = embedding.coefficients(&slots, 1.0).expect("finite");
            let error = distance(&embedding.decode(&coeffs), &slots);
            assert!(error < 2f64.powi(-47), "{spec:?}: {error:e}");
        }
    }

    #[test]
    fn automorphisms_rotate_and_conjugate() {
        for spec in RINGS {
            let (n, p) = dimensions(spec);
            let embedding = Embedding::new(spec);
            let slots = random(embedding.slots(), 3);
            let scale = 2f64.powi(50);
            let coeffs = embedding.encode(&slots, scale).expect("encodes");
            let check = |e: usize, r: usize, image: &dyn Fn(usize, usize) -> Complex| {
                let found = embedding.decode(&automorphism(&coeffs, n, e, r));
                let expected: Vec<Complex> =
                    (0..slots.len()).map(|i| image(i / n, i % n).scale(scale)).collect();
                assert!(distance(&found, &expected) < 2f64.powi(-40) * scale, "{spec:?} {e} {r}");
            };
            check(5, 0, &|l, j| slots[l * n + (j + 1) % n]);
            check(1, 1, &|l, j| slots[(l + 1) % (p - 1) * n + j]);
            check(25, p / 3, &|l, j| slots[(l + p / 3) % (p - 1) * n + (j + 2) % n]);
            check(4 * n - 1, (p - 1) / 2, &|l, j| slots[l * n + j].conj());
        }
    }

    #[test]
    fn what_has_no_encoding_is_refused() {
        let embedding = Embedding::new(RingSpec::Gl { n: 4, p: 5 });
        assert_eq!(embedding.slots(), 16);
        let mut slots = vec![Complex::ONE; 17];
        assert_eq!(
            embedding.encode(&slots, 1.0),
            Err(EncodeError::TooManySlots { given: 17, available: 16 })
        );
        slots.pop();
        slots[5].im = f64::NAN;
        assert_eq!(embedding.encode(&slots, 1.0), Err(EncodeError::NotFinite { index: 5 }));
        slots[5].im = 1e3;
        assert!(matches!(
            embedding.encode(&slots, 1e18),
            Err(EncodeError::TooLarge { limit: COEFFICIENT_LIMIT, .. })
        ));
        assert!(embedding.encode(&slots[..3], f64::INFINITY).is_err());
    }
}
