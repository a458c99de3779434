//! Slices: vectors beside a batch of matrices, and the ways between the two.
//!
//! Entry j of the vector beside matrix l is slot (l, j) of one RLWE ciphertext, as rows are in every diagonal. So the sum of
//! all diagonals is the slice of row sums, and a slice as every diagonal is the batch with n equal columns: reductions and
//! broadcasts along columns need no key and no level. Sums, products, rotations of rows and batch, conjugation and changes
//! of level take slices as they take matrices; what mixes diagonals (products of matrices, transposes) does not.

use crate::gl::{Gl, GlCiphertext, GlError};
use crate::rlwe::EvaluationKeys;

impl Gl {
    /// The slice of row sums: entry (l, j) is `sum_c M_l[j, c]`. No key, no level; errors of entries add up to sqrt(n) times
    /// one.
    ///
    /// # Errors
    /// [`GlError::WrongDiagonals`] unless `a` are matrices.
    pub fn reduce_columns(&self, a: &GlCiphertext) -> Result<GlCiphertext, GlError> {
        self.check_matrices(a.diagonals().len())?;
        let mut sum = a.diagonals()[0].clone();
        for diagonal in &a.diagonals()[1..] {
            self.chain.add_assign(&mut sum, diagonal)?;
        }
        Ok(GlCiphertext::from_parts(vec![sum], a.scale()))
    }

    /// The matrices all of whose columns are the vectors of a slice: n copies. Operations that take a slice beside matrices
    /// need none.
    ///
    /// # Errors
    /// [`GlError::NotASlice`].
    pub fn broadcast_columns(&self, slice: &GlCiphertext) -> Result<GlCiphertext, GlError> {
        self.check_slice(slice)?;
        Ok(GlCiphertext::from_parts(vec![slice.diagonal(0).clone(); self.side], slice.scale()))
    }

    /// The matrices with row j of matrix l multiplied by entry (l, j) of a slice: [`Gl::hadamard`], with one key switch per
    /// diagonal and the key for [`GlOperation::Hadamard`](crate::gl::GlOperation).
    ///
    /// # Errors
    /// [`GlError::NotASlice`], or as [`Gl::hadamard`].
    pub fn hadamard_slice(
        &self,
        a: &GlCiphertext,
        slice: &GlCiphertext,
        keys: &EvaluationKeys,
    ) -> Result<GlCiphertext, GlError> {
        self.check_slice(slice)?;
        self.hadamard(a, slice, keys)
    }

    pub(crate) fn check_slice(&self, a: &GlCiphertext) -> Result<(), GlError> {
        if a.is_slice() { Ok(()) } else { Err(GlError::NotASlice { found: a.diagonals().len() }) }
    }
}
