//! Encryption by the secret key and by a public key, and decryption.
//!
//! A plaintext is a polynomial of values modulo q_0, ..., q_l and is encrypted at the level l of its limbs.

use crate::math::modulus::Modulus;
use crate::math::sampler::{Sampler, Seed, expand_uniform};
use crate::ring::{Form, Poly, Ring, for_each_limb};
use crate::rlwe::{Chain, Ciphertext, RlweError, SecretKey};
use zeroize::Zeroizing;

const CIPHERTEXT_DOMAIN: &str = "fhec ciphertext mask";
const PUBLIC_KEY_DOMAIN: &str = "fhec public key mask";

/// An encryption of zero at the highest level, from which anyone encrypts. The mask is given by its seed.
#[derive(Clone, Debug)]
pub struct PublicKey {
    seed: Seed,
    body: Poly,
    mask: Poly,
}

impl PublicKey {
    /// A public key for `secret`.
    pub fn generate(chain: &Chain, secret: &SecretKey, sampler: &mut Sampler) -> PublicKey {
        let (seed, level) = (sampler.seed(), chain.max_level());
        let mask = expand_mask(chain.ring(), &seed, PUBLIC_KEY_DOMAIN, 0, level + 1);
        let error = lift_secret(chain.ring(), sampler.gaussian(chain.ring_spec().degree()), level + 1);
        let body = hide(chain, secret, &mask, &error);
        PublicKey { seed, body, mask }
    }

    /// A public key from its stored parts.
    ///
    /// # Errors
    /// When the body is not values modulo all ciphertext primes of the chain.
    pub fn from_parts(chain: &Chain, seed: Seed, body: Poly) -> Result<PublicKey, RlweError> {
        chain.ring().check(&body)?;
        if body.form() != Form::Evaluation || body.limbs() != chain.ring().primes() {
            return Err(RlweError::ForeignShape {
                reason: "a public key has values modulo all ciphertext primes",
            });
        }
        let mask = expand_mask(chain.ring(), &seed, PUBLIC_KEY_DOMAIN, 0, body.limbs());
        Ok(PublicKey { seed, body, mask })
    }

    /// The seed of the mask.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The body.
    pub fn body(&self) -> &Poly {
        &self.body
    }
}

impl Chain {
    /// Encrypts under the secret key: slot error [`noise::fresh_secret`](crate::rlwe::noise::fresh_secret).
    ///
    /// # Errors
    /// When the plaintext has no limbs or more than the chain.
    pub fn encrypt(
        &self,
        secret: &SecretKey,
        plaintext: &Poly,
        sampler: &mut Sampler,
    ) -> Result<Ciphertext, RlweError> {
        let limbs = self.plaintext_limbs(plaintext)?;
        let mask = expand_mask(self.ring(), &sampler.seed(), CIPHERTEXT_DOMAIN, 0, limbs);
        let mut message = lift_secret(self.ring(), sampler.gaussian(self.ring_spec().degree()), limbs);
        self.ring().add_assign(&mut message, plaintext);
        let body = hide(self, secret, &mask, &message);
        Ok(Ciphertext::from_parts(vec![body, mask]))
    }

    /// Encrypts under the public key: slot error [`noise::fresh_public`](crate::rlwe::noise::fresh_public).
    ///
    /// # Errors
    /// When the plaintext has no limbs or more than the chain.
    pub fn encrypt_public(
        &self,
        key: &PublicKey,
        plaintext: &Poly,
        sampler: &mut Sampler,
    ) -> Result<Ciphertext, RlweError> {
        let limbs = self.plaintext_limbs(plaintext)?;
        let (ring, degree) = (self.ring(), self.ring_spec().degree());
        let v = lift_secret(ring, sampler.ternary(degree), limbs);
        let mut body = plaintext.clone();
        ring.add_assign(&mut body, &lift_secret(ring, sampler.gaussian(degree), limbs));
        ring.mul_add_assign(&mut body, &v, &key.body);
        let mut mask = ring.mul(&v, &key.mask);
        ring.add_assign(&mut mask, &lift_secret(ring, sampler.gaussian(degree), limbs));
        Ok(Ciphertext::from_parts(vec![body, mask]))
    }

    /// The plaintext plus error, c_0 + c_1 s [+ c_2 s^2], as values.
    pub fn decrypt(&self, secret: &SecretKey, ct: &Ciphertext) -> Poly {
        let (ring, s) = (self.ring(), secret.values_at(self, ct.level()));
        // Horner from the highest component
        let (last, rest) = ct.parts().split_at(ct.degree());
        let mut sum = rest[0].clone();
        for part in last.iter().rev() {
            ring.mul_assign(&mut sum, &s);
            ring.add_assign(&mut sum, part);
        }
        sum
    }

    fn plaintext_limbs(&self, plaintext: &Poly) -> Result<usize, RlweError> {
        let limbs = plaintext.limbs();
        if plaintext.form() != Form::Evaluation || limbs == 0 {
            return Err(RlweError::ForeignShape {
                reason: "a plaintext has values modulo at least one prime",
            });
        }
        self.check_level(limbs - 1)?;
        Ok(limbs)
    }
}

/// Small secret coefficients as values, wiped with their residues on drop.
pub(crate) fn lift_secret(ring: &Ring, coefficients: Vec<i64>, limbs: usize) -> Zeroizing<Poly> {
    let coefficients = Zeroizing::new(coefficients);
    Zeroizing::new(ring.lift(&coefficients, limbs))
}

/// The public uniform polynomial number `index` of a seed, as values.
pub(crate) fn expand_mask(ring: &Ring, seed: &Seed, domain: &str, index: u64, limbs: usize) -> Poly {
    let moduli: Vec<&Modulus> = ring.moduli().collect();
    let mut mask = ring.dirty(limbs, Form::Evaluation);
    for_each_limb([&mut mask], |i, [limb]| expand_uniform(seed, domain, index, i as u64, moduli[i], limb));
    mask
}

/// message - mask s.
fn hide(chain: &Chain, secret: &SecretKey, mask: &Poly, message: &Poly) -> Poly {
    let mut product = chain.ring().mul(mask, &secret.values_at(chain, mask.limbs() - 1));
    chain.ring().neg_assign(&mut product);
    chain.ring().add_assign(&mut product, message);
    product
}
