//! Every kind of message has a code of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the project").map(|e| e.expect("readable").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|p| p.is_dir());
    let rust = files.into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs"));
    rust.chain(folders.iter().flat_map(|f| sources(f))).collect()
}

#[test]
fn codes_are_declared_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in ["grammar/src", "compiler/src", "cli/src"].iter().flat_map(|f| sources(&root.join(f))) {
        let text = fs::read_to_string(&file).expect("a source is text");
        for line in text.lines().filter(|l| l.contains(": Code = Code(\"")) {
            let code = line.split('"').nth(1).expect("a quoted code");
            places.entry(code.to_string()).or_default().push(file.display().to_string());
        }
    }
    assert!(places.len() > 30, "the declarations are found");
    places.retain(|_, files| files.len() > 1);
    assert!(places.is_empty(), "declared twice: {places:?}");
}
