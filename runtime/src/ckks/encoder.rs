//! Slots <-> plaintexts <-> ciphertexts.

use crate::ckks::{Ciphertext, Ckks, CkksError, Plaintext, check_scale};
use crate::math::{fft::Complex, sampler::Sampler};
use crate::rlwe::{PublicKey, SecretKey};

impl Ckks {
    /// Encodes slots at a level and its canonical scale. Missing slots are 0.
    ///
    /// # Errors
    /// When there are too many slots, one is not finite or too large, or the level is not in the chain.
    pub fn encode(&self, slots: &[Complex], level: usize) -> Result<Plaintext, CkksError> {
        self.encode_at(slots, level, self.scale(level)?)
    }

    /// Encodes slots at a level and any scale. Missing slots are 0.
    ///
    /// # Errors
    /// As [`Ckks::encode`], or [`CkksError::InvalidScale`].
    pub fn encode_at(&self, slots: &[Complex], level: usize, scale: f64) -> Result<Plaintext, CkksError> {
        self.chain.check_level(level)?;
        let coefficients = self.embedding.encode(slots, check_scale(scale)?)?;
        Ok(Plaintext { poly: self.chain.ring().lift(&coefficients, level + 1), scale })
    }

    /// The slots of a plaintext. Exact to f64 while its coefficients are below q_0 q_1 / 2 (at level 0: q_0 / 2).
    pub fn decode(&self, plaintext: &Plaintext) -> Vec<Complex> {
        let coefficients = self.chain.ring().to_signed(&plaintext.poly);
        let scaled: Vec<f64> = coefficients.iter().map(|&c| c as f64 / plaintext.scale).collect();
        self.embedding.decode(&scaled)
    }

    /// Encrypts under the secret key.
    ///
    /// # Errors
    /// When the plaintext does not belong to the chain.
    pub fn encrypt(
        &self,
        secret: &SecretKey,
        plaintext: &Plaintext,
        sampler: &mut Sampler,
    ) -> Result<Ciphertext, CkksError> {
        let rlwe = self.chain.encrypt(secret, &plaintext.poly, sampler)?;
        Ok(Ciphertext { rlwe, scale: plaintext.scale })
    }

    /// Encrypts under a public key.
    ///
    /// # Errors
    /// When the plaintext does not belong to the chain.
    pub fn encrypt_public(
        &self,
        key: &PublicKey,
        plaintext: &Plaintext,
        sampler: &mut Sampler,
    ) -> Result<Ciphertext, CkksError> {
        let rlwe = self.chain.encrypt_public(key, &plaintext.poly, sampler)?;
        Ok(Ciphertext { rlwe, scale: plaintext.scale })
    }

    /// Decrypts. The low bits of the result depend on the secret's noise: it is for the holder of the key alone.
    pub fn decrypt(&self, secret: &SecretKey, ct: &Ciphertext) -> Plaintext {
        Plaintext { poly: self.chain.decrypt(secret, &ct.rlwe), scale: ct.scale }
    }
}
