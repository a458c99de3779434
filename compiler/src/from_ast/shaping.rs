//! Operations that move elements and compute nothing: they become linear steps.

use crate::diag::{Code, Diagnostic};
use crate::from_ast::Builder;
use crate::from_ast::arguments::Arguments;
use crate::from_ast::expression::INTEGER;
use crate::from_ast::products::RANK;
use crate::from_ast::value::{Array, Eval};
use grammar::Span;
use plan::linear::LinearStep;
use plan::tensor::{broadcast_shapes, show, size_of};
use plan::{Tensor, TensorOp};

/// A shape that cannot be had.
pub const SHAPE: Code = Code("E0521");
/// An axis that the tensor does not have.
pub const AXIS: Code = Code("E0522");
/// Parts that cannot be joined.
pub const JOIN: Code = Code("E0523");

impl<'a> Builder<'a> {
    /// An axis counted from the front; negative ones count from the back.
    pub(super) fn axis_of(&mut self, axis: i64, shape: &[usize], at: Span) -> Eval<usize> {
        let rank = shape.len() as i64;
        let counted = if axis < 0 { axis + rank } else { axis };
        if (0..rank).contains(&counted) {
            return Ok(counted as usize);
        }
        let message = format!("axis {axis} is out of range: {} has rank {rank}", show(shape));
        let label = if rank == 0 {
            "a number has no axes".to_string()
        } else {
            format!("valid are {}..{rank}", -rank)
        };
        self.fail(AXIS, at, message, label)
    }

    pub(super) fn transpose(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let shape = self.shape(&x);
        let perm = match args.get("axes") {
            Some(given) => {
                let axes = self.integers(given, "an axis")?;
                let axes = axes
                    .into_iter()
                    .map(|a| self.axis_of(a, &shape, given.span))
                    .collect::<Eval<Vec<_>>>()?;
                let mut sorted = axes.clone();
                sorted.sort_unstable();
                if !sorted.iter().copied().eq(0..shape.len()) {
                    let message = format!(
                        "the axes of transpose must name each of the {} axes of {} once",
                        shape.len(),
                        show(&shape)
                    );
                    return self.fail(AXIS, given.span, message, show(&axes));
                }
                axes
            }
            None if shape.len() < 2 => {
                let message = format!(
                    "transpose swaps the last two axes, and {} has rank {}",
                    show(&shape),
                    shape.len()
                );
                let label = self.label(args.at, format!("rank {}", shape.len()));
                let help = "a column is `x[:, None]`";
                return self.refuse(Diagnostic::error(RANK, message, label).with_help(help));
            }
            None => {
                let mut axes: Vec<usize> = (0..shape.len()).collect();
                axes.swap(shape.len() - 2, shape.len() - 1);
                axes
            }
        };
        if perm.iter().copied().eq(0..shape.len()) {
            return Ok(x);
        }
        self.step(&x, LinearStep::Transpose { perm }, args.at)
    }

    pub(super) fn reshape_call(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let (shape, given) = (self.shape(&x), args.need("shape")?);
        let sizes = self.integers(given, "a size")?;
        let size = size_of(&shape).unwrap_or(0) as i64;
        if sizes.iter().filter(|&&n| n == -1).count() > 1 {
            let message = "only one size of reshape can be -1";
            return self.fail(SHAPE, given.span, message, "two or more sizes are left open");
        }
        if let Some(n) = sizes.iter().find(|&&n| n < -1 || n == 0) {
            let message =
                format!("{n} is not a size: sizes are 1 or more, or -1 for the one that is left open");
            return self.fail(SHAPE, given.span, message, "not a shape");
        }
        let product = sizes.iter().filter(|&&n| n > 0).try_fold(1i64, |p, &n| p.checked_mul(n));
        let open = sizes.contains(&-1);
        let fits = product.is_some_and(|p| if open { size % p == 0 } else { size == p });
        let Some(product) = product.filter(|_| fits) else {
            let have = product.map_or("too many".to_string(), |p| p.to_string());
            let wanted: Vec<String> = sizes.iter().map(i64::to_string).collect();
            let wanted = wanted.join(", ");
            let message = match open {
                true => format!(
                    "cannot reshape {} to [{wanted}]: {size} elements do not divide by {have}",
                    show(&shape)
                ),
                false => {
                    format!("cannot reshape {} to [{wanted}]: {size} elements against {have}", show(&shape))
                }
            };
            return self.fail(SHAPE, args.at, message, format!("{size} elements"));
        };
        let sizes: Vec<usize> =
            sizes.iter().map(|&n| if n == -1 { (size / product) as usize } else { n as usize }).collect();
        self.check_rank(&sizes, given.span)?;
        self.reshape(&x, &sizes, args.at)
    }

    pub(super) fn flatten(&mut self, x: &Array, at: Span) -> Eval<Array> {
        let size = self.shape(x).iter().product();
        self.reshape(x, &[size], at)
    }

    pub(super) fn broadcast_call(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let (from, to) = (self.shape(&x), self.arg_shape(args, "shape")?);
        if broadcast_shapes(&from, &to).ok().as_deref() != Some(&to) {
            let message = format!("{} does not broadcast to {}", show(&from), show(&to));
            let label = self.label(args.at, "shapes do not fit");
            let note = "axes are compared from the right; each must be equal or 1 in what is repeated";
            return self.refuse(Diagnostic::error(SHAPE, message, label).with_note(note));
        }
        if x.tensor().is_some() {
            self.check_constant_size(&to, args.at)?;
            return self.step(&x, LinearStep::Broadcast { shape: to }, args.at);
        }
        self.spread(&x, &to, args.at)
    }

    /// `zeros` and `ones`.
    pub(super) fn filled(&mut self, args: &Arguments<'a>, value: f64) -> Eval<Array> {
        let shape = self.arg_shape(args, "shape")?;
        self.check_constant_size(&shape, args.at)?;
        Ok(Array::known(Tensor::full(&shape, value)))
    }

    pub(super) fn eye(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let given = args.need("n")?;
        let n = self.arg_integer(given, "the size of eye", 1)?;
        self.check_constant_size(&[n, n], args.at)?;
        let mut data = vec![0.0; n * n];
        (0..n).for_each(|i| data[i * n + i] = 1.0);
        self.built(vec![n, n], data, args.at)
    }

    pub(super) fn built(&mut self, shape: Vec<usize>, data: Vec<f64>, at: Span) -> Eval<Array> {
        match Tensor::new(shape, data) {
            Ok(tensor) => Ok(Array::known(tensor)),
            Err(error) => self.fail(SHAPE, at, error.to_string(), ""),
        }
    }

    // Joining

    pub(super) fn concat_call(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let Some((first, _)) = args.items.first() else {
            return self.fail(JOIN, args.at, "concat of no tensors", "the list is empty");
        };
        let shape = self.shape(first);
        let axis = match args.get("axis") {
            Some(given) => {
                let axis = self.integer(given, "axis")?;
                self.axis_of(axis, &shape, given.span)?
            }
            None => self.axis_of(0, &shape, args.at)?,
        };
        for (part, at) in &args.items {
            let other = self.shape(part);
            let fits =
                other.len() == shape.len() && (0..shape.len()).all(|a| a == axis || other[a] == shape[a]);
            if !fits {
                let message = format!(
                    "concat along axis {axis}: shapes {} and {} differ on another axis",
                    show(&shape),
                    show(&other)
                );
                return self.fail(JOIN, *at, message, format!("shape {}", show(&other)));
            }
        }
        let parts: Vec<Array> = args.items.iter().map(|i| i.0.clone()).collect();
        self.concat(&parts, axis, args.at)
    }

    pub(super) fn stack_call(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let Some((first, _)) = args.items.first() else {
            return self.fail(JOIN, args.at, "stack of no tensors", "the list is empty");
        };
        let shape = self.shape(first);
        for (part, at) in &args.items {
            let other = self.shape(part);
            if other != shape {
                let message =
                    format!("stack takes tensors of one shape, found {} and {}", show(&shape), show(&other));
                return self.fail(JOIN, *at, message, format!("shape {}", show(&other)));
            }
        }
        let longer = [shape.as_slice(), &[1]].concat();
        let axis = match args.get("axis") {
            Some(given) => {
                let axis = self.integer(given, "axis")?;
                self.axis_of(axis, &longer, given.span)?
            }
            None => 0,
        };
        let parts: Vec<Array> = args.items.iter().map(|i| i.0.clone()).collect();
        self.stack(&parts, axis, args.at)
    }

    /// Tensors of one shape on a new axis.
    pub(super) fn stack(&mut self, parts: &[Array], axis: usize, at: Span) -> Eval<Array> {
        let mut shape = parts.first().map(|p| self.shape(p)).unwrap_or_default();
        shape.insert(axis, 1);
        self.check_rank(&shape, at)?;
        let parts = parts.iter().map(|p| self.reshape(p, &shape, at)).collect::<Eval<Vec<_>>>()?;
        self.concat(&parts, axis, at)
    }

    /// Tensors one after the other on an axis: what is known in one constant, the rest as a sum of padded parts.
    pub(super) fn concat(&mut self, parts: &[Array], axis: usize, at: Span) -> Eval<Array> {
        if let [only] = parts {
            return Ok(only.clone());
        }
        let mut shape = parts.first().map(|p| self.shape(p)).unwrap_or_default();
        let extents: Vec<usize> = parts.iter().map(|p| self.shape(p)[axis]).collect();
        shape[axis] = extents.iter().sum();
        if let Err(error) = size_of(&shape) {
            return self.fail(JOIN, at, error.to_string(), "too large");
        }
        let (mut offset, mut sum, mut known): (usize, Option<Array>, Vec<(usize, &Tensor)>) =
            (0, None, vec![]);
        for (part, extent) in parts.iter().zip(extents) {
            let (mut before, mut after) = (vec![0; shape.len()], vec![0; shape.len()]);
            (before[axis], after[axis]) = (offset, shape[axis] - offset - extent);
            match part {
                Array::Known(k) => known.push((offset, &k.tensor)),
                Array::Node(_) => {
                    let padded = self.step(part, LinearStep::Pad { before, after }, at)?;
                    sum = Some(match sum {
                        None => padded,
                        Some(s) => self.tensor(TensorOp::Add, &[&s, &padded], at)?,
                    });
                }
            }
            offset += extent;
        }
        if known.is_empty() {
            return sum.map_or_else(|| self.fail(JOIN, at, "nothing to join", ""), Ok);
        }
        self.check_constant_size(&shape, at)?;
        let constant = self.built(shape.clone(), assemble(&shape, axis, &known), at)?;
        match sum {
            None => Ok(constant),
            Some(_) if constant.uniform() == Some(0.0) => sum.map_or(Ok(constant), Ok),
            Some(sum) => self.tensor(TensorOp::Add, &[&sum, &constant], at),
        }
    }

    // Moving

    pub(super) fn pad_call(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let (shape, given) = (self.shape(&x), args.need("widths")?);
        let value = match args.get("value") {
            Some(given) => self.as_number(&given.value, given.span, "value")?,
            None => 0.0,
        };
        let widths = self.constant_tensor(given, "the widths of pad")?;
        if widths.shape() != [shape.len(), 2] {
            let message = format!(
                "pad takes a pair [before, after] for each of the {} axes of {}, found widths of shape {}",
                shape.len(),
                show(&shape),
                show(widths.shape())
            );
            return self.fail(SHAPE, given.span, message, "one pair per axis");
        }
        let mut sizes = Vec::with_capacity(widths.len());
        for &w in widths.data() {
            let n = self.integer_of(w, &w.to_string(), given.span, "a width of pad")?;
            match usize::try_from(n) {
                Ok(n) => sizes.push(n),
                Err(_) => {
                    return self.fail(INTEGER, given.span, format!("a width of pad is {n}: 0 or more"), "");
                }
            }
        }
        let (before, after): (Vec<usize>, Vec<usize>) = sizes.chunks_exact(2).map(|p| (p[0], p[1])).unzip();
        let step = LinearStep::Pad { before, after };
        match step.output_shape(&shape) {
            Ok(out) if out == shape => return Ok(x),
            Err(error) => return self.fail(SHAPE, args.at, error.to_string(), "too large"),
            Ok(out) if value != 0.0 => self.check_constant_size(&out, args.at)?,
            Ok(_) => {}
        }
        let padded = self.step(&x, step.clone(), args.at)?;
        if value == 0.0 {
            return Ok(padded);
        }
        let inside = self.step(&Array::known(Tensor::full(&shape, -value)), step, args.at)?;
        let frame = self.add(&Array::number(value), &inside, args.at)?;
        self.add(&padded, &frame, args.at)
    }

    pub(super) fn roll_call(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let shape = self.shape(&x);
        let shift = self.integer(args.need("shift")?, "the shift of roll")?;
        if let Some(given) = args.get("axis") {
            let axis = self.integer(given, "axis")?;
            let axis = self.axis_of(axis, &shape, given.span)?;
            return self.roll(&x, shift, axis, args.at);
        }
        let flat = self.flatten(&x, args.at)?;
        let rolled = self.roll(&flat, shift, 0, args.at)?;
        self.reshape(&rolled, &shape, args.at)
    }

    fn roll(&mut self, x: &Array, shift: i64, axis: usize, at: Span) -> Eval<Array> {
        let shift = shift.rem_euclid(self.shape(x)[axis] as i64) as usize;
        if shift == 0 { Ok(x.clone()) } else { self.step(x, LinearStep::Roll { axis, shift }, at) }
    }

    // Diagonals

    pub(super) fn outer(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let (a, b) = (self.arg_array(args, "a")?, self.arg_array(args, "b")?);
        let (sa, sb) = (self.need_rank(&a, 1, "outer", args.at), self.need_rank(&b, 1, "outer", args.at));
        let (sa, sb) = (sa?, sb?);
        let (column, row) =
            (self.reshape(&a, &[sa[0], 1], args.at)?, self.reshape(&b, &[1, sb[0]], args.at)?);
        self.multiply(&column, &row, args.at)
    }

    pub(super) fn trace(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        self.need_rank(&x, 2, "trace", args.at)?;
        self.linear(&x, vec![LinearStep::DiagonalOf, LinearStep::Sum { axes: vec![0] }], &[], args.at)
    }

    pub(super) fn diag(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let shape = self.shape(&x);
        let step = match shape.len() {
            1 => LinearStep::DiagonalMatrix,
            2 => LinearStep::DiagonalOf,
            rank => {
                let message =
                    format!("diag takes rank 1 (to a matrix) or 2 (to its diagonal), found {}", show(&shape));
                return self.fail(RANK, args.at, message, format!("rank {rank}"));
            }
        };
        self.step(&x, step, args.at)
    }
}

/// Known parts at their offsets on an axis of a tensor of zeros.
fn assemble(shape: &[usize], axis: usize, parts: &[(usize, &Tensor)]) -> Vec<f64> {
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let mut data = vec![0.0; outer * shape[axis] * inner];
    for (offset, part) in parts {
        let length = part.shape()[axis] * inner;
        for (i, chunk) in part.data().chunks_exact(length).enumerate() {
            data[(i * shape[axis] + offset) * inner..][..length].copy_from_slice(chunk);
        }
    }
    data
}
