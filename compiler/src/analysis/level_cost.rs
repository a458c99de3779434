//! What an operation costs in levels: the one table, with where each row comes from. `explain` prints it.

use plan::{Op, Scheme};

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

impl Kind {
    /// The row of an operation of a plan; None for those that spend no level of an operand.
    pub fn of(op: &Op) -> Option<Kind> {
        Some(match op {
            Op::Add | Op::Sub | Op::Neg | Op::AddClear => Kind::Add,
            Op::MulInteger(_) => Kind::MulInteger,
            Op::Mul => Kind::Mul,
            Op::MulClear => Kind::MulClear,
            Op::Combine { .. } => Kind::Combine,
            Op::Linear { masks: false, .. } => Kind::Rotate,
            Op::Linear { masks: true, .. } | Op::LinearRows { .. } | Op::MatMulClear => Kind::Linear,
            Op::MaskedMatMul | Op::MatMul => Kind::MatMul,
            Op::Flip => Kind::Flip,
            Op::Input(_) | Op::Constant(_) | Op::Clear(_) | Op::Adjust | Op::Bootstrap { .. } => {
                return None;
            }
        })
    }
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

    #[test]
    fn operations_of_plans_cost_what_the_table_says() {
        let linear = |masks| Op::Linear { steps: vec![], split: plan::Split::Slots { baby: 1 }, masks };
        let both = [
            Op::Add,
            Op::Sub,
            Op::Neg,
            Op::AddClear,
            Op::MulInteger(3),
            Op::Mul,
            Op::MulClear,
            Op::Combine { coefficients: vec![], constant: 0.0 },
            linear(false),
            linear(true),
        ];
        let of = |scheme, op: &Op| {
            let kind = Kind::of(op).expect("it spends levels or keeps them");
            assert_eq!(op.level_cost(), Some(levels(kind, scheme)), "{op:?} in {}", scheme.name());
        };
        both.iter().for_each(|op| [Scheme::Ckks, Scheme::Gl].into_iter().for_each(|s| of(s, op)));
        of(Scheme::Ckks, &Op::MaskedMatMul);
        [Op::MatMul, Op::MatMulClear, Op::LinearRows { steps: vec![] }, Op::Flip]
            .iter()
            .for_each(|op| of(Scheme::Gl, op));
    }
}
