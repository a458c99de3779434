//! CKKS over any ring: approximate arithmetic on N/2 complex slots, a thin scheme on the RLWE layer.
//!
//! A ciphertext at scale S whose decryption is the polynomial m stands for the slots of m / S. Scales are exact: the scale of
//! a result is computed from those of its operands, addition demands equality, and there is one *canonical* scale per
//! level, S_(l-1) = S_l^2 / q_l, at which every product of two values of level l arrives after its rescale, plaintext
//! factors being encoded at S_l. Values at canonical scale never drift (Kim, Papadimitriou, Polyakov, "Approximate
//! homomorphic encryption with reduced approximation error", 2020/1118).
//!
//! Slots are ordered as in [`RingSpec::slots`](crate::ring::RingSpec::slots).

mod arithmetic;
pub mod bootstrap;
mod encoder;
pub mod linear;
pub mod masked_matmul;
mod multiply;
pub mod polynomial;
mod rescale;
mod rotate;

use crate::math::embedding::{Embedding, EncodeError};
use crate::ring::{Form, Poly};
use crate::rlwe::{self, Chain, RlweError};
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// Why an operation cannot be done.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CkksError {
    /// Levels, degrees or keys do not fit.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
    /// Slots cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// Operands of a sum are at different scales.
    #[error("operands at scales 2^{} and 2^{}", left.log2(), right.log2())]
    ScaleMismatch {
        /// scale of the first, or the scale needed
        left: f64,
        /// scale of the second, or the scale at hand
        right: f64,
    },
    /// A scale is not a positive finite number, or too small to encode with.
    #[error("{scale} is no scale: needed a finite number of at least 1")]
    InvalidScale {
        /// the number
        scale: f64,
    },
    /// A constant at its scale does not fit 127 bits.
    #[error("the constant {value} at scale 2^{} exceeds 2^120", scale.log2())]
    ConstantTooLarge {
        /// the constant
        value: f64,
        /// its scale
        scale: f64,
    },
    /// A matrix does not fit the slots.
    #[error("frames of {rows} x {columns} slots: needed powers of two with a product dividing {available}")]
    InvalidFrame {
        /// rows of the frame
        rows: usize,
        /// columns of the frame
        columns: usize,
        /// slots of one cycle of rotations
        available: usize,
    },
    /// The inner dimension of a matrix product does not fit its frame.
    #[error("needed an inner dimension between 1 and {available}, found {inner}")]
    InnerDimension {
        /// inner dimension asked for
        inner: usize,
        /// rows and columns allow this much
        available: usize,
    },
}

/// A polynomial with its scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Plaintext {
    poly: Poly,
    scale: f64,
}

/// An RLWE ciphertext with its scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Ciphertext {
    rlwe: rlwe::Ciphertext,
    scale: f64,
}

/// A modulus chain, the embedding of its ring and the canonical scale of every level.
#[derive(Clone, Debug)]
pub struct Ckks {
    chain: Arc<Chain>,
    embedding: Arc<Embedding>,
    scales: Vec<f64>,
}

impl Ckks {
    /// CKKS on a chain, with the canonical scale of the highest level.
    ///
    /// # Errors
    /// [`CkksError::InvalidScale`] when a canonical scale would fall below 1 or not be finite: primes far from the scale.
    pub fn new(chain: Arc<Chain>, top_scale: f64) -> Result<Ckks, CkksError> {
        let mut scales = vec![check_scale(top_scale)?; chain.max_level() + 1];
        for level in (1..scales.len()).rev() {
            scales[level - 1] = check_scale(scales[level] * scales[level] / chain.prime(level)? as f64)?;
        }
        Ckks::with_scales(chain, scales)
    }

    /// CKKS on a chain with a scale given for every level.
    ///
    /// # Errors
    /// [`CkksError::InvalidScale`], and [`RlweError::InvalidChain`] when there is not one scale per level.
    pub fn with_scales(chain: Arc<Chain>, scales: Vec<f64>) -> Result<Ckks, CkksError> {
        if scales.len() != chain.max_level() + 1 {
            return Err(RlweError::InvalidChain { reason: "there is one scale per level" }.into());
        }
        scales.iter().try_for_each(|&scale| check_scale(scale).map(|_| ()))?;
        let embedding = Arc::new(Embedding::new(chain.ring_spec()));
        Ok(Ckks { chain, embedding, scales })
    }

    /// CKKS without the primes of some levels, see [`Chain::without`]; the other levels keep their scales.
    ///
    /// # Errors
    /// As [`Chain::without`].
    pub fn without(&self, gap: Range<usize>) -> Result<Ckks, CkksError> {
        let chain = Arc::new(self.chain.without(gap.clone())?);
        let kept = self.scales.iter().enumerate().filter(|(level, _)| !gap.contains(level));
        let scales = kept.map(|(_, &scale)| scale).collect();
        Ok(Ckks { chain, embedding: Arc::clone(&self.embedding), scales })
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The embedding of the ring.
    pub fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// Complex slots of a ciphertext.
    pub fn slots(&self) -> usize {
        self.chain.ring_spec().slots()
    }

    /// The highest level.
    pub fn max_level(&self) -> usize {
        self.chain.max_level()
    }

    /// The canonical scale of a level.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] above the highest level.
    pub fn scale(&self, level: usize) -> Result<f64, CkksError> {
        self.chain.check_level(level)?;
        Ok(self.scales[level])
    }
}

impl Plaintext {
    /// A plaintext from values modulo the ciphertext primes and their scale.
    ///
    /// # Errors
    /// [`CkksError::InvalidScale`], or when the polynomial holds no values.
    pub fn new(poly: Poly, scale: f64) -> Result<Plaintext, CkksError> {
        if poly.form() != Form::Evaluation || poly.limbs() == 0 {
            let reason = "a plaintext has values modulo at least one prime";
            return Err(RlweError::ForeignShape { reason }.into());
        }
        Ok(Plaintext { poly, scale: check_scale(scale)? })
    }

    /// The polynomial, as values modulo q_0, ..., q_level.
    pub fn poly(&self) -> &Poly {
        &self.poly
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Limbs - 1.
    pub fn level(&self) -> usize {
        self.poly.limbs() - 1
    }
}

impl Ciphertext {
    /// A ciphertext from its RLWE ciphertext and scale.
    ///
    /// # Errors
    /// [`CkksError::InvalidScale`].
    pub fn new(rlwe: rlwe::Ciphertext, scale: f64) -> Result<Ciphertext, CkksError> {
        Ok(Ciphertext { rlwe, scale: check_scale(scale)? })
    }

    /// The RLWE ciphertext.
    pub fn rlwe(&self) -> &rlwe::Ciphertext {
        &self.rlwe
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Rescales left.
    pub fn level(&self) -> usize {
        self.rlwe.level()
    }

    /// Components - 1.
    pub fn degree(&self) -> usize {
        self.rlwe.degree()
    }
}

fn check_scale(scale: f64) -> Result<f64, CkksError> {
    if scale.is_finite() && scale >= 1.0 { Ok(scale) } else { Err(CkksError::InvalidScale { scale }) }
}

fn same_scale(left: f64, right: f64) -> Result<(), CkksError> {
    if left == right { Ok(()) } else { Err(CkksError::ScaleMismatch { left, right }) }
}

#[cfg(test)]
mod tests;
