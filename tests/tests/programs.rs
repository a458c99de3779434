//! Every right program of the corpus: numpy = interpreter = plan in clear = both schemes, within what is predicted and what
//! the corpus allows. Toy rings by default; `FHEC_SLOW=1` adds real parameters and the long programs.

use fhec_tests::{Case, Job, Refusal, load_cases, slow};
use plan::Scheme;
use runtime::exec::Precision;
use std::fmt::Write;

/// The rings on which something does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    /// small ones without security
    Toy,
    /// secure ones
    Real,
}

/// What does not work, where, and why. An entry that starts to work fails the test, as does a program without an entry that
/// does not work. Plans beyond the memory of the machine are left out, with a message.
const KNOWN: [(&str, Scheme, On, &str); 3] = [
    ("matmul_tall_wide", Scheme::Ckks, On::Toy, "a product of 100 x 100 matrices needs 16384 slots"),
    ("gram", Scheme::Ckks, On::Toy, "a product of 50 x 50 matrices needs 4096 slots"),
    ("pca_power", Scheme::Ckks, On::Toy, "a product of 50 x 50 matrices needs 4096 slots"),
];

/// Programs that take many seconds even on toy rings.
const LONG: [&str; 1] = ["logreg_train"];

/// Programs that run at real parameters by default.
const REAL: [&str; 4] = ["arith_corners", "sobel", "matmul_batched", "digits_mlp"];

fn check(case: &Case, scheme: Scheme, toy: bool) -> Result<(), String> {
    let job = match Job::new(&case.file, scheme, toy, &case.inputs) {
        Err(refusal) if may_be_refused(case, &refusal) => return Ok(()),
        other => other.map_err(|refusal| refusal.to_string())?,
    };
    let plan = job.plan();
    if let Err(e) = runtime::exec::memory::check(plan) {
        eprintln!("{} in {} is left out: {e}", case.name, scheme.name());
        return Ok(());
    }
    let judged = job.interpreted()?;
    for (output, found) in plan.outputs.iter().zip(&judged) {
        let (expected, _) = case.outputs.get(&output.name).ok_or(format!("no output {}", output.name))?;
        within("interpreter", &output.name, found, expected, 1e-9 * (1.0 + expected.max_abs()))?;
    }
    for ((output, found), judged) in plan.outputs.iter().zip(job.simulated()?).zip(&judged) {
        let rounding = 1e-9 * (1.0 + judged.max_abs());
        within("in clear", &output.name, &found, judged, output.approximation_error + rounding)?;
    }
    for ((output, found), judged) in plan.outputs.iter().zip(job.encrypted()?).zip(&judged) {
        let (expected, tolerance) = &case.outputs[&output.name];
        within("encrypted, predicted", &output.name, &found, judged, output.predicted_error)?;
        within("encrypted, allowed", &output.name, &found, expected, *tolerance)?;
    }
    Ok(())
}

/// Some cases may be refused, in the right words.
fn may_be_refused(case: &Case, refusal: &Refusal) -> bool {
    let wanted = &case.entry["or_rejects"];
    let words: Vec<String> = wanted["mention"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|w| w.as_str())
        .map(str::to_lowercase)
        .collect();
    refusal
        .messages
        .iter()
        .any(|(line, text)| wanted["line"] == *line && words.iter().all(|w| text.to_lowercase().contains(w)))
}

fn within(
    what: &str,
    name: &str,
    found: &plan::Tensor,
    expected: &plan::Tensor,
    limit: f64,
) -> Result<(), String> {
    let precision = Precision::of(found, expected).ok_or(format!("{what}: {name} has another shape"))?;
    if precision.max <= limit {
        return Ok(());
    }
    Err(format!("{what}: {name} is off by {:.3e}, the limit is {limit:.3e}", precision.max))
}

fn run(cases: &[Case], toy: bool, wanted: impl Fn(&Case) -> bool) {
    let mut failures = String::new();
    for case in cases.iter().filter(|c| wanted(c)) {
        for scheme in [Scheme::Ckks, Scheme::Gl] {
            let on = if toy { On::Toy } else { On::Real };
            let known = KNOWN.iter().find(|k| (k.0, k.1, k.2) == (case.name.as_str(), scheme, on));
            let result = check(case, scheme, toy);
            let _ = match (result, known) {
                (Ok(()), None) | (Err(_), Some(_)) => Ok(()),
                (Ok(()), Some((.., reason))) => {
                    writeln!(
                        failures,
                        "{} in {}: works now; it was listed: {reason}",
                        case.name,
                        scheme.name()
                    )
                }
                (Err(e), None) => writeln!(failures, "{} in {}: {e}", case.name, scheme.name()),
            };
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

fn long(case: &Case) -> bool {
    LONG.contains(&case.name.as_str())
}

#[test]
fn programs_on_toy_rings() {
    run(&load_cases("programs", "manifest.json", "programs"), true, |c| slow() || !long(c));
}

#[test]
fn cases_on_toy_rings() {
    run(&load_cases("cases", "cases.json", "cases"), true, |_| true);
}

#[test]
fn programs_at_real_parameters() {
    let wanted = |c: &Case| slow() || REAL.contains(&c.name.as_str());
    run(&load_cases("programs", "manifest.json", "programs"), false, wanted);
}

#[test]
fn cases_at_real_parameters() {
    run(&load_cases("cases", "cases.json", "cases"), false, |_| slow());
}
