//! The state of reading a program: the graph so far, the intervals of its nodes, scopes, and the mistakes found.
//!
//! Everything computed goes through [`Builder::tensor`] or [`Builder::node`]: operands that are all known fold at once in
//! f64, others become a node, and either way an argument outside the domain is reported at the place of the call.

use crate::analysis::interval::{Range, show_number};
use crate::analysis::range::{DomainError, Ranges};
use crate::diag::{Code, Diagnostic, Diagnostics, Label};
use crate::from_ast::scope::{Scope, ScopeId};
use crate::from_ast::value::{Array, Eval, Known, Poisoned, Value};
use crate::interpret::apply_linear;
use crate::ir::op::Approximation;
use crate::ir::{Graph, NodeId, Op};
use crate::source::{FileId, Loader, Sources};
use grammar::Span;
use grammar::ast::{Expr, FnDef};
use plan::linear::LinearStep;
use plan::tensor::show;
use plan::{Function, Operand, Secrecy, Tensor, TensorOp};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Argument outside the domain of a function.
pub const DOMAIN: Code = Code("E0602");
/// A constant that is not finite.
pub const NOT_FINITE: Code = Code("E0603");
/// A limit on the size of programs.
pub const LIMIT: Code = Code("E0409");
/// An operation does not apply to its operands.
pub const OPERATION: Code = Code("E0500");

/// Largest number of nodes of a graph.
pub const MAX_NODES: usize = 1_000_000;
/// Largest number of expressions evaluated, steps of loops and inlined calls counted each time.
pub const MAX_EVALUATIONS: usize = 5_000_000;
/// How deep expressions may nest through calls of functions.
pub const MAX_DEPTH: usize = 400;
/// Largest number of elements of a tensor that is computed at compile time.
pub const MAX_CONSTANT: usize = 1 << 24;
/// Constants up to this size are spread to the shape of the other operand at once; larger ones when they are used.
const MAX_SPREAD: usize = 1 << 20;
/// Constants up to this size are shared when they are equal.
const MAX_SHARED: usize = 1 << 12;

/// A call that is being inlined.
pub(super) struct Call<'a> {
    pub(super) def: &'a FnDef,
    pub(super) file: FileId,
    pub(super) span: Span,
}

/// A `within` of the program: where it stands, its value, and the node it led to.
pub(super) struct Within {
    pub(super) label: Label,
    pub(super) value: f64,
    pub(super) node: NodeId,
}

pub(super) struct Builder<'a> {
    pub(super) sources: &'a Sources,
    pub(super) loader: &'a dyn Loader,
    pub(super) graph: Graph,
    pub(super) ranges: Ranges,
    pub(super) found: Diagnostics,
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) scope: ScopeId,
    /// the scope of the model, once it is open
    pub(super) model: Option<ScopeId>,
    pub(super) file: FileId,
    pub(super) calls: Vec<Call<'a>>,
    /// the name of the constant being defined: the default key of `load`
    pub(super) defining: Option<String>,
    pub(super) withins: Vec<Within>,
    evaluations: usize,
    /// a limit was passed and reported: nothing more is evaluated
    pub(super) stopped: bool,
    pub(super) depth: usize,
    shared: BTreeMap<(Vec<usize>, Vec<u64>), NodeId>,
    by_address: BTreeMap<usize, (Rc<Known>, NodeId)>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(sources: &'a Sources, loader: &'a dyn Loader, name: &str) -> Builder<'a> {
        Builder {
            sources,
            loader,
            graph: Graph::new(name),
            ranges: Ranges::new(),
            found: Diagnostics::new(),
            scopes: Vec::new(),
            scope: ScopeId(0),
            model: None,
            file: FileId::MAIN,
            calls: Vec::new(),
            defining: None,
            withins: Vec::new(),
            evaluations: 0,
            stopped: false,
            depth: 0,
            shared: BTreeMap::new(),
            by_address: BTreeMap::new(),
        }
    }

    // Messages

    /// A place in the file being read.
    pub(super) fn label(&self, span: Span, text: impl Into<String>) -> Label {
        Label::new(self.file, span, text)
    }

    /// Reports a message, with the calls that led to its place.
    pub(super) fn report(&mut self, mut diagnostic: Diagnostic) {
        const SHOWN: usize = 3;
        for call in self.calls.iter().rev().take(SHOWN) {
            let text = format!("in this call of `{}`", call.def.name.text);
            diagnostic = diagnostic.with_label(Label::new(call.file, call.span, text));
        }
        self.found.push(diagnostic);
    }

    /// Reports an error of one label.
    pub(super) fn fail<T>(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Eval<T> {
        let diagnostic = Diagnostic::error(code, message, self.label(span, label));
        self.refuse(diagnostic)
    }

    /// Reports an error.
    pub(super) fn refuse<T>(&mut self, diagnostic: Diagnostic) -> Eval<T> {
        self.report(diagnostic);
        Err(Poisoned)
    }

    /// Counts one evaluation of an expression or one step of a loop.
    pub(super) fn tick(&mut self, at: Span) -> Eval<()> {
        self.evaluations += 1;
        if self.stopped {
            return Err(Poisoned);
        }
        if self.evaluations > MAX_EVALUATIONS {
            return self.stop(at, format!("the program takes more than {MAX_EVALUATIONS} steps to unroll"));
        }
        Ok(())
    }

    /// Reports that a limit was passed; nothing more is evaluated.
    pub(super) fn stop<T>(&mut self, at: Span, message: String) -> Eval<T> {
        if self.stopped {
            return Err(Poisoned);
        }
        self.stopped = true;
        let label = self.label(at, "stopped here");
        let help = "loops are unrolled and calls inlined: take fewer steps, or larger tensors";
        self.refuse(Diagnostic::error(LIMIT, message, label).with_help(help))
    }

    /// The text of an expression, if it is short.
    pub(super) fn text(&self, e: &Expr) -> String {
        let text = self.sources.snippet(self.file, e.span);
        if text.len() <= 40 && !text.contains('\n') { text.to_string() } else { "..".to_string() }
    }

    /// The place of a node: in the program itself, so inside an imported function it is the call.
    fn place(&self, span: Span) -> Option<Span> {
        if self.file == FileId::MAIN {
            return Some(span);
        }
        self.calls.iter().rev().find(|c| c.file == FileId::MAIN).map(|c| c.span)
    }

    // Facts

    pub(super) fn shape(&self, x: &Array) -> Vec<usize> {
        match x {
            Array::Known(k) => k.tensor.shape().to_vec(),
            Array::Node(id) => self.graph.shape(*id).to_vec(),
        }
    }

    pub(super) fn is_cipher(&self, x: &Array) -> bool {
        matches!(x, Array::Node(id) if self.graph.is_cipher(*id))
    }

    pub(super) fn range(&self, x: &Array) -> Range {
        match x {
            Array::Known(k) => Range::of(&k.tensor),
            Array::Node(id) => self.ranges[*id],
        }
    }

    /// `[3, 4]`, for messages.
    pub(super) fn show(&self, x: &Array) -> String {
        show(&self.shape(x))
    }

    /// What a value is, for messages: secrecy and shape.
    pub(super) fn describe(&self, value: &Value) -> String {
        match value {
            Value::Array(x @ Array::Node(id)) => {
                let secrecy = match self.graph.node(*id).secrecy {
                    Secrecy::Cipher => "encrypted",
                    Secrecy::Plain => "known only at run time",
                };
                format!("a tensor of shape {}, {secrecy}", self.show(x))
            }
            Value::Array(x) if !self.shape(x).is_empty() => format!("a tensor of shape {}", self.show(x)),
            other => other.kind().to_string(),
        }
    }

    // Nodes

    /// Adds a node.
    pub(super) fn node(&mut self, op: Op, args: &[NodeId], at: Span) -> Eval<NodeId> {
        if self.graph.len() >= MAX_NODES {
            return self.stop(at, format!("the program has more than {MAX_NODES} operations"));
        }
        let id = match self.graph.add(op, args, self.place(at)) {
            Ok(id) => id,
            Err(error) => return self.fail(OPERATION, at, error.to_string(), ""),
        };
        match self.ranges.push_next(&self.graph) {
            Ok(_) => Ok(id),
            Err(error) => self.outside_domain(&error, at),
        }
    }

    fn outside_domain<T>(&mut self, error: &DomainError, at: Span) -> Eval<T> {
        let (name, domain) = (error.function.name(), error.function.domain());
        let operand = if error.stated { "`on`" } else { "the argument" };
        let message = format!("{name} needs {domain}, but {operand} covers {}", error.range);
        let label = self.label(at, format!("argument in {}", error.range));
        let mut diagnostic = Diagnostic::error(DOMAIN, message, label);
        if !error.stated {
            diagnostic = diagnostic.with_help(format!(
                "if the data stay where {name} is defined, say so: `on = [low, high]` in the call, or `in [low, high]` \
                 behind the value"
            ));
        }
        self.refuse(diagnostic)
    }

    /// The node of a tensor; constants get one when they are first needed.
    pub(super) fn node_of(&mut self, x: &Array, at: Span) -> Eval<NodeId> {
        let known = match x {
            Array::Node(id) => return Ok(*id),
            Array::Known(known) => known,
        };
        let bits = |t: &Tensor| t.data().iter().map(|v| v.to_bits()).collect();
        let small = known.tensor.len() <= MAX_SHARED;
        let key = small.then(|| (known.tensor.shape().to_vec(), bits(&known.tensor)));
        let address = Rc::as_ptr(known) as usize;
        let shared = match &key {
            Some(key) => self.shared.get(key).copied(),
            None => self.by_address.get(&address).map(|(_, id)| *id),
        };
        if let Some(id) = shared {
            return Ok(id);
        }
        let constant = plan::plan::Constant { name: known.name.clone(), value: known.tensor.clone() };
        self.graph.constants.push(constant);
        let id = self.node(Op::Constant(self.graph.constants.len() - 1), &[], at)?;
        match key {
            Some(key) => drop(self.shared.insert(key, id)),
            None => drop(self.by_address.insert(address, (known.clone(), id))),
        }
        Ok(id)
    }

    /// A tensor operation on operands whose shapes fit: folded, or a node.
    pub(super) fn tensor(&mut self, op: TensorOp, args: &[&Array], at: Span) -> Eval<Array> {
        if let Some(known) = args.iter().map(|a| a.tensor()).collect::<Option<Vec<&Tensor>>>() {
            let value = match (&op, known.split_first()) {
                (TensorOp::Linear { steps }, Some((x, clear))) => apply_linear(steps, x, clear),
                _ => op.eval(&known),
            };
            return match value {
                Ok(value) => self.finite(value, at),
                Err(error) => self.fail(OPERATION, at, error.to_string(), ""),
            };
        }
        let mut nodes = Vec::with_capacity(args.len());
        for a in args {
            nodes.push(self.node_of(a, at)?);
        }
        self.node(Op::Tensor(op), &nodes, at).map(Array::Node)
    }

    /// A folded constant, if it is finite and of a reasonable size.
    pub(super) fn finite(&mut self, value: Tensor, at: Span) -> Eval<Array> {
        match value.data().iter().position(|x| !x.is_finite()) {
            None => Ok(Array::known(value)),
            Some(i) => {
                let place = if value.shape().is_empty() {
                    String::new()
                } else {
                    format!(" at index {}", show(&value.index_of(i)))
                };
                let message = format!("this constant is {}{place}", show_number(value.data()[i]));
                self.fail(NOT_FINITE, at, message, "beyond the numbers of f64")
            }
        }
    }

    /// Refuses a shape that is too large to be computed at compile time.
    pub(super) fn check_constant_size(&mut self, shape: &[usize], at: Span) -> Eval<()> {
        match plan::tensor::size_of(shape) {
            Ok(n) if n <= MAX_CONSTANT => Ok(()),
            _ => {
                let message =
                    format!("a constant of shape {} has more than {MAX_CONSTANT} elements", show(shape));
                self.fail(LIMIT, at, message, "too large")
            }
        }
    }

    /// A chain of linear steps on `x`; `clear` are the operands of the steps.
    pub(super) fn linear(
        &mut self,
        x: &Array,
        steps: Vec<LinearStep>,
        clear: &[&Array],
        at: Span,
    ) -> Eval<Array> {
        if steps.is_empty() {
            return Ok(x.clone());
        }
        if x.tensor().is_some() {
            let mut shape = self.shape(x);
            for step in &steps {
                match step.output_shape(&shape) {
                    Ok(next) => shape = next,
                    Err(error) => return self.fail(OPERATION, at, error.to_string(), ""),
                }
                self.check_constant_size(&shape, at)?;
            }
        }
        let args: Vec<&Array> = std::iter::once(x).chain(clear.iter().copied()).collect();
        self.tensor(TensorOp::Linear { steps }, &args, at)
    }

    /// One linear step without operands.
    pub(super) fn step(&mut self, x: &Array, step: LinearStep, at: Span) -> Eval<Array> {
        self.linear(x, vec![step], &[], at)
    }

    /// `x` in another shape of the same size.
    pub(super) fn reshape(&mut self, x: &Array, shape: &[usize], at: Span) -> Eval<Array> {
        match x {
            x if self.shape(x) == shape => Ok(x.clone()),
            x => self.step(x, LinearStep::Reshape { shape: shape.to_vec() }, at),
        }
    }

    /// `x` spread to a shape it broadcasts to.
    pub(super) fn spread(&mut self, x: &Array, shape: &[usize], at: Span) -> Eval<Array> {
        if self.shape(x) == shape {
            return Ok(x.clone());
        }
        let step = LinearStep::Broadcast { shape: shape.to_vec() };
        let size = plan::tensor::size_of(shape).unwrap_or(usize::MAX);
        if let (Array::Known(_), true) = (x, size > MAX_SPREAD) {
            let node = self.node_of(x, at)?;
            return self
                .node(Op::Tensor(TensorOp::Linear { steps: vec![step] }), &[node], at)
                .map(Array::Node);
        }
        self.step(x, step, at)
    }

    /// Both operands of an element-wise operation in their common shape.
    pub(super) fn spread_both(
        &mut self,
        (a, b): (&Array, &Array),
        (shape_a, shape_b): (&[usize], &[usize]),
        at: Span,
    ) -> Eval<(Array, Array)> {
        if a.tensor().is_some() && b.tensor().is_some() {
            self.check_constant_size(shape_a, at)?;
            self.check_constant_size(shape_b, at)?;
            let spread = |b: &mut Self, x: &Array, shape: &[usize]| {
                b.step(x, LinearStep::Broadcast { shape: shape.to_vec() }, at)
            };
            return Ok((spread(self, a, shape_a)?, spread(self, b, shape_b)?));
        }
        Ok((self.spread(a, shape_a, at)?, self.spread(b, shape_b, at)?))
    }

    /// `x` times a number.
    pub(super) fn scale(&mut self, x: &Array, factor: f64, at: Span) -> Eval<Array> {
        if factor == 1.0 { Ok(x.clone()) } else { self.step(x, LinearStep::ScaleBy { factor }, at) }
    }

    /// The element-wise product of an encrypted tensor with a clear one of the same shape.
    pub(super) fn scale_by(&mut self, x: &Array, by: &Array, at: Span) -> Eval<Array> {
        self.linear(x, vec![LinearStep::Scale { by: Operand(0) }], &[by], at)
    }

    /// A scalar function: folded, or a node with the wishes of the program.
    pub(super) fn function(
        &mut self,
        function: Function,
        x: &Array,
        wish: Approximation,
        at: Span,
    ) -> Eval<Array> {
        let Some(known) = x.tensor() else {
            let node = self.node_of(x, at)?;
            return self.node(Op::Function { function, wish }, &[node], at).map(Array::Node);
        };
        if let Some(i) = known.data().iter().position(|&v| !function.defined_on(v, v)) {
            let (name, domain, value) = (function.name(), function.domain(), show_number(known.data()[i]));
            let place = if known.shape().is_empty() {
                String::new()
            } else {
                format!(" at index {}", show(&known.index_of(i)))
            };
            let message = format!("{name} of {value}{place}: {name} needs {domain}");
            return self.fail(DOMAIN, at, message, format!("the argument is {value}"));
        }
        let value = known.map(|v| function.eval(v));
        if let Some(i) = value.data().iter().position(|x| !x.is_finite()) {
            let (name, argument) = (function.name(), show_number(known.data()[i]));
            let message = format!("{name} of {argument} is beyond the numbers of f64");
            return self.fail(NOT_FINITE, at, message, format!("this is {}", show_number(value.data()[i])));
        }
        Ok(Array::known(value))
    }

    /// A fact about a value that interval arithmetic cannot see; said only where it helps.
    pub(super) fn fact(&mut self, x: &Array, range: Range, at: Span) -> Eval<Array> {
        let Array::Node(id) = x else { return Ok(x.clone()) };
        let known = self.ranges[*id];
        if known.is_unknown() || range.is_unknown() || range.covers(known) {
            return Ok(x.clone());
        }
        let (low, high) = (range.low.max(known.low), range.high.min(known.high));
        if low > high {
            return Ok(x.clone());
        }
        self.node(Op::Assume { name: String::new(), low, high }, &[*id], at).map(Array::Node)
    }
}
