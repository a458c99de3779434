//! The fhec language: text to syntax tree.

pub mod ast;
mod error;
mod span;

pub use ast::Ast;
pub use error::{SyntaxError, code};
pub use span::Span;

/// How deep brackets, blocks, signs, powers and indexings may nest.
pub const MAX_NESTING: usize = 128;
