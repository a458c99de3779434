//! From the graph of a program to its arithmetic form.

use crate::analysis::range::analyse;
use crate::diag::Diagnostics;
use crate::ir::{Graph, NodeId};
use crate::passes::absorb_scales::absorb_scales;
use crate::passes::approximate_functions::approximate_functions;
use crate::passes::balance_products::balance_products;
use crate::passes::clean::clean;
use crate::passes::distribute_scales::distribute_scales;
use crate::passes::expand_polynomials::expand_polynomials;
use crate::passes::expand_powers::expand_powers;
use crate::passes::fit_arguments::fit_arguments;
use crate::passes::fuse_linear::fuse_linear;
use crate::passes::to_linear::to_linear;
use grammar::Span;
use plan::Function;
use std::collections::BTreeMap;

/// A program in arithmetic form. On encrypted values it has only `Input`, `Assume`, `Combine` and the tensor operations
/// * `Add` (the second operand may be clear), `Sub`, `Neg`,
/// * `Mul` and `MatMul` of two encrypted values,
/// * `Linear` with the encrypted value first.
///
/// Everything else is clear: inputs, constants and tensor operations among them. [`crate::ir::verify::verify_arithmetic`]
/// checks it.
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

/// Brings a program to arithmetic form. Its ranges are known and free of errors: see [`crate::analysis::range`].
///
/// # Errors
/// Functions that cannot be approximated as the program asks.
pub fn arithmetic(graph: &Graph) -> Result<ArithmeticGraph, Diagnostics> {
    let graph = clean(graph);
    let approximated = approximate_functions(&graph, &analyse(&graph))?;
    let graph = expand_powers(&approximated.graph, &analyse(&approximated.graph));
    let graph = clean(&to_linear(&balance_products(&clean(&graph))));
    let graph = distribute_scales(&absorb_scales(&fit_arguments(&graph)));
    let graph = clean(&fuse_linear(&clean(&graph)));
    let expanded = expand_polynomials(&graph, &analyse(&graph));
    Ok(ArithmeticGraph {
        graph: expanded.graph,
        ranges: expanded.ranges.pairs(),
        approximations: approximated.reports,
        errors: expanded.errors,
    })
}
