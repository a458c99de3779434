//! Products of tiles of diagonals, C_r[j] += sum_k A_k[j] B_(k-r)[j + r], for any machine and modulus: the oracle of the
//! vector kernels.
//!
//! Rows of diagonals are multiplied place by place, the second shifted by r: no matrix is gathered. Sums are kept in 128
//! bits and reduced once.

use crate::math::modulus::Modulus;
use std::ops::Range;

/// Neighbouring places computed together: a cache line of words.
const LANES: usize = 8;
/// Words after each row of a tile that repeat its start, so that a shifted row is read in one piece; they also spread the
/// rows over the cache sets.
const PAD: usize = LANES;

/// A tiles by B tiles of n x n residues, and the sums of their products.
#[derive(Clone, Debug)]
pub(crate) struct Tiles<const A: usize, const B: usize> {
    modulus: Modulus,
    n: usize,
    /// products of two residues that fit into 128 bits
    chunk: usize,
    left: [Vec<u64>; A],
    right: [Vec<u64>; B],
    /// `[b A + a][r][j]`
    sums: Vec<u64>,
}

impl<const A: usize, const B: usize> Tiles<A, B> {
    /// Zero sums.
    pub(crate) fn new(modulus: Modulus, n: usize) -> Tiles<A, B> {
        let tile = || vec![0; n * (n + PAD)];
        let largest = u128::from(modulus.value() - 1).pow(2);
        let chunk = usize::try_from(u128::MAX / largest).map_or(n, |terms| terms.min(n));
        let (left, right) = (std::array::from_fn(|_| tile()), std::array::from_fn(|_| tile()));
        Tiles { modulus, n, chunk, left, right, sums: vec![0; A * B * n * n] }
    }

    /// Diagonal k of left tile number `a`: n residues.
    pub(crate) fn load_left(&mut self, a: usize, k: usize, diagonal: &[u64]) {
        load(&mut self.left[a], k, diagonal);
    }

    /// Diagonal k of right tile number `b`: n residues.
    pub(crate) fn load_right(&mut self, b: usize, k: usize, diagonal: &[u64]) {
        load(&mut self.right[b], k, diagonal);
    }

    /// Adds the products of the tiles at hand to the sums.
    pub(crate) fn multiply(&mut self) {
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

    /// Writes the sums to rows of `stride` residues, `out[b A + a][r][j]`, and begins at zero again.
    pub(crate) fn finish(&mut self, out: &mut [u64], stride: usize) {
        for (to, sums) in out.chunks_exact_mut(stride).zip(self.sums.chunks_exact(self.n)) {
            to[..self.n].copy_from_slice(sums);
        }
        self.sums.fill(0);
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
    fn block(&self, r: usize, j: usize, terms: Range<usize>) -> [[[u128; LANES]; A]; B] {
        let (n, row) = (self.n, self.n + PAD);
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

/// Row k of a tile, with its start repeated.
fn load(tile: &mut [u64], k: usize, diagonal: &[u64]) {
    let n = diagonal.len();
    let row = &mut tile[k * (n + PAD)..][..n + PAD];
    row[..n].copy_from_slice(diagonal);
    for (pad, &value) in row[n..].iter_mut().zip(diagonal.iter().cycle()) {
        *pad = value;
    }
}
