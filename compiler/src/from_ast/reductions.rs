//! Sums, means and variances, the largest and smallest, and the windows of convolution and pooling.

use crate::analysis::interval::Range;
use crate::diag::{Code, Diagnostic};
use crate::from_ast::Builder;
use crate::from_ast::arguments::{Arguments, Given};
use crate::from_ast::products::Sliding;
use crate::from_ast::value::{Array, Eval};
use crate::ir::op::Approximation;
use grammar::Span;
use plan::linear::LinearStep;
use plan::{Function, TensorOp};

/// A bias that does not fit its convolution.
pub const BIAS: Code = Code("E0524");

/// `shape` with the axes of a reduction set to 1.
fn kept(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|a| if axes.contains(&a) { 1 } else { shape[a] }).collect()
}

impl<'a> Builder<'a> {
    /// The steps that sum over axes and multiply by a factor.
    fn summed(&mut self, x: &Array, axes: &[usize], keep: bool, factor: f64, at: Span) -> Eval<Array> {
        let shape = self.shape(x);
        let mut steps = Vec::new();
        if !axes.is_empty() {
            steps.push(LinearStep::Sum { axes: axes.to_vec() });
            if keep {
                steps.push(LinearStep::Reshape { shape: kept(&shape, axes) });
            }
        }
        if factor != 1.0 {
            steps.push(LinearStep::ScaleBy { factor });
        }
        self.linear(x, steps, &[], at)
    }

    /// Sum over axes.
    pub(super) fn sum(&mut self, x: &Array, axes: &[usize], keep: bool, at: Span) -> Eval<Array> {
        self.summed(x, axes, keep, 1.0, at)
    }

    /// Mean over axes.
    pub(super) fn mean(&mut self, x: &Array, axes: &[usize], keep: bool, at: Span) -> Eval<Array> {
        let shape = self.shape(x);
        let count: usize = axes.iter().map(|&a| shape[a]).product();
        self.summed(x, axes, keep, 1.0 / count as f64, at)
    }

    /// `x` minus its mean over axes.
    pub(super) fn centred(&mut self, x: &Array, axes: &[usize], at: Span) -> Eval<Array> {
        let mean = self.mean(x, axes, true, at)?;
        self.subtract(x, &mean, at)
    }

    /// The mean of the squares over axes.
    pub(super) fn mean_square(&mut self, x: &Array, axes: &[usize], keep: bool, at: Span) -> Eval<Array> {
        let square = self.power(x, 2, at)?;
        self.mean(&square, axes, keep, at)
    }

    fn reduced(&mut self, args: &Arguments<'a>) -> Eval<(Array, Vec<usize>, bool)> {
        let x = self.arg_array(args, "x")?;
        let shape = self.shape(&x);
        let (axes, keep) = (self.axes(args, &shape), self.flag(args, "keepdims"));
        Ok((x, axes?, keep?))
    }

    pub(super) fn sum_call(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let (x, axes, keep) = self.reduced(args)?;
        self.sum(&x, &axes, keep, args.at)
    }

    pub(super) fn mean_call(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let (x, axes, keep) = self.reduced(args)?;
        self.mean(&x, &axes, keep, args.at)
    }

    pub(super) fn var_call(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let (x, axes, keep) = self.reduced(args)?;
        let centred = self.centred(&x, &axes, args.at)?;
        self.mean_square(&centred, &axes, keep, args.at)
    }

    // Largest and smallest

    /// The larger (or smaller) of two, `(a + b +- |a - b|) / 2`.
    fn extreme_of_two(
        &mut self,
        a: &Array,
        b: &Array,
        largest: bool,
        wish: Approximation,
        at: Span,
    ) -> Eval<Array> {
        let (ra, rb) = (self.range(a), self.range(b));
        let sum = self.add(a, b, at)?;
        let difference = self.subtract(a, b, at)?;
        let within = wish.within.map(|w| 2.0 * w);
        let distance = self.function(Function::Abs, &difference, Approximation { within, ..wish }, at)?;
        let op = if largest { TensorOp::Add } else { TensorOp::Sub };
        let twice = self.tensor(op, &[&sum, &distance], at)?;
        let result = self.scale(&twice, 0.5, at)?;
        let between = match largest {
            true => Range { low: ra.low.max(rb.low), high: ra.high.max(rb.high) },
            false => Range { low: ra.low.min(rb.low), high: ra.high.min(rb.high) },
        };
        let unknown = ra.is_unknown() || rb.is_unknown();
        self.fact(&result, if unknown { Range::UNKNOWN } else { between }, at)
    }

    pub(super) fn extreme_of_two_call(&mut self, args: &Arguments<'a>, largest: bool) -> Eval<Array> {
        let (a, b, wish) = (self.arg_array(args, "a"), self.arg_array(args, "b"), self.wish(args));
        let (a, b, wish) = (a?, b?, wish?);
        let result = self.extreme_of_two(&a, &b, largest, wish, args.at)?;
        self.remember_within(args, &result);
        Ok(result)
    }

    /// Largest or smallest along axes: both halves are compared until one entry is left; of an odd number, the middle
    /// one is in both halves.
    pub(super) fn extreme_call(&mut self, args: &Arguments<'a>, largest: bool) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let shape = self.shape(&x);
        let (axes, keep, wish) = (self.axes(args, &shape), self.flag(args, "keepdims"), self.wish(args));
        let (axes, keep, wish) = (axes?, keep?, wish?);
        let rounds: u32 = axes.iter().map(|&a| shape[a].next_power_of_two().ilog2()).sum();
        let wish = Approximation { within: wish.within.map(|w| w / f64::from(rounds.max(1))), ..wish };
        let mut best = x;
        for &axis in &axes {
            loop {
                let n = self.shape(&best)[axis];
                if n == 1 {
                    break;
                }
                let half = n.div_ceil(2);
                let front = self.part(&best, axis, 0, half, args.at)?;
                let back = self.part(&best, axis, n - half, half, args.at)?;
                best = self.extreme_of_two(&front, &back, largest, wish, args.at)?;
            }
        }
        self.remember_within(args, &best);
        if keep {
            return Ok(best);
        }
        let rest: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).map(|a| shape[a]).collect();
        self.reshape(&best, &rest, args.at)
    }

    fn part(&mut self, x: &Array, axis: usize, first: usize, length: usize, at: Span) -> Eval<Array> {
        let mut count = self.shape(x);
        let mut start = vec![0; count.len()];
        (start[axis], count[axis]) = (first, length);
        self.step(x, LinearStep::Slice { start, step: vec![1; count.len()], count }, at)
    }

    // Windows

    fn sliding(&mut self, args: &Arguments<'a>, stride: [usize; 2]) -> Eval<Sliding> {
        let strides = self.pair(args, "stride", stride, 1);
        let padding = self.pair(args, "padding", [0, 0], 0);
        let dilation = self.pair(args, "dilation", [1, 1], 1);
        let groups = match args.get("groups") {
            Some(given) => self.arg_integer(given, "groups", 1),
            None => Ok(1),
        };
        Ok(Sliding { stride: strides?, padding: padding?, dilation: dilation?, groups: groups? })
    }

    pub(super) fn conv2d(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let (x, w) = (self.arg_array(args, "x"), self.arg_array(args, "w"));
        let how = self.sliding(args, [1, 1]);
        let bias = self.optional_array(args, "bias");
        let (x, w, how, bias) = (x?, w?, how?, bias?);
        let result = self.convolve(&x, &w, &how, args.at)?;
        let Some(bias) = bias else { return Ok(result) };
        let (channels, shape) = (self.shape(&result)[1], self.shape(&bias));
        if shape != [channels] {
            let message = format!(
                "the bias must have shape [{channels}], one value per channel, found {}",
                self.show(&bias)
            );
            let at = args.get("bias").map_or(args.at, |g: &Given| g.span);
            let label = self.label(at, format!("shape {}", self.show(&bias)));
            return self.refuse(Diagnostic::error(BIAS, message, label));
        }
        let bias = self.reshape(&bias, &[1, channels, 1, 1], args.at)?;
        self.add(&result, &bias, args.at)
    }

    pub(super) fn avg_pool2d(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let shape = self.need_rank(&x, 4, "the image of avg_pool2d", args.at)?;
        if args.get("kernel").is_none() {
            let message = "`avg_pool2d` needs the size of its windows";
            let label = self.label(args.at, "which size?");
            let diagnostic = Diagnostic::error(super::arguments::COUNT, message, label);
            return self.refuse(diagnostic.with_help("write `kernel = 2` or `kernel = [rows, columns]`"));
        }
        let kernel = self.pair(args, "kernel", [1, 1], 1)?;
        let how = self.sliding(args, kernel)?;
        self.windows(&shape, kernel, &how, args.at)?;
        self.step(&x, LinearStep::AvgPool2d { kernel, stride: how.stride, padding: how.padding }, args.at)
    }
}
