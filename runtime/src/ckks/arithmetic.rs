//! Sums, and products with integers: no level, no key.

use crate::ckks::{Ciphertext, Ckks, CkksError, Plaintext, same_scale};
use crate::math::fft::Complex;
use crate::rlwe::{self, RlweError, check_degree};

/// Constants at their scale stay below 2^120.
const CONSTANT_LIMIT: f64 = (1u128 << 120) as f64;

impl Ckks {
    /// a + b.
    ///
    /// # Errors
    /// [`CkksError::ScaleMismatch`], or when the levels differ.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        same_scale(a.scale, b.scale)?;
        Ok(Ciphertext { rlwe: self.chain.add(&a.rlwe, &b.rlwe)?, scale: a.scale })
    }

    /// a += b.
    ///
    /// # Errors
    /// [`CkksError::ScaleMismatch`], or when the levels differ.
    pub fn add_assign(&self, a: &mut Ciphertext, b: &Ciphertext) -> Result<(), CkksError> {
        same_scale(a.scale, b.scale)?;
        Ok(self.chain.add_assign(&mut a.rlwe, &b.rlwe)?)
    }

    /// a - b.
    ///
    /// # Errors
    /// [`CkksError::ScaleMismatch`], or when the levels differ.
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, CkksError> {
        same_scale(a.scale, b.scale)?;
        Ok(Ciphertext { rlwe: self.chain.sub(&a.rlwe, &b.rlwe)?, scale: a.scale })
    }

    /// -a.
    pub fn neg(&self, a: &Ciphertext) -> Ciphertext {
        Ciphertext { rlwe: self.chain.neg(&a.rlwe), scale: a.scale }
    }

    /// a + m.
    ///
    /// # Errors
    /// [`CkksError::ScaleMismatch`], or when the plaintext has fewer limbs.
    pub fn add_plain(&self, a: &Ciphertext, m: &Plaintext) -> Result<Ciphertext, CkksError> {
        same_scale(a.scale, m.scale)?;
        Ok(Ciphertext { rlwe: self.chain.add_plain(&a.rlwe, &m.poly)?, scale: a.scale })
    }

    /// a + c in every slot.
    ///
    /// # Errors
    /// [`CkksError::ConstantTooLarge`].
    pub fn add_constant(&self, a: &Ciphertext, c: Complex) -> Result<Ciphertext, CkksError> {
        let (re, im) = round_constant(c, a.scale)?;
        let mut sum = a.clone();
        self.chain.ring().add_complex_assign(&mut sum.rlwe.parts_mut()[0], re, im);
        Ok(sum)
    }

    /// c a for an integer c, exactly.
    pub fn mul_integer(&self, a: &Ciphertext, c: i64) -> Ciphertext {
        Ciphertext { rlwe: self.chain.mul_integer(&a.rlwe, c), scale: a.scale }
    }

    /// i a, exactly: a product with a monomial.
    pub fn mul_imaginary(&self, a: &Ciphertext) -> Ciphertext {
        self.mul_complex_integer(a, 0, 1, a.scale)
    }

    /// c a with c rounded at the given scale: the scales multiply, the level stays until the rescale.
    ///
    /// # Errors
    /// [`CkksError::ConstantTooLarge`].
    pub fn mul_constant(&self, a: &Ciphertext, c: Complex, scale: f64) -> Result<Ciphertext, CkksError> {
        let (re, im) = round_constant(c, scale)?;
        Ok(self.mul_complex_integer(a, re, im, a.scale * scale))
    }

    /// sum_i c_i a_i at a level and a scale: the constants are rounded at the scales that the operands are missing. Operands
    /// have degree 1 and are at least at the level; at least one and at most 60.
    ///
    /// # Errors
    /// [`CkksError::ConstantTooLarge`], or when an operand has too few levels or another degree.
    pub fn combine_to(
        &self,
        terms: &[(&Ciphertext, Complex)],
        level: usize,
        scale: f64,
    ) -> Result<Ciphertext, CkksError> {
        let mut constants = Vec::with_capacity(terms.len());
        for (a, c) in terms {
            if a.level() < level {
                return Err(RlweError::LevelTooLow { needed: level, available: a.level() }.into());
            }
            check_degree(&a.rlwe, 1)?;
            constants.push(round_constant(*c, scale / a.scale)?);
        }
        let part = |p: usize| {
            let polys = terms.iter().zip(&constants).map(|((a, _), &c)| (&a.rlwe.parts()[p], c));
            self.chain.ring().combine_complex(&polys.collect::<Vec<_>>(), level + 1)
        };
        Ciphertext::new(rlwe::Ciphertext::new(vec![part(0), part(1)])?, scale)
    }

    fn mul_complex_integer(&self, a: &Ciphertext, re: i128, im: i128, scale: f64) -> Ciphertext {
        let mut product = Ciphertext { rlwe: a.rlwe.clone(), scale };
        for part in product.rlwe.parts_mut() {
            self.chain.ring().mul_complex_assign(part, re, im);
        }
        product
    }
}

fn round_constant(c: Complex, scale: f64) -> Result<(i128, i128), CkksError> {
    let round = |value: f64| {
        let scaled = (value * scale).round_ties_even();
        if scaled.abs() < CONSTANT_LIMIT {
            Ok(scaled as i128)
        } else {
            Err(CkksError::ConstantTooLarge { value, scale })
        }
    };
    Ok((round(c.re)?, round(c.im)?))
}
