//! .safetensors: a JSON header with shapes and offsets, raw little-endian elements.
//! Reference: <https://github.com/huggingface/safetensors>, whose crate checks the header against the file.

use super::element::Element;
use super::{DataError, Source, choose, read_bytes};
use plan::Tensor;
use safetensors::{Dtype, SafeTensors};
use std::path::Path;

/// Reads the tensor `key` of a .safetensors file, or its only tensor.
///
/// # Errors
/// When the file cannot be read, is malformed, or has no such tensor.
pub fn read_safetensors(path: &Path, key: Option<&str>) -> Result<Tensor, DataError> {
    let (source, bytes) = (Source { path }, read_bytes(path)?);
    let damaged = |e| source.malformed("header", 0, "a .safetensors header", e);
    let file = SafeTensors::deserialize(&bytes).map_err(damaged)?;
    let key = choose(path, key, file.names().into_iter().map(String::from).collect())?;
    let view = file.tensor(&key).map_err(damaged)?;
    let unknown = |found| DataError::ElementType { file: path.to_path_buf(), found };
    let (kind, size) = match view.dtype() {
        Dtype::F64 => ('f', 8),
        Dtype::F32 => ('f', 4),
        Dtype::F16 => ('f', 2),
        Dtype::BF16 => ('B', 2),
        Dtype::I64 => ('i', 8),
        Dtype::I32 => ('i', 4),
        Dtype::I16 => ('i', 2),
        Dtype::I8 => ('i', 1),
        Dtype::U64 => ('u', 8),
        Dtype::U32 => ('u', 4),
        Dtype::U16 => ('u', 2),
        Dtype::U8 => ('u', 1),
        Dtype::BOOL => ('b', 1),
        other => return Err(unknown(format!("{other:?}"))),
    };
    let element = Element::little_endian(kind, size).ok_or_else(|| unknown(format!("{kind}{size}")))?;
    source.tensor(element, view.shape().to_vec(), view.data(), 0)
}
