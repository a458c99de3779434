//! Generalised diagonals: diagonal k of a batch has slot (l, j) = `M_l[j, j + k]`, columns modulo n.

use crate::gl::Matrices;
use crate::math::fft::Complex;

/// The slots of diagonal k, ordered `[l][j]`.
pub(crate) fn gather(matrices: &Matrices, k: usize) -> Vec<Complex> {
    let n = matrices.side();
    let row = |(i, row): (usize, &[Complex])| row[(i + k) % n];
    matrices.entries().chunks_exact(n).enumerate().map(row).collect()
}

/// The batch of side n whose diagonals these are: n of them, or one for all, with the same number of slots.
pub(crate) fn scatter(n: usize, diagonals: &[Vec<Complex>]) -> Matrices {
    let (count, distinct) = (diagonals.first().map_or(0, Vec::len) / n, diagonals.len());
    Matrices::from_fn(count, n, |l, j, c| diagonals[(c + n - j) % distinct][l * n + j])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagonals_hold_what_they_say() {
        let (n, count) = (4, 3);
        let m = Matrices::from_fn(count, n, |l, j, c| Complex::new((100 * l + 10 * j + c) as f64, -1.0));
        let diagonals: Vec<Vec<Complex>> = (0..n).map(|k| gather(&m, k)).collect();
        assert_eq!(diagonals[3][2 * n + 1], m.get(2, 1, 0));
        assert_eq!(diagonals[1][3], m.get(0, 3, 0));
        assert_eq!(scatter(n, &diagonals), m);
        let columns = scatter(n, &diagonals[2..3]);
        assert!((0..n).all(|c| columns.get(1, 3, c) == m.get(1, 3, 1)));
    }
}
