//! Every kernel against the portable one, bit for bit: random and extreme inputs, at the largest moduli of each range.

use super::*;
use crate::math::modulus::{Modulus, Shoup};
use crate::math::ntt::{CyclicNtt, NegacyclicNtt};
use crate::math::prime::primes_near;
use crate::math::products::{self, MAX_TERMS};
use crate::math::rns::round_sum;
use proptest::prelude::*;

/// Bit lengths at which kernels change: the largest moduli with few reductions, with many, and one beyond.
const BITS: [u32; 6] = [30, 43, 47, 49, 51, 52];

/// A prime of exactly that many bits, close to the largest.
fn modulus(bits: u32, step: u64) -> Modulus {
    let primes = primes_near(bits, step, 20, &[]).expect("enough");
    let below = primes.into_iter().filter(|p| p >> bits == 0).max().expect("one is below");
    Modulus::new(below).expect("in range")
}

/// Residues picked by the words: extremes for the most part.
fn residues(m: &Modulus, words: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let q = m.value();
    let pick = |word: u64| match word % 8 {
        0..3 => q - 1,
        3 => 0,
        4 => q / 2,
        5 => q / 2 + 1,
        _ => m.reduce(word / 8),
    };
    words.into_iter().map(pick).collect()
}

fn noise(seed: u64, len: usize) -> impl Iterator<Item = u64> {
    (0..len as u64).map(move |i| {
        let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_mul(2 * seed + 1);
        (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
    })
}

/// All ones of a kind, and mixtures.
fn inputs(m: &Modulus, len: usize, seed: u64) -> Vec<Vec<u64>> {
    let top = m.value() - 1;
    let alternating = (0..len).map(|i| if i % 2 == 0 { top } else { 0 }).collect();
    vec![vec![top; len], vec![top / 2; len], alternating, residues(m, noise(seed, len))]
}

/// Results of the two sets of kernels.
fn both<T: Clone, R>(tables: &T, select: impl Fn(&mut T, Simd), f: impl Fn(&T) -> R) -> [R; 2] {
    [Simd::Portable, Simd::best()].map(|simd| {
        let mut tables = tables.clone();
        select(&mut tables, simd);
        f(&tables)
    })
}

fn negacyclic_agrees(log_n: u32, bits: u32, seed: u64) {
    let n = 1 << log_n;
    let m = modulus(bits, 2 * n as u64);
    let ntt = NegacyclicNtt::new(m, log_n).expect("q = 1 mod 2N");
    for input in inputs(&m, n, seed) {
        for transform in [NegacyclicNtt::forward, NegacyclicNtt::inverse] {
            let [expected, found] = both(&ntt, NegacyclicNtt::select, |ntt| {
                let mut a = input.clone();
                transform(ntt, &mut a);
                a
            });
            assert_eq!(expected, found, "length {n}, {} bits", m.bits());
        }
    }
}

fn cyclic_agrees(length: usize, width: usize, bits: u32, seed: u64) {
    let m = modulus(bits, 2 * length as u64);
    let ntt = CyclicNtt::new(m, length).expect("q = 1 mod M");
    for (input, kernel) in inputs(&m, length * width, seed).into_iter().zip(inputs(&m, length, seed + 1)) {
        let kernel: Vec<Shoup> = kernel.into_iter().map(|k| m.shoup(k)).collect();
        let [expected, found] = both(&ntt, CyclicNtt::select, |ntt| {
            let mut rows = input.clone();
            ntt.correlate(&mut rows, &kernel);
            rows
        });
        assert_eq!(expected, found, "length {length}, width {width}, {} bits", m.bits());
    }
}

#[test]
fn negacyclic_transforms_agree_at_every_length() {
    for log_n in 2..=14 {
        for bits in BITS {
            negacyclic_agrees(log_n, bits, 1);
        }
    }
    negacyclic_agrees(16, 47, 2);
    negacyclic_agrees(17, 51, 3);
}

#[test]
fn correlations_agree_at_many_lengths() {
    for length in [1, 2, 4, 6, 8, 10, 12, 16, 18, 30, 32, 42, 64, 96, 128, 192, 256, 576, 1152] {
        for (width, bits) in [(8, 43), (16, 47), (32, 51), (8, 52), (12, 49), (8, 30)] {
            cyclic_agrees(length, width, bits, length as u64);
        }
    }
}

/// Every operation on vectors of `len` residues, sums of `terms` terms, words of `word_bits` bits under constants.
fn products_agree(bits: u32, len: usize, terms: usize, word_bits: u32, seed: u64) {
    let m = modulus(bits, 64);
    let words = |seed: u64, max: u64| noise(seed, len).map(move |x| if x % 3 == 0 { max } else { x & max });
    let of_words: Vec<Vec<u64>> =
        (0..terms as u64).map(|i| words(seed + i, (1 << word_bits) - 1).collect()).collect();
    for (a, b) in inputs(&m, len, seed).into_iter().zip(inputs(&m, len, seed + 1).into_iter().rev()) {
        let constants = residues(&m, noise(seed, terms));
        let [expected, found] = [Simd::Portable, Simd::best()].map(|simd| {
            let products = products::Products::with(simd, &m);
            let mut results = vec![a.clone(); 10];
            let [product, sum, scaled, difference, added, subtracted, negated, scaled_sum, first, second] =
                results.as_mut_slice()
            else {
                unreachable!("as many as there are names")
            };
            products.mul_assign(product, &b);
            products.mul_add_assign(sum, &b, &a);
            products.scale(scaled, m.shoup(b[0]));
            products.scale_difference(difference, &b, m.shoup(b[len - 1]));
            products.add_assign(added, &b);
            products.sub_assign(subtracted, &b);
            products.neg_assign(negated);
            products.scale_add_assign(scaled_sum, &b, m.shoup(b[len / 2]));
            let start = [None, Some((b.as_slice(), m.shoup(b[len / 2])))];
            let of_residues = vec![(a.as_slice(), [b.as_slice(), a.as_slice()]); terms];
            products.sums_of_products(start, &of_residues, [first, second]);
            let of_words: Vec<_> =
                of_words.iter().map(Vec::as_slice).zip(constants.iter().copied()).collect();
            let (mut combination, mut rounded) = (vec![0; len], vec![0; len]);
            products.combination(&of_words, word_bits, &mut combination);
            let fraction = 1.0 / (1u64 << word_bits) as f64;
            let of_words: Vec<_> = of_words.iter().map(|&(x, _)| (x, fraction)).collect();
            round_sum(simd, &of_words, word_bits, &mut rounded);
            results.extend([combination, rounded]);
            results
        });
        assert_eq!(expected, found, "{} bits, {len} places, {terms} terms", m.bits());
    }
}

#[test]
fn products_agree_at_the_ends_of_their_ranges() {
    for bits in BITS {
        for terms in [1, 2, 40, 41, MAX_TERMS] {
            for word_bits in [40, 52, 53, 60] {
                products_agree(bits, 64, terms, word_bits, 3);
            }
        }
        (1..20).for_each(|len| products_agree(bits, len, 3, 49, 4));
    }
}

/// Sums of two products of A tiles by B tiles, against the definition.
fn tiles_agree<const A: usize, const B: usize>(n: usize, bits: u32, seed: u64) {
    let m = modulus(bits, 64);
    let Simd::Avx2(proof) = Simd::best() else { return };
    let Some(mut tiles) = TileProducts::<A, B>::new(proof, m, n) else { return assert!(bits > 49) };
    let pool = inputs(&m, n * n, seed);
    let left: [&[u64]; A] = std::array::from_fn(|a| pool[(a + seed as usize) % 4].as_slice());
    let right: [&[u64]; B] = std::array::from_fn(|b| pool[(3 * b + seed as usize / 4) % 4].as_slice());
    let stride = n + 3;
    let mut found = vec![0; A * B * n * stride];
    // the second run finds no trace of the first
    for _ in 0..2 {
        for swap in [0, 1] {
            for k in 0..n {
                (0..A).for_each(|a| tiles.load_left(a, k, &left[(a + swap) % A][k * n..][..n]));
                (0..B).for_each(|b| tiles.load_right(b, k, &right[b][k * n..][..n]));
            }
            tiles.multiply();
        }
        tiles.finish(&mut found, stride);
    }
    for (i, row) in found.chunks_exact(stride).enumerate() {
        let (a, b, r) = (i / n % A, i / (A * n), i % n);
        for (j, &found) in row[..n].iter().enumerate() {
            let term = |a: usize, k: usize| {
                m.mul(left[a % A][k * n + j], right[b][(k + n - r) % n * n + (j + r) % n])
            };
            let sum = (0..n).fold(0, |sum, k| m.add(sum, m.add(term(a, k), term(a + 1, k))));
            assert_eq!(found, sum, "n {n}, {bits} bits, {r}, {j}");
        }
    }
}

#[test]
fn tile_products_agree_with_their_definition() {
    for (n, seeds) in [(4, 4), (8, 4), (16, 16), (32, 2), (64, 1)] {
        for bits in [20, 43, 44, 46, 47, 48, 49, 50] {
            for seed in 0..seeds {
                tiles_agree::<1, 1>(n, bits, seed);
                tiles_agree::<2, 2>(n, bits, seed);
            }
            tiles_agree::<1, 2>(n, bits, 2);
            tiles_agree::<2, 1>(n, bits, 3);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn transforms_agree(seed: u64, log_n in 6u32..=10, which in 0usize..6) {
        negacyclic_agrees(log_n, BITS[which], seed >> 1);
        cyclic_agrees(1 << (log_n - 2), 8, BITS[which], seed >> 1);
    }
    #[test]
    fn products_agree_on_any_input(seed: u64, len in 1usize..200, terms in 1usize..20, which in 0usize..6) {
        products_agree(BITS[which], len, terms, 52, seed >> 1);
    }
}
