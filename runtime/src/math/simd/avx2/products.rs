//! Products of vectors and their sums, as [`Products`](crate::math::products::Products): every function works on whole
//! groups of four places and returns how many places it has done.
//!
//! *Ranges.* Products are within 3q/4 of zero; up to [`FREE_TERMS`] of them, below 2^47, are summed without a reduction:
//! 40 (3/4) 2^47 < 2^52. Otherwise sums are reduced term by term.

use super::Avx2;
use super::butterflies::NARROW_BITS;
use super::field::{Constant, Factor, Field, MAX_BITS, Quad, from_words, load_words, store_words};
use crate::math::modulus::{Modulus, Shoup};
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

    pub(crate) fn sum_of_products(&self, terms: &[(&[u64], &[u64])], out: &mut [u64]) -> usize {
        let (Avx2(()), out) = (self.proof, out.as_chunks_mut().0);
        let terms: Vec<(&[Quad], &[Quad])> = terms
            .iter()
            .map(|(a, b)| (&a.as_chunks().0[..out.len()], &b.as_chunks().0[..out.len()]))
            .collect();
        // SAFETY: as above.
        unsafe { sum_of_products(&self.modulus, &terms, self.reduces_terms(terms.len()), out) };
        4 * out.len()
    }

    pub(crate) fn combination(&self, terms: &[(&[u64], u64)], bits: u32, out: &mut [u64]) -> usize {
        if bits > MAX_WORD_BITS {
            return 0;
        }
        let (Avx2(()), out, m) = (self.proof, out.as_chunks_mut().0, &self.modulus);
        let terms: Vec<(&[Quad], Constant)> =
            terms.iter().map(|&(a, c)| (&a.as_chunks().0[..out.len()], Constant::new(m, c))).collect();
        // SAFETY: as above.
        unsafe { combination(m, &terms, self.reduces_terms(terms.len()), out) };
        4 * out.len()
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
fn sum_of_products(m: &Modulus, terms: &[(&[Quad], &[Quad])], wide: bool, out: &mut [Quad]) {
    let f = Field::new(m);
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = _mm256_setzero_pd();
        for (a, b) in terms {
            sum = _mm256_add_pd(sum, f.mul(from_words(load_words(&a[i])), from_words(load_words(&b[i]))));
            if wide {
                sum = f.reduce(sum);
            }
        }
        store_words(out, f.to_words(f.reduce(sum)));
    }
}

#[target_feature(enable = "avx2,fma")]
fn combination(m: &Modulus, terms: &[(&[Quad], Constant)], wide: bool, out: &mut [Quad]) {
    let f = Field::new(m);
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = _mm256_setzero_pd();
        for (a, c) in terms {
            sum = _mm256_add_pd(sum, f.scale(from_words(load_words(&a[i])), Factor::splat(*c)));
            if wide {
                sum = f.reduce(sum);
            }
        }
        store_words(out, f.to_words(f.reduce(sum)));
    }
}
