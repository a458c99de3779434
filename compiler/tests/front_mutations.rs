//! Programs of the corpus with random changes: whatever comes out, nothing panics and no refusal is without a message.

mod front_files;

use compiler::analysis::range::overflows;
use compiler::from_ast::build;
use compiler::source::{Loader, SourceText, Sources};
use front_files::{FileLoader, corpus};
use plan::Tensor;
use plan::load::LoadError;
use std::path::PathBuf;

/// Mutations of each program.
const ROUNDS: u64 = 25;

/// A changed text in the place of a file.
struct Changed {
    path: PathBuf,
    text: String,
}

impl Loader for Changed {
    fn source(&self, path: &str, from: Option<&str>) -> Result<SourceText, LoadError> {
        match from {
            None => {
                Ok(SourceText { path: self.path.to_string_lossy().into_owned(), text: self.text.clone() })
            }
            Some(_) => FileLoader.source(path, from),
        }
    }
    fn tensor(&self, path: &str, key: Option<&str>, from: &str) -> Result<Tensor, LoadError> {
        FileLoader.tensor(path, key, from)
    }
}

/// SplitMix64.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z >> 33) as usize
}

/// Words and marks of a text, spaces kept.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length =
            if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, tail) = rest.split_at(length);
        tokens.push(token);
        rest = tail;
    }
    tokens
}

fn mutate(text: &str, others: &[&str], seed: &mut u64) -> String {
    const HANDY: [&str; 24] = [
        "x",
        "0",
        "-1",
        "3",
        "1e308",
        "99999999999",
        "[",
        "]",
        "(",
        ")",
        "axis",
        "on",
        "within",
        "sum",
        "@",
        "**",
        "in [0, 1]",
        "None",
        "...",
        "transpose",
        "max",
        "1.5",
        ",",
        "[1, 2]",
    ];
    let mut tokens = tokens(text);
    for _ in 0..=next(seed) % 3 {
        let at = next(seed) % tokens.len();
        match next(seed) % 4 {
            0 => drop(tokens.remove(at)),
            1 => tokens[at] = HANDY[next(seed) % HANDY.len()],
            2 => tokens.insert(at, HANDY[next(seed) % HANDY.len()]),
            _ => tokens[at] = others[next(seed) % others.len()],
        }
        if tokens.is_empty() {
            return String::new();
        }
    }
    tokens.concat()
}

#[test]
fn changed_programs_never_panic() {
    let mut seed = 1;
    for folder in ["programs", "cases"] {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(corpus().join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        paths.retain(|p| p.extension().is_some_and(|e| e == "fhe"));
        paths.sort();
        let texts: Vec<String> = paths.iter().map(|p| std::fs::read_to_string(p).unwrap()).collect();
        let all: Vec<&str> = texts.iter().flat_map(|t| tokens(t)).filter(|t| !t.trim().is_empty()).collect();
        for (path, text) in paths.iter().zip(&texts) {
            for _ in 0..ROUNDS {
                let changed = Changed { path: path.clone(), text: mutate(text, &all, &mut seed) };
                let (sources, found) = Sources::read("", &changed).unwrap();
                match build(&sources, found, &changed) {
                    Ok(program) => drop(overflows(&program.graph, &program.ranges)),
                    Err(found) => {
                        assert!(found.has_errors(), "{}", changed.text);
                        assert!(!found.render(&sources, false).is_empty());
                    }
                }
            }
        }
    }
}
