//! Replaces functions of encrypted values by polynomials in the Chebyshev basis, or by compositions of them where a jump or a
//! bend is out of reach for one. Clear values keep their exact functions.
//!
//! The interval is `on`, or the analysed range with the errors of the functions before it. The error is `within`, or what the
//! outputs can bear ([`crate::analysis::tolerance`]); with `degree` it is whatever that degree reaches, checked against
//! `within` if both are given.

use crate::analysis::interval::{Range, show_number};
use crate::analysis::range::Ranges;
use crate::analysis::tolerance::{Tolerance, tolerances};
use crate::approximate::fit::{Approximant, MAX_DEGREE, Request, fit_degree, fit_within};
use crate::approximate::piecewise::{Part, Piecewise, piecewise};
use crate::diag::{Code, Diagnostic, Diagnostics, Label};
use crate::ir::op::Approximation;
use crate::ir::{Graph, NodeId, Op};
use crate::passes::arithmetic::ApproximationReport;
use crate::passes::rewrite::Rewrite;
use grammar::Span;
use plan::{Function, TensorOp};

/// The degree of a call does not reach its error.
pub const DEGREE_TOO_LOW: Code = Code("E0710");
/// Nothing that is tried reaches the error of a call.
pub const OUT_OF_REACH: Code = Code("E0711");

/// A program without functions of encrypted values.
#[derive(Clone, Debug)]
pub struct Approximated {
    /// the program
    pub graph: Graph,
    /// what became of every function
    pub reports: Vec<ApproximationReport>,
}

/// Approximates every function of an encrypted value.
///
/// # Errors
/// One message for every call whose wishes cannot be met.
pub fn approximate_functions(g: &Graph, ranges: &Ranges) -> Result<Approximated, Diagnostics> {
    let tolerances = tolerances(g, ranges);
    let mut a = Approximator { reports: vec![], errors: Diagnostics::new(), known: vec![] };
    let mut reached = Ranges::new();
    let graph = Rewrite::each(g, |r, id| {
        let span = g.node(id).span;
        let made = match &g.node(id).op {
            Op::Function { function, .. } if !g.is_cipher(id) => {
                r.tensor(TensorOp::Apply { function: *function }, &r.args(id), span)
            }
            Op::Function { function, wish } => {
                let range = argument(*function, ranges[g.args(id)[0]], reached[r.args(id)[0]]);
                let call = Call::new(*function, wish, range, tolerances[id.index()], span);
                match a.chosen(&call) {
                    Some(chosen) => emit(r, &call, &chosen, r.args(id)[0]),
                    None => r.copy(id),
                }
            }
            _ => r.copy(id),
        };
        reached.extend(r.graph());
        made
    });
    if a.errors.has_errors() { Err(a.errors) } else { Ok(Approximated { graph, reports: a.reports }) }
}

/// Where an argument lies: its exact range, and what the errors of functions before it add as long as that is in the domain.
fn argument(function: Function, exact: Range, reached: Range) -> Range {
    let both = exact.hull(reached);
    if both.is_unknown() || !function.defined_on(both.low, both.high) { exact } else { both }
}

/// A call of a function with everything that is known about it.
struct Call {
    request: Request,
    wish: Approximation,
    tolerance: Tolerance,
    span: Option<Span>,
}

impl Call {
    fn new(
        function: Function,
        wish: &Approximation,
        range: Range,
        tolerance: Tolerance,
        span: Option<Span>,
    ) -> Call {
        let (low, high) = wish.on.unwrap_or((range.low, range.high));
        Call { request: Request { function, low, high, gap: wish.gap }, wish: *wish, tolerance, span }
    }
    /// The largest error that will do.
    fn within(&self) -> f64 {
        self.wish.within.unwrap_or(self.tolerance.relaxed)
    }
}

/// What takes the place of a function.
#[derive(Clone, Debug)]
enum Chosen {
    Polynomial(Approximant),
    Piecewise(Piecewise),
}

impl Chosen {
    fn depth(&self) -> u32 {
        match self {
            Chosen::Polynomial(p) => p.depth(),
            Chosen::Piecewise(p) => p.depth(),
        }
    }

    fn error(&self) -> f64 {
        match self {
            Chosen::Polynomial(p) => p.error,
            Chosen::Piecewise(p) => p.error,
        }
    }

    fn report(&self, call: &Call) -> ApproximationReport {
        let (gap, degree, interval) = match self {
            Chosen::Polynomial(p) => (p.gap, p.degree(), (p.low, p.high)),
            Chosen::Piecewise(p) => (p.gap, p.degree(), (call.request.low, call.request.high)),
        };
        ApproximationReport {
            function: call.request.function,
            interval,
            gap,
            degree,
            depth: self.depth(),
            error_bound: self.error(),
            span: call.span,
        }
    }
}

/// What will do, or the closest polynomial that will not.
type Outcome = Result<Chosen, Approximant>;

/// What decides about the outcome: the call, its errors, its degree.
type Wanted = (Request, f64, f64, Option<u32>);

struct Approximator {
    reports: Vec<ApproximationReport>,
    errors: Diagnostics,
    /// calls that were worked out before
    known: Vec<(Wanted, Outcome)>,
}

impl Approximator {
    fn chosen(&mut self, call: &Call) -> Option<Chosen> {
        let rule = call.wish.within.unwrap_or(call.tolerance.rule);
        let wanted = (call.request, rule, call.within(), call.wish.degree);
        let known = self.known.iter().find(|k| k.0 == wanted).map(|k| k.1.clone());
        let outcome = known.unwrap_or_else(|| {
            let outcome = outcome(call);
            self.known.push((wanted, outcome.clone()));
            outcome
        });
        match outcome {
            Ok(chosen) => {
                self.reports.push(chosen.report(call));
                Some(chosen)
            }
            Err(closest) => {
                self.errors.push(refusal(call, &closest));
                None
            }
        }
    }
}

fn outcome(call: &Call) -> Outcome {
    if let Some(degree) = call.wish.degree {
        let p = fit_degree(&call.request, degree as usize, call.wish.within);
        let missed = call.wish.within.is_some_and(|within| p.error > within);
        return if missed { Err(p) } else { Ok(Chosen::Polynomial(p)) };
    }
    if let Some(within) = call.wish.within {
        let fit = fit_within(&call.request, within).map(Chosen::Polynomial);
        return fit.or_else(|closest| composition(&call.request, within).ok_or(closest));
    }
    let Tolerance { rule, relaxed, .. } = call.tolerance;
    match (fit_within(&call.request, rule), fit_within(&call.request, relaxed)) {
        (Ok(finer), Ok(coarser)) if finer.depth() <= coarser.depth() => Ok(Chosen::Polynomial(finer)),
        (_, Ok(coarser)) => Ok(Chosen::Polynomial(coarser)),
        (Ok(finer), Err(_)) => Ok(Chosen::Polynomial(finer)),
        (Err(_), Err(closest)) => composition(&call.request, relaxed).ok_or(closest),
    }
}

fn composition(request: &Request, within: f64) -> Option<Chosen> {
    piecewise(request, within).map(Chosen::Piecewise)
}

/// Why a call is refused.
fn refusal(call: &Call, closest: &Approximant) -> Diagnostic {
    let Request { function, low, high, .. } = call.request;
    let (name, interval) = (function.name(), Range::new(low, high));
    let (within, reached) = (show_number(call.within()), show_number(closest.error));
    let label = |text: String| Label::main(call.span.unwrap_or_default(), text);
    if let Some(degree) = call.wish.degree {
        let message = format!("`{name}` with degree {degree} cannot be within {within} on {interval}");
        let label = label(format!("the best polynomial of degree {degree} misses by {reached}"));
        let help = match fit_within(&call.request, call.within()) {
            Ok(p) => format!("degree {} is enough; without `degree` it is chosen", p.degree()),
            Err(_) => format!("no degree up to {MAX_DEGREE} is enough: allow a larger `within`"),
        };
        return Diagnostic::error(DEGREE_TOO_LOW, message, label).with_help(help);
    }
    let message = format!("`{name}` cannot be approximated within {within} on {interval}");
    let label = label(format!("degree {}, the largest that is tried, misses by {reached}", closest.degree()));
    let help = format!(
        "allow an error with `within = {reached}` or more, or narrow the interval with `on = [low, high]`{}",
        if takes_gap(function) { ", or leave a wider zone around the jump or bend with `gap`" } else { "" }
    );
    let diagnostic = Diagnostic::error(OUT_OF_REACH, message, label).with_help(help);
    if call.wish.within.is_some() {
        return diagnostic;
    }
    let precision = show_number(call.tolerance.precision);
    diagnostic.with_note(format!("the error is chosen for an output of precision {precision}"))
}

fn takes_gap(f: Function) -> bool {
    matches!(f, Function::Sign | Function::Step | Function::Abs | Function::Relu)
}

/// The approximation, marked with its error and the range of the exact function.
fn emit(r: &mut Rewrite, call: &Call, chosen: &Chosen, x: NodeId) -> NodeId {
    let shape = r.graph().shape(x).to_vec();
    let Request { function, low, high, .. } = call.request;
    let value = match chosen {
        Chosen::Polynomial(p) if p.error == 0.0 && p.degree() == 0 => {
            return r.uniform(&shape, p.coefficients[0], call.span);
        }
        Chosen::Polynomial(p)
            if p.error == 0.0 && function.eval(low) == low && function.eval(high) == high =>
        {
            return x;
        }
        Chosen::Polynomial(p) => chebyshev(r, &p.coefficients, p.low, p.high, x, call.span),
        Chosen::Piecewise(p) => {
            let parts: Vec<NodeId> = p.parts.iter().map(|part| emit_part(r, part, x, call.span)).collect();
            let sum =
                parts.into_iter().reduce(|a, b| r.tensor(TensorOp::Add, &[a, b], call.span)).unwrap_or(x);
            plus(r, sum, p.offset, call.span)
        }
    };
    let exact = Range::new(low, high).function(function);
    r.add(Op::Approximated { error: chosen.error(), low: exact.low, high: exact.high }, &[value], call.span)
}

fn chebyshev(r: &mut Rewrite, c: &[f64], low: f64, high: f64, x: NodeId, span: Option<Span>) -> NodeId {
    r.tensor(TensorOp::Chebyshev { coefficients: c.to_vec(), low, high }, &[x], span)
}

fn plus(r: &mut Rewrite, x: NodeId, number: f64, span: Option<Span>) -> NodeId {
    if number == 0.0 {
        return x;
    }
    let shape = r.graph().shape(x).to_vec();
    let number = r.uniform(&shape, number, span);
    r.tensor(TensorOp::Add, &[x, number], span)
}

fn emit_part(r: &mut Rewrite, part: &Part, x: NodeId, span: Option<Span>) -> NodeId {
    let distance = plus(r, x, -part.shift, span);
    let mut value = distance;
    for (i, stage) in part.stages.iter().enumerate() {
        let reach = if i == 0 { part.reach } else { 1.0 };
        value = chebyshev(r, stage, -reach, reach, value, span);
    }
    if part.product { r.tensor(TensorOp::Mul, &[distance, value], span) } else { value }
}
