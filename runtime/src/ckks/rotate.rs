//! Permutations of the slots: rotations along X and W, complex conjugation.

use crate::ckks::{Ciphertext, Ckks, CkksError};
use crate::ring::Galois;
use crate::rlwe::EvaluationKeys;
use rayon::prelude::*;

impl Ckks {
    /// The slots under an automorphism, see [`RingSpec`](crate::ring::RingSpec) for their names: one key switch, no level.
    ///
    /// # Errors
    /// When the degree is not 1 or the key is missing.
    pub fn rotate(
        &self,
        a: &Ciphertext,
        sigma: Galois,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        Ok(Ciphertext { rlwe: self.chain.automorphism(&a.rlwe, sigma, keys)?, scale: a.scale })
    }

    /// The complex conjugate of every slot.
    ///
    /// # Errors
    /// As [`Ckks::rotate`].
    pub fn conjugate(&self, a: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext, CkksError> {
        self.rotate(a, self.chain.ring_spec().conjugation(), keys)
    }

    /// Several automorphisms of one ciphertext with a single decomposition (hoisting); same results as [`Ckks::rotate`].
    ///
    /// # Errors
    /// As [`Ckks::rotate`].
    pub fn rotate_hoisted(
        &self,
        a: &Ciphertext,
        sigmas: &[Galois],
        keys: &EvaluationKeys,
    ) -> Result<Vec<Ciphertext>, CkksError> {
        let digits = self.chain.decompose(a.rlwe.mask());
        let image = |&sigma: &Galois| {
            let rlwe = self.chain.automorphism_hoisted(&a.rlwe, &digits, sigma, keys)?;
            Ok(Ciphertext { rlwe, scale: a.scale })
        };
        sigmas.par_iter().map(image).collect()
    }
}
