//! Small programs before and after one pass: `tests/passes/<pass>/<situation>.fhir`.
//!
//! A file has a comment that says why, directives, a circuit, and after `; expect:` the circuit that the pass makes of it,
//! each line behind `; `, without nodes that nothing reads. Directives: `; count WORD = N` for lines of the result with an operation, `; depth = N` for the
//! levels of the deepest output in CKKS. `FHEC_BLESS=1` writes the results into the files.

mod support;

use compiler::analysis::depth::depths;
use compiler::ir::{Graph, parse};
use compiler::passes::TABLE;
use compiler::passes::remove_dead::remove_dead;
use plan::Scheme;
use std::fs;
use std::path::{Path, PathBuf};
use support::{Random, difference, inputs, outputs};

const EXPECT: &str = "; expect:\n";

#[test]
fn passes_do_what_the_files_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let bless = std::env::var_os("FHEC_BLESS").is_some();
    let mut wrong = vec![];
    for folder in sorted(&root) {
        let name = folder.file_name().and_then(|n| n.to_str()).unwrap().to_string();
        for file in sorted(&folder) {
            let text = fs::read_to_string(&file).unwrap();
            let (source, expected) = text.split_once(EXPECT).unwrap_or((&text, ""));
            let after = run(&name, &file, source, &mut wrong);
            let printed: String = after.to_string().lines().map(|l| format!("; {l}\n")).collect();
            if bless {
                fs::write(&file, format!("{source}{EXPECT}{printed}")).unwrap();
            } else if printed != expected {
                wrong.push(format!("{}: expected\n{expected}found\n{printed}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Runs the pass, checks the directives and that the value stays what it is, up to the precision of the outputs.
fn run(pass: &str, file: &Path, source: &str, wrong: &mut Vec<String>) -> Graph {
    let before = parse(source).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let pass = TABLE.iter().find(|p| p.name == pass).unwrap_or_else(|| panic!("no pass {pass}"));
    let after = (pass.run)(&before).unwrap_or_else(|e| panic!("{}: {e:?}", file.display()));
    let after = remove_dead(&after);
    for line in source.lines().filter_map(|l| l.strip_prefix("; ")) {
        if let Some(found) = broken_directive(line, &after) {
            wrong.push(format!("{}: {line}, found {found}\n{after}", file.display()));
        }
    }
    let mut random = Random(1);
    for _ in 0..5 {
        let x = inputs(&before, &mut random);
        let d = difference(&outputs(&before, &x), &outputs(&after, &x));
        assert!(
            d <= before.outputs.iter().fold(0.0, |m, o| o.precision.max(m)),
            "{}: off by {d}",
            file.display()
        );
    }
    after
}

/// What a directive finds instead of what it says.
fn broken_directive(line: &str, after: &Graph) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (found, wanted) = match words[..] {
        ["count", operation, "=", n] => {
            let text = after.to_string();
            let lines = text.lines().filter_map(|l| l.split_once(" = "));
            (lines.filter(|(_, op)| op.split_whitespace().next() == Some(operation)).count().to_string(), n)
        }
        ["depth", "=", n] => {
            let depths = depths(after, Scheme::Ckks);
            (after.outputs.iter().map(|o| depths[o.node.index()]).max().unwrap_or(0).to_string(), n)
        }
        _ => return None,
    };
    (found != wanted).then_some(found)
}
