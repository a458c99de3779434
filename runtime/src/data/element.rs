//! Element types of tensor files and their values as f64.

/// The type of one element. Integers beyond 2^53 are rounded to the nearest f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    kind: Kind,
    bytes: usize,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Float,
    Brain,
    Signed,
    Unsigned,
    Bool,
}

impl Element {
    /// The element type numpy writes as, say, `<f8`: byte order, kind, bytes.
    pub(super) fn from_numpy(descr: &str) -> Option<Element> {
        let mut chars = descr.chars();
        let big_endian = match chars.next()? {
            '<' | '|' => false,
            '>' => true,
            _ => return None,
        };
        let kind = chars.next()?;
        Element::new(kind, chars.as_str().parse().ok()?, big_endian)
    }

    /// The little-endian element type of a kind, in numpy's letters, `B` for bfloat16.
    pub(super) fn little_endian(kind: char, bytes: usize) -> Option<Element> {
        Element::new(kind, bytes, false)
    }

    fn new(kind: char, bytes: usize, big_endian: bool) -> Option<Element> {
        let kind = match (kind, bytes) {
            ('f', 2 | 4 | 8) => Kind::Float,
            ('B', 2) => Kind::Brain,
            ('i', 1 | 2 | 4 | 8) => Kind::Signed,
            ('u', 1 | 2 | 4 | 8) => Kind::Unsigned,
            ('b', 1) => Kind::Bool,
            _ => return None,
        };
        Some(Element { kind, bytes, big_endian })
    }

    /// Bytes of one element: 1, 2, 4 or 8.
    pub(super) fn bytes(self) -> usize {
        self.bytes
    }

    /// The value of one element; `bytes` has at most 8 bytes.
    pub(super) fn value(self, bytes: &[u8]) -> f64 {
        let push = |word: u64, b: &u8| word << 8 | u64::from(*b);
        let word =
            if self.big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) };
        match (self.kind, self.bytes) {
            (Kind::Float, 8) => f64::from_bits(word),
            (Kind::Float, 4) => f64::from(f32::from_bits(word as u32)),
            (Kind::Float, _) => half(word as u16),
            (Kind::Brain, _) => f64::from(f32::from_bits((word as u32) << 16)),
            (Kind::Signed, n) => ((word << (64 - 8 * n)) as i64 >> (64 - 8 * n)) as f64,
            (Kind::Unsigned, _) => word as f64,
            (Kind::Bool, _) => f64::from(word != 0),
        }
    }
}

/// IEEE 754 binary16.
fn half(h: u16) -> f64 {
    let (sign, exponent, fraction) = (h >> 15, i32::from(h >> 10 & 31), f64::from(h & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1024.0 + fraction) * 2f64.powi(e - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_converts() {
        let value = |descr: &str, bytes: &[u8]| Element::from_numpy(descr).map(|e| e.value(bytes));
        assert_eq!(value("<f8", &1.5f64.to_le_bytes()), Some(1.5));
        assert_eq!(value(">f4", &(-2.25f32).to_be_bytes()), Some(-2.25));
        assert_eq!(value("<f2", &0x3555u16.to_le_bytes()), Some(0.333_251_953_125));
        assert_eq!(value("<f2", &0x0001u16.to_le_bytes()), Some(2f64.powi(-24)));
        assert_eq!(value("<f2", &0xfc00u16.to_le_bytes()), Some(f64::NEG_INFINITY));
        assert_eq!(value("|i1", &[0xff]), Some(-1.0));
        assert_eq!(value("<i8", &(-7i64).to_le_bytes()), Some(-7.0));
        assert_eq!(value("<u8", &u64::MAX.to_le_bytes()), Some(u64::MAX as f64));
        assert_eq!(value("|b1", &[1]), Some(1.0));
        assert_eq!(value("<c16", &[0; 16]), None);
        assert_eq!(value("<f16", &[0; 16]), None);
        assert_eq!(Element::little_endian('B', 2).map(|e| e.value(&[0x80, 0x3f])), Some(1.0));
    }
}
