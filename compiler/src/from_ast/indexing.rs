//! `x[1:4, :, ::2]`, `x[..., 0]`, `x[:, None]`: numpy's basic indexing as one slice and one reshape.

use crate::diag::{Code, Diagnostic};
use crate::from_ast::Builder;
use crate::from_ast::expression::counted;
use crate::from_ast::value::{Array, Eval, Poisoned};
use grammar::Span;
use grammar::ast::*;
use plan::linear::LinearStep;
use plan::tensor::show;

/// An index that does not fit the tensor.
pub const INDEX: Code = Code("E0520");
/// A slice that reaches past the end of its axis.
pub const CLIPPED: Code = Code("W0501");

/// One axis of the input under an index.
#[derive(Clone, Copy)]
struct Axis {
    start: usize,
    step: i64,
    count: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn index(&mut self, x: Eval<Array>, items: &'a [IndexItem], at: Span) -> Eval<Array> {
        let x = x?;
        let shape = self.shape(&x);
        let named =
            items.iter().filter(|i| matches!(i.kind, IndexKind::At(_) | IndexKind::Slice { .. })).count();
        if named > shape.len() {
            let indices = if named == 1 { "1 index".to_string() } else { format!("{named} indices") };
            let message = format!("{indices} for a tensor of rank {}", shape.len());
            return self.fail(INDEX, at, message, format!("its shape is {}", show(&shape)));
        }
        let mut ellipses = items.iter().filter(|i| i.kind == IndexKind::Ellipsis);
        if let (Some(_), Some(second)) = (ellipses.next(), ellipses.next()) {
            return self.fail(INDEX, second.span, "`...` can stand once in an index", "a second one");
        }
        let whole = |n: usize| Axis { start: 0, step: 1, count: n };
        let (mut axes, mut out): (Vec<Eval<Axis>>, Vec<usize>) = (Vec::new(), Vec::new());
        for item in items {
            let size = shape.get(axes.len()).copied().unwrap_or(1);
            match &item.kind {
                IndexKind::At(e) => {
                    let position = self.position(e, size, axes.len());
                    axes.push(position.map(|start| Axis { start, step: 1, count: 1 }));
                }
                IndexKind::Slice { lo, hi, step } => {
                    let axis = self.slice([lo, hi, step], size, axes.len(), item.span);
                    out.push(axis.map_or(1, |a| a.count));
                    axes.push(axis);
                }
                IndexKind::Ellipsis => {
                    let free = shape.len() - named;
                    out.extend_from_slice(&shape[axes.len()..axes.len() + free]);
                    axes.extend((0..free).map(|i| Ok(whole(shape[axes.len() + i]))).collect::<Vec<_>>());
                }
                IndexKind::NewAxis => out.push(1),
            }
        }
        out.extend_from_slice(&shape[axes.len()..]);
        axes.extend(shape[axes.len()..].iter().map(|&n| Ok(whole(n))).collect::<Vec<_>>());
        let axes: Vec<Axis> = axes.into_iter().collect::<Eval<_>>()?;
        self.check_rank(&out, at)?;
        self.select(&x, &axes, out, at)
    }

    fn select(&mut self, x: &Array, axes: &[Axis], out: Vec<usize>, at: Span) -> Eval<Array> {
        let shape = self.shape(x);
        let mut steps = Vec::new();
        let count: Vec<usize> = axes.iter().map(|a| a.count).collect();
        if axes.iter().zip(&shape).any(|(a, &n)| (a.start, a.step, a.count) != (0, 1, n)) {
            let (start, step) = axes.iter().map(|a| (a.start, a.step)).unzip();
            steps.push(LinearStep::Slice { start, step, count: count.clone() });
        }
        if out != count {
            steps.push(LinearStep::Reshape { shape: out });
        }
        self.linear(x, steps, &[], at)
    }

    fn position(&mut self, e: &'a Expr, size: usize, axis: usize) -> Eval<usize> {
        let i = self.constant_integer(e, "an index")?;
        let counted = if i < 0 { i + size as i64 } else { i };
        if (0..size as i64).contains(&counted) {
            return Ok(counted as usize);
        }
        let message = format!("index {i} is out of range for axis {axis} of size {size}");
        let label = format!("valid are {}..{size}", -(size as i64));
        self.fail(INDEX, e.span, message, label)
    }

    fn slice(&mut self, parts: [&'a Option<Expr>; 3], size: usize, axis: usize, at: Span) -> Eval<Axis> {
        let names = ["the start of a slice", "the end of a slice", "the step of a slice"];
        let mut numbers = [None; 3];
        let mut failed = false;
        for ((part, name), number) in parts.into_iter().zip(names).zip(&mut numbers) {
            if let Some(e) = part {
                match self.constant_integer(e, name) {
                    Ok(n) => *number = Some(n),
                    Err(Poisoned) => failed = true,
                }
            }
        }
        if failed {
            return Err(Poisoned);
        }
        let [lo, hi, step] = numbers;
        let (n, step) = (size as i64, step.unwrap_or(1));
        if step == 0 {
            return self.fail(INDEX, at, "the step of a slice cannot be 0", "step 0");
        }
        let (lowest, highest) = if step > 0 { (0, n) } else { (-1, n - 1) };
        let bound = |given: Option<i64>, default: i64| match given {
            Some(v) => (if v < 0 { v + n } else { v }).clamp(lowest, highest),
            None => default,
        };
        let (first, last) = if step > 0 { (0, n) } else { (n - 1, -1) };
        let (start, end) = (bound(lo, first), bound(hi, last));
        let span = if step > 0 { end - start } else { start - end };
        let count = if span > 0 { (span - 1) / step.abs() + 1 } else { 0 };
        if count == 0 {
            let message = format!("this slice of axis {axis} of size {size} is empty");
            return self.fail(INDEX, at, message, "tensors have at least one element");
        }
        if let Some(past) = [lo, hi].into_iter().flatten().find(|&v| v > n || v < -n) {
            let message = format!("the slice reaches to {past}, past the end of axis {axis} of size {size}");
            let label = self.label(
                at,
                format!("clipped to {}", counted(count as usize, "entry").replace("entrys", "entries")),
            );
            self.report(Diagnostic::warning(CLIPPED, message, label));
        }
        Ok(Axis { start: start as usize, step, count: count as usize })
    }
}
