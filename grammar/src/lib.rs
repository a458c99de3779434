//! The fhec language: text to syntax tree.
//!
//! [`parse`] reads a whole file, whatever is in it: every mistake becomes a [`SyntaxError`], what could not be read an
//! `Error` node of the [`Ast`]. It never panics and never recurses deeper than [`MAX_NESTING`] allows.
//!
//! Steps: `token` (text to tokens), `blocks` and `brackets` (balance, nesting), the grammar `fhec.lalrpop` with its actions
//! in `nodes`. What the grammar refuses goes to `recover`, which leaves out the `statement` and parses again, and to
//! `hints`, which explains. `print` is the way back: an [`Ast`] displays as a program.

pub mod ast;
mod blocks;
mod brackets;
mod error;
mod expected;
mod hints;
mod nodes;
mod number;
mod print;
mod recover;
mod span;
mod statement;
mod token;

#[allow(clippy::all, unused_qualifications, missing_docs)]
mod fhec {
    include!(concat!(env!("OUT_DIR"), "/fhec.rs"));
}

pub use ast::Ast;
pub use error::{SyntaxError, code};
pub use span::Span;

/// How deep brackets, blocks, signs, powers and indexings may nest.
pub const MAX_NESTING: usize = 128;

/// How many errors are reported for one file.
pub const MAX_ERRORS: usize = 100;

/// Reads a source file. The errors are in the order of the text; without errors the tree has no `Error` nodes.
/// After more than [`MAX_ERRORS`] errors the last one says so ([`code::TOO_MANY`]) and the tree may be empty.
///
/// ```
/// let (ast, errors) = grammar::parse("model square {\n  input x : cipher f64[3] in [-1, 1]\n  output y = x * x;\n}");
/// assert_eq!(errors[0].message, "a `;` is missing");
/// assert_eq!(ast.model.unwrap().body.len(), 2);
/// ```
pub fn parse(source: &str) -> (Ast, Vec<SyntaxError>) {
    let mut errors = Vec::new();
    let tokens = token::tokens(source, &mut errors);
    let tokens = blocks::balance(source, tokens, &mut errors);
    let tokens = brackets::check(&tokens, &mut errors);
    let ast = recover::parse(source, tokens, &mut errors);
    errors.sort_by_key(|error| error.span);
    if ast.is_none() || errors.len() > MAX_ERRORS {
        errors.truncate(MAX_ERRORS);
        let span = errors.last().map(|last| last.span).unwrap_or_default();
        errors.push(SyntaxError::new(code::TOO_MANY, "too many errors", span, "the next ones are not shown"));
    }
    (ast.unwrap_or_default(), errors)
}
