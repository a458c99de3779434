//! Matrix products A B^dagger of batches; one level each.
//!
//! With ciphertexts (a_0, a_1) and (b_0, b_1) the four trace products d_ab of the components decrypt as
//!   d_00 + s d_10 + sigma_k(s) d_01 + s sigma_k(s) d_11
//! on diagonal k, sigma_k: X -> X^(-5^k), W -> W^-1. Two key switches, added to P (d_00, d_10) before a single division by
//! P q_l, bring it back under s. With a plaintext on the right nothing has to be switched; with a plaintext on the left one
//! key per diagonal suffices. Sums of products are switched once.

use crate::gl::product::{Operand, trace_products};
use crate::gl::{Gl, GlCiphertext, GlError, GlPlaintext, check_scales};
use crate::ring::Poly;
use crate::rlwe::{Ciphertext, EvaluationKeys, KeySource, RlweError};
use rayon::prelude::*;

impl Gl {
    /// A B^dagger of two encrypted batches. Needs the keys for [`GlOperation::Product`](crate::gl::GlOperation).
    ///
    /// # Errors
    /// At level 0, when levels or shapes differ, or when a key is missing.
    pub fn matmul(
        &self,
        a: &GlCiphertext,
        b: &GlCiphertext,
        keys: &EvaluationKeys,
    ) -> Result<GlCiphertext, GlError> {
        self.matmul_sum(&[(a, b)], keys)
    }

    /// sum_i A_i B_i^dagger, with the key switches of a single product. All operands have one level, all products one
    /// scale.
    ///
    /// # Errors
    /// [`GlError::EmptySum`], [`GlError::ScaleMismatch`]; at level 0; when levels or shapes differ; when a key is missing.
    pub fn matmul_sum(
        &self,
        terms: &[(&GlCiphertext, &GlCiphertext)],
        keys: &EvaluationKeys,
    ) -> Result<GlCiphertext, GlError> {
        let (scale, parts) = self.products(terms)?;
        self.finish(scale, parts, |k, parts| self.product_diagonal(&parts, k, keys))
    }

    /// As [`Gl::matmul_sum`] with log2(n) + 2 keys in the place of 2n, for n (log2(n) + 3) key switches in the place of 2n.
    /// The special primes must exceed the digits. Needs the keys for
    /// [`GlOperation::ProductInSteps`](crate::gl::GlOperation).
    ///
    /// # Errors
    /// As [`Gl::matmul_sum`].
    pub fn matmul_sum_in_steps(
        &self,
        terms: &[(&GlCiphertext, &GlCiphertext)],
        keys: &EvaluationKeys,
    ) -> Result<GlCiphertext, GlError> {
        let (scale, parts) = self.products(terms)?;
        self.finish(scale, parts, |k, parts| self.product_diagonal_in_steps(&parts, k, keys))
    }

    /// The trace products d_00, d_10, d_01, d_11 of every diagonal, and the scale after the rescale.
    fn products(&self, terms: &[(&GlCiphertext, &GlCiphertext)]) -> Result<(f64, Vec<Vec<Poly>>), GlError> {
        let (a, b) = *terms.first().ok_or(GlError::EmptySum)?;
        for (x, y) in terms {
            self.check_operands(a, x)?;
            self.check_operands(a, y)?;
            check_scales(a.scale() * b.scale(), x.scale() * y.scale())?;
        }
        let (level, scale) = (a.level(), self.product_scale(a.scale(), b.scale(), a.level())?);
        let operands: Vec<_> = terms.iter().map(|(x, y)| (components(x), components(y))).collect();
        Ok((scale, trace_products(self.chain.ring(), level + 1, &operands)))
    }

    /// A A^dagger. The result is Hermitian: diagonals beyond n/2 are those before it under one automorphism, so that
    /// 3n/2 + 1 key switches do the work of 2n. The last are not divided by q_l with the rescale: they need special primes
    /// larger than the digits of the level below. Needs the keys for [`GlOperation::Gram`](crate::gl::GlOperation).
    ///
    /// # Errors
    /// At level 0, when shapes do not fit, or when a key is missing.
    pub fn gram(&self, a: &GlCiphertext, keys: &EvaluationKeys) -> Result<GlCiphertext, GlError> {
        self.check_operands(a, a)?;
        let (level, scale) = (a.level(), self.product_scale(a.scale(), a.scale(), a.level())?);
        let mut parts = trace_products(self.chain.ring(), level + 1, &[(components(a), components(a))]);
        let half = self.side / 2;
        parts.truncate(half + 1);
        let upper = self.finish(scale, parts, |k, parts| self.product_diagonal(&parts, k, keys))?;
        let lower = self.assemble(half - 1, scale, |i| {
            let k = half + 1 + i;
            self.chain.automorphism(&upper.diagonals()[self.side - k], self.dagger_map(k), keys)
        })?;
        Ok(GlCiphertext::from_parts([upper.diagonals(), lower.diagonals()].concat(), scale))
    }

    /// The ciphertext of diagonals computed in parallel from the trace products of each, which are freed one by one.
    fn finish(
        &self,
        scale: f64,
        parts: Vec<Vec<Poly>>,
        diagonal: impl Fn(usize, Vec<Poly>) -> Result<Ciphertext, RlweError> + Sync,
    ) -> Result<GlCiphertext, GlError> {
        let diagonals: Result<Vec<Ciphertext>, RlweError> =
            parts.into_par_iter().enumerate().map(|(k, parts)| diagonal(k, parts)).collect();
        Ok(GlCiphertext::from_parts(diagonals?, scale))
    }

    /// Diagonal k of a product from the trace products d_00, d_10, d_01, d_11.
    fn product_diagonal(
        &self,
        parts: &[Poly],
        k: usize,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, RlweError> {
        let [d00, d10, d01, d11] = parts else { unreachable!("two components times two") };
        let map = self.dagger_map(k);
        let level = d00.limbs() - 1;
        let [of_map, of_product] = [KeySource::Galois(map), KeySource::Product(map)];
        let switches = [(d01, keys.get(of_map, level)?), (d11, keys.get(of_product, level)?)];
        self.chain.switch_rescale(&switches, [Some(d00), Some(d10)])
    }

    /// As [`Gl::product_diagonal`]: u = (d_00, d_01) and v = (d_10, d_11) are pairs under sigma_k(s), images under sigma_k of
    /// pairs under s, and make u + s v.
    fn product_diagonal_in_steps(
        &self,
        parts: &[Poly],
        k: usize,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, RlweError> {
        let [d00, d10, d01, d11] = parts else { unreachable!("two components times two") };
        let (ring, spec) = (self.chain.ring(), self.chain.ring_spec());
        let under_secret = |pair: [&Poly; 2]| -> Result<Ciphertext, RlweError> {
            let back = spec.inverse(self.dagger_map(k));
            let pair = Ciphertext::new(pair.map(|d| ring.automorphism(d, back)).into())?;
            let conjugate = self.chain.automorphism(&pair, spec.conjugation(), keys)?;
            self.rotate_rows_in_steps(conjugate, k, keys)
        };
        let (u, v) = (under_secret([d00, d01])?, under_secret([d10, d11])?);
        let middle = ring.add(u.mask(), v.body());
        let product = Ciphertext::new(vec![u.body().clone(), middle, v.mask().clone()])?;
        self.chain.relinearize_rescale(&product, keys)
    }

    /// A P^dagger for an encoded batch P; no key.
    ///
    /// # Errors
    /// At level 0, or when the plaintext does not serve the level of A.
    pub fn matmul_plain(&self, a: &GlCiphertext, p: &GlPlaintext) -> Result<GlCiphertext, GlError> {
        self.matmul_plain_sum(&[(a, p)])
    }

    /// sum_i A_i P_i^dagger with one rescale; no key. All ciphertexts have one level, all products one scale.
    ///
    /// # Errors
    /// [`GlError::EmptySum`], [`GlError::ScaleMismatch`]; at level 0; when levels or shapes do not fit.
    pub fn matmul_plain_sum(&self, terms: &[(&GlCiphertext, &GlPlaintext)]) -> Result<GlCiphertext, GlError> {
        let (a, p) = *terms.first().ok_or(GlError::EmptySum)?;
        for (x, m) in terms {
            self.check_operands(a, x)?;
            self.check_matrices(m.diagonals().len())?;
            self.check_plain(x, m)?;
            check_scales(a.scale() * p.scale(), x.scale() * m.scale())?;
        }
        let (level, scale) = (a.level(), self.product_scale(a.scale(), p.scale(), a.level())?);
        let operands: Vec<_> = terms.iter().map(|(x, m)| (components(x), vec![polys(m)])).collect();
        let parts = trace_products(self.chain.ring(), level + 1, &operands);
        self.finish(scale, parts, |_, parts| self.chain.rescale(&Ciphertext::new(parts)?))
    }

    /// P B^dagger for an encoded batch P. Needs the keys for
    /// [`GlOperation::PlainLeftProduct`](crate::gl::GlOperation).
    ///
    /// # Errors
    /// At level 0, when the plaintext does not serve the level of B, or when a key is missing.
    pub fn plain_matmul(
        &self,
        p: &GlPlaintext,
        b: &GlCiphertext,
        keys: &EvaluationKeys,
    ) -> Result<GlCiphertext, GlError> {
        self.check_operands(b, b)?;
        self.check_matrices(p.diagonals().len())?;
        self.check_plain(b, p)?;
        let (level, scale) = (b.level(), self.product_scale(b.scale(), p.scale(), b.level())?);
        let parts = trace_products(self.chain.ring(), level + 1, &[(vec![polys(p)], components(b))]);
        self.finish(scale, parts, |k, parts| {
            let key = keys.get(KeySource::Galois(self.dagger_map(k)), level)?;
            self.chain.switch_rescale(&[(&parts[1], key)], [Some(&parts[0]), None])
        })
    }

    /// Checks that both are matrices, at one level.
    fn check_operands(&self, a: &GlCiphertext, b: &GlCiphertext) -> Result<(), GlError> {
        self.check_matrices(a.diagonals().len())?;
        self.check_matrices(b.diagonals().len())?;
        self.check_pair(a, b)
    }

    /// P B for an encoded batch P: (B^dagger P^dagger)^dagger, with two key switches per diagonal. Needs the keys for
    /// [`GlOperation::ConjugateTranspose`](crate::gl::GlOperation).
    ///
    /// # Errors
    /// As [`Gl::matmul_plain`], or when a key is missing.
    pub fn matmul_plain_left(
        &self,
        p: &GlPlaintext,
        b: &GlCiphertext,
        keys: &EvaluationKeys,
    ) -> Result<GlCiphertext, GlError> {
        let product = self.matmul_plain(&self.conjugate_transpose(b, keys)?, p)?;
        self.conjugate_transpose(&product, keys)
    }
}

/// Both components with all diagonals.
fn components(a: &GlCiphertext) -> Operand<'_> {
    vec![a.diagonals().iter().map(|f| f.body()).collect(), a.diagonals().iter().map(|f| f.mask()).collect()]
}

fn polys(p: &GlPlaintext) -> Vec<&Poly> {
    p.diagonals().iter().collect()
}
