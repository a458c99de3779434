//! What the grammar's actions do beyond storing their parts: values of literals and settings, and the mistakes that are
//! easier to explain than to forbid by the grammar.

use crate::ast::*;
use crate::error::{SyntaxError, code};
use crate::number;
use crate::span::Span;

/// An entry of a file or of a model.
pub(crate) enum Entry {
    Import(Import),
    Model(Model),
    /// `None`: refused and reported.
    Directive(Option<Directive>),
    Stmt(Box<Stmt>),
}

pub(crate) fn file(parts: Vec<Entry>, errors: &mut Vec<SyntaxError>) -> Ast {
    let has_model = parts.iter().any(|part| matches!(part, Entry::Model(_)));
    let mut ast = Ast::default();
    let mut told = false;
    for part in parts {
        match part {
            Entry::Import(import) => ast.imports.push(import),
            Entry::Model(model) => match &ast.model {
                None => ast.model = Some(model),
                Some(first) => errors.push(
                    SyntaxError::new(code::PLACE, "one model a file", model.name.span, "second model")
                        .with_label(first.name.span, "first model")
                        .with_help(
                            "functions and constants may live in a file of their own: `import \"file.fhe\";`",
                        ),
                ),
            },
            Entry::Stmt(stmt) => ast.items.push(match *stmt {
                Stmt::Fn(def) => Item::Fn(def),
                Stmt::Const(def) => Item::Const(def),
                Stmt::Error(broken) => Item::Error(broken),
                stmt => {
                    if has_model || !told {
                        errors.push(outside_model(&stmt, has_model));
                    }
                    told = true;
                    Item::Error(Broken { defines: defines(&stmt), span: stmt_span(&stmt) })
                }
            }),
            Entry::Directive(_) => {}
        }
    }
    ast
}

fn outside_model(stmt: &Stmt, has_model: bool) -> SyntaxError {
    let message = format!("{} belongs inside the model", stmt_kind(stmt));
    let error = SyntaxError::new(code::PLACE, message, stmt_span(stmt), "outside the model");
    error.with_help(match has_model {
        true => "only `import`, `fn` and `const` may stand outside",
        false => "put the statements in `model NAME { .. }`",
    })
}

fn stmt_kind(stmt: &Stmt) -> &'static str {
    match stmt {
        Stmt::Input(_) => "`input`",
        Stmt::Const(_) => "`const`",
        Stmt::Let(_) => "`let`",
        Stmt::Fn(_) => "`fn`",
        Stmt::For(_) => "`for`",
        Stmt::Output(_) => "`output`",
        Stmt::Assign(_) | Stmt::Error(_) => "an assignment",
    }
}

fn stmt_span(stmt: &Stmt) -> Span {
    match stmt {
        Stmt::Input(s) => s.span,
        Stmt::Const(s) => s.span,
        Stmt::Let(s) => s.span,
        Stmt::Assign(s) => s.span,
        Stmt::Fn(s) => s.span,
        Stmt::For(s) => s.span,
        Stmt::Output(s) => s.span,
        Stmt::Error(s) => s.span,
    }
}

fn defines(stmt: &Stmt) -> Vec<Name> {
    match stmt {
        Stmt::Input(s) => s.names.clone(),
        Stmt::Let(Let { pattern: Pattern::Name(name), .. }) => vec![name.clone()],
        Stmt::Let(Let { pattern: Pattern::Tuple(names), .. }) => names.clone(),
        Stmt::Output(s) => s.names.clone(),
        _ => Vec::new(),
    }
}

pub(crate) fn model(name: Name, entries: Vec<Entry>, span: Span, errors: &mut Vec<SyntaxError>) -> Model {
    let mut model = Model { name, directives: Vec::new(), body: Vec::new(), span };
    for entry in entries {
        match entry {
            Entry::Stmt(stmt) => model.body.push(*stmt),
            Entry::Directive(Some(directive)) => {
                let same = |other: &&Directive| {
                    std::mem::discriminant(&other.kind) == std::mem::discriminant(&directive.kind)
                };
                if let Some(first) = model.directives.iter().find(same) {
                    errors.push(
                        SyntaxError::new(
                            code::DIRECTIVE,
                            "the same setting twice",
                            directive.span,
                            "second time",
                        )
                        .with_label(first.span, "first time"),
                    );
                    continue;
                }
                if let Some(stmt) = model.body.iter().find(|stmt| !matches!(stmt, Stmt::Error(_))) {
                    errors.push(
                        SyntaxError::new(
                            code::DIRECTIVE,
                            "settings open the model",
                            directive.span,
                            "too late",
                        )
                        .with_label(stmt_span(stmt), "must stand before this"),
                    );
                }
                model.directives.push(directive);
            }
            Entry::Directive(None) | Entry::Import(_) | Entry::Model(_) => {}
        }
    }
    model
}

/// Reports that a setting has no value of that name.
fn unknown_choice(what: &str, span: Span, text: &str, choices: &str, errors: &mut Vec<SyntaxError>) {
    errors.push(
        SyntaxError::new(code::DIRECTIVE, format!("there is no {what} `{text}`"), span, "unknown")
            .with_help(format!("write {choices}")),
    );
}

pub(crate) fn scheme(choice: Name, errors: &mut Vec<SyntaxError>) -> Option<DirectiveKind> {
    match choice.text.as_str() {
        "auto" => Some(DirectiveKind::Scheme(SchemeChoice::Auto)),
        "gl" => Some(DirectiveKind::Scheme(SchemeChoice::Gl)),
        "ckks" => Some(DirectiveKind::Scheme(SchemeChoice::Ckks)),
        other => {
            unknown_choice("scheme", choice.span, other, "`auto`, `gl` or `ckks`", errors);
            None
        }
    }
}

pub(crate) fn security(text: &str, span: Span, errors: &mut Vec<SyntaxError>) -> Option<DirectiveKind> {
    match text {
        "128" => Some(DirectiveKind::Security(128)),
        "192" => Some(DirectiveKind::Security(192)),
        "256" => Some(DirectiveKind::Security(256)),
        other => {
            unknown_choice("security level", span, other, "`128`, `192` or `256`, in bits", errors);
            None
        }
    }
}

pub(crate) fn bootstrap(choice: Name, errors: &mut Vec<SyntaxError>) -> Option<DirectiveKind> {
    match choice.text.as_str() {
        "auto" => Some(DirectiveKind::Bootstrap(BootstrapChoice::Auto)),
        "off" => Some(DirectiveKind::Bootstrap(BootstrapChoice::Off)),
        other => {
            unknown_choice("bootstrap setting", choice.span, other, "`auto` or `off`", errors);
            None
        }
    }
}

pub(crate) fn memory(
    amount: &str,
    start: usize,
    unit: Name,
    errors: &mut Vec<SyntaxError>,
) -> Option<DirectiveKind> {
    let factor = match unit.text.as_str() {
        "B" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1048576.0,
        "GiB" => 1073741824.0,
        "TiB" => 1099511627776.0,
        other => {
            unknown_choice("unit", unit.span, other, "`B`, `KiB`, `MiB`, `GiB` or `TiB`", errors);
            return None;
        }
    };
    let bytes = number::value(amount) * factor;
    if (1.0..u64::MAX as f64).contains(&bytes) {
        return Some(DirectiveKind::Memory(bytes as u64));
    }
    let span = Span::new(start, unit.span.end);
    unknown_choice(
        "machine with memory",
        span,
        &format!("{amount} {}", unit.text),
        "1 byte to 2^64 bytes",
        errors,
    );
    None
}

pub(crate) fn elem_type(name: &Name, errors: &mut Vec<SyntaxError>) -> ElemType {
    ElemType::from_name(&name.text).unwrap_or_else(|| {
        errors.push(
            SyntaxError::new(
                code::TYPE,
                format!("there is no element type `{}`", name.text),
                name.span,
                "unknown",
            )
            .with_help("write `f64`, as in `f64[3, 4]`; a scalar is `f64`"),
        );
        ElemType::F64
    })
}

pub(crate) fn interval(bounds: Vec<Expr>, span: Span, errors: &mut Vec<SyntaxError>) -> Interval {
    match <[Expr; 2]>::try_from(bounds) {
        Ok([lo, hi]) => Interval { lo, hi, span },
        Err(bounds) => {
            let label = match bounds.len() {
                1 => "1 bound".to_string(),
                n => format!("{n} bounds"),
            };
            errors.push(
                SyntaxError::new(code::RANGE, "a range has two bounds: `[low, high]`", span, label)
                    .with_help("write it as in `in [-1, 1]`"),
            );
            let unknown = Expr { kind: ExprKind::Error, span };
            Interval { lo: unknown.clone(), hi: unknown, span }
        }
    }
}

/// An expression where a statement belongs.
pub(crate) fn unused(value: Expr, errors: &mut Vec<SyntaxError>) -> Stmt {
    errors.push(
        SyntaxError::new(code::RESULT, "this value is not used", value.span, "not a statement")
            .with_help("name it: `let y = ..;`; the result of a function stands last, without `;`"),
    );
    Stmt::Error(Broken { defines: Vec::new(), span: value.span })
}

/// A lone `;`.
pub(crate) fn empty(span: Span, errors: &mut Vec<SyntaxError>) -> Stmt {
    errors.push(
        SyntaxError::new(code::RESULT, "no statement before this `;`", span, "one `;` too many")
            .with_help("a block ends with `}` alone"),
    );
    Stmt::Error(Broken { defines: Vec::new(), span })
}

/// The result of a function's block; silent about a missing one if the statement before it is reported.
pub(crate) fn result(
    body: &[Stmt],
    result: Option<Expr>,
    brace: Span,
    errors: &mut Vec<SyntaxError>,
) -> Expr {
    result.unwrap_or_else(|| {
        let reported = body.last().is_some_and(|last| {
            let end = stmt_span(last).after();
            let unfinished = |error: &SyntaxError| error.code == code::SEMICOLON && error.span == end;
            matches!(last, Stmt::Error(_)) || errors.iter().any(unfinished)
        });
        if !reported {
            errors.push(
                SyntaxError::new(
                    code::RESULT,
                    "the function has no result",
                    brace,
                    "expected an expression here",
                )
                .with_help("the result stands last, without `;`: `{ let s = x + y; s / 2 }`"),
            );
        }
        Expr { kind: ExprKind::Error, span: brace }
    })
}

/// The one name a broken header defines.
pub(crate) fn only_name(defines: Vec<Name>, span: Span) -> Name {
    defines.into_iter().next().unwrap_or(Name { text: "_".to_string(), span })
}

pub(crate) fn broken_for(defines: Vec<Name>, header: Span, body: Vec<Stmt>, span: Span) -> For {
    let bound = Expr { kind: ExprKind::Error, span: header };
    For { var: only_name(defines, header), lo: bound.clone(), hi: bound, body, span }
}

pub(crate) fn output(
    names: Vec<Name>,
    value: Option<Expr>,
    range: Option<Interval>,
    precision: Option<Expr>,
    span: Span,
    errors: &mut Vec<SyntaxError>,
) -> Output {
    let Some(value) = value else { return Output { names, value: None, range, precision, span } };
    if let [first, .., last] = names.as_slice() {
        errors.push(
            SyntaxError::new(code::PLACE, "one output a value", first.span.to(last.span), "several names")
                .with_help("write an `output` for each, or `let (a, b) = ..;` and then `output a, b;`"),
        );
    }
    Output { names, value: Some(value), range, precision, span }
}

pub(crate) fn number(text: &str) -> ExprKind {
    ExprKind::Number {
        value: number::value(text),
        text: text.to_string(),
        is_integer: number::is_integer(text),
    }
}

pub(crate) fn chain(first: Expr, rest: Vec<Link>) -> Expr {
    match rest.last() {
        None => first,
        Some(last) => {
            let span = first.span.to(last.value.span);
            Expr { kind: ExprKind::Chain { first: first.into(), rest }, span }
        }
    }
}

pub(crate) fn negative(start: usize, operand: Expr) -> Expr {
    let span = Span::new(start, operand.span.end);
    Expr { kind: ExprKind::Neg(operand.into()), span }
}

pub(crate) fn power(base: Expr, op_span: Span, exponent: Expr) -> Expr {
    let span = base.span.to(exponent.span);
    Expr { kind: ExprKind::Pow { base: base.into(), op_span, exponent: exponent.into() }, span }
}

pub(crate) fn index(base: Expr, items: Vec<IndexItem>, end: usize) -> Expr {
    let span = Span::new(base.span.start, end);
    Expr { kind: ExprKind::Index { base: base.into(), items }, span }
}

pub(crate) fn tuple(first: Expr, rest: Vec<Expr>, at: usize, errors: &mut Vec<SyntaxError>) -> ExprKind {
    if rest.is_empty() {
        let comma = Span::new(at - 1, at);
        errors.push(
            SyntaxError::new(code::UNEXPECTED, "a tuple has two entries or more", comma, "one entry")
                .with_help("without the comma these are parentheses; a list is `[a]`"),
        );
        return ExprKind::Error;
    }
    let mut entries = vec![first];
    entries.extend(rest);
    ExprKind::Tuple(entries)
}
