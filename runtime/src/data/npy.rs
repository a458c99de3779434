//! numpy's .npy: a magic word, a version, a Python dictionary as text, raw elements.
//! Reference: numpy, `numpy/lib/format.py`, versions 1.0 to 3.0.

use super::element::Element;
use super::{DataError, Source, read_bytes};
use crate::files::write_atomically;
use plan::Tensor;
use std::path::Path;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an .npy file. Fortran order and big-endian elements are converted.
///
/// # Errors
/// When the file cannot be read or is malformed.
pub fn read_npy(path: &Path) -> Result<Tensor, DataError> {
    parse(&Source { path }, &read_bytes(path)?)
}

/// Writes a tensor as little-endian f64 in C order: a temporary file beside, then a rename.
///
/// # Errors
/// When the file cannot be written.
pub fn write_npy(path: &Path, tensor: &Tensor) -> Result<(), DataError> {
    let shape: Vec<String> = tensor.shape().iter().map(|d| format!("{d}, ")).collect();
    let mut header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", shape.concat().trim_end());
    // magic, version and length take 10 bytes; data start at a multiple of 64, after a newline
    let padded = (header.len() + 11).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
    header.push('\n');
    let written = write_atomically(path, false, |out| {
        out.write_all(MAGIC)?;
        out.write_all(&[1, 0])?;
        out.write_all(&(header.len() as u16).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        tensor.data().iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
    });
    written.map_err(|source| DataError::Io { file: path.to_path_buf(), source })
}

/// An .npy file in memory.
pub(super) fn parse(source: &Source, bytes: &[u8]) -> Result<Tensor, DataError> {
    let magic = source.slice(bytes, "magic", 0, MAGIC.len())?;
    if magic != MAGIC {
        return Err(source.malformed("magic", 0, "\\x93NUMPY", magic.escape_ascii()));
    }
    let version = source.slice(bytes, "version", 6, 2)?[0];
    let (start, len) = match version {
        1 => {
            let b = source.slice(bytes, "header length", 8, 2)?;
            (10, usize::from(b[0]) | usize::from(b[1]) << 8)
        }
        2 | 3 => {
            let b = source.slice(bytes, "header length", 8, 4)?;
            (12, b.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b)))
        }
        other => return Err(source.malformed("version", 6, "1, 2 or 3", other)),
    };
    let text = source.slice(bytes, "header", start, len)?;
    let header = Header::parse(text)
        .map_err(|(at, expected)| source.malformed("header", start + at, expected, excerpt(text, at)))?;
    let element = Element::from_numpy(&header.descr).ok_or_else(|| DataError::ElementType {
        file: source.path.to_path_buf(),
        found: header.descr.clone(),
    })?;
    let data = &bytes[start + len..];
    if !header.fortran_order {
        return source.tensor(element, header.shape, data, start + len);
    }
    let reversed: Vec<usize> = header.shape.iter().rev().copied().collect();
    let transposed = source.tensor(element, reversed, data, start + len)?;
    Ok(reverse_axes(&transposed))
}

fn excerpt(text: &[u8], at: usize) -> String {
    let rest = &text[at.min(text.len())..];
    rest[..rest.len().min(20)].escape_ascii().to_string()
}

fn reverse_axes(t: &Tensor) -> Tensor {
    let shape: Vec<usize> = t.shape().iter().rev().copied().collect();
    let strides: Vec<usize> = plan::tensor::strides(t.shape()).into_iter().rev().collect();
    let at = |index: Vec<usize>| index.iter().zip(&strides).map(|(i, s)| i * s).sum::<usize>();
    let data = plan::tensor::Indices::new(&shape).map(|index| t.data()[at(index)]).collect();
    Tensor::new(shape, data).expect("the same elements in another order")
}

#[derive(Debug, PartialEq)]
struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<usize>,
}

/// What was expected, and where in the header.
type Expected = (usize, &'static str);

impl Header {
    /// The dictionary; its keys may come in any order, and nothing but blanks may follow it.
    fn parse(text: &[u8]) -> Result<Header, Expected> {
        let mut cursor = Cursor { text, at: 0 };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        cursor.token(b'{')?;
        while !cursor.try_token(b'}') {
            let at = cursor.at;
            let key = cursor.string()?;
            cursor.token(b':')?;
            match key {
                b"descr" => descr = Some(cursor.string()?),
                b"fortran_order" => fortran_order = Some(cursor.boolean()?),
                b"shape" => shape = Some(cursor.tuple()?),
                _ => return Err((at, "one of 'descr', 'fortran_order', 'shape'")),
            }
            if !cursor.try_token(b',') {
                cursor.token(b'}')?;
                break;
            }
        }
        cursor.blanks();
        if cursor.at < text.len() {
            return Err((cursor.at, "the end of the header"));
        }
        match (descr, fortran_order, shape) {
            (Some(descr), Some(fortran_order), Some(shape)) => {
                Ok(Header { descr: descr.escape_ascii().to_string(), fortran_order, shape })
            }
            _ => Err((0, "'descr', 'fortran_order' and 'shape'")),
        }
    }
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn blanks(&mut self) {
        self.at += self.text[self.at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    fn try_token(&mut self, token: u8) -> bool {
        self.blanks();
        let found = self.text.get(self.at) == Some(&token);
        self.at += usize::from(found);
        found
    }

    fn token(&mut self, token: u8) -> Result<(), Expected> {
        let expected = match token {
            b'{' => "`{`",
            b'}' => "`,` or `}`",
            b':' => "`:`",
            b'(' => "`(`",
            _ => "`,` or `)`",
        };
        if self.try_token(token) { Ok(()) } else { Err((self.at, expected)) }
    }

    fn string(&mut self) -> Result<&'a [u8], Expected> {
        self.blanks();
        let (text, start) = (self.text, self.at + 1);
        let quote = text.get(self.at).filter(|q| matches!(q, b'\'' | b'"')).ok_or((self.at, "a string"))?;
        let len = text[start..].iter().position(|b| b == quote).ok_or((self.at, "a closed string"))?;
        self.at = start + len + 1;
        Ok(&text[start..start + len])
    }

    fn boolean(&mut self) -> Result<bool, Expected> {
        self.blanks();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err((self.at, "True or False"))
    }

    fn tuple(&mut self) -> Result<Vec<usize>, Expected> {
        self.token(b'(')?;
        let mut items = Vec::new();
        while !self.try_token(b')') {
            items.push(self.number()?);
            if !self.try_token(b',') {
                self.token(b')')?;
                break;
            }
        }
        Ok(items)
    }

    fn number(&mut self) -> Result<usize, Expected> {
        self.blanks();
        let start = self.at;
        self.at += self.text[start..].iter().take_while(|b| b.is_ascii_digit()).count();
        std::str::from_utf8(&self.text[start..self.at])
            .ok()
            .and_then(|digits| digits.parse().ok())
            .ok_or((start, "a size"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[f64]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
        data.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes
    }

    fn read(header: &str, data: &[f64]) -> Result<Tensor, String> {
        parse(&Source { path: Path::new("t.npy") }, &file(header, data)).map_err(|e| e.to_string())
    }

    #[test]
    fn orders_and_scalars() {
        let c =
            read("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", &[1., 2., 3., 4., 5., 6.]);
        let f = read("{\"shape\":(2,3),'fortran_order':True,'descr':'<f8'}", &[1., 4., 2., 5., 3., 6.]);
        assert_eq!(c, f);
        assert_eq!(
            read("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", &[7.]),
            Ok(Tensor::scalar(7.))
        );
        assert_eq!(
            read("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", &[7.]).unwrap().shape(),
            [1]
        );
    }

    #[test]
    fn malformed_files_say_what_is_wrong() {
        let message = |header: &str| read(header, &[1.0]).unwrap_err();
        let large = "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296,)}";
        assert!(message(large).contains("data at byte 74: expected 34359738368 bytes"), "{}", message(large));
        let overflow = "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999)}";
        assert!(message(overflow).contains("limit"), "{}", message(overflow));
        let complex = "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}";
        assert!(message(complex).contains("of type <c16"));
        assert!(message("{'descr': '<f8', 'fortran_order': 1").contains("expected True or False"));
        assert!(message("{'descr': '<f8").contains("a closed string"));
        assert!(message("{'shape': (1,)}").contains("'descr'"));
        assert!(message("{'shape': (-1,)}").contains("a size, found -1,)}"));
        let short = parse(&Source { path: Path::new("t.npy") }, b"\x93NUMPY\x01\x00\xff\xff{").unwrap_err();
        assert_eq!(short.to_string(), "t.npy: header at byte 10: expected 65535 bytes, found 1 bytes");
    }
}
