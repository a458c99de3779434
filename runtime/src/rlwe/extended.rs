//! Pairs modulo P Q_l: what key switches sum to before their division, so that many share one (Bossuat et al. 2020/1203,
//! section 4).

use crate::math::products::Products;
use crate::ring::{Form, Poly, for_each_limb};
use crate::rlwe::ciphertext::check_degree;
use crate::rlwe::divide::Divider;
use crate::rlwe::{Chain, Ciphertext, RlweError};

/// A pair (b, a) modulo P Q_l that decrypts to P times a plaintext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extended {
    pub(super) body: Poly,
    pub(super) mask: Poly,
}

impl Extended {
    /// self += other, of the same level.
    pub fn add_assign(&mut self, chain: &Chain, other: &Extended) {
        chain.extended_ring().add_assign(&mut self.body, &other.body);
        chain.extended_ring().add_assign(&mut self.mask, &other.mask);
    }

    /// self += m other, for values m in the extended ring.
    pub fn mul_add_assign(&mut self, chain: &Chain, m: &Poly, other: &Extended) {
        chain.extended_ring().mul_add_assign(&mut self.body, m, &other.body);
        chain.extended_ring().mul_add_assign(&mut self.mask, m, &other.mask);
    }

    /// self += P (b, a) for polynomials b and a modulo Q_l.
    pub fn add_scaled(&mut self, chain: &Chain, body: &Poly, mask: &Poly) {
        let (ring, k) = (chain.ring(), chain.special_primes());
        for (sum, poly) in [(&mut self.body, body), (&mut self.mask, mask)] {
            for_each_limb([sum], |i, [limb]| {
                let Some(i) = i.checked_sub(k) else { return };
                let m = ring.modulus(i);
                let factor = m.shoup(chain.special_product()[i]);
                Products::new(m).scale_add_assign(limb, poly.limb(i), factor);
            });
        }
    }

    pub(super) fn level(&self, chain: &Chain) -> usize {
        self.body.limbs() - chain.special_primes() - 1
    }

    fn divide(&self, chain: &Chain, divider: &Divider) -> Ciphertext {
        let parts = divider.divide(chain.extended_ring(), |i, [body, mask]| {
            body.copy_from_slice(self.body.limb(i));
            mask.copy_from_slice(self.mask.limb(i));
        });
        Ciphertext::from_parts(parts.into())
    }
}

impl Chain {
    /// The zero pair at a level.
    pub fn extended_zero(&self, level: usize) -> Extended {
        let zero = || self.extended_ring().zero(self.extended_limbs(level), Form::Evaluation);
        Extended { body: zero(), mask: zero() }
    }

    /// P (c_0, c_1): a ciphertext of degree 1 as an extended pair.
    ///
    /// # Errors
    /// [`RlweError::DegreeMismatch`].
    pub fn extend(&self, ct: &Ciphertext) -> Result<Extended, RlweError> {
        check_degree(ct, 1)?;
        let mut pair = self.extended_zero(ct.level());
        pair.add_scaled(self, ct.body(), ct.mask());
        Ok(pair)
    }

    /// Division by P with rounding.
    pub fn mod_down(&self, pair: &Extended) -> Ciphertext {
        pair.divide(self, &self.level(pair.level(self)).mod_down)
    }

    /// Division by P q_l with one rounding: mod-down and rescale.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] at level 0.
    pub fn mod_down_rescale(&self, pair: &Extended) -> Result<Ciphertext, RlweError> {
        Ok(pair.divide(self, self.mod_down_rescale_divider(pair.level(self))?))
    }

    pub(super) fn mod_down_rescale_divider(&self, level: usize) -> Result<&Divider, RlweError> {
        let divider = self.level(level).mod_down_rescale.as_ref();
        divider.ok_or(RlweError::LevelTooLow { needed: 1, available: level })
    }
}
