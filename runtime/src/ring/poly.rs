//! Ring elements as residues: one limb per prime, all limbs in one buffer.

use crate::math::buffer::Buffer;
use crate::ring::RingError;
use zeroize::Zeroize;

/// What the words of a limb mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// coefficients over the basis W^(gamma^t) X^x, ordered `[t][x]`
    Coefficient,
    /// values at the roots of unity, in the ring's own order
    Evaluation,
}

/// An element of R modulo the first primes of a [`Ring`](crate::ring::Ring): limb i holds its residues modulo prime
/// number i, as `degree` words in [0, q_i). A polynomial may have fewer limbs than the ring has primes.
///
/// Operations are methods of the ring, which knows the primes.
#[derive(Clone, PartialEq, Eq)]
pub struct Poly {
    degree: usize,
    form: Form,
    words: Buffer,
}

impl Poly {
    /// Zero with `limbs` limbs.
    pub fn zero(degree: usize, limbs: usize, form: Form) -> Poly {
        Poly { degree, form, words: Buffer::zeroed(degree * limbs) }
    }

    /// A polynomial with `limbs` limbs of any words, all to be written.
    pub(crate) fn dirty(degree: usize, limbs: usize, form: Form) -> Poly {
        Poly { degree, form, words: Buffer::dirty(degree * limbs) }
    }

    /// A polynomial from its words, ordered `[limb][place]`. The ring checks their range where it takes them from outside.
    ///
    /// # Errors
    /// [`RingError::PartialLimb`] unless the words fill whole limbs.
    pub fn from_words(degree: usize, form: Form, words: Vec<u64>) -> Result<Poly, RingError> {
        if degree == 0 || !words.len().is_multiple_of(degree) {
            return Err(RingError::PartialLimb { degree, words: words.len() });
        }
        Ok(Poly { degree, form, words: words.into() })
    }

    /// Degree of the ring, the words of a limb.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Number of limbs.
    pub fn limbs(&self) -> usize {
        self.words.len() / self.degree
    }

    /// What the words mean.
    pub fn form(&self) -> Form {
        self.form
    }

    /// All words, ordered `[limb][place]`.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// All words, for writing; they must stay residues.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The words of limb number `i`.
    pub fn limb(&self, i: usize) -> &[u64] {
        &self.words[i * self.degree..][..self.degree]
    }

    /// The words of limb number `i`, for writing; they must stay residues.
    pub fn limb_mut(&mut self, i: usize) -> &mut [u64] {
        &mut self.words[i * self.degree..][..self.degree]
    }

    /// Forgets all but the first `limbs` limbs.
    pub fn truncate(&mut self, limbs: usize) {
        self.words.truncate(limbs * self.degree);
    }

    /// The first `limbs` limbs.
    pub fn prefix(&self, limbs: usize) -> Poly {
        Poly { degree: self.degree, form: self.form, words: Buffer::from(&self.words[..limbs * self.degree]) }
    }

    pub(crate) fn set_form(&mut self, form: Form) {
        self.form = form;
    }
}

impl Zeroize for Poly {
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}

/// Only the shape is shown: words may be secret.
impl std::fmt::Debug for Poly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poly")
            .field("degree", &self.degree)
            .field("limbs", &self.limbs())
            .field("form", &self.form)
            .finish_non_exhaustive()
    }
}
