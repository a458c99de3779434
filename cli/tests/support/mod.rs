//! The binary under test, and folders that go away.

#![allow(dead_code)] // each test binary uses a part

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command with arguments, not yet run.
pub fn fhec(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fhec"));
    command.args(arguments).env("NO_COLOR", "1");
    command
}

pub fn run(arguments: &[&str]) -> Output {
    fhec(arguments).output().expect("the binary runs")
}

pub fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal ends it")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output is one JSON object and nothing else.
pub fn json(output: &Output) -> Value {
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "one line: {text}\n{}", stderr(output));
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert!(value.is_object());
    value
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn example(name: &str) -> String {
    repository().join("examples").join(name).join("model.fhe").to_string_lossy().into_owned()
}

/// A corpus file, as text.
pub fn corpus(folder: &str, file: &str) -> String {
    repository().join("tests/corpus").join(folder).join(file).to_string_lossy().into_owned()
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
