//! Linear transforms before the division by P: sums of extended pairs times plaintexts, and automorphisms of the sums.
//!
//! A plaintext factor may be shorter than the ring: a polynomial in X^(N/n) has only n different values, and in the order of
//! values (bit-reversed) each stands N/n times in a row. It is stored as an element of the ring of degree n.
//!
//! Reference: Bossuat et al. 2020/1203, section 4.3 (double hoisting).

use crate::math::buffer::Buffer;
use crate::math::products::Products;
use crate::ring::{Form, Galois, Poly, for_each_limb};
use crate::rlwe::{Chain, EvaluationKeys, Extended, KeySource, RlweError};

/// Words of a limb that are multiplied together: the repeated values of all factors stay in the second-level cache.
const BLOCK: usize = 1 << 10;

impl Chain {
    /// sum_i m_i x_i for plaintexts m_i, values in the extended ring of the chain that keys are made for, of a degree that divides
    /// N, and pairs x_i of one level; at least one term.
    pub fn extended_sum(&self, terms: &[(&Poly, &Extended)]) -> Extended {
        let limbs = terms[0].1.body.limbs();
        let part = || self.extended_ring().dirty(limbs, Form::Evaluation);
        let mut sum = Extended { body: part(), mask: part() };
        for_each_limb([&mut sum.body, &mut sum.mask], |i, [body, mask]| {
            let products = Products::new(self.extended_ring().modulus(i));
            let own = self.key_limb(i);
            let mut repeated = Buffer::dirty(terms.len() * BLOCK);
            let blocks = body.chunks_mut(BLOCK).zip(mask.chunks_mut(BLOCK)).enumerate();
            for (number, (body, mask)) in blocks {
                let (start, len) = (number * BLOCK, body.len());
                for ((m, x), block) in terms.iter().zip(repeated.chunks_exact_mut(BLOCK)) {
                    repeat(m.limb(own), x.body.degree(), start, &mut block[..len]);
                }
                let factors = terms.iter().zip(repeated.chunks_exact(BLOCK)).map(|((_, x), block)| {
                    (&block[..len], [&x.body, &x.mask].map(|part| &part.limb(i)[start..][..len]))
                });
                products.sums_of_products([None; 2], &factors.collect::<Vec<_>>(), [body, mask]);
            }
        });
        sum
    }

    /// The pair under an automorphism, switched back to the secret without dividing the body by P: the giant step of a linear
    /// transform.
    ///
    /// # Errors
    /// When the key for sigma(s) is missing.
    pub fn rotate_extended(
        &self,
        pair: &Extended,
        sigma: Galois,
        keys: &EvaluationKeys,
    ) -> Result<Extended, RlweError> {
        let level = pair.level(self);
        let key = keys.get(KeySource::Galois(sigma), self.key_level(level))?;
        let ring = self.extended_ring();
        let [mask] =
            self.level(level).mod_down.divide(ring, |i, [limb]| limb.copy_from_slice(pair.mask.limb(i)));
        let mask = self.ring().automorphism(&mask, sigma);
        let mut image = self.switch_extended(&mask, key)?;
        ring.add_assign(&mut image.body, &ring.automorphism(&pair.body, sigma));
        Ok(image)
    }
}

/// The values of a polynomial of degree N / run at places `start`, ... of a limb of N values, each `run` times in a row.
fn repeat(values: &[u64], degree: usize, start: usize, out: &mut [u64]) {
    let run = degree / values.len();
    if run == 1 {
        return out.copy_from_slice(&values[start..start + out.len()]);
    }
    let first = start / run;
    if run >= out.len() {
        return out.fill(values[first]);
    }
    for (run, &value) in out.chunks_mut(run).zip(&values[first..]) {
        run.fill(value);
    }
}
