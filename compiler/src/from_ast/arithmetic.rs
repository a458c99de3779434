//! Element-wise arithmetic with numpy's broadcasting, made explicit.
//!
//! A product of an encrypted and a clear tensor is a linear step; `Mul` is left for two encrypted or two clear ones.

use crate::analysis::interval::Range;
use crate::diag::{Code, Diagnostic};
use crate::from_ast::Builder;
use crate::from_ast::builder::DOMAIN;
use crate::from_ast::value::{Array, Eval};
use crate::ir::op::Approximation;
use grammar::Span;
use plan::tensor::{ShapeError, broadcast_shapes, show};
use plan::{Function, TensorOp};

/// Shapes that do not broadcast.
pub const BROADCAST: Code = Code("E0510");
/// A division by zero.
pub const DIVISION: Code = Code("E0604");

impl Builder<'_> {
    /// The shape both operands broadcast to.
    pub(super) fn common_shape(&mut self, a: &Array, b: &Array, at: Span) -> Eval<Vec<usize>> {
        let (sa, sb) = (self.shape(a), self.shape(b));
        match broadcast_shapes(&sa, &sb) {
            Ok(shape) => match plan::tensor::size_of(&shape) {
                Ok(_) => Ok(shape),
                Err(error) => self.fail(BROADCAST, at, error.to_string(), "too large"),
            },
            Err(error) => {
                let message = format!("shapes {} and {} do not broadcast", show(&sa), show(&sb));
                let (left, right) = match error {
                    ShapeError::Broadcast { left, right, .. } => (left, right),
                    _ => (0, 0),
                };
                let label = self.label(at, format!("{left} against {right}"));
                let diagnostic = Diagnostic::error(BROADCAST, message, label)
                    .with_note(axis_table(&sa, &sb))
                    .with_help_if(broadcast_help(&sa, &sb));
                self.refuse(diagnostic)
            }
        }
    }

    fn element_wise(&mut self, op: TensorOp, a: &Array, b: &Array, at: Span) -> Eval<Array> {
        let shape = self.common_shape(a, b, at)?;
        let (a, b) = self.spread_both((a, b), (&shape, &shape), at)?;
        self.tensor(op, &[&a, &b], at)
    }

    pub(super) fn add(&mut self, a: &Array, b: &Array, at: Span) -> Eval<Array> {
        self.element_wise(TensorOp::Add, a, b, at)
    }

    pub(super) fn subtract(&mut self, a: &Array, b: &Array, at: Span) -> Eval<Array> {
        self.element_wise(TensorOp::Sub, a, b, at)
    }

    pub(super) fn negate(&mut self, x: &Array, at: Span) -> Eval<Array> {
        self.tensor(TensorOp::Neg, &[x], at)
    }

    pub(super) fn multiply(&mut self, a: &Array, b: &Array, at: Span) -> Eval<Array> {
        let shape = self.common_shape(a, b, at)?;
        match (a.uniform(), b.uniform(), a, b) {
            (None, Some(factor), Array::Node(_), _) => {
                let a = self.spread(a, &shape, at)?;
                self.scale(&a, factor, at)
            }
            (Some(factor), None, _, Array::Node(_)) => {
                let b = self.spread(b, &shape, at)?;
                self.scale(&b, factor, at)
            }
            _ => {
                let (a, b) = self.spread_both((a, b), (&shape, &shape), at)?;
                match (self.is_cipher(&a), self.is_cipher(&b)) {
                    (true, false) => self.scale_by(&a, &b, at),
                    (false, true) => self.scale_by(&b, &a, at),
                    _ => self.tensor(TensorOp::Mul, &[&a, &b], at),
                }
            }
        }
    }

    pub(super) fn divide(&mut self, a: &Array, b: &Array, at: Span) -> Eval<Array> {
        if let Some(divisor) = b.tensor() {
            if let Some(i) = divisor.data().iter().position(|&x| x == 0.0) {
                let place = if divisor.shape().is_empty() {
                    String::new()
                } else {
                    format!(" at index {}", show(&divisor.index_of(i)))
                };
                return self.fail(DIVISION, at, format!("division by 0{place}"), "the divisor is 0");
            }
            if a.tensor().is_some() {
                return self.element_wise(TensorOp::Div, a, b, at);
            }
            let reciprocal = divisor.map(|x| 1.0 / x);
            let reciprocal = self.finite(reciprocal, at)?;
            return self.multiply(a, &reciprocal, at);
        }
        let range = self.range(b);
        self.check_divisor(range, at)?;
        let inverse = self.function(Function::Inv, b, Approximation::default(), at)?;
        self.multiply(a, &inverse, at)
    }

    fn check_divisor(&mut self, range: Range, at: Span) -> Eval<()> {
        if range.is_unknown() || Function::Inv.defined_on(range.low, range.high) {
            return Ok(());
        }
        let message = format!("the divisor covers {range}, which contains 0");
        let label = self.label(at, format!("divisor in {range}"));
        let help = "if it stays away from 0, say so: `let d = .. in [low, high];`, or write `x * inv(d, on = [low, high])`";
        self.refuse(Diagnostic::error(DOMAIN, message, label).with_help(help))
    }

    /// `x` to an integer power. Exponents beyond u32 are cut into two powers.
    pub(super) fn power(&mut self, x: &Array, exponent: i64, at: Span) -> Eval<Array> {
        if exponent < 0 {
            if let Some(t) = x.tensor()
                && t.data().contains(&0.0)
            {
                let message = format!("0 to the power {exponent} divides by 0");
                return self.fail(DIVISION, at, message, "the base is 0");
            }
            let range = self.range(x);
            self.check_divisor(range, at)?;
            let positive = self.power(x, -exponent, at)?;
            return self.function(Function::Inv, &positive, Approximation::default(), at);
        }
        match exponent {
            1 => Ok(x.clone()),
            e => match u32::try_from(e) {
                Ok(exponent) => self.tensor(TensorOp::Pow { exponent }, &[x], at),
                Err(_) => {
                    const CUT: i64 = 1 << 31;
                    let high = self.power(x, CUT, at)?;
                    let high = self.power(&high, e / CUT, at)?;
                    if e % CUT == 0 {
                        return Ok(high);
                    }
                    let low = self.power(x, e % CUT, at)?;
                    self.multiply(&high, &low, at)
                }
            },
        }
    }
}

/// Both shapes under each other, with a mark where they differ.
fn axis_table(a: &[usize], b: &[usize]) -> String {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], i: usize| (i + s.len()).checked_sub(rank).map(|i| s[i]);
    let cells: Vec<(String, String, bool)> = (0..rank)
        .map(|i| {
            let (x, y) = (at(a, i), at(b, i));
            let text = |v: Option<usize>| v.map_or(String::new(), |v| v.to_string());
            let clash = matches!((x, y), (Some(x), Some(y)) if x != y && x != 1 && y != 1);
            (text(x), text(y), clash)
        })
        .collect();
    let row = |pick: &dyn Fn(&(String, String, bool)) -> String| -> String {
        let parts = cells.iter().map(|c| format!("{:>1$}", pick(c), c.0.len().max(c.1.len())));
        parts.collect::<Vec<_>>().join("  ")
    };
    let marks = row(&|c| if c.2 { "^".repeat(c.0.len().max(c.1.len())) } else { String::new() });
    format!(
        "axes are compared from the right, and must be equal or 1:\n  {}\n  {}\n  {}",
        row(&|c| c.0.clone()).trim_end(),
        row(&|c| c.1.clone()).trim_end(),
        marks.trim_end()
    )
}

/// What would make the shapes fit, if it is one step.
fn broadcast_help(a: &[usize], b: &[usize]) -> Option<String> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    if long.starts_with(short) && short.len() < long.len() {
        let mut shape = short.to_vec();
        shape.resize(long.len(), 1);
        let mut index = vec![":"; short.len()];
        index.resize(long.len(), "None");
        let (index, shape) = (index.join(", "), show(&shape));
        return Some(format!(
            "to go along the first axes, {} needs the shape {shape}: `v[{index}]`, or `reshape(v, {shape})`",
            show(short)
        ));
    }
    let mut turned = b.to_vec();
    if let [.., p, q] = turned.as_mut_slice() {
        std::mem::swap(p, q);
        if broadcast_shapes(a, &turned).is_ok() {
            return Some("the last two axes of one of them may want `transpose(x)`".to_string());
        }
    }
    None
}
