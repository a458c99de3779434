//! The dataflow graph of a program.

pub mod graph;
pub mod op;

pub use graph::{Graph, InputDecl, IrNode, NodeId, OutputDecl};
pub use op::Op;
