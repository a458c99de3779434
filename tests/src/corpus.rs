//! Programs of the corpus with their data and expected outputs.

use plan::Tensor;
use runtime::data::read_npy;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program of the corpus.
pub struct Case {
    /// its name
    pub name: String,
    /// the program
    pub file: PathBuf,
    /// data of its inputs
    pub inputs: BTreeMap<String, Tensor>,
    /// outputs computed with numpy, and the largest error of an encrypted run
    pub outputs: BTreeMap<String, (Tensor, f64)>,
    /// its entry, for what only some tests read
    pub entry: Value,
}

/// A folder of the corpus.
pub fn corpus_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

/// The right programs listed in a file: those whose `exit` is 0 or not stated.
///
/// # Panics
/// If the corpus is broken.
pub fn load_cases(folder: &str, file: &str, list: &str) -> Vec<Case> {
    let folder = corpus_folder(folder);
    let text = std::fs::read_to_string(folder.join(file)).expect("the corpus has this file");
    let json: Value = serde_json::from_str(&text).expect("the corpus is JSON");
    let entries = json[list].as_array().expect("a list of programs").iter();
    entries.filter(|e| e["exit"].as_u64().unwrap_or(0) == 0).map(|e| case(&folder, e)).collect()
}

fn case(folder: &Path, entry: &Value) -> Case {
    let text = |v: &Value| v.as_str().expect("a text").to_string();
    let tensor = |v: &Value| read_npy(&folder.join(text(&v["file"]))).expect("the corpus has its data");
    let list = |key: &str| entry[key].as_object().expect("an object by name").iter();
    let output = |v: &Value| (tensor(v), v["tolerance"].as_f64().expect("a number"));
    Case {
        name: text(&entry["name"]),
        file: folder.join(text(&entry["program"])),
        inputs: list("inputs").map(|(name, v)| (name.clone(), tensor(v))).collect(),
        outputs: list("outputs").map(|(name, v)| (name.clone(), output(v))).collect(),
        entry: entry.clone(),
    }
}
