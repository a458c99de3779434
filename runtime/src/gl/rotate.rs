//! Cyclic rotations of batch, rows and columns.

use crate::gl::{Gl, GlCiphertext, GlError};
use crate::ring::Galois;
use crate::rlwe::{Ciphertext, EvaluationKeys, RlweError};
use rayon::prelude::*;

/// A cyclic rotation: entry (l, j, c) of the result is entry (l + batch, j + rows, c + columns) of the operand, indices
/// modulo p - 1, n and n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rotation {
    /// steps along the batch
    pub batch: i64,
    /// steps along the rows
    pub rows: i64,
    /// steps along the columns
    pub columns: i64,
}

impl Gl {
    /// The automorphism that rotates batch and rows at once.
    pub(crate) fn rotation_map(&self, rotation: Rotation) -> Galois {
        self.chain.ring_spec().galois(false, rotation.rows, rotation.batch)
    }

    /// Rotates by one automorphism of every diagonal, or none when only columns move. Needs the key for
    /// [`GlOperation::Rotate`](crate::gl::GlOperation), whatever the columns.
    ///
    /// # Errors
    /// When the key is missing, or shapes do not fit.
    pub fn rotate(
        &self,
        a: &GlCiphertext,
        rotation: Rotation,
        keys: &EvaluationKeys,
    ) -> Result<GlCiphertext, GlError> {
        self.check_diagonals(a.diagonals().len())?;
        let map = self.rotation_map(rotation);
        let rotated =
            |k: usize| self.chain.automorphism(a.diagonal(rotation.source(k, self.side)), map, keys);
        self.assemble(a.diagonals().len(), a.scale(), rotated)
    }

    /// Several rotations of one ciphertext; its diagonals are cut into digits once.
    ///
    /// # Errors
    /// When a key is missing, or shapes do not fit.
    pub fn rotate_many(
        &self,
        a: &GlCiphertext,
        rotations: &[Rotation],
        keys: &EvaluationKeys,
    ) -> Result<Vec<GlCiphertext>, GlError> {
        self.check_diagonals(a.diagonals().len())?;
        let images = |f: &Ciphertext| {
            let digits = self.chain.decompose(f.mask());
            let image =
                |&r: &Rotation| self.chain.automorphism_hoisted(f, &digits, self.rotation_map(r), keys);
            rotations.iter().map(image).collect()
        };
        let images: Result<Vec<Vec<Ciphertext>>, RlweError> = a.diagonals().par_iter().map(images).collect();
        let mut results: Vec<Vec<Ciphertext>> = vec![Vec::with_capacity(self.side); rotations.len()];
        for of_diagonal in images? {
            for (result, image) in results.iter_mut().zip(of_diagonal) {
                result.push(image);
            }
        }
        for (result, rotation) in results.iter_mut().zip(rotations) {
            let first = if a.is_slice() { 0 } else { rotation.source(0, self.side) };
            result.rotate_left(first);
        }
        Ok(results.into_iter().map(|diagonals| GlCiphertext::from_parts(diagonals, a.scale())).collect())
    }
}

impl Rotation {
    /// The diagonal that goes to diagonal k: entry (j, j + k) comes from (j + rows, j + k + columns).
    pub(crate) fn source(self, k: usize, side: usize) -> usize {
        let steps = |steps: i64| steps.rem_euclid(side as i64) as usize;
        (k + steps(self.columns) + side - steps(self.rows)) % side
    }
}
