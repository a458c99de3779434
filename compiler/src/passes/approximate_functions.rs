//! Replaces functions of encrypted values by polynomials in the Chebyshev basis. Clear values keep their exact functions.
//!
//! The interval is `on`, or the analysed range. The error is `within`, or what the outputs can bear by a rough estimate; with
//! `degree` it is whatever that degree reaches, checked against `within` if both are given.

use crate::analysis::interval::{Range, show_number};
use crate::analysis::range::Ranges;
use crate::analysis::sensitivity::sensitivities;
use crate::approximate::fit::{Approximant, MAX_DEGREE, Request, fit_degree, fit_within};
use crate::diag::{Code, Diagnostic, Diagnostics, Label};
use crate::ir::op::Approximation;
use crate::ir::{Graph, NodeId, Op};
use crate::passes::arithmetic::ApproximationReport;
use crate::passes::rewrite::Rewrite;
use grammar::Span;
use plan::{Function, TensorOp};

/// The degree of a call does not reach its error.
pub const DEGREE_TOO_LOW: Code = Code("E0701");
/// No polynomial that is tried reaches the error of a call.
pub const OUT_OF_REACH: Code = Code("E0702");
/// The error of a call is larger than the precision of an output that it reaches.
pub const TOO_COARSE: Code = Code("W0701");

/// Part of an output's precision that one function may use up where the program does not say.
const SHARE: f64 = 1.0 / 8.0;
/// Default errors are at most this much smaller, however an output may magnify them by the estimate.
const FINEST: f64 = 1.0 / 16.0;
/// Error of a call that reaches no output.
const UNREAD: f64 = 1e-3;

/// A program without functions of encrypted values.
#[derive(Clone, Debug)]
pub struct Approximated {
    /// the program
    pub graph: Graph,
    /// what became of every function
    pub reports: Vec<ApproximationReport>,
    /// warnings
    pub warnings: Diagnostics,
}

/// Approximates every function of an encrypted value.
///
/// # Errors
/// One message for every call whose wishes cannot be met.
pub fn approximate_functions(g: &Graph, ranges: &Ranges) -> Result<Approximated, Diagnostics> {
    let weights = sensitivities(g, ranges);
    let mut a = Approximator {
        reports: vec![],
        errors: Diagnostics::new(),
        warnings: Diagnostics::new(),
        known: vec![],
    };
    let mut reached = Ranges::new();
    let graph = Rewrite::each(g, |r, id| {
        let made = match &g.node(id).op {
            Op::Function { function, .. } if !g.is_cipher(id) => {
                r.tensor(TensorOp::Apply { function: *function }, &r.args(id), g.node(id).span)
            }
            Op::Function { function, wish } => {
                let range = argument(*function, ranges[g.args(id)[0]], reached[r.args(id)[0]]);
                let call = Call::new(g, id, *function, wish, range, weights[id.index()]);
                match a.polynomial(&call) {
                    Some(p) => emit(r, &call, &p, r.args(id)[0]),
                    None => r.copy(id),
                }
            }
            _ => r.copy(id),
        };
        reached.extend(r.graph());
        made
    });
    if a.errors.has_errors() {
        return Err(a.errors);
    }
    Ok(Approximated { graph, reports: a.reports, warnings: a.warnings })
}

/// Where an argument lies: its exact range, and what the errors of functions before it add as long as that is in the domain.
fn argument(function: Function, exact: Range, reached: Range) -> Range {
    let both = exact.hull(reached);
    if both.is_unknown() || !function.defined_on(both.low, both.high) { exact } else { both }
}

/// A call of a function with everything that is known about it.
struct Call {
    request: Request,
    /// asked for, or chosen
    within: f64,
    wish: Approximation,
    /// smallest precision of the outputs that the call reaches, infinite if none
    precision: f64,
    /// see [`sensitivities`]
    weight: f64,
    span: Option<Span>,
}

impl Call {
    fn new(
        g: &Graph,
        id: NodeId,
        function: Function,
        wish: &Approximation,
        range: Range,
        weight: f64,
    ) -> Call {
        let (low, high) = wish.on.unwrap_or((range.low, range.high));
        let precision = reached_precision(g, id);
        let bearable = if weight > 0.0 { (SHARE / weight).max(FINEST * SHARE * precision) } else { UNREAD };
        let within = wish.within.unwrap_or(bearable);
        let request = Request { function, low, high, gap: wish.gap };
        Call { request, within, wish: *wish, precision, weight, span: g.node(id).span }
    }

    fn label(&self, text: String) -> Label {
        Label::main(self.span.unwrap_or_default(), text)
    }

    fn interval(&self) -> String {
        Range::new(self.request.low, self.request.high).to_string()
    }
}

/// Smallest precision of the outputs that depend on a node.
fn reached_precision(g: &Graph, id: NodeId) -> f64 {
    let mut reached = vec![false; g.len()];
    reached[id.index()] = true;
    for n in g.ids().skip(id.index() + 1) {
        reached[n.index()] = g.args(n).iter().any(|a| reached[a.index()]);
    }
    let outputs = g.outputs.iter().filter(|o| reached[o.node.index()]);
    outputs.map(|o| o.precision).fold(f64::INFINITY, f64::min)
}

/// A polynomial that will do, or the closest one that will not.
type Fitted = Result<Approximant, Approximant>;

/// What decides about the polynomial: the call, its error, its degree.
type Wanted = (Request, f64, Option<u32>);

struct Approximator {
    reports: Vec<ApproximationReport>,
    errors: Diagnostics,
    warnings: Diagnostics,
    /// calls that were worked out before
    known: Vec<(Wanted, Fitted)>,
}

impl Approximator {
    fn polynomial(&mut self, call: &Call) -> Option<Approximant> {
        match self.fitted(call) {
            Ok(p) => {
                self.report(call, &p);
                Some(p)
            }
            Err(closest) => {
                self.errors.push(refusal(call, &closest));
                None
            }
        }
    }

    fn fitted(&mut self, call: &Call) -> Fitted {
        let wanted = (call.request, call.within, call.wish.degree);
        if let Some(known) = self.known.iter().find(|k| k.0 == wanted) {
            return known.1.clone();
        }
        let result = match call.wish.degree {
            None if call.wish.within.is_some() => fit_within(&call.request, call.within),
            None => fit_within(&call.request, call.within)
                .or_else(|_| fit_within(&call.request, call.within.max(SHARE * call.precision))),
            Some(degree) => {
                let p = fit_degree(&call.request, degree as usize);
                let missed = call.wish.within.is_some_and(|within| p.error > within);
                if missed { Err(p) } else { Ok(p) }
            }
        };
        self.known.push((wanted, result.clone()));
        result
    }

    fn report(&mut self, call: &Call, p: &Approximant) {
        self.reports.push(ApproximationReport {
            function: call.request.function,
            interval: (p.low, p.high),
            gap: p.gap,
            degree: p.degree(),
            depth: p.depth(),
            error_bound: p.error,
            span: call.span,
        });
        let Some(within) = call.wish.within else { return };
        if within > call.precision && within * call.weight > 1.0 {
            let message = format!(
                "`{}` within {} cannot give an output of precision {}",
                call.request.function.name(),
                show_number(within),
                show_number(call.precision)
            );
            let label = call.label(format!("an error of {} is allowed here", show_number(within)));
            let help = format!("ask for `within = {}` or less", show_number(call.precision * SHARE));
            self.warnings.push(Diagnostic::warning(TOO_COARSE, message, label).with_help(help));
        }
    }
}

/// Why a call is refused.
fn refusal(call: &Call, closest: &Approximant) -> Diagnostic {
    let (name, interval) = (call.request.function.name(), call.interval());
    let (within, reached) = (show_number(call.within), show_number(closest.error));
    if let Some(degree) = call.wish.degree {
        let message = format!("`{name}` with degree {degree} cannot be within {within} on {interval}");
        let label = call.label(format!("the best polynomial of degree {degree} misses by {reached}"));
        let help = match fit_within(&call.request, call.within) {
            Ok(p) => format!("degree {} is enough; without `degree` it is chosen", p.degree()),
            Err(_) => format!("no degree up to {MAX_DEGREE} is enough: allow a larger `within`"),
        };
        return Diagnostic::error(DEGREE_TOO_LOW, message, label).with_help(help);
    }
    let message = format!("`{name}` cannot be approximated within {within} on {interval}");
    let label =
        call.label(format!("degree {}, the largest that is tried, misses by {reached}", closest.degree()));
    let chosen = call.wish.within.is_none();
    let note = chosen
        .then(|| format!("the error follows from an output of precision {}", show_number(call.precision)));
    let mut help = format!(
        "allow an error with `within = {reached}` or more, or narrow the interval with `on = [low, high]`"
    );
    if takes_gap(call.request.function) {
        help += ", or leave a wider zone around the jump or bend with `gap`";
    }
    let diagnostic = Diagnostic::error(OUT_OF_REACH, message, label).with_help(help);
    note.into_iter().fold(diagnostic, Diagnostic::with_note)
}

fn takes_gap(f: Function) -> bool {
    matches!(f, Function::Sign | Function::Step | Function::Abs | Function::Relu)
}

/// The polynomial, marked with its error and the range of the exact function.
fn emit(r: &mut Rewrite, call: &Call, p: &Approximant, x: NodeId) -> NodeId {
    let shape = r.graph().shape(x).to_vec();
    if p.degree() == 0 && p.error == 0.0 {
        return r.uniform(&shape, p.coefficients[0], call.span);
    }
    let Request { function, low, high, .. } = call.request;
    if p.error == 0.0 && function.eval(low) == low && function.eval(high) == high {
        return x;
    }
    let op = TensorOp::Chebyshev { coefficients: p.coefficients.clone(), low: p.low, high: p.high };
    let value = r.tensor(op, &[x], call.span);
    let exact = Range::new(low, high).function(function);
    r.add(Op::Approximated { error: p.error, low: exact.low, high: exact.high }, &[value], call.span)
}
