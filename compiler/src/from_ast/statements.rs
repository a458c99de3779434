//! Statements: inputs, constants, bindings, assignments, loops, outputs.

use crate::analysis::interval::{Range, show_number};
use crate::diag::{Code, Diagnostic};
use crate::from_ast::Builder;
use crate::from_ast::arguments::Arguments;
use crate::from_ast::expression::{INTEGER, KIND, NOT_CONSTANT};
use crate::from_ast::value::{Array, Eval, Poisoned, Value};
use crate::ir::{InputDecl, Op, OutputDecl};
use crate::source::load_failure;
use grammar::Span;
use grammar::ast::*;
use plan::Tensor;
use plan::tensor::{MAX_RANK, MAX_SIZE, show, size_of};

/// A range that is missing, empty or not constant.
pub const RANGE: Code = Code("E0401");
/// A type that no tensor can have, or that a constant does not have.
pub const TYPE: Code = Code("E0402");
/// An element type that is reserved.
pub const ELEMENT_TYPE: Code = Code("E0410");
/// An assignment that changes the shape.
pub const ASSIGNED_SHAPE: Code = Code("E0404");
/// A pattern that does not fit its value.
pub const PATTERN: Code = Code("E0405");
/// A precision that is not a positive constant.
pub const PRECISION: Code = Code("E0406");
/// A tensor that cannot be loaded.
pub const LOAD: Code = Code("E0407");
/// An output with nothing encrypted.
pub const CLEAR_OUTPUT: Code = Code("W0401");

/// Largest absolute error of an output that asks for nothing.
pub const DEFAULT_PRECISION: f64 = 1e-3;

impl<'a> Builder<'a> {
    /// The statements of a block, whose functions are known in all of it.
    pub(super) fn statements(&mut self, body: &'a [Stmt]) {
        self.hoist(body.iter().filter_map(|s| if let Stmt::Fn(def) = s { Some(def) } else { None }));
        for statement in body {
            if self.stopped {
                return;
            }
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Input(input) if self.at_top() => self.input(input),
            Stmt::Input(input) => {
                input.names.iter().for_each(|n| self.define(&n.text, n.span.start, Err(Poisoned)))
            }
            Stmt::Const(c) => self.constant(c),
            Stmt::Let(l) => self.binding(l),
            Stmt::Assign(a) => self.assignment(a),
            Stmt::Fn(_) => {}
            Stmt::For(f) => self.repeat(f),
            Stmt::Output(o) => self.output(o),
            Stmt::Error(broken) => self.broken(broken),
        }
    }

    /// Whether the present scope is that of the model.
    fn at_top(&self) -> bool {
        self.model == Some(self.scope)
    }

    /// The names that a statement would have defined are unknown values.
    pub(super) fn broken(&mut self, broken: &Broken) {
        for name in &broken.defines {
            self.define(&name.text, name.span.start, Err(Poisoned));
            self.scopes[self.scope.0].functions.entry(name.text.clone()).or_insert(None);
        }
    }

    // Inputs and types

    fn input(&mut self, input: &'a Input) {
        let shape = self.type_shape(&input.ty);
        let range = match &input.range {
            Some(interval) => self.interval_of(interval, true),
            None => self.missing_range(input),
        };
        for name in &input.names {
            let again = self.scopes[self.scope.0].values.contains_key(&name.text);
            let value = match (&shape, again) {
                (Ok(shape), false) => self.input_node(input, name, shape, range.unwrap_or(Range::UNKNOWN)),
                _ => Err(Poisoned),
            };
            self.define(&name.text, name.span.start, value);
        }
    }

    fn input_node(&mut self, input: &Input, name: &Name, shape: &[usize], range: Range) -> Eval {
        let secrecy = match input.secrecy {
            Secrecy::Cipher => plan::Secrecy::Cipher,
            Secrecy::Plain => plan::Secrecy::Plain,
        };
        let (low, high) = (range.low, range.high);
        let span = Some(name.span);
        self.graph.inputs.push(InputDecl {
            name: name.text.clone(),
            secrecy,
            shape: shape.to_vec(),
            low,
            high,
            span,
        });
        let node = self.node(Op::Input(self.graph.inputs.len() - 1), &[], name.span)?;
        Ok(Value::Array(Array::Node(node)))
    }

    fn missing_range(&mut self, input: &Input) -> Eval<Range> {
        let names: Vec<String> = input.names.iter().map(|n| format!("`{}`", n.text)).collect();
        let message = format!("the input {} has no range", names.join(", "));
        let label = self.label(input.ty.span.after(), "a range belongs here");
        let help = "write `in [low, high]` behind the type: all sizes and scales follow from it";
        self.refuse(Diagnostic::error(RANGE, message, label).with_help(help))
    }

    fn type_shape(&mut self, ty: &'a Type) -> Eval<Vec<usize>> {
        let sizes: Vec<Eval<i64>> =
            ty.dims.iter().flatten().map(|d| self.constant_integer(d, "a size")).collect();
        let mut failed = false;
        if ty.elem != ElemType::F64 {
            let name = ty.elem.name();
            let message = format!("element type `{name}` is not supported");
            let label = self.label(ty.span, "reserved for exact arithmetic");
            let help = "this build computes with `f64`";
            self.report(Diagnostic::error(ELEMENT_TYPE, message, label).with_help(help));
            failed = true;
        }
        let mut shape = Vec::with_capacity(sizes.len());
        for (size, e) in sizes.into_iter().zip(ty.dims.iter().flatten()) {
            match size {
                Ok(n) if n >= 1 => shape.push(n as usize),
                Ok(n) => {
                    let why = if n == 0 { "empty tensors have no values" } else { "negative" };
                    let message = format!("{n} is not a size: sizes are 1 or more");
                    let _reported: Eval = self.fail(TYPE, e.span, message, why);
                    failed = true;
                }
                Err(Poisoned) => failed = true,
            }
        }
        if failed {
            return Err(Poisoned);
        }
        if shape.len() > MAX_RANK {
            let message = format!("rank {} is beyond the limit: {MAX_RANK} axes at most", shape.len());
            return self.fail(TYPE, ty.span, message, format!("{} axes", shape.len()));
        }
        if size_of(&shape).is_err() {
            let message =
                format!("the size of shape {} is beyond the limit of {MAX_SIZE} elements", show(&shape));
            return self.fail(TYPE, ty.span, message, "too large");
        }
        Ok(shape)
    }

    /// `in [low, high]`; one point only where that makes sense.
    fn interval_of(&mut self, interval: &'a Interval, point: bool) -> Eval<Range> {
        let low = self.constant_number(&interval.lo, "the lower bound of a range");
        let high = self.constant_number(&interval.hi, "the upper bound of a range");
        let (low, high) = (low?, high?);
        if low < high || (point && low == high) {
            return Ok(Range::new(low, high));
        }
        let message = format!("the range is empty: {} is not below {}", show_number(low), show_number(high));
        let label = self.label(interval.span, "no value lies in it");
        let help = format!("write `in [{}, {}]`", show_number(high), show_number(low));
        self.refuse(Diagnostic::error(RANGE, message, label).with_help(help))
    }

    /// A value with the range that is stated behind it.
    fn ranged(&mut self, value: Value, range: &'a Option<Interval>, name: &str) -> Eval {
        let Some(interval) = range else { return Ok(value) };
        let range = self.interval_of(interval, true)?;
        match value {
            Value::Array(Array::Known(k)) => {
                let at = k.tensor.data().iter().position(|&x| !range.contains(x));
                let Some(at) = at else { return Ok(Value::Array(Array::Known(k))) };
                let value = show_number(k.tensor.data()[at]);
                let message =
                    format!("`{name}` is {value} at index {}, outside {range}", show(&k.tensor.index_of(at)));
                self.fail(RANGE, interval.span, message, "does not hold")
            }
            Value::Array(Array::Node(id)) => {
                let op = Op::Assume { name: name.to_string(), low: range.low, high: range.high };
                self.node(op, &[id], interval.span).map(|n| Value::Array(Array::Node(n)))
            }
            other => {
                let message = format!("a range belongs to a tensor, not to {}", other.kind());
                self.fail(KIND, interval.span, message, "")
            }
        }
    }

    // Bindings

    pub(super) fn constant(&mut self, c: &'a Const) {
        let shape = c.ty.as_ref().map(|ty| self.type_shape(ty));
        let outer = self.defining.replace(c.name.text.clone());
        let value = self.expr(&c.value);
        self.defining = outer;
        let value = value.and_then(|value| self.checked_constant(c, value, shape));
        self.define(&c.name.text, c.name.span.start, value);
    }

    fn checked_constant(&mut self, c: &'a Const, value: Value, shape: Option<Eval<Vec<usize>>>) -> Eval {
        match value {
            Value::Array(x @ Array::Known(_)) => {
                let found = self.shape(&x);
                if let Some(expected) = shape.transpose()?
                    && expected != found
                {
                    let message = format!(
                        "`{}` is declared with shape {}, but its value has {}",
                        c.name.text,
                        show(&expected),
                        show(&found)
                    );
                    let diagnostic = Diagnostic::error(
                        TYPE,
                        message,
                        self.label(c.value.span, format!("shape {}", show(&found))),
                    );
                    let declared = c.ty.as_ref().map_or(c.name.span, |t| t.span);
                    let label = self.label(declared, "declared here");
                    return self.refuse(diagnostic.with_label(label));
                }
                Ok(Value::Array(x.named(&c.name.text)))
            }
            Value::Array(Array::Node(_)) => {
                let message =
                    format!("the constant `{}` has a value that is not known at compile time", c.name.text);
                let label = self.label(c.value.span, self.describe(&value));
                let help = format!("use `let {} = ..;`", c.name.text);
                self.refuse(Diagnostic::error(NOT_CONSTANT, message, label).with_help(help))
            }
            other => Ok(other),
        }
    }

    fn binding(&mut self, l: &'a Let) {
        let name = match &l.pattern {
            Pattern::Name(name) => Some(name),
            Pattern::Tuple(_) => None,
        };
        let outer = std::mem::replace(&mut self.defining, name.map(|n| n.text.clone()));
        let value = self.expr(&l.value);
        self.defining = outer;
        match &l.pattern {
            Pattern::Name(name) => {
                let value = value.and_then(|v| self.ranged(v, &l.range, &name.text));
                self.define(&name.text, name.span.start, value);
            }
            Pattern::Tuple(names) => {
                let values = value.and_then(|v| self.taken_apart(v, names, l));
                let values = values.unwrap_or_else(|p| names.iter().map(|_| Err(p)).collect());
                for (name, value) in names.iter().zip(values) {
                    let value = value.and_then(|v| self.ranged(v, &l.range, &name.text));
                    self.define(&name.text, name.span.start, value);
                }
            }
        }
    }

    fn taken_apart(&mut self, value: Value, names: &[Name], l: &Let) -> Eval<Vec<Eval>> {
        match value {
            Value::Tuple(values) if values.len() == names.len() => Ok(values.into_iter().map(Ok).collect()),
            other => {
                let found = match &other {
                    Value::Tuple(values) => format!("a tuple of {}", values.len()),
                    other => self.describe(other),
                };
                let message = format!("{} names for {found}", names.len());
                self.fail(PATTERN, l.value.span, message, found)
            }
        }
    }

    fn assignment(&mut self, a: &'a Assign) {
        let value = self.expr(&a.value).and_then(|v| self.ranged(v, &a.range, &a.name.text));
        let Some(holder) = self.holder(&a.name.text) else { return };
        let old = self.lookup(&a.name.text);
        if let (Ok(Value::Array(old)), Ok(Value::Array(new))) = (&old, &value) {
            let (before, after) = (self.shape(old), self.shape(new));
            if before != after {
                let message = format!(
                    "an assignment keeps the shape: `{}` has {}, the new value {}",
                    a.name.text,
                    show(&before),
                    show(&after)
                );
                let _reported: Eval =
                    self.fail(ASSIGNED_SHAPE, a.value.span, message, format!("shape {}", show(&after)));
                return;
            }
        }
        if let Some(slot) = self.scopes[holder.0].values.get_mut(&a.name.text) {
            slot.value = value;
        }
    }

    fn repeat(&mut self, f: &'a For) {
        let Ok((lo, hi)) = self.bounds(&f.lo, &f.hi) else {
            return self.poison_assigned(&f.body);
        };
        for i in lo..hi {
            if self.tick(f.span).is_err() {
                return;
            }
            self.block(|b| {
                b.define(&f.var.text, f.var.span.start, Ok(Value::Array(Array::number(i as f64))));
                b.block(|b| b.statements(&f.body));
            });
        }
    }

    /// What a loop of unknown bounds assigns is unknown.
    fn poison_assigned(&mut self, body: &'a [Stmt]) {
        for statement in body {
            match statement {
                Stmt::Assign(a) => {
                    if let Some(holder) = self.holder(&a.name.text)
                        && let Some(slot) = self.scopes[holder.0].values.get_mut(&a.name.text)
                    {
                        slot.value = Err(Poisoned);
                    }
                }
                Stmt::For(f) => self.poison_assigned(&f.body),
                _ => {}
            }
        }
    }

    // Outputs

    fn output(&mut self, o: &'a Output) {
        let precision = match &o.precision {
            Some(e) => self.precision(e),
            None => Ok(DEFAULT_PRECISION),
        };
        let given = o.value.as_ref().map(|e| self.expr(e));
        for name in &o.names {
            let value = given.clone().unwrap_or_else(|| self.lookup(&name.text));
            let value = value.and_then(|v| self.ranged(v, &o.range, &name.text));
            let again = self.graph.outputs.iter().any(|out| out.name == name.text);
            if self.at_top()
                && !again
                && let (Ok(value), Ok(precision)) = (&value, &precision)
                && let Ok(array) =
                    self.as_array(value.clone(), o.value.as_ref().map_or(name.span, |e| e.span))
            {
                self.give_out(name, &array, *precision);
            }
            match (&o.value, self.holder(&name.text)) {
                (None, Some(holder)) => {
                    if let Some(slot) = self.scopes[holder.0].values.get_mut(&name.text) {
                        slot.value = value;
                    }
                }
                _ => self.define(&name.text, name.span.start, value),
            }
        }
    }

    fn give_out(&mut self, name: &Name, array: &Array, precision: f64) {
        let Ok(node) = self.node_of(array, name.span) else { return };
        if !self.graph.is_cipher(node) {
            let message = format!("nothing of the output `{}` is encrypted", name.text);
            let label = self.label(name.span, "given out in clear");
            self.report(Diagnostic::warning(CLEAR_OUTPUT, message, label));
        }
        self.graph.outputs.push(OutputDecl {
            name: name.text.clone(),
            node,
            precision,
            span: Some(name.span),
        });
    }

    fn precision(&mut self, e: &'a Expr) -> Eval<f64> {
        let value = self.constant_number(e, "a precision")?;
        if value > 0.0 {
            return Ok(value);
        }
        let message =
            format!("a precision is the largest absolute error, above 0, not {}", show_number(value));
        self.fail(PRECISION, e.span, message, "not above 0")
    }

    // Files

    /// `load(path, key)`. The key defaults to the name of the constant that is being defined.
    pub(super) fn load(&mut self, args: &Arguments<'a>) -> Eval<Array> {
        let (path, key) = (args.need("path")?, args.get("key"));
        let Value::Text(file) = &path.value else {
            let found = path.value.kind();
            return self.fail(KIND, path.span, format!("a path is a text in quotes, not {found}"), "");
        };
        let key = match key.map(|k| (&k.value, k.span)) {
            None => None,
            Some((Value::Text(key), span)) => Some((key.clone(), span)),
            Some((other, span)) => {
                let message = format!("a key is a text in quotes, not {}", other.kind());
                return self.fail(KIND, span, message, "");
            }
        };
        let keyless = file.ends_with(".npy");
        if let (true, Some((_, span))) = (keyless, &key) {
            let message = format!("`{file}` holds one array without a key");
            return self.fail(LOAD, *span, message, "leave it out");
        }
        let wanted = key.as_ref().map(|k| k.0.clone()).or_else(|| self.defining.clone()).filter(|_| !keyless);
        let from = self.sources.get(self.file).map_or("", |f| f.path.as_str());
        match self.loader.tensor(file, wanted.as_deref(), from) {
            Ok(tensor) => self.loaded(tensor, args.at),
            Err(error) => {
                let place = self.label(key.as_ref().map_or(path.span, |k| k.1), "");
                let mut diagnostic = load_failure(LOAD, &error, place);
                if let (plan::load::LoadError::MissingKey { .. }, None) = (&error, &key) {
                    diagnostic = diagnostic.with_note("the key defaults to the name that is being defined");
                }
                self.refuse(diagnostic)
            }
        }
    }

    fn loaded(&mut self, tensor: Tensor, at: Span) -> Eval<Array> {
        self.check_rank(tensor.shape(), at)?;
        if tensor.is_empty() {
            let message = format!("the file holds an empty tensor of shape {}", show(tensor.shape()));
            return self.fail(INTEGER, at, message, "tensors have at least one element");
        }
        self.finite(tensor, at)
    }
}
