//! The files of a program, from the disk.

use compiler::source::{Loader, SourceText};
use plan::Tensor;
use plan::load::LoadError;
use runtime::data::{DataError, read_tensor};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest program text.
const MAX_SOURCE: u64 = 64 << 20;

/// Reads files; relative paths start at the file that contains them.
pub struct FileLoader;

impl Loader for FileLoader {
    fn source(&self, path: &str, from: Option<&str>) -> Result<SourceText, LoadError> {
        let file = from.map_or(PathBuf::from(path), |from| beside(from, path));
        let io = |e: std::io::Error| unreadable(path, &e);
        let handle = std::fs::File::open(&file).map_err(io)?;
        let info = handle.metadata().map_err(io)?;
        if !info.is_file() || info.len() > MAX_SOURCE {
            let reason = format!("it is not a regular file of at most {} MiB", MAX_SOURCE >> 20);
            return Err(LoadError::Unreadable { path: path.into(), reason });
        }
        let mut bytes = Vec::new();
        handle.take(MAX_SOURCE).read_to_end(&mut bytes).map_err(io)?;
        let text = String::from_utf8(bytes).map_err(|e| LoadError::Malformed {
            path: path.into(),
            reason: format!("byte {} is not UTF-8", e.utf8_error().valid_up_to()),
        })?;
        Ok(SourceText { path: name_of(&file, from.is_some()), text })
    }

    fn tensor(&self, path: &str, key: Option<&str>, from: &str) -> Result<Tensor, LoadError> {
        let tensor = read_tensor(&beside(from, path), key).map_err(|e| load_error(path, e))?;
        match tensor.data().iter().position(|x| !x.is_finite()) {
            Some(at) => {
                let (index, value) = (tensor.index_of(at), tensor.data()[at]);
                Err(LoadError::NotFinite { path: path.into(), index, value })
            }
            None => Ok(tensor),
        }
    }
}

/// A path relative to the folder of another file.
fn beside(from: &str, path: &str) -> PathBuf {
    Path::new(from).parent().unwrap_or(Path::new("")).join(path)
}

/// One name for an imported file however it is reached; the program itself keeps the name the user gave it.
fn name_of(file: &Path, imported: bool) -> String {
    let canonical = if imported { std::fs::canonicalize(file).ok() } else { None };
    let here = std::env::current_dir().ok().and_then(|d| d.canonicalize().ok());
    let short = canonical.map(|c| match &here {
        Some(here) => c.strip_prefix(here).map(Path::to_path_buf).unwrap_or(c),
        None => c,
    });
    short.unwrap_or_else(|| file.to_path_buf()).to_string_lossy().into_owned()
}

fn unreadable(path: &str, e: &std::io::Error) -> LoadError {
    match e.kind() {
        std::io::ErrorKind::NotFound => LoadError::NotFound { path: path.into() },
        _ => LoadError::Unreadable { path: path.into(), reason: e.to_string() },
    }
}

/// A data error with the path as the program has it.
fn load_error(path: &str, error: DataError) -> LoadError {
    let path = path.to_string();
    match error {
        DataError::Io { source, .. } => unreadable(&path, &source),
        DataError::Malformed { field, offset, expected, found, .. } => LoadError::Malformed {
            path,
            reason: format!("{field} at byte {offset}: expected {expected}, found {found}"),
        },
        DataError::MissingKey { key, keys, .. } => LoadError::MissingKey { path, key, available: keys },
        DataError::SeveralKeys { keys, .. } => LoadError::SeveralKeys { path, available: keys },
        DataError::ElementType { found, .. } => LoadError::UnsupportedType { path, dtype: found },
        DataError::Shape { shape, reason, .. } => LoadError::UnsupportedShape { path, shape, reason },
        DataError::Extension { .. } => {
            let extension = Path::new(&path).extension().map(|e| format!(".{}", e.to_string_lossy()));
            LoadError::UnknownExtension { path, extension: extension.unwrap_or_default() }
        }
    }
}
