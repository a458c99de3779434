//! Products of tiles of diagonals: C_r[j] += sum_k A_k[j] B_(k-r)[j + r] for one or two tiles on either side.
//!
//! Residues are centred and cut into x = x_1 2^h + x_0 with 2 h >= the bit length of q and |x_0|, |x_1| <= 2^(h-1); three
//! sums, of x_0 y_0, x_1 y_1 and (x_0 + x_1)(y_0 + y_1) (Karatsuba, Ofman 1962), are accumulated by fused operations. They
//! are exact for T terms with T 2^(2h) <= 2^53; then they are combined, and the next T terms are begun.
//!
//! *Order.* Twelve sums at most, as fit the registers, are worked on together, and the terms in runs of [`RUN`] rows of B, for all r:
//! neighbouring r read neighbouring words of those rows, which stay in the first-level cache with the columns of A.

use super::Avx2;
use super::field::{
    Constant, Factor, Field, MAX_BITS, Quad, from_words, load_doubles, load_words, store_words, to_doubles,
};
use crate::math::modulus::Modulus;
use std::arch::x86_64::*;

/// Rows of B taken together.
const RUN: usize = 16;
/// Words after a row of B that repeat its start.
const PAD: usize = 8;
/// The smallest tiles: rows of two vectors.
const MIN_ROWS: usize = 8;

/// The parts x_0, x_1, x_0 + x_1 of four places.
type Parts = [[f64; 4]; 3];

/// V vectors of places of A tiles: the left operands of one step.
type Column<const A: usize, const V: usize> = [[Parts; A]; V];

/// Sums of the parts, of V vectors of places of every product `[b][a]`.
type Sums<const A: usize, const B: usize, const V: usize> = [[[[__m256d; 3]; A]; B]; V];

/// Buffers for products of A tiles by B tiles of n x n residues.
#[derive(Clone, Debug)]
pub(crate) struct TileProducts<const A: usize, const B: usize> {
    proof: Avx2,
    modulus: Modulus,
    n: usize,
    /// h
    half: u32,
    /// 2^h and 2^(2h)
    powers: [Constant; 2],
    /// T
    terms: usize,
}

impl<const A: usize, const B: usize> TileProducts<A, B> {
    /// `None` when the modulus is too large or the tiles too small.
    pub(crate) fn new(proof: Avx2, modulus: Modulus, n: usize) -> Option<TileProducts<A, B>> {
        let half = modulus.bits().div_ceil(2);
        let powers = [half, 2 * half].map(|bits| Constant::new(&modulus, modulus.pow(2, u64::from(bits))));
        let fits = modulus.bits() <= MAX_BITS && n >= MIN_ROWS && n.is_power_of_two();
        fits.then(|| TileProducts { proof, modulus, n, half, powers, terms: n.min(1 << (53 - 2 * half)) })
    }

    /// Adds the products of the tiles, rows of n residues, to `sums[b A + a][r][j]`.
    pub(crate) fn multiply(&self, left: [&[u64]; A], right: [&[u64]; B], sums: &mut [u64]) {
        let (Avx2(()), n) = (self.proof, self.n);
        assert!(left.iter().chain(&right).all(|tile| tile.len() == n * n) && sums.len() == A * B * n * n);
        let sums = sums.as_chunks_mut().0;
        // SAFETY: the proof at hand says that the machine has the features.
        unsafe {
            match A * B {
                4 => self.multiply_vectors::<1>(left, right, sums),
                _ => self.multiply_vectors::<2>(left, right, sums),
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn multiply_vectors<const V: usize>(&self, left: [&[u64]; A], right: [&[u64]; B], sums: &mut [Quad]) {
        let (n, f) = (self.n, Field::new(&self.modulus));
        let (columns, rows) = (self.columns::<V>(f, left), self.rows(f, right));
        let zero = [[[[_mm256_setzero_pd(); 3]; A]; B]; V];
        let mut partial = vec![zero; n];
        for (block, columns) in columns.chunks_exact(n).enumerate() {
            for first in (0..n).step_by(self.terms) {
                let last = first + self.terms;
                for run in (first..last).step_by(RUN) {
                    for r in 0..n {
                        let start = if run == first { zero } else { partial[r] };
                        let terms = run..(run + RUN).min(last);
                        let total = self.run(start, columns, &rows, terms, 4 * V * block + r, r);
                        if run + RUN < last {
                            partial[r] = total;
                        } else {
                            self.add(f, &total, sums, block, r);
                        }
                    }
                }
            }
        }
    }

    /// `start` and the terms of some rows of B, at the places `column`, ... of B.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn run<const V: usize>(
        &self,
        start: Sums<A, B, V>,
        columns: &[Column<A, V>],
        rows: &[f64],
        terms: std::ops::Range<usize>,
        column: usize,
        r: usize,
    ) -> Sums<A, B, V> {
        let (mask, width) = (self.n - 1, self.n + PAD);
        let mut sums = start;
        for k in terms {
            let left = &columns[(k + r) & mask];
            let rows = &rows[3 * B * width * k..][..3 * B * width];
            for v in 0..V {
                let place = (column + 4 * v) & mask;
                for part in 0..3 {
                    let mut x = [_mm256_setzero_pd(); A];
                    for a in 0..A {
                        x[a] = load_doubles(&left[v][a][part], 0);
                    }
                    for b in 0..B {
                        let y = load_doubles(rows, (3 * b + part) * width + place);
                        for a in 0..A {
                            sums[v][b][a][part] = _mm256_fmadd_pd(x[a], y, sums[v][b][a][part]);
                        }
                    }
                }
            }
        }
        sums
    }

    /// Adds sums of parts to the residues of row r.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn add<const V: usize>(
        &self,
        f: Field,
        parts: &Sums<A, B, V>,
        sums: &mut [Quad],
        block: usize,
        r: usize,
    ) {
        let [middle, high] = self.powers.map(|power| Factor::splat(power));
        for v in 0..V {
            for b in 0..B {
                for a in 0..A {
                    let [low_sum, high_sum, all] = parts[v][b][a];
                    let middle_sum = _mm256_sub_pd(_mm256_sub_pd(all, low_sum), high_sum);
                    let sum = &mut sums[((b * A + a) * self.n + r) * self.n / 4 + block * V + v];
                    let mut total = _mm256_add_pd(from_words(load_words(sum)), f.reduce(low_sum));
                    total = _mm256_add_pd(total, f.scale(middle_sum, middle));
                    total = _mm256_add_pd(total, f.scale(high_sum, high));
                    store_words(sum, f.to_words(f.reduce(total)));
                }
            }
        }
    }

    /// The left tiles, ordered by blocks of places, then rows.
    #[target_feature(enable = "avx2,fma")]
    fn columns<const V: usize>(&self, f: Field, tiles: [&[u64]; A]) -> Vec<Column<A, V>> {
        let (n, quads) = (self.n, tiles.map(|tile| tile.as_chunks().0));
        let mut columns = vec![[[[[0.0; 4]; 3]; A]; V]; n * n / (4 * V)];
        for (block, columns) in columns.chunks_exact_mut(n).enumerate() {
            for (k, column) in columns.iter_mut().enumerate() {
                for (v, parts) in column.iter_mut().enumerate() {
                    for (parts, quads) in parts.iter_mut().zip(quads) {
                        *parts = self.parts(f, &quads[k * n / 4 + block * V + v]);
                    }
                }
            }
        }
        columns
    }

    /// The right tiles, ordered by row, tile and part; rows are padded.
    #[target_feature(enable = "avx2,fma")]
    fn rows(&self, f: Field, tiles: [&[u64]; B]) -> Vec<f64> {
        let (n, width) = (self.n, self.n + PAD);
        let mut rows = vec![0.0; n * B * 3 * width];
        for (k, rows) in rows.chunks_exact_mut(B * 3 * width).enumerate() {
            for (tile, rows) in tiles.iter().zip(rows.chunks_exact_mut(3 * width)) {
                for (j, quad) in tile[k * n..][..n].as_chunks().0.iter().enumerate() {
                    for (row, part) in rows.chunks_exact_mut(width).zip(self.parts(f, quad)) {
                        row[4 * j..][..4].copy_from_slice(&part);
                    }
                }
                rows.chunks_exact_mut(width).for_each(|row| row.copy_within(..PAD, n));
            }
        }
        rows
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn parts(&self, f: Field, quad: &Quad) -> Parts {
        let unit = f64::from(1u32 << self.half);
        let x = f.reduce(from_words(load_words(quad)));
        let (low, high) = f.split(x, unit);
        [low, high, _mm256_add_pd(low, high)].map(|x| to_doubles(x))
    }
}
