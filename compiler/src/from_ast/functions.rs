//! Functions that encrypted evaluation approximates, and what is made of them: softmax, norms, clip, polynomials.
//!
//! Their meaning stays exact. A `within` of a composite function is shared out to its parts so that their errors, as
//! they reach the result, add up to no more.

use crate::analysis::degree::least_error;
use crate::analysis::interval::{Range, show_number};
use crate::diag::{Code, Diagnostic};
use crate::from_ast::Builder;
use crate::from_ast::arguments::{Arguments, Given, LIMITS};
use crate::from_ast::builder::Within;
use crate::from_ast::products::RANK;
use crate::from_ast::shaping::SHAPE;
use crate::from_ast::value::{Array, Eval};
use crate::ir::Op;
use crate::ir::op::Approximation;
use grammar::Span;
use plan::tensor::show;
use plan::{Function, TensorOp};

/// `degree` and `within` contradict each other.
pub const DEGREE: Code = Code("E0605");

/// Default of `eps` in the norms.
const EPS: f64 = 1e-5;

impl<'a> Builder<'a> {
    /// A function of one argument.
    pub(super) fn approximated(&mut self, function: Function, args: &Arguments<'a>) -> Eval<Array> {
        let (x, wish) = (self.arg_array(args, "x"), self.wish(args));
        let (x, wish) = (x?, wish?);
        self.check_degree(function, &x, wish, args)?;
        let result = self.function(function, &x, wish, args.at)?;
        self.remember_within(args, &result);
        Ok(result)
    }

    /// Refuses a degree that no polynomial can meet the error with.
    fn check_degree(
        &mut self,
        f: Function,
        x: &Array,
        wish: Approximation,
        args: &Arguments<'a>,
    ) -> Eval<()> {
        let (Some(within), Some(degree), None) = (wish.within, wish.degree, x.tensor()) else {
            return Ok(());
        };
        let range = wish.on.map_or(self.range(x), |(low, high)| Range::new(low, high));
        if range.is_unknown() || wish.gap.is_some() || !f.defined_on(range.low, range.high) {
            return Ok(());
        }
        let least = least_error(|x| f.eval(x), range, degree as usize);
        if least <= within {
            return Ok(());
        }
        let message = format!(
            "no polynomial of degree {degree} approximates {} on {range} within {}: the error is {} at least",
            f.name(),
            show_number(within),
            show_number(least)
        );
        let at = args.get("degree").map_or(args.at, |g: &Given| g.span);
        let label = self.label(at, "degree too low");
        let diagnostic = Diagnostic::error(DEGREE, message, label);
        let help = "leave out `degree`, and the compiler takes the one it needs; or allow more with `within`";
        self.refuse(diagnostic.with_help(help))
    }

    /// Keeps a `within` for the comparison with the precision of the outputs.
    pub(super) fn remember_within(&mut self, args: &Arguments<'a>, result: &Array) {
        if let (Some(given), Array::Node(node)) = (args.get("within"), result)
            && let Ok(value) = self.as_number(&given.value, given.span, "within")
        {
            let label = self.label(given.span, "");
            self.withins.push(Within { label, value, node: *node });
        }
    }

    pub(super) fn clip(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let (low, high) = (args.need("low")?, args.need("high")?);
        let (low, high) = (
            self.as_number(&low.value, low.span, "the lower bound of clip"),
            self.as_number(&high.value, high.span, "the upper bound of clip"),
        );
        let (low, high) = (low?, high?);
        if low >= high {
            let message =
                format!("clip to [{}, {}]: the bounds are not in order", show_number(low), show_number(high));
            return self.fail(LIMITS, args.at, message, "write the smaller bound first");
        }
        self.approximated(Function::Clip { low, high }, args)
    }

    fn coefficients(&mut self, args: &Arguments<'a>) -> Eval<Vec<f64>> {
        let given = args.need("coefficients")?;
        let tensor = self.constant_tensor(given, "coefficients")?;
        if tensor.shape().len() == 1 {
            return Ok(tensor.into_data());
        }
        let message =
            format!("coefficients are a list of constants, found a tensor of shape {}", show(tensor.shape()));
        self.fail(RANK, given.span, message, "one number per degree, from degree 0")
    }

    pub(super) fn poly(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let (x, coefficients) = (self.arg_array(args, "x"), self.coefficients(args));
        let (x, coefficients) = (x?, coefficients?);
        self.tensor(TensorOp::Polynomial { coefficients }, &[&x], args.at)
    }

    pub(super) fn cheb(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let (x, coefficients, on) =
            (self.arg_array(args, "x"), self.coefficients(args), self.interval(args, "on"));
        let (x, coefficients, on) = (x?, coefficients?, on?);
        let (low, high) = on.unwrap_or((-1.0, 1.0));
        let x = match x {
            Array::Node(id) if on.is_some() && !Range::new(low, high).covers(self.ranges[id]) => {
                let name = "the argument of cheb".to_string();
                Array::Node(self.node(Op::Assume { name, low, high }, &[id], args.at)?)
            }
            x => x,
        };
        self.tensor(TensorOp::Chebyshev { coefficients, low, high }, &[&x], args.at)
    }

    /// `exp(x) / sum(exp(x))`. A constant is taken from x first, so that exp is near 1 in the middle of its interval.
    ///
    /// With n entries, e = exp(x) in [e0, e1] and s = sum(e) >= n e0, errors d of exp and f of inv reach the result as
    /// at most d (1 + n) / (n e0) + e1 f.
    pub(super) fn softmax(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let (x, wish) = (self.arg_array(args, "x"), self.wish(args));
        let (x, wish) = (x?, wish?);
        let (shape, at) = (self.shape(&x), args.at);
        let axis = match args.get("axis") {
            Some(given) => {
                let axis = self.integer(given, "axis")?;
                self.axis_of(axis, &shape, given.span)?
            }
            None => self.axis_of(-1, &shape, at)?,
        };
        let scores = wish.on.map_or(self.range(&x), |(low, high)| Range::new(low, high));
        let middle = scores.low / 2.0 + scores.high / 2.0;
        let middle = if middle.is_finite() && x.tensor().is_none() { middle } else { 0.0 };
        let x = if middle == 0.0 { x } else { self.subtract(&x, &Array::number(middle), at)? };
        let (e0, e1) = (Function::Exp.eval(scores.low - middle), Function::Exp.eval(scores.high - middle));
        let n = shape[axis] as f64;
        let half = wish.within.map(|w| w / 2.0);
        let on = wish.on.map(|(low, high)| (low - middle, high - middle));
        let exp_wish =
            Approximation { on, within: half.map(|h| h * n * e0 / (1.0 + n)), ..Default::default() };
        let inv_wish = Approximation { within: half.map(|h| h / e1), ..Default::default() };
        let powers = self.function(Function::Exp, &x, exp_wish, at)?;
        let sum = self.sum(&powers, &[axis], true, at)?;
        let inverse = self.function(Function::Inv, &sum, inv_wish, at)?;
        let result = self.multiply(&powers, &inverse, at)?;
        let result = self.fact(&result, Range::new(0.0, 1.0), at)?;
        self.remember_within(args, &result);
        Ok(result)
    }

    // Norms

    fn eps(&mut self, args: &Arguments<'a>) -> Eval<f64> {
        match args.get("eps") {
            None => Ok(EPS),
            Some(given) => {
                let eps = self.as_number(&given.value, given.span, "eps")?;
                if eps >= 0.0 {
                    return Ok(eps);
                }
                let message = format!("`eps` is {}, but must be 0 or more", show_number(eps));
                self.fail(LIMITS, given.span, message, "negative")
            }
        }
    }

    /// A parameter of a norm, one value per entry of an axis, shaped to spread along the others.
    fn parameter_of(
        &mut self,
        args: &Arguments<'a>,
        name: &str,
        x: &[usize],
        axis: usize,
    ) -> Eval<Option<Array>> {
        let Some(p) = self.optional_array(args, name)? else { return Ok(None) };
        let shape = self.shape(&p);
        if shape != [x[axis]] && !shape.is_empty() {
            let at = args.get(name).map_or(args.at, |g: &Given| g.span);
            let message = format!(
                "`{name}` must have shape [{}], one value per entry of axis {axis} of {}, found {}",
                x[axis],
                show(x),
                show(&shape)
            );
            return self.fail(SHAPE, at, message, format!("shape {}", show(&shape)));
        }
        let mut spread = vec![1; if shape.is_empty() { 0 } else { x.len() - axis }];
        if let Some(first) = spread.first_mut() {
            *first = x[axis];
        }
        self.reshape(&p, &spread, args.at).map(Some)
    }

    /// `rsqrt(v + eps)` with the interval of `v` stated or analysed.
    fn inverse_root(
        &mut self,
        v: &Array,
        eps: f64,
        stated: Option<(f64, f64)>,
        within: Option<f64>,
        at: Span,
    ) -> Eval<Array> {
        let shifted = self.add(v, &Array::number(eps), at)?;
        let on = stated.map(|(low, high)| (low + eps, high + eps));
        self.function(Function::Rsqrt, &shifted, Approximation { on, within, ..Default::default() }, at)
    }

    /// `(x - mean) rsqrt(var + eps) gamma + beta` on axis 1; known parameters become one scale and one shift.
    pub(super) fn batch_norm(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let (shape, at) = (self.shape(&x), args.at);
        if shape.len() < 2 {
            let message =
                format!("batch_norm normalises axis 1, and {} has rank {}", show(&shape), shape.len());
            return self.fail(RANK, at, message, "rank 2 or more is needed");
        }
        if let Some(missing) = ["mean", "var"].into_iter().find(|p| args.get(p).is_none()) {
            let message = format!("`batch_norm` needs the argument `{missing}`");
            let label = self.label(at, "statistics of the training data");
            let diagnostic = Diagnostic::error(super::arguments::COUNT, message, label);
            return self.refuse(
                diagnostic.with_help("write `batch_norm(x, gamma = g, beta = b, mean = m, var = v)`"),
            );
        }
        let names = ["gamma", "beta", "mean", "var"];
        let [gamma, beta, mean, var] = names.map(|n| self.parameter_of(args, n, &shape, 1));
        let (eps, within) = (self.eps(args), self.positive(args, "within"));
        let (Some(mean), Some(var)) = (mean?, var?) else { return Err(super::value::Poisoned) };
        let (gamma, beta, eps, within) = (gamma?, beta?, eps?, within?);
        let reach = match &gamma {
            Some(g) => self.range(g).max_abs(),
            None => 1.0,
        };
        let centred = self.range(&x).minus(self.range(&mean)).max_abs();
        let within = within.map(|w| w / (reach * centred).max(f64::MIN_POSITIVE));
        let mut scale = self.inverse_root(&var, eps, None, within, at)?;
        if let Some(gamma) = gamma {
            scale = self.multiply(&scale, &gamma, at)?;
        }
        let shifted = self.multiply(&mean, &scale, at)?;
        let shift = match beta {
            Some(beta) => self.subtract(&beta, &shifted, at)?,
            None => self.negate(&shifted, at)?,
        };
        let scaled = self.multiply(&x, &scale, at)?;
        let result = self.add(&scaled, &shift, at)?;
        self.remember_within(args, &result);
        Ok(result)
    }

    pub(super) fn layer_norm(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let last = self.last_axis(&x, args)?;
        let centred = self.centred(&x, &[last], args.at)?;
        self.norm(&centred, last, 1.0, args)
    }

    pub(super) fn rms_norm(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let x = self.arg_array(args, "x")?;
        let last = self.last_axis(&x, args)?;
        self.norm(&x, last, 0.0, args)
    }

    fn last_axis(&mut self, x: &Array, args: &Arguments<'a>) -> Eval<usize> {
        let shape = self.shape(x);
        self.axis_of(-1, &shape, args.at)
    }

    /// `x rsqrt(mean(x^2) + eps) gamma + beta` over the last axis. No entry of n exceeds sqrt(n - constraints) times the
    /// root of the mean square, where a sum of zero is one constraint.
    fn norm(&mut self, x: &Array, last: usize, constraints: f64, args: &Arguments<'a>) -> Eval<Array> {
        let (shape, at) = (self.shape(x), args.at);
        let (gamma, beta) =
            (self.parameter_of(args, "gamma", &shape, last), self.parameter_of(args, "beta", &shape, last));
        let (eps, stated, within) =
            (self.eps(args), self.interval(args, "var_on"), self.positive(args, "within"));
        let (gamma, beta, eps, stated, within) = (gamma?, beta?, eps?, stated?, within?);
        let n = shape[last] as f64;
        let reach = match &gamma {
            Some(g) => self.range(g).max_abs(),
            None => 1.0,
        };
        let largest =
            self.range(x).max_abs().min(stated.map_or(f64::MAX, |(_, high)| (n * high.max(0.0)).sqrt()));
        let within = within.map(|w| w / (reach * largest).max(f64::MIN_POSITIVE));
        let square = self.mean_square(x, &[last], true, at)?;
        let root = self.inverse_root(&square, eps, stated, within, at)?;
        let mut result = self.multiply(x, &root, at)?;
        let bound = (n - constraints).max(0.0).sqrt();
        result = self.fact(&result, Range::new(-bound, bound), at)?;
        if let Some(gamma) = gamma {
            result = self.multiply(&result, &gamma, at)?;
        }
        if let Some(beta) = beta {
            result = self.add(&result, &beta, at)?;
        }
        self.remember_within(args, &result);
        Ok(result)
    }
}
