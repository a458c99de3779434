//! Products of tiles of diagonals: C_r[j] += sum_k A_k[j] B_(k-r)[j + r] for one or two tiles on either side.
//!
//! With t = j + r and i = j + k this is the matrix product C[j, t] = sum_i A[i, j] B[i, t] of the matrices behind the
//! diagonals, A[i, j] = A_(i-j)[j] and B[i, t] = B_(i-t)[t]; several tiles are columns side by side. Diagonals are skewed
//! where they are loaded and where results leave.
//!
//! *Numbers.* Residues are centred and cut into x = x_1 2^h + x_0 with 2 h >= the bit length of q and |x_0|, |x_1| <=
//! 2^(h-1); three sums, of x_0 y_0, x_1 y_1 and (x_0 + x_1)(y_0 + y_1) (Karatsuba, Ofman 1962), are accumulated by fused
//! operations. They are exact for T terms with T 2^(2h) <= 2^53; then they are combined and reduced, and the next T terms
//! are begun.
//!
//! *Order.* The kernel has six rows by two vectors of sums of one part in registers: eight loads for twelve fused
//! operations. The columns of B it reads stay in the first-level cache while all rows of A pass by (Goto, van de Geijn
//! 2008).

use super::Avx2;
use super::field::{
    Constant, Factor, Field, from_words, load_doubles, load_words, store_doubles, store_words,
};
use crate::math::modulus::Modulus;
use std::arch::x86_64::*;

/// Neighbouring entries: a vector.
type Four = [f64; 4];

/// Rows of sums in the registers.
const HEIGHT: usize = 6;
/// Moduli are below 2^49, so that sums have room for several terms.
const MAX_BITS: u32 = 49;
/// Vectors of columns in the registers.
const WIDTH: usize = 2;
/// The most terms summed between two reductions: their columns fit the first-level cache.
const MAX_TERMS: usize = 128;
/// Entries after each row that spread the rows over the cache sets.
const PAD: usize = 8;

/// The parts x_0, x_1, x_0 + x_1 of matrices side by side, each with rows of `stride` entries.
#[derive(Clone, Debug)]
struct Operand {
    parts: [Vec<f64>; 3],
    stride: usize,
}

/// Products of A tiles by B tiles of n x n residues, with the buffers for it.
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
    left: Operand,
    right: Operand,
    /// sums of each part in some columns, row by row
    partial: [Vec<[Four; WIDTH]>; 3],
    /// within q/2 of zero; rows a n + j of the columns b n + t
    sums: Vec<Four>,
}

impl Operand {
    fn new(n: usize, tiles: usize) -> Operand {
        let stride = tiles * n + PAD;
        Operand { parts: std::array::from_fn(|_| vec![0.0; n * stride]), stride }
    }
}

impl<const A: usize, const B: usize> TileProducts<A, B> {
    /// `None` when the modulus is too large or the tiles are not rows of vectors.
    pub(crate) fn new(proof: Avx2, modulus: Modulus, n: usize) -> Option<TileProducts<A, B>> {
        let half = modulus.bits().div_ceil(2);
        let powers = [half, 2 * half].map(|bits| Constant::new(&modulus, modulus.pow(2, u64::from(bits))));
        let fits = modulus.bits() <= MAX_BITS && n >= 4 && n.is_power_of_two();
        fits.then(|| TileProducts {
            proof,
            modulus,
            n,
            half,
            powers,
            terms: n.min(1 << (53 - 2 * half)).min(MAX_TERMS),
            left: Operand::new(n, A),
            right: Operand::new(n, B),
            partial: std::array::from_fn(|_| vec![[[0.0; 4]; WIDTH]; A * n]),
            sums: vec![[0.0; 4]; A * n * B * n / 4],
        })
    }

    /// Diagonal k of the left tile number `tile`: n residues.
    pub(crate) fn load_left(&mut self, tile: usize, k: usize, diagonal: &[u64]) {
        let (Avx2(()), n) = (self.proof, self.n);
        assert!(tile < A && k < n && diagonal.len() == n, "a diagonal of a tile");
        // SAFETY: the proof at hand says that the machine has the features.
        unsafe { skew(&self.modulus, self.half, &mut self.left, tile, k, diagonal) }
    }

    /// Diagonal k of the right tile number `tile`: n residues.
    pub(crate) fn load_right(&mut self, tile: usize, k: usize, diagonal: &[u64]) {
        let (Avx2(()), n) = (self.proof, self.n);
        assert!(tile < B && k < n && diagonal.len() == n, "a diagonal of a tile");
        // SAFETY: as above.
        unsafe { skew(&self.modulus, self.half, &mut self.right, tile, k, diagonal) }
    }

    /// Adds the products of the tiles at hand to the sums.
    pub(crate) fn multiply(&mut self) {
        let Avx2(()) = self.proof;
        // SAFETY: as above.
        unsafe { self.multiply_vectors() }
    }

    /// Writes the sums to rows of `stride` residues, `out[b A + a][r][j]`, and begins at zero again.
    pub(crate) fn finish(&mut self, out: &mut [u64], stride: usize) {
        let Avx2(()) = self.proof;
        assert!(stride >= self.n && out.len() == A * B * self.n * stride, "rows of results");
        // SAFETY: as above.
        unsafe { self.unskew(out, stride) }
    }

    #[target_feature(enable = "avx2,fma")]
    fn multiply_vectors(&mut self) {
        let columns = B * self.n / 4;
        for first in (0..self.n).step_by(self.terms) {
            for column in (0..columns).step_by(WIDTH) {
                match columns - column {
                    1 => self.columns::<1>(first, column),
                    _ => self.columns::<WIDTH>(first, column),
                }
            }
        }
    }

    /// The terms from `first` of V vectors of columns.
    #[target_feature(enable = "avx2,fma")]
    fn columns<const V: usize>(&mut self, first: usize, column: usize) {
        let (left, right) = (&self.left, &self.right);
        for ((partial, x), y) in self.partial.iter_mut().zip(&left.parts).zip(&right.parts) {
            let y = Rows { entries: &y[first * right.stride + 4 * column..], stride: right.stride };
            for row in (0..partial.len()).step_by(HEIGHT) {
                let x = Rows { entries: &x[first * left.stride + row..], stride: left.stride };
                let partial = &mut partial[row..];
                // the number of rows is a multiple of four
                match partial.len() {
                    2 => store_rows(partial, block::<2, V>(x, y, self.terms)),
                    4 => store_rows(partial, block::<4, V>(x, y, self.terms)),
                    _ => store_rows(partial, block::<HEIGHT, V>(x, y, self.terms)),
                }
            }
        }
        self.combine::<V>(column);
    }

    /// Adds the sums of the parts of V vectors of columns, low + 2^h (all - low - high) + 2^(2h) high.
    #[target_feature(enable = "avx2,fma")]
    fn combine<const V: usize>(&mut self, column: usize) {
        let (f, columns) = (Field::new(&self.modulus), B * self.n / 4);
        let [middle, high] = self.powers.map(|power| Factor::splat(power));
        let [low_sums, high_sums, all_sums] = &self.partial;
        for (row, sums) in self.sums.chunks_exact_mut(columns).enumerate() {
            let [low_sums, high_sums, all_sums] = [low_sums, high_sums, all_sums].map(|part| &part[row]);
            for (v, sum) in sums[column..column + V].iter_mut().enumerate() {
                let low_sum = load_doubles(&low_sums[v], 0);
                let high_sum = load_doubles(&high_sums[v], 0);
                let all_sum = load_doubles(&all_sums[v], 0);
                let middle_sum = _mm256_sub_pd(_mm256_sub_pd(all_sum, low_sum), high_sum);
                let mut total = _mm256_add_pd(load_doubles(sum, 0), f.reduce(low_sum));
                total = _mm256_add_pd(total, f.scale(middle_sum, middle));
                total = _mm256_add_pd(total, f.scale(high_sum, high));
                store_doubles(sum, f.reduce(total));
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn unskew(&mut self, out: &mut [u64], stride: usize) {
        let (n, f) = (self.n, Field::new(&self.modulus));
        for (row, sums) in self.sums.chunks_exact_mut(B * n / 4).enumerate() {
            let (a, j) = (row / n, row % n);
            for (b, sums) in sums.chunks_exact_mut(n / 4).enumerate() {
                let out = &mut out[(b * A + a) * n * stride..][..n * stride];
                for (t, sum) in sums.iter_mut().enumerate() {
                    let mut words = [0; 4];
                    store_words(&mut words, f.to_words(load_doubles(sum, 0)));
                    for (lane, word) in words.into_iter().enumerate() {
                        out[((4 * t + lane + n - j) & (n - 1)) * stride + j] = word;
                    }
                    *sum = [0.0; 4];
                }
            }
        }
    }
}

/// Rows of entries, `stride` apart.
#[derive(Clone, Copy)]
struct Rows<'a> {
    entries: &'a [f64],
    stride: usize,
}

/// R entries by V vectors: the sum over `terms` rows of the products of every entry of x with every vector of y.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn block<const R: usize, const V: usize>(x: Rows, y: Rows, terms: usize) -> [[__m256d; V]; R] {
    let mut sums = [[_mm256_setzero_pd(); V]; R];
    let holds = |rows: Rows, width: usize| rows.entries.len() >= (terms - 1) * rows.stride + width;
    assert!(terms > 0 && holds(x, R) && holds(y, 4 * V), "rows for all terms");
    for i in 0..terms {
        // SAFETY: R entries and V vectors from these places are within the slices, by the assertion above.
        unsafe {
            let (x, y) = (x.entries.as_ptr().add(i * x.stride), y.entries.as_ptr().add(i * y.stride));
            let mut vectors = [_mm256_setzero_pd(); V];
            for v in 0..V {
                vectors[v] = _mm256_loadu_pd(y.add(4 * v));
            }
            for r in 0..R {
                let entry = _mm256_broadcast_sd(&*x.add(r));
                for v in 0..V {
                    sums[r][v] = _mm256_fmadd_pd(entry, vectors[v], sums[r][v]);
                }
            }
        }
    }
    sums
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn store_rows<const R: usize, const V: usize>(to: &mut [[Four; WIDTH]], rows: [[__m256d; V]; R]) {
    for (to, row) in to.iter_mut().zip(rows) {
        for (to, vector) in to.iter_mut().zip(row) {
            store_doubles(to, vector);
        }
    }
}

/// Entry j of diagonal k to row j + k of column j of a tile, in parts.
#[target_feature(enable = "avx2,fma")]
fn skew(m: &Modulus, half: u32, to: &mut Operand, tile: usize, k: usize, diagonal: &[u64]) {
    let (n, f, unit) = (diagonal.len(), Field::new(m), f64::from(1u32 << half));
    let len = n * to.stride;
    let [lows, highs, alls] = to.parts.each_mut().map(|part| &mut part[..len]);
    for (j, quad) in diagonal.as_chunks().0.iter().enumerate() {
        let (low, high) = f.split(f.reduce(from_words(load_words(quad))), unit);
        let mut parts = [[0.0; 4]; 3];
        for (part, x) in parts.iter_mut().zip([low, high, _mm256_add_pd(low, high)]) {
            store_doubles(part, x);
        }
        for lane in 0..4 {
            let column = 4 * j + lane;
            let place = ((column + k) & (n - 1)) * to.stride + tile * n + column;
            (lows[place], highs[place], alls[place]) = (parts[0][lane], parts[1][lane], parts[2][lane]);
        }
    }
}
