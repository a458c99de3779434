//! Linear transforms before the division by P: sums of extended pairs times plaintexts, and automorphisms of the sums.
//!
//! A plaintext factor may be shorter than the ring: a polynomial in X^(N/n) has only n different values, and in the order of
//! values (bit-reversed) each stands N/n times in a row. It is stored as an element of the ring of degree n.
//!
//! Reference: Bossuat et al. 2020/1203, section 4.3 (double hoisting).

use crate::math::products::{MAX_TERMS, Products};
use crate::ring::{Form, Galois, Poly, for_each_limb_pair};
use crate::rlwe::{Chain, EvaluationKeys, Extended, KeySource, RlweError};

/// Words of a limb that are multiplied together: the repeated values of all factors stay in the second-level cache.
const BLOCK: usize = 1 << 10;

impl Chain {
    /// sum_i m_i x_i for plaintexts m_i, values in the extended ring of the chain that keys are made for, of a degree that divides
    /// N, and pairs x_i of one level; at least one term.
    pub fn extended_sum(&self, terms: &[(&Poly, &Extended)]) -> Extended {
        let limbs = terms[0].1.body.limbs();
        let zero = self.extended_ring().zero(limbs, Form::Evaluation);
        let mut sum = Extended { body: zero.clone(), mask: zero };
        for_each_limb_pair(&mut sum.body, &mut sum.mask, |i, body, mask| {
            let products = Products::new(self.extended_ring().modulus(i));
            let own = self.key_limb(i);
            let (mut repeated, mut part) = (vec![0; MAX_TERMS.min(terms.len()) * BLOCK], [0; BLOCK]);
            for start in (0..body.len()).step_by(BLOCK) {
                let range = start..(start + BLOCK).min(body.len());
                let len = range.len();
                for (number, some) in terms.chunks(MAX_TERMS).enumerate() {
                    for ((m, x), block) in some.iter().zip(repeated.chunks_exact_mut(BLOCK)) {
                        repeat(m.limb(own), x.body.degree(), start, &mut block[..len]);
                    }
                    for (out, component) in [(&mut *body, 0), (&mut *mask, 1)] {
                        let pairs = some.iter().zip(repeated.chunks_exact(BLOCK)).map(|((_, x), block)| {
                            let x = if component == 0 { &x.body } else { &x.mask };
                            (&block[..len], &x.limb(i)[range.clone()])
                        });
                        let pairs: Vec<(&[u64], &[u64])> = pairs.collect();
                        products.sum_of_products(&pairs, &mut part[..len]);
                        let out = &mut out[range.clone()];
                        if number == 0 {
                            out.copy_from_slice(&part[..len]);
                        } else {
                            let m = self.extended_ring().modulus(i);
                            out.iter_mut().zip(&part[..len]).for_each(|(o, &p)| *o = m.add(*o, p));
                        }
                    }
                }
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
        let mask = self.level(level).mod_down.divide(self.extended_ring(), &pair.mask);
        let mut image = self.key_product(&self.decompose(&mask), sigma, key)?;
        let body = self.extended_ring().automorphism(&pair.body, sigma);
        self.extended_ring().add_assign(&mut image.body, &body);
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
