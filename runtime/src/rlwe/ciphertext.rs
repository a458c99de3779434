//! Ciphertexts: components (c_0, c_1[, c_2]) that decrypt to c_0 + c_1 s + c_2 s^2.

use crate::math::products::Products;
use crate::ring::{Form, Galois, Poly};
use crate::rlwe::{Chain, RlweError};

/// An RLWE ciphertext: two or three polynomials of one level, as values. Level = limbs - 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ciphertext {
    parts: Vec<Poly>,
}

impl Ciphertext {
    /// A ciphertext from its components.
    ///
    /// # Errors
    /// [`RlweError::ForeignShape`] unless there are two or three, all values with the same number of limbs, not zero.
    pub fn new(parts: Vec<Poly>) -> Result<Ciphertext, RlweError> {
        let foreign = |reason| Err(RlweError::ForeignShape { reason });
        if !(2..=3).contains(&parts.len()) {
            return foreign("a ciphertext has two or three components");
        }
        if parts.iter().any(|c| c.form() != Form::Evaluation) {
            return foreign("components are values");
        }
        let (degree, limbs) = (parts[0].degree(), parts[0].limbs());
        if limbs == 0 || parts.iter().any(|c| (c.degree(), c.limbs()) != (degree, limbs)) {
            return foreign("components have the same positive number of limbs");
        }
        Ok(Ciphertext { parts })
    }

    pub(crate) fn from_parts(parts: Vec<Poly>) -> Ciphertext {
        Ciphertext { parts }
    }

    /// Rescales left.
    pub fn level(&self) -> usize {
        self.parts[0].limbs() - 1
    }

    /// Components - 1: the degree as a polynomial in the secret.
    pub fn degree(&self) -> usize {
        self.parts.len() - 1
    }

    /// All components.
    pub fn parts(&self) -> &[Poly] {
        &self.parts
    }

    /// All components, for writing; they must keep their shape.
    pub fn parts_mut(&mut self) -> &mut [Poly] {
        &mut self.parts
    }

    /// Component 0.
    pub fn body(&self) -> &Poly {
        &self.parts[0]
    }

    /// Component 1.
    pub fn mask(&self) -> &Poly {
        &self.parts[1]
    }
}

impl Chain {
    /// Checks a ciphertext from outside against the chain.
    ///
    /// # Errors
    /// When its degree, level or words do not fit.
    pub fn check(&self, ct: &Ciphertext) -> Result<(), RlweError> {
        self.check_level(ct.level())?;
        ct.parts.iter().try_for_each(|part| Ok(self.ring().check(part)?))
    }

    /// a + b, of possibly different degrees.
    ///
    /// # Errors
    /// [`RlweError::LevelMismatch`].
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, RlweError> {
        let mut sum = a.clone();
        self.add_assign(&mut sum, b)?;
        Ok(sum)
    }

    /// a += b, of possibly different degrees.
    ///
    /// # Errors
    /// [`RlweError::LevelMismatch`].
    pub fn add_assign(&self, a: &mut Ciphertext, b: &Ciphertext) -> Result<(), RlweError> {
        same_level(a, b)?;
        for (x, y) in a.parts.iter_mut().zip(&b.parts) {
            self.ring().add_assign(x, y);
        }
        a.parts.extend(b.parts.iter().skip(a.parts.len()).cloned());
        Ok(())
    }

    /// a - b, of possibly different degrees.
    ///
    /// # Errors
    /// [`RlweError::LevelMismatch`].
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, RlweError> {
        let mut negated = self.neg(b);
        self.add_assign(&mut negated, a)?;
        Ok(negated)
    }

    /// -a.
    pub fn neg(&self, a: &Ciphertext) -> Ciphertext {
        let mut negated = a.clone();
        negated.parts.iter_mut().for_each(|part| self.ring().neg_assign(part));
        negated
    }

    /// a + (m, 0) for a plaintext with at least the limbs of a, as values.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when the plaintext has fewer limbs.
    pub fn add_plain(&self, a: &Ciphertext, m: &Poly) -> Result<Ciphertext, RlweError> {
        check_plain(a, m)?;
        let mut sum = a.clone();
        self.ring().add_assign(&mut sum.parts[0], m);
        Ok(sum)
    }

    /// m a for a plaintext with at least the limbs of a, as values.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when the plaintext has fewer limbs.
    pub fn mul_plain(&self, a: &Ciphertext, m: &Poly) -> Result<Ciphertext, RlweError> {
        check_plain(a, m)?;
        Ok(Ciphertext { parts: a.parts.iter().map(|part| self.ring().mul(part, m)).collect() })
    }

    /// m a divided by q_l with rounding: one level down.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when the plaintext has fewer limbs, or at level 0.
    pub fn mul_plain_rescale(&self, a: &Ciphertext, m: &Poly) -> Result<Ciphertext, RlweError> {
        check_plain(a, m)?;
        self.rescale_parts(a, |i, part, limb| {
            let terms = [(part.limb(i), [m.limb(i)])];
            Products::new(self.ring().modulus(i)).sums_of_products([None], &terms, [limb]);
        })
    }

    /// c a for an integer c.
    pub fn mul_integer(&self, a: &Ciphertext, c: i64) -> Ciphertext {
        let mut product = a.clone();
        product.parts.iter_mut().for_each(|part| self.ring().mul_integer_assign(part, c));
        product
    }

    /// The product of two ciphertexts of degree 1, of degree 2: (a_0 b_0, a_0 b_1 + a_1 b_0, a_1 b_1).
    ///
    /// # Errors
    /// [`RlweError::LevelMismatch`], [`RlweError::DegreeMismatch`].
    pub fn tensor(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, RlweError> {
        same_level(a, b)?;
        check_degree(a, 1)?;
        check_degree(b, 1)?;
        let ring = self.ring();
        let cross = ring.sum_of_products(&[(a.body(), b.mask()), (a.mask(), b.body())]);
        Ok(Ciphertext { parts: vec![ring.mul(a.body(), b.body()), cross, ring.mul(a.mask(), b.mask())] })
    }

    /// The square of a ciphertext of degree 1, of degree 2.
    ///
    /// # Errors
    /// [`RlweError::DegreeMismatch`].
    pub fn tensor_square(&self, a: &Ciphertext) -> Result<Ciphertext, RlweError> {
        check_degree(a, 1)?;
        let ring = self.ring();
        let mut cross = ring.mul(a.body(), a.mask());
        ring.mul_integer_assign(&mut cross, 2);
        Ok(Ciphertext { parts: vec![ring.mul(a.body(), a.body()), cross, ring.mul(a.mask(), a.mask())] })
    }

    /// The components under an automorphism sigma: decrypts under sigma(s).
    pub fn map(&self, a: &Ciphertext, g: Galois) -> Ciphertext {
        Ciphertext { parts: a.parts.iter().map(|part| self.ring().automorphism(part, g)).collect() }
    }

    /// The same ciphertext at a lower level, by forgetting limbs: the plaintext is unchanged.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when `level` is above that of `a`.
    pub fn drop_to_level(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, RlweError> {
        if level > a.level() {
            return Err(RlweError::LevelTooLow { needed: level, available: a.level() });
        }
        Ok(Ciphertext { parts: a.parts.iter().map(|part| part.prefix(level + 1)).collect() })
    }

    /// Division by q_l with rounding: one level down, the plaintext divided by q_l.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] at level 0.
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, RlweError> {
        self.rescale_parts(a, |i, part, limb| limb.copy_from_slice(part.limb(i)))
    }

    /// Divides by q_l what `make` writes for every part: given the number of a prime, the part and a limb to fill.
    fn rescale_parts(
        &self,
        a: &Ciphertext,
        make: impl Fn(usize, &Poly, &mut [u64]) + Sync,
    ) -> Result<Ciphertext, RlweError> {
        let divider = self.level(a.level()).rescale.as_ref();
        let divider = divider.ok_or(RlweError::LevelTooLow { needed: 1, available: 0 })?;
        let divided = |part: &Poly| {
            let [quotient] = divider.divide(self.ring(), |i, [limb]| make(i, part, limb));
            quotient
        };
        Ok(Ciphertext { parts: a.parts.iter().map(divided).collect() })
    }
}

pub(crate) fn same_level(a: &Ciphertext, b: &Ciphertext) -> Result<(), RlweError> {
    if a.level() == b.level() {
        return Ok(());
    }
    Err(RlweError::LevelMismatch { left: a.level(), right: b.level() })
}

pub(crate) fn check_degree(a: &Ciphertext, needed: usize) -> Result<(), RlweError> {
    if a.degree() == needed {
        return Ok(());
    }
    Err(RlweError::DegreeMismatch { needed, available: a.degree() })
}

fn check_plain(a: &Ciphertext, m: &Poly) -> Result<(), RlweError> {
    if m.limbs() > a.level() {
        return Ok(());
    }
    Err(RlweError::LevelTooLow { needed: a.level(), available: m.limbs().saturating_sub(1) })
}
