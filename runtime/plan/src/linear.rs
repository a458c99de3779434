//! Linear maps on tensors as short chains of steps: what they mean in f64, their shapes, and their sparse matrices.
//!
//! Everything linear in one encrypted operand (slices, sums, constant products, convolutions) is a chain of
//! [`LinearStep`]s. A chain costs one level at most, however long it is, since only the product of its matrices
//! is evaluated. Steps that use clear tensors name them by position among the clear operands of the node.

use crate::tensor::{Indices, ShapeError, Tensor, size_of, strides};
use serde::{Deserialize, Serialize};

/// Position of a clear tensor among the clear operands of a linear node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Operand(pub usize);

#[allow(missing_docs)] // the line above each variant explains its fields
/// One linear step from a tensor to a tensor. Shapes are checked by [`LinearStep::output_shape`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LinearStep {
    /// Axis `i` of the output is axis `perm[i]` of the input.
    Transpose { perm: Vec<usize> },
    /// Same elements in row-major order, another shape.
    Reshape { shape: Vec<usize> },
    /// Repeats axes of extent 1 and adds leading axes (numpy's broadcast_to).
    Broadcast { shape: Vec<usize> },
    /// `out[i] = in[start + i * step]` on every axis, `count` elements each; a step may be negative.
    Slice { start: Vec<usize>, step: Vec<i64>, count: Vec<usize> },
    /// Zeros before and after, on every axis.
    Pad { before: Vec<usize>, after: Vec<usize> },
    /// numpy.roll along one axis: `out[(i + shift) mod n] = in[i]`.
    Roll { axis: usize, shift: usize },
    /// Sum over axes, which disappear.
    Sum { axes: Vec<usize> },
    /// Main diagonal of a matrix: `[R, C]` to `[min(R, C)]`.
    DiagonalOf,
    /// Diagonal matrix of a vector: `[n]` to `[n, n]`.
    DiagonalMatrix,
    /// Element-wise product with a clear tensor of the same shape.
    Scale { by: Operand },
    /// Every element times a number.
    ScaleBy { factor: f64 },
    /// `x @ w`: `[.., I, K] @ [.., K, J]`, batch axes of `w` equal to those of `x`, or absent.
    MatMulRight { weight: Operand, shape: Vec<usize> },
    /// `w @ x`: `[.., I, K] @ [.., K, J]`, batch axes of `w` equal to those of `x`, or absent.
    MatMulLeft { weight: Operand, shape: Vec<usize> },
    /// Cross-correlation of NCHW by OIHW (`shape` is the kernel's).
    Conv2d {
        kernel: Operand,
        shape: Vec<usize>,
        stride: [usize; 2],
        padding: [usize; 2],
        dilation: [usize; 2],
        groups: usize,
    },
    /// Mean over windows of NCHW; padded zeros count.
    AvgPool2d { kernel: [usize; 2], stride: [usize; 2], padding: [usize; 2] },
}

/// A sparse matrix by rows: output element `i` is the sum of `coefficient * input[column]` over `row(i)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    columns: usize,
    start: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Sparse {
    /// The identity on `n` elements.
    pub fn identity(n: usize) -> Sparse {
        Sparse { columns: n, start: (0..=n).collect(), entries: (0..n).map(|i| (i as u32, 1.0)).collect() }
    }
    /// Builds row by row; entries of a row are sorted, merged, and zeros dropped.
    pub fn from_rows(columns: usize, rows: impl Iterator<Item = Vec<(u32, f64)>>) -> Sparse {
        let (mut start, mut entries) = (vec![0], Vec::new());
        for mut row in rows {
            row.sort_by_key(|e| e.0);
            let first = entries.len();
            for (c, v) in row {
                match entries[first..].last_mut() {
                    Some((last, w)) if *last == c => *w += v,
                    _ => entries.push((c, v)),
                }
            }
            let kept: Vec<(u32, f64)> = entries.drain(first..).filter(|e| e.1 != 0.0).collect();
            entries.extend(kept);
            start.push(entries.len());
        }
        Sparse { columns, start, entries }
    }
    /// Number of output elements.
    pub fn rows(&self) -> usize {
        self.start.len() - 1
    }
    /// Number of input elements.
    pub fn columns(&self) -> usize {
        self.columns
    }
    /// Number of stored coefficients.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Whether the map is zero.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// Input columns and coefficients of output element `i`, by increasing column.
    pub fn row(&self, i: usize) -> &[(u32, f64)] {
        &self.entries[self.start[i]..self.start[i + 1]]
    }
    /// The map `self` after `first`.
    pub fn after(&self, first: &Sparse) -> Sparse {
        let row = |i: usize| {
            let terms = self
                .row(i)
                .iter()
                .flat_map(|&(m, v)| first.row(m as usize).iter().map(move |&(c, w)| (c, v * w)));
            terms.collect::<Vec<_>>()
        };
        Sparse::from_rows(first.columns, (0..self.rows()).map(row))
    }
    /// Matrix times vector.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        (0..self.rows()).map(|i| self.row(i).iter().map(|&(c, v)| v * x[c as usize]).sum()).collect()
    }
}

/// Output shape of a chain of steps.
pub fn output_shape(steps: &[LinearStep], input: &[usize]) -> Result<Vec<usize>, LinearError> {
    steps.iter().try_fold(input.to_vec(), |shape, step| step.output_shape(&shape))
}

/// A chain of steps applied to a tensor.
pub fn apply(steps: &[LinearStep], x: &Tensor, clear: &[&Tensor]) -> Result<Tensor, LinearError> {
    let mut shape = x.shape().to_vec();
    let mut data = x.data().to_vec();
    for step in steps {
        let out = step.output_shape(&shape)?;
        data = match step {
            LinearStep::Reshape { .. } => data,
            LinearStep::Transpose { perm } => {
                let from = strides(&shape);
                strided(&data, &out, &perm.iter().map(|&axis| from[axis]).collect::<Vec<_>>())
            }
            LinearStep::Broadcast { .. } => {
                let own = shape.iter().zip(strides(&shape)).map(|(&n, s)| if n == 1 { 0 } else { s });
                let added = std::iter::repeat_n(0, out.len() - shape.len());
                strided(&data, &out, &added.chain(own).collect::<Vec<_>>())
            }
            _ => step.matrix(&shape, clear)?.apply(&data),
        };
        shape = out;
    }
    Ok(Tensor::new(shape, data)?)
}

/// Elements of a tensor of a shape, read with one stride per axis.
fn strided(data: &[f64], shape: &[usize], strides: &[usize]) -> Vec<f64> {
    let mut at = vec![0];
    for (&extent, &stride) in shape.iter().zip(strides) {
        at = at.iter().flat_map(|a| (0..extent).map(move |i| a + i * stride)).collect();
    }
    at.into_iter().map(|a| data[a]).collect()
}

/// The matrix of a chain of steps on the row-major elements of `input`.
pub fn matrix(steps: &[LinearStep], input: &[usize], clear: &[&Tensor]) -> Result<Sparse, LinearError> {
    let mut shape = input.to_vec();
    let mut total = Sparse::identity(size_of(input)?);
    for step in steps {
        let m = step.matrix(&shape, clear)?;
        shape = step.output_shape(&shape)?;
        total = m.after(&total);
    }
    Ok(total)
}

/// Why a step does not apply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinearError {
    /// The step does not accept this input shape.
    #[error("{step} does not apply to a tensor of shape {}", crate::tensor::show(.shape))]
    Shape {
        /// name of the step
        step: &'static str,
        /// shape it was given
        shape: Vec<usize>,
    },
    /// A clear operand is missing or has another shape than the step states.
    #[error("clear operand {} of {step} is missing or has another shape than expected", .operand.0)]
    Operand {
        /// name of the step
        step: &'static str,
        /// its operand
        operand: Operand,
    },
    /// A size is beyond the limit.
    #[error(transparent)]
    Size(#[from] ShapeError),
}

/// Output extent of a window of `kernel` cells at `dilation` sliding by `stride` over `input` cells padded on both sides.
pub fn window_extent(
    input: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
    dilation: usize,
) -> Option<usize> {
    let span = kernel.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
    let room = input.checked_add(padding.checked_mul(2)?)?.checked_sub(span)?;
    (stride > 0).then(|| room / stride + 1)
}

impl LinearStep {
    /// Name in the text form.
    pub fn name(&self) -> &'static str {
        match self {
            LinearStep::Transpose { .. } => "transpose",
            LinearStep::Reshape { .. } => "reshape",
            LinearStep::Broadcast { .. } => "broadcast",
            LinearStep::Slice { .. } => "slice",
            LinearStep::Pad { .. } => "pad",
            LinearStep::Roll { .. } => "roll",
            LinearStep::Sum { .. } => "sum",
            LinearStep::DiagonalOf => "diagonal_of",
            LinearStep::DiagonalMatrix => "diagonal_matrix",
            LinearStep::Scale { .. } => "scale",
            LinearStep::ScaleBy { .. } => "scale_by",
            LinearStep::MatMulRight { .. } => "matmul_right",
            LinearStep::MatMulLeft { .. } => "matmul_left",
            LinearStep::Conv2d { .. } => "conv2d",
            LinearStep::AvgPool2d { .. } => "avg_pool2d",
        }
    }

    /// The clear operand the step reads, if any.
    pub fn operand(&self) -> Option<Operand> {
        match self {
            LinearStep::Scale { by: o }
            | LinearStep::MatMulRight { weight: o, .. }
            | LinearStep::MatMulLeft { weight: o, .. }
            | LinearStep::Conv2d { kernel: o, .. } => Some(*o),
            _ => None,
        }
    }

    /// The same step with its clear operand renumbered.
    pub fn with_operand(&self, f: impl Fn(Operand) -> Operand) -> LinearStep {
        let mut step = self.clone();
        match &mut step {
            LinearStep::Scale { by: o }
            | LinearStep::MatMulRight { weight: o, .. }
            | LinearStep::MatMulLeft { weight: o, .. }
            | LinearStep::Conv2d { kernel: o, .. } => *o = f(*o),
            _ => {}
        }
        step
    }

    /// Output shape for an input shape; an error if the step does not apply.
    pub fn output_shape(&self, x: &[usize]) -> Result<Vec<usize>, LinearError> {
        self.shape_if_valid(x)?.ok_or_else(|| LinearError::Shape { step: self.name(), shape: x.to_vec() })
    }

    fn shape_if_valid(&self, x: &[usize]) -> Result<Option<Vec<usize>>, LinearError> {
        let rank = x.len();
        Ok(match self {
            LinearStep::Transpose { perm } => {
                let mut seen = perm.clone();
                seen.sort_unstable();
                seen.iter().copied().eq(0..rank).then(|| perm.iter().map(|&a| x[a]).collect())
            }
            LinearStep::Reshape { shape } => (size_of(shape)? == size_of(x)?).then(|| shape.clone()),
            LinearStep::Broadcast { shape } => {
                size_of(shape)?;
                (crate::tensor::broadcast_shapes(x, shape)? == *shape).then(|| shape.clone())
            }
            LinearStep::Slice { start, step, count } => {
                let inside = |a: usize| {
                    let last = (count[a] as i64 - 1)
                        .checked_mul(step[a])
                        .and_then(|d| d.checked_add(start[a] as i64));
                    count[a] > 0 && start[a] < x[a] && last.is_some_and(|l| l >= 0 && l < x[a] as i64)
                };
                let sizes = start.len() == rank && step.len() == rank && count.len() == rank;
                (sizes && (0..rank).all(inside)).then(|| count.clone())
            }
            LinearStep::Pad { before, after } => {
                let fits = before.len() == rank && after.len() == rank;
                let shape: Option<Vec<usize>> = fits.then(|| {
                    (0..rank).map(|a| x[a].saturating_add(before[a]).saturating_add(after[a])).collect()
                });
                shape.as_deref().map(size_of).transpose()?;
                shape
            }
            LinearStep::Roll { axis, .. } => (*axis < rank).then(|| x.to_vec()),
            LinearStep::Sum { axes } => axes
                .iter()
                .all(|&a| a < rank)
                .then(|| (0..rank).filter(|a| !axes.contains(a)).map(|a| x[a]).collect()),
            LinearStep::DiagonalOf => (rank == 2).then(|| vec![x[0].min(x[1])]),
            LinearStep::DiagonalMatrix => {
                let shape = (rank == 1).then(|| vec![x[0], x[0]]);
                shape.as_deref().map(size_of).transpose()?;
                shape
            }
            LinearStep::Scale { .. } | LinearStep::ScaleBy { .. } => Some(x.to_vec()),
            LinearStep::MatMulRight { shape, .. } => matmul_shape(x, shape, x),
            LinearStep::MatMulLeft { shape, .. } => matmul_shape(shape, x, x),
            LinearStep::Conv2d { shape, stride, padding, dilation, groups, .. } => {
                conv_shape(x, shape, *stride, *padding, *dilation, *groups)
            }
            LinearStep::AvgPool2d { kernel, stride, padding } => (rank == 4)
                .then(|| {
                    let h = window_extent(x[2], kernel[0], stride[0], padding[0], 1)?;
                    let w = window_extent(x[3], kernel[1], stride[1], padding[1], 1)?;
                    Some(vec![x[0], x[1], h, w])
                })
                .flatten(),
        })
    }

    fn clear<'t>(&self, clear: &[&'t Tensor], shape: &[usize]) -> Result<&'t Tensor, LinearError> {
        let operand =
            self.operand().ok_or(LinearError::Operand { step: self.name(), operand: Operand(0) })?;
        match clear.get(operand.0) {
            Some(t) if t.shape() == shape => Ok(t),
            _ => Err(LinearError::Operand { step: self.name(), operand }),
        }
    }

    /// The matrix of the step on row-major elements of an input of shape `x`.
    pub fn matrix(&self, x: &[usize], clear: &[&Tensor]) -> Result<Sparse, LinearError> {
        let out = self.output_shape(x)?;
        let (n, sx) = (size_of(x)?, strides(x));
        let dot = |ix: &[usize], s: &[usize]| -> usize { ix.iter().zip(s).map(|(i, s)| i * s).sum() };
        let gather = |f: &dyn Fn(&[usize]) -> Option<usize>| {
            Sparse::from_rows(
                n,
                Indices::new(&out).map(|ix| f(&ix).map(|c| (c as u32, 1.0)).into_iter().collect()),
            )
        };
        Ok(match self {
            LinearStep::Transpose { perm } => {
                gather(&|ix| Some(perm.iter().zip(ix).map(|(&a, i)| i * sx[a]).sum()))
            }
            LinearStep::Reshape { .. } => Sparse::identity(n),
            LinearStep::Broadcast { .. } => {
                let lead = out.len() - x.len();
                gather(&|ix| {
                    Some((0..x.len()).map(|a| if x[a] == 1 { 0 } else { ix[lead + a] * sx[a] }).sum())
                })
            }
            LinearStep::Slice { start, step, .. } => gather(&|ix| {
                let at = |a: usize| (start[a] as i64 + ix[a] as i64 * step[a]) as usize * sx[a];
                Some((0..x.len()).map(at).sum())
            }),
            LinearStep::Pad { before, .. } => gather(&|ix| {
                let inner: Option<Vec<usize>> =
                    (0..x.len()).map(|a| ix[a].checked_sub(before[a]).filter(|&i| i < x[a])).collect();
                inner.map(|ix| dot(&ix, &sx))
            }),
            LinearStep::Roll { axis, shift } => gather(&|ix| {
                let mut ix = ix.to_vec();
                let e = x[*axis];
                ix[*axis] = (ix[*axis] + e - shift % e) % e;
                Some(dot(&ix, &sx))
            }),
            LinearStep::Sum { axes } => {
                let kept: Vec<usize> = (0..x.len()).filter(|a| !axes.contains(a)).collect();
                let summed: Vec<usize> = (0..x.len()).filter(|a| axes.contains(a)).map(|a| x[a]).collect();
                let summed_strides: Vec<usize> =
                    (0..x.len()).filter(|a| axes.contains(a)).map(|a| sx[a]).collect();
                Sparse::from_rows(
                    n,
                    Indices::new(&out).map(|ix| {
                        let base: usize = kept.iter().zip(&ix).map(|(&a, i)| i * sx[a]).sum();
                        Indices::new(&summed)
                            .map(|s| ((base + dot(&s, &summed_strides)) as u32, 1.0))
                            .collect()
                    }),
                )
            }
            LinearStep::DiagonalOf => gather(&|ix| Some(ix[0] * (x[1] + 1))),
            LinearStep::DiagonalMatrix => gather(&|ix| (ix[0] == ix[1]).then_some(ix[0])),
            LinearStep::Scale { .. } => {
                let w = self.clear(clear, x)?;
                Sparse::from_rows(n, w.data().iter().enumerate().map(|(i, &v)| vec![(i as u32, v)]))
            }
            LinearStep::ScaleBy { factor } => Sparse::from_rows(n, (0..n).map(|i| vec![(i as u32, *factor)])),
            LinearStep::MatMulRight { shape, .. } => matmul_matrix(x, self.clear(clear, shape)?, &out, true),
            LinearStep::MatMulLeft { shape, .. } => matmul_matrix(x, self.clear(clear, shape)?, &out, false),
            LinearStep::Conv2d { shape, stride, padding, dilation, groups, .. } => {
                conv_matrix(x, self.clear(clear, shape)?, &out, *stride, *padding, *dilation, *groups)
            }
            LinearStep::AvgPool2d { kernel, stride, padding } => {
                let weight = 1.0 / (kernel[0] * kernel[1]) as f64;
                let window = Window { kernel: *kernel, stride: *stride, padding: *padding, dilation: [1, 1] };
                Sparse::from_rows(
                    n,
                    Indices::new(&out).map(|ix| {
                        let base = ix[0] * sx[0] + ix[1] * sx[1];
                        window
                            .cells(ix[2], ix[3], x)
                            .map(|(_, h, w)| ((base + h * sx[2] + w) as u32, weight))
                            .collect()
                    }),
                )
            }
        })
    }
}

/// Shape of `a @ b` (rank at least 2 each) whose encrypted side has shape `x`: the clear side has the same batch axes or none.
fn matmul_shape(a: &[usize], b: &[usize], x: &[usize]) -> Option<Vec<usize>> {
    let ((ba, ma), (bb, mb)) = (a.split_at(a.len().checked_sub(2)?), b.split_at(b.len().checked_sub(2)?));
    let batch = &x[..x.len() - 2];
    let fits = |other: &[usize]| other == batch || other.is_empty();
    (fits(ba) && fits(bb) && ma[1] == mb[0]).then(|| [batch, &[ma[0], mb[1]]].concat())
}

fn matmul_matrix(x: &[usize], w: &Tensor, out: &[usize], right: bool) -> Sparse {
    let (r, c) = (x[x.len() - 2], x[x.len() - 1]);
    let (wr, wc) = (w.shape()[w.shape().len() - 2], w.shape()[w.shape().len() - 1]);
    let batches: usize = x[..x.len() - 2].iter().product();
    let per_batch = if w.shape().len() > 2 { wr * wc } else { 0 };
    let (oi, oj) = (out[out.len() - 2], out[out.len() - 1]);
    let rows = (0..batches).flat_map(move |b| (0..oi).flat_map(move |i| (0..oj).map(move |j| (b, i, j))));
    Sparse::from_rows(
        batches * r * c,
        rows.map(|(b, i, j)| {
            let (x0, w0) = (b * r * c, b * per_batch);
            if right {
                (0..c).map(|k| ((x0 + i * c + k) as u32, w.data()[w0 + k * wc + j])).collect()
            } else {
                (0..r).map(|k| ((x0 + k * c + j) as u32, w.data()[w0 + i * wc + k])).collect()
            }
        }),
    )
}

struct Window {
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
}

impl Window {
    /// (cell of the kernel, input row, input column) inside the image for output position (h, w).
    fn cells<'a>(
        &'a self,
        h: usize,
        w: usize,
        x: &'a [usize],
    ) -> impl Iterator<Item = (usize, usize, usize)> + 'a {
        let at = move |axis: usize, o: usize, k: usize| {
            (o * self.stride[axis] + k * self.dilation[axis])
                .checked_sub(self.padding[axis])
                .filter(|&i| i < x[2 + axis])
        };
        (0..self.kernel[0]).flat_map(move |kh| {
            (0..self.kernel[1])
                .filter_map(move |kw| Some((kh * self.kernel[1] + kw, at(0, h, kh)?, at(1, w, kw)?)))
        })
    }
}

fn conv_shape(
    x: &[usize],
    k: &[usize],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
    groups: usize,
) -> Option<Vec<usize>> {
    let fits = x.len() == 4
        && k.len() == 4
        && groups > 0
        && x[1].is_multiple_of(groups)
        && k[0].is_multiple_of(groups)
        && k[1] == x[1] / groups
        && dilation.iter().all(|&d| d > 0);
    if !fits {
        return None;
    }
    let h = window_extent(x[2], k[2], stride[0], padding[0], dilation[0])?;
    let w = window_extent(x[3], k[3], stride[1], padding[1], dilation[1])?;
    Some(vec![x[0], k[0], h, w])
}

fn conv_matrix(
    x: &[usize],
    kernel: &Tensor,
    out: &[usize],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
    groups: usize,
) -> Sparse {
    let k = kernel.shape();
    let per_group = k[0] / groups;
    let (plane, image, row) = (x[2] * x[3], x[1] * x[2] * x[3], x[3]);
    let window = Window { kernel: [k[2], k[3]], stride, padding, dilation };
    let cells = k[2] * k[3];
    Sparse::from_rows(
        x.iter().product(),
        Indices::new(out).map(|ix| {
            let first = ix[1] / per_group * k[1];
            (0..k[1])
                .flat_map(|c| {
                    let (base, w0) = (ix[0] * image + (first + c) * plane, (ix[1] * k[1] + c) * cells);
                    window.cells(ix[2], ix[3], x).map(move |(cell, h, w)| (base + h * row + w, w0 + cell))
                })
                .map(|(at, cell)| (at as u32, kernel.data()[cell]))
                .collect()
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(shape: &[usize]) -> Tensor {
        let n: usize = shape.iter().product();
        Tensor::new(shape.to_vec(), (0..n).map(|i| (i as f64 * 0.37).sin()).collect()).unwrap()
    }

    #[test]
    fn chains_multiply_their_matrices() {
        let w = t(&[4, 2]);
        let steps = [
            LinearStep::Transpose { perm: vec![1, 0] },
            LinearStep::MatMulRight { weight: Operand(0), shape: vec![4, 2] },
            LinearStep::Sum { axes: vec![0] },
            LinearStep::ScaleBy { factor: -2.0 },
        ];
        let x = t(&[4, 3]);
        let y = apply(&steps, &x, &[&w]).unwrap();
        let m = matrix(&steps, x.shape(), &[&w]).unwrap().apply(x.data());
        for (j, v) in m.iter().enumerate() {
            let expect: f64 = -2.0
                * (0..4)
                    .flat_map(|k| (0..3).map(move |i| (k, i)))
                    .map(|(k, i)| x.data()[k * 3 + i] * w.data()[k * 2 + j])
                    .sum::<f64>();
            assert!((v - expect).abs() < 1e-12 && (y.data()[j] - expect).abs() < 1e-12);
        }
        assert_eq!(output_shape(&steps, &[4, 3]).unwrap(), [2]);
    }

    #[test]
    fn slices_roll_and_pad_follow_numpy() {
        let x = Tensor::new(vec![5], vec![0.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
        let run = |s: LinearStep| apply(&[s], &x, &[]).unwrap().into_data();
        assert_eq!(
            run(LinearStep::Slice { start: vec![4], step: vec![-2], count: vec![3] }),
            [4.0, 2.0, 0.0]
        );
        assert_eq!(run(LinearStep::Roll { axis: 0, shift: 1 }), [4.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(
            run(LinearStep::Pad { before: vec![1], after: vec![1] }),
            [0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.0]
        );
        assert!(
            LinearStep::Slice { start: vec![4], step: vec![1], count: vec![2] }.output_shape(&[5]).is_err()
        );
    }

    #[test]
    fn convolution_is_cross_correlation() {
        let x = Tensor::new(vec![1, 1, 3, 3], (1..=9).map(f64::from).collect()).unwrap();
        let k = Tensor::new(vec![1, 1, 2, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let conv = |padding| LinearStep::Conv2d {
            kernel: Operand(0),
            shape: vec![1, 1, 2, 2],
            stride: [1, 1],
            padding,
            dilation: [1, 1],
            groups: 1,
        };
        assert_eq!(apply(&[conv([0, 0])], &x, &[&k]).unwrap().data(), [37.0, 47.0, 67.0, 77.0]);
        assert_eq!(apply(&[conv([1, 1])], &x, &[&k]).unwrap().shape(), [1, 1, 4, 4]);
        let pool = LinearStep::AvgPool2d { kernel: [2, 2], stride: [1, 1], padding: [0, 0] };
        assert_eq!(apply(&[pool], &x, &[]).unwrap().data(), [3.0, 4.0, 6.0, 7.0]);
    }
}
