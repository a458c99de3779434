//! Products of vectors and their sums, as [`Products`](crate::math::products::Products): every function works on whole
//! groups of four places and returns how many places it has done.
//!
//! *Ranges.* Products are within 3q/4 of zero; up to [`FREE_TERMS`] of them, below 2^47, are summed without a reduction:
//! 40 (3/4) 2^47 < 2^52. Otherwise sums are reduced term by term: q/2 + q < 2^52.

use super::Avx2;
use super::butterflies::NARROW_BITS;
use super::field::{
    Constant, Factor, Field, MAX_BITS, Quad, from_words, load_words, small_to_words, store_words,
};
use crate::math::modulus::{Modulus, Shoup};
use crate::math::products::{Start, Terms};
use std::arch::x86_64::*;

const FREE_TERMS: usize = 40;
/// Words that enter as doubles, to be multiplied by constants.
const MAX_WORD_BITS: u32 = 52;

#[derive(Clone, Debug)]
pub(crate) struct Products {
    proof: Avx2,
    modulus: Modulus,
}

impl Products {
    /// `None` when the modulus is too large.
    pub(crate) fn new(proof: Avx2, modulus: Modulus) -> Option<Products> {
        (modulus.bits() <= MAX_BITS).then_some(Products { proof, modulus })
    }

    fn reduces_terms(&self, terms: usize) -> bool {
        self.modulus.bits() > NARROW_BITS || terms > FREE_TERMS
    }

    pub(crate) fn add_assign(&self, a: &mut [u64], b: &[u64]) -> usize {
        let (Avx2(()), a, b) = (self.proof, a.as_chunks_mut().0, b.as_chunks().0);
        // SAFETY: the proof at hand says that the machine has the features.
        unsafe { add_assign(&self.modulus, a, b) };
        4 * a.len()
    }

    pub(crate) fn sub_assign(&self, a: &mut [u64], b: &[u64]) -> usize {
        let (Avx2(()), a, b) = (self.proof, a.as_chunks_mut().0, b.as_chunks().0);
        // SAFETY: as above.
        unsafe { sub_assign(&self.modulus, a, b) };
        4 * a.len()
    }

    pub(crate) fn neg_assign(&self, a: &mut [u64]) -> usize {
        let (Avx2(()), a) = (self.proof, a.as_chunks_mut().0);
        // SAFETY: as above.
        unsafe { neg_assign(&self.modulus, a) };
        4 * a.len()
    }

    pub(crate) fn mul_assign(&self, a: &mut [u64], b: &[u64]) -> usize {
        let (Avx2(()), a, b) = (self.proof, a.as_chunks_mut().0, b.as_chunks().0);
        // SAFETY: the proof at hand says that the machine has the features.
        unsafe { mul_assign(&self.modulus, a, b) };
        4 * a.len()
    }

    pub(crate) fn mul_add_assign(&self, sum: &mut [u64], a: &[u64], b: &[u64]) -> usize {
        let (Avx2(()), sum) = (self.proof, sum.as_chunks_mut().0);
        // SAFETY: as above.
        unsafe { mul_add_assign(&self.modulus, sum, a.as_chunks().0, b.as_chunks().0) };
        4 * sum.len()
    }

    pub(crate) fn scale(&self, a: &mut [u64], c: Shoup) -> usize {
        let (Avx2(()), a) = (self.proof, a.as_chunks_mut().0);
        // SAFETY: as above.
        unsafe { scale(&self.modulus, a, c) };
        4 * a.len()
    }

    pub(crate) fn scale_difference(&self, a: &mut [u64], b: &[u64], c: Shoup) -> usize {
        let (Avx2(()), a) = (self.proof, a.as_chunks_mut().0);
        // SAFETY: as above.
        unsafe { scale_difference(&self.modulus, a, b.as_chunks().0, c) };
        4 * a.len()
    }

    pub(crate) fn scale_add_assign(&self, sum: &mut [u64], a: &[u64], c: Shoup) -> usize {
        let (Avx2(()), sum) = (self.proof, sum.as_chunks_mut().0);
        // SAFETY: as above.
        unsafe { scale_add_assign(&self.modulus, sum, a.as_chunks().0, c) };
        4 * sum.len()
    }

    pub(crate) fn sums_of_products<const C: usize>(
        &self,
        start: [Start; C],
        terms: &Terms<C>,
        out: [&mut [u64]; C],
    ) -> usize {
        let Avx2(()) = self.proof;
        let out = out.map(|out| out.as_chunks_mut::<4>().0);
        let len = out[0].len();
        fn quads(x: &[u64], len: usize) -> &[Quad] {
            &x.as_chunks().0[..len]
        }
        let terms: Vec<_> = terms.iter().map(|(a, b)| (quads(a, len), b.map(|b| quads(b, len)))).collect();
        let constant = |c: Shoup| Constant::new(&self.modulus, c.value);
        let start = start.map(|start| start.map(|(x, c)| (quads(x, len), constant(c))));
        // SAFETY: as above.
        unsafe {
            if self.reduces_terms(terms.len() + 1) {
                sums_of_products::<C, true>(&self.modulus, start, &terms, out);
            } else {
                sums_of_products::<C, false>(&self.modulus, start, &terms, out);
            }
        }
        4 * len
    }

    pub(crate) fn combination(&self, terms: &[(&[u64], u64)], bits: u32, out: &mut [u64]) -> usize {
        if bits > MAX_WORD_BITS {
            return 0;
        }
        let (Avx2(()), out, m) = (self.proof, out.as_chunks_mut().0, &self.modulus);
        let terms: Vec<(&[Quad], Constant)> =
            terms.iter().map(|&(a, c)| (&a.as_chunks().0[..out.len()], Constant::new(m, c))).collect();
        // SAFETY: as above.
        unsafe {
            if self.reduces_terms(terms.len()) {
                combination::<true>(m, &terms, out);
            } else {
                combination::<false>(m, &terms, out);
            }
        }
        4 * out.len()
    }
}

/// As [`round_sum`](crate::math::rns), with products and sums rounded one by one as there.
pub(crate) fn sum_of_fractions(proof: Avx2, terms: &[(&[u64], f64)], bits: u32, out: &mut [u64]) -> usize {
    if bits > MAX_WORD_BITS {
        return 0;
    }
    let (Avx2(()), out) = (proof, out.as_chunks_mut().0);
    let terms: Vec<(&[Quad], f64)> = terms.iter().map(|&(x, f)| (&x.as_chunks().0[..out.len()], f)).collect();
    // SAFETY: the proof at hand says that the machine has the features.
    unsafe { round_sum(&terms, out) };
    4 * out.len()
}

#[target_feature(enable = "avx2,fma")]
fn round_sum(terms: &[(&[Quad], f64)], out: &mut [Quad]) {
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = _mm256_set1_pd(0.5);
        for &(x, f) in terms {
            sum = _mm256_add_pd(sum, _mm256_mul_pd(from_words(load_words(&x[i])), _mm256_set1_pd(f)));
        }
        store_words(out, small_to_words(_mm256_floor_pd(sum)));
    }
}

/// Words in [-q, q) -> residues: the sign tells.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn add_if_negative(x: __m256i, q: __m256i) -> __m256i {
    let sign = _mm256_castsi256_pd(x);
    _mm256_castpd_si256(_mm256_blendv_pd(sign, _mm256_castsi256_pd(_mm256_add_epi64(x, q)), sign))
}

#[target_feature(enable = "avx2,fma")]
fn add_assign(m: &Modulus, a: &mut [Quad], b: &[Quad]) {
    let q = _mm256_set1_epi64x(m.value() as i64);
    for (x, y) in a.iter_mut().zip(b) {
        let sum = _mm256_add_epi64(load_words(x), load_words(y));
        store_words(x, add_if_negative(_mm256_sub_epi64(sum, q), q));
    }
}

#[target_feature(enable = "avx2,fma")]
fn sub_assign(m: &Modulus, a: &mut [Quad], b: &[Quad]) {
    let q = _mm256_set1_epi64x(m.value() as i64);
    for (x, y) in a.iter_mut().zip(b) {
        store_words(x, add_if_negative(_mm256_sub_epi64(load_words(x), load_words(y)), q));
    }
}

#[target_feature(enable = "avx2,fma")]
fn neg_assign(m: &Modulus, a: &mut [Quad]) {
    let (q, zero) = (_mm256_set1_epi64x(m.value() as i64), _mm256_setzero_si256());
    for x in a {
        store_words(x, add_if_negative(_mm256_sub_epi64(zero, load_words(x)), q));
    }
}

#[target_feature(enable = "avx2,fma")]
fn mul_assign(m: &Modulus, a: &mut [Quad], b: &[Quad]) {
    let f = Field::new(m);
    for (x, y) in a.iter_mut().zip(b) {
        let product = f.mul(from_words(load_words(x)), from_words(load_words(y)));
        store_words(x, f.to_words(product));
    }
}

#[target_feature(enable = "avx2,fma")]
fn mul_add_assign(m: &Modulus, sum: &mut [Quad], a: &[Quad], b: &[Quad]) {
    let f = Field::new(m);
    for ((s, x), y) in sum.iter_mut().zip(a).zip(b) {
        let product = f.mul(from_words(load_words(x)), from_words(load_words(y)));
        let total = _mm256_add_pd(from_words(load_words(s)), product);
        store_words(s, f.to_words(f.reduce(total)));
    }
}

#[target_feature(enable = "avx2,fma")]
fn scale(m: &Modulus, a: &mut [Quad], c: Shoup) {
    let (f, c) = (Field::new(m), Factor::splat(Constant::new(m, c.value)));
    for x in a {
        store_words(x, f.to_words(f.scale(from_words(load_words(x)), c)));
    }
}

#[target_feature(enable = "avx2,fma")]
fn scale_difference(m: &Modulus, a: &mut [Quad], b: &[Quad], c: Shoup) {
    let (f, c) = (Field::new(m), Factor::splat(Constant::new(m, c.value)));
    for (x, y) in a.iter_mut().zip(b) {
        let difference = _mm256_sub_pd(from_words(load_words(y)), from_words(load_words(x)));
        store_words(x, f.to_words(f.scale(difference, c)));
    }
}

#[target_feature(enable = "avx2,fma")]
fn scale_add_assign(m: &Modulus, sum: &mut [Quad], a: &[Quad], c: Shoup) {
    let (f, c) = (Field::new(m), Factor::splat(Constant::new(m, c.value)));
    for (s, x) in sum.iter_mut().zip(a) {
        let total = _mm256_add_pd(from_words(load_words(s)), f.scale(from_words(load_words(x)), c));
        store_words(s, f.to_words(f.reduce(total)));
    }
}

#[target_feature(enable = "avx2,fma")]
fn sums_of_products<const C: usize, const WIDE: bool>(
    m: &Modulus,
    start: [Option<(&[Quad], Constant)>; C],
    terms: &[(&[Quad], [&[Quad]; C])],
    out: [&mut [Quad]; C],
) {
    let (f, len) = (Field::new(m), out[0].len());
    let pairs = len - len % 2;
    for at in (0..pairs).step_by(2) {
        let sums = sums_at::<C, 2, WIDE>(f, start, terms, at);
        for c in 0..C {
            store_residues(f, &mut out[c][at..at + 2], sums[c]);
        }
    }
    for at in pairs..len {
        let sums = sums_at::<C, 1, WIDE>(f, start, terms, at);
        for c in 0..C {
            store_residues(f, &mut out[c][at..at + 1], sums[c]);
        }
    }
}

/// W vectors from place `at` of each sum.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn sums_at<const C: usize, const W: usize, const WIDE: bool>(
    f: Field,
    start: [Option<(&[Quad], Constant)>; C],
    terms: &[(&[Quad], [&[Quad]; C])],
    at: usize,
) -> [[__m256d; W]; C] {
    let mut sums = [[_mm256_setzero_pd(); W]; C];
    for c in 0..C {
        if let Some((x, factor)) = start[c] {
            let (x, factor) = (&x[at..at + W], Factor::splat(factor));
            for w in 0..W {
                sums[c][w] = f.scale(from_words(load_words(&x[w])), factor);
            }
        }
    }
    for (a, b) in terms {
        let mut left = [_mm256_setzero_pd(); W];
        for (left, a) in left.iter_mut().zip(&a[at..at + W]) {
            *left = from_words(load_words(a));
        }
        for c in 0..C {
            let b = &b[c][at..at + W];
            for w in 0..W {
                let product = f.mul(left[w], from_words(load_words(&b[w])));
                sums[c][w] = _mm256_add_pd(sums[c][w], product);
                if WIDE {
                    sums[c][w] = f.reduce(sums[c][w]);
                }
            }
        }
    }
    sums
}

#[target_feature(enable = "avx2,fma")]
fn combination<const WIDE: bool>(m: &Modulus, terms: &[(&[Quad], Constant)], out: &mut [Quad]) {
    let f = Field::new(m);
    let (fours, rest) = out.as_chunks_mut::<4>();
    let done = 4 * fours.len();
    for (i, out) in fours.iter_mut().enumerate() {
        store_residues(f, out, combination_at::<4, WIDE>(f, terms, 4 * i));
    }
    for (i, out) in rest.iter_mut().enumerate() {
        store_residues(f, std::slice::from_mut(out), combination_at::<1, WIDE>(f, terms, done + i));
    }
}

/// W vectors from place `at`.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn combination_at<const W: usize, const WIDE: bool>(
    f: Field,
    terms: &[(&[Quad], Constant)],
    at: usize,
) -> [__m256d; W] {
    let mut sums = [_mm256_setzero_pd(); W];
    for &(a, c) in terms {
        let (a, c) = (&a[at..at + W], Factor::splat(c));
        for w in 0..W {
            sums[w] = _mm256_add_pd(sums[w], f.scale(from_words(load_words(&a[w])), c));
            if WIDE {
                sums[w] = f.reduce(sums[w]);
            }
        }
    }
    sums
}

/// Stores the residues of any numbers that can be reduced.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn store_residues<const W: usize>(f: Field, to: &mut [Quad], x: [__m256d; W]) {
    for (to, x) in to.iter_mut().zip(x) {
        store_words(to, f.to_words(f.reduce(x)));
    }
}
