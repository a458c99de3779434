//! The plans of the examples, as text, in both schemes: a change of any of them is a change to review.

use fhec_tests::Job;
use plan::Scheme;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name).join("model.fhe")
}

fn text(name: &str, scheme: Scheme) -> String {
    match Job::new(&example(name), scheme, false, &BTreeMap::new()) {
        Ok(job) => job.plan().to_string(),
        Err(refusal) => format!("no plan: {refusal}"),
    }
}

#[test]
fn plans_of_the_examples() {
    for name in ["attention", "digits", "distance", "regression", "sobel"] {
        for scheme in [Scheme::Ckks, Scheme::Gl] {
            insta::assert_snapshot!(format!("{name}_{}", scheme.name()), text(name, scheme));
        }
    }
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    for scheme in [Scheme::Ckks, Scheme::Gl] {
        let json = || {
            let job = Job::new(&example("distance"), scheme, false, &BTreeMap::new());
            job.expect("the example has a plan").plan().to_json()
        };
        assert_eq!(json(), json());
    }
}
