//! Number-theoretic transforms of one limb.
//!
//! [`NegacyclicNtt`]: `Z_q[X]/(X^N + 1)`, N a power of two, to the values at the odd powers of a primitive 2N-th root psi, in
//! bit-reversed order: position i holds the value at psi^(2 brv(i) + 1).
//!
//! [`CyclicNtt`]: rows of equal width, transformed across the rows by the values at all M-th roots of unity, M any number
//! with small prime factors. Its order is that of the factor tree and never leaves this file: the transform is used
//! together with its *transpose*, which reads tree order and writes natural order (the matrix of the transform is
//! symmetric once its rows are in natural order).
//!
//! Butterflies are lazy (Harvey 2014): values below 4q forwards, below 2q backwards, reduced once at the end. They need
//! q < 2^61 ([`Modulus`] guarantees it). Where the machine has them, the kernels of `math::simd` take over.

use crate::math::{
    modulus::{Modulus, Shoup, reduce_below},
    root::{RootError, element_of_order},
    simd::{COLUMNS, CyclicTables, NegacyclicTables, Simd},
};
use plan::prime::factor;

/// Tables of the negacyclic transform of length N modulo q.
#[derive(Clone, Debug)]
pub struct NegacyclicNtt {
    modulus: Modulus,
    psi: u64,
    /// psi^brv(i), i < N: node i of the tree of factors X^(2t) - w^2 = (X^t - w)(X^t + w), root at 1
    forward: Vec<Shoup>,
    /// inverses of `forward`
    inverse: Vec<Shoup>,
    /// 1 / N
    scale: Shoup,
    fast: Option<NegacyclicTables>,
}

impl NegacyclicNtt {
    /// Tables for N = 2^`log_n`, `log_n` >= 2.
    ///
    /// # Errors
    /// When q is not 1 mod 2N.
    pub fn new(modulus: Modulus, log_n: u32) -> Result<NegacyclicNtt, RootError> {
        let n = 1usize << log_n;
        let psi = element_of_order(2 * n as u64, &modulus)?;
        let mut forward = vec![modulus.shoup(1); n];
        let mut inverse = forward.clone();
        let (step, step_back) = (modulus.shoup(psi), modulus.shoup(modulus.inv(psi)));
        let (mut w, mut w_back) = (1, 1);
        for i in 0..n {
            let node = bit_reverse(i, log_n);
            forward[node] = modulus.shoup(w);
            inverse[node] = modulus.shoup(w_back);
            w = modulus.mul_shoup(w, step);
            w_back = modulus.mul_shoup(w_back, step_back);
        }
        let scale = modulus.shoup(modulus.inv(n as u64));
        let mut ntt = NegacyclicNtt { modulus, psi, forward, inverse, scale, fast: None };
        ntt.select(Simd::active());
        Ok(ntt)
    }

    /// Chooses the kernels.
    pub(in crate::math) fn select(&mut self, simd: Simd) {
        self.fast = match simd {
            Simd::Portable => None,
            Simd::Avx2(proof) => NegacyclicTables::new(proof, self.modulus, &self.forward, &self.inverse),
        };
    }

    /// The primitive 2N-th root of unity at whose odd powers polynomials are evaluated.
    pub fn psi(&self) -> u64 {
        self.psi
    }

    /// Coefficients -> values, in place; residues in and out.
    pub fn forward(&self, a: &mut [u64]) {
        if let Some(fast) = &self.fast {
            return fast.forward(a);
        }
        let n = self.forward.len();
        assert_eq!(a.len(), n, "length of the transform");
        let m = &self.modulus;
        let mut nodes = 1;
        if n.trailing_zeros() % 2 == 1 {
            let (x, y) = a.split_at_mut(n / 2);
            butterflies(m, x, y, self.forward[1]);
            nodes = 2;
        }
        while 4 * nodes < n {
            for (node, block) in (nodes..).zip(a.chunks_exact_mut(n / nodes)) {
                butterflies_radix_4(m, block, &self.forward, node);
            }
            nodes *= 4;
        }
        // Quarters of one element: the last two stages, and the reduction to [0, q).
        for (node, block) in (nodes..).zip(a.chunks_exact_mut(4)) {
            let [x0, x1, x2, x3] = block else { continue };
            let (w1, w2, w3) = (self.forward[node], self.forward[2 * node], self.forward[2 * node + 1]);
            butterfly(m, x0, x2, w1);
            butterfly(m, x1, x3, w1);
            butterfly(m, x0, x1, w2);
            butterfly(m, x2, x3, w3);
            for x in block {
                *x = m.reduce_twice(*x);
            }
        }
    }

    /// Values -> coefficients, in place; residues in and out.
    pub fn inverse(&self, a: &mut [u64]) {
        self.inverse_with(a, self.scale);
    }

    /// Values -> coefficients times the residue c, in place; residues in and out.
    pub fn inverse_scaled(&self, a: &mut [u64], c: u64) {
        self.inverse_with(a, self.modulus.shoup(self.modulus.mul(self.scale.value, c)));
    }

    fn inverse_with(&self, a: &mut [u64], scale: Shoup) {
        if let Some(fast) = &self.fast {
            return fast.inverse(a, scale);
        }
        let n = self.inverse.len();
        assert_eq!(a.len(), n, "length of the transform");
        let m = &self.modulus;
        let mut nodes = n / 4;
        for (node, block) in (nodes..).zip(a.chunks_exact_mut(4)) {
            let [x0, x1, x2, x3] = block else { continue };
            let (w1, w2, w3) = (self.inverse[node], self.inverse[2 * node], self.inverse[2 * node + 1]);
            transposed_butterfly(m, x0, x1, w2);
            transposed_butterfly(m, x2, x3, w3);
            transposed_butterfly(m, x0, x2, w1);
            transposed_butterfly(m, x1, x3, w1);
        }
        while nodes >= 4 {
            nodes /= 4;
            for (node, block) in (nodes..).zip(a.chunks_exact_mut(n / nodes)) {
                transposed_butterflies_radix_4(m, block, &self.inverse, node);
            }
        }
        if n.trailing_zeros() % 2 == 1 {
            let (x, y) = a.split_at_mut(n / 2);
            transposed_butterflies(m, x, y, self.inverse[1]);
        }
        for x in a {
            *x = m.mul_shoup(*x, scale);
        }
    }
}

/// Tables of the cyclic transform of length M modulo q, acting on M rows of equal width.
#[derive(Clone, Debug)]
pub struct CyclicNtt {
    modulus: Modulus,
    length: usize,
    stages: Vec<Stage>,
    fast: Option<CyclicTables>,
}

/// All nodes of one depth: each splits `Z_q[T]/(T^(r m) - c^r)` into r factors T^m - c w^i, w of order r.
#[derive(Clone, Debug)]
struct Stage {
    radix: usize,
    /// radix 2: c of each node; otherwise the radix x radix matrix (c w^i)^k of each node, row i, column k
    twiddles: Vec<Shoup>,
}

impl CyclicNtt {
    /// Tables for length M >= 1.
    ///
    /// # Errors
    /// When q is not 1 mod M.
    pub fn new(modulus: Modulus, length: usize) -> Result<CyclicNtt, RootError> {
        let root = element_of_order(length as u64, &modulus)?;
        let power = |e: usize| modulus.shoup(modulus.pow(root, (e % length) as u64));
        let mut stages = Vec::new();
        // a node is the exponent e of T^(current) - root^e
        let mut nodes = vec![0usize];
        // large radices first: radix 2 is cheapest where the blocks are small
        for radix in factor(length as u64).into_iter().rev().map(|r| r as usize) {
            let children = |e: usize| (0..radix).map(move |i| e / radix + i * (length / radix));
            let twiddles = match radix {
                2 => nodes.iter().map(|e| power(e / 2)).collect(),
                _ => nodes
                    .iter()
                    .flat_map(|&e| children(e).flat_map(|c| (0..radix).map(move |k| k * c)))
                    .map(power)
                    .collect(),
            };
            stages.push(Stage { radix, twiddles });
            nodes = nodes.iter().flat_map(|&e| children(e)).collect();
        }
        let mut ntt = CyclicNtt { modulus, length, stages, fast: None };
        ntt.select(Simd::active());
        Ok(ntt)
    }

    /// Chooses the kernels.
    pub(in crate::math) fn select(&mut self, simd: Simd) {
        let stages: Vec<_> = self.stages.iter().map(|s| (s.radix, s.twiddles.as_slice())).collect();
        self.fast = match simd {
            Simd::Portable => None,
            Simd::Avx2(proof) => CyclicTables::new(proof, self.modulus, &stages),
        };
    }

    /// Rows c -> F^T (k * F c), with F the transform and k one constant of `kernel` for every row in tree order; residues in
    /// and out.
    pub fn correlate(&self, rows: &mut [u64], kernel: &[Shoup]) {
        assert_eq!(kernel.len(), self.length, "one constant per row");
        if let Some(fast) = &self.fast
            && rows.len().is_multiple_of(COLUMNS * self.length)
        {
            return fast.correlate(rows, kernel);
        }
        let (m, width) = (&self.modulus, rows.len() / self.length);
        self.forward(rows);
        for (row, &k) in rows.chunks_exact_mut(width).zip(kernel) {
            row.iter_mut().for_each(|x| *x = m.mul_shoup_lazy(*x, k));
        }
        self.transposed(rows);
        rows.iter_mut().for_each(|x| *x = m.reduce_once(*x));
    }

    /// Rows c_t -> rows sum_t c_t g^(f t), f in tree order, in place. In and out [0, 4q).
    pub fn forward(&self, rows: &mut [u64]) {
        let m = &self.modulus;
        let mut block = rows.len();
        assert!(block.is_multiple_of(self.length), "whole rows");
        for stage in &self.stages {
            let chunks = rows.chunks_exact_mut(block);
            block /= stage.radix;
            match stage.radix {
                2 => chunks.zip(&stage.twiddles).for_each(|(chunk, &w)| {
                    let (x, y) = chunk.split_at_mut(block);
                    butterflies(m, x, y, w);
                }),
                r => chunks.zip(stage.twiddles.chunks_exact(r * r)).for_each(|(chunk, matrix)| {
                    multiply_columns(m, chunk, r, |i, k| matrix[i * r + k]);
                }),
            }
        }
    }

    /// The transpose of [`CyclicNtt::forward`]: rows c_f in tree order -> rows sum_f c_f g^(f t), t natural, in place.
    /// In and out [0, 2q).
    pub fn transposed(&self, rows: &mut [u64]) {
        let m = &self.modulus;
        let mut block = rows.len() / self.length;
        for stage in self.stages.iter().rev() {
            let chunks = rows.chunks_exact_mut(block * stage.radix);
            match stage.radix {
                2 => chunks.zip(&stage.twiddles).for_each(|(chunk, &w)| {
                    let (x, y) = chunk.split_at_mut(block);
                    transposed_butterflies(m, x, y, w);
                }),
                r => chunks.zip(stage.twiddles.chunks_exact(r * r)).for_each(|(chunk, matrix)| {
                    multiply_columns(m, chunk, r, |i, k| matrix[k * r + i]);
                }),
            }
            block *= stage.radix;
        }
    }
}

/// The low `bits` bits of i, reversed.
#[inline(always)]
pub fn bit_reverse(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}

/// (x, y) -> (x + w y, x - w y). In and out [0, 4q).
#[inline(always)]
fn butterfly(m: &Modulus, x: &mut u64, y: &mut u64, w: Shoup) {
    let twice = 2 * m.value();
    let u = reduce_below(*x, twice);
    let v = m.mul_shoup_lazy(*y, w);
    *x = u.wrapping_add(v);
    *y = u.wrapping_add(twice).wrapping_sub(v);
}

/// (x, y) -> (x + y, w (x - y)). In and out [0, 2q).
#[inline(always)]
fn transposed_butterfly(m: &Modulus, x: &mut u64, y: &mut u64, w: Shoup) {
    let twice = 2 * m.value();
    let (u, v) = (*x, *y);
    *x = reduce_below(u.wrapping_add(v), twice);
    *y = m.mul_shoup_lazy(u.wrapping_add(twice).wrapping_sub(v), w);
}

fn butterflies(m: &Modulus, x: &mut [u64], y: &mut [u64], w: Shoup) {
    for (x, y) in x.iter_mut().zip(y) {
        butterfly(m, x, y, w);
    }
}

fn transposed_butterflies(m: &Modulus, x: &mut [u64], y: &mut [u64], w: Shoup) {
    for (x, y) in x.iter_mut().zip(y) {
        transposed_butterfly(m, x, y, w);
    }
}

fn quarters(block: &mut [u64]) -> impl Iterator<Item = (((&mut u64, &mut u64), &mut u64), &mut u64)> {
    let (low, high) = block.split_at_mut(block.len() / 2);
    let (b0, b1) = low.split_at_mut(low.len() / 2);
    let (b2, b3) = high.split_at_mut(high.len() / 2);
    b0.iter_mut().zip(b1).zip(b2).zip(b3)
}

/// Two stages below `node`.
fn butterflies_radix_4(m: &Modulus, block: &mut [u64], w: &[Shoup], node: usize) {
    let (w1, w2, w3) = (w[node], w[2 * node], w[2 * node + 1]);
    for (((x0, x1), x2), x3) in quarters(block) {
        butterfly(m, x0, x2, w1);
        butterfly(m, x1, x3, w1);
        butterfly(m, x0, x1, w2);
        butterfly(m, x2, x3, w3);
    }
}

/// The inverse of two stages below `node`, without the factor 1/4.
fn transposed_butterflies_radix_4(m: &Modulus, block: &mut [u64], w: &[Shoup], node: usize) {
    let (w1, w2, w3) = (w[node], w[2 * node], w[2 * node + 1]);
    for (((x0, x1), x2), x3) in quarters(block) {
        transposed_butterfly(m, x0, x1, w2);
        transposed_butterfly(m, x2, x3, w3);
        transposed_butterfly(m, x0, x2, w1);
        transposed_butterfly(m, x1, x3, w1);
    }
}

/// Every column of `chunk`, seen as r rows, times the r x r matrix `entry(i, k)`. In any word, out [0, 2q).
fn multiply_columns(m: &Modulus, chunk: &mut [u64], r: usize, entry: impl Fn(usize, usize) -> Shoup) {
    let (width, twice) = (chunk.len() / r, 2 * m.value());
    let mut column = vec![0; r];
    for j in 0..width {
        for k in 0..r {
            column[k] = chunk[k * width + j];
        }
        for i in 0..r {
            chunk[i * width + j] = column
                .iter()
                .enumerate()
                .fold(0, |sum, (k, &x)| reduce_below(sum + m.mul_shoup_lazy(x, entry(i, k)), twice));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::prime::primes_near;

    fn modulus(bits: u32, step: u64) -> Modulus {
        let q = primes_near(bits, step, 1, &[]).expect("a prime")[0];
        Modulus::new(q).expect("in range")
    }

    fn evaluate(m: &Modulus, a: &[u64], point: u64) -> u64 {
        a.iter().rev().fold(0, |sum, &c| m.add(m.mul(sum, point), c))
    }

    fn noise(m: &Modulus, len: usize) -> Vec<u64> {
        (0..len as u64).map(|i| m.reduce(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
    }

    #[test]
    fn negacyclic_values_are_those_at_odd_powers() {
        for log_n in 2..=8 {
            for bits in [20, 45, 60] {
                let n = 1 << log_n;
                let m = modulus(bits, 2 * n as u64);
                let mut ntt = NegacyclicNtt::new(m, log_n).expect("q = 1 mod 2N");
                for (a, simd) in [(noise(&m, n), Simd::best()), (vec![m.value() - 1; n], Simd::Portable)] {
                    ntt.select(simd);
                    let mut values = a.clone();
                    ntt.forward(&mut values);
                    for i in 0..n {
                        let point = m.pow(ntt.psi(), 2 * bit_reverse(i, log_n) as u64 + 1);
                        assert_eq!(values[i], evaluate(&m, &a, point));
                    }
                    ntt.inverse(&mut values);
                    assert_eq!(values, a);
                }
            }
        }
    }

    #[test]
    fn large_transform_inverts() {
        let m = modulus(60, 1 << 16);
        let ntt = NegacyclicNtt::new(m, 15).expect("q = 1 mod 2N");
        let a = noise(&m, 1 << 15);
        let mut b = a.clone();
        ntt.forward(&mut b);
        ntt.inverse(&mut b);
        assert_eq!(a, b);
    }

    #[test]
    fn cyclic_transform_then_its_transpose_is_the_square_of_the_fourier_matrix() {
        for length in [1, 2, 4, 6, 12, 16, 18, 30, 42, 192] {
            for bits in [30, 60] {
                let (m, width) = (modulus(bits, length as u64 * 2), 3);
                let ntt = CyclicNtt::new(m, length).expect("q = 1 mod M");
                let g = element_of_order(length as u64, &m).expect("divides");
                let a = noise(&m, length * width);
                let mut rows = a.clone();
                ntt.forward(&mut rows);
                let mut values: Vec<u64> = rows.iter().map(|&x| m.reduce_twice(x)).collect();
                let column =
                    |rows: &[u64], j: usize| rows.iter().skip(j).step_by(width).copied().collect::<Vec<_>>();
                let mut expected: Vec<u64> =
                    (0..length as u64).map(|f| evaluate(&m, &column(&a, 1), m.pow(g, f))).collect();
                let mut found = column(&values, 1);
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected);
                ntt.transposed(&mut values);
                for (t, row) in values.chunks(width).enumerate() {
                    for j in 0..width {
                        let mirrored = a[(length - t) % length * width + j];
                        assert_eq!(m.reduce_twice(row[j]), m.mul(m.reduce(length as u64), mirrored));
                    }
                }
            }
        }
    }
}
