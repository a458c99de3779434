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

use crate::math::modulus::{Modulus, Shoup};
use crate::math::products::{MAX_TERMS, Products};

/// The most source primes: their products with a target residue are summed in 128 bits.
pub const MAX_SOURCES: usize = MAX_TERMS;

/// Constants to convert from one set of primes to another.
#[derive(Clone, Debug)]
pub struct BaseConverter {
    sources: Vec<Modulus>,
    targets: Vec<Modulus>,
    /// (D/q_i)^-1 mod q_i
    scale: Vec<Shoup>,
    /// D/q_i mod t_j at `[j][i]`
    factors: Vec<Vec<u64>>,
    /// -D mod t_j
    overflow: Vec<u64>,
}

/// The scaled residues y_i and the overflow v of one polynomial: the part of a conversion that all targets share.
#[derive(Clone, Debug)]
pub struct Scaled {
    limbs: Vec<Vec<u64>>,
    overflow: Vec<u64>,
}

impl BaseConverter {
    /// Constants for pairwise different primes. At most [`MAX_SOURCES`] sources.
    pub fn new(sources: &[Modulus], targets: &[Modulus]) -> BaseConverter {
        assert!(sources.len() <= MAX_SOURCES, "{} source primes, at most {MAX_SOURCES}", sources.len());
        let without = |i: usize, m: &Modulus| {
            let others = sources.iter().enumerate().filter(|&(k, _)| k != i);
            others.fold(1, |product, (_, q)| m.mul(product, m.reduce(q.value())))
        };
        let scale = sources.iter().enumerate().map(|(i, q)| q.shoup(q.inv(without(i, q)))).collect();
        let factors = targets.iter().map(|t| (0..sources.len()).map(|i| without(i, t)).collect()).collect();
        let overflow = targets.iter().map(|t| t.neg(without(usize::MAX, t))).collect();
        BaseConverter { sources: sources.to_vec(), targets: targets.to_vec(), scale, factors, overflow }
    }

    /// Number of source primes.
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Number of target primes.
    pub fn targets(&self) -> usize {
        self.targets.len()
    }

    /// Scales the source limbs (residues of coefficients, one vector per source prime) and finds the overflow.
    pub fn scale(&self, mut limbs: Vec<Vec<u64>>) -> Scaled {
        assert_eq!(limbs.len(), self.sources.len(), "one limb per source prime");
        let mut fractions = vec![0.5; limbs.first().map_or(0, Vec::len)];
        for ((limb, q), &factor) in limbs.iter_mut().zip(&self.sources).zip(&self.scale) {
            Products::new(q).scale(limb, factor);
            let inverse = 1.0 / q.value() as f64;
            for (x, fraction) in limb.iter().zip(&mut fractions) {
                *fraction += *x as f64 * inverse;
            }
        }
        Scaled { limbs, overflow: fractions.into_iter().map(|f| f as u64).collect() }
    }

    /// The centred representative modulo target prime number `target`.
    pub fn convert(&self, scaled: &Scaled, target: usize, out: &mut [u64]) {
        let limbs = scaled.limbs.iter().map(Vec::as_slice).zip(self.factors[target].iter().copied());
        let overflow = (scaled.overflow.as_slice(), self.overflow[target]);
        let terms: Vec<(&[u64], u64)> = limbs.chain([overflow]).collect();
        let bits = self.sources.iter().map(Modulus::bits).max().unwrap_or(0);
        Products::new(&self.targets[target]).combination(&terms, bits, out);
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
                let scaled = converter.scale(sources.iter().map(|q| vec![q.reduce_signed_wide(x)]).collect());
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
        let scaled = converter.scale(sources.iter().map(|q| vec![q.value() - 1; 300]).collect());
        let mut out = [0; 300];
        converter.convert(&scaled, 0, &mut out);
        assert_eq!(out, [targets[0].value() - 1; 300]);
    }
}
