//! Wrong programs of the corpus: every mistake is reported in one run, at its place, in its words, as JSON and as text.

mod support;

use serde_json::Value;
use std::time::{Duration, Instant};
use support::{code, corpus, fhec, json, stderr};

fn entries(folder: &str, file: &str, list: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(corpus(folder, file)).expect("the corpus");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let entries = all[list].as_array().expect("a list").iter();
    entries.filter(|e| e["errors"].is_array()).cloned().collect()
}

fn strings(v: &Value) -> Vec<String> {
    v.as_array().into_iter().flatten().filter_map(|s| s.as_str()).map(str::to_lowercase).collect()
}

/// Message, labels, help and notes of an error.
fn said(error: &Value) -> String {
    let labels = error["labels"].as_array().into_iter().flatten().map(|l| l["label"].to_string());
    let parts = [error["message"].to_string(), error["label"].to_string()];
    let rest = ["help", "notes"].map(|key| strings(&error[key]).join(" "));
    parts
        .into_iter()
        .chain(labels)
        .chain(rest)
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
        .replace("\\\"", "\"")
}

/// The errors that are what `wanted` asks for.
fn matching(wanted: &Value, errors: &[Value]) -> Vec<usize> {
    let lines: Vec<&Value> =
        [&wanted["line"]].into_iter().chain(wanted["or_lines"].as_array().into_iter().flatten()).collect();
    let words = strings(&wanted["mention"]);
    let fits = |e: &Value| lines.contains(&&e["line"]) && words.iter().all(|w| said(e).contains(w));
    (0..errors.len()).filter(|&i| fits(&errors[i])).collect()
}

fn check(folder: &str, entry: &Value) -> Result<(), String> {
    let file = corpus(folder, entry["program"].as_str().expect("a name"));
    let mut command = fhec(&[entry["command"].as_str().expect("a command"), &file]);
    for (name, data) in entry["inputs"].as_object().into_iter().flatten() {
        command.args(["--input", &format!("{name}={}", corpus(folder, data.as_str().expect("a file")))]);
    }
    let start = Instant::now();
    let plain = command.output().expect("it runs");
    if start.elapsed() > Duration::from_secs(10) {
        return Err(format!("took {:?}", start.elapsed()));
    }
    let output = command.arg("--json").output().expect("it runs");
    if (code(&plain), code(&output)) != (1, 1) {
        return Err(format!("exit codes {} and {}", code(&plain), code(&output)));
    }
    let found = json(&output)["errors"].as_array().cloned().unwrap_or_default();
    let errors: Vec<Value> = found.into_iter().filter(|e| e["severity"] == "error").collect();
    let text = stderr(&plain);
    let mut explained = vec![false; errors.len()];
    for wanted in entry["errors"].as_array().expect("a list") {
        let hits = matching(wanted, &errors);
        if hits.is_empty() {
            return Err(format!("no error for {wanted} among {errors:#?}"));
        }
        for also in wanted["also_lines"].as_array().into_iter().flatten() {
            let labels = hits.iter().flat_map(|&i| errors[i]["labels"].as_array().into_iter().flatten());
            if !labels.into_iter().any(|l| l["line"] == *also) {
                return Err(format!("no label on line {also} for {wanted}"));
            }
        }
        for i in hits {
            explained[i] = true;
            let place = format!(
                "{}:{}:{}",
                errors[i]["file"].as_str().unwrap_or(""),
                errors[i]["line"],
                errors[i]["column"]
            );
            let title = format!("error[{}]: ", errors[i]["code"].as_str().unwrap_or(""));
            if !text.contains(&place) || !text.contains(&title) {
                return Err(format!("the text lacks `{title}` or `{place}`:\n{text}"));
            }
        }
    }
    let noise = explained.iter().position(|e| !e).filter(|_| entry["no_other_errors"] == true);
    noise.map_or(Ok(()), |i| Err(format!("one error too many: {}", errors[i])))
}

fn check_all(folder: &str, file: &str, list: &str) {
    let failures: Vec<String> = entries(folder, file, list)
        .iter()
        .filter_map(|e| check(folder, e).err().map(|f| format!("{}: {f}", e["name"])))
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn every_mistake_is_reported() {
    check_all("bad", "bad.json", "programs");
}

#[test]
fn cases_without_a_meaning_are_refused() {
    check_all("cases", "cases.json", "cases");
}
