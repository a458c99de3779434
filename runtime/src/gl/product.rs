//! Modular matrix products in diagonal form: the kernel of A B^dagger.
//!
//! For every prime, sign s and l, the values of n polynomials f_0, ..., f_(n-1) are the diagonals of one matrix modulo q,
//! `A_k[j] = A[j, j + k]`. With B' the matrix of the other operand at (-s, l + (p-1)/2), where its values are the images
//! under X -> X^-1, W -> W^-1, the trace product is C = A B'^T (times n, which is the normalisation wanted), so
//!
//!   `C_r[j] = sum_k A_k[j] B'_(k-r)[j + r]`.
//!
//! Each of the 2 (p-1) products of a prime is made by the tiles of [`Kernel`]; the four products of two ciphertexts share
//! every load.
//!
//! Reference: Gentry, Lee 2025/1935, theorem 3.6, in the evaluation domain.

use crate::gl::tiles::Tiles;
use crate::math::modulus::Modulus;
use crate::math::simd::{Simd, TileProducts, prefetch};
use crate::ring::{Form, Poly, Ring};
use rayon::prelude::*;

/// Components of an operand, each with its n diagonals.
pub(crate) type Operand<'a> = Vec<Vec<&'a Poly>>;

/// Words after each row of results that spread the rows over the cache sets.
const PAD: usize = 8;
/// Rows that are asked for ahead of their use: each lies in another polynomial, where no machine guesses it.
const AHEAD: usize = 2;

/// sum over the terms of n (a * b'), * the trace product, for every component a of the left and b of the right operand:
/// for every diagonal the polynomials (number of b) (left components) + (number of a), modulo the first `limbs` primes.
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
    let unwritten = |_| (0..A * B).map(|_| ring.dirty(limbs, Form::Evaluation)).collect();
    let mut out: Vec<Vec<Poly>> = (0..n).map(unwritten).collect();
    for i in 0..limbs {
        // rows[l][r A B + component]: the values [s][j] of one diagonal of one product
        let mut rows: Vec<Vec<&mut [u64]>> =
            (0..spec.w_len()).map(|_| Vec::with_capacity(A * B * n)).collect();
        for poly in out.iter_mut().flatten() {
            for (of_l, values) in rows.iter_mut().zip(poly.limb_mut(i).chunks_exact_mut(2 * n)) {
                of_l.push(values);
            }
        }
        let half = spec.w_len() / 2;
        let kernel = || (Kernel::<A, B>::new(*ring.modulus(i), n), vec![0; A * B * n * (n + PAD)]);
        rows.par_iter_mut().enumerate().for_each_init(kernel, |(kernel, sums), (l, rows)| {
            let opposite = (l + half) % spec.w_len();
            for s in 0..2 {
                for (left, right) in terms {
                    let (at_left, at_right) = ((2 * l + s) * n, (2 * opposite + 1 - s) * n);
                    each_diagonal(left, i, at_left, n, |a, k, values| kernel.load_left(a, k, values));
                    each_diagonal(right, i, at_right, n, |b, k, values| kernel.load_right(b, k, values));
                    kernel.multiply();
                }
                kernel.finish(sums, n + PAD);
                let place = |number: usize| number % n * A * B + number / n;
                for (number, sums) in sums.chunks_exact(n + PAD).enumerate() {
                    if number + AHEAD < A * B * n {
                        prefetch(&rows[place(number + AHEAD)][s * n..][..n]);
                    }
                    rows[place(number)][s * n..][..n].copy_from_slice(&sums[..n]);
                }
            }
        });
    }
    out
}

/// Calls `load` with the n values from `start` of one limb of every diagonal k of every component.
fn each_diagonal(
    operand: &Operand,
    limb: usize,
    start: usize,
    n: usize,
    mut load: impl FnMut(usize, usize, &[u64]),
) {
    for (component, diagonals) in operand.iter().enumerate() {
        for (k, f) in diagonals.iter().enumerate() {
            if let Some(ahead) = diagonals.get(k + AHEAD) {
                prefetch(&ahead.limb(limb)[start..start + n]);
            }
            load(component, k, &f.limb(limb)[start..start + n]);
        }
    }
}

/// Products of A tiles by B tiles of diagonals modulo one prime, by the kernels in use.
enum Kernel<const A: usize, const B: usize> {
    Portable(Tiles<A, B>),
    Fast(Box<TileProducts<A, B>>),
}

impl<const A: usize, const B: usize> Kernel<A, B> {
    fn new(modulus: Modulus, n: usize) -> Kernel<A, B> {
        let fast = match Simd::active() {
            Simd::Portable => None,
            Simd::Avx2(proof) => TileProducts::new(proof, modulus, n),
        };
        fast.map_or_else(|| Kernel::Portable(Tiles::new(modulus, n)), |tiles| Kernel::Fast(Box::new(tiles)))
    }

    fn load_left(&mut self, a: usize, k: usize, diagonal: &[u64]) {
        match self {
            Kernel::Portable(tiles) => tiles.load_left(a, k, diagonal),
            Kernel::Fast(tiles) => tiles.load_left(a, k, diagonal),
        }
    }

    fn load_right(&mut self, b: usize, k: usize, diagonal: &[u64]) {
        match self {
            Kernel::Portable(tiles) => tiles.load_right(b, k, diagonal),
            Kernel::Fast(tiles) => tiles.load_right(b, k, diagonal),
        }
    }

    fn multiply(&mut self) {
        match self {
            Kernel::Portable(tiles) => tiles.multiply(),
            Kernel::Fast(tiles) => tiles.multiply(),
        }
    }

    fn finish(&mut self, out: &mut [u64], stride: usize) {
        match self {
            Kernel::Portable(tiles) => tiles.finish(out, stride),
            Kernel::Fast(tiles) => tiles.finish(out, stride),
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
                for number in 0..left.len() * right.len() {
                    let (a, b) = (number % left.len(), number / left.len());
                    for (i, l, s, j, c) in [(0, 0, 0, 0, 0), (1, p - 2, 1, n - 1, 2), (0, p / 2, 1, 1, n - 2)]
                    {
                        let first = by_matrices(&ring, &f[left[a]], &f[right[b]], i, l, s, j, c);
                        let second = by_matrices(&ring, &f[4 + a], &f[5 - b], i, l, s, j, c);
                        let value = found[(c + n - j) % n][number].limb(i)[(2 * l + s) * n + j];
                        assert_eq!(value, ring.modulus(i).add(first, second), "{spec:?} {left:?} {right:?}");
                    }
                }
            }
        }
    }
}
