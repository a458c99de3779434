//! Products of vectors of residues, place by place, and their sums.

use crate::math::modulus::{Modulus, Shoup};
use crate::math::simd::{Products as Fast, Simd};

/// The most terms of a sum: products of two residues below 2^61, summed in 128 bits.
pub(crate) const MAX_TERMS: usize = 60;

/// Places worked on together: their sums stay in the first-level cache.
const BLOCK: usize = 256;

/// Operations modulo one prime, on residues unless it says otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Products<'a> {
    modulus: &'a Modulus,
    fast: Option<Fast>,
}

impl<'a> Products<'a> {
    /// With the kernels in use.
    pub(crate) fn new(modulus: &'a Modulus) -> Products<'a> {
        Products::with(Simd::active(), modulus)
    }

    pub(in crate::math) fn with(simd: Simd, modulus: &'a Modulus) -> Products<'a> {
        let fast = match simd {
            Simd::Portable => None,
            Simd::Avx2(proof) => Fast::new(proof, *modulus),
        };
        Products { modulus, fast }
    }

    /// a *= b.
    pub(crate) fn mul_assign(&self, a: &mut [u64], b: &[u64]) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.mul_assign(a, b));
        for (x, &y) in a[done..].iter_mut().zip(&b[done..]) {
            *x = self.modulus.mul(*x, y);
        }
    }

    /// sum += a b.
    pub(crate) fn mul_add_assign(&self, sum: &mut [u64], a: &[u64], b: &[u64]) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.mul_add_assign(sum, a, b));
        for ((s, &x), &y) in sum[done..].iter_mut().zip(&a[done..]).zip(&b[done..]) {
            *s = self.modulus.add(*s, self.modulus.mul(x, y));
        }
    }

    /// a *= c.
    pub(crate) fn scale(&self, a: &mut [u64], c: Shoup) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.scale(a, c));
        for x in &mut a[done..] {
            *x = self.modulus.mul_shoup(*x, c);
        }
    }

    /// a = (b - a) c.
    pub(crate) fn scale_difference(&self, a: &mut [u64], b: &[u64], c: Shoup) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.scale_difference(a, b, c));
        let (m, q) = (self.modulus, self.modulus.value());
        for (x, &y) in a[done..].iter_mut().zip(&b[done..]) {
            *x = m.mul_shoup(y + q - *x, c);
        }
    }

    /// out = sum_i a_i b_i, at most [`MAX_TERMS`] terms.
    pub(crate) fn sum_of_products(&self, terms: &[(&[u64], &[u64])], out: &mut [u64]) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.sum_of_products(terms, out));
        let mut sums = [0u128; BLOCK];
        for (block, out) in out[done..].chunks_mut(BLOCK).enumerate() {
            let range = done + block * BLOCK..done + block * BLOCK + out.len();
            let sums = &mut sums[..out.len()];
            sums.fill(0);
            for (a, b) in terms {
                for ((sum, &x), &y) in sums.iter_mut().zip(&a[range.clone()]).zip(&b[range.clone()]) {
                    *sum += u128::from(x) * u128::from(y);
                }
            }
            for (x, &sum) in out.iter_mut().zip(&*sums) {
                *x = self.modulus.reduce_wide(sum);
            }
        }
    }

    /// out = sum_i c_i a_i for residues c_i and any words a_i below 2^`bits`, `bits` <= 61; at most [`MAX_TERMS`] + 1 terms.
    pub(crate) fn combination(&self, terms: &[(&[u64], u64)], bits: u32, out: &mut [u64]) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.combination(terms, bits, out));
        let mut sums = [0u128; BLOCK];
        for (block, out) in out[done..].chunks_mut(BLOCK).enumerate() {
            let range = done + block * BLOCK..done + block * BLOCK + out.len();
            let sums = &mut sums[..out.len()];
            sums.fill(0);
            for &(a, c) in terms {
                for (sum, &x) in sums.iter_mut().zip(&a[range.clone()]) {
                    *sum += u128::from(x) * u128::from(c);
                }
            }
            for (x, &sum) in out.iter_mut().zip(&*sums) {
                *x = self.modulus.reduce_wide(sum);
            }
        }
    }
}
