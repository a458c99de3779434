//! Every program of the corpus through the front end: right ones give the expected outputs in the interpreter, wrong ones
//! the expected messages.

mod front_files;

use compiler::analysis::range::overflows;
use compiler::diag::{Diagnostic, Diagnostics, Severity};
use compiler::from_ast::{Program, build};
use compiler::interpret::{OutOfRange, interpret};
use compiler::source::Sources;
use front_files::{FileLoader, corpus, read_npy};
use plan::Tensor;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn read(path: &Path) -> (Sources, Result<Program, Diagnostics>) {
    let (sources, found) = Sources::read(&path.to_string_lossy(), &FileLoader).unwrap();
    let program = build(&sources, found, &FileLoader);
    (sources, program)
}

fn inputs(folder: &Path, entry: &Value) -> BTreeMap<String, Tensor> {
    let file = |v: &Value| v.as_str().or(v["file"].as_str()).unwrap().to_string();
    let inputs = entry["inputs"].as_object().unwrap();
    inputs.iter().map(|(name, v)| (name.clone(), read_npy(&folder.join(file(v))))).collect()
}

/// Message, labels and help of a diagnostic, in lower case.
fn text(d: &Diagnostic) -> String {
    let labels = d.secondary.iter().map(|l| l.text.as_str());
    let all: Vec<&str> = [d.message.as_str(), &d.primary.text]
        .into_iter()
        .chain(labels)
        .chain(d.help.iter().map(String::as_str))
        .chain(d.notes.iter().map(String::as_str))
        .collect();
    all.join("\n").to_lowercase()
}

fn mentions(d: &Diagnostic, expected: &Value) -> bool {
    let text = text(d);
    list(expected, "mention").iter().all(|w| text.contains(&w.as_str().unwrap().to_lowercase()))
}

fn lines(sources: &Sources, d: &Diagnostic) -> Vec<u64> {
    let others = d.secondary.iter().map(|l| (l.file, l.span));
    let all = std::iter::once((d.primary.file, d.primary.span)).chain(others);
    all.map(|(file, span)| sources.line(file, span) as u64).collect()
}

/// Whether a diagnostic is the expected one: place, other places, words.
fn matches(sources: &Sources, d: &Diagnostic, expected: &Value) -> bool {
    let lines = lines(sources, d);
    let good = |line: u64| {
        expected["line"].as_u64() == Some(line)
            || list(expected, "or_lines").iter().any(|l| l.as_u64() == Some(line))
    };
    good(lines[0])
        && list(expected, "also_lines").iter().all(|l| lines[1..].contains(&l.as_u64().unwrap()))
        && mentions(d, expected)
}

/// Holds the errors found against the expected ones; returns what is wrong.
fn compare(entry: &Value, sources: &Sources, found: &Diagnostics, skip: &[u64]) -> Vec<String> {
    let errors: Vec<&Diagnostic> = found.iter().filter(|d| d.severity == Severity::Error).collect();
    let expected: Vec<&Value> =
        list(entry, "errors").iter().filter(|e| !skip.contains(&e["line"].as_u64().unwrap())).collect();
    let mut wrong: Vec<String> = expected
        .iter()
        .filter(|e| !errors.iter().any(|d| matches(sources, d, e)))
        .map(|e| format!("missing: {e}"))
        .collect();
    if entry["no_other_errors"].as_bool() == Some(true) {
        let extra = errors.iter().filter(|d| !expected.iter().any(|e| matches(sources, d, e)));
        wrong.extend(extra.map(|d| format!("extra: {}", d.message)));
        if errors.len() > expected.len() {
            wrong.push(format!("{} errors for {}", errors.len(), expected.len()));
        }
    }
    wrong
}

fn check_right(folder: &str, list_name: &str, index: &str) {
    let folder = corpus().join(folder);
    let manifest = json(&folder.join(index));
    let mut wrong = Vec::new();
    for entry in list(&manifest, list_name).iter().filter(|e| e["exit"].as_i64().unwrap_or(0) == 0) {
        let name = entry["name"].as_str().unwrap();
        let (sources, program) = read(&folder.join(entry["program"].as_str().unwrap()));
        let program = match program {
            Ok(program) => program,
            Err(found) => {
                wrong.push(format!("{name} is refused:\n{}", found.render(&sources, false)));
                continue;
            }
        };
        let rejected = &entry["or_rejects"];
        let too_large = overflows(&program.graph, &program.ranges);
        if !too_large.is_empty() && !too_large.iter().all(|d| matches(&sources, d, rejected)) {
            wrong.push(format!("{name} overflows:\n{}", too_large.render(&sources, false)));
        }
        for expected in list(entry, "warnings") {
            if !program.warnings.iter().any(|d| matches(&sources, d, expected)) {
                wrong.push(format!("{name} lacks the warning {expected}"));
            }
        }
        if program.warnings.len() > list(entry, "warnings").len() {
            wrong.push(format!("{name} has other warnings:\n{}", program.warnings.render(&sources, false)));
        }
        wrong.extend(compare_outputs(name, &folder, entry, &program, &sources));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn compare_outputs(
    name: &str,
    folder: &Path,
    entry: &Value,
    program: &Program,
    sources: &Sources,
) -> Vec<String> {
    let run = match interpret(&program.graph, &inputs(folder, entry), OutOfRange::Refuse) {
        Ok(run) => run,
        Err(found) => return vec![format!("{name} does not run:\n{}", found.render(sources, false))],
    };
    let expected = entry["outputs"].as_object().unwrap();
    let mut wrong = Vec::new();
    if expected.len() != program.graph.outputs.len() {
        wrong.push(format!("{name} has {} outputs", program.graph.outputs.len()));
    }
    for (decl, value) in program.graph.outputs.iter().zip(&run.values) {
        let want = &expected[&decl.name];
        let tensor = read_npy(&folder.join(want["file"].as_str().unwrap()));
        if tensor.shape() != value.shape() {
            wrong.push(format!("{name}.{}: shape {:?} for {:?}", decl.name, value.shape(), tensor.shape()));
            continue;
        }
        let difference = tensor.zip(value, |a, b| a - b).max_abs();
        let tolerance = 1e-9 * (1.0 + want["max_abs"].as_f64().unwrap());
        if difference.is_nan() || difference > tolerance {
            wrong.push(format!("{name}.{}: off by {difference:e}", decl.name));
        }
        if want["precision"].as_f64().is_some_and(|p| p != decl.precision) {
            wrong.push(format!("{name}.{}: precision {}", decl.name, decl.precision));
        }
        let range = program.ranges[decl.node];
        if let Some(&x) =
            value.data().iter().find(|&&x| x < range.low - tolerance || x > range.high + tolerance)
        {
            wrong.push(format!("{name}.{}: {x} outside the analysed range {range}", decl.name));
        }
    }
    wrong
}

#[test]
fn right_programs_give_their_outputs() {
    check_right("programs", "programs", "manifest.json");
}

#[test]
fn cases_give_their_outputs() {
    check_right("cases", "cases", "cases.json");
}

#[test]
fn wrong_programs_are_explained() {
    let folder = corpus().join("bad");
    let manifest = json(&folder.join("bad.json"));
    let mut wrong = Vec::new();
    for entry in list(&manifest, "programs") {
        let (sources, program) = read(&folder.join(entry["program"].as_str().unwrap()));
        let (found, skip): (Diagnostics, &[u64]) = match (program, entry["command"].as_str().unwrap()) {
            (Err(found), _) => (found, &[]),
            (Ok(p), "run") => {
                let run = interpret(&p.graph, &inputs(&folder, entry), OutOfRange::Refuse);
                (run.err().unwrap_or_default(), &[])
            }
            // the planner's part: a depth that no modulus has room for
            (Ok(p), _) => (overflows(&p.graph, &p.ranges), &[8]),
        };
        let name = entry["name"].as_str().unwrap();
        let mistakes = compare(entry, &sources, &found, skip);
        if !mistakes.is_empty() {
            wrong.push(format!("{name}: {}\n{}", mistakes.join("\n"), found.render(&sources, false)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_cases_are_explained() {
    let folder = corpus().join("cases");
    let manifest = json(&folder.join("cases.json"));
    for entry in list(&manifest, "cases").iter().filter(|e| e["exit"].as_i64() == Some(1)) {
        let (sources, program) = read(&folder.join(entry["program"].as_str().unwrap()));
        match entry["command"].as_str().unwrap() {
            "check" => {
                let found = program.unwrap_err();
                assert_eq!(
                    compare(entry, &sources, &found, &[]),
                    [""; 0],
                    "{}",
                    found.render(&sources, false)
                );
            }
            // the planner's part: right as a program
            _ => {
                assert!(program.is_ok_and(|p| overflows(&p.graph, &p.ranges).is_empty()), "{}", entry["name"])
            }
        }
    }
}
