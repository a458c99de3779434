//! The pipeline on one screen: text, graph, arithmetic graph, plan; every stage verified before the next.

use crate::analysis::range::overflows;
use crate::cost::machine::SchemeRates;
use crate::diag::{Code, Diagnostic, Diagnostics, Label};
use crate::from_ast::{Program, build};
use crate::ir::Graph;
use crate::ir::verify::{verify, verify_arithmetic};
use crate::lower::error::{INTERNAL, PlanError};
use crate::lower::{Planned, Subject, Target, assumptions, hopeless, plan_scheme};
use crate::passes::{ArithmeticGraph, arithmetic};
use crate::placement::Policy;
use crate::source::{FileId, Loader, Sources};
use grammar::ast::{BootstrapChoice, SchemeChoice};
use plan::{Bytes, Scheme};

/// The predicted error of an output is larger than its precision.
pub const IMPRECISE: Code = Code("W0901");

/// What the user asks for; None leaves it to the program, and then to the compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// which scheme
    pub scheme: Option<SchemeChoice>,
    /// bits of security
    pub security: Option<u32>,
    /// largest absolute error of every output
    pub precision: Option<f64>,
    /// largest memory of a run, in bytes
    pub memory: Option<u64>,
    /// a small ring without any security
    pub toy: bool,
    /// whether values may be bootstrapped
    pub bootstrap: Option<BootstrapChoice>,
    /// how levels and bootstraps are chosen
    pub policy: Policy,
    /// what arithmetic costs; None is the default machine
    pub rates: Option<SchemeRates>,
}

/// A plan with everything a report wants to know.
#[derive(Debug)]
pub struct Compiled {
    /// the program as it was read; the judge of every run
    pub program: Program,
    /// its arithmetic form
    pub arithmetic: ArithmeticGraph,
    /// the cheapest plan
    pub planned: Planned,
    /// the other schemes that were tried: their plan, or why there is none
    pub rejected: Vec<(Scheme, Result<Planned, PlanError>)>,
    /// what the user should know
    pub warnings: Diagnostics,
}

/// Parses and checks a program: all its mistakes, overflow and functions that cannot be approximated included.
///
/// # Errors
/// The mistakes.
pub fn check(sources: &Sources, found: Diagnostics, loader: &dyn Loader) -> Result<Program, Diagnostics> {
    let program = build(sources, found, loader)?;
    verify(&program.graph).map_err(internal)?;
    let (errors, _) = arithmetic_form(&program);
    refuse(errors)?;
    Ok(program)
}

/// Compiles a program that was read ([`Sources::read`]; `found` are the mistakes in its texts).
///
/// # Errors
/// All mistakes of the program, or why there is no plan in any scheme that was asked for.
pub fn compile(
    sources: &Sources,
    found: Diagnostics,
    loader: &dyn Loader,
    options: &Options,
) -> Result<Compiled, Diagnostics> {
    let mut program = build(sources, found, loader)?;
    verify(&program.graph).map_err(internal)?;
    if let Some(precision) = options.precision {
        program.graph.outputs.iter_mut().for_each(|o| o.precision = precision);
    }
    let (mut errors, arithmetic) = arithmetic_form(&program);
    let Some(arithmetic) = arithmetic else { return Err(errors) };
    verify_arithmetic(&arithmetic.graph).map_err(internal)?;

    let source = sources.get(FileId::MAIN).map_or("", |f| f.text.as_str());
    let subject = Subject { program: &arithmetic, source };
    let target = target(&program, options);
    let schemes = schemes(&program, options);
    if errors.has_errors() {
        let deep = schemes.last().map_or(vec![], |&s| hopeless(subject, s, &target));
        deep.iter()
            .filter(|e| matches!(e, PlanError::TooDeep { .. }))
            .for_each(|e| errors.push(e.diagnostic()));
        return Err(errors);
    }
    let memory = options.memory.or(program.directives.memory).map(Bytes);
    let plans =
        schemes.iter().map(|&s| (s, plan_scheme(subject, s, &target).and_then(|p| within(p, memory))));
    let (mut planned, rejected) = cheapest(plans.collect())?;

    planned.plan.assumptions = assumptions(&program.graph, source);
    plan::verify::verify(&planned.plan).map_err(|e| one(PlanError::from(e).diagnostic()))?;
    let mut warnings = program.warnings.clone();
    warnings.extend(imprecise(&planned, &program.graph));
    Ok(Compiled { program, arithmetic, planned, rejected, warnings })
}

/// Overflows of a program, and its arithmetic form or why it has none.
fn arithmetic_form(program: &Program) -> (Diagnostics, Option<ArithmeticGraph>) {
    let mut errors = overflows(&program.graph, &program.ranges);
    match arithmetic(&program.graph) {
        Ok(arithmetic) => (errors, Some(arithmetic)),
        Err(more) => {
            errors.extend(more);
            (errors, None)
        }
    }
}

fn target(program: &Program, options: &Options) -> Target {
    let security = options.security.or(program.directives.security).unwrap_or(Target::default().security);
    let bootstrap = options.bootstrap.or(program.directives.bootstrap) != Some(BootstrapChoice::Off);
    let rates = options.rates.unwrap_or_default();
    Target { security, toy: options.toy, bootstrap, policy: options.policy, rates, ..Target::default() }
}

fn schemes(program: &Program, options: &Options) -> Vec<Scheme> {
    match options.scheme.or(program.directives.scheme).unwrap_or(SchemeChoice::Auto) {
        SchemeChoice::Auto => vec![Scheme::Gl, Scheme::Ckks],
        SchemeChoice::Gl => vec![Scheme::Gl],
        SchemeChoice::Ckks => vec![Scheme::Ckks],
    }
}

fn within(planned: Planned, memory: Option<Bytes>) -> Result<Planned, PlanError> {
    let needed = planned.plan.estimate.peak_bytes;
    match memory {
        Some(available) if needed > available => Err(PlanError::Memory { needed, available }),
        _ => Ok(planned),
    }
}

/// A plan or none, by scheme.
type Outcome = (Scheme, Result<Planned, PlanError>);

/// The cheapest plan and the others; the first scheme's error where there is none.
fn cheapest(mut plans: Vec<Outcome>) -> Result<(Planned, Vec<Outcome>), Diagnostics> {
    let cost = |o: &Outcome| o.1.as_ref().map_or(f64::INFINITY, |p| p.cost);
    let best = (0..plans.len()).min_by(|&a, &b| cost(&plans[a]).total_cmp(&cost(&plans[b]))).unwrap_or(0);
    let (_, outcome) = plans.remove(best);
    match outcome {
        Ok(planned) => Ok((planned, plans)),
        Err(e) => Err(one(e.diagnostic())),
    }
}

/// Warns of outputs whose predicted error is above their precision.
fn imprecise(planned: &Planned, graph: &Graph) -> Diagnostics {
    let mut found = Diagnostics::new();
    for (output, declared) in planned.plan.outputs.iter().zip(&graph.outputs) {
        if output.predicted_error > output.precision {
            let message = format!(
                "the error of `{}` may reach {:.1e}, above its precision {:.1e}",
                output.name, output.predicted_error, output.precision
            );
            let label = Label::main(declared.span.unwrap_or_default(), "this output");
            let note = format!("{:.1e} of it come from approximations", output.approximation_error);
            found.push(Diagnostic::warning(IMPRECISE, message, label).with_note(note));
        }
    }
    found
}

fn refuse(found: Diagnostics) -> Result<(), Diagnostics> {
    if found.has_errors() { Err(found) } else { Ok(()) }
}

fn one(diagnostic: Diagnostic) -> Diagnostics {
    let mut all = Diagnostics::new();
    all.push(diagnostic);
    all
}

fn internal(e: impl std::fmt::Display) -> Diagnostics {
    one(Diagnostic::error(
        INTERNAL,
        format!("the compiler broke a rule of its own: {e}"),
        Label::main(Default::default(), ""),
    ))
}
