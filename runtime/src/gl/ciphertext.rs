//! Encrypted and encoded batches of matrices, and slices of them.
//!
//! A batch has n diagonals. A *slice* has one: a vector of n entries beside every matrix of a batch. Wherever a slice meets
//! matrices it stands for those whose columns all equal the vector, that is, whose diagonals are all the same: operations
//! read diagonal k of either as [`GlCiphertext::diagonal`], and are n times cheaper between slices.

use crate::gl::{Gl, GlError};
use crate::ring::{Form, Poly};
use crate::rlwe::{Ciphertext, RlweError};
use rayon::prelude::*;

/// An encrypted batch of matrices: one RLWE ciphertext of degree 1 per diagonal, all at one level, with the exact scale;
/// or an encrypted slice, a single one.
#[derive(Clone, Debug, PartialEq)]
pub struct GlCiphertext {
    diagonals: Vec<Ciphertext>,
    scale: f64,
}

/// An encoded batch of matrices: one polynomial of values per diagonal, with the exact scale; or an encoded slice, a single
/// one. It serves every level up to its own.
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

    /// Diagonal k at index k; of a slice, the only one.
    pub fn diagonals(&self) -> &[Ciphertext] {
        &self.diagonals
    }

    /// Diagonal k of the matrices this is or, for a slice, stands for.
    pub fn diagonal(&self, k: usize) -> &Ciphertext {
        &self.diagonals[k % self.diagonals.len()]
    }

    /// Whether this is a slice.
    pub fn is_slice(&self) -> bool {
        self.diagonals.len() == 1
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

    /// Diagonal k at index k; of a slice, the only one.
    pub fn diagonals(&self) -> &[Poly] {
        &self.diagonals
    }

    /// Diagonal k of the matrices this is or, for a slice, stands for.
    pub fn diagonal(&self, k: usize) -> &Poly {
        &self.diagonals[k % self.diagonals.len()]
    }

    /// Whether this is a slice.
    pub fn is_slice(&self) -> bool {
        self.diagonals.len() == 1
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

    /// Checks a number of diagonals: those of matrices or of a slice.
    pub(crate) fn check_diagonals(&self, found: usize) -> Result<(), GlError> {
        if found == 1 { Ok(()) } else { self.check_matrices(found) }
    }

    /// Checks a number of diagonals: those of matrices.
    pub(crate) fn check_matrices(&self, found: usize) -> Result<(), GlError> {
        if found == self.side { Ok(()) } else { Err(GlError::WrongDiagonals { side: self.side, found }) }
    }

    /// The ciphertext with the given diagonals, `count` of them, computed in parallel.
    pub(crate) fn assemble(
        &self,
        count: usize,
        scale: f64,
        diagonal: impl Fn(usize) -> Result<Ciphertext, RlweError> + Send + Sync,
    ) -> Result<GlCiphertext, GlError> {
        let diagonals: Result<Vec<Ciphertext>, RlweError> =
            (0..count).into_par_iter().map(diagonal).collect();
        Ok(GlCiphertext::from_parts(diagonals?, scale))
    }

    /// Checks that two ciphertexts, matrices or slices, have the same level.
    pub(crate) fn check_pair(&self, a: &GlCiphertext, b: &GlCiphertext) -> Result<(), GlError> {
        self.check_diagonals(a.diagonals.len())?;
        self.check_diagonals(b.diagonals.len())?;
        if a.level() != b.level() {
            return Err(RlweError::LevelMismatch { left: a.level(), right: b.level() }.into());
        }
        Ok(())
    }

    /// Checks that the plaintext, matrices or a slice like the ciphertext, serves its level.
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
