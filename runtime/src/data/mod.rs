//! Tensors in files: numpy's .npy and .npz, and .safetensors. Floating-point, integer and boolean elements become f64.
//!
//! Sizes a file states are held against its length before anything is allocated, and a malformed file is an error that
//! names the field, its place, what was expected and what was found.

mod element;
mod inflate;
mod npy;
mod npz;
mod safetensors;

pub use npy::{read_npy, write_npy};
pub use npz::read_npz;
pub use safetensors::read_safetensors;

use plan::Tensor;
use plan::tensor::{MAX_RANK, show, size_of};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why a tensor cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The operating system refuses.
    #[error("{}: {source}", .file.display())]
    Io {
        /// the file
        file: PathBuf,
        /// what the system says
        source: io::Error,
    },
    /// A field of the file is not what the format asks for.
    #[error("{}: {field} at byte {offset}: expected {expected}, found {found}", .file.display())]
    Malformed {
        /// the file
        file: PathBuf,
        /// which field
        field: &'static str,
        /// where it is, in bytes from the start of the file (of the entry, inside an archive)
        offset: usize,
        /// what the format asks for
        expected: String,
        /// what the file has
        found: String,
    },
    /// The file has no tensor of this name.
    #[error("{} has no tensor `{key}`; it has {}", .file.display(), quoted(.keys))]
    MissingKey {
        /// the file
        file: PathBuf,
        /// name asked for
        key: String,
        /// names in the file, sorted
        keys: Vec<String>,
    },
    /// The file holds several tensors and none was named.
    #[error("{} holds {} tensors, so one must be named: {}", .file.display(), .keys.len(), quoted(.keys))]
    SeveralKeys {
        /// the file
        file: PathBuf,
        /// names in the file, sorted
        keys: Vec<String>,
    },
    /// The elements are of a type that does not convert to f64.
    #[error("{} holds elements of type {found}; f64, f32, f16, bf16, integers and booleans convert", .file.display())]
    ElementType {
        /// the file
        file: PathBuf,
        /// the type as the file names it
        found: String,
    },
    /// The tensor has no element, too many, or too many axes.
    #[error("{} holds a tensor of shape {}: {reason}", .file.display(), show(.shape))]
    Shape {
        /// the file
        file: PathBuf,
        /// its shape
        shape: Vec<usize>,
        /// the limit it breaks
        reason: String,
    },
    /// The extension names no format.
    #[error("{}: {found} is no format for tensors; use .npy, .npz or .safetensors", .file.display())]
    Extension {
        /// the file
        file: PathBuf,
        /// its extension
        found: String,
    },
}

fn quoted(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
    }
}

/// Reads a tensor by the extension of the file. `key` names it in an .npz or .safetensors file; without a key the file must
/// hold exactly one. It is ignored for .npy.
///
/// # Errors
/// When the file cannot be read, is malformed, or has no such tensor.
pub fn read_tensor(path: &Path, key: Option<&str>) -> Result<Tensor, DataError> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("npy") => read_npy(path),
        Some("npz") => read_npz(path, key),
        Some("safetensors") => read_safetensors(path, key),
        other => Err(DataError::Extension {
            file: path.to_path_buf(),
            found: other.map_or("no extension".into(), |e| format!(".{e}")),
        }),
    }
}

/// The name to read: the one asked for, or the only one.
fn choose(path: &Path, key: Option<&str>, mut keys: Vec<String>) -> Result<String, DataError> {
    keys.sort();
    let file = path.to_path_buf();
    match key {
        Some(key) if keys.iter().any(|k| k == key) => Ok(key.to_string()),
        Some(key) => Err(DataError::MissingKey { file, key: key.to_string(), keys }),
        None if keys.len() == 1 => Ok(keys.remove(0)),
        None => Err(DataError::SeveralKeys { file, keys }),
    }
}

/// All bytes of a regular file. A device or a pipe is refused, since it may never end.
fn read_bytes(path: &Path) -> Result<Vec<u8>, DataError> {
    let io = |source| DataError::Io { file: path.to_path_buf(), source };
    let file = File::open(path).map_err(io)?;
    let info = file.metadata().map_err(io)?;
    if !info.is_file() {
        return Err(io(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file")));
    }
    let mut bytes = Vec::new();
    file.take(info.len()).read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes)
}

/// A malformed field of one file; the place where an error gets its file name.
struct Source<'a> {
    path: &'a Path,
}

impl Source<'_> {
    fn malformed(
        &self,
        field: &'static str,
        offset: usize,
        expected: impl ToString,
        found: impl ToString,
    ) -> DataError {
        let (expected, found) = (expected.to_string(), found.to_string());
        DataError::Malformed { file: self.path.to_path_buf(), field, offset, expected, found }
    }

    /// `len` bytes at `offset`, or an error that says how many there are.
    fn slice<'b>(
        &self,
        bytes: &'b [u8],
        field: &'static str,
        offset: usize,
        len: usize,
    ) -> Result<&'b [u8], DataError> {
        let rest = bytes.get(offset..).unwrap_or(&[]);
        rest.get(..len).ok_or_else(|| {
            self.malformed(field, offset, format!("{len} bytes"), format!("{} bytes", rest.len()))
        })
    }

    /// A tensor from its elements, little or big endian, after its shape has been held against the bytes there are.
    fn tensor(
        &self,
        element: element::Element,
        shape: Vec<usize>,
        bytes: &[u8],
        offset: usize,
    ) -> Result<Tensor, DataError> {
        let refused =
            |reason: String| DataError::Shape { file: self.path.to_path_buf(), shape: shape.clone(), reason };
        if shape.len() > MAX_RANK {
            return Err(refused(format!("at most {MAX_RANK} axes are supported")));
        }
        let size = size_of(&shape).map_err(|e| refused(e.to_string()))?;
        if size == 0 {
            return Err(refused("a tensor has at least one element".into()));
        }
        let expected = size.saturating_mul(element.bytes());
        if bytes.len() != expected {
            let found = format!("{} bytes", bytes.len());
            let expected = format!("{expected} bytes for shape {}", show(&shape));
            return Err(self.malformed("data", offset, expected, found));
        }
        let data = bytes.chunks_exact(element.bytes()).map(|b| element.value(b)).collect();
        Tensor::new(shape.clone(), data).map_err(|e| refused(e.to_string()))
    }
}
