//! The product of encrypted matrices by masks, of depth 2:
//!
//!   C = sum_k spread(column k of A) * spread(row k of B)
//!
//! A matrix lies in a *frame* of nr x nc slots, both powers of two, at slot r nc + c, zero outside the matrix; the frames of
//! a batch follow each other and are multiplied pairwise. Column k of A is cut out by a mask (first level) and copied to
//! all columns by log2(nc) rotations and sums, row k of B likewise by log2(nr); the products are summed at degree 2 and
//! relinearized and rescaled once (second level).
//!
//! Reference: Aikata, Roy, "Secure and efficient outsourced matrix multiplication with homomorphic encryption", 2024/1730.

use crate::ckks::{Ciphertext, Ckks, CkksError, Plaintext};
use crate::math::fft::Complex;
use crate::ring::Galois;
use crate::rlwe::{EvaluationKeys, RlweError};

/// Levels a product takes.
pub const DEPTH: usize = 2;

/// The shape of the frames a slot vector is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    rows: usize,
    columns: usize,
}

/// A direction in a frame.
#[derive(Clone, Copy)]
enum Axis {
    Columns,
    Rows,
}

impl Frame {
    /// Frames of `rows` x `columns` slots.
    ///
    /// # Errors
    /// [`CkksError::InvalidFrame`] unless both are powers of two and whole frames fill a cycle of the slot rotations
    /// ([`RingSpec::rows`](crate::ring::RingSpec::rows)).
    pub fn new(ckks: &Ckks, rows: usize, columns: usize) -> Result<Frame, CkksError> {
        let available = ckks.chain().ring_spec().rows();
        let fits = rows.is_power_of_two()
            && columns.is_power_of_two()
            && rows.checked_mul(columns).is_some_and(|size| size <= available);
        if fits {
            Ok(Frame { rows, columns })
        } else {
            Err(CkksError::InvalidFrame { rows, columns, available })
        }
    }

    /// The slot of entry (r, c) of frame `batch`.
    pub fn slot(&self, batch: usize, r: usize, c: usize) -> usize {
        (batch * self.rows + r) * self.columns + c
    }

    /// The frames in the slots of a ciphertext.
    pub fn batch(&self, ckks: &Ckks) -> usize {
        ckks.slots() / (self.rows * self.columns)
    }

    /// The automorphisms whose keys a product needs, at one level below its inputs.
    pub fn automorphisms(&self, ckks: &Ckks) -> Vec<Galois> {
        let spec = ckks.chain().ring_spec();
        let steps = [Axis::Columns, Axis::Rows].into_iter().flat_map(|axis| {
            let (length, stride) = self.extent(axis);
            (0..length.ilog2()).map(move |bit| (stride << bit) as i64)
        });
        steps.flat_map(|step| [spec.rotation(step), spec.rotation(-step)]).collect()
    }

    /// The matrix products A B of all frames, for A with `inner` columns and B with `inner` rows, both at the same level
    /// >= 2 and its canonical scale: two levels.
    ///
    /// # Errors
    /// When `inner` does not fit, levels differ or are too low, or keys are missing.
    pub fn matmul(
        &self,
        ckks: &Ckks,
        a: &Ciphertext,
        b: &Ciphertext,
        inner: usize,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        let available = self.rows.min(self.columns);
        if !(1..=available).contains(&inner) {
            return Err(CkksError::InnerDimension { inner, available });
        }
        if a.level() < DEPTH {
            return Err(RlweError::LevelTooLow { needed: DEPTH, available: a.level() }.into());
        }
        let mut sum: Option<Ciphertext> = None;
        for k in 0..inner {
            let column = self.select_and_spread(ckks, a, Axis::Columns, k, keys)?;
            let row = self.select_and_spread(ckks, b, Axis::Rows, k, keys)?;
            let product = ckks.tensor(&column, &row)?;
            match &mut sum {
                None => sum = Some(product),
                Some(sum) => ckks.add_assign(sum, &product)?,
            }
        }
        let sum = sum.ok_or(CkksError::InnerDimension { inner, available })?;
        ckks.relinearize_rescale(&sum, keys)
    }

    /// Entries along the axis, and the slots between neighbours.
    fn extent(&self, axis: Axis) -> (usize, usize) {
        match axis {
            Axis::Columns => (self.columns, 1),
            Axis::Rows => (self.rows, self.columns),
        }
    }

    /// Column (or row) k copied to all columns (rows): one level.
    fn select_and_spread(
        &self,
        ckks: &Ckks,
        x: &Ciphertext,
        axis: Axis,
        k: usize,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        let spec = ckks.chain().ring_spec();
        let mut spread = ckks.mul_plain_rescale(x, &self.mask(ckks, axis, k, x.level())?)?;
        let (length, stride) = self.extent(axis);
        for bit in 0..length.ilog2() {
            // The copies so far differ from k in lower bits only; the new ones differ in this bit, and stay in the frame.
            let step = (stride << bit) as i64;
            let step = if k >> bit & 1 == 1 { step } else { -step };
            let copies = ckks.rotate(&spread, spec.rotation(step), keys)?;
            ckks.add_assign(&mut spread, &copies)?;
        }
        Ok(spread)
    }

    /// 1 in column (or row) k of every frame, 0 elsewhere.
    fn mask(&self, ckks: &Ckks, axis: Axis, k: usize, level: usize) -> Result<Plaintext, CkksError> {
        let (length, stride) = self.extent(axis);
        let slot = |i: usize| if i / stride % length == k { Complex::ONE } else { Complex::ZERO };
        ckks.encode(&(0..ckks.slots()).map(slot).collect::<Vec<_>>(), level)
    }
}
