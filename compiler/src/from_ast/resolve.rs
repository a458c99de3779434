//! Names: every use finds its definition, or is reported here and nowhere else.
//!
//! The tree is read once in the order of the text, whether or not a function is called or a loop has steps. Values and
//! functions live apart. A function sees the immutable values defined before it and every function of its scopes, later
//! ones too. What evaluates the tree afterwards says nothing about a name that it cannot find.

use crate::diag::{Code, Diagnostic, Diagnostics, Label};
use crate::from_ast::names::{DEFINED_TWICE, FnKey, Kind, Names};
use crate::from_ast::recursion;
use crate::source::{FileId, SourceFile, Sources};
use grammar::Span;
use grammar::ast::*;
use std::collections::BTreeMap;

/// A statement where it cannot stand.
pub const MISPLACED: Code = Code("E0305");

/// What was found out about names.
#[derive(Debug, Default)]
pub struct Resolution {
    /// the mistakes
    pub errors: Diagnostics,
    /// warnings about unused values, worth saying when there is no error
    pub unused: Diagnostics,
}

/// Checks all names of a program.
pub fn resolve(sources: &Sources) -> Resolution {
    let mut resolver = Resolver::new(sources);
    for (id, file) in sources.iter() {
        resolver.file(id, file);
    }
    let mut errors = resolver.names.errors;
    errors.extend(recursion::report(sources, &resolver.calls));
    Resolution { errors, unused: resolver.names.unused }
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Model,
    Loop,
    Function,
}

struct Resolver<'a> {
    sources: &'a Sources,
    names: Names,
    place: Place,
    function: Option<FnKey>,
    calls: BTreeMap<FnKey, Vec<(FnKey, Span)>>,
    outputs: BTreeMap<String, Span>,
}

impl<'a> Resolver<'a> {
    fn new(sources: &'a Sources) -> Resolver<'a> {
        Resolver {
            sources,
            names: Names::default(),
            place: Place::Model,
            function: None,
            calls: BTreeMap::new(),
            outputs: BTreeMap::new(),
        }
    }

    fn file(&mut self, id: FileId, file: &'a SourceFile) {
        self.names.open_file(id);
        for (target, span) in &file.imports {
            self.import(*target, *span);
        }
        let functions =
            file.ast.items.iter().filter_map(|i| if let Item::Fn(f) = i { Some(f) } else { None });
        self.names.hoist(functions);
        for item in &file.ast.items {
            match item {
                Item::Fn(def) => self.function(def),
                Item::Const(c) => self.constant(c),
                Item::Error(broken) => self.names.broken(broken),
            }
        }
        if let (FileId::MAIN, Some(model)) = (id, &file.ast.model) {
            self.block(&model.body);
        }
    }

    fn import(&mut self, target: FileId, span: Span) {
        let Some(file) = self.sources.get(target) else { return };
        for item in &file.ast.items {
            let here = Label::new(self.names.file, span, "");
            match item {
                Item::Fn(def) => {
                    self.names.define_function(&def.name.text, (target, def.name.span), here, "imported here")
                }
                Item::Const(c) => self.names.define_at(&c.name.text, Kind::Const, here, "imported here"),
                Item::Error(broken) => self.names.broken(broken),
            }
        }
    }

    /// Runs `f` in a scope of its own.
    fn scoped(&mut self, body: bool, f: impl FnOnce(&mut Self)) {
        self.names.enter(body);
        f(self);
        self.names.leave();
    }

    // Statements

    fn block(&mut self, body: &'a [Stmt]) {
        self.scoped(false, |r| r.statements(body));
    }

    fn statements(&mut self, body: &'a [Stmt]) {
        self.names.hoist(body.iter().filter_map(|s| if let Stmt::Fn(f) = s { Some(f) } else { None }));
        body.iter().for_each(|s| self.statement(s));
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Input(input) => self.input(input),
            Stmt::Const(c) => self.constant(c),
            Stmt::Let(l) => self.binding(l),
            Stmt::Assign(a) => self.assignment(a),
            Stmt::Fn(def) => self.function(def),
            Stmt::For(f) => self.repeat(f),
            Stmt::Output(o) => self.output(o),
            Stmt::Error(broken) => self.names.broken(broken),
        }
    }

    fn interval(&mut self, range: &'a Option<Interval>) {
        if let Some(range) = range {
            self.expr(&range.lo);
            self.expr(&range.hi);
        }
    }

    fn misplaced(&mut self, what: &str, span: Span) {
        let inside = match self.place {
            Place::Model => return,
            Place::Loop => "a loop",
            Place::Function => "a function",
        };
        let message = format!("an {what} cannot stand in {inside}");
        let label = Label::new(self.names.file, span, format!("{what}s belong to the model itself"));
        let diagnostic = Diagnostic::error(MISPLACED, message, label);
        let help = (what == "output" && self.place == Place::Loop)
            .then(|| "keep the value in a `let mut` and give it out after the loop".to_string());
        self.names.errors.push(diagnostic.with_help_if(help));
    }

    fn input(&mut self, input: &'a Input) {
        self.misplaced("input", input.span);
        input.ty.dims.iter().flatten().for_each(|d| self.expr(d));
        self.interval(&input.range);
        input.names.iter().for_each(|n| self.names.define(n, Kind::Input));
    }

    fn constant(&mut self, c: &'a Const) {
        c.ty.iter().flat_map(|t| &t.dims).flatten().for_each(|d| self.expr(d));
        self.expr(&c.value);
        self.names.define(&c.name, Kind::Const);
    }

    fn binding(&mut self, l: &'a Let) {
        self.expr(&l.value);
        self.interval(&l.range);
        let kind = if l.mutable { Kind::Mutable } else { Kind::Let };
        match &l.pattern {
            Pattern::Name(name) => self.names.define(name, kind),
            Pattern::Tuple(names) => names.iter().for_each(|n| self.names.define(n, kind)),
        }
    }

    fn assignment(&mut self, a: &'a Assign) {
        self.expr(&a.value);
        self.interval(&a.range);
        self.names.assign(&a.name);
    }

    fn function(&mut self, def: &'a FnDef) {
        let key = (self.names.file, def.name.span);
        let outer = (self.function.replace(key), self.place);
        self.place = Place::Function;
        self.scoped(true, |r| {
            def.params.iter().for_each(|p| r.names.define(p, Kind::Parameter));
            // a scope inside, so that a `let` may hide a parameter
            r.scoped(false, |r| {
                r.statements(&def.body);
                r.expr(&def.result);
            });
        });
        (self.function, self.place) = outer;
    }

    fn repeat(&mut self, f: &'a For) {
        self.expr(&f.lo);
        self.expr(&f.hi);
        let outer = self.place;
        if outer == Place::Model {
            self.place = Place::Loop;
        }
        self.scoped(false, |r| {
            r.names.define(&f.var, Kind::Loop);
            r.block(&f.body);
        });
        self.place = outer;
    }

    fn output(&mut self, o: &'a Output) {
        self.misplaced("output", o.span);
        if let Some(value) = &o.value {
            self.expr(value);
        }
        self.interval(&o.range);
        o.precision.iter().for_each(|p| self.expr(p));
        for name in &o.names {
            let given = self.outputs.get(&name.text).copied();
            match (&o.value, given) {
                (Some(_), _) => self.names.define(name, Kind::Output),
                (None, None) => self.names.value(&name.text, name.span),
                (None, Some(first)) => {
                    let message = format!("`{}` is an output twice", name.text);
                    let label = Label::new(self.names.file, name.span, "given out again here");
                    let first = Label::new(self.names.file, first, "given out here");
                    self.names
                        .errors
                        .push(Diagnostic::error(DEFINED_TWICE, message, label).with_label(first));
                }
            }
            self.outputs.entry(name.text.clone()).or_insert(name.span);
        }
    }

    fn call(&mut self, callee: &Name) {
        if let (Some(target), Some(caller)) = (self.names.call(callee), self.function) {
            self.calls.entry(caller).or_default().push((target, callee.span));
        }
    }

    fn expr(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Number { .. } | ExprKind::Str(_) | ExprKind::Bool(_) | ExprKind::Error => {}
            ExprKind::Name(name) => self.names.value(name, e.span),
            ExprKind::Neg(x) => self.expr(x),
            ExprKind::Chain { first, rest } => {
                self.expr(first);
                rest.iter().for_each(|l| self.expr(&l.value));
            }
            ExprKind::Pow { base, exponent, .. } => {
                self.expr(base);
                self.expr(exponent);
            }
            ExprKind::Call { callee, args } => {
                self.call(callee);
                args.iter().for_each(|a| self.expr(&a.value));
            }
            ExprKind::Index { base, items } => {
                self.expr(base);
                items.iter().for_each(|i| self.index(&i.kind));
            }
            ExprKind::List(all) | ExprKind::Tuple(all) => all.iter().for_each(|x| self.expr(x)),
            ExprKind::Comprehension { body, var, lo, hi } => {
                self.expr(lo);
                self.expr(hi);
                self.scoped(false, |r| {
                    r.names.define(var, Kind::Loop);
                    r.expr(body);
                });
            }
        }
    }

    fn index(&mut self, item: &'a IndexKind) {
        match item {
            IndexKind::At(e) => self.expr(e),
            IndexKind::Slice { lo, hi, step } => {
                [lo, hi, step].into_iter().flatten().for_each(|e| self.expr(e));
            }
            IndexKind::Ellipsis | IndexKind::NewAxis => {}
        }
    }
}
