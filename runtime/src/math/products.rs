//! Sums and products of vectors of residues, place by place.

use crate::math::modulus::{Modulus, Shoup};
use crate::math::simd::{Products as Fast, Simd};

/// Products of two residues below 2^61 that may be summed in 128 bits, with room for one residue more.
pub(crate) const MAX_TERMS: usize = 60;

/// Places worked on together: their sums stay in the first-level cache.
const BLOCK: usize = 256;

/// Terms of several sums that share their left factors: a, and one b for each sum.
pub(crate) type Terms<'a, const C: usize> = [(&'a [u64], [&'a [u64]; C])];

/// What the sums start from, where not from zero: a vector times a constant.
pub(crate) type Start<'a> = Option<(&'a [u64], Shoup)>;

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

    /// a += b.
    pub(crate) fn add_assign(&self, a: &mut [u64], b: &[u64]) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.add_assign(a, b));
        for (x, &y) in a[done..].iter_mut().zip(&b[done..]) {
            *x = self.modulus.add(*x, y);
        }
    }

    /// a -= b.
    pub(crate) fn sub_assign(&self, a: &mut [u64], b: &[u64]) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.sub_assign(a, b));
        for (x, &y) in a[done..].iter_mut().zip(&b[done..]) {
            *x = self.modulus.sub(*x, y);
        }
    }

    /// a = -a.
    pub(crate) fn neg_assign(&self, a: &mut [u64]) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.neg_assign(a));
        for x in &mut a[done..] {
            *x = self.modulus.neg(*x);
        }
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

    /// sum += c a.
    pub(crate) fn scale_add_assign(&self, sum: &mut [u64], a: &[u64], c: Shoup) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.scale_add_assign(sum, a, c));
        for (s, &x) in sum[done..].iter_mut().zip(&a[done..]) {
            *s = self.modulus.add(*s, self.modulus.mul_shoup(x, c));
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

    /// out_c = start_c + sum_i a_i b_ic for each c, of any number of terms.
    pub(crate) fn sums_of_products<const C: usize>(
        &self,
        start: [Start; C],
        terms: &Terms<C>,
        mut out: [&mut [u64]; C],
    ) {
        let fast = self.fast.as_ref();
        let done =
            fast.map_or(0, |fast| fast.sums_of_products(start, terms, out.each_mut().map(|x| &mut **x)));
        for (c, out) in out.into_iter().enumerate() {
            self.blocks(out, done, |range, sums| {
                if let Some((x, factor)) = start[c] {
                    for (sum, &x) in sums.iter_mut().zip(&x[range.clone()]) {
                        *sum = u128::from(self.modulus.mul_shoup(x, factor));
                    }
                }
                for (number, (a, b)) in terms.iter().enumerate() {
                    if number % MAX_TERMS == MAX_TERMS - 1 {
                        sums.iter_mut().for_each(|sum| *sum = self.modulus.reduce_wide(*sum).into());
                    }
                    for ((sum, &x), &y) in sums.iter_mut().zip(&a[range.clone()]).zip(&b[c][range.clone()]) {
                        *sum += u128::from(x) * u128::from(y);
                    }
                }
            });
        }
    }

    /// out = sum_i c_i a_i for residues c_i and any words a_i below 2^`bits`, `bits` <= 61; at most [`MAX_TERMS`] + 1 terms.
    pub(crate) fn combination(&self, terms: &[(&[u64], u64)], bits: u32, out: &mut [u64]) {
        let done = self.fast.as_ref().map_or(0, |fast| fast.combination(terms, bits, out));
        self.blocks(out, done, |range, sums| {
            for &(a, c) in terms {
                for (sum, &x) in sums.iter_mut().zip(&a[range.clone()]) {
                    *sum += u128::from(x) * u128::from(c);
                }
            }
        });
    }

    /// Fills the places from `done` with the residues of sums that `add` makes of zeros, given where they are.
    fn blocks(&self, out: &mut [u64], done: usize, add: impl Fn(std::ops::Range<usize>, &mut [u128])) {
        let mut sums = [0u128; BLOCK];
        for (block, out) in out[done..].chunks_mut(BLOCK).enumerate() {
            let (first, sums) = (done + block * BLOCK, &mut sums[..out.len()]);
            sums.fill(0);
            add(first..first + out.len(), sums);
            for (x, &sum) in out.iter_mut().zip(&*sums) {
                *x = self.modulus.reduce_wide(sum);
            }
        }
    }
}
