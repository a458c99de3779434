//! RLWE over a ring R, no scheme: a modulus chain, ciphertexts, keys, encryption, key switching, division by primes.
//!
//! A ciphertext (b, a) at level l has residues modulo q_0, ..., q_l and decrypts to b + a s. Key switching is hybrid: the
//! mask is cut into digits of alpha primes, and keys live modulo P Q with P the product of the special primes
//! (Han, Ki, "Better bootstrapping for approximate homomorphic encryption", 2019/688, section 3). What plaintexts mean,
//! and at which scale, is the business of the schemes built on top.

mod chain;
mod ciphertext;
mod digits;
mod divide;
mod encapsulation;
mod encrypt;
mod extended;
mod extended_sum;
mod key_switch;
mod keys;
pub mod noise;
mod secret;

pub use chain::{Chain, ChainSpec, Gadget};
pub use ciphertext::Ciphertext;
pub(crate) use ciphertext::check_degree;
pub use digits::Digits;
pub use encapsulation::EncapsulationKeys;
pub use encrypt::PublicKey;
pub use extended::Extended;
pub use keys::{EvaluationKeys, KeySource, SwitchKey};
pub use secret::SecretKey;

use crate::ring::RingError;
use thiserror::Error;

/// Why an operation on ciphertexts or keys cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RlweError {
    /// The ring or its primes do not fit.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The parts of a chain do not fit together.
    #[error("not a modulus chain: {reason}")]
    InvalidChain {
        /// the condition that fails
        reason: &'static str,
    },
    /// There are not enough levels left.
    #[error("needed level {needed}, available level {available}")]
    LevelTooLow {
        /// the least level
        needed: usize,
        /// the level at hand
        available: usize,
    },
    /// Two operands are at different levels.
    #[error("operands at levels {left} and {right}")]
    LevelMismatch {
        /// level of the first
        left: usize,
        /// level of the second
        right: usize,
    },
    /// A ciphertext has another number of components than the operation takes.
    #[error("needed a ciphertext of degree {needed}, found degree {available}")]
    DegreeMismatch {
        /// components - 1 the operation takes
        needed: usize,
        /// components - 1 at hand
        available: usize,
    },
    /// An evaluation key was not made.
    #[error("no evaluation key for {source_key:?}")]
    MissingKey {
        /// what the key would switch from
        source_key: KeySource,
    },
    /// The keys of an encapsulated secret were not made.
    #[error("no keys of an encapsulated secret: bootstrapping needs them")]
    MissingEncapsulation,
    /// An evaluation key was made for lower levels only.
    #[error("the evaluation key for {source_key:?} serves levels up to {available}, needed level {needed}")]
    KeyLevel {
        /// what the key switches from
        source_key: KeySource,
        /// level of the operand
        needed: usize,
        /// highest level of the key
        available: usize,
    },
    /// A secret key is not ternary or has another degree than the ring.
    #[error("a secret key needs {degree} coefficients in -1, 0, 1")]
    InvalidSecret {
        /// degree of the ring
        degree: usize,
    },
    /// Parts of a ciphertext or key from outside do not belong together or to this chain.
    #[error("ciphertext or key of another shape: {reason}")]
    ForeignShape {
        /// the condition that fails
        reason: &'static str,
    },
}

#[cfg(test)]
mod tests;
