//! The one file format of plans, keys and ciphertexts.
//!
//! | bytes | |
//! |---|---|
//! | 0..8 | magic `fhec\r\n\x1a\n` |
//! | 8..12 | format version, little-endian as every number |
//! | 12..16 | kind |
//! | 16..48 | hash of the plan the file belongs to (blake3) |
//! | 48..56 | length of the header |
//! | 56..64 | number of 64-bit words of the payload |
//! | 64.. | header (JSON), payload words, blake3 of everything before |
//!
//! A reader holds the lengths against the size of the file before it allocates, and the checksum before it interprets.

use super::atomic::write_atomically;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"fhec\r\n\x1a\n";
const PREFIX: u64 = 64;
const CHECKSUM: u64 = 32;
/// Version of the format.
pub const VERSION: u32 = 1;
/// The largest header: plans carry their constants there.
const MAX_HEADER: u64 = 1 << 32;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A compiled plan.
    Plan,
    /// A secret key: stays with the client.
    SecretKey,
    /// A public key.
    PublicKey,
    /// Evaluation keys: what the server needs.
    EvaluationKeys,
    /// Encrypted inputs, with the plain ones.
    Inputs,
    /// Encrypted outputs, with those that are not encrypted.
    Outputs,
}

const KINDS: [(Kind, u32, &str); 6] = [
    (Kind::Plan, 1, "a plan"),
    (Kind::SecretKey, 2, "a secret key"),
    (Kind::PublicKey, 3, "a public key"),
    (Kind::EvaluationKeys, 4, "evaluation keys"),
    (Kind::Inputs, 5, "encrypted inputs"),
    (Kind::Outputs, 6, "encrypted outputs"),
];

impl Kind {
    fn code(self) -> u32 {
        KINDS.iter().find(|k| k.0 == self).map_or(0, |k| k.1)
    }

    fn from_code(code: u32) -> Option<Kind> {
        KINDS.iter().find(|k| k.1 == code).map(|k| k.0)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KINDS.iter().find(|k| k.0 == *self).map_or("", |k| k.2))
    }
}

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system refuses.
    #[error("{}: {source}", .file.display())]
    Io {
        /// the file
        file: PathBuf,
        /// what the system says
        source: io::Error,
    },
    /// The file is of another program.
    #[error("{} is no file of fhec: it does not start with its magic bytes", .file.display())]
    Magic {
        /// the file
        file: PathBuf,
    },
    /// The file has another version of the format.
    #[error("{} has format version {found}, this program reads version {VERSION}", .file.display())]
    Version {
        /// the file
        file: PathBuf,
        /// version found
        found: u32,
    },
    /// The file holds something else.
    #[error("{} holds {}, expected {}", .file.display(), .found.map_or("something unknown".into(), |k| k.to_string()), .expected)]
    Kind {
        /// the file
        file: PathBuf,
        /// what was asked for
        expected: Kind,
        /// what it holds
        found: Option<Kind>,
    },
    /// The file was made for another plan.
    #[error("{} belongs to the plan {}, not to {}", .file.display(), &.found[..16], &.expected[..16])]
    PlanHash {
        /// the file
        file: PathBuf,
        /// hash of the plan at hand, in hex
        expected: String,
        /// hash the file names, in hex
        found: String,
    },
    /// The file is shorter or longer than it says.
    #[error("{} has {found} bytes, its lengths say {expected}: it is incomplete or damaged", .file.display())]
    Length {
        /// the file
        file: PathBuf,
        /// bytes by its own lengths
        expected: u64,
        /// bytes it has
        found: u64,
    },
    /// The contents changed after the file was written.
    #[error("{} is damaged: its checksum does not match its contents", .file.display())]
    Checksum {
        /// the file
        file: PathBuf,
    },
    /// A complete file says something impossible.
    #[error("{}: {what}: expected {expected}, found {found}", .file.display())]
    Content {
        /// the file
        file: PathBuf,
        /// which part
        what: &'static str,
        /// what fits
        expected: String,
        /// what it says
        found: String,
    },
}

/// Writes a container: complete or not at all.
///
/// # Errors
/// [`FileError::Io`].
pub fn write(
    path: &Path,
    kind: Kind,
    plan_hash: &str,
    header: &impl Serialize,
    payload: &[&[u64]],
) -> Result<(), FileError> {
    let io = |source| FileError::Io { file: path.to_path_buf(), source };
    let header = serde_json::to_vec(header).map_err(|e| io(e.into()))?;
    let words: usize = payload.iter().map(|part| part.len()).sum();
    let mut prefix = MAGIC.to_vec();
    prefix.extend(VERSION.to_le_bytes());
    prefix.extend(kind.code().to_le_bytes());
    prefix.extend(hash_bytes(plan_hash));
    prefix.extend((header.len() as u64).to_le_bytes());
    prefix.extend((words as u64).to_le_bytes());
    let written = write_atomically(path, kind == Kind::SecretKey, |out| {
        let mut hasher = blake3::Hasher::new();
        let mut put = |bytes: &[u8]| {
            hasher.update(bytes);
            out.write_all(bytes)
        };
        put(&prefix)?;
        put(&header)?;
        let mut buffer = zeroize::Zeroizing::new([0u8; 8 * 1024]);
        for chunk in payload.iter().flat_map(|part| part.chunks(1024)) {
            buffer.chunks_exact_mut(8).zip(chunk).for_each(|(b, w)| b.copy_from_slice(&w.to_le_bytes()));
            put(&buffer[..8 * chunk.len()])?;
        }
        out.write_all(hasher.finalize().as_bytes())
    });
    written.map_err(io)
}

/// Whether a file starts as a container does.
pub fn is_container(path: &Path) -> bool {
    let mut magic = Vec::new();
    let read = File::open(path).and_then(|f| f.take(8).read_to_end(&mut magic));
    read.is_ok() && magic == MAGIC
}

/// The 32 bytes of a hash in hex; anything else is hashed to have 32 bytes.
fn hash_bytes(hex: &str) -> [u8; 32] {
    *blake3::Hash::from_hex(hex).unwrap_or_else(|_| blake3::hash(hex.as_bytes())).as_bytes()
}

/// A container whose frame and checksum are right, ready to be interpreted.
pub struct Container {
    path: PathBuf,
    header: Vec<u8>,
    plan_hash: [u8; 32],
    words_left: u64,
    file: BufReader<File>,
}

impl Container {
    /// Opens a file of a kind. With a plan hash, the file must belong to that plan.
    ///
    /// # Errors
    /// Which of magic, version, kind, plan, length and checksum is wrong, in this order.
    pub fn open(path: &Path, kind: Kind, plan_hash: Option<&str>) -> Result<Container, FileError> {
        let io = |source| FileError::Io { file: path.to_path_buf(), source };
        let file = path.to_path_buf();
        let handle = File::open(path).map_err(io)?;
        let info = handle.metadata().map_err(io)?;
        if !info.is_file() {
            return Err(io(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file")));
        }
        let mut reader = BufReader::with_capacity(1 << 20, handle);
        let mut prefix = [0u8; PREFIX as usize];
        if info.len() < PREFIX + CHECKSUM {
            let mut magic = Vec::new();
            reader.by_ref().take(8).read_to_end(&mut magic).map_err(io)?;
            return Err(if MAGIC.starts_with(&magic) && !magic.is_empty() {
                FileError::Length { file, expected: PREFIX + CHECKSUM, found: info.len() }
            } else {
                FileError::Magic { file }
            });
        }
        reader.read_exact(&mut prefix).map_err(io)?;
        let frame = Frame::parse(&prefix, &file)?;
        frame.check(&file, kind, plan_hash, info.len())?;
        check_sum(&mut reader, &file, info.len()).map_err(io)??;
        reader.seek(SeekFrom::Start(PREFIX)).map_err(io)?;
        let mut header = vec![0; frame.header as usize];
        reader.read_exact(&mut header).map_err(io)?;
        let (plan_hash, words_left) = (frame.plan_hash, frame.words);
        Ok(Container { path: file, header, plan_hash, words_left, file: reader })
    }

    /// The header as JSON text.
    ///
    /// # Errors
    /// [`FileError::Content`] when it is not text.
    pub fn header_text(&self) -> Result<&str, FileError> {
        std::str::from_utf8(&self.header).map_err(|e| self.content("header", "UTF-8", e))
    }

    /// The header.
    ///
    /// # Errors
    /// [`FileError::Content`] when it has another form.
    pub fn header<H: DeserializeOwned>(&self) -> Result<H, FileError> {
        serde_json::from_slice(&self.header).map_err(|e| self.content("header", "the header of its kind", e))
    }

    /// Hash of the plan the file belongs to, in hex.
    pub fn plan_hash(&self) -> String {
        blake3::Hash::from_bytes(self.plan_hash).to_hex().to_string()
    }

    /// The next words of the payload.
    ///
    /// # Errors
    /// [`FileError::Content`] when there are fewer.
    pub fn words(&mut self, count: usize) -> Result<Vec<u64>, FileError> {
        if count as u64 > self.words_left {
            return Err(self.content("payload", format!("{count} words more"), self.words_left));
        }
        self.words_left -= count as u64;
        let mut words = vec![0u64; count];
        for word in &mut words {
            let mut bytes = [0u8; 8];
            let io = |source| FileError::Io { file: self.path.clone(), source };
            self.file.read_exact(&mut bytes).map_err(io)?;
            *word = u64::from_le_bytes(bytes);
        }
        Ok(words)
    }

    /// Checks that the payload was read to its end.
    ///
    /// # Errors
    /// [`FileError::Content`] when words are left.
    pub fn finish(self) -> Result<(), FileError> {
        match self.words_left {
            0 => Ok(()),
            left => Err(self.content("payload", "its end", format!("{left} words more"))),
        }
    }

    /// An error about the contents of this file.
    pub fn content(&self, what: &'static str, expected: impl ToString, found: impl ToString) -> FileError {
        let (expected, found) = (expected.to_string(), found.to_string());
        FileError::Content { file: self.path.clone(), what, expected, found }
    }
}

/// The fixed fields.
struct Frame {
    version: u32,
    kind: u32,
    plan_hash: [u8; 32],
    header: u64,
    words: u64,
}

impl Frame {
    fn parse(prefix: &[u8; PREFIX as usize], file: &Path) -> Result<Frame, FileError> {
        if prefix[..8] != MAGIC {
            return Err(FileError::Magic { file: file.to_path_buf() });
        }
        let number = |range: std::ops::Range<usize>| {
            prefix[range].iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b))
        };
        let mut plan_hash = [0; 32];
        plan_hash.copy_from_slice(&prefix[16..48]);
        Ok(Frame {
            version: number(8..12) as u32,
            kind: number(12..16) as u32,
            plan_hash,
            header: number(48..56),
            words: number(56..64),
        })
    }

    fn check(&self, file: &Path, kind: Kind, plan_hash: Option<&str>, found: u64) -> Result<(), FileError> {
        let file = file.to_path_buf();
        if self.version != VERSION {
            return Err(FileError::Version { file, found: self.version });
        }
        if self.kind != kind.code() {
            return Err(FileError::Kind { file, expected: kind, found: Kind::from_code(self.kind) });
        }
        if let Some(expected) = plan_hash
            && hash_bytes(expected) != self.plan_hash
        {
            let found = blake3::Hash::from_bytes(self.plan_hash).to_hex().to_string();
            let expected = blake3::Hash::from_bytes(hash_bytes(expected)).to_hex().to_string();
            return Err(FileError::PlanHash { file, expected, found });
        }
        let expected =
            self.words.saturating_mul(8).saturating_add(self.header).saturating_add(PREFIX + CHECKSUM);
        if expected != found || self.header > MAX_HEADER {
            return Err(FileError::Length { file, expected, found });
        }
        Ok(())
    }
}

/// Hashes the whole file but its last 32 bytes and compares with these.
fn check_sum(reader: &mut BufReader<File>, file: &Path, len: u64) -> io::Result<Result<(), FileError>> {
    reader.seek(SeekFrom::Start(0))?;
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut reader.by_ref().take(len - CHECKSUM), &mut hasher)?;
    let mut stored = [0u8; CHECKSUM as usize];
    reader.read_exact(&mut stored)?;
    let matches = hasher.finalize() == blake3::Hash::from_bytes(stored);
    Ok(if matches { Ok(()) } else { Err(FileError::Checksum { file: file.to_path_buf() }) })
}
