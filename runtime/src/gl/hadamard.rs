//! Element-wise products, diagonal by diagonal as in CKKS; one level each. A slice as a factor multiplies every column.

use crate::gl::{Gl, GlCiphertext, GlError, GlPlaintext, check_scales};
use crate::rlwe::EvaluationKeys;

impl Gl {
    /// A o B, relinearised and rescaled in one division. Needs the key for [`GlOperation::Hadamard`](crate::gl::GlOperation).
    ///
    /// # Errors
    /// At level 0, when levels or shapes differ, or when the key is missing.
    pub fn hadamard(
        &self,
        a: &GlCiphertext,
        b: &GlCiphertext,
        keys: &EvaluationKeys,
    ) -> Result<GlCiphertext, GlError> {
        self.check_pair(a, b)?;
        let scale = self.product_scale(a.scale(), b.scale(), a.level())?;
        let count = a.diagonals().len().max(b.diagonals().len());
        self.assemble(count, scale, |k| {
            let product = self.chain.tensor(a.diagonal(k), b.diagonal(k))?;
            self.chain.relinearize_rescale(&product, keys)
        })
    }

    /// A o A.
    ///
    /// # Errors
    /// At level 0, or when the key is missing.
    pub fn hadamard_square(&self, a: &GlCiphertext, keys: &EvaluationKeys) -> Result<GlCiphertext, GlError> {
        self.check_diagonals(a.diagonals().len())?;
        let scale = self.product_scale(a.scale(), a.scale(), a.level())?;
        self.assemble(a.diagonals().len(), scale, |k| {
            self.chain.relinearize_rescale(&self.chain.tensor_square(&a.diagonals()[k])?, keys)
        })
    }

    /// A o P for an encoded batch; no key.
    ///
    /// # Errors
    /// At level 0, or when the plaintext does not serve the level of A.
    pub fn hadamard_plain(&self, a: &GlCiphertext, p: &GlPlaintext) -> Result<GlCiphertext, GlError> {
        self.hadamard_plain_sum(&[(a, p)])
    }

    /// sum_i A_i o P_i with one rescale; no key. The products have one level and scale.
    ///
    /// # Errors
    /// [`GlError::EmptySum`], [`GlError::ScaleMismatch`]; at level 0; when levels or shapes do not fit.
    pub fn hadamard_plain_sum(
        &self,
        terms: &[(&GlCiphertext, &GlPlaintext)],
    ) -> Result<GlCiphertext, GlError> {
        let (a, p) = *terms.first().ok_or(GlError::EmptySum)?;
        for (b, m) in terms {
            self.check_pair(a, b)?;
            self.check_plain(b, m)?;
            check_scales(a.scale() * p.scale(), b.scale() * m.scale())?;
        }
        let scale = self.product_scale(a.scale(), p.scale(), a.level())?;
        let diagonal = |k: usize| {
            let mut sum = self.chain.mul_plain(a.diagonal(k), p.diagonal(k))?;
            for (b, m) in &terms[1..] {
                for (part, factor) in sum.parts_mut().iter_mut().zip(b.diagonal(k).parts()) {
                    self.chain.ring().mul_add_assign(part, factor, m.diagonal(k));
                }
            }
            self.chain.rescale(&sum)
        };
        let extents = terms.iter().map(|(b, m)| b.diagonals().len().max(m.diagonals().len()));
        self.assemble(extents.max().unwrap_or(0), scale, diagonal)
    }
}
