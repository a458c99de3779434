//! Products of matrices by numpy's rules, and convolutions.
//!
//! With one clear operand a product is a linear step; `MatMul` is left for two encrypted or two clear operands, with
//! equal batch axes.

use crate::diag::{Code, Diagnostic};
use crate::from_ast::Builder;
use crate::from_ast::value::{Array, Eval};
use grammar::Span;
use plan::linear::{LinearStep, window_extent};
use plan::tensor::{MAX_RANK, broadcast_shapes, show};
use plan::{Operand, TensorOp};

/// Operands of a matrix product do not fit.
pub const MATMUL: Code = Code("E0511");
/// An operation takes tensors of another rank.
pub const RANK: Code = Code("E0512");
/// Image, kernel and steps of a convolution do not fit.
pub const CONVOLUTION: Code = Code("E0513");

/// How a kernel slides over an image; each pair is for rows and columns.
pub(super) struct Sliding {
    pub(super) stride: [usize; 2],
    pub(super) padding: [usize; 2],
    pub(super) dilation: [usize; 2],
    pub(super) groups: usize,
}

impl Builder<'_> {
    /// `a @ b`
    pub(super) fn matmul(&mut self, a: &Array, b: &Array, at: Span) -> Eval<Array> {
        let (sa, sb) = (self.shape(a), self.shape(b));
        if sa.is_empty() || sb.is_empty() {
            let message =
                format!("`@` takes tensors of rank 1 or more, found {} and {}", show(&sa), show(&sb));
            let label = self.label(at, "a number has no axis to sum over");
            return self.refuse(
                Diagnostic::error(MATMUL, message, label).with_help("a product with a number is `*`"),
            );
        }
        let (inner_a, inner_b) = (sa[sa.len() - 1], sb[sb.len().saturating_sub(2)]);
        if inner_a != inner_b {
            return self.inner_mismatch(&sa, &sb, at);
        }
        if sa.len() == 1 && sb.len() == 1 {
            let product = self.multiply(a, b, at)?;
            return self.step(&product, LinearStep::Sum { axes: vec![0] }, at);
        }
        let row = if sa.len() == 1 { self.reshape(a, &[1, inner_a], at)? } else { a.clone() };
        let column = if sb.len() == 1 { self.reshape(b, &[inner_b, 1], at)? } else { b.clone() };
        let product = self.matrix_product(&row, &column, at)?;
        let mut shape = self.shape(&product);
        if sb.len() == 1 {
            shape.pop();
        }
        if sa.len() == 1 {
            shape.remove(shape.len() - 2);
        }
        self.reshape(&product, &shape, at)
    }

    fn inner_mismatch(&mut self, sa: &[usize], sb: &[usize], at: Span) -> Eval<Array> {
        let (inner_a, inner_b) = (sa[sa.len() - 1], sb[sb.len().saturating_sub(2)]);
        let message = format!("cannot multiply {} @ {}", show(sa), show(sb));
        let axis = if sb.len() == 1 { "only" } else { "last but one" };
        let label = self.label(at, format!("{inner_a} against {inner_b}"));
        let note = format!(
            "the last axis on the left has {inner_a} entries, the {axis} axis on the right {inner_b}; they must agree"
        );
        let help = match (sa, sb) {
            ([.., k], [.., j]) if sb.len() >= 2 && k == j => {
                Some("transpose the right operand: `a @ transpose(b)`")
            }
            ([.., i, _], _) if sa.len() >= 2 && *i == inner_b => {
                Some("transpose the left operand: `transpose(a) @ b`")
            }
            _ => None,
        };
        let diagnostic = Diagnostic::error(MATMUL, message, label).with_note(note);
        self.refuse(diagnostic.with_help_if(help.map(str::to_string)))
    }

    /// `a @ b` of rank 2 or more each, inner axes equal.
    fn matrix_product(&mut self, a: &Array, b: &Array, at: Span) -> Eval<Array> {
        let (sa, sb) = (self.shape(a), self.shape(b));
        let ((batch_a, rest_a), (batch_b, rest_b)) = (sa.split_at(sa.len() - 2), sb.split_at(sb.len() - 2));
        let batch = match broadcast_shapes(batch_a, batch_b) {
            Ok(batch) => batch,
            Err(_) => {
                let message = format!("the batch axes of {} @ {} do not broadcast", show(&sa), show(&sb));
                let label = self.label(at, format!("{} against {}", show(batch_a), show(batch_b)));
                return self.refuse(Diagnostic::error(MATMUL, message, label));
            }
        };
        let full = |rest: &[usize]| [batch.as_slice(), rest].concat();
        let (shape_a, shape_b) = (full(rest_a), full(rest_b));
        match (self.is_cipher(a), self.is_cipher(b)) {
            (true, false) => {
                let a = self.spread(a, &shape_a, at)?;
                let b = if batch_b.is_empty() { b.clone() } else { self.spread(b, &shape_b, at)? };
                let step = LinearStep::MatMulRight { weight: Operand(0), shape: self.shape(&b) };
                self.linear(&a, vec![step], &[&b], at)
            }
            (false, true) => {
                let b = self.spread(b, &shape_b, at)?;
                let a = if batch_a.is_empty() { a.clone() } else { self.spread(a, &shape_a, at)? };
                let step = LinearStep::MatMulLeft { weight: Operand(0), shape: self.shape(&a) };
                self.linear(&b, vec![step], &[&a], at)
            }
            _ => {
                let (a, b) = self.spread_both((a, b), (&shape_a, &shape_b), at)?;
                self.tensor(TensorOp::MatMul, &[&a, &b], at)
            }
        }
    }

    /// `dot(a, b)` up to rank 2: products with numbers, sums of products, matrix products.
    pub(super) fn dot(&mut self, a: &Array, b: &Array, at: Span) -> Eval<Array> {
        let (ra, rb) = (self.shape(a).len(), self.shape(b).len());
        if ra > 2 || rb > 2 {
            let message = format!("dot takes rank 2 at most, found {} and {}", self.show(a), self.show(b));
            let label = self.label(at, "rank too high");
            return self.refuse(
                Diagnostic::error(RANK, message, label).with_help("`a @ b` is batched over leading axes"),
            );
        }
        if ra == 0 || rb == 0 { self.multiply(a, b, at) } else { self.matmul(a, b, at) }
    }

    /// Refuses ranks other than the one that is taken.
    pub(super) fn need_rank(&mut self, x: &Array, rank: usize, what: &str, at: Span) -> Eval<Vec<usize>> {
        let shape = self.shape(x);
        if shape.len() == rank {
            return Ok(shape);
        }
        let message = format!("{what} needs rank {rank}, found {} of rank {}", show(&shape), shape.len());
        let diagnostic = Diagnostic::error(RANK, message, self.label(at, format!("rank {}", shape.len())));
        let help = (rank == 4).then(|| {
            "axes are batch, channels, rows, columns; a new axis of size 1 is `x[None]`".to_string()
        });
        self.refuse(diagnostic.with_help_if(help))
    }

    /// Cross-correlation of `x` [batch, channels, rows, columns] with `w` [out, channels per group, rows, columns].
    pub(super) fn convolve(&mut self, x: &Array, w: &Array, how: &Sliding, at: Span) -> Eval<Array> {
        let (sx, sw) = (
            self.need_rank(x, 4, "the image of conv2d", at),
            self.need_rank(w, 4, "the kernel of conv2d", at),
        );
        let (sx, sw) = (sx?, sw?);
        self.check_channels(&sx, &sw, how.groups, at)?;
        let extent = self.windows(&sx, [sw[2], sw[3]], how, at)?;
        if !self.is_cipher(w) {
            let &Sliding { stride, padding, dilation, groups } = how;
            let step =
                LinearStep::Conv2d { kernel: Operand(0), shape: sw, stride, padding, dilation, groups };
            return self.linear(x, vec![step], &[w], at);
        }
        self.convolve_by_taps(x, w, how, extent, at)
    }

    fn check_channels(&mut self, sx: &[usize], sw: &[usize], groups: usize, at: Span) -> Eval<()> {
        let channels = sx[1];
        let message = if !channels.is_multiple_of(groups) || !sw[0].is_multiple_of(groups) {
            format!(
                "groups = {groups} must divide the {channels} channels of the image {} and the {} channels out of the kernel {}",
                show(sx),
                sw[0],
                show(sw)
            )
        } else if sw[1] != channels / groups {
            let per_group = if groups == 1 {
                String::new()
            } else {
                format!(" ({} in each of {groups} groups)", channels / groups)
            };
            format!(
                "the image {} has {channels} channels{per_group}, the kernel {} takes {}",
                show(sx),
                show(sw),
                sw[1]
            )
        } else {
            return Ok(());
        };
        let label = self.label(at, "channels do not fit");
        let note = "the kernel has the axes channels out, channels in per group, rows, columns";
        self.refuse(Diagnostic::error(CONVOLUTION, message, label).with_note(note))
    }

    /// Rows and columns of the result of sliding a kernel over an image.
    pub(super) fn windows(
        &mut self,
        sx: &[usize],
        kernel: [usize; 2],
        how: &Sliding,
        at: Span,
    ) -> Eval<[usize; 2]> {
        let mut extent = [0; 2];
        for (axis, name) in ["rows", "columns"].into_iter().enumerate() {
            let (size, k, d) = (sx[2 + axis], kernel[axis], how.dilation[axis]);
            let (stride, padding) = (how.stride[axis], how.padding[axis]);
            match window_extent(size, k, stride, padding, d) {
                Some(n) => extent[axis] = n,
                None => {
                    let reach = (k.saturating_sub(1)).saturating_mul(d).saturating_add(1);
                    let padded = size.saturating_add(padding.saturating_mul(2));
                    let message = format!(
                        "the kernel has {reach} {name}{}, the image only {padded}{}",
                        if d > 1 { format!(" ({k} at dilation {d})") } else { String::new() },
                        if padding > 0 { " with its padding" } else { "" }
                    );
                    return self.fail(CONVOLUTION, at, message, "the kernel does not fit in the image");
                }
            }
        }
        Ok(extent)
    }

    /// Convolution by an encrypted kernel: for each tap the image, shifted, times the tap, summed over channels.
    fn convolve_by_taps(
        &mut self,
        x: &Array,
        w: &Array,
        how: &Sliding,
        extent: [usize; 2],
        at: Span,
    ) -> Eval<Array> {
        let (sx, sw) = (self.shape(x), self.shape(w));
        let (g, [rows, columns]) = (how.groups, extent);
        let [ph, pw] = how.padding;
        let padded = match how.padding {
            [0, 0] => x.clone(),
            _ => {
                self.step(x, LinearStep::Pad { before: vec![0, 0, ph, pw], after: vec![0, 0, ph, pw] }, at)?
            }
        };
        let mut sum: Option<Array> = None;
        for i in 0..sw[2] {
            for j in 0..sw[3] {
                let window = LinearStep::Slice {
                    start: vec![0, 0, i * how.dilation[0], j * how.dilation[1]],
                    step: vec![1, 1, how.stride[0] as i64, how.stride[1] as i64],
                    count: vec![sx[0], sx[1], rows, columns],
                };
                let image_shape = vec![sx[0], g, 1, sx[1] / g, rows, columns];
                let image =
                    self.linear(&padded, vec![window, LinearStep::Reshape { shape: image_shape }], &[], at)?;
                let tap = LinearStep::Slice {
                    start: vec![0, 0, i, j],
                    step: vec![1; 4],
                    count: vec![sw[0], sw[1], 1, 1],
                };
                let tap_shape = vec![1, g, sw[0] / g, sw[1], 1, 1];
                let tap = self.linear(w, vec![tap, LinearStep::Reshape { shape: tap_shape }], &[], at)?;
                let product = self.multiply(&image, &tap, at)?;
                let term = self.step(&product, LinearStep::Sum { axes: vec![3] }, at)?;
                sum = Some(match sum {
                    None => term,
                    Some(s) => self.tensor(TensorOp::Add, &[&s, &term], at)?,
                });
            }
        }
        match sum {
            Some(sum) => self.reshape(&sum, &[sx[0], sw[0], rows, columns], at),
            None => self.fail(CONVOLUTION, at, "the kernel has no entry", ""),
        }
    }

    /// Refuses shapes of too many axes.
    pub(super) fn check_rank(&mut self, shape: &[usize], at: Span) -> Eval<()> {
        if shape.len() <= MAX_RANK {
            return Ok(());
        }
        let message = format!("rank {} is beyond the limit: {MAX_RANK} axes at most", shape.len());
        self.fail(RANK, at, message, show(shape))
    }
}
