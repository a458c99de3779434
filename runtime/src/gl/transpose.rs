//! Transpose, conjugate transpose, conjugate: no level.

use crate::gl::{Gl, GlCiphertext, GlError};
use crate::ring::Galois;
use crate::rlwe::{Ciphertext, EvaluationKeys, RlweError};

impl Gl {
    /// A^T. Diagonal k is diagonal -k of A, rotated by k rows.
    ///
    /// # Errors
    /// When a key for [`GlOperation::Transpose`](crate::gl::GlOperation) is missing, or shapes do not fit.
    pub fn transpose(&self, a: &GlCiphertext, keys: &EvaluationKeys) -> Result<GlCiphertext, GlError> {
        let spec = self.chain.ring_spec();
        self.check_matrices(a.diagonals().len())?;
        self.map_diagonals(a, keys, |k| ((self.side - k) % self.side, spec.rotation(k as i64)))
    }

    /// A^T with log2(n) keys: diagonal -k is rotated by the bits of k, one after the other. (n/2) log2(n) key switches for
    /// the n - 1 of [`Gl::transpose`], whose errors add up.
    ///
    /// # Errors
    /// When a key for [`GlOperation::TransposeInSteps`](crate::gl::GlOperation) is missing, or shapes do not fit.
    pub fn transpose_in_steps(
        &self,
        a: &GlCiphertext,
        keys: &EvaluationKeys,
    ) -> Result<GlCiphertext, GlError> {
        self.check_matrices(a.diagonals().len())?;
        self.assemble(self.side, a.scale(), |k| {
            self.rotate_rows_in_steps(a.diagonals()[(self.side - k) % self.side].clone(), k, keys)
        })
    }

    /// A diagonal rotated by k rows: by the bits of k, one after the other.
    pub(crate) fn rotate_rows_in_steps(
        &self,
        mut diagonal: Ciphertext,
        k: usize,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, RlweError> {
        for step in self.row_steps().filter(|step| k & step != 0) {
            let rotation = self.chain.ring_spec().rotation(step as i64);
            diagonal = self.chain.automorphism(&diagonal, rotation, keys)?;
        }
        Ok(diagonal)
    }

    /// A^dagger, the transpose of the conjugate.
    ///
    /// # Errors
    /// When a key for [`GlOperation::ConjugateTranspose`](crate::gl::GlOperation) is missing, or shapes do not fit.
    pub fn conjugate_transpose(
        &self,
        a: &GlCiphertext,
        keys: &EvaluationKeys,
    ) -> Result<GlCiphertext, GlError> {
        self.check_matrices(a.diagonals().len())?;
        self.map_diagonals(a, keys, |k| ((self.side - k) % self.side, self.dagger_map(k)))
    }

    /// The complex conjugate of every entry.
    ///
    /// # Errors
    /// When the key for [`GlOperation::Conjugate`](crate::gl::GlOperation) is missing, or shapes do not fit.
    pub fn conjugate(&self, a: &GlCiphertext, keys: &EvaluationKeys) -> Result<GlCiphertext, GlError> {
        let map = self.chain.ring_spec().conjugation();
        self.map_diagonals(a, keys, |k| (k, map))
    }

    /// Diagonal k of the result is a diagonal of `a` under an automorphism, both given by `image` of k.
    fn map_diagonals(
        &self,
        a: &GlCiphertext,
        keys: &EvaluationKeys,
        image: impl Fn(usize) -> (usize, Galois) + Sync,
    ) -> Result<GlCiphertext, GlError> {
        self.check_diagonals(a.diagonals().len())?;
        let diagonal = |k: usize| {
            let (from, map) = image(k);
            self.chain.automorphism(&a.diagonals()[from], map, keys)
        };
        self.assemble(a.diagonals().len(), a.scale(), diagonal)
    }
}
