//! Encryption and decryption of batches: every diagonal on its own.

use crate::gl::diagonal::scatter;
use crate::gl::{Gl, GlCiphertext, GlError, GlPlaintext, Matrices};
use crate::math::fft::Complex;
use crate::math::sampler::Sampler;
use crate::ring::Poly;
use crate::rlwe::{Ciphertext, PublicKey, RlweError, SecretKey};
use rayon::prelude::*;

impl Gl {
    /// Encrypts under the secret key, at the level of the plaintext. The error of an entry is
    /// [`fresh_secret`](crate::rlwe::noise::fresh_secret) / scale.
    ///
    /// # Errors
    /// When the plaintext belongs to another chain.
    pub fn encrypt(
        &self,
        secret: &SecretKey,
        plaintext: &GlPlaintext,
        sampler: &mut Sampler,
    ) -> Result<GlCiphertext, GlError> {
        self.encrypt_with(plaintext, sampler, |f, sampler| self.chain.encrypt(secret, f, sampler))
    }

    /// Encrypts under the public key, one RLWE pair for all diagonals, at the level of the plaintext. The error of an
    /// entry is [`fresh_public`](crate::rlwe::noise::fresh_public) / scale.
    ///
    /// # Errors
    /// When the plaintext belongs to another chain.
    pub fn encrypt_public(
        &self,
        key: &PublicKey,
        plaintext: &GlPlaintext,
        sampler: &mut Sampler,
    ) -> Result<GlCiphertext, GlError> {
        self.encrypt_with(plaintext, sampler, |f, sampler| self.chain.encrypt_public(key, f, sampler))
    }

    /// Every diagonal gets a sampler of its own, so that they are encrypted in parallel and the result depends on the
    /// seed alone.
    fn encrypt_with(
        &self,
        plaintext: &GlPlaintext,
        sampler: &mut Sampler,
        encrypt: impl Fn(&Poly, &mut Sampler) -> Result<Ciphertext, RlweError> + Sync,
    ) -> Result<GlCiphertext, GlError> {
        self.check_diagonals(plaintext.diagonals().len())?;
        let mut samplers: Vec<Sampler> =
            plaintext.diagonals().iter().map(|_| Sampler::from_seed(sampler.seed())).collect();
        let pairs = plaintext.diagonals().par_iter().zip(&mut samplers);
        let diagonals: Result<Vec<Ciphertext>, RlweError> =
            pairs.map(|(f, sampler)| encrypt(f, sampler)).collect();
        Ok(GlCiphertext::from_parts(diagonals?, plaintext.scale()))
    }

    /// The p - 1 matrices of a ciphertext, with its noise; those of a slice have equal columns. Coefficients must be below
    /// half the product of the first two primes (at level 0, half of q_0).
    ///
    /// # Errors
    /// [`GlError::WrongDiagonals`].
    pub fn decrypt(&self, secret: &SecretKey, ct: &GlCiphertext) -> Result<Matrices, GlError> {
        self.check_diagonals(ct.diagonals().len())?;
        Ok(scatter(self.side, &self.decrypt_diagonals(secret, ct)?))
    }

    /// The (p - 1) n entries `[matrix][row]` of a slice, as [`Gl::decrypt`].
    ///
    /// # Errors
    /// [`GlError::NotASlice`].
    pub fn decrypt_slice(&self, secret: &SecretKey, ct: &GlCiphertext) -> Result<Vec<Complex>, GlError> {
        self.check_slice(ct)?;
        Ok(self.decrypt_diagonals(secret, ct)?.concat())
    }

    fn decrypt_diagonals(
        &self,
        secret: &SecretKey,
        ct: &GlCiphertext,
    ) -> Result<Vec<Vec<Complex>>, RlweError> {
        let level = ct.level().min(1);
        let diagonal = |f: &Ciphertext| -> Result<Vec<Complex>, RlweError> {
            let low = self.chain.drop_to_level(f, level)?;
            Ok(self.decode_diagonal(&self.chain.decrypt(secret, &low), ct.scale()))
        };
        ct.diagonals().par_iter().map(diagonal).collect()
    }
}
