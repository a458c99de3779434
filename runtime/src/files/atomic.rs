//! Files that are complete or absent: written beside under another name, flushed to the disk, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file through `write` and puts it at `path` only when everything is on the disk. A private file is readable by
/// its owner only (mode 0600, on Unix).
///
/// # Errors
/// What the system or `write` reports; no partial file is left then.
pub(crate) fn write_atomically(
    path: &Path,
    private: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("{} names no file", path.display()))
    })?;
    let name = format!(".{}.{}.partial", name.to_string_lossy(), std::process::id());
    let partial = Partial { path: path.with_file_name(name) };
    let mut out = BufWriter::with_capacity(1 << 20, create(&partial.path, private)?);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&partial.path, path)
}

/// A temporary file, removed when it goes out of scope; after the rename there is nothing to remove.
struct Partial {
    path: PathBuf,
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn create(path: &Path, private: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    options.open(path)
}
