//! Base conversion between sets of primes of a residue number system.
//!
//! A number is given modulo q_1, ..., q_k with D = q_1 ... q_k; its *centred* representative x in [-D/2, D/2] is wanted
//! modulo other primes. With y_i = x (D/q_i)^-1 mod q_i,
//!
//!   x = sum_i y_i D/q_i - v D,    v = round(sum_i y_i / q_i).
//!
//! The integer v is computed in floating point: it is exact unless x is within about k 2^-52 D of +-D/2, where the
//! other representative x -+ D may come out. No approximate overflow remains (Halevi, Polyakov, Shoup 2018/117,
//! section 2.2, against Cheon et al. 2018/931).

use crate::math::buffer::Buffer;
use crate::math::modulus::Modulus;
use crate::math::parallel::for_each_limb;
use crate::math::products::{MAX_TERMS, Products};
use crate::math::simd::{Simd, sum_of_fractions};

/// The most source primes: their products with a target residue are summed in 128 bits.
pub const MAX_SOURCES: usize = MAX_TERMS;

/// Constants to convert from one set of primes to another.
#[derive(Clone, Debug)]
pub struct BaseConverter {
    targets: Vec<Modulus>,
    /// the largest bit length of a source
    bits: u32,
    /// (D/q_i)^-1 mod q_i
    scale: Vec<u64>,
    /// 1 / q_i
    fractions: Vec<f64>,
    /// D/q_i mod t_j at `[j][i]`
    factors: Vec<Vec<u64>>,
    /// -D mod t_j
    overflow: Vec<u64>,
}

/// The scaled residues y_i and the overflow v of one polynomial: the part of a conversion that all targets share.
#[derive(Clone)]
pub struct Scaled {
    /// y_i at `[i][place]`
    limbs: Buffer,
    overflow: Buffer,
}

impl BaseConverter {
    /// Constants for pairwise different primes. At most [`MAX_SOURCES`] sources.
    pub fn new(sources: &[Modulus], targets: &[Modulus]) -> BaseConverter {
        assert!(sources.len() <= MAX_SOURCES, "{} source primes, at most {MAX_SOURCES}", sources.len());
        let without = |i: usize, m: &Modulus| {
            let others = sources.iter().enumerate().filter(|&(k, _)| k != i);
            others.fold(1, |product, (_, q)| m.mul(product, m.reduce(q.value())))
        };
        BaseConverter {
            targets: targets.to_vec(),
            bits: sources.iter().map(Modulus::bits).max().unwrap_or(0),
            scale: sources.iter().enumerate().map(|(i, q)| q.inv(without(i, q))).collect(),
            fractions: sources.iter().map(|q| 1.0 / q.value() as f64).collect(),
            factors: targets.iter().map(|t| (0..sources.len()).map(|i| without(i, t)).collect()).collect(),
            overflow: targets.iter().map(|t| t.neg(without(usize::MAX, t))).collect(),
        }
    }

    /// Number of source primes.
    pub fn sources(&self) -> usize {
        self.scale.len()
    }

    /// Number of target primes.
    pub fn targets(&self) -> usize {
        self.targets.len()
    }

    /// Prepares several polynomials of `degree` coefficients. `load(i, c, limbs)` writes their residues modulo source prime
    /// number i, multiplied by c.
    pub fn scale<const C: usize>(
        &self,
        degree: usize,
        load: impl Fn(usize, u64, [&mut [u64]; C]) + Sync,
    ) -> [Scaled; C] {
        let mut polys: [Buffer; C] = std::array::from_fn(|_| Buffer::dirty(degree * self.sources()));
        for_each_limb(polys.each_mut().map(|poly| &mut **poly), degree, |i, limbs| {
            load(i, self.scale[i], limbs);
        });
        polys.map(|limbs| {
            let mut overflow = Buffer::dirty(degree);
            let terms: Vec<_> = limbs.chunks_exact(degree).zip(self.fractions.iter().copied()).collect();
            round_sum(Simd::active(), &terms, self.bits, &mut overflow);
            Scaled { limbs, overflow }
        })
    }

    /// The centred representative modulo target prime number `target`.
    pub fn convert(&self, scaled: &Scaled, target: usize, out: &mut [u64]) {
        let limbs = scaled.limbs.chunks_exact(scaled.overflow.len());
        let overflow = (&*scaled.overflow, self.overflow[target]);
        let terms: Vec<(&[u64], u64)> =
            limbs.zip(self.factors[target].iter().copied()).chain([overflow]).collect();
        Products::new(&self.targets[target]).combination(&terms, self.bits, out);
    }
}

/// out = floor(1/2 + sum_i x_i f_i), words x_i below 2^`bits`, summed in the order of the terms.
pub(in crate::math) fn round_sum(simd: Simd, terms: &[(&[u64], f64)], bits: u32, out: &mut [u64]) {
    let done = match simd {
        Simd::Portable => 0,
        Simd::Avx2(proof) => sum_of_fractions(proof, terms, bits, out),
    };
    for (place, out) in out.iter_mut().enumerate().skip(done) {
        *out = terms.iter().fold(0.5, |sum, (x, f)| sum + x[place] as f64 * f) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::prime::primes_near;
    use proptest::prelude::*;

    fn moduli(bits: u32, count: usize) -> Vec<Modulus> {
        primes_near(bits, 64, count, &[]).expect("enough").iter().filter_map(|&q| Modulus::new(q)).collect()
    }

    proptest! {
        #[test]
        fn converts_the_centred_representative(x in -(1i128 << 118)..1i128 << 118, bits in 30u32..60) {
            let all = moduli(bits, 6);
            for k in 1..=3 {
                let (sources, targets) = all.split_at(k);
                let product: i128 = sources.iter().take(2).map(|q| i128::from(q.value())).product();
                let x = if k < 3 { x.rem_euclid(product) - product / 2 } else { x >> 29 };
                let converter = BaseConverter::new(sources, targets);
                let [scaled] = converter.scale(1, |i, c, [limb]: [&mut [u64]; 1]| {
                    limb[0] = sources[i].mul(sources[i].reduce_signed_wide(x), c);
                });
                for (j, t) in targets.iter().enumerate() {
                    let mut out = [0];
                    converter.convert(&scaled, j, &mut out);
                    prop_assert_eq!(out[0], t.reduce_signed_wide(x));
                }
            }
        }
    }

    #[test]
    fn largest_sums_do_not_overflow() {
        let all = moduli(60, 40);
        let (sources, targets) = all.split_at(39);
        let converter = BaseConverter::new(sources, targets);
        let [scaled] = converter.scale(300, |i, c, [limb]: [&mut [u64]; 1]| limb.fill(sources[i].neg(c)));
        let mut out = [0; 300];
        converter.convert(&scaled, 0, &mut out);
        assert_eq!(out, [targets[0].value() - 1; 300]);
    }
}
