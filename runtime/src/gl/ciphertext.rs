//! Encrypted and encoded batches of matrices.

use crate::gl::{Gl, GlError};
use crate::ring::{Form, Poly};
use crate::rlwe::{Ciphertext, RlweError};
use rayon::prelude::*;

/// An encrypted batch of matrices: one RLWE ciphertext of degree 1 per diagonal, all at one level, with the exact scale.
#[derive(Clone, Debug, PartialEq)]
pub struct GlCiphertext {
    diagonals: Vec<Ciphertext>,
    scale: f64,
}

/// An encoded batch of matrices: one polynomial of values per diagonal, with the exact scale. It serves every level up to
/// its own.
#[derive(Clone, Debug, PartialEq)]
pub struct GlPlaintext {
    diagonals: Vec<Poly>,
    scale: f64,
}

impl GlCiphertext {
    /// A ciphertext from its parts; [`Gl::check`] tells whether it belongs to a scheme.
    ///
    /// # Errors
    /// [`GlError::WrongDiagonals`] unless there is at least one diagonal and all have degree 1 and one level;
    /// [`GlError::InvalidScale`].
    pub fn new(diagonals: Vec<Ciphertext>, scale: f64) -> Result<GlCiphertext, GlError> {
        let level = diagonals.first().map(Ciphertext::level);
        if level.is_none() || diagonals.iter().any(|f| f.degree() != 1 || Some(f.level()) != level) {
            return Err(GlError::WrongDiagonals { side: diagonals.len().max(1), found: diagonals.len() });
        }
        if !(scale.is_finite() && scale >= 1.0) {
            return Err(GlError::InvalidScale { found: scale });
        }
        Ok(GlCiphertext { diagonals, scale })
    }

    pub(crate) fn from_parts(diagonals: Vec<Ciphertext>, scale: f64) -> GlCiphertext {
        GlCiphertext { diagonals, scale }
    }

    /// Rescales left.
    pub fn level(&self) -> usize {
        self.diagonals[0].level()
    }

    /// Slots are this many times the entries of the matrices.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Diagonal k at index k.
    pub fn diagonals(&self) -> &[Ciphertext] {
        &self.diagonals
    }

    /// Bytes of the residues.
    pub fn bytes(&self) -> usize {
        self.diagonals.iter().flat_map(Ciphertext::parts).map(|part| size_of_val(part.words())).sum()
    }
}

impl GlPlaintext {
    pub(crate) fn from_parts(diagonals: Vec<Poly>, scale: f64) -> GlPlaintext {
        GlPlaintext { diagonals, scale }
    }

    /// The highest level it serves.
    pub fn level(&self) -> usize {
        self.diagonals[0].limbs() - 1
    }

    /// Slots are this many times the entries of the matrices.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Diagonal k at index k.
    pub fn diagonals(&self) -> &[Poly] {
        &self.diagonals
    }
}

impl Gl {
    /// Checks a ciphertext from outside against the scheme.
    ///
    /// # Errors
    /// When its number of diagonals, level or words do not fit.
    pub fn check(&self, ct: &GlCiphertext) -> Result<(), GlError> {
        self.check_diagonals(ct.diagonals.len())?;
        Ok(ct.diagonals.iter().try_for_each(|diagonal| self.chain.check(diagonal))?)
    }

    pub(crate) fn check_diagonals(&self, found: usize) -> Result<(), GlError> {
        if found == self.side { Ok(()) } else { Err(GlError::WrongDiagonals { side: self.side, found }) }
    }

    /// The ciphertext with the given diagonals, computed in parallel.
    pub(crate) fn assemble(
        &self,
        scale: f64,
        diagonal: impl Fn(usize) -> Result<Ciphertext, RlweError> + Send + Sync,
    ) -> Result<GlCiphertext, GlError> {
        let diagonals: Result<Vec<Ciphertext>, RlweError> =
            (0..self.side).into_par_iter().map(diagonal).collect();
        Ok(GlCiphertext::from_parts(diagonals?, scale))
    }

    /// Checks that two ciphertexts have all diagonals and the same level.
    pub(crate) fn check_pair(&self, a: &GlCiphertext, b: &GlCiphertext) -> Result<(), GlError> {
        self.check_diagonals(a.diagonals.len())?;
        self.check_diagonals(b.diagonals.len())?;
        if a.level() != b.level() {
            return Err(RlweError::LevelMismatch { left: a.level(), right: b.level() }.into());
        }
        Ok(())
    }

    /// Checks that both operands have all diagonals and that the plaintext serves the level of the ciphertext.
    pub(crate) fn check_plain(&self, a: &GlCiphertext, m: &GlPlaintext) -> Result<(), GlError> {
        self.check_diagonals(a.diagonals.len())?;
        self.check_diagonals(m.diagonals.len())?;
        if m.level() < a.level() {
            return Err(RlweError::LevelTooLow { needed: a.level(), available: m.level() }.into());
        }
        debug_assert!(m.diagonals.iter().all(|f| f.form() == Form::Evaluation));
        Ok(())
    }
}
