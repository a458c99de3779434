//! Sums, constants and levels: operations that need no key.

use crate::gl::{Gl, GlCiphertext, GlError, GlPlaintext, check_scales, same_scale};
use crate::math::embedding::{COEFFICIENT_LIMIT, EncodeError};
use crate::rlwe::{Ciphertext, RlweError};
use rayon::prelude::*;

impl Gl {
    /// A + B, at the same level and scale.
    ///
    /// # Errors
    /// [`GlError::ScaleMismatch`], or when levels or shapes differ.
    pub fn add(&self, a: &GlCiphertext, b: &GlCiphertext) -> Result<GlCiphertext, GlError> {
        self.zip(a, b, |x, y| self.chain.add(x, y))
    }

    /// A - B, at the same level and scale.
    ///
    /// # Errors
    /// [`GlError::ScaleMismatch`], or when levels or shapes differ.
    pub fn sub(&self, a: &GlCiphertext, b: &GlCiphertext) -> Result<GlCiphertext, GlError> {
        self.zip(a, b, |x, y| self.chain.sub(x, y))
    }

    /// -A.
    pub fn neg(&self, a: &GlCiphertext) -> GlCiphertext {
        GlCiphertext::from_parts(a.diagonals().par_iter().map(|f| self.chain.neg(f)).collect(), a.scale())
    }

    /// c A for an integer c.
    pub fn mul_integer(&self, a: &GlCiphertext, c: i64) -> GlCiphertext {
        let multiple = |f| self.chain.mul_integer(f, c);
        GlCiphertext::from_parts(a.diagonals().par_iter().map(multiple).collect(), a.scale())
    }

    /// A + M for an encoded batch at the same scale.
    ///
    /// # Errors
    /// [`GlError::ScaleMismatch`], or when the plaintext does not serve the level of A.
    pub fn add_plain(&self, a: &GlCiphertext, m: &GlPlaintext) -> Result<GlCiphertext, GlError> {
        self.check_plain(a, m)?;
        check_scales(a.scale(), m.scale())?;
        let count = a.diagonals().len().max(m.diagonals().len());
        self.assemble(count, a.scale(), |k| self.chain.add_plain(a.diagonal(k), m.diagonal(k)))
    }

    /// sum_i c_i A_i at the canonical scale one level below, with one rescale. All operands have the same level; their
    /// scales may differ. Coefficients are rounded to a relative precision of about q_l / S_l.
    ///
    /// # Errors
    /// [`GlError::EmptySum`]; [`GlError::Encode`] when a coefficient is not finite or too large; at level 0; when levels or
    /// shapes differ.
    pub fn combine(&self, terms: &[(f64, &GlCiphertext)]) -> Result<GlCiphertext, GlError> {
        let (_, first) = *terms.first().ok_or(GlError::EmptySum)?;
        terms.iter().try_for_each(|(_, a)| self.check_pair(first, a))?;
        let level = first.level();
        let below = level.checked_sub(1).ok_or(RlweError::LevelTooLow { needed: 1, available: 0 })?;
        let (prime, target) = (self.chain.prime(level)? as f64, self.scales[below]);
        let integers: Result<Vec<i64>, EncodeError> = terms
            .iter()
            .enumerate()
            .map(|(index, (c, a))| round_constant(*c, prime * target / a.scale(), index))
            .collect();
        let integers = integers?;
        let diagonal = |k: usize| {
            let mut sum = self.chain.mul_integer(first.diagonal(k), integers[0]);
            for (&c, (_, a)) in integers.iter().zip(terms).skip(1) {
                self.chain.add_assign(&mut sum, &self.chain.mul_integer(a.diagonal(k), c))?;
            }
            self.chain.rescale(&sum)
        };
        let count = terms.iter().map(|(_, a)| a.diagonals().len()).max().unwrap_or(0);
        self.assemble(count, target, diagonal)
    }

    /// The same batch at a lower level, by forgetting limbs: the scale stays.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when `level` is above that of `a`.
    pub fn drop_to_level(&self, a: &GlCiphertext, level: usize) -> Result<GlCiphertext, GlError> {
        let dropped: Result<Vec<Ciphertext>, RlweError> =
            a.diagonals().par_iter().map(|f| self.chain.drop_to_level(f, level)).collect();
        Ok(GlCiphertext::from_parts(dropped?, a.scale()))
    }

    /// The same batch at `level` and its canonical scale: nothing when it is there already, otherwise limbs are forgotten
    /// down to `level` + 1 and the rest is a product by one at the missing scale.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when `level` is above that of `a`, or equal to it with another scale.
    pub fn adjust(&self, a: &GlCiphertext, level: usize) -> Result<GlCiphertext, GlError> {
        let target = self.scale(level)?;
        if a.level() == level && same_scale(a.scale(), target) {
            return Ok(a.clone());
        }
        let above = self.drop_to_level(a, level + 1)?;
        self.combine(&[(1.0, &above)])
    }

    fn zip(
        &self,
        a: &GlCiphertext,
        b: &GlCiphertext,
        f: impl Fn(&Ciphertext, &Ciphertext) -> Result<Ciphertext, RlweError> + Sync,
    ) -> Result<GlCiphertext, GlError> {
        self.check_pair(a, b)?;
        check_scales(a.scale(), b.scale())?;
        let count = a.diagonals().len().max(b.diagonals().len());
        self.assemble(count, a.scale(), |k| f(a.diagonal(k), b.diagonal(k)))
    }
}

/// The constant number `index` times a scale, as an integer.
fn round_constant(constant: f64, scale: f64, index: usize) -> Result<i64, EncodeError> {
    if !constant.is_finite() {
        return Err(EncodeError::NotFinite { index });
    }
    let (value, limit) = ((constant * scale).round(), COEFFICIENT_LIMIT);
    if value.abs() < limit { Ok(value as i64) } else { Err(EncodeError::TooLarge { value, limit, scale }) }
}
