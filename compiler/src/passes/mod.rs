//! Passes: plain functions from graph to graph, each keeping the meaning of the program, in files named by verb and object.
//!
//! [`arithmetic`] is the pipeline that takes the graph of a program to additions, products, linear maps and combinations.

mod arithmetic;
pub mod remove_dead;
mod rewrite;

pub use arithmetic::{ApproximationReport, ArithmeticGraph, arithmetic};
