//! What single cases ask for beyond right outputs: levels, keys, equal outputs, errors that grow no more than stated.

use fhec_tests::{Case, Job, load_cases};
use plan::{KeyKind, Plan, Scheme};
use runtime::exec::Precision;

fn cases() -> Vec<Case> {
    load_cases("cases", "cases.json", "cases")
}

fn plan_of(case: &Case, scheme: Scheme) -> Option<Plan> {
    Job::new(&case.file, scheme, false, &case.inputs).ok().map(|job| job.plan().clone())
}

/// Limits of the case that the plan breaks.
fn broken(case: &Case, plan: &Plan) -> Vec<String> {
    let count = |wanted: fn(&KeyKind) -> bool| plan.keys.iter().filter(|k| wanted(&k.kind)).count() as u64;
    let rotations = count(|k| matches!(k, KeyKind::Rotate(_)));
    let relinearizations = count(|k| *k == KeyKind::Relinearize);
    let limits = [
        ("levels", &case.entry["levels"][plan.geometry.scheme.name()], u64::from(plan.estimate.levels_used)),
        ("rotation keys", &case.entry["rotation_keys"], rotations),
        ("relinearization keys", &case.entry["relinearization_keys"], relinearizations),
    ];
    let over = limits.into_iter().filter(|(_, limit, found)| limit.as_u64().is_some_and(|l| *found > l));
    over.map(|(what, limit, found)| format!("{found} {what}, at most {limit}")).collect()
}

#[test]
fn plans_stay_within_levels_and_keys() {
    let mut failures = Vec::new();
    for (case, scheme) in cases().iter().flat_map(|c| [(c, Scheme::Ckks), (c, Scheme::Gl)]) {
        let Some(plan) = plan_of(case, scheme) else { continue };
        let broken = broken(case, &plan);
        if !broken.is_empty() {
            failures.push(format!("{} in {}: {broken:?}", case.name, scheme.name()));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn outputs_that_are_one_value_agree() {
    let cases = cases();
    let equal: Vec<&Case> = cases.iter().filter(|c| c.entry["equal"].is_array()).collect();
    assert!(!equal.is_empty());
    for (case, scheme) in equal.iter().flat_map(|c| [(c, Scheme::Ckks), (c, Scheme::Gl)]) {
        let job = Job::new(&case.file, scheme, true, &case.inputs).expect("the case has a plan");
        let nodes: Vec<_> = job.plan().outputs.iter().map(|o| o.node).collect();
        assert!(nodes.windows(2).all(|w| w[0] == w[1]), "{}: computed once", case.name);
        let outputs = job.encrypted().expect("the case runs");
        assert_eq!(outputs[0], outputs[1], "{}", case.name);
    }
}

#[test]
fn constants_cost_little_precision() {
    let cases = cases();
    let factors: Vec<&Case> = cases.iter().filter(|c| c.entry["error_factor"].is_array()).collect();
    assert!(!factors.is_empty());
    for (case, scheme) in factors.iter().flat_map(|c| [(c, Scheme::Ckks), (c, Scheme::Gl)]) {
        let job = Job::new(&case.file, scheme, false, &case.inputs).expect("the case has a plan");
        let (judged, found) = (job.interpreted().expect("it runs"), job.encrypted().expect("it runs"));
        let relative = |name: &str| {
            let i = job.plan().outputs.iter().position(|o| o.name == name).expect("an output of the case");
            let error = Precision::of(&found[i], &judged[i]).expect("the same shape");
            error.mean / judged[i].max_abs()
        };
        for f in case.entry["error_factor"].as_array().expect("a list") {
            let (output, base) = (f["output"].as_str().expect("a name"), f["base"].as_str().expect("a name"));
            let limit = f["factor"].as_f64().expect("a number") * relative(base);
            assert!(relative(output) <= limit, "{} in {}: {output} against {base}", case.name, scheme.name());
        }
    }
}
