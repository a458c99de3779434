//! From a graph in arithmetic form to a plan.
//!
//! Geometry, levels and parameters depend on each other: the ring sets the frame, the frame sets which linear maps need a
//! level, levels set the modulus, the modulus sets the ring. The loop is bounded and visible in [`plan_scheme`]: rings are tried
//! from small to large, each is laid out, scheduled and given parameters, and the first that is secure is taken; in GL the
//! cheapest of the sides that are worth trying.

mod assemble;
mod bootstrapped;
pub mod draft;
pub mod error;
pub mod estimate;
pub mod geometry;
pub mod labelling;
pub mod levels;
pub mod linear;
pub mod orientation;
mod planner;
pub mod refresh;
pub mod schedule;
pub mod tiling;
pub mod vector_products;

use crate::cost::machine::SchemeRates;
use crate::ir::{Graph, Op as IrOp};
use crate::passes::ArithmeticGraph;
use crate::placement::Policy;
use error::PlanError;
use plan::plan::Assumption;
use plan::{Plan, Scheme};
use planner::Planner;

/// What a plan must obey.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// bits of security: 128, 192 or 256
    pub security: u32,
    /// log2 of the largest ring dimension
    pub max_log_degree: u32,
    /// largest side of the matrices of GL, a power of two
    pub max_side: usize,
    /// a small ring without any security, for trials
    pub toy: bool,
    /// whether values may be bootstrapped
    pub bootstrap: bool,
    /// how levels and bootstraps are chosen
    pub policy: Policy,
    /// what arithmetic costs
    pub rates: SchemeRates,
}

impl Default for Target {
    fn default() -> Target {
        Target {
            security: 128,
            max_log_degree: 16,
            max_side: 512,
            toy: false,
            bootstrap: true,
            policy: Policy::Exact,
            rates: SchemeRates::default(),
        }
    }
}

/// A plan with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// the plan, verified; the functions' `on` are gone from the graph, so [`crate::driver`] states them
    pub plan: Plan,
    /// cost of a run, in nanoseconds of [`crate::cost`]
    pub cost: f64,
    /// cost of every node of the plan, in nanoseconds
    pub costs: Vec<f64>,
}

/// A program and the text it comes from, for lines.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// the program
    pub program: &'a ArithmeticGraph,
    /// its text; may be empty
    pub source: &'a str,
}

/// The plan of a program in a scheme.
///
/// # Errors
/// When the program is too deep, a value overflows, matrices do not fit, or memory for laying out linear maps does not suffice.
pub fn plan_scheme(subject: Subject, scheme: Scheme, target: &Target) -> Result<Planned, PlanError> {
    let rewritten;
    let program = match scheme {
        Scheme::Gl => subject.program,
        Scheme::Ckks => {
            rewritten = vector_products::rewrite_vector_products(subject.program)
                .map_err(|e| PlanError::Unsupported(e.to_string(), None))?;
            &rewritten
        }
    };
    let planner = Planner::new(program, subject.source, scheme, target);
    match planner.hopeless().into_iter().next() {
        Some(e) => Err(e),
        None => planner.plan(),
    }
}

/// What rules a program out in a scheme at first sight, without laying anything out: values beyond any modulus, and more
/// levels than any ring has where there are no bootstraps.
pub fn hopeless(subject: Subject, scheme: Scheme, target: &Target) -> Vec<PlanError> {
    Planner::new(subject.program, subject.source, scheme, target).hopeless()
}

/// What the program trusts: `in` of values, `on` of functions, each once.
pub fn assumptions(graph: &Graph, source: &str) -> Vec<Assumption> {
    let mut all: Vec<Assumption> = Vec::new();
    for node in graph.ids().map(|id| graph.node(id)) {
        let (name, (low, high)) = match &node.op {
            IrOp::Assume { name, low, high } if !name.is_empty() => (name.clone(), (*low, *high)),
            IrOp::Function { function, wish } => match wish.on {
                Some(on) => (function.name().to_string(), on),
                None => continue,
            },
            _ => continue,
        };
        let line = node.span.map_or(0, |s| s.line_column(source).0 as u32);
        let assumption = Assumption { name, low, high, line };
        if !all.contains(&assumption) {
            all.push(assumption);
        }
    }
    all
}
