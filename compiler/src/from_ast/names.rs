//! The table of names while a file is resolved: scopes with what they define, and the messages about names.

use crate::diag::{Code, Diagnostic, Diagnostics, Label, nearest};
use crate::from_ast::builtins;
use crate::source::FileId;
use grammar::Span;
use grammar::ast::{Broken, FnDef, Name};
use std::collections::BTreeMap;

/// A value that is not defined.
pub const UNKNOWN_NAME: Code = Code("E0301");
/// A function that is not defined.
pub const UNKNOWN_FUNCTION: Code = Code("E0302");
/// Two definitions of a name in one scope.
pub const DEFINED_TWICE: Code = Code("E0303");
/// An assignment to what is not `let mut`, or a mutable value inside a function.
pub const MUTABILITY: Code = Code("E0304");
/// A value called, or a function used as a value.
pub const WRONG_NAMESPACE: Code = Code("E0307");
/// A `let` nobody reads, or an input on which no output depends.
pub const UNUSED: Code = Code("W0301");

/// How a value came to be.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
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

/// A value of a scope.
struct Definition {
    kind: Kind,
    label: Label,
    used: bool,
}

/// A function by the place of its name.
pub(super) type FnKey = (FileId, Span);

/// One block.
#[derive(Default)]
struct Scope {
    values: BTreeMap<String, Definition>,
    functions: BTreeMap<String, FnKey>,
    /// the body of a function: mutable values outside are out of reach
    body: bool,
}

/// All scopes around the place that is read.
#[derive(Default)]
pub(super) struct Names {
    pub(super) errors: Diagnostics,
    pub(super) unused: Diagnostics,
    pub(super) file: FileId,
    scopes: Vec<Scope>,
    /// values of scopes that were left
    left: BTreeMap<String, Label>,
}

impl Names {
    /// Starts with a new file.
    pub(super) fn open_file(&mut self, file: FileId) {
        self.file = file;
        self.scopes = vec![Scope::default()];
        self.left.clear();
    }

    /// Opens a scope; a body is that of a function.
    pub(super) fn enter(&mut self, body: bool) {
        self.scopes.push(Scope { body, ..Scope::default() });
    }

    /// Leaves a scope and reports what nobody read.
    pub(super) fn leave(&mut self) {
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

    // Definitions

    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Defines a value.
    pub(super) fn define(&mut self, name: &Name, kind: Kind) {
        let label = Label::new(self.file, name.span, "");
        self.define_at(&name.text, kind, label, "defined again here");
    }

    /// Defines a value at a place; `text` says what to write there if it is defined already.
    pub(super) fn define_at(&mut self, name: &str, kind: Kind, mut label: Label, text: &str) {
        let used = !matches!(kind, Kind::Let | Kind::Mutable);
        let known = |first: &&Definition| first.kind != Kind::Unknown && kind != Kind::Unknown;
        let first = self.scope().values.get(name).filter(known).map(|d| (d.kind, d.label.clone()));
        if let Some((first_kind, mut first)) = first {
            label.text = text.into();
            first.text = format!("first defined here, as {}", first_kind.name());
            let message = format!("`{name}` is defined twice in one scope");
            let help = match (kind, first_kind) {
                (Kind::Output, Kind::Let | Kind::Mutable | Kind::Const | Kind::Input) => {
                    Some(format!("to give out the existing value write `output {name};`"))
                }
                (Kind::Let | Kind::Mutable, Kind::Let | Kind::Mutable) => Some(format!(
                    "use another name, or declare it with `let mut {name}` and assign: `{name} = ..`"
                )),
                _ => None,
            };
            let diagnostic = Diagnostic::error(DEFINED_TWICE, message, label).with_label(first);
            self.errors.push(diagnostic.with_help_if(help));
            return;
        }
        label.text.clear();
        self.scope().values.insert(name.to_string(), Definition { kind, label, used });
    }

    /// Defines a function at a place.
    pub(super) fn define_function(&mut self, name: &str, key: FnKey, mut label: Label, text: &str) {
        if let Some(&(file, span)) = self.scope().functions.get(name) {
            label.text = text.into();
            let message = format!("function `{name}` is defined twice in one scope");
            let first = Label::new(file, span, "first defined here");
            self.errors.push(Diagnostic::error(DEFINED_TWICE, message, label).with_label(first));
            return;
        }
        self.scope().functions.insert(name.to_string(), key);
    }

    /// Defines functions, before the statements of their scope are read.
    pub(super) fn hoist<'a>(&mut self, functions: impl Iterator<Item = &'a FnDef>) {
        for def in functions {
            let label = Label::new(self.file, def.name.span, "");
            self.define_function(&def.name.text, (self.file, def.name.span), label, "defined again here");
        }
    }

    /// Defines what a broken statement may have defined.
    pub(super) fn broken(&mut self, broken: &Broken) {
        for name in &broken.defines {
            self.define(name, Kind::Unknown);
            let key = (self.file, name.span);
            self.scope().functions.entry(name.text.clone()).or_insert(key);
        }
    }

    // Uses

    /// Kind and place of a value, and whether it lies outside the function.
    fn find(&self, name: &str) -> Option<(Kind, Label, bool)> {
        let mut outside = false;
        for scope in self.scopes.iter().rev() {
            if let Some(d) = scope.values.get(name) {
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

    /// Reads a value.
    pub(super) fn value(&mut self, name: &str, span: Span) {
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

    /// The function that is called, if the program defines it.
    pub(super) fn call(&mut self, callee: &Name) -> Option<FnKey> {
        let name = &callee.text;
        let target = self.find_function(name);
        if target.is_some() || builtins::find(name).is_some() {
            return target;
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
        None
    }

    /// Assigns to a value.
    pub(super) fn assign(&mut self, target: &Name) {
        let name = &target.text;
        let place = Label::new(self.file, target.span, "");
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
}
