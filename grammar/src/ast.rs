//! The syntax tree. It owns its text, every node carries its [`Span`], and it says nothing about names, types or
//! shapes: those are the compiler's.
//!
//! Depth is bounded by [`MAX_NESTING`](crate::MAX_NESTING): a chain `a + b - c` is one [`ExprKind::Chain`] however
//! long, so a recursive walk (also the derived `Clone`, `Drop` and `Debug`) cannot overflow the stack.
//!
//! What could not be read stays as an `Error` node. It has been reported already: a later stage treats it as an
//! unknown value and says nothing more about it.

use crate::span::Span;

/// A source file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ast {
    /// `import "file.fhe";`, in order.
    pub imports: Vec<Import>,
    /// Functions and constants outside the model.
    pub items: Vec<Item>,
    /// The model; a file that is only imported has none.
    pub model: Option<Model>,
}

/// An identifier where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// `import "path";`
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The path as written, relative to this file.
    pub path: String,
    /// The quoted path.
    pub path_span: Span,
    /// The whole statement.
    pub span: Span,
}

/// What may stand outside the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A function.
    Fn(FnDef),
    /// A constant.
    Const(Const),
    /// Could not be read.
    Error(Broken),
}

/// `model name { directives; statements }`
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name.
    pub name: Name,
    /// Settings at the top; each kind at most once.
    pub directives: Vec<Directive>,
    /// The statements in order.
    pub body: Vec<Stmt>,
    /// From `model` to the closing brace.
    pub span: Span,
}

/// A setting of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Directive {
    /// Which one.
    pub kind: DirectiveKind,
    /// The whole statement.
    pub span: Span,
}

/// The settings a model may open with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectiveKind {
    /// `scheme auto | gl | ckks;`
    Scheme(SchemeChoice),
    /// `security 128 | 192 | 256;`, in bits.
    Security(u32),
    /// `bootstrap auto | off;`
    Bootstrap(BootstrapChoice),
    /// `memory 16 GiB;`, in bytes.
    Memory(u64),
}

/// Which scheme evaluates the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemeChoice {
    /// The compiler chooses.
    Auto,
    /// GL: matrices.
    Gl,
    /// CKKS: vectors.
    Ckks,
}

/// Whether the compiler may bootstrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootstrapChoice {
    /// Where it pays.
    Auto,
    /// Never.
    Off,
}

/// A statement. The parser accepts every kind in every block; the compiler refuses those out of place.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `input x, y : cipher f64[3] in [-1, 1];`
    Input(Input),
    /// `const n : f64 = 64;`
    Const(Const),
    /// `let x = e;`
    Let(Let),
    /// `x = e;`
    Assign(Assign),
    /// `fn f(x) = e;`
    Fn(FnDef),
    /// `for i in 0..n { .. }`
    For(For),
    /// `output y = e;`
    Output(Output),
    /// Could not be read.
    Error(Broken),
}

/// A statement that could not be read, reported already.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The names it seems to define (values or functions): unknown, but not undefined.
    pub defines: Vec<Name>,
    /// The text that was skipped.
    pub span: Span,
}

/// `input names : secrecy type in [lo, hi];`
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// One or more names that share the declaration.
    pub names: Vec<Name>,
    /// Encrypted, or known to the evaluator.
    pub secrecy: Secrecy,
    /// Element type and shape.
    pub ty: Type,
    /// The declared range. `None`: left out, which the compiler has to refuse.
    pub range: Option<Interval>,
    /// The whole statement.
    pub span: Span,
}

/// Who knows an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// Encrypted.
    Cipher,
    /// Known to the evaluator at run time.
    Plain,
}

/// An element type with dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// The element type.
    pub elem: ElemType,
    /// One size per axis; `None` without brackets: a scalar.
    pub dims: Option<Vec<Expr>>,
    /// The whole type.
    pub span: Span,
}

/// An element type. All but `F64` are reserved for an exact backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ElemType {
    F64,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    Bool,
}

impl ElemType {
    /// Every element type with its spelling.
    pub const ALL: [(&'static str, ElemType); 10] = [
        ("f64", ElemType::F64),
        ("u8", ElemType::U8),
        ("u16", ElemType::U16),
        ("u32", ElemType::U32),
        ("u64", ElemType::U64),
        ("i8", ElemType::I8),
        ("i16", ElemType::I16),
        ("i32", ElemType::I32),
        ("i64", ElemType::I64),
        ("bool", ElemType::Bool),
    ];

    /// The type spelled so, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(spelling, _)| *spelling == name).map(|&(_, elem)| elem)
    }

    /// Its spelling.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, elem)| *elem == self).map_or("", |&(spelling, _)| spelling)
    }
}

/// `in [lo, hi]`
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub lo: Expr,
    /// Upper bound, included.
    pub hi: Expr,
    /// From `in` to the bracket.
    pub span: Span,
}

/// `const name : type = value;`
#[derive(Clone, Debug, PartialEq)]
pub struct Const {
    /// The name.
    pub name: Name,
    /// The type to check the value against, if given.
    pub ty: Option<Type>,
    /// The value.
    pub value: Expr,
    /// The whole statement.
    pub span: Span,
}

/// `let pattern = value in [lo, hi];`
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// `let mut`.
    pub mutable: bool,
    /// What the value is bound to.
    pub pattern: Pattern,
    /// The value.
    pub value: Expr,
    /// Assumed range.
    pub range: Option<Interval>,
    /// The whole statement.
    pub span: Span,
}

/// The left side of a `let`.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// One name.
    Name(Name),
    /// `(a, b)`: the entries of a tuple.
    Tuple(Vec<Name>),
}

/// `name = value in [lo, hi];`
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// The name assigned to.
    pub name: Name,
    /// The new value.
    pub value: Expr,
    /// Assumed range.
    pub range: Option<Interval>,
    /// The whole statement.
    pub span: Span,
}

/// `fn name(params) = result;` or `fn name(params) { body result }`
#[derive(Clone, Debug, PartialEq)]
pub struct FnDef {
    /// The function's name.
    pub name: Name,
    /// The parameters.
    pub params: Vec<Name>,
    /// The statements before the result.
    pub body: Vec<Stmt>,
    /// The result.
    pub result: Expr,
    /// The whole definition.
    pub span: Span,
}

/// `for var in lo..hi { body }`
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The loop variable.
    pub var: Name,
    /// First value.
    pub lo: Expr,
    /// One past the last value.
    pub hi: Expr,
    /// The statements of one step.
    pub body: Vec<Stmt>,
    /// The whole loop.
    pub span: Span,
}

/// `output names in [lo, hi] precision p;` or `output name = value in [lo, hi] precision p;`
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The outputs; exactly one when there is a value.
    pub names: Vec<Name>,
    /// The value, unless the names exist already.
    pub value: Option<Expr>,
    /// Assumed range, of every name.
    pub range: Option<Interval>,
    /// Absolute error allowed, of every name.
    pub precision: Option<Expr>,
    /// The whole statement.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands, with its parentheses.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A literal, at least 0 and finite.
    Number {
        /// Its value, rounded to f64.
        value: f64,
        /// As written.
        text: String,
        /// Written without a dot and without an exponent.
        is_integer: bool,
    },
    /// `"text"`
    Str(String),
    /// `true`, `false`
    Bool(bool),
    /// A value's name.
    Name(String),
    /// `-x`
    Neg(Box<Expr>),
    /// A chain of operators of one precedence (only `+ -`, or only `* / @`), applied from the left:
    /// `first op value op value ..`. The part up to a link spans `first.span.to(link.value.span)`.
    Chain {
        /// The leftmost operand.
        first: Box<Expr>,
        /// The operators with their right operands, at least one.
        rest: Vec<Link>,
    },
    /// `base ** exponent`
    Pow {
        /// The base.
        base: Box<Expr>,
        /// The operator.
        op_span: Span,
        /// The exponent.
        exponent: Box<Expr>,
    },
    /// `callee(args)`
    Call {
        /// The function's name.
        callee: Name,
        /// The arguments in the order written.
        args: Vec<Arg>,
    },
    /// `base[items]`
    Index {
        /// What is indexed.
        base: Box<Expr>,
        /// One entry per position, at least one.
        items: Vec<IndexItem>,
    },
    /// `[a, b]`
    List(Vec<Expr>),
    /// `[body for var in lo..hi]`
    Comprehension {
        /// The entry.
        body: Box<Expr>,
        /// The variable.
        var: Name,
        /// First value.
        lo: Box<Expr>,
        /// One past the last value.
        hi: Box<Expr>,
    },
    /// `(a, b)`, at least two entries.
    Tuple(Vec<Expr>),
    /// Could not be read.
    Error,
}

/// An operator and its right operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The operator.
    pub op: BinaryOp,
    /// Where the operator stands.
    pub op_span: Span,
    /// The right operand.
    pub value: Expr,
}

/// The operators of an [`ExprKind::Chain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `@`
    MatMul,
}

impl BinaryOp {
    /// Its spelling.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::MatMul => "@",
        }
    }
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// `axis` in `axis = 0`.
    pub name: Option<Name>,
    /// The value.
    pub value: Expr,
    /// The whole argument.
    pub span: Span,
}

/// An entry between the brackets of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexItem {
    /// What it is.
    pub kind: IndexKind,
    /// The whole entry.
    pub span: Span,
}

/// The kinds of index entries.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexKind {
    /// One position: the axis goes.
    At(Expr),
    /// `lo:hi:step`
    Slice {
        /// First position.
        lo: Option<Expr>,
        /// One past the last position.
        hi: Option<Expr>,
        /// Distance.
        step: Option<Expr>,
    },
    /// `...`: the axes not named.
    Ellipsis,
    /// `None`: a new axis of size 1.
    NewAxis,
}
