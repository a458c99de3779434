//! The tree as text again, in one fixed layout with only the parentheses it needs: `parse` reads it back to the same
//! tree, spans apart. An `Error` node prints as `<error>`, which is not in the language.

use crate::ast::*;
use std::fmt::{Display, Formatter, Result};

/// How tightly an expression binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Unary,
    Postfix,
}

fn level(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::Chain { rest, .. } => match rest.first().map(|link| link.op) {
            Some(BinaryOp::Add | BinaryOp::Sub) => Level::Sum,
            _ => Level::Product,
        },
        ExprKind::Neg(_) | ExprKind::Pow { .. } => Level::Unary,
        _ => Level::Postfix,
    }
}

/// An expression where at least this level is needed.
struct At<'a>(Level, &'a Expr);

impl Display for At<'_> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        if level(self.1) < self.0 { write!(f, "({})", self.1) } else { write!(f, "{}", self.1) }
    }
}

/// Entries with a separator between them.
struct Separated<'a, T>(&'a [T], &'a str);

impl<T: Display> Display for Separated<'_, T> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        for (position, entry) in self.0.iter().enumerate() {
            write!(f, "{}{entry}", if position > 0 { self.1 } else { "" })?;
        }
        Ok(())
    }
}

/// An optional part with what stands before it.
struct Part<'a, T>(&'a str, &'a Option<T>);

impl<T: Display> Display for Part<'_, T> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        self.1.as_ref().map_or(Ok(()), |part| write!(f, "{}{part}", self.0))
    }
}

/// Lines between braces, indented.
struct Block(Vec<String>);

impl Block {
    /// Statements, then perhaps a result.
    fn new(body: &[Stmt], result: Option<&Expr>) -> Self {
        Block(body.iter().map(Stmt::to_string).chain(result.map(Expr::to_string)).collect())
    }
}

impl Display for Block {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self.0.as_slice() {
            [] => f.write_str("{ }"),
            lines => write!(f, "{{\n  {}\n}}", lines.join("\n").replace('\n', "\n  ")),
        }
    }
}

impl Display for Ast {
    fn fmt(&self, f: &mut Formatter) -> Result {
        self.imports.iter().try_for_each(|import| writeln!(f, "import \"{}\";", import.path))?;
        for item in &self.items {
            match item {
                Item::Fn(def) => writeln!(f, "{def}")?,
                Item::Const(def) => writeln!(f, "{def}")?,
                Item::Error(_) => writeln!(f, "<error>")?,
            }
        }
        self.model.as_ref().map_or(Ok(()), |model| writeln!(f, "{model}"))
    }
}

impl Display for Model {
    fn fmt(&self, f: &mut Formatter) -> Result {
        let settings = self.directives.iter().map(Directive::to_string);
        let lines = settings.chain(self.body.iter().map(Stmt::to_string)).collect();
        write!(f, "model {} {}", self.name, Block(lines))
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter) -> Result {
        f.write_str(&self.text)
    }
}

impl Display for Directive {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self.kind {
            DirectiveKind::Scheme(SchemeChoice::Auto) => f.write_str("scheme auto;"),
            DirectiveKind::Scheme(SchemeChoice::Gl) => f.write_str("scheme gl;"),
            DirectiveKind::Scheme(SchemeChoice::Ckks) => f.write_str("scheme ckks;"),
            DirectiveKind::Security(bits) => write!(f, "security {bits};"),
            DirectiveKind::Bootstrap(BootstrapChoice::Auto) => f.write_str("bootstrap auto;"),
            DirectiveKind::Bootstrap(BootstrapChoice::Off) => f.write_str("bootstrap off;"),
            DirectiveKind::Memory(bytes) => write!(f, "memory {bytes} B;"),
        }
    }
}

impl Display for Stmt {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Stmt::Input(Input { names, secrecy, ty, range, .. }) => {
                let secrecy = match secrecy {
                    Secrecy::Cipher => "cipher",
                    Secrecy::Plain => "plain",
                };
                write!(f, "input {} : {secrecy} {ty}{};", Separated(names, ", "), Part(" ", range))
            }
            Stmt::Const(def) => write!(f, "{def}"),
            Stmt::Let(Let { mutable, pattern, value, range, .. }) => {
                let mutable = if *mutable { "mut " } else { "" };
                write!(f, "let {mutable}{pattern} = {value}{};", Part(" ", range))
            }
            Stmt::Assign(Assign { name, value, range, .. }) => {
                write!(f, "{name} = {value}{};", Part(" ", range))
            }
            Stmt::Fn(def) => write!(f, "{def}"),
            Stmt::For(For { var, lo, hi, body, .. }) => {
                write!(f, "for {var} in {lo}..{hi} {}", Block::new(body, None))
            }
            Stmt::Output(Output { names, value, range, precision, .. }) => {
                let (value, range, precision) =
                    (Part(" = ", value), Part(" ", range), Part(" precision ", precision));
                write!(f, "output {}{value}{range}{precision};", Separated(names, ", "))
            }
            Stmt::Error(_) => f.write_str("<error>"),
        }
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Pattern::Name(name) => write!(f, "{name}"),
            Pattern::Tuple(names) => write!(f, "({})", Separated(names, ", ")),
        }
    }
}

impl Display for Const {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(f, "const {}{} = {};", self.name, Part(" : ", &self.ty), self.value)
    }
}

impl Display for FnDef {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(f, "fn {}({}) ", self.name, Separated(&self.params, ", "))?;
        match self.body.as_slice() {
            [] => write!(f, "= {};", self.result),
            body => write!(f, "{}", Block::new(body, Some(&self.result))),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter) -> Result {
        f.write_str(self.elem.name())?;
        self.dims.as_ref().map_or(Ok(()), |dims| write!(f, "[{}]", Separated(dims, ", ")))
    }
}

impl Display for Interval {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(f, "in [{}, {}]", self.lo, self.hi)
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match &self.kind {
            ExprKind::Number { text, .. } | ExprKind::Name(text) => f.write_str(text),
            ExprKind::Str(text) => write!(f, "\"{text}\""),
            ExprKind::Bool(value) => write!(f, "{value}"),
            ExprKind::Neg(operand) => write!(f, "-{}", At(Level::Unary, operand)),
            ExprKind::Chain { first, rest } => {
                let operand = if level(self) == Level::Sum { Level::Product } else { Level::Unary };
                write!(f, "{}", At(operand, first))?;
                rest.iter()
                    .try_for_each(|link| write!(f, " {} {}", link.op.symbol(), At(operand, &link.value)))
            }
            ExprKind::Pow { base, exponent, .. } => {
                write!(f, "{} ** {}", At(Level::Postfix, base), At(Level::Unary, exponent))
            }
            ExprKind::Call { callee, args } => write!(f, "{callee}({})", Separated(args, ", ")),
            ExprKind::Index { base, items } => {
                write!(f, "{}[{}]", At(Level::Postfix, base), Separated(items, ", "))
            }
            ExprKind::List(entries) => write!(f, "[{}]", Separated(entries, ", ")),
            ExprKind::Comprehension { body, var, lo, hi } => write!(f, "[{body} for {var} in {lo}..{hi}]"),
            ExprKind::Tuple(entries) => write!(f, "({})", Separated(entries, ", ")),
            ExprKind::Error => f.write_str("<error>"),
        }
    }
}

impl Display for Arg {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match &self.name {
            Some(name) => write!(f, "{name} = {}", self.value),
            None => write!(f, "{}", self.value),
        }
    }
}

impl Display for IndexItem {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match &self.kind {
            IndexKind::At(position) => write!(f, "{position}"),
            IndexKind::Slice { lo, hi, step } => {
                write!(f, "{}:{}{}", Part("", lo), Part("", hi), Part(":", step))
            }
            IndexKind::Ellipsis => f.write_str("..."),
            IndexKind::NewAxis => f.write_str("None"),
        }
    }
}
