//! Ring dimension against modulus bits: uniform ternary secret, error deviation 3.2, classical attacks.
//!
//! Bossuat, Cammarota, Chillotti, Curtis, Dai, Gong, Hales, Kim, Kumara, Lee, Lu, Maple, Pedrouzo-Ulloa, Player,
//! Polyakov, Lopez, Song, Yhee, Yildiz: "Security Guidelines for Implementing Homomorphic Encryption", 2024,
//! <https://eprint.iacr.org/2024/463>, Table 5.2. Between powers of two (rings of GL) the table is interpolated linearly and
//! one bit is taken off.

use serde::{Deserialize, Serialize};

/// Name of the table, as plans and reports print it.
pub const TABLE: &str =
    "Security Guidelines for Implementing HE 2024 (eprint 2024/463), Table 5.2, classical, ternary";

/// Security level of a set of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityLevel {
    /// 128, 192 or 256
    pub bits: u32,
}

/// log2(N) and the largest log2(PQ) at 128, 192, 256 bits; 0 means: not at all.
const TABLE_5_2: [(u32, [f64; 3]); 8] = [
    (10, [26.0, 0.0, 0.0]),
    (11, [53.0, 36.0, 27.0]),
    (12, [106.0, 73.0, 56.0]),
    (13, [214.0, 147.0, 114.0]),
    (14, [430.0, 297.0, 230.0]),
    (15, [868.0, 597.0, 462.0]),
    (16, [1747.0, 1199.0, 929.0]),
    (17, [3523.0, 2411.0, 1866.0]),
];

/// Largest log2(PQ) for a ring dimension at 128, 192 or 256 bits. None if the table does not reach the dimension or the level.
pub fn max_log_pq(degree: usize, bits: u32) -> Option<f64> {
    let column = [128, 192, 256].iter().position(|&b| b == bits)?;
    let at = |row: &(u32, [f64; 3])| (1usize << row.0, row.1[column]);
    if let Some(row) = TABLE_5_2.iter().find(|r| 1 << r.0 == degree) {
        return Some(row.1[column]).filter(|&b| b > 0.0);
    }
    let above = TABLE_5_2.iter().position(|r| 1 << r.0 > degree).filter(|&i| i > 0)?;
    let ((n0, b0), (n1, b1)) = (at(&TABLE_5_2[above - 1]), at(&TABLE_5_2[above]));
    let bound = b0 + (b1 - b0) * (degree - n0) as f64 / (n1 - n0) as f64 - 1.0;
    Some(bound).filter(|_| b0 > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_interpolation() {
        assert_eq!(max_log_pq(1 << 15, 128), Some(868.0));
        assert_eq!(max_log_pq(1 << 10, 192), None);
        assert_eq!(max_log_pq(1 << 18, 128), None);
        assert_eq!(max_log_pq(1 << 15, 100), None);
        // run with the lattice estimator for the dimension itself: 649 bits at 128
        let gl = max_log_pq(24_576, 128).unwrap();
        assert!((647.0..=649.0).contains(&gl), "{gl}");
    }
}
