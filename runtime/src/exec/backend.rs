//! What a scheme must do for a plan. The only generic of the executor.
//!
//! Operations work on one ciphertext of a value: a plan's element-wise operations and products never mix the ciphertexts
//! of a value. Only linear maps do, and take all of them.

use crate::ckks::CkksError;
use crate::gl::GlError;
use crate::rlwe::RlweError;
use plan::{Level, Split, Transform};

/// Why an operation fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OpError {
    /// The scheme has no such operation.
    #[error("{operation} does not exist in {scheme}")]
    Unsupported {
        /// name of the operation
        operation: &'static str,
        /// name of the scheme
        scheme: &'static str,
    },
    /// An operation below the lowest level.
    #[error("{needed} levels are needed, {available} are left")]
    Level {
        /// levels the operation takes
        needed: u32,
        /// levels of its operand
        available: u32,
    },
    /// Operands that do not fit each other.
    #[error("operands at levels {left} and {right}")]
    Operands {
        /// level of the first
        left: Level,
        /// level of the second
        right: Level,
    },
    /// An operation on no ciphertext, or on more than it takes.
    #[error("a value without the ciphertexts it should have")]
    Empty,
    /// CKKS refuses.
    #[error(transparent)]
    Ckks(#[from] CkksError),
    /// GL refuses.
    #[error(transparent)]
    Gl(#[from] GlError),
    /// Keys or levels do not fit.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
}

/// A linear map as a backend evaluates it.
pub struct Map<'a> {
    /// the map, laid out
    pub transform: &'a Transform,
    /// baby and giant steps
    pub split: Split,
    /// whether it needs masks and one rescale, or is a sum of integer multiples of rotations
    pub masks: bool,
}

/// Operations of a plan on single ciphertexts. Slots are numbered as in [`plan::layout`]; clear operands come as the values
/// of all slots, zero outside the tensor.
pub trait Backend: Sync {
    /// One ciphertext with its level and scale.
    type Ciphertext: Clone + Send + Sync;

    /// Level of a ciphertext.
    fn level(&self, a: &Self::Ciphertext) -> Level;
    /// Scale of a ciphertext.
    fn scale(&self, a: &Self::Ciphertext) -> f64;

    /// a + b
    fn add(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext, OpError>;
    /// a - b
    fn sub(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext, OpError>;
    /// -a
    fn neg(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, OpError>;
    /// k a
    fn mul_integer(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext, OpError>;
    /// a + slots
    fn add_clear(&self, a: &Self::Ciphertext, slots: &[f64]) -> Result<Self::Ciphertext, OpError>;
    /// a o slots; 1 level
    fn mul_clear(&self, a: &Self::Ciphertext, slots: &[f64]) -> Result<Self::Ciphertext, OpError>;
    /// a o b; 1 level
    fn mul(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext, OpError>;
    /// `sum c_i a_i`, at least one term; 1 level
    fn combine(&self, terms: &[(f64, &Self::Ciphertext)]) -> Result<Self::Ciphertext, OpError>;
    /// The same value at a lower level
    fn adjust(&self, a: &Self::Ciphertext, level: Level) -> Result<Self::Ciphertext, OpError>;
    /// CKKS: the same value, at most 2^`log_bound`, at a higher level
    fn bootstrap(
        &self,
        a: &Self::Ciphertext,
        log_bound: u32,
        level: Level,
    ) -> Result<Self::Ciphertext, OpError>;
    /// A linear map; 1 level with masks, else 0
    fn linear(&self, x: &[Self::Ciphertext], map: &Map) -> Result<Vec<Self::Ciphertext>, OpError>;
    /// CKKS: the product of the matrices in every lane, inner extent `inner`; 2 levels
    fn masked_matmul(
        &self,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        inner: usize,
    ) -> Result<Self::Ciphertext, OpError>;
    /// GL: the sum of the products of the matrices in every lane, the second ones held transposed; at least one term; 1 level
    fn matmul(&self, terms: &[(&Self::Ciphertext, &Self::Ciphertext)]) -> Result<Self::Ciphertext, OpError>;
    /// GL: the sum of the products with clear matrices, at least one term; 1 level
    fn matmul_clear(&self, terms: &[(&Self::Ciphertext, Vec<f64>)]) -> Result<Self::Ciphertext, OpError>;
    /// GL: the transposed matrix in every lane
    fn flip(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext, OpError>;
}
