//! Levels and scales: rescale, level drop, and the step from one canonical scale to that of a lower level.

use crate::ckks::{Ciphertext, Ckks, CkksError, same_scale};
use crate::math::fft::Complex;

impl Ckks {
    /// Division by q_l with rounding: one level down, the scale divided by q_l.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`](crate::rlwe::RlweError::LevelTooLow) at level 0.
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, CkksError> {
        Ok(Ciphertext { rlwe: self.chain.rescale(&a.rlwe)?, scale: self.scale_after_rescale(a)? })
    }

    /// The same value at a lower level and the same scale, by forgetting limbs.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`](crate::rlwe::RlweError::LevelTooLow) when `level` is above that of `a`.
    pub fn drop_to_level(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, CkksError> {
        Ok(Ciphertext { rlwe: self.chain.drop_to_level(&a.rlwe, level)?, scale: a.scale })
    }

    /// The same value at a lower level and exactly its canonical scale: drops to one level above, multiplies by 1 at the
    /// missing scale, and rescales. At its own level nothing happens, and the scale must be canonical already.
    ///
    /// # Errors
    /// When `level` is above that of `a`, or equal to it with another scale than the canonical one.
    pub fn adjust(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, CkksError> {
        let target = self.scale(level)?;
        if level >= a.level() {
            let same = self.drop_to_level(a, level)?;
            same_scale(target, a.scale)?;
            return Ok(same);
        }
        let above = self.drop_to_level(a, level + 1)?;
        let missing = target * self.chain.prime(level + 1)? as f64 / a.scale;
        let scaled = self.rescale(&self.mul_constant(&above, Complex::ONE, missing)?)?;
        // The product of the scales is the target up to the rounding of `missing`.
        Ok(Ciphertext { scale: target, ..scaled })
    }

    pub(super) fn scale_after_rescale(&self, a: &Ciphertext) -> Result<f64, CkksError> {
        Ok(a.scale / self.chain.prime(a.level())? as f64)
    }
}
