//! Every right program of the corpus through the passes: the arithmetic form gives the expected outputs up to the precision
//! that the program asks for, since only approximation is in it and no noise.

mod front_files;

use compiler::from_ast::build;
use compiler::interpret::{OutOfRange, interpret};
use compiler::ir::verify::verify_arithmetic;
use compiler::passes::arithmetic;
use compiler::source::Sources;
use front_files::{FileLoader, corpus, read_npy};
use plan::Tensor;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn programs_stay_within_their_precision() {
    let mut wrong = vec![];
    for (folder, list, index) in [("programs", "programs", "manifest.json"), ("cases", "cases", "cases.json")]
    {
        let folder = corpus().join(folder);
        let manifest: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join(index)).unwrap()).unwrap();
        for entry in
            manifest[list].as_array().unwrap().iter().filter(|e| e["exit"].as_i64().unwrap_or(0) == 0)
        {
            wrong.extend(check(&folder, entry));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check(folder: &Path, entry: &Value) -> Vec<String> {
    let name = entry["name"].as_str().unwrap();
    let path = folder.join(entry["program"].as_str().unwrap());
    let (sources, found) = Sources::read(&path.to_string_lossy(), &FileLoader).unwrap();
    let program = build(&sources, found, &FileLoader).unwrap();
    let a = match arithmetic(&program.graph) {
        Ok(a) => a,
        Err(found) => return vec![format!("{name}: {}", found.render(&sources, false))],
    };
    if let Err(e) = verify_arithmetic(&a.graph) {
        return vec![format!("{name}: {e}\n{}", a.graph)];
    }
    let file = |v: &Value| v.as_str().or(v["file"].as_str()).unwrap().to_string();
    let inputs: BTreeMap<String, Tensor> = entry["inputs"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, v)| (name.clone(), read_npy(&folder.join(file(v)))))
        .collect();
    let run = match interpret(&a.graph, &inputs, OutOfRange::Refuse) {
        Ok(run) => run,
        Err(found) => return vec![format!("{name}: {}", found.render(&sources, false))],
    };
    let mut wrong = vec![];
    for (decl, value) in a.graph.outputs.iter().zip(&run.values) {
        let expected = read_npy(&folder.join(file(&entry["outputs"][&decl.name])));
        let off = expected.zip(value, |a, b| a - b).max_abs();
        if off.is_nan() || off > decl.precision {
            wrong.push(format!("{name}.{}: off by {off:e}, precision {}", decl.name, decl.precision));
        }
    }
    wrong
}
