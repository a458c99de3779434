//! Passes: plain functions from graph to graph, each keeping the meaning of the program, in files named by verb and object.
//!
//! [`arithmetic`] is the pipeline that takes the graph of a program to additions, products, linear maps and combinations.

mod arithmetic;
pub mod clean;
pub mod fold_constants;
pub mod merge_common;
pub mod remove_dead;
mod rewrite;
pub mod simplify;
mod simplify_steps;

pub use arithmetic::{ApproximationReport, ArithmeticGraph, arithmetic};
pub use rewrite::{known_value, uniform_value};
