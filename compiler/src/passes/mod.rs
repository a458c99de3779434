//! Passes: plain functions from graph to graph, each keeping the meaning of the program, in files named by verb and object.
//!
//! [`arithmetic`] is the pipeline that takes the graph of a program to additions, products, linear maps and combinations.
//! [`TABLE`] names every pass for `dump` and for tests.

pub mod absorb_scales;
pub mod approximate_functions;
mod arithmetic;
pub mod balance_products;
pub mod clean;
pub mod distribute_scales;
pub mod expand_polynomials;
pub mod expand_powers;
pub mod fit_arguments;
pub mod fold_constants;
pub mod fuse_linear;
pub mod merge_common;
pub mod remove_dead;
mod rewrite;
pub mod simplify;
mod simplify_steps;
pub mod to_linear;

use crate::analysis::range::analyse;
use crate::diag::Diagnostics;
use crate::ir::Graph;

pub use arithmetic::{ApproximationReport, ArithmeticGraph, arithmetic};
pub use rewrite::{known_value, uniform_value};

/// A pass by name.
pub struct Pass {
    /// as `dump --after` spells it
    pub name: &'static str,
    /// what it does, in one line
    pub about: &'static str,
    /// the pass, with the analyses it needs
    pub run: fn(&Graph) -> Result<Graph, Diagnostics>,
}

/// Every pass, in the order of [`arithmetic`].
pub static TABLE: [Pass; 14] = [
    pass("fold_constants", "evaluate clear arithmetic on constants", |g| {
        Ok(fold_constants::fold_constants(g))
    }),
    pass("simplify", "algebra: products by 0 and 1, doubled signs, moves of nothing", |g| {
        Ok(simplify::simplify(g))
    }),
    pass("merge_common", "compute equal values once", |g| Ok(merge_common::merge_common(g))),
    pass("remove_dead", "drop what no output needs", |g| Ok(remove_dead::remove_dead(g))),
    pass("approximate_functions", "functions of encrypted values become polynomials", |g| {
        approximate_functions::approximate_functions(g, &analyse(g)).map(|a| a.graph)
    }),
    pass("expand_powers", "powers become products, polynomials change to the Chebyshev basis", |g| {
        Ok(expand_powers::expand_powers(g, &analyse(g)))
    }),
    pass("balance_products", "products of many factors get the smallest depth", |g| {
        Ok(balance_products::balance_products(g))
    }),
    pass("to_linear", "products with clear values become linear maps", |g| Ok(to_linear::to_linear(g))),
    pass("fit_arguments", "arguments of polynomials go to [-2, 2] where that costs nothing", |g| {
        Ok(fit_arguments::fit_arguments(g))
    }),
    pass("absorb_scales", "factors move into what makes the value", |g| Ok(absorb_scales::absorb_scales(g))),
    pass("distribute_scales", "factors move through sums with clear tensors to the map before", |g| {
        Ok(distribute_scales::distribute_scales(g))
    }),
    pass("fuse_linear", "linear maps that follow each other become one", |g| Ok(fuse_linear::fuse_linear(g))),
    pass("expand_polynomials", "polynomials become products and linear combinations", |g| {
        Ok(expand_polynomials::expand_polynomials(g, &analyse(g)).graph)
    }),
    pass("arithmetic", "all of the above, with cleaning between", |g| arithmetic(g).map(|a| a.graph)),
];

const fn pass(
    name: &'static str,
    about: &'static str,
    run: fn(&Graph) -> Result<Graph, Diagnostics>,
) -> Pass {
    Pass { name, about, run }
}
