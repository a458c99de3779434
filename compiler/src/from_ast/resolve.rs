//! Names: every use finds its definition, or is reported here and nowhere else.
//!
//! The tree is read once in the order of the text, whether or not a function is called or a loop has steps. Values and
//! functions live apart. A function sees the immutable values defined before it and every function of its scopes, later
//! ones too. What evaluates the tree afterwards says nothing about a name that it cannot find.

use crate::diag::{Code, Diagnostic, Diagnostics, Label, nearest};
use crate::from_ast::builtins;
use crate::source::{FileId, SourceFile, Sources};
use grammar::Span;
use grammar::ast::*;
use std::collections::{BTreeMap, BTreeSet};

/// A value that is not defined.
pub const UNKNOWN_NAME: Code = Code("E0301");
/// A function that is not defined.
pub const UNKNOWN_FUNCTION: Code = Code("E0302");
/// Two definitions of a name in one scope.
pub const DEFINED_TWICE: Code = Code("E0303");
/// An assignment to what is not `let mut`, or a mutable value inside a function.
pub const MUTABILITY: Code = Code("E0304");
/// A statement where it cannot stand.
pub const MISPLACED: Code = Code("E0305");
/// A function that calls itself.
pub const RECURSION: Code = Code("E0306");
/// A value called, or a function used as a value.
pub const WRONG_NAMESPACE: Code = Code("E0307");
/// A `let` nobody reads, or an input on which no output depends.
pub const UNUSED: Code = Code("W0301");

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
    resolver.recursion();
    Resolution { errors: resolver.errors, unused: resolver.unused }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Input,
    Const,
    Let,
    Mutable,
    Loop,
    Parameter,
    Output,
    Unknown,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Input => "an input",
            Kind::Const => "a constant",
            Kind::Let | Kind::Mutable => "a `let`",
            Kind::Loop => "the variable of a loop",
            Kind::Parameter => "a parameter",
            Kind::Output => "an output",
            Kind::Unknown => "broken",
        }
    }
}

struct Definition {
    kind: Kind,
    label: Label,
    used: bool,
}

/// A function by the place of its name.
type FnKey = (FileId, Span);

#[derive(Default)]
struct Scope {
    values: BTreeMap<String, Definition>,
    functions: BTreeMap<String, FnKey>,
    /// the body of a function: mutable values outside are out of reach
    body: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Model,
    Loop,
    Function,
}

struct Resolver<'a> {
    sources: &'a Sources,
    errors: Diagnostics,
    unused: Diagnostics,
    scopes: Vec<Scope>,
    file: FileId,
    place: Place,
    function: Option<FnKey>,
    calls: BTreeMap<FnKey, Vec<(FnKey, Span)>>,
    outputs: BTreeMap<String, Span>,
    left: BTreeMap<String, Label>,
}

impl<'a> Resolver<'a> {
    fn new(sources: &'a Sources) -> Resolver<'a> {
        Resolver {
            sources,
            errors: Diagnostics::new(),
            unused: Diagnostics::new(),
            scopes: Vec::new(),
            file: FileId::MAIN,
            place: Place::Model,
            function: None,
            calls: BTreeMap::new(),
            outputs: BTreeMap::new(),
            left: BTreeMap::new(),
        }
    }

    fn file(&mut self, id: FileId, file: &'a SourceFile) {
        self.file = id;
        self.scopes = vec![Scope::default()];
        self.left.clear();
        for (target, span) in &file.imports {
            self.import(*target, *span);
        }
        let functions =
            file.ast.items.iter().filter_map(|i| if let Item::Fn(f) = i { Some(f) } else { None });
        self.hoist(functions);
        for item in &file.ast.items {
            match item {
                Item::Fn(def) => self.function(def),
                Item::Const(c) => self.constant(c),
                Item::Error(broken) => self.broken(broken),
            }
        }
        if let (FileId::MAIN, Some(model)) = (id, &file.ast.model) {
            self.block(&model.body);
        }
        self.scopes.clear();
    }

    fn import(&mut self, target: FileId, span: Span) {
        let Some(file) = self.sources.get(target) else { return };
        for item in &file.ast.items {
            let here = Label::new(self.file, span, "");
            match item {
                Item::Fn(def) => {
                    self.define_function(&def.name.text, (target, def.name.span), here, "imported here")
                }
                Item::Const(c) => self.define_at(&c.name.text, Kind::Const, here, "imported here"),
                Item::Error(broken) => self.broken(broken),
            }
        }
    }

    // Definitions

    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn define(&mut self, name: &Name, kind: Kind) {
        let label = Label::new(self.file, name.span, "");
        self.define_at(&name.text, kind, label, "defined again here");
    }

    fn define_at(&mut self, name: &str, kind: Kind, mut label: Label, text: &str) {
        let used = !matches!(kind, Kind::Let | Kind::Mutable);
        if let Some(first) = self.scope().values.get(name) {
            if first.kind != Kind::Unknown && kind != Kind::Unknown {
                let first_label = Label {
                    text: format!("first defined here, as {}", first.kind.name()),
                    ..first.label.clone()
                };
                label.text = text.into();
                let mut d = Diagnostic::error(
                    DEFINED_TWICE,
                    format!("`{name}` is defined twice in one scope"),
                    label.clone(),
                )
                .with_label(first_label);
                d = match (kind, first.kind) {
                    (Kind::Output, Kind::Let | Kind::Mutable | Kind::Const | Kind::Input) => {
                        d.with_help(format!("to give out the existing value write `output {name};`"))
                    }
                    (Kind::Let | Kind::Mutable, Kind::Let | Kind::Mutable) => d.with_help(format!(
                        "use another name, or declare it with `let mut {name}` and assign: `{name} = ..`"
                    )),
                    _ => d,
                };
                self.errors.push(d);
                return;
            }
        }
        label.text.clear();
        self.scope().values.insert(name.to_string(), Definition { kind, label, used });
    }

    fn define_function(&mut self, name: &str, key: FnKey, mut label: Label, text: &str) {
        if let Some(&(file, span)) = self.scope().functions.get(name) {
            label.text = text.into();
            let message = format!("function `{name}` is defined twice in one scope");
            let first = Label::new(file, span, "first defined here");
            self.errors.push(Diagnostic::error(DEFINED_TWICE, message, label).with_label(first));
            return;
        }
        self.scope().functions.insert(name.to_string(), key);
    }

    fn hoist(&mut self, functions: impl Iterator<Item = &'a FnDef>) {
        for def in functions {
            let label = Label::new(self.file, def.name.span, "");
            self.define_function(&def.name.text, (self.file, def.name.span), label, "defined again here");
        }
    }

    fn broken(&mut self, broken: &Broken) {
        for name in &broken.defines {
            self.define(name, Kind::Unknown);
            let key = (self.file, name.span);
            self.scope().functions.entry(name.text.clone()).or_insert(key);
        }
    }

    /// Runs `f` in a scope of its own and reports what nobody read.
    fn scoped(&mut self, body: bool, f: impl FnOnce(&mut Self)) {
        self.scopes.push(Scope { body, ..Scope::default() });
        f(self);
        for (name, definition) in self.scopes.pop().unwrap_or_default().values {
            if !definition.used && !name.starts_with('_') {
                let label = Label { text: "never read".into(), ..definition.label.clone() };
                let warning = Diagnostic::warning(UNUSED, format!("unused value `{name}`"), label);
                let help = format!("remove it, or call it `_{name}` if this is intended");
                self.unused.push(warning.with_help(help));
            }
            self.left.insert(name, definition.label);
        }
    }

    // Statements

    fn block(&mut self, body: &'a [Stmt]) {
        self.scoped(false, |r| r.statements(body));
    }

    fn statements(&mut self, body: &'a [Stmt]) {
        self.hoist(body.iter().filter_map(|s| if let Stmt::Fn(f) = s { Some(f) } else { None }));
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
            Stmt::Error(broken) => self.broken(broken),
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
        let label = Label::new(self.file, span, format!("{what}s belong to the model itself"));
        let diagnostic = Diagnostic::error(MISPLACED, message, label);
        let help = (what == "output" && self.place == Place::Loop)
            .then(|| "keep the value in a `let mut` and give it out after the loop".to_string());
        self.errors.push(diagnostic.with_help_if(help));
    }

    fn input(&mut self, input: &'a Input) {
        self.misplaced("input", input.span);
        input.ty.dims.iter().flatten().for_each(|d| self.expr(d));
        self.interval(&input.range);
        input.names.iter().for_each(|n| self.define(n, Kind::Input));
    }

    fn constant(&mut self, c: &'a Const) {
        c.ty.iter().flat_map(|t| &t.dims).flatten().for_each(|d| self.expr(d));
        self.expr(&c.value);
        self.define(&c.name, Kind::Const);
    }

    fn binding(&mut self, l: &'a Let) {
        self.expr(&l.value);
        self.interval(&l.range);
        let kind = if l.mutable { Kind::Mutable } else { Kind::Let };
        match &l.pattern {
            Pattern::Name(name) => self.define(name, kind),
            Pattern::Tuple(names) => names.iter().for_each(|n| self.define(n, kind)),
        }
    }

    fn assignment(&mut self, a: &'a Assign) {
        self.expr(&a.value);
        self.interval(&a.range);
        let name = &a.name.text;
        let place = Label::new(self.file, a.name.span, "");
        match self.find(name) {
            None => {
                let message = format!("cannot assign to `{name}`: it is not defined");
                let label = Label { text: "no such value".into(), ..place };
                let near = self.nearest_value(name).map(|n| format!("did you mean `{n}`?"));
                let help = format!("define it first, outside the loop: `let mut {name} = ..;`");
                let d = Diagnostic::error(UNKNOWN_NAME, message, label).with_help_if(near).with_help(help);
                self.errors.push(d);
            }
            Some((Kind::Unknown, ..)) | Some((Kind::Mutable, _, false)) => {}
            Some((kind, defined, outside)) => {
                let message = format!("cannot assign to `{name}`");
                let why = match (kind, outside) {
                    (Kind::Mutable, _) => "a function cannot change values outside it".to_string(),
                    _ => format!("{} is not mutable", kind.name()),
                };
                let d = Diagnostic::error(MUTABILITY, message, Label { text: why, ..place });
                let d = d.with_label(Label { text: "defined here".into(), ..defined });
                let help = match kind {
                    Kind::Let => Some(format!("declare it with `let mut {name} = ..;`")),
                    Kind::Mutable => Some("return the new value and assign it where you call".to_string()),
                    _ => Some(format!("copy it: `let mut w = {name};`")),
                };
                self.errors.push(d.with_help_if(help));
            }
        }
    }

    fn function(&mut self, def: &'a FnDef) {
        let key = (self.file, def.name.span);
        let outer = (self.function.replace(key), self.place);
        self.place = Place::Function;
        self.scoped(true, |r| {
            def.params.iter().for_each(|p| r.define(p, Kind::Parameter));
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
            r.define(&f.var, Kind::Loop);
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
                (Some(_), _) => self.define(name, Kind::Output),
                (None, None) => self.value(&name.text, name.span),
                (None, Some(first)) => {
                    let message = format!("`{}` is an output twice", name.text);
                    let label = Label::new(self.file, name.span, "given out again here");
                    let first = Label::new(self.file, first, "given out here");
                    self.errors.push(Diagnostic::error(DEFINED_TWICE, message, label).with_label(first));
                }
            }
            self.outputs.entry(name.text.clone()).or_insert(name.span);
        }
    }

    // Uses

    /// Kind and place of a value, and whether it lies outside the function; marks it as used.
    fn find(&mut self, name: &str) -> Option<(Kind, Label, bool)> {
        let mut outside = false;
        for scope in self.scopes.iter_mut().rev() {
            if let Some(d) = scope.values.get_mut(name) {
                return Some((d.kind, d.label.clone(), outside));
            }
            outside |= scope.body;
        }
        None
    }

    fn mark_used(&mut self, name: &str) {
        if let Some(d) = self.scopes.iter_mut().rev().find_map(|s| s.values.get_mut(name)) {
            d.used = true;
        }
    }

    fn find_function(&self, name: &str) -> Option<FnKey> {
        self.scopes.iter().rev().find_map(|s| s.functions.get(name).copied())
    }

    fn nearest_value(&self, name: &str) -> Option<String> {
        let names = self.scopes.iter().rev().flat_map(|s| s.values.keys());
        nearest(name, names.map(String::as_str)).map(str::to_string)
    }

    fn value(&mut self, name: &str, span: Span) {
        let place = Label::new(self.file, span, "");
        match self.find(name) {
            Some((Kind::Mutable, defined, true)) => {
                let message = format!("a function cannot read the mutable value `{name}`");
                let label = Label { text: "not visible in the function".into(), ..place };
                let d = Diagnostic::error(MUTABILITY, message, label)
                    .with_label(Label { text: "declared `mut` here".into(), ..defined })
                    .with_help("pass it as an argument");
                self.errors.push(d);
            }
            Some(_) => self.mark_used(name),
            None if self.find_function(name).is_some() || builtins::find(name).is_some() => {
                let message = format!("`{name}` is a function, not a value");
                let label = Label { text: "used as a value".into(), ..place };
                let help = format!("call it: `{name}(..)`");
                self.errors.push(Diagnostic::error(WRONG_NAMESPACE, message, label).with_help(help));
            }
            None => self.unknown(name, place),
        }
    }

    fn unknown(&mut self, name: &str, mut place: Label) {
        place.text = "not defined".into();
        let mut help = None;
        if let Some(n) = self.nearest_value(name) {
            place.text = format!("not defined; did you mean `{n}`?");
        }
        match name {
            "pi" | "PI" => help = Some("write 3.141592653589793".to_string()),
            "e" | "E" => help = Some("write exp(1)".to_string()),
            "np" | "numpy" | "torch" | "math" => {
                help = Some("functions have no module before them".to_string())
            }
            _ => {}
        }
        let mut d = Diagnostic::error(UNKNOWN_NAME, format!("unknown name `{name}`"), place);
        if let Some(label) = self.left.get(name) {
            d = d.with_label(Label { text: "known only in the block around this".into(), ..label.clone() });
            help = Some("define it before the block with `let mut`, and assign it inside".to_string());
        }
        self.errors.push(d.with_help_if(help));
    }

    fn call(&mut self, callee: &Name) {
        let name = &callee.text;
        if let Some(target) = self.find_function(name) {
            if let Some(caller) = self.function {
                self.calls.entry(caller).or_default().push((target, callee.span));
            }
            return;
        }
        if builtins::find(name).is_some() {
            return;
        }
        let mut place = Label::new(self.file, callee.span, "");
        match self.find(name) {
            Some((Kind::Unknown, ..)) => {}
            Some(_) => {
                self.mark_used(name);
                place.text = "called like a function".into();
                let message = format!("`{name}` is a value, not a function");
                let help = format!("entries are taken with brackets: `{name}[0]`; products need a `*`");
                self.errors.push(Diagnostic::error(WRONG_NAMESPACE, message, place).with_help(help));
            }
            None => {
                let mut all: Vec<&str> =
                    self.scopes.iter().rev().flat_map(|s| s.functions.keys()).map(String::as_str).collect();
                builtins::names().for_each(|n| all.push(n));
                let near = nearest(name, all);
                place.text = near.map_or("not defined".into(), |n| format!("did you mean `{n}`?"));
                let help = builtins::foreign(name).map(str::to_string);
                let d = Diagnostic::error(UNKNOWN_FUNCTION, format!("unknown function `{name}`"), place);
                self.errors.push(d.with_help_if(help));
            }
        }
    }

    fn expr(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Number { .. } | ExprKind::Str(_) | ExprKind::Bool(_) | ExprKind::Error => {}
            ExprKind::Name(name) => self.value(name, e.span),
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
                    r.define(var, Kind::Loop);
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

    // Recursion

    /// Reports every function that can reach itself, once per circle.
    fn recursion(&mut self) {
        let mut done: BTreeSet<FnKey> = BTreeSet::new();
        for &start in self.calls.keys() {
            if done.contains(&start) {
                continue;
            }
            if let Some(circle) = self.circle(start) {
                done.extend(circle.iter().map(|c| c.0));
                let name = |k: FnKey| self.sources.snippet(k.0, k.1);
                let through: Vec<String> = circle[1..].iter().map(|c| format!("`{}`", name(c.0))).collect();
                let via = if through.is_empty() {
                    String::new()
                } else {
                    format!(" through {}", through.join(", "))
                };
                let message = format!("function `{}` calls itself{via}", name(start));
                let label =
                    Label::new(start.0, start.1, "functions are inlined, so they cannot be recursive");
                let mut d = Diagnostic::error(RECURSION, message, label);
                for (caller, call) in circle {
                    d = d.with_label(Label::new(caller.0, call, "called here"));
                }
                self.errors.push(d.with_help("a repetition with a fixed number of steps is a `for` loop"));
            }
        }
    }

    /// The shortest way from a function to itself: callers with the places of the calls.
    fn circle(&self, start: FnKey) -> Option<Vec<(FnKey, Span)>> {
        let mut from: BTreeMap<FnKey, (FnKey, Span)> = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(caller) = queue.pop_front() {
            for &(target, span) in self.calls.get(&caller).into_iter().flatten() {
                if target == start {
                    let mut way = vec![(caller, span)];
                    while way[0].0 != start {
                        way.insert(0, from[&way[0].0]);
                    }
                    return Some(way);
                }
                if !from.contains_key(&target) {
                    from.insert(target, (caller, span));
                    queue.push_back(target);
                }
            }
        }
        None
    }
}
