//! Batches of square complex matrices in clear.

use crate::gl::GlError;
use crate::math::fft::Complex;

/// A batch of `count` complex matrices of one side n, ordered `[matrix][row][column]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrices {
    side: usize,
    entries: Vec<Complex>,
}

impl Matrices {
    /// Matrices from their entries.
    ///
    /// # Errors
    /// [`GlError::PartialMatrix`] unless the entries fill whole matrices.
    pub fn new(side: usize, entries: Vec<Complex>) -> Result<Matrices, GlError> {
        if side == 0 || !entries.len().is_multiple_of(side * side) {
            return Err(GlError::PartialMatrix { entries: entries.len(), side });
        }
        Ok(Matrices { side, entries })
    }

    /// Real matrices from their entries.
    ///
    /// # Errors
    /// [`GlError::PartialMatrix`] unless the entries fill whole matrices.
    pub fn from_real(side: usize, entries: &[f64]) -> Result<Matrices, GlError> {
        Matrices::new(side, entries.iter().map(|&x| x.into()).collect())
    }

    /// The entries f(matrix, row, column).
    pub fn from_fn(count: usize, side: usize, f: impl Fn(usize, usize, usize) -> Complex) -> Matrices {
        let place = |i: usize| (i / (side * side), i / side % side, i % side);
        let entry = |i| {
            let (l, j, c) = place(i);
            f(l, j, c)
        };
        Matrices { side, entries: (0..count * side * side).map(entry).collect() }
    }

    /// Rows and columns of each matrix.
    pub fn side(&self) -> usize {
        self.side
    }

    /// Number of matrices.
    pub fn count(&self) -> usize {
        self.entries.len() / (self.side * self.side)
    }

    /// All entries, ordered `[matrix][row][column]`.
    pub fn entries(&self) -> &[Complex] {
        &self.entries
    }

    /// One entry; the indices must be in range.
    pub fn get(&self, matrix: usize, row: usize, column: usize) -> Complex {
        self.entries[(matrix * self.side + row) * self.side + column]
    }
}
