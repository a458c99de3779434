//! numpy's .npz: a zip archive of .npy files, stored or deflated.
//! Reference: PKWARE APPNOTE 6.3 (end of central directory, central directory, local headers). Archives or entries of
//! 4 GiB and more (zip64) are refused.

use super::{DataError, Source, choose, inflate, npy, read_bytes};
use plan::Tensor;
use std::path::Path;

const END: &[u8] = b"PK\x05\x06";
const CENTRAL: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
const END_LEN: usize = 22;

/// Reads the array `key` (the entry `key.npy`) of an .npz file, or its only array.
///
/// # Errors
/// When the file cannot be read, is malformed, or has no such array.
pub fn read_npz(path: &Path, key: Option<&str>) -> Result<Tensor, DataError> {
    let bytes = read_bytes(path)?;
    let archive = Archive { source: Source { path }, bytes: &bytes };
    let entries = archive.entries()?;
    let key = choose(path, key, entries.iter().map(|e| e.key.clone()).collect())?;
    match entries.iter().find(|e| e.key == key) {
        Some(entry) => npy::parse(&archive.source, &archive.contents(entry)?),
        None => Err(DataError::MissingKey { file: path.to_path_buf(), key, keys: vec![] }),
    }
}

struct Entry {
    key: String,
    method: u16,
    compressed: usize,
    size: usize,
    header: usize,
}

struct Archive<'a> {
    source: Source<'a>,
    bytes: &'a [u8],
}

impl Archive<'_> {
    fn number(&self, field: &'static str, offset: usize, len: usize) -> Result<usize, DataError> {
        let bytes = self.source.slice(self.bytes, field, offset, len)?;
        Ok(bytes.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b)))
    }

    fn signature(&self, field: &'static str, offset: usize, expected: &[u8]) -> Result<(), DataError> {
        let found = self.source.slice(self.bytes, field, offset, 4)?;
        if found == expected {
            return Ok(());
        }
        Err(self.source.malformed(field, offset, expected.escape_ascii(), found.escape_ascii()))
    }

    /// The entries of the central directory.
    fn entries(&self) -> Result<Vec<Entry>, DataError> {
        // the end record has a comment of at most 65535 bytes after it
        let first = self.bytes.len().saturating_sub(END_LEN + 0xffff);
        let end = (first..=self.bytes.len().saturating_sub(END_LEN))
            .rev()
            .find(|&at| self.bytes[at..].starts_with(END))
            .ok_or_else(|| {
                let found = format!("{} bytes without one", self.bytes.len());
                self.source.malformed("end of the directory", first, "a zip archive's end record", found)
            })?;
        let count = self.number("number of entries", end + 10, 2)?;
        let mut at = self.number("offset of the directory", end + 16, 4)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            self.signature("directory entry", at, CENTRAL)?;
            let name_len = self.number("length of a name", at + 28, 2)?;
            let name = self.source.slice(self.bytes, "name of an entry", at + 46, name_len)?;
            let name = String::from_utf8_lossy(name);
            entries.push(Entry {
                key: name.strip_suffix(".npy").unwrap_or(&name).to_string(),
                method: self.number("compression method", at + 10, 2)? as u16,
                compressed: self.number("compressed size", at + 20, 4)?,
                size: self.number("size", at + 24, 4)?,
                header: self.number("offset of an entry", at + 42, 4)?,
            });
            let extra = self.number("length of extra fields", at + 30, 2)?;
            let comment = self.number("length of a comment", at + 32, 2)?;
            at += 46 + name_len + extra + comment;
        }
        Ok(entries)
    }

    /// The bytes of an entry.
    fn contents(&self, entry: &Entry) -> Result<Vec<u8>, DataError> {
        self.signature("header of an entry", entry.header, LOCAL)?;
        let name = self.number("length of a name", entry.header + 26, 2)?;
        let extra = self.number("length of extra fields", entry.header + 28, 2)?;
        let start = entry.header + 30 + name + extra;
        let data = self.source.slice(self.bytes, "data of an entry", start, entry.compressed)?;
        match entry.method {
            0 if entry.size == entry.compressed => Ok(data.to_vec()),
            8 if entry.size / inflate::MAX_RATIO <= entry.compressed => inflate::inflate(data, entry.size)
                .map_err(|problem| {
                    self.source.malformed("data of an entry", start, "a deflate stream", problem)
                }),
            0 | 8 => {
                let expected = format!("a size that {} bytes can have", entry.compressed);
                Err(self.source.malformed("size of an entry", start, expected, entry.size))
            }
            other => {
                let method = format!("method {other}");
                Err(self.source.malformed("compression method", start, "stored (0) or deflate (8)", method))
            }
        }
    }
}
