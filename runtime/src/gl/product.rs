//! Modular matrix products in diagonal form: the kernel of A B^dagger.
//!
//! For every prime, sign s and l, the values of n polynomials f_0, ..., f_(n-1) are the diagonals of one matrix modulo q,
//! `A_k[j] = A[j, j + k]`. With B' the matrix of the other operand at (-s, l + (p-1)/2), where its values are the images
//! under X -> X^-1, W -> W^-1, the trace product is C = A B'^T (times n, which is the normalisation wanted), so
//!
//!   `C_r[j] = sum_k A_k[j] B'_(k-r)[j + r]`.
//!
//! In this form rows of diagonals are multiplied place by place, the second shifted by r: no matrix is gathered. Sums are
//! kept in 128 bits and reduced once; the four products of two ciphertexts share every load.
//!
//! Reference: Gentry, Lee 2025/1935, theorem 3.6, in the evaluation domain.

use crate::math::modulus::Modulus;
use crate::math::simd::{Simd, TileProducts};
use crate::ring::{Form, Poly, Ring};
use rayon::prelude::*;

/// Components of an operand, each with its n diagonals.
pub(crate) type Operand<'a> = Vec<Vec<&'a Poly>>;

/// Neighbouring places computed together: a cache line of words.
const LANES: usize = 8;
/// Words after each row of a tile that repeat its start, so that a shifted row is read in one piece; they also spread the
/// rows over the cache sets.
const PAD: usize = LANES;

/// sum over the terms of n (a * b'), * the trace product, for every component a of the left and b of the right operand:
/// entry (number of b) (left components) + (number of a), one polynomial per diagonal, modulo the first `limbs` primes.
///
/// Operands have one or two components; all terms have as many as the first.
pub(crate) fn trace_products(ring: &Ring, limbs: usize, terms: &[(Operand, Operand)]) -> Vec<Vec<Poly>> {
    let (left, right) = terms.first().map_or((0, 0), |(a, b)| (a.len(), b.len()));
    match (left, right) {
        (1, 1) => products::<1, 1>(ring, limbs, terms),
        (2, 1) => products::<2, 1>(ring, limbs, terms),
        (1, 2) => products::<1, 2>(ring, limbs, terms),
        (2, 2) => products::<2, 2>(ring, limbs, terms),
        _ => unreachable!("operands have one or two components"),
    }
}

fn products<const A: usize, const B: usize>(
    ring: &Ring,
    limbs: usize,
    terms: &[(Operand, Operand)],
) -> Vec<Vec<Poly>> {
    let (spec, n) = (ring.spec(), ring.spec().rows());
    let mut out = vec![vec![ring.zero(limbs, Form::Evaluation); n]; A * B];
    for i in 0..limbs {
        // rows[l][component n + r]: the values [s][j] of one diagonal of one product
        let mut rows: Vec<Vec<&mut [u64]>> =
            (0..spec.w_len()).map(|_| Vec::with_capacity(A * B * n)).collect();
        for poly in out.iter_mut().flatten() {
            for (of_l, values) in rows.iter_mut().zip(poly.limb_mut(i).chunks_exact_mut(2 * n)) {
                of_l.push(values);
            }
        }
        let half = spec.w_len() / 2;
        rows.par_iter_mut().enumerate().for_each(|(l, rows)| {
            let mut kernel = Kernel::<A, B>::new(*ring.modulus(i), n);
            let opposite = (l + half) % spec.w_len();
            for s in 0..2 {
                kernel.sums.fill(0);
                for (left, right) in terms {
                    kernel.load_left(left, i, (2 * l + s) * n);
                    kernel.load_right(right, i, (2 * opposite + 1 - s) * n);
                    kernel.multiply();
                }
                for (row, sums) in rows.iter_mut().zip(kernel.sums.chunks_exact(n)) {
                    row[s * n..][..n].copy_from_slice(sums);
                }
            }
        });
    }
    out
}

/// One modular product: the tiles of its operands, rows of `row` places, and its sums, rows of n.
struct Kernel<const A: usize, const B: usize> {
    modulus: Modulus,
    fast: Option<TileProducts<A, B>>,
    n: usize,
    /// n with the fast kernel, which wants no padding, n + PAD otherwise
    row: usize,
    /// products of two residues that fit into 128 bits
    chunk: usize,
    left: [Vec<u64>; A],
    right: [Vec<u64>; B],
    /// `[b A + a][r][j]`
    sums: Vec<u64>,
}

impl<const A: usize, const B: usize> Kernel<A, B> {
    fn new(modulus: Modulus, n: usize) -> Kernel<A, B> {
        let fast = match Simd::active() {
            Simd::Portable => None,
            Simd::Avx2(proof) => TileProducts::new(proof, modulus, n),
        };
        let row = if fast.is_some() { n } else { n + PAD };
        let tile = || vec![0; n * row];
        let largest = u128::from(modulus.value() - 1).pow(2);
        let chunk = usize::try_from(u128::MAX / largest).map_or(n, |terms| terms.min(n));
        let (left, right) = (std::array::from_fn(|_| tile()), std::array::from_fn(|_| tile()));
        Kernel { modulus, fast, n, row, chunk, left, right, sums: vec![0; A * B * n * n] }
    }

    fn load_left(&mut self, operand: &Operand, limb: usize, start: usize) {
        self.left.iter_mut().zip(operand).for_each(|(tile, f)| load(tile, self.row, f, limb, start));
    }

    fn load_right(&mut self, operand: &Operand, limb: usize, start: usize) {
        self.right.iter_mut().zip(operand).for_each(|(tile, f)| load(tile, self.row, f, limb, start));
    }

    /// Adds the product of the tiles at hand.
    fn multiply(&mut self) {
        if let Some(fast) = &self.fast {
            let (left, right) =
                (self.left.each_ref().map(Vec::as_slice), self.right.each_ref().map(Vec::as_slice));
            return fast.multiply(left, right, &mut self.sums);
        }
        let n = self.n;
        for r in 0..n {
            for j in (0..n).step_by(LANES) {
                for first in (0..n).step_by(self.chunk) {
                    let block = self.block(r, j, first..(first + self.chunk).min(n));
                    self.add(r, j, block.as_flattened());
                }
            }
        }
    }

    /// Adds the places j, ... of diagonal r of every product.
    fn add(&mut self, r: usize, j: usize, block: &[[u128; LANES]]) {
        let (n, m) = (self.n, self.modulus);
        for (component, lanes) in block.iter().enumerate() {
            let sums = &mut self.sums[(component * n + r) * n + j..][..LANES.min(n)];
            for (sum, &lane) in sums.iter_mut().zip(lanes) {
                *sum = m.add(*sum, m.reduce_wide(lane));
            }
        }
    }

    /// The terms k of places j, ..., j + LANES - 1 of diagonal r, for all pairs `[b][a]` of components.
    #[inline(always)]
    fn block(&self, r: usize, j: usize, terms: std::ops::Range<usize>) -> [[[u128; LANES]; A]; B] {
        let (n, row) = (self.n, self.row);
        let (shifted, mask) = ((j + r) & (n - 1), n - 1);
        let mut sums = [[[0u128; LANES]; A]; B];
        for k in terms {
            let (a, b) = (k * row + j, ((k + n - r) & mask) * row + shifted);
            let left: [&[u64]; A] = std::array::from_fn(|c| &self.left[c][a..a + LANES]);
            let right: [&[u64]; B] = std::array::from_fn(|c| &self.right[c][b..b + LANES]);
            for (sums, y) in sums.iter_mut().zip(right) {
                for (sums, x) in sums.iter_mut().zip(left) {
                    for lane in 0..LANES {
                        sums[lane] += u128::from(x[lane]) * u128::from(y[lane]);
                    }
                }
            }
        }
        sums
    }
}

/// Copies the n places from `start` of one limb of every diagonal to rows of `row` places, of which those beyond n repeat
/// the first.
fn load(tile: &mut [u64], row: usize, diagonals: &[&Poly], limb: usize, start: usize) {
    let n = diagonals.len();
    for (row, f) in tile.chunks_exact_mut(row).zip(diagonals) {
        let values = &f.limb(limb)[start..start + n];
        row[..n].copy_from_slice(values);
        for (pad, &value) in row[n..].iter_mut().zip(values.iter().cycle()) {
            *pad = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::prime::primes_near;
    use crate::ring::RingSpec;

    fn polys(ring: &Ring, count: usize, seed: u64) -> Vec<Poly> {
        let fill = |k: usize| {
            let mut f = ring.zero(ring.primes(), Form::Evaluation);
            for i in 0..ring.primes() {
                let m = ring.modulus(i);
                for (x, word) in f.limb_mut(i).iter_mut().enumerate() {
                    let mix = (x as u64 + 1)
                        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                        .wrapping_mul(2 * (seed + k as u64) + 1);
                    *word = if x % 5 == 0 { m.value() - 1 } else { m.reduce(mix ^ (mix >> 29)) };
                }
            }
            f
        };
        (0..count).map(fill).collect()
    }

    /// `C[j, c] = sum_k A[j, k] B'[c, k]` of true matrices.
    fn by_matrices(
        ring: &Ring,
        a: &[Poly],
        b: &[Poly],
        i: usize,
        l: usize,
        s: usize,
        j: usize,
        c: usize,
    ) -> u64 {
        let (n, w) = (a.len(), ring.spec().w_len());
        let m = ring.modulus(i);
        let entry = |f: &[Poly], l: usize, s: usize, row: usize, column: usize| {
            f[(column + n - row) % n].limb(i)[(2 * l + s) * n + row]
        };
        let term = |k| m.mul(entry(a, l, s, j, k), entry(b, (l + w / 2) % w, 1 - s, c, k));
        (0..n).fold(0, |sum, k| m.add(sum, term(k)))
    }

    #[test]
    fn products_are_those_of_matrices() {
        for (n, p, bits) in [(4, 3, 40), (4, 13, 60), (8, 5, 60), (16, 5, 30), (128, 3, 60)] {
            let spec = RingSpec::Gl { n, p };
            let primes = primes_near(bits, spec.modulus_step(), 2, &[]).expect("enough");
            let ring = Ring::new(spec, &primes).expect("suitable");
            let f: Vec<Vec<Poly>> = (0..6).map(|seed| polys(&ring, n, 1000 * seed)).collect();
            let operand = |c: &[usize]| -> Operand { c.iter().map(|&c| f[c].iter().collect()).collect() };
            for (left, right) in
                [(vec![0], vec![1]), (vec![0, 2], vec![1]), (vec![0], vec![1, 3]), (vec![0, 2], vec![1, 3])]
            {
                let mut terms = vec![(operand(&left), operand(&right))];
                terms.push((operand(&[4, 5][..left.len()]), operand(&[5, 4][..right.len()])));
                let found = trace_products(&ring, 2, &terms);
                for (number, product) in found.iter().enumerate() {
                    let (a, b) = (number % left.len(), number / left.len());
                    for (i, l, s, j, c) in [(0, 0, 0, 0, 0), (1, p - 2, 1, n - 1, 2), (0, p / 2, 1, 1, n - 2)]
                    {
                        let first = by_matrices(&ring, &f[left[a]], &f[right[b]], i, l, s, j, c);
                        let second = by_matrices(&ring, &f[4 + a], &f[5 - b], i, l, s, j, c);
                        let value = product[(c + n - j) % n].limb(i)[(2 * l + s) * n + j];
                        assert_eq!(value, ring.modulus(i).add(first, second), "{spec:?} {left:?} {right:?}");
                    }
                }
            }
        }
    }
}
