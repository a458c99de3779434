//! The dataflow graph of a program.

pub mod graph;
mod lex;
pub mod op;
pub mod parse;
pub mod print;
pub mod verify;

pub use graph::{Graph, InputDecl, IrNode, NodeId, OutputDecl};
pub use op::Op;
pub use parse::parse;
pub use verify::{VerifyError, verify};
