//! The negacyclic transform, in the order and with the tables of [`NegacyclicNtt`](crate::math::ntt::NegacyclicNtt).
//!
//! Words become doubles in the first pass over the data and residues again in the last; between passes the buffer holds the
//! bits of doubles. A pass does up to three stages. The last five stages (the first five of the inverse) are done in
//! registers, on 32 neighbours: three stages across eight vectors, transpositions, two stages with constants by lane.
//!
//! The tables are as large as the data and are read once, so they hold values alone: ratios are multiplied out
//! ([`Field::factor`]).
//!
//! *Ranges.* As in `butterflies`, but a product is within q (1/2 + |x| 2^-53) of zero, x the number multiplied. Narrow moduli:
//! forwards |x| < 2^51, nothing changes; in the transpose products are below q, so that values of the next group stay below
//! 8 (4q) <= 2^52. Wide moduli: forwards values stay below 4q/3, in the transpose below q, as
//! q (1/2 + 2q 2^-53) <= q shows.

use super::Avx2;
use super::butterflies::{NARROW_BITS, forward, transposed};
use super::field::{
    Constant, Factor, Field, MAX_BITS, Quad, from_words, load, load_doubles, load_words, store, store_words,
};
use crate::math::modulus::{Modulus, Shoup};
use std::arch::x86_64::*;

/// The shortest transform: five stages in registers after a pass of one.
const MIN_LENGTH: usize = 64;
/// Vectors of a leaf, the stages in registers.
const LEAF: usize = 8;
/// Parts of at most this many vectors are finished before the next is begun, so that they stay in the first-level cache.
const NEAR: usize = 512;

/// Tables of both directions.
#[derive(Clone, Debug)]
pub(crate) struct NegacyclicTables {
    proof: Avx2,
    modulus: Modulus,
    forward: Direction,
    inverse: Direction,
}

#[derive(Clone, Debug)]
struct Direction {
    /// constants of the nodes below N / 4, root at 1
    nodes: Vec<f64>,
    /// those of the last two stages below four neighbouring nodes: their own, their first children's, their second's
    leaves: Vec<[[f64; 4]; 3]>,
}

impl Direction {
    fn new(m: &Modulus, w: &[Shoup]) -> Direction {
        let quarter = w.len() / 4;
        let value = |w: &Shoup| m.center(w.value) as f64;
        let quad = |f: &dyn Fn(usize) -> usize| std::array::from_fn(|i| value(&w[f(i)]));
        let leaf =
            |first: usize| [quad(&|i| first + i), quad(&|i| 2 * (first + i)), quad(&|i| 2 * (first + i) + 1)];
        Direction {
            nodes: w[..quarter].iter().map(value).collect(),
            leaves: (quarter..2 * quarter).step_by(4).map(leaf).collect(),
        }
    }

    /// The constants of a group of R below `node`.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn group<const R: usize>(&self, f: Field, node: usize) -> [Factor; R] {
        let mut w = [f.factor(_mm256_set1_pd(self.nodes[node])); R];
        for i in 2..R {
            w[i] = f.factor(_mm256_set1_pd(self.nodes[((node - 1) << i.ilog2()) + i]));
        }
        w
    }

    /// The constants by lane below the leaf `node`.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn lanes(&self, f: Field, node: usize) -> [Factor; 4] {
        let [first, second, third] =
            self.leaves[node - self.nodes.len() / 4].map(|c| f.factor(load_doubles(&c, 0)));
        [first, first, second, third]
    }
}

impl NegacyclicTables {
    /// From the constants of the nodes in both directions; `None` when the modulus is too large or the length too small.
    pub(crate) fn new(
        proof: Avx2,
        modulus: Modulus,
        forward: &[Shoup],
        inverse: &[Shoup],
    ) -> Option<NegacyclicTables> {
        (modulus.bits() <= MAX_BITS && forward.len() >= MIN_LENGTH).then(|| NegacyclicTables {
            proof,
            modulus,
            forward: Direction::new(&modulus, forward),
            inverse: Direction::new(&modulus, inverse),
        })
    }

    /// Coefficients -> values, in place; residues in and out.
    pub(crate) fn forward(&self, a: &mut [u64]) {
        let (Avx2(()), blocks) = (self.proof, self.blocks(a));
        // SAFETY: the proof at hand says that the machine has the features.
        unsafe {
            if self.modulus.bits() <= NARROW_BITS {
                self.descend::<false, true>(Field::new(&self.modulus), blocks, 1);
            } else {
                self.descend::<true, true>(Field::new(&self.modulus), blocks, 1);
            }
        }
    }

    /// Values -> coefficients times N `scale`, in place; residues in and out.
    pub(crate) fn inverse(&self, a: &mut [u64], scale: Shoup) {
        let (Avx2(()), blocks) = (self.proof, self.blocks(a));
        let scale = Constant::new(&self.modulus, scale.value);
        // SAFETY: as above.
        unsafe {
            if self.modulus.bits() <= NARROW_BITS {
                self.ascend::<false, true>(Field::new(&self.modulus), blocks, 1, scale);
            } else {
                self.ascend::<true, true>(Field::new(&self.modulus), blocks, 1, scale);
            }
        }
    }

    fn blocks<'a>(&self, a: &'a mut [u64]) -> &'a mut [Quad] {
        assert_eq!(a.len(), 4 * self.forward.nodes.len(), "length of the transform");
        a.as_chunks_mut().0
    }

    /// All stages below `node`; FIRST when the block still holds words.
    #[target_feature(enable = "avx2,fma")]
    fn descend<const WIDE: bool, const FIRST: bool>(&self, f: Field, block: &mut [Quad], node: usize) {
        let mut nodes = radix(block.len());
        self.pass::<WIDE, FIRST>(f, block, node, nodes);
        if block.len() > NEAR {
            let part = block.len() / nodes;
            for (i, part) in block.chunks_exact_mut(part).enumerate() {
                self.descend::<WIDE, false>(f, part, nodes * node + i);
            }
            return;
        }
        while block.len() > LEAF * nodes {
            let size = block.len() / nodes;
            for (i, part) in block.chunks_exact_mut(size).enumerate() {
                self.pass::<WIDE, false>(f, part, nodes * node + i, radix(size));
            }
            nodes *= radix(size);
        }
        for (i, leaf) in block.as_chunks_mut().0.iter_mut().enumerate() {
            self.forward_leaf::<WIDE>(f, leaf, nodes * node + i);
        }
    }

    /// The inverse of all stages below `node`; LAST when the block is to hold residues times `scale`.
    #[target_feature(enable = "avx2,fma")]
    fn ascend<const WIDE: bool, const LAST: bool>(
        &self,
        f: Field,
        block: &mut [Quad],
        node: usize,
        scale: Constant,
    ) {
        let radix_of_root = radix(block.len());
        let part = block.len() / radix_of_root;
        if block.len() > NEAR {
            for (i, part) in block.chunks_exact_mut(part).enumerate() {
                self.ascend::<WIDE, false>(f, part, radix_of_root * node + i, scale);
            }
        } else {
            let nodes = block.len() / LEAF;
            for (i, leaf) in block.as_chunks_mut().0.iter_mut().enumerate() {
                self.inverse_leaf::<WIDE>(f, leaf, nodes * node + i);
            }
            self.climb::<WIDE>(f, block, part, node, scale);
        }
        self.transposed_pass::<WIDE, LAST>(f, block, node, radix_of_root, scale);
    }

    /// Between the leaves of a block and its parts of `size` vectors.
    #[target_feature(enable = "avx2,fma")]
    fn climb<const WIDE: bool>(
        &self,
        f: Field,
        block: &mut [Quad],
        size: usize,
        node: usize,
        scale: Constant,
    ) {
        if size == LEAF {
            return;
        }
        self.climb::<WIDE>(f, block, size / radix(size), node, scale);
        let nodes = block.len() / size;
        for (i, part) in block.chunks_exact_mut(size).enumerate() {
            self.transposed_pass::<WIDE, false>(f, part, nodes * node + i, radix(size), scale);
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn pass<const WIDE: bool, const FIRST: bool>(
        &self,
        f: Field,
        block: &mut [Quad],
        node: usize,
        radix: usize,
    ) {
        match radix {
            2 => forward_pass::<WIDE, FIRST, 2>(f, block, &self.forward.group(f, node)),
            4 => forward_pass::<WIDE, FIRST, 4>(f, block, &self.forward.group(f, node)),
            _ => forward_pass::<WIDE, FIRST, 8>(f, block, &self.forward.group(f, node)),
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn transposed_pass<const WIDE: bool, const LAST: bool>(
        &self,
        f: Field,
        block: &mut [Quad],
        node: usize,
        radix: usize,
        scale: Constant,
    ) {
        let scale = Factor::splat(scale);
        match radix {
            2 => inverse_pass::<WIDE, LAST, 2>(f, block, &self.inverse.group(f, node), scale),
            4 => inverse_pass::<WIDE, LAST, 4>(f, block, &self.inverse.group(f, node), scale),
            _ => inverse_pass::<WIDE, LAST, 8>(f, block, &self.inverse.group(f, node), scale),
        }
    }

    /// The last five stages, down to residues.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn forward_leaf<const WIDE: bool>(&self, f: Field, leaf: &mut [Quad; LEAF], node: usize) {
        let mut x = leaf.each_ref().map(|x| load(x));
        forward::<8, WIDE>(f, &mut x, &self.forward.group(f, node));
        let [mut a, mut b] = halves(x).map(|x| transpose(x));
        forward::<4, WIDE>(f, &mut a, &self.forward.lanes(f, 2 * node));
        forward::<4, WIDE>(f, &mut b, &self.forward.lanes(f, 2 * node + 1));
        for (half, x) in leaf.chunks_exact_mut(4).zip([a, b]) {
            for (to, x) in half.iter_mut().zip(transpose(x)) {
                store_words(to, f.to_words(f.reduce(x)));
            }
        }
    }

    /// The first five stages of the inverse, from residues.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn inverse_leaf<const WIDE: bool>(&self, f: Field, leaf: &mut [Quad; LEAF], node: usize) {
        let x = leaf.each_ref().map(|x| from_words(load_words(x)));
        let [mut a, mut b] = halves(x).map(|x| transpose(x));
        transposed::<4, WIDE>(f, &mut a, &self.inverse.lanes(f, 2 * node));
        transposed::<4, WIDE>(f, &mut b, &self.inverse.lanes(f, 2 * node + 1));
        let ([x0, x1, x2, x3], [x4, x5, x6, x7]) = (transpose(a), transpose(b));
        let mut x = [x0, x1, x2, x3, x4, x5, x6, x7];
        transposed::<8, WIDE>(f, &mut x, &self.inverse.group(f, node));
        for (to, x) in leaf.iter_mut().zip(x) {
            store(to, x);
        }
    }
}

/// Parts of the first pass over a block of `size` vectors: 8, unless one or two stages are left above the leaves, or four,
/// which make two passes of two.
fn radix(size: usize) -> usize {
    match size / LEAF {
        2 => 2,
        4 | 16 => 4,
        _ => 8,
    }
}

#[target_feature(enable = "avx2,fma")]
fn forward_pass<const WIDE: bool, const FIRST: bool, const R: usize>(
    f: Field,
    block: &mut [Quad],
    w: &[Factor; R],
) {
    let len = block.len() / R;
    let parts: [&mut [Quad]; R] = split(block, len);
    for j in 0..len {
        let mut x = [_mm256_setzero_pd(); R];
        for i in 0..R {
            x[i] = if FIRST { from_words(load_words(&parts[i][j])) } else { load(&parts[i][j]) };
        }
        forward::<R, WIDE>(f, &mut x, w);
        for i in 0..R {
            store(&mut parts[i][j], x[i]);
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn inverse_pass<const WIDE: bool, const LAST: bool, const R: usize>(
    f: Field,
    block: &mut [Quad],
    w: &[Factor; R],
    scale: Factor,
) {
    let len = block.len() / R;
    let parts: [&mut [Quad]; R] = split(block, len);
    for j in 0..len {
        let mut x = [_mm256_setzero_pd(); R];
        for i in 0..R {
            x[i] = load(&parts[i][j]);
        }
        transposed::<R, WIDE>(f, &mut x, w);
        for i in 0..R {
            if LAST {
                store_words(&mut parts[i][j], f.to_words(f.scale(x[i], scale)));
            } else {
                store(&mut parts[i][j], x[i]);
            }
        }
    }
}

/// R parts of `len` vectors.
#[inline(always)]
fn split<const R: usize>(block: &mut [Quad], len: usize) -> [&mut [Quad]; R] {
    let mut parts = block.chunks_exact_mut(len);
    std::array::from_fn(|_| &mut parts.next().unwrap_or_default()[..len])
}

#[inline(always)]
fn halves([a, b, c, d, e, f, g, h]: [__m256d; 8]) -> [[__m256d; 4]; 2] {
    [[a, b, c, d], [e, f, g, h]]
}

/// Entry (i, lane) to (lane, i).
#[target_feature(enable = "avx2,fma")]
#[inline]
fn transpose(x: [__m256d; 4]) -> [__m256d; 4] {
    let (a, b) = (_mm256_unpacklo_pd(x[0], x[1]), _mm256_unpackhi_pd(x[0], x[1]));
    let (c, d) = (_mm256_unpacklo_pd(x[2], x[3]), _mm256_unpackhi_pd(x[2], x[3]));
    [
        _mm256_permute2f128_pd::<0x20>(a, c),
        _mm256_permute2f128_pd::<0x20>(b, d),
        _mm256_permute2f128_pd::<0x31>(a, c),
        _mm256_permute2f128_pd::<0x31>(b, d),
    ]
}
