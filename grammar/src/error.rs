//! Syntax errors, as data: rendering is the caller's.

use crate::span::Span;

/// A mistake in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// One of [`code`].
    pub code: &'static str,
    /// One line, lower case, without a final stop.
    pub message: String,
    /// Where the mistake is; empty where something is missing.
    pub span: Span,
    /// What to write at the span.
    pub label: String,
    /// Other places that explain it.
    pub extra_labels: Vec<(Span, String)>,
    /// How to put it right.
    pub help: Option<String>,
}

impl SyntaxError {
    /// An error with its place and label.
    pub fn new(code: &'static str, message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span,
            label: label.into(),
            extra_labels: Vec::new(),
            help: None,
        }
    }

    /// Adds a place that explains the error.
    pub fn with_label(mut self, span: Span, label: impl Into<String>) -> Self {
        self.extra_labels.push((span, label.into()));
        self
    }

    /// Says how to put it right.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The codes of syntax errors.
pub mod code {
    /// A token that cannot stand here.
    pub const UNEXPECTED: &str = "E0101";
    /// A character the language does not have.
    pub const CHARACTER: &str = "E0102";
    /// A number that is not well formed, or out of the range of f64.
    pub const NUMBER: &str = "E0103";
    /// A string that is not closed or wrongly quoted.
    pub const STRING: &str = "E0104";
    /// A name with other than ASCII characters.
    pub const NAME: &str = "E0105";
    /// A comment that does not start with `//`.
    pub const COMMENT: &str = "E0106";
    /// A missing `;`.
    pub const SEMICOLON: &str = "E0110";
    /// A bracket without its partner.
    pub const BRACKET: &str = "E0111";
    /// Nesting beyond [`MAX_NESTING`](crate::MAX_NESTING).
    pub const NESTING: &str = "E0112";
    /// An attribute, a method or a module: `x.T`, `np.sum(x)`.
    pub const ATTRIBUTE: &str = "E0120";
    /// A comparison.
    pub const COMPARISON: &str = "E0121";
    /// Another language's spelling: `True`, `^`, `+=`.
    pub const SPELLING: &str = "E0122";
    /// An argument written behind its call.
    pub const ARGUMENT: &str = "E0123";
    /// A range that is not `[low, high]`.
    pub const RANGE: &str = "E0130";
    /// An unknown element type, or a type where none belongs.
    pub const TYPE: &str = "E0131";
    /// A directive with an unknown value, twice, or too late.
    pub const DIRECTIVE: &str = "E0132";
    /// A statement that cannot stand at the top of a file, or a second model.
    pub const PLACE: &str = "E0133";
    /// A value that is computed and dropped, or a function without a result.
    pub const RESULT: &str = "E0134";
    /// The rest of the file was not read.
    pub const TOO_MANY: &str = "E0199";
}
