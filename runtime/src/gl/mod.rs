//! The Gentry-Lee scheme: batches of p - 1 square matrices n x n, in diagonal form.
//!
//! A batch M_0, ..., M_(p-2) is held as its n generalised diagonals: f_k is the element of R(n, p) whose slot (l, j) is
//! `M_l[j, j + k]` (columns modulo n). A ciphertext is n RLWE ciphertexts, one per diagonal, under one secret in R, and
//! everything stays in the evaluation domain. In this form
//! - element-wise products, conjugation and rotations of rows and batch act on every diagonal as in CKKS,
//! - a rotation of columns relabels the diagonals,
//! - A B^dagger is, for every sign s of X and every l, one modular matrix product (see `product`), after which diagonal k
//!   is switched by ordinary keys for sigma_k: X -> X^(-5^k), W -> W^-1.
//!
//! *Why diagonals.* The paper writes a ciphertext as coefficients of Y^0, ..., Y^(n-1). A product then needs a transform along
//! Y of every limb on the way in and on the way out, where diagonals need none; and the rounding of a division by a prime
//! enters an entry through all n coefficients, where here it enters through one: errors are smaller by sqrt(n). For 256
//! products of 64 x 64 with entries in [-1, 1] at a scale of 2^40 the largest error measured is 5.5e-8, against
//! 2.4e-6 for a library with coefficients of Y (benches/README.md). Keys take the same bytes in both forms: n keys of R are as
//! large as one of `R[Y] / (Y^n - i)`.
//!
//! Scales are canonical: S_L is chosen and S_(l-1) = S_l^2 / q_l, so a product of two values at level l, divided by q_l, is
//! again at the scale of its level; factors in clear are encoded at [`Gl::factor_scale`] for the same reason.
//!
//! References: Gentry, Lee, "Fully homomorphic encryption for matrix arithmetic", 2025/1935; the form by diagonals after
//! 2026/2058 (product keys per diagonal).

mod arithmetic;
mod ciphertext;
mod diagonal;
mod encoder;
mod encrypt;
mod hadamard;
mod keys;
mod matmul;
mod matrices;
pub mod noise;
mod product;
mod rotate;
mod slice;
mod tiles;
mod transpose;

pub use ciphertext::{GlCiphertext, GlPlaintext};
pub use keys::GlOperation;
pub use matrices::Matrices;
pub use rotate::Rotation;

use crate::math::embedding::{Embedding, EncodeError};
use crate::ring::RingSpec;
use crate::rlwe::{Chain, RlweError};
use std::sync::Arc;
use thiserror::Error;

/// Scales that agree to this relative difference count as equal: it is far below every error of the scheme.
const SCALE_TOLERANCE: f64 = 1.0 / (1u64 << 40) as f64;

/// Why an operation on matrices cannot be done.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum GlError {
    /// The ring has no W axis.
    #[error("needed a ring R(n, p), found {found:?}")]
    WrongRing {
        /// the ring of the chain
        found: RingSpec,
    },
    /// A scale is not a finite number of at least 1.
    #[error("a scale must be finite and at least 1, found {found:e}")]
    InvalidScale {
        /// the value given
        found: f64,
    },
    /// An operation on slices was given matrices.
    #[error("needed a slice, found {found} diagonals")]
    NotASlice {
        /// diagonals found
        found: usize,
    },
    /// More numbers than a slice has.
    #[error("a slice has {slots} numbers, found {found}")]
    SliceTooLong {
        /// numbers in a slice
        slots: usize,
        /// numbers given
        found: usize,
    },
    /// Numbers do not fill square matrices.
    #[error("{entries} numbers are not whole {side} x {side} matrices")]
    PartialMatrix {
        /// numbers given
        entries: usize,
        /// side of the matrices
        side: usize,
    },
    /// A batch has another side, or too many matrices.
    #[error("needed at most {count} matrices of side {side}, found {found_count} of side {found_side}")]
    WrongShape {
        /// matrices in a ciphertext
        count: usize,
        /// side the ring has
        side: usize,
        /// matrices given
        found_count: usize,
        /// their side
        found_side: usize,
    },
    /// A ciphertext or plaintext has neither one diagonal per column nor, where a slice may stand, a single one; or they
    /// are not all of one level.
    #[error("needed {side} diagonals of one level and degree 1, found {found} or mixed ones")]
    WrongDiagonals {
        /// side of the matrices
        side: usize,
        /// diagonals found
        found: usize,
    },
    /// Operands of a sum have different scales.
    #[error("operands of a sum at scales {left:e} and {right:e}")]
    ScaleMismatch {
        /// scale of the first
        left: f64,
        /// scale of the second
        right: f64,
    },
    /// A sum of no terms.
    #[error("a sum needs at least one term")]
    EmptySum,
    /// Slots without an encoding.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// Levels, keys or shapes.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
}

/// The scheme over one modulus chain: all operations are its methods. Cloning shares the tables.
#[derive(Clone, Debug)]
pub struct Gl {
    chain: Arc<Chain>,
    embedding: Arc<Embedding>,
    side: usize,
    scales: Vec<f64>,
}

impl Gl {
    /// The scheme with scale `top_scale` at the highest level of the chain.
    ///
    /// # Errors
    /// [`GlError::WrongRing`]; [`GlError::InvalidScale`] when the scale of some level is below 1 or not finite.
    pub fn new(chain: impl Into<Arc<Chain>>, top_scale: f64) -> Result<Gl, GlError> {
        let chain = chain.into();
        let RingSpec::Gl { n, .. } = chain.ring_spec() else {
            return Err(GlError::WrongRing { found: chain.ring_spec() });
        };
        let scales = plan::Params::canonical_scales(&chain.spec().primes, top_scale);
        if let Some(&found) = scales.iter().find(|s| !(s.is_finite() && **s >= 1.0)) {
            return Err(GlError::InvalidScale { found });
        }
        let embedding = Arc::new(Embedding::new(chain.ring_spec()));
        Ok(Gl { chain, embedding, side: n, scales })
    }

    /// The modulus chain.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Rows and columns n of a matrix.
    pub fn side(&self) -> usize {
        self.side
    }

    /// Matrices p - 1 in a batch.
    pub fn batch(&self) -> usize {
        self.chain.ring_spec().w_len()
    }

    /// The highest level.
    pub fn max_level(&self) -> usize {
        self.chain.max_level()
    }

    /// The canonical scale S_level: the exact scale of values at that level.
    ///
    /// # Errors
    /// When the chain does not have the level.
    pub fn scale(&self, level: usize) -> Result<f64, GlError> {
        self.chain.check_level(level)?;
        Ok(self.scales[level])
    }

    /// q_level S_(level-1) / S_level: a plaintext at this scale times a value at S_level gives, after the rescale, a
    /// value at S_(level-1).
    ///
    /// # Errors
    /// At level 0, or when the chain does not have the level.
    pub fn factor_scale(&self, level: usize) -> Result<f64, GlError> {
        let prime = self.chain.prime(level)? as f64;
        let below = level.checked_sub(1).ok_or(RlweError::LevelTooLow { needed: 1, available: 0 })?;
        Ok(prime * self.scales[below] / self.scales[level])
    }

    /// The scale of a product of values at scales `a` and `b` at `level`, after the rescale: canonical when it should be.
    fn product_scale(&self, a: f64, b: f64, level: usize) -> Result<f64, GlError> {
        let scale = a * b / self.chain.prime(level)? as f64;
        let below = level.checked_sub(1).ok_or(RlweError::LevelTooLow { needed: 1, available: 0 })?;
        let canonical = self.scales[below];
        Ok(if same_scale(scale, canonical) { canonical } else { scale })
    }
}

fn same_scale(a: f64, b: f64) -> bool {
    (a - b).abs() <= SCALE_TOLERANCE * b
}

fn check_scales(left: f64, right: f64) -> Result<(), GlError> {
    if same_scale(left, right) { Ok(()) } else { Err(GlError::ScaleMismatch { left, right }) }
}

#[cfg(test)]
mod vectors;
