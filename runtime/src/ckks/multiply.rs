//! Products: with plaintexts, and of ciphertexts with relinearization.

use crate::ckks::{Ciphertext, Ckks, CkksError, Plaintext};
use crate::rlwe::EvaluationKeys;

impl Ckks {
    /// m a: the scales multiply, the level stays until the rescale.
    ///
    /// # Errors
    /// When the plaintext has fewer limbs.
    pub fn mul_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, CkksError> {
        Ok(Ciphertext { rlwe: self.chain.mul_plain(&a.rlwe, &m.poly)?, scale: a.scale * m.scale })
    }

    /// m a, rescaled.
    ///
    /// # Errors
    /// When the plaintext has fewer limbs, or at level 0.
    pub fn mul_plain_rescale(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, CkksError> {
        let rlwe = self.chain.mul_plain_rescale(&a.rlwe, &m.poly)?;
        Ok(Ciphertext { rlwe, scale: a.scale * m.scale / self.chain.prime(a.level())? as f64 })
    }

    /// a b of degree 2: the scales multiply, the level stays. Sum such products before [`Ckks::relinearize_rescale`].
    ///
    /// # Errors
    /// When the levels differ or a factor is not of degree 1.
    pub fn tensor(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        Ok(Ciphertext { rlwe: self.chain.tensor(&a.rlwe, &b.rlwe)?, scale: a.scale * b.scale })
    }

    /// a b, relinearized and rescaled in one division: one level.
    ///
    /// # Errors
    /// As [`Ckks::tensor`] and [`Ckks::relinearize_rescale`].
    pub fn mul(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        self.relinearize_rescale(&self.tensor(a, b)?, keys)
    }

    /// a^2, relinearized and rescaled in one division: one level.
    ///
    /// # Errors
    /// As [`Ckks::mul`].
    pub fn square(&self, a: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext, CkksError> {
        let rlwe = self.chain.tensor_square(&a.rlwe)?;
        self.relinearize_rescale(&Ciphertext { rlwe, scale: a.scale * a.scale }, keys)
    }

    /// From degree 2 to degree 1; level and scale stay.
    ///
    /// # Errors
    /// When the degree is not 2 or the key for s^2 is missing.
    pub fn relinearize(&self, a: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext, CkksError> {
        Ok(Ciphertext { rlwe: self.chain.relinearize(&a.rlwe, keys)?, scale: a.scale })
    }

    /// From degree 2 to degree 1 and one level down, with one rounding.
    ///
    /// # Errors
    /// When the degree is not 2, at level 0, or when the key for s^2 is missing.
    pub fn relinearize_rescale(
        &self,
        a: &Ciphertext,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        let rlwe = self.chain.relinearize_rescale(&a.rlwe, keys)?;
        Ok(Ciphertext { rlwe, scale: self.scale_after_rescale(a)? })
    }
}
