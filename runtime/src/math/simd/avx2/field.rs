//! Arithmetic modulo q < 2^51 on four lanes of doubles that hold integers.
//!
//! A product is computed exactly: h = fl(x y) and l = x y - h (one fused operation) sum to x y; with k the integer nearest
//! to an estimate of x y / q, h - k q is an integer below 2^53 in absolute value, so one fused operation finds it exactly,
//! and so is r = (h - k q) + l. Results are signed; nothing is normalised before the end.
//!
//! *Ranges.* The magic number 1.5 2^52 rounds an estimate t to an integer for |t| <= 2^51.
//!
//! * Constant w, |w| <= q/2, and |x| <= 2^52: t = x fl(w / q) is off by at most 2^52 2^-1 2^-53 = 1/4, so |r| <= 3q/4.
//! * Residues x and y in [0, q): t = h fl(1 / q) is off by less than q 2^-52 (1 + 2^-53) <= 1/2, so |r| < q; for q < 2^50
//!   again |r| <= 3q/4.
//! * Reduction of |x| <= 2^52: t = x fl(1 / q) is off by at most 2^-1 / q, so |r| <= (q + 1)/2, which is less than q.

use crate::math::modulus::Modulus;
use std::arch::x86_64::*;

/// Four words, or the bits of four doubles.
pub(super) type Quad = [u64; 4];

/// Moduli are below 2^51.
pub(super) const MAX_BITS: u32 = 51;

/// 1.5 2^52: sums with it are rounded to integers.
const MAGIC: f64 = 6_755_399_441_055_744.0;
/// 2^52: its bits or-ed with x < 2^52 are those of 2^52 + x.
const SHIFT: f64 = 4_503_599_627_370_496.0;

/// A constant w in (-q/2, q/2) and w / q.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Constant {
    value: f64,
    ratio: f64,
}

impl Constant {
    /// For a residue w.
    pub(super) fn new(m: &Modulus, w: u64) -> Constant {
        let value = m.center(w) as f64;
        Constant { value, ratio: value / m.value() as f64 }
    }
}

/// A constant in every lane.
#[derive(Clone, Copy)]
pub(super) struct Factor {
    value: __m256d,
    ratio: __m256d,
}

impl Factor {
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(super) fn splat(c: Constant) -> Factor {
        Factor { value: _mm256_set1_pd(c.value), ratio: _mm256_set1_pd(c.ratio) }
    }
}

/// The modulus in every lane.
#[derive(Clone, Copy)]
pub(super) struct Field {
    q: __m256d,
    inverse: __m256d,
    /// q + 2^52
    shifted: __m256d,
}

impl Field {
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(super) fn new(m: &Modulus) -> Field {
        let q = m.value() as f64;
        Field { q: _mm256_set1_pd(q), inverse: _mm256_set1_pd(1.0 / q), shifted: _mm256_set1_pd(q + SHIFT) }
    }

    /// Constants w, |w| <= q/2, with ratios from a product: off by 2^-52 (1 + 2^-53) of themselves at most, so that
    /// [`Field::scale`] is within q (1/2 + |x| 2^-53) of zero, for |x| <= 2^52.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(super) fn factor(self, value: __m256d) -> Factor {
        Factor { value, ratio: _mm256_mul_pd(value, self.inverse) }
    }

    /// x w mod q, within 3q/4 of zero, for |x| <= 2^52.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(super) fn scale(self, x: __m256d, w: Factor) -> __m256d {
        let high = _mm256_mul_pd(x, w.value);
        let low = _mm256_fmsub_pd(x, w.value, high);
        let quotient = rounded_product(x, w.ratio);
        _mm256_add_pd(_mm256_fnmadd_pd(quotient, self.q, high), low)
    }

    /// x y mod q, less than q from zero, for residues x and y.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(super) fn mul(self, x: __m256d, y: __m256d) -> __m256d {
        let high = _mm256_mul_pd(x, y);
        let low = _mm256_fmsub_pd(x, y, high);
        let quotient = rounded_product(high, self.inverse);
        _mm256_add_pd(_mm256_fnmadd_pd(quotient, self.q, high), low)
    }

    /// x mod q, nearest to zero, for |x| <= 2^52.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(super) fn reduce(self, x: __m256d) -> __m256d {
        _mm256_fnmadd_pd(rounded_product(x, self.inverse), self.q, x)
    }

    /// (x_0, x_1) with x = x_1 `unit` + x_0, |x_0| <= unit/2, for a power of two and |x| <= 2^51 unit.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(super) fn split(self, x: __m256d, unit: f64) -> (__m256d, __m256d) {
        let high = rounded_product(x, _mm256_set1_pd(1.0 / unit));
        (_mm256_fnmadd_pd(high, _mm256_set1_pd(unit), x), high)
    }

    /// The residue in [0, q) of x in (-q, q), as words. The sign of x tells: no operation here makes a negative zero.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(super) fn to_words(self, x: __m256d) -> __m256i {
        let shift = _mm256_set1_pd(SHIFT);
        let (low, high) = (_mm256_add_pd(x, shift), _mm256_add_pd(x, self.shifted));
        _mm256_castpd_si256(_mm256_xor_pd(_mm256_blendv_pd(low, high, x), shift))
    }
}

/// The integer nearest to x y, for |x y| <= 2^51.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn rounded_product(x: __m256d, y: __m256d) -> __m256d {
    let magic = _mm256_set1_pd(MAGIC);
    _mm256_sub_pd(_mm256_fmadd_pd(x, y, magic), magic)
}

/// Words below 2^52 as doubles.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn from_words(x: __m256i) -> __m256d {
    let shift = _mm256_set1_pd(SHIFT);
    _mm256_sub_pd(_mm256_or_pd(_mm256_castsi256_pd(x), shift), shift)
}

/// Integers in [0, 2^52) as words.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn small_to_words(x: __m256d) -> __m256i {
    let shift = _mm256_set1_pd(SHIFT);
    _mm256_castpd_si256(_mm256_xor_pd(_mm256_add_pd(x, shift), shift))
}

#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn load_words(x: &Quad) -> __m256i {
    // SAFETY: the array has the 32 bytes read.
    unsafe { _mm256_loadu_si256(x.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn store_words(to: &mut Quad, x: __m256i) {
    // SAFETY: the array has the 32 bytes written.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), x) }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn load(x: &Quad) -> __m256d {
    _mm256_castsi256_pd(load_words(x))
}

#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn store(to: &mut Quad, x: __m256d) {
    store_words(to, _mm256_castpd_si256(x));
}

/// The four doubles from place `at`.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn load_doubles(x: &[f64], at: usize) -> __m256d {
    let four = &x[at..at + 4];
    // SAFETY: the slice has the 32 bytes read.
    unsafe { _mm256_loadu_pd(four.as_ptr()) }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn store_doubles(to: &mut [f64; 4], x: __m256d) {
    // SAFETY: the array has the 32 bytes written.
    unsafe { _mm256_storeu_pd(to.as_mut_ptr(), x) }
}
