//! Sparse-secret encapsulation: the modulus is raised under an ephemeral sparse secret, all else happens under the dense one.
//!
//! A ciphertext at level 0 decrypts to m modulo q_0; read modulo a larger Q it decrypts to m + q_0 I with I bounded by the weight
//! of the secret. So it is first switched to a sparse secret s', at q_0 times one special prime only, then raised, then
//! switched back to s. The raised mask is smaller than q_0: its product with one encryption of P s' modulo P Q is the key
//! switch, without digits, and its error vanishes in the division by P.
//!
//! s' hides its keys under q_0 p_0 alone, and the encryption of P s' hides under the dense secret.
//!
//! Reference: Bossuat, Troncoso-Pastoriza, Hubaux, "Bootstrapping for approximate homomorphic encryption with negligible
//! failure-probability by using sparse-secret encapsulation", 2022/024.

use crate::math::products::Products;
use crate::math::sampler::{Sampler, Seed};
use crate::ring::{Form, Poly};
use crate::rlwe::ciphertext::check_degree;
use crate::rlwe::encrypt::{expand_mask, lift_secret};
use crate::rlwe::{Chain, Ciphertext, RlweError, SecretKey, SwitchKey};
use zeroize::Zeroizing;

const LEAVE_DOMAIN: &str = "fhec encapsulation mask";

/// The keys from the secret to an ephemeral sparse one and back.
#[derive(Clone, Debug)]
pub struct EncapsulationKeys {
    /// to s', in the chain of q_0 and one special prime
    enter: SwitchKey,
    /// P s' under s
    seed: Seed,
    body: Poly,
    mask: Poly,
}

impl EncapsulationKeys {
    /// Keys for a fresh sparse secret of a weight of at most N, which is forgotten.
    ///
    /// # Errors
    /// When the secret is not of this chain.
    pub fn generate(
        chain: &Chain,
        secret: &SecretKey,
        weight: usize,
        sampler: &mut Sampler,
    ) -> Result<EncapsulationKeys, RlweError> {
        let (base, ring) = (chain.base(), chain.extended_ring());
        let coefficients = Zeroizing::new(sampler.sparse_ternary(ring.degree(), weight));
        let sparse = SecretKey::from_coefficients(&base, coefficients.to_vec())?;
        let dense = SecretKey::from_coefficients(&base, secret.coefficients().to_vec())?;
        let enter = SwitchKey::generate(&base, &sparse, dense.values(), 0, sampler)?;
        let (seed, limbs) = (sampler.seed(), ring.primes());
        let mask = expand_mask(ring, &seed, LEAVE_DOMAIN, 0, limbs);
        let mut body = ring.mul(&mask, secret.values());
        ring.neg_assign(&mut body);
        ring.add_assign(&mut body, &lift_secret(ring, sampler.gaussian(ring.degree()), limbs));
        let source = lift_secret(ring, coefficients.to_vec(), limbs);
        for (i, &factor) in chain.special_product().iter().enumerate() {
            let limb = chain.special_primes() + i;
            let m = ring.modulus(limb);
            for (b, &s) in body.limb_mut(limb).iter_mut().zip(source.limb(limb)) {
                *b = m.add(*b, m.mul(factor, s));
            }
        }
        Ok(EncapsulationKeys { enter, seed, body, mask })
    }

    /// Keys from their stored parts: seed and body of the key that enters, seed and body of the one that leaves.
    ///
    /// # Errors
    /// When a body is not values modulo the primes of its chain.
    pub fn from_parts(
        chain: &Chain,
        enter: (Seed, Poly),
        leave: (Seed, Poly),
    ) -> Result<EncapsulationKeys, RlweError> {
        let enter = SwitchKey::from_parts(&chain.base(), enter.0, vec![enter.1])?;
        let (ring, (seed, body)) = (chain.extended_ring(), leave);
        ring.check(&body)?;
        if body.form() != Form::Evaluation || body.limbs() != ring.primes() {
            return Err(RlweError::ForeignShape {
                reason: "the key of an encapsulated secret has values modulo all primes",
            });
        }
        let mask = expand_mask(ring, &seed, LEAVE_DOMAIN, 0, body.limbs());
        Ok(EncapsulationKeys { enter, seed, body, mask })
    }

    /// Seed and body of the key that enters.
    pub fn enter(&self) -> (&Seed, &Poly) {
        (self.enter.seed(), &self.enter.bodies()[0])
    }

    /// Seed and body of the key that leaves.
    pub fn leave(&self) -> (&Seed, &Poly) {
        (&self.seed, &self.body)
    }

    /// A ciphertext of degree 1 at level 0, read modulo all primes of `short`, a chain without some levels of `chain`. It decrypts to
    /// m + q_0 I, |m + q_0 I| <= q_0 (weight + 1) / 2.
    ///
    /// # Errors
    /// When the ciphertext has another level or degree.
    pub fn raise(&self, chain: &Chain, short: &Chain, ct: &Ciphertext) -> Result<Ciphertext, RlweError> {
        check_degree(ct, 1)?;
        if ct.level() != 0 {
            return Err(RlweError::LevelMismatch { left: 0, right: ct.level() });
        }
        let base = chain.base();
        let mut sparse = base.switch(&[(ct.mask(), &self.enter)], [None; 2])?;
        base.ring().add_assign(&mut sparse.parts_mut()[0], ct.body());
        let [body, mask] = [0, 1].map(|c| centred(&base, &sparse.parts()[c]));
        let (level, ext) = (short.max_level(), short.extended_ring());
        let mask = ext.lift(&mask, ext.primes());
        let [body_part, mask_part] = short.level(level).mod_down.divide(ext, |i, out| {
            let own = short.key_limb(i);
            let terms = [(mask.limb(i), [self.body.limb(own), self.mask.limb(own)])];
            Products::new(ext.modulus(i)).sums_of_products([None; 2], &terms, out);
        });
        let mut raised = Ciphertext::from_parts(vec![body_part, mask_part]);
        let body = short.ring().lift(&body, level + 1);
        short.ring().add_assign(&mut raised.parts_mut()[0], &body);
        Ok(raised)
    }
}

/// The coefficients of values modulo q_0, in (-q_0 / 2, q_0 / 2).
fn centred(base: &Chain, values: &Poly) -> Vec<i64> {
    let mut coefficients = values.clone();
    base.ring().intt(&mut coefficients);
    let q0 = base.ring().modulus(0);
    coefficients.limb(0).iter().map(|&c| q0.center(c)).collect()
}
