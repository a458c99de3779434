//! The secret key: a ternary element of R, wiped from memory when dropped.

use crate::math::sampler::Sampler;
use crate::ring::{Form, Poly};
use crate::rlwe::{Chain, RlweError};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A ternary secret s with its values modulo all primes of a chain. It has no `Debug` and is not copied implicitly.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SecretKey {
    coefficients: Vec<i64>,
    /// in the extended ring
    values: Poly,
}

impl SecretKey {
    /// A uniform ternary secret.
    pub fn generate(chain: &Chain, sampler: &mut Sampler) -> SecretKey {
        let coefficients = sampler.ternary(chain.ring_spec().degree());
        let values = lift(chain, &coefficients);
        SecretKey { coefficients, values }
    }

    /// The secret with the given coefficients `[t][x]`.
    ///
    /// # Errors
    /// [`RlweError::InvalidSecret`] unless they are as many as the ring's degree and in {-1, 0, 1}.
    pub fn from_coefficients(chain: &Chain, coefficients: Vec<i64>) -> Result<SecretKey, RlweError> {
        let degree = chain.ring_spec().degree();
        if coefficients.len() != degree || coefficients.iter().any(|c| !(-1..=1).contains(c)) {
            return Err(RlweError::InvalidSecret { degree });
        }
        let values = lift(chain, &coefficients);
        Ok(SecretKey { coefficients, values })
    }

    /// The coefficients `[t][x]`, in {-1, 0, 1}: what a file of the secret holds.
    pub fn coefficients(&self) -> &[i64] {
        &self.coefficients
    }

    /// Values modulo all primes of the extended ring.
    pub(crate) fn values(&self) -> &Poly {
        &self.values
    }

    /// Values modulo q_0, ..., q_level.
    pub(crate) fn values_at(&self, chain: &Chain, level: usize) -> Zeroizing<Poly> {
        let mut values = Zeroizing::new(chain.ring().dirty(level + 1, Form::Evaluation));
        let start = chain.special_primes() * self.values.degree();
        let words = values.words_mut();
        words.copy_from_slice(&self.values.words()[start..][..words.len()]);
        values
    }
}

fn lift(chain: &Chain, coefficients: &[i64]) -> Poly {
    let ext = chain.extended_ring();
    ext.lift(coefficients, ext.primes())
}
