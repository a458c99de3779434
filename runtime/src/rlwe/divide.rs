//! Division by a product D of primes with rounding: x -> (x - r) / D for the centred remainder r of x modulo D.
//!
//! Three uses: mod-down (D = P), rescale (D = q_l), and both in one step (D = P q_l), where the rounding error is paid once
//! and the digits of a key switch may exceed P.

use crate::math::modulus::{Modulus, Shoup};
use crate::math::products::Products;
use crate::math::rns::BaseConverter;
use crate::ring::{Form, Poly, Ring, for_each_limb};
use rayon::prelude::*;

/// Which limbs of a polynomial are divided away, which stay, and the constants for it.
#[derive(Clone, Debug)]
pub(crate) struct Divider {
    divided: Vec<usize>,
    kept: Vec<usize>,
    converter: BaseConverter,
    /// D^-1 modulo the primes that stay
    inverse: Vec<Shoup>,
}

impl Divider {
    /// Division by the primes `divided` of `ring` (disjoint from `kept`).
    pub(crate) fn new(ring: &Ring, divided: Vec<usize>, kept: Vec<usize>) -> Divider {
        let moduli = |indices: &[usize]| indices.iter().map(|&i| *ring.modulus(i)).collect::<Vec<Modulus>>();
        let (sources, targets) = (moduli(&divided), moduli(&kept));
        let inverse = |t: &Modulus| {
            let product = sources.iter().fold(1, |x, q| t.mul(x, t.reduce(q.value())));
            t.shoup(t.inv(product))
        };
        let inverse = targets.iter().map(inverse).collect();
        Divider { divided, kept, converter: BaseConverter::new(&sources, &targets), inverse }
    }

    /// The rounded quotient of `poly` (values), as values modulo the primes that stay.
    pub(crate) fn divide(&self, ring: &Ring, poly: &Poly) -> Poly {
        assert_eq!(poly.form(), Form::Evaluation, "division starts from values");
        let coefficients = |&i: &usize| {
            let mut limb = poly.limb(i).to_vec();
            ring.intt_limb(i, &mut limb);
            limb
        };
        let remainder = self.converter.scale(self.divided.par_iter().map(coefficients).collect());
        let mut quotient = Poly::zero(poly.degree(), self.kept.len(), Form::Evaluation);
        for_each_limb(&mut quotient, |t, limb| {
            let i = self.kept[t];
            self.converter.convert(&remainder, t, limb);
            ring.ntt_limb(i, limb);
            Products::new(ring.modulus(i)).scale_difference(limb, poly.limb(i), self.inverse[t]);
        });
        quotient
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::prime::primes_near;
    use crate::ring::RingSpec;

    #[test]
    fn quotients_are_rounded() {
        let spec = RingSpec::Gl { n: 4, p: 5 };
        let primes = primes_near(30, spec.modulus_step(), 4, &[]).expect("enough");
        let ring = Ring::new(spec, &primes).expect("suitable");
        let x: Vec<i128> =
            (1..=spec.degree() as i128).map(|i| (i - 16) * 0x0123_4567_89ab_cdef * 77).collect();
        let poly = ring.lift_wide(&x, 4);
        for divided in [vec![3], vec![2], vec![2, 3], vec![3, 2]] {
            let kept: Vec<usize> = (0..4).filter(|i| !divided.contains(i)).collect();
            let d: i128 = divided.iter().map(|&i| i128::from(primes[i])).product();
            let quotient = Divider::new(&ring, divided, kept.clone()).divide(&ring, &poly);
            let expected: Vec<i128> = x.iter().map(|&x| (x + d / 2).div_euclid(d)).collect();
            assert_eq!(ring.select(kept).to_signed(&quotient), expected);
        }
    }
}
