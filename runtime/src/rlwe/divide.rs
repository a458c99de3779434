//! Division by a product D of primes with rounding: x -> (x - r) / D for the centred remainder r of x modulo D.
//!
//! Three uses: mod-down (D = P), rescale (D = q_l), and both in one step (D = P q_l), where the rounding error is paid once
//! and the digits of a key switch may exceed P.

use crate::math::buffer::Buffer;
use crate::math::modulus::{Modulus, Shoup};
use crate::math::products::Products;
use crate::math::rns::BaseConverter;
use crate::ring::{Form, Poly, Ring, for_each_limb};

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

    /// The rounded quotients of polynomials, as values modulo the primes that stay. `make(i, limbs)` writes their values
    /// modulo prime number `i` of `ring`; it is called once for every prime, so that they need not be stored.
    pub(crate) fn divide<const C: usize>(
        &self,
        ring: &Ring,
        make: impl Fn(usize, [&mut [u64]; C]) + Sync,
    ) -> [Poly; C] {
        let degree = ring.degree();
        let remainders = self.converter.scale(degree, |d, c, mut limbs: [&mut [u64]; C]| {
            let i = self.divided[d];
            make(i, limbs.each_mut().map(|limb| &mut **limb));
            limbs.into_iter().for_each(|limb| ring.intt_limb_scaled(i, limb, c));
        });
        let mut quotients = std::array::from_fn(|_| Poly::dirty(degree, self.kept.len(), Form::Evaluation));
        for_each_limb(quotients.each_mut(), |t, quotients| {
            let i = self.kept[t];
            let mut values: [Buffer; C] = std::array::from_fn(|_| Buffer::dirty(degree));
            make(i, values.each_mut().map(|values| &mut **values));
            for ((quotient, values), remainder) in quotients.into_iter().zip(&values).zip(&remainders) {
                self.converter.convert(remainder, t, quotient);
                ring.ntt_limb(i, quotient);
                Products::new(ring.modulus(i)).scale_difference(quotient, values, self.inverse[t]);
            }
        });
        quotients
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
            let divider = Divider::new(&ring, divided, kept.clone());
            let [quotient] = divider.divide(&ring, |i, [limb]| limb.copy_from_slice(poly.limb(i)));
            let expected: Vec<i128> = x.iter().map(|&x| (x + d / 2).div_euclid(d)).collect();
            assert_eq!(ring.select(kept).to_signed(&quotient), expected);
        }
    }
}
