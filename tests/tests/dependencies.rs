//! Dependencies point one way: `grammar <- compiler -> plan <- runtime`.

use std::collections::BTreeSet;
use std::process::Command;

/// Crates of ours and those of ours they may use, also through others.
const ARROWS: [(&str, &[&str]); 4] = [
    ("fhec-grammar", &[]),
    ("fhec-plan", &[]),
    ("fhec-compiler", &["fhec-grammar", "fhec-plan"]),
    ("fhec-runtime", &["fhec-plan"]),
];

/// Crates of ours that a crate is built from.
fn ours(package: &str) -> BTreeSet<String> {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".into());
    let arguments =
        ["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--package", package];
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo prints text");
    let names = text.lines().filter_map(|l| l.split_whitespace().next());
    names.filter(|n| n.starts_with("fhec") && *n != package).map(String::from).collect()
}

#[test]
fn no_arrow_is_added() {
    for (package, allowed) in ARROWS {
        let allowed: BTreeSet<String> = allowed.iter().map(|a| a.to_string()).collect();
        assert_eq!(ours(package), allowed, "{package}");
    }
}
