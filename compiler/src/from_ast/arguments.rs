//! Arguments of the language's functions: bound to parameters, then read as what each has to be.

use crate::analysis::interval::{Range, show_number};
use crate::diag::{Code, Diagnostic, nearest};
use crate::from_ast::Builder;
use crate::from_ast::builtins::Signature;
use crate::from_ast::expression::{INTEGER, KIND, NOT_CONSTANT, counted};
use crate::from_ast::value::{Array, Eval, Poisoned, Value};
use crate::ir::op::Approximation;
use grammar::Span;
use grammar::ast::{Arg, Expr, ExprKind, Name};
use plan::Tensor;
use plan::tensor::{show, size_of};

/// An argument the function does not have, or has already.
pub const UNKNOWN_ARGUMENT: Code = Code("E0701");
/// Too few or too many arguments.
pub const COUNT: Code = Code("E0702");
/// An argument outside its limits.
pub const LIMITS: Code = Code("E0703");

/// Largest degree of a polynomial that a program may ask for.
const MAX_DEGREE: usize = 4095;

/// One argument.
pub(super) struct Given<'a> {
    pub(super) value: Value,
    pub(super) expr: &'a Expr,
    pub(super) span: Span,
}

/// The arguments of a call by parameter.
pub(super) struct Arguments<'a> {
    /// the call
    pub(super) at: Span,
    /// the entries of the first argument, where it is a list
    pub(super) items: Vec<(Array, Span)>,
    given: Vec<(&'static str, Given<'a>)>,
}

impl<'a> Arguments<'a> {
    /// An argument, if it is given.
    pub(super) fn get(&self, parameter: &str) -> Option<&Given<'a>> {
        self.given.iter().find(|(name, _)| *name == parameter).map(|(_, given)| given)
    }
    /// An argument that was checked to be there.
    pub(super) fn need(&self, parameter: &str) -> Eval<&Given<'a>> {
        self.get(parameter).ok_or(Poisoned)
    }
}

impl<'a> Builder<'a> {
    /// Evaluates all arguments and binds them to parameters.
    pub(super) fn bind(
        &mut self,
        signature: Option<&'static Signature>,
        args: &'a [Arg],
        callee: &'a Name,
        at: Span,
    ) -> Eval<Arguments<'a>> {
        let Some(signature) = signature else {
            args.iter().for_each(|a| drop(self.expr(&a.value)));
            return Err(Poisoned);
        };
        let mut bound = Arguments { at, items: Vec::new(), given: Vec::new() };
        let (mut failed, mut in_order, mut seen) = (false, 0, Vec::new());
        for arg in args {
            let parameter = match &arg.name {
                None => {
                    in_order += 1;
                    signature.ordered.get(in_order - 1).copied()
                }
                Some(name) => {
                    let parameter = self.parameter(signature, name);
                    failed |= parameter.is_none();
                    parameter
                }
            };
            if let Some(parameter) = parameter {
                if seen.contains(&parameter) {
                    let message = format!("`{}` has two values for `{parameter}`", signature.name);
                    let _reported: Eval = self.fail(UNKNOWN_ARGUMENT, arg.span, message, "given again here");
                    failed = true;
                    continue;
                }
                seen.push(parameter);
            }
            failed |= self.bind_one(signature, &mut bound, arg, parameter).is_err();
        }
        if in_order > signature.ordered.len() {
            return self.too_many(signature, args, callee);
        }
        let missing = signature.ordered[..signature.required].iter().find(|p| !seen.contains(p));
        match missing {
            _ if failed => Err(Poisoned),
            None => Ok(bound),
            Some(missing) => {
                let message = format!("`{}` needs the argument `{missing}`", signature.name);
                let label = self.label(at, format!("expected {}", usage(signature)));
                self.refuse(Diagnostic::error(COUNT, message, label))
            }
        }
    }

    /// Evaluates an argument and keeps it under its parameter, if it has one.
    fn bind_one(
        &mut self,
        signature: &Signature,
        bound: &mut Arguments<'a>,
        arg: &'a Arg,
        parameter: Option<&'static str>,
    ) -> Eval<()> {
        if signature.list && parameter == signature.ordered.first().copied() {
            bound.items = self.items(&arg.value, signature.name)?;
            return Ok(());
        }
        let value = self.expr(&arg.value)?;
        if let Some(parameter) = parameter {
            bound.given.push((parameter, Given { value, expr: &arg.value, span: arg.value.span }));
        }
        Ok(())
    }

    /// The parameter of a name, or a message.
    fn parameter(&mut self, signature: &'static Signature, name: &Name) -> Option<&'static str> {
        let all = || signature.ordered.iter().chain(signature.named).copied();
        if let Some(found) = all().find(|p| *p == name.text) {
            return Some(found);
        }
        let meant = match name.text.as_str() {
            "dim" | "dims" | "axes" => "axis",
            "keepdim" | "keep_dims" => "keepdims",
            "kernel_size" => "kernel",
            "tol" | "tolerance" | "error" => "within",
            "interval" | "domain" | "range" => "on",
            "deg" | "order" => "degree",
            "weight" => "gamma",
            other => other,
        };
        let near = all().find(|p| *p == meant).or_else(|| nearest(&name.text, all()));
        let message = format!("`{}` has no argument `{}`", signature.name, name.text);
        let label = self.label(name.span, near.map_or("unknown".into(), |n| format!("did you mean `{n}`?")));
        let help = format!("it is called as {}", usage(signature));
        self.report(Diagnostic::error(UNKNOWN_ARGUMENT, message, label).with_help(help));
        None
    }

    fn too_many<T>(&mut self, signature: &'static Signature, args: &'a [Arg], callee: &Name) -> Eval<T> {
        let extra = args.iter().filter(|a| a.name.is_none()).nth(signature.ordered.len());
        let at = extra.map_or(callee.span, |a| a.span);
        let text = extra.map_or(String::new(), |a| self.text(&a.value));
        let name = signature.name;
        let (message, help) = match name {
            "max" | "min" => (
                format!("`{name}` takes one tensor; `{text}` needs a name"),
                format!(
                    "for the {name} along an axis write `{name}(x, axis = {text})`, element by element `{name}imum(x, {text})`"
                ),
            ),
            _ if signature.named.is_empty() => (
                format!("`{name}` takes {}", counted(signature.ordered.len(), "argument")),
                format!("it is called as {}", usage(signature)),
            ),
            _ => {
                let likely = if signature.named.contains(&"axis") { "axis" } else { signature.named[0] };
                let likely =
                    if signature.named.contains(&"within") && likely == "on" { "within" } else { likely };
                (
                    format!(
                        "`{name}` takes {} in order; further ones have names",
                        counted(signature.ordered.len(), "argument")
                    ),
                    format!("write for example `{likely} = {text}`: it is called as {}", usage(signature)),
                )
            }
        };
        let label = self.label(at, "which argument is this?");
        self.refuse(Diagnostic::error(COUNT, message, label).with_help(help))
    }

    // Kinds

    /// An argument that is a tensor.
    pub(super) fn arg_array(&mut self, args: &Arguments<'a>, parameter: &str) -> Eval<Array> {
        let given = args.need(parameter)?;
        self.as_array(given.value.clone(), given.span)
    }

    /// An argument that is a tensor, if it is given.
    pub(super) fn optional_array(&mut self, args: &Arguments<'a>, parameter: &str) -> Eval<Option<Array>> {
        args.get(parameter).map(|g| self.as_array(g.value.clone(), g.span)).transpose()
    }

    /// A tensor known at compile time.
    pub(super) fn constant_tensor(&mut self, given: &Given<'a>, what: &str) -> Eval<Tensor> {
        match &given.value {
            Value::Array(Array::Known(k)) => Ok(k.tensor.clone()),
            other => {
                let message = format!("{what} must be constants, not {}", self.describe(other));
                self.fail(NOT_CONSTANT, given.span, message, "not known at compile time")
            }
        }
    }

    /// An integer.
    pub(super) fn integer(&mut self, given: &Given<'a>, what: &str) -> Eval<i64> {
        let value = self.as_number(&given.value, given.span, what)?;
        let shown = self.number_text(given.expr, value);
        self.integer_of(value, &shown, given.span, what)
    }

    /// An integer of at least `least`.
    pub(super) fn arg_integer(&mut self, given: &Given<'a>, what: &str, least: usize) -> Eval<usize> {
        let n = self.integer(given, what)?;
        match usize::try_from(n) {
            Ok(n) if n >= least => Ok(n),
            _ => self.fail(
                LIMITS,
                given.span,
                format!("{what} is {n}, but must be {least} or more"),
                "out of range",
            ),
        }
    }

    /// One integer or a list of integers.
    pub(super) fn integers(&mut self, given: &Given<'a>, what: &str) -> Eval<Vec<i64>> {
        let tensor = self.constant_tensor(given, what)?;
        if tensor.shape().len() > 1 {
            let message =
                format!("expected a list of integers, found a tensor of shape {}", show(tensor.shape()));
            return self.fail(KIND, given.span, message, "not a list");
        }
        let written: Vec<&Expr> = match &given.expr.kind {
            ExprKind::List(entries) => entries.iter().collect(),
            _ => vec![],
        };
        let mut all = Vec::with_capacity(tensor.len());
        for (i, &value) in tensor.data().iter().enumerate() {
            let (shown, at) = match written.get(i) {
                Some(e) => (self.number_text(e, value), e.span),
                None => (self.number_text(given.expr, value), given.span),
            };
            all.push(self.integer_of(value, &shown, at, what)?);
        }
        Ok(all)
    }

    /// A shape.
    pub(super) fn arg_shape(&mut self, args: &Arguments<'a>, parameter: &str) -> Eval<Vec<usize>> {
        let given = args.need(parameter)?;
        let sizes = self.integers(given, "a size")?;
        let mut shape = Vec::with_capacity(sizes.len());
        for n in sizes {
            match usize::try_from(n) {
                Ok(n) if n > 0 => shape.push(n),
                _ => {
                    return self.fail(
                        LIMITS,
                        given.span,
                        format!("{n} is not a size: sizes are 1 or more"),
                        "",
                    );
                }
            }
        }
        self.check_rank(&shape, given.span)?;
        match size_of(&shape) {
            Ok(_) => Ok(shape),
            Err(error) => self.fail(LIMITS, given.span, error.to_string(), "too large"),
        }
    }

    /// `true` or `false`; false by default.
    pub(super) fn flag(&mut self, args: &Arguments<'a>, parameter: &str) -> Eval<bool> {
        match args.get(parameter) {
            None => Ok(false),
            Some(Given { value: Value::Bool(value), .. }) => Ok(*value),
            Some(given) => {
                let message = format!("`{parameter}` is true or false, not {}", self.describe(&given.value));
                self.fail(KIND, given.span, message, "")
            }
        }
    }

    /// The axes of a reduction, sorted; all of them by default.
    pub(super) fn axes(&mut self, args: &Arguments<'a>, shape: &[usize]) -> Eval<Vec<usize>> {
        let Some(given) = args.get("axis") else { return Ok((0..shape.len()).collect()) };
        let mut axes = Vec::new();
        for axis in self.integers(given, "axis")? {
            let axis = self.axis_of(axis, shape, given.span)?;
            if axes.contains(&axis) {
                return self.fail(LIMITS, given.span, format!("axis {axis} is named twice"), "");
            }
            axes.push(axis);
        }
        axes.sort_unstable();
        Ok(axes)
    }

    /// One integer for both directions, or [rows, columns].
    pub(super) fn pair(
        &mut self,
        args: &Arguments<'a>,
        parameter: &str,
        default: [usize; 2],
        least: usize,
    ) -> Eval<[usize; 2]> {
        let Some(given) = args.get(parameter) else { return Ok(default) };
        let numbers = self.integers(given, parameter)?;
        let numbers = match numbers.as_slice() {
            [one] => [*one, *one],
            [rows, columns] => [*rows, *columns],
            _ => {
                let message = format!("{parameter} is one integer or [rows, columns]");
                return self.fail(LIMITS, given.span, message, counted(numbers.len(), "number"));
            }
        };
        let mut pair = [0; 2];
        for (n, out) in numbers.into_iter().zip(&mut pair) {
            match usize::try_from(n) {
                Ok(n) if n >= least && n <= u32::MAX as usize => *out = n,
                _ => {
                    let message = format!("{parameter} is {n}, but must be {least} or more");
                    return self.fail(LIMITS, given.span, message, "out of range");
                }
            }
        }
        Ok(pair)
    }

    /// `[low, high]` of two constants in order.
    pub(super) fn interval(&mut self, args: &Arguments<'a>, parameter: &str) -> Eval<Option<(f64, f64)>> {
        let Some(given) = args.get(parameter) else { return Ok(None) };
        let known = match &given.value {
            Value::Array(Array::Known(k)) => Some(&k.tensor),
            _ => None,
        };
        match known.map(|t| (t.shape(), t.data())) {
            Some(([2], &[low, high])) if low < high => Ok(Some((low, high))),
            Some(([2], &[low, high])) => {
                let message = format!(
                    "`{parameter}` is empty: {} is not below {}",
                    show_number(low),
                    show_number(high)
                );
                self.fail(LIMITS, given.span, message, "write the smaller bound first")
            }
            _ => {
                let message = format!("`{parameter}` takes an interval [low, high] of two constants");
                let found = self.describe(&given.value);
                self.fail(KIND, given.span, message, format!("this is {found}"))
            }
        }
    }

    /// A number above zero.
    pub(super) fn positive(&mut self, args: &Arguments<'a>, parameter: &str) -> Eval<Option<f64>> {
        let Some(given) = args.get(parameter) else { return Ok(None) };
        let value = self.as_number(&given.value, given.span, parameter)?;
        if value > 0.0 {
            return Ok(Some(value));
        }
        let message = format!("`{parameter}` is {}, but must be above 0", show_number(value));
        self.fail(LIMITS, given.span, message, "not above 0")
    }

    fn degree(&mut self, args: &Arguments<'a>) -> Eval<Option<u32>> {
        let Some(given) = args.get("degree") else { return Ok(None) };
        let n = self.integer(given, "degree")?;
        if (1..=MAX_DEGREE as i64).contains(&n) {
            return Ok(Some(n as u32));
        }
        self.fail(LIMITS, given.span, format!("degree is {n}, but must be 1 to {MAX_DEGREE}"), "out of range")
    }

    /// What a call says about its approximation: `on`, `within`, `degree`, `gap`.
    pub(super) fn wish(&mut self, args: &Arguments<'a>) -> Eval<Approximation> {
        let (on, within) = (self.interval(args, "on"), self.positive(args, "within"));
        let (degree, gap) = (self.degree(args), self.positive(args, "gap"));
        let wish = Approximation { on: on?, within: within?, degree: degree?, gap: gap? };
        if let (Some((low, high)), Some(gap), Some(given)) = (wish.on, wish.gap, args.get("gap"))
            && gap >= Range::new(low, high).max_abs()
        {
            let message = format!("`gap` {} covers the whole interval of `on`", show_number(gap));
            return self.fail(INTEGER, given.span, message, "nothing is left outside the gap");
        }
        Ok(wish)
    }
}

/// `sigmoid(x, on =, within =, degree =)`
fn usage(signature: &Signature) -> String {
    let ordered = signature.ordered.iter().enumerate().map(|(i, p)| match i {
        0 if signature.list => "[a, b]".to_string(),
        i if i < signature.required => p.to_string(),
        _ => format!("{p}?"),
    });
    let named = signature.named.iter().map(|p| format!("{p} = .."));
    let all: Vec<String> = ordered.chain(named).collect();
    format!("`{}({})`", signature.name, all.join(", "))
}
