//! What an operation costs in levels: the one table, with where each row comes from. `explain` prints it.

use plan::Scheme;

/// A kind of operation on encrypted values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// sum, difference, sign, clear summand
    Add,
    /// integer multiple
    MulInteger,
    /// product of two encrypted values, element by element
    Mul,
    /// product with a clear value, element by element
    MulClear,
    /// linear combination with numbers, one rescale
    Combine,
    /// rotation, roll, broadcast or sum that needs no mask
    Rotate,
    /// transpose of a matrix as it is held
    Flip,
    /// linear map with coefficients or masks
    Linear,
    /// product of two encrypted matrices
    MatMul,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelCost {
    /// which operation
    pub kind: Kind,
    /// its name for the report
    pub name: &'static str,
    /// levels in the Gentry-Lee scheme; None where there is no such operation
    pub gl: Option<u32>,
    /// levels in CKKS
    pub ckks: Option<u32>,
    /// where the figures come from
    pub source: &'static str,
}

const CKKS_2017: &str = "Cheon, Kim, Kim, Song 2017 (ASIACRYPT), section 3";
const GL_2025: &str = "Gentry, Lee 2025, Fully Homomorphic Encryption for Matrix Arithmetic";

/// Every operation.
pub static TABLE: [LevelCost; 9] = [
    row(Kind::Add, "ct + ct, ct + pt, -ct", Some(0), Some(0), CKKS_2017),
    row(Kind::MulInteger, "integer * ct", Some(0), Some(0), "repeated addition"),
    row(Kind::Mul, "ct * ct", Some(1), Some(1), CKKS_2017),
    row(Kind::MulClear, "ct * pt", Some(1), Some(1), CKKS_2017),
    row(
        Kind::Combine,
        "sum of numbers * ct",
        Some(1),
        Some(1),
        "one rescale for all terms; Bossuat et al. 2021, section 4",
    ),
    row(
        Kind::Rotate,
        "rotation, broadcast, sum",
        Some(0),
        Some(0),
        "Halevi, Shoup 2014 (CRYPTO), automorphisms and key switching",
    ),
    row(Kind::Flip, "transpose as held", Some(0), None, GL_2025),
    row(
        Kind::Linear,
        "linear map, ct @ pt",
        Some(1),
        Some(1),
        "Halevi, Shoup 2014, diagonals; GL: Gentry, Lee 2025",
    ),
    row(
        Kind::MatMul,
        "ct @ ct",
        Some(1),
        Some(2),
        "GL: Gentry, Lee 2025; CKKS by masks: Aikata, Roy 2024/1730",
    ),
];

const fn row(
    kind: Kind,
    name: &'static str,
    gl: Option<u32>,
    ckks: Option<u32>,
    source: &'static str,
) -> LevelCost {
    LevelCost { kind, name, gl, ckks, source }
}

/// Levels of an operation in a scheme; 0 for one that the scheme does not have.
pub fn levels(kind: Kind, scheme: Scheme) -> u32 {
    let found = TABLE.iter().find(|r| r.kind == kind);
    let cost = found.and_then(|r| if scheme == Scheme::Gl { r.gl } else { r.ckks });
    cost.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_row() {
        for (i, r) in TABLE.iter().enumerate() {
            assert_eq!(TABLE.iter().position(|s| s.kind == r.kind), Some(i));
        }
        assert_eq!((levels(Kind::MatMul, Scheme::Ckks), levels(Kind::MatMul, Scheme::Gl)), (2, 1));
    }
}
