//! Why a file with a tensor or with program text cannot be used. The compiler asks for files through a trait and the
//! command reads them; this is what both say when it fails.

use crate::tensor::show;

/// Endings of the files a tensor can come from.
pub const TENSOR_EXTENSIONS: [&str; 3] = [".npy", ".npz", ".safetensors"];

/// Why a file cannot be used. Paths are as the user wrote them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no file `{path}`")]
    NotFound {
        /// the file
        path: String,
    },
    /// The system refuses to read it.
    #[error("cannot read `{path}`: {reason}")]
    Unreadable {
        /// the file
        path: String,
        /// what the system says
        reason: String,
    },
    /// The ending names no known format.
    #[error("`{path}` ends in `{extension}`, which is not a known format of tensors")]
    UnknownExtension {
        /// the file
        path: String,
        /// its ending with the dot, or an empty text
        extension: String,
    },
    /// The contents are not what the ending promises: truncated, damaged, or another format.
    #[error("`{path}` is damaged or not complete: {reason}")]
    Malformed {
        /// the file
        path: String,
        /// what is wrong, where
        reason: String,
    },
    /// No array of that name.
    #[error("`{path}` has no array `{key}`")]
    MissingKey {
        /// the file
        path: String,
        /// the key asked for
        key: String,
        /// the keys it has
        available: Vec<String>,
    },
    /// The file holds several arrays and no key was given.
    #[error("`{path}` holds {} arrays, so one must be named", .available.len())]
    SeveralKeys {
        /// the file
        path: String,
        /// the keys it has
        available: Vec<String>,
    },
    /// A value is NaN or infinite.
    #[error("`{path}` has {value} at index {}", show(.index))]
    NotFinite {
        /// the file
        path: String,
        /// where
        index: Vec<usize>,
        /// `NaN`, `inf` or `-inf`
        value: f64,
    },
    /// The elements are of a type that does not convert to f64.
    #[error("`{path}` holds elements of type {dtype}, which does not convert to f64")]
    UnsupportedType {
        /// the file
        path: String,
        /// the type as the file names it
        dtype: String,
    },
    /// The tensor has no element, too many, or too many axes.
    #[error("`{path}` holds a tensor of shape {}: {reason}", show(.shape))]
    UnsupportedShape {
        /// the file
        path: String,
        /// its shape
        shape: Vec<usize>,
        /// the limit it breaks
        reason: String,
    },
}
