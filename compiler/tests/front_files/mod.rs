//! Files of the corpus for the tests of the front end: a loader of texts, `.npy` and `.safetensors` in f64.
#![allow(dead_code)] // each test file uses its part

use compiler::source::{Loader, SourceText};
use plan::Tensor;
use plan::load::{LoadError, TENSOR_EXTENSIONS};
use std::path::{Path, PathBuf};

/// The folder of the corpus.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus")
}

/// Reads from the file system.
pub struct FileLoader;

fn beside(path: &str, from: Option<&str>) -> PathBuf {
    from.and_then(|f| Path::new(f).parent()).unwrap_or(Path::new("")).join(path)
}

impl Loader for FileLoader {
    fn source(&self, path: &str, from: Option<&str>) -> Result<SourceText, LoadError> {
        let full = beside(path, from);
        let text = std::fs::read_to_string(&full).map_err(|_| LoadError::NotFound { path: path.into() })?;
        Ok(SourceText { path: full.to_string_lossy().into_owned(), text })
    }

    fn tensor(&self, path: &str, key: Option<&str>, from: &str) -> Result<Tensor, LoadError> {
        let full = beside(path, Some(from));
        let path_owned = || path.to_string();
        let extension = Path::new(path).extension().map(|e| format!(".{}", e.to_string_lossy()));
        let extension = extension.unwrap_or_default();
        if !TENSOR_EXTENSIONS.contains(&extension.as_str()) {
            return Err(LoadError::UnknownExtension { path: path_owned(), extension });
        }
        let bytes = std::fs::read(&full).map_err(|_| LoadError::NotFound { path: path_owned() })?;
        let tensor = if extension == ".npy" { npy(&bytes) } else { keyed(&bytes, path, key)? };
        match tensor.data().iter().position(|x| !x.is_finite()) {
            Some(i) => {
                let (index, value) = (tensor.index_of(i), tensor.data()[i]);
                Err(LoadError::NotFinite { path: path_owned(), index, value })
            }
            None => Ok(tensor),
        }
    }
}

fn keyed(bytes: &[u8], path: &str, key: Option<&str>) -> Result<Tensor, LoadError> {
    let file = safetensors::SafeTensors::deserialize(bytes).expect("the corpus has good files");
    let available = || {
        let mut names: Vec<String> = file.names().into_iter().map(str::to_string).collect();
        names.sort();
        names
    };
    let key = match key {
        Some(key) => key.to_string(),
        None if available().len() == 1 => available().remove(0),
        None => return Err(LoadError::SeveralKeys { path: path.into(), available: available() }),
    };
    let missing = |_| LoadError::MissingKey { path: path.into(), key: key.clone(), available: available() };
    let view = file.tensor(&key).map_err(missing)?;
    let data = match view.dtype() {
        safetensors::Dtype::F64 => doubles(view.data()),
        safetensors::Dtype::F32 => {
            view.data().as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect()
        }
        other => panic!("no {other:?} in the corpus"),
    };
    Ok(Tensor::new(view.shape().to_vec(), data).unwrap())
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

/// A `.npy` of f64 in row-major order.
pub fn npy(bytes: &[u8]) -> Tensor {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!(header.contains("'fortran_order': False"), "{header}");
    let shape = header.split_once('(').and_then(|(_, rest)| rest.split_once(')')).unwrap().0;
    let shape: Vec<usize> = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let body = &bytes[10 + length..];
    let data = match header.split('\'').nth(3).unwrap() {
        "<f8" => doubles(body),
        "<i8" => body.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b) as f64).collect(),
        other => panic!("no {other} in the corpus"),
    };
    Tensor::new(shape, data).unwrap()
}

/// The tensor in a `.npy`.
pub fn read_npy(path: &Path) -> Tensor {
    npy(&std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}
