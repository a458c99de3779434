//! Batches of matrices <-> polynomials, diagonal by diagonal.

use crate::gl::diagonal::{gather, scatter};
use crate::gl::{Gl, GlError, GlPlaintext, Matrices};
use crate::math::fft::Complex;
use crate::ring::Poly;
use rayon::prelude::*;

impl Gl {
    /// Encodes at most p - 1 matrices of side n (missing ones are zero) for all levels up to `level`, with slots `scale`
    /// times the entries. Summands of a value are encoded at [`Gl::scale`] of its level, factors at
    /// [`Gl::factor_scale`].
    ///
    /// # Errors
    /// [`GlError::WrongShape`], [`GlError::InvalidScale`], [`GlError::Encode`], or when the chain does not have the level.
    pub fn encode(&self, matrices: &Matrices, level: usize, scale: f64) -> Result<GlPlaintext, GlError> {
        if matrices.side() != self.side || matrices.count() > self.batch() {
            return Err(GlError::WrongShape {
                count: self.batch(),
                side: self.side,
                found_count: matrices.count(),
                found_side: matrices.side(),
            });
        }
        self.check_encoding(level, scale)?;
        let diagonal = |k: usize| self.encode_diagonal(&gather(matrices, k), level, scale);
        let diagonals: Result<Vec<Poly>, GlError> = (0..self.side).into_par_iter().map(diagonal).collect();
        Ok(GlPlaintext::from_parts(diagonals?, scale))
    }

    /// Encodes a slice: at most (p - 1) n entries `[matrix][row]` (missing ones are zero), as [`Gl::encode`].
    ///
    /// # Errors
    /// [`GlError::SliceTooLong`], [`GlError::InvalidScale`], [`GlError::Encode`], or when the chain does not have the level.
    pub fn encode_slice(
        &self,
        entries: &[Complex],
        level: usize,
        scale: f64,
    ) -> Result<GlPlaintext, GlError> {
        let slots = self.batch() * self.side;
        if entries.len() > slots {
            return Err(GlError::SliceTooLong { slots, found: entries.len() });
        }
        self.check_encoding(level, scale)?;
        Ok(GlPlaintext::from_parts(vec![self.encode_diagonal(entries, level, scale)?], scale))
    }

    fn check_encoding(&self, level: usize, scale: f64) -> Result<(), GlError> {
        self.chain.check_level(level)?;
        if scale.is_finite() && scale >= 1.0 { Ok(()) } else { Err(GlError::InvalidScale { found: scale }) }
    }

    fn encode_diagonal(&self, slots: &[Complex], level: usize, scale: f64) -> Result<Poly, GlError> {
        Ok(self.chain.ring().lift(&self.embedding.encode(slots, scale)?, level + 1))
    }

    /// The p - 1 matrices of a plaintext. Coefficients must be below half the product of its first two primes.
    ///
    /// # Errors
    /// [`GlError::WrongDiagonals`].
    pub fn decode(&self, plaintext: &GlPlaintext) -> Result<Matrices, GlError> {
        self.check_diagonals(plaintext.diagonals().len())?;
        let diagonal = |f: &Poly| self.decode_diagonal(f, plaintext.scale());
        Ok(scatter(self.side, &plaintext.diagonals().par_iter().map(diagonal).collect::<Vec<_>>()))
    }

    pub(crate) fn decode_diagonal(&self, f: &Poly, scale: f64) -> Vec<Complex> {
        let coefficients: Vec<f64> =
            self.chain.ring().to_signed(f).into_iter().map(|c| c as f64 / scale).collect();
        self.embedding.decode(&coefficients)
    }
}
