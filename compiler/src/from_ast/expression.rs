//! Expressions: names, operators, calls of the program's own functions, lists and comprehensions.

use crate::diag::{Code, Diagnostic};
use crate::from_ast::Builder;
use crate::from_ast::builder::{Call, MAX_DEPTH};
use crate::from_ast::scope::Function;
use crate::from_ast::value::{Array, Eval, Poisoned, Value};
use grammar::Span;
use grammar::ast::*;
use plan::tensor::show;

/// A value of the wrong kind.
pub const KIND: Code = Code("E0501");
/// A value that has to be known at compile time is not.
pub const NOT_CONSTANT: Code = Code("E0502");
/// A number that has to be an integer is not, or leaves its range.
pub const INTEGER: Code = Code("E0503");
/// A call of the program's own function with other arguments than it has parameters.
pub const ARGUMENTS: Code = Code("E0504");
/// Entries of a list that do not fit each other.
pub const LIST: Code = Code("E0505");

impl<'a> Builder<'a> {
    /// The value of an expression.
    pub(super) fn expr(&mut self, e: &'a Expr) -> Eval {
        self.tick(e.span)?;
        if self.depth >= MAX_DEPTH {
            return self.stop(
                e.span,
                format!("expressions nest deeper than {MAX_DEPTH} through calls of functions"),
            );
        }
        self.depth += 1;
        let value = self.kind(e);
        self.depth -= 1;
        value
    }

    fn kind(&mut self, e: &'a Expr) -> Eval {
        match &e.kind {
            ExprKind::Number { value, .. } => Ok(Value::Array(Array::number(*value))),
            ExprKind::Str(text) => Ok(Value::Text(text.clone())),
            ExprKind::Bool(value) => Ok(Value::Bool(*value)),
            ExprKind::Name(name) => self.lookup(name),
            ExprKind::Neg(x) => {
                let x = self.array(x)?;
                self.negate(&x, e.span).map(Value::Array)
            }
            ExprKind::Chain { first, rest } => self.chain(first, rest),
            ExprKind::Pow { base, exponent, .. } => self.power_of(base, exponent, e.span).map(Value::Array),
            ExprKind::Call { callee, args } => self.call(callee, args, e.span),
            ExprKind::Index { base, items } => {
                let x = self.array(base);
                self.index(x, items, e.span).map(Value::Array)
            }
            ExprKind::List(entries) => {
                let entries = self.entries(entries)?;
                self.list(&entries, e.span).map(Value::Array)
            }
            ExprKind::Comprehension { body, var, lo, hi } => {
                let entries = self.comprehension(body, var, lo, hi, e.span)?;
                self.list(&entries, e.span).map(Value::Array)
            }
            ExprKind::Tuple(entries) => {
                let values: Vec<Eval> = entries.iter().map(|x| self.expr(x)).collect();
                values.into_iter().collect::<Eval<Vec<Value>>>().map(Value::Tuple)
            }
            ExprKind::Error => Err(Poisoned),
        }
    }

    fn chain(&mut self, first: &'a Expr, rest: &'a [Link]) -> Eval {
        let mut left = self.array(first);
        for link in rest {
            let right = self.array(&link.value);
            let at = first.span.to(link.value.span);
            left = match (left, right) {
                (Ok(a), Ok(b)) => match link.op {
                    BinaryOp::Add => self.add(&a, &b, at),
                    BinaryOp::Sub => self.subtract(&a, &b, at),
                    BinaryOp::Mul => self.multiply(&a, &b, at),
                    BinaryOp::Div => self.divide(&a, &b, at),
                    BinaryOp::MatMul => self.matmul(&a, &b, at),
                },
                _ => Err(Poisoned),
            };
        }
        left.map(Value::Array)
    }

    fn power_of(&mut self, base: &'a Expr, exponent: &'a Expr, at: Span) -> Eval<Array> {
        let (x, e) = (self.array(base), self.array(exponent));
        let (x, e) = (x?, e?);
        let value = match e.tensor() {
            Some(t) if t.shape().is_empty() => t.data()[0],
            _ => {
                let what = self.describe(&Value::Array(e));
                let message = format!("an exponent must be a constant integer, not {what}");
                return self.fail(NOT_CONSTANT, exponent.span, message, "");
            }
        };
        if value.fract() != 0.0 || value.abs() > i64::MAX as f64 {
            let shown = self.number_text(exponent, value);
            let message = format!("an exponent must be an integer, not {shown}");
            let label = self.label(exponent.span, "not an integer");
            let diagnostic = Diagnostic::error(INTEGER, message, label);
            let help = match value {
                0.5 => Some("the square root is `sqrt(x)`"),
                -0.5 => Some("the inverse square root is `rsqrt(x)`"),
                _ => Some("other powers of positive values: `exp(p * log(x))`"),
            };
            return self.refuse(diagnostic.with_help_if(help.map(str::to_string)));
        }
        self.power(&x, value as i64, at)
    }

    /// The number behind an expression as the program writes it, or its value.
    pub(super) fn number_text(&self, e: &Expr, value: f64) -> String {
        match &e.kind {
            ExprKind::Number { text, .. } => text.clone(),
            _ => crate::analysis::interval::show_number(value),
        }
    }

    // Conversions

    /// The value of an expression that must be a tensor.
    pub(super) fn array(&mut self, e: &'a Expr) -> Eval<Array> {
        let value = self.expr(e)?;
        self.as_array(value, e.span)
    }

    pub(super) fn as_array(&mut self, value: Value, at: Span) -> Eval<Array> {
        match value {
            Value::Array(x) => Ok(x),
            Value::Tuple(_) => {
                let message = "a tuple is not a tensor";
                let label = self.label(at, "a tuple");
                let help = "take it apart with `let (a, b) = ..;`, or write a list `[a, b]` for a stack";
                self.refuse(Diagnostic::error(KIND, message, label).with_help(help))
            }
            other => {
                let message = format!("expected a tensor or a number, found {}", other.kind());
                self.fail(KIND, at, message, "not a tensor")
            }
        }
    }

    /// A number known at compile time; `what` says what for.
    pub(super) fn constant_number(&mut self, e: &'a Expr, what: &str) -> Eval<f64> {
        let value = self.expr(e)?;
        self.as_number(&value, e.span, what)
    }

    pub(super) fn as_number(&mut self, value: &Value, at: Span, what: &str) -> Eval<f64> {
        match value {
            Value::Array(Array::Known(k)) if k.tensor.shape().is_empty() => Ok(k.tensor.data()[0]),
            Value::Array(x @ Array::Node(_)) => {
                let message = format!("{what} must be a constant, not a tensor that is {}", self.secrecy(x));
                self.fail(NOT_CONSTANT, at, message, "not known at compile time")
            }
            other => {
                let message = format!("{what} must be a number, not {}", self.describe(other));
                self.fail(KIND, at, message, "not a number")
            }
        }
    }

    fn secrecy(&self, x: &Array) -> &'static str {
        if self.is_cipher(x) { "encrypted" } else { "known only at run time" }
    }

    /// An integer known at compile time, within +-2^53.
    pub(super) fn constant_integer(&mut self, e: &'a Expr, what: &str) -> Eval<i64> {
        let value = self.constant_number(e, what)?;
        let shown = self.number_text(e, value);
        self.integer_of(value, &shown, e.span, what)
    }

    pub(super) fn integer_of(&mut self, value: f64, shown: &str, at: Span, what: &str) -> Eval<i64> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.fract() != 0.0 {
            return self.fail(
                INTEGER,
                at,
                format!("{what} must be an integer, not {shown}"),
                "not an integer",
            );
        }
        if value.abs() > EXACT {
            return self.fail(INTEGER, at, format!("{what} {shown} is beyond 2^53"), "too large");
        }
        Ok(value as i64)
    }

    // Lists

    fn entries(&mut self, entries: &'a [Expr]) -> Eval<Vec<(Array, Span)>> {
        let arrays: Vec<Eval<(Array, Span)>> =
            entries.iter().map(|x| self.array(x).map(|a| (a, x.span))).collect();
        arrays.into_iter().collect()
    }

    /// The entries of a list in brackets, or of a comprehension, of any shapes.
    pub(super) fn items(&mut self, e: &'a Expr, what: &str) -> Eval<Vec<(Array, Span)>> {
        match &e.kind {
            ExprKind::List(entries) => self.entries(entries),
            ExprKind::Comprehension { body, var, lo, hi } => self.comprehension(body, var, lo, hi, e.span),
            _ => {
                let value = self.expr(e)?;
                let found = self.describe(&value);
                let message = format!("{what} takes a list of tensors in brackets, found {found}");
                let label = self.label(e.span, "not a list");
                let help = format!("write `{what}([a, b], axis = 0)`");
                self.refuse(Diagnostic::error(KIND, message, label).with_help(help))
            }
        }
    }

    fn comprehension(
        &mut self,
        body: &'a Expr,
        var: &'a Name,
        lo: &'a Expr,
        hi: &'a Expr,
        at: Span,
    ) -> Eval<Vec<(Array, Span)>> {
        let (lo, hi) = self.bounds(lo, hi)?;
        if lo >= hi {
            let message = format!("an empty list: {lo}..{hi} has no steps");
            return self.fail(LIST, at, message, "tensors have at least one element");
        }
        let mut entries = Vec::new();
        for i in lo..hi {
            let entry = self.block(|b| {
                b.define(&var.text, var.span.start, Ok(Value::Array(Array::number(i as f64))));
                b.array(body)
            })?;
            entries.push((entry, body.span));
        }
        Ok(entries)
    }

    /// The bounds of a range of steps.
    pub(super) fn bounds(&mut self, lo: &'a Expr, hi: &'a Expr) -> Eval<(i64, i64)> {
        let lo = self.constant_integer(lo, "a bound of a range");
        let hi = self.constant_integer(hi, "a bound of a range");
        Ok((lo?, hi?))
    }

    fn list(&mut self, entries: &[(Array, Span)], at: Span) -> Eval<Array> {
        let Some((first, first_at)) = entries.first() else {
            return self.fail(LIST, at, "an empty list", "tensors have at least one element");
        };
        let shape = self.shape(first);
        for (entry, entry_at) in entries {
            let other = self.shape(entry);
            if other != shape {
                let message = format!(
                    "the entries of a list must have one shape, found {} and {}",
                    show(&shape),
                    show(&other)
                );
                let label = self.label(*entry_at, format!("shape {}", show(&other)));
                let first = self.label(*first_at, format!("shape {}", show(&shape)));
                return self.refuse(Diagnostic::error(LIST, message, label).with_label(first));
            }
        }
        let parts: Vec<Array> = entries.iter().map(|e| e.0.clone()).collect();
        self.stack(&parts, 0, at)
    }

    // Calls

    fn call(&mut self, callee: &'a Name, args: &'a [Arg], at: Span) -> Eval {
        match self.find_function(&callee.text) {
            Some(Some(function)) => self.inline(function, callee, args, at),
            Some(None) => {
                args.iter().for_each(|a| drop(self.expr(&a.value)));
                Err(Poisoned)
            }
            None => self.builtin(callee, args, at),
        }
    }

    fn inline(&mut self, function: Function<'a>, callee: &'a Name, args: &'a [Arg], at: Span) -> Eval {
        let def = function.def;
        let values: Vec<Eval> = args.iter().map(|a| self.expr(&a.value)).collect();
        if let Some(named) = args.iter().find_map(|a| a.name.as_ref()) {
            let message = format!("`{}` takes its arguments in order, without names", callee.text);
            let label = self.label(named.span, "named argument");
            let help = format!("write {}", signature(def));
            return self.refuse(Diagnostic::error(ARGUMENTS, message, label).with_help(help));
        }
        if args.len() != def.params.len() {
            let message = format!(
                "`{}` takes {}, {} given",
                callee.text,
                counted(def.params.len(), "argument"),
                args.len()
            );
            let label = self.label(at, format!("expected {}", signature(def)));
            let defined = crate::diag::Label::new(function.file, def.name.span, "defined here");
            return self.refuse(Diagnostic::error(ARGUMENTS, message, label).with_label(defined));
        }
        if self.calls.iter().any(|c| std::ptr::eq(c.def, def)) {
            return Err(Poisoned); // recursion, reported when names were resolved
        }
        self.calls.push(Call { def, file: self.file, span: at });
        let (file, defining) = (std::mem::replace(&mut self.file, function.file), self.defining.take());
        let value = self.scoped(Some(function.scope), Some(def.span.start), |b| {
            for (param, value) in def.params.iter().zip(values) {
                b.define(&param.text, param.span.start, value);
            }
            b.block(|b| {
                b.statements(&def.body);
                b.expr(&def.result)
            })
        });
        (self.file, self.defining) = (file, defining);
        self.calls.pop();
        value
    }
}

fn signature(def: &FnDef) -> String {
    let params: Vec<&str> = def.params.iter().map(|p| p.text.as_str()).collect();
    format!("`{}({})`", def.name.text, params.join(", "))
}

/// `1 argument`, `2 arguments`
pub(super) fn counted(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}
