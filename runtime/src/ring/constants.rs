//! Sums and products with complex integers a + b i, where i stands for X^(n) (X^(N/2) in the power-of-two ring): every slot is
//! multiplied by, or increased by, the same number. No transform is needed.
//!
//! In both orders of values, each run of `x_len` values has those with X^n = i in its first half and those with X^n = -i in
//! its second.

use crate::math::modulus::Modulus;
use crate::math::products::Products;
use crate::ring::limb::LimbRing;
use crate::ring::{Form, Poly, Ring};

impl Ring {
    /// a *= re + im i, for a given by values.
    pub fn mul_complex_assign(&self, a: &mut Poly, re: i128, im: i128) {
        self.for_each_half(a, re, im, |m, half, constant| {
            Products::new(m).scale(half, m.shoup(constant));
        });
    }

    /// a += re + im i, for a given by values.
    pub fn add_complex_assign(&self, a: &mut Poly, re: i128, im: i128) {
        self.for_each_half(a, re, im, |m, half, constant| {
            half.iter_mut().for_each(|x| *x = m.add(*x, constant))
        });
    }

    /// sum_i (re_i + im_i i) a_i modulo the first `limbs` primes, for values a_i with at least so many limbs; at least one and at
    /// most 60 terms.
    pub fn combine_complex(&self, terms: &[(&Poly, (i128, i128))], limbs: usize) -> Poly {
        assert!(terms.iter().all(|(a, _)| a.form() == Form::Evaluation), "constants act on values");
        let (half, mut sum) = (self.spec().rows(), self.zero(limbs, Form::Evaluation));
        self.for_each_limb(&mut sum, |ring: &LimbRing, limb, out| {
            let m = ring.modulus();
            let constants: Vec<[u64; 2]> = terms.iter().map(|&(_, c)| at_both_halves(ring, c)).collect();
            for (run, out) in out.chunks_exact_mut(half).enumerate() {
                let values = terms.iter().zip(&constants);
                let values = values.map(|((a, _), c)| (&a.limb(limb)[run * half..][..half], c[run % 2]));
                Products::new(m).combination(&values.collect::<Vec<_>>(), m.bits(), out);
            }
        });
        sum
    }

    /// Calls `f` with every half run and the residue of the constant at its points.
    fn for_each_half(&self, a: &mut Poly, re: i128, im: i128, f: impl Fn(&Modulus, &mut [u64], u64) + Sync) {
        assert_eq!(a.form(), Form::Evaluation, "constants act on values");
        let half = self.spec().rows();
        self.for_each_limb(a, |ring: &LimbRing, _, limb| {
            let constants = at_both_halves(ring, (re, im));
            for (run, values) in limb.chunks_exact_mut(half).enumerate() {
                f(ring.modulus(), values, constants[run % 2]);
            }
        });
    }
}

/// The residues of re + im i where X^n = i and where X^n = -i.
fn at_both_halves(ring: &LimbRing, (re, im): (i128, i128)) -> [u64; 2] {
    let m = ring.modulus();
    let (re, im) = (m.reduce_signed_wide(re), m.mul(m.reduce_signed_wide(im), ring.imaginary()));
    [m.add(re, im), m.sub(re, im)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::prime::primes_near;
    use crate::ring::RingSpec;

    /// The element re + im X^n over the basis W^(gamma^t) X^x, in which 1 = -(W + ... + W^(p-1)).
    fn constant(spec: RingSpec, re: i64, im: i64) -> Vec<i64> {
        let sign = if spec.w_len() == 1 { 1 } else { -1 };
        let mut coefficients = vec![0; spec.degree()];
        for row in coefficients.chunks_exact_mut(spec.x_len()) {
            row[0] = sign * re;
            row[spec.rows()] = sign * im;
        }
        coefficients
    }

    #[test]
    fn constants_are_those_of_the_ring() {
        for spec in [RingSpec::Gl { n: 8, p: 7 }, RingSpec::PowerOfTwo { log_n: 5 }] {
            let primes = primes_near(45, spec.modulus_step(), 2, &[]).expect("enough");
            let ring = Ring::new(spec, &primes).expect("suitable");
            let a = ring.lift(&(0..spec.degree() as i64).map(|i| i * i - 50).collect::<Vec<_>>(), 2);
            for (re, im) in [(3, 0), (0, 1), (-7, 1 << 40)] {
                let c = ring.lift(&constant(spec, re, im), 2);
                let (mut product, mut sum) = (a.clone(), a.clone());
                ring.mul_complex_assign(&mut product, re.into(), im.into());
                ring.add_complex_assign(&mut sum, re.into(), im.into());
                assert_eq!(product, ring.mul(&a, &c));
                assert_eq!(sum, ring.add(&a, &c));
                let terms = [(&a, (re.into(), im.into())), (&c, (2, -5))];
                let mut expected = c.clone();
                ring.mul_complex_assign(&mut expected, 2, -5);
                ring.add_assign(&mut expected, &product);
                assert_eq!(ring.combine_complex(&terms, 2), expected);
                assert_eq!(ring.combine_complex(&terms, 1), expected.prefix(1));
            }
        }
    }
}
