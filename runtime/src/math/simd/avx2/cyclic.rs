//! The correlation of rows with a fixed vector by two cyclic transforms, as
//! [`CyclicNtt::correlate`](crate::math::ntt::CyclicNtt::correlate).
//!
//! Eight columns at a time are copied to a buffer as doubles, where all stages and the product in between are done: a block
//! of 256 rows fills half of the first-level cache.

use super::Avx2;
use super::butterflies::{NARROW_BITS, forward, transposed};
use super::field::{
    Constant, Factor, Field, MAX_BITS, Quad, from_words, load, load_words, store, store_words,
};
use crate::math::modulus::{Modulus, Shoup};
use std::arch::x86_64::*;

/// The part of a row that is worked on at a time.
type Cell = [Quad; 2];
/// Words of a cell.
pub(crate) const COLUMNS: usize = 8;

/// Tables of the transform and its transpose.
#[derive(Clone, Debug)]
pub(crate) struct CyclicTables {
    proof: Avx2,
    modulus: Modulus,
    groups: Vec<Group>,
    /// the root of unity of order 3 of stages of radix 3
    third: Constant,
}

/// Up to three stages of radix 2, or one of another radix: the nodes of one depth.
#[derive(Clone, Debug)]
struct Group {
    radix: usize,
    /// of each node: `radix` constants (see [`forward`]), or the matrix of the stage
    constants: Vec<Constant>,
}

impl CyclicTables {
    /// From the stages of the tree, radix and constants; `None` when the modulus is too large.
    pub(crate) fn new(proof: Avx2, modulus: Modulus, stages: &[(usize, &[Shoup])]) -> Option<CyclicTables> {
        let (mut groups, mut rest) = (Vec::new(), stages);
        while let Some(&(radix, matrices)) = rest.first() {
            let twos = rest.iter().take_while(|(radix, _)| *radix == 2).count();
            let depth = match twos {
                0 | 1 => 1,
                2 | 4 => 2,
                _ => 3,
            };
            let (group, deeper) = rest.split_at(depth);
            groups.push(if twos == 0 {
                Group {
                    radix,
                    constants: matrices.iter().map(|w| Constant::new(&modulus, w.value)).collect(),
                }
            } else {
                Group::of_twos(&modulus, group)
            });
            rest = deeper;
        }
        // at the root of the tree, entry (1, 1) of the matrix is the root of unity itself
        let root = stages.iter().find(|(radix, _)| *radix == 3).map_or(1, |(_, matrices)| {
            let [c, child] = [matrices[1], matrices[4]].map(|w| w.value);
            modulus.mul(child, modulus.inv(c))
        });
        let third = Constant::new(&modulus, root);
        (modulus.bits() <= MAX_BITS).then_some(CyclicTables { proof, modulus, groups, third })
    }

    /// Rows c -> F^T (k * F c) for the products k of `kernel`; residues in and out. Rows are whole cells.
    pub(crate) fn correlate(&self, rows: &mut [u64], kernel: &[Shoup]) {
        let Avx2(()) = self.proof;
        assert!(rows.len().is_multiple_of(COLUMNS * kernel.len()), "whole cells");
        let kernel: Vec<Constant> = kernel.iter().map(|k| Constant::new(&self.modulus, k.value)).collect();
        let cells = rows.as_chunks_mut::<4>().0.as_chunks_mut::<2>().0;
        // SAFETY: the proof at hand says that the machine has the features.
        unsafe {
            if self.modulus.bits() <= NARROW_BITS {
                self.columns::<false>(cells, &kernel);
            } else {
                self.columns::<true>(cells, &kernel);
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn columns<const WIDE: bool>(&self, cells: &mut [Cell], kernel: &[Constant]) {
        let (f, width) = (Field::new(&self.modulus), cells.len() / kernel.len());
        let mut buffer = vec![[[0; 4]; 2]; kernel.len()];
        for column in 0..width {
            for (to, from) in buffer.iter_mut().zip(cells.iter().skip(column).step_by(width)) {
                for (to, from) in to.iter_mut().zip(from) {
                    store(to, from_words(load_words(from)));
                }
            }
            self.forward::<WIDE>(f, &mut buffer);
            for (x, &k) in buffer.as_flattened_mut().chunks_exact_mut(2).zip(kernel) {
                let k = Factor::splat(k);
                x.iter_mut().for_each(|x| store(x, f.scale(load(x), k)));
            }
            self.transposed::<WIDE>(f, &mut buffer);
            for (from, to) in buffer.iter().zip(cells.iter_mut().skip(column).step_by(width)) {
                for (to, from) in to.iter_mut().zip(from) {
                    store_words(to, f.to_words(f.reduce(load(from))));
                }
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn forward<const WIDE: bool>(&self, f: Field, rows: &mut [Cell]) {
        let mut size = rows.len();
        for Group { radix, constants } in &self.groups {
            let blocks = rows.chunks_exact_mut(size);
            size /= radix;
            match radix {
                8 => blocks.zip(constants.as_chunks().0).for_each(|(x, c)| forward_block::<8, WIDE>(f, x, c)),
                4 => blocks.zip(constants.as_chunks().0).for_each(|(x, c)| forward_block::<4, WIDE>(f, x, c)),
                2 => blocks.zip(constants.as_chunks().0).for_each(|(x, c)| forward_block::<2, WIDE>(f, x, c)),
                3 => {
                    blocks.zip(constants.as_chunks().0).for_each(|(x, c)| forward_thirds(f, x, c, self.third))
                }
                &r => blocks
                    .zip(constants.chunks_exact(r * r))
                    .for_each(|(x, c)| multiply_columns(f, x, r, |i, k| c[i * r + k])),
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn transposed<const WIDE: bool>(&self, f: Field, rows: &mut [Cell]) {
        let mut size = 1;
        for Group { radix, constants } in self.groups.iter().rev() {
            size *= radix;
            let blocks = rows.chunks_exact_mut(size);
            match radix {
                8 => blocks
                    .zip(constants.as_chunks().0)
                    .for_each(|(x, c)| transposed_block::<8, WIDE>(f, x, c)),
                4 => blocks
                    .zip(constants.as_chunks().0)
                    .for_each(|(x, c)| transposed_block::<4, WIDE>(f, x, c)),
                2 => blocks
                    .zip(constants.as_chunks().0)
                    .for_each(|(x, c)| transposed_block::<2, WIDE>(f, x, c)),
                3 => blocks
                    .zip(constants.as_chunks().0)
                    .for_each(|(x, c)| transposed_thirds(f, x, c, self.third)),
                &r => blocks
                    .zip(constants.chunks_exact(r * r))
                    .for_each(|(x, c)| multiply_columns(f, x, r, |i, k| c[k * r + i])),
            }
        }
    }
}

impl Group {
    fn of_twos(m: &Modulus, stages: &[(usize, &[Shoup])]) -> Group {
        let radix = 1 << stages.len();
        let constant = |node: usize, i: usize| {
            let depth = i.max(1).ilog2() as usize;
            Constant::new(m, stages[depth].1[((node << depth) + i.max(1)) - (1 << depth)].value)
        };
        let nodes = 0..stages[0].1.len();
        Group {
            radix,
            constants: nodes
                .flat_map(|node| (0..radix).map(move |i| (node, i)))
                .map(|(n, i)| constant(n, i))
                .collect(),
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn forward_block<const R: usize, const WIDE: bool>(f: Field, block: &mut [Cell], constants: &[Constant; R]) {
    let (len, w) = (block.len() / R, constants.map(|c| Factor::splat(c)));
    let cells = &mut block.as_flattened_mut()[..2 * R * len];
    for j in 0..2 * len {
        let mut x = [_mm256_setzero_pd(); R];
        for i in 0..R {
            x[i] = load(&cells[2 * i * len + j]);
        }
        forward::<R, WIDE>(f, &mut x, &w);
        for i in 0..R {
            store(&mut cells[2 * i * len + j], x[i]);
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn transposed_block<const R: usize, const WIDE: bool>(
    f: Field,
    block: &mut [Cell],
    constants: &[Constant; R],
) {
    let (len, w) = (block.len() / R, constants.map(|c| Factor::splat(c)));
    let cells = &mut block.as_flattened_mut()[..2 * R * len];
    for j in 0..2 * len {
        let mut x = [_mm256_setzero_pd(); R];
        for i in 0..R {
            x[i] = load(&cells[2 * i * len + j]);
        }
        transposed::<R, WIDE>(f, &mut x, &w);
        for i in 0..R {
            store(&mut cells[2 * i * len + j], x[i]);
        }
    }
}

/// Three parts of a block from the matrix (c w^i)^k, w + w^2 = -1: with y = c x_1 and z = c^2 x_2,
/// (x_0 + y + z, x_0 - z + w (y - z), x_0 - y - w (y - z)). Within 2q for inputs within 2^52.
#[target_feature(enable = "avx2,fma")]
fn forward_thirds(f: Field, block: &mut [Cell], matrix: &[Constant; 9], w: Constant) {
    let [c, square, w] = [matrix[1], matrix[2], w].map(|c| Factor::splat(c));
    let (len, cells) = (2 * block.len() / 3, block.as_flattened_mut());
    for j in 0..len {
        let x = f.reduce(load(&cells[j]));
        let y = f.scale(load(&cells[len + j]), c);
        let z = f.scale(load(&cells[2 * len + j]), square);
        let turned = f.scale(_mm256_sub_pd(y, z), w);
        store(&mut cells[j], _mm256_add_pd(x, _mm256_add_pd(y, z)));
        store(&mut cells[len + j], _mm256_add_pd(_mm256_sub_pd(x, z), turned));
        store(&mut cells[2 * len + j], _mm256_sub_pd(_mm256_sub_pd(x, y), turned));
    }
}

/// As [`forward_thirds`] with the transposed matrix. Within 3q/4 for inputs within 2^52.
#[target_feature(enable = "avx2,fma")]
fn transposed_thirds(f: Field, block: &mut [Cell], matrix: &[Constant; 9], w: Constant) {
    let [c, square, w] = [matrix[1], matrix[2], w].map(|c| Factor::splat(c));
    let (len, cells) = (2 * block.len() / 3, block.as_flattened_mut());
    for j in 0..len {
        let [x, y, z] = [0, 1, 2].map(|part| load(&cells[part * len + j])).map(|x| f.reduce(x));
        let turned = f.scale(_mm256_sub_pd(y, z), w);
        let (second, third) =
            (_mm256_add_pd(_mm256_sub_pd(x, z), turned), _mm256_sub_pd(_mm256_sub_pd(x, y), turned));
        store(&mut cells[j], f.reduce(_mm256_add_pd(x, _mm256_add_pd(y, z))));
        store(&mut cells[len + j], f.scale(second, c));
        store(&mut cells[2 * len + j], f.scale(third, square));
    }
}

/// Every column of the block, seen as r rows, times the r x r matrix `entry(i, k)`; results are reduced.
#[target_feature(enable = "avx2,fma")]
fn multiply_columns(f: Field, block: &mut [Cell], r: usize, entry: impl Fn(usize, usize) -> Constant) {
    let cells = block.as_flattened_mut();
    let len = cells.len() / r;
    let mut column = vec![_mm256_setzero_pd(); r];
    for j in 0..len {
        for k in 0..r {
            column[k] = load(&cells[k * len + j]);
        }
        for i in 0..r {
            let mut sum = _mm256_setzero_pd();
            for (k, &x) in column.iter().enumerate() {
                sum = f.reduce(_mm256_add_pd(sum, f.scale(x, Factor::splat(entry(i, k)))));
            }
            store(&mut cells[i * len + j], sum);
        }
    }
}
