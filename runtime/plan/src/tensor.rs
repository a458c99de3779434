//! Dense tensors in f64, row-major, and numpy's shape rules. The values of clear data, constants and the interpreter.

use serde::{Deserialize, Serialize};

/// Largest rank of a tensor.
pub const MAX_RANK: usize = 8;
/// Largest number of elements of a tensor: 2^32, so that element indices fit in `u32` and memory stays countable.
pub const MAX_SIZE: usize = 1 << 32;

/// A dense row-major tensor; rank 0 is a scalar with one element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tensor {
    shape: Vec<usize>,
    data: Vec<f64>,
}

/// Why two shapes or a shape and its data do not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// numpy's broadcasting rule is violated on one axis.
    #[error("shapes {} and {} do not broadcast: axis {axis} from the right has {left} against {right}", show(.a), show(.b))]
    Broadcast {
        /// left shape
        a: Vec<usize>,
        /// right shape
        b: Vec<usize>,
        /// axis counted from the right, 1 is the last
        axis: usize,
        /// extent on the left
        left: usize,
        /// extent on the right
        right: usize,
    },
    /// The data do not fill the shape.
    #[error("shape {} has {expected} elements, the data have {found}", show(.shape))]
    Count {
        /// the shape
        shape: Vec<usize>,
        /// product of the shape
        expected: usize,
        /// number of values given
        found: usize,
    },
    /// The number of elements overflows the limit.
    #[error("the size of shape {} is beyond the limit of {MAX_SIZE} elements", show(.0))]
    TooLarge(Vec<usize>),
}

/// `[2, 3]`, the way shapes are written in the language and in every message.
pub fn show(shape: &[usize]) -> String {
    let parts: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("[{}]", parts.join(", "))
}

/// Number of elements, checked against [`MAX_SIZE`].
pub fn size_of(shape: &[usize]) -> Result<usize, ShapeError> {
    shape
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(d).filter(|&n| n <= MAX_SIZE))
        .ok_or_else(|| ShapeError::TooLarge(shape.to_vec()))
}

/// Row-major strides in elements.
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut s = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        s[i - 1] = s[i] * shape[i];
    }
    s
}

/// The shape two operands broadcast to, numpy's rule.
pub fn broadcast_shapes(a: &[usize], b: &[usize]) -> Result<Vec<usize>, ShapeError> {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], i: usize| if i + s.len() >= rank { s[i + s.len() - rank] } else { 1 };
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            (left, right) => {
                Err(ShapeError::Broadcast { a: a.to_vec(), b: b.to_vec(), axis: rank - i, left, right })
            }
        })
        .collect()
}

impl Tensor {
    /// A tensor from its shape and row-major data.
    pub fn new(shape: Vec<usize>, data: Vec<f64>) -> Result<Tensor, ShapeError> {
        let expected = size_of(&shape)?;
        if expected != data.len() {
            return Err(ShapeError::Count { shape, expected, found: data.len() });
        }
        Ok(Tensor { shape, data })
    }
    /// A rank-0 tensor.
    pub fn scalar(v: f64) -> Tensor {
        Tensor { shape: vec![], data: vec![v] }
    }
    /// Every element equal to `v`.
    pub fn full(shape: &[usize], v: f64) -> Tensor {
        Tensor { shape: shape.to_vec(), data: vec![v; shape.iter().product()] }
    }
    /// Extent of every axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
    /// Row-major values.
    pub fn data(&self) -> &[f64] {
        &self.data
    }
    /// Row-major values, by value.
    pub fn into_data(self) -> Vec<f64> {
        self.data
    }
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }
    /// Whether there is no element; false for every tensor of the language.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
    /// Largest absolute value.
    pub fn max_abs(&self) -> f64 {
        self.data.iter().fold(0.0, |m, x| m.max(x.abs()))
    }
    /// Element-wise map.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Tensor {
        Tensor { shape: self.shape.clone(), data: self.data.iter().map(|&x| f(x)).collect() }
    }
    /// Element-wise combination of two tensors of equal shape.
    ///
    /// # Panics
    /// Panics if the shapes differ: operands are broadcast before.
    pub fn zip(&self, other: &Tensor, f: impl Fn(f64, f64) -> f64) -> Tensor {
        assert_eq!(self.shape, other.shape, "element-wise operands are broadcast before");
        let data = self.data.iter().zip(&other.data).map(|(&x, &y)| f(x, y)).collect();
        Tensor { shape: self.shape.clone(), data }
    }
    /// Repeats axes of extent 1 (and missing leading axes) to fill `shape`.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Tensor, ShapeError> {
        if broadcast_shapes(&self.shape, shape)? != shape {
            let (a, b) = (self.shape.clone(), shape.to_vec());
            return Err(ShapeError::Broadcast {
                a,
                b,
                axis: self.shape.len(),
                left: self.len(),
                right: size_of(shape)?,
            });
        }
        let (lead, own) = (shape.len() - self.shape.len(), strides(&self.shape));
        let data = Indices::new(shape)
            .map(|ix| {
                let at: usize =
                    (0..own.len()).map(|a| if self.shape[a] == 1 { 0 } else { ix[lead + a] * own[a] }).sum();
                self.data[at]
            })
            .collect();
        Ok(Tensor { shape: shape.to_vec(), data })
    }
    /// The index vector of the element at row-major position `at`.
    pub fn index_of(&self, at: usize) -> Vec<usize> {
        unravel(at, &self.shape)
    }
}

/// Row-major position to index vector.
pub fn unravel(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut ix = vec![0; shape.len()];
    for a in (0..shape.len()).rev() {
        ix[a] = at % shape[a];
        at /= shape[a];
    }
    ix
}

/// Index vectors of a shape in row-major order.
pub struct Indices {
    shape: Vec<usize>,
    next: Option<Vec<usize>>,
}

impl Indices {
    /// All index vectors of `shape`; one empty vector for rank 0.
    pub fn new(shape: &[usize]) -> Indices {
        let next = (!shape.contains(&0)).then(|| vec![0; shape.len()]);
        Indices { shape: shape.to_vec(), next }
    }
}

impl Iterator for Indices {
    type Item = Vec<usize>;
    fn next(&mut self) -> Option<Vec<usize>> {
        let now = self.next.take()?;
        let mut up = now.clone();
        for a in (0..up.len()).rev() {
            up[a] += 1;
            if up[a] < self.shape[a] {
                self.next = Some(up);
                break;
            }
            up[a] = 0;
        }
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_follows_numpy() {
        assert_eq!(broadcast_shapes(&[3, 1], &[4]).unwrap(), [3, 4]);
        assert_eq!(broadcast_shapes(&[], &[2, 2]).unwrap(), [2, 2]);
        let e = broadcast_shapes(&[3, 4], &[3]).unwrap_err();
        assert_eq!(e, ShapeError::Broadcast { a: vec![3, 4], b: vec![3], axis: 1, left: 4, right: 3 });
        let t = Tensor::new(vec![2, 1], vec![1.0, 2.0]).unwrap();
        assert_eq!(t.broadcast_to(&[2, 2]).unwrap().data(), [1.0, 1.0, 2.0, 2.0]);
        assert!(t.broadcast_to(&[2]).is_err());
    }

    #[test]
    fn sizes_never_wrap() {
        assert!(size_of(&[1 << 33, 1 << 33]).is_err());
        assert!(Tensor::new(vec![usize::MAX, 2], vec![]).is_err());
        assert_eq!(Indices::new(&[2, 3]).count(), 6);
        assert_eq!(Indices::new(&[]).count(), 1);
        assert_eq!(unravel(5, &[2, 3]), [1, 2]);
    }
}
