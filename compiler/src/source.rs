//! The files of a program, and the trait through which they come: the compiler itself does no input or output.

use crate::diag::{Code, Diagnostic, Diagnostics, Label, nearest};
use grammar::{Ast, Span};
use plan::Tensor;
use plan::load::LoadError;
use std::collections::BTreeMap;

/// An import cannot be read.
pub const IMPORT: Code = Code("E0201");
/// Files import each other in a circle.
pub const IMPORT_CYCLE: Code = Code("E0202");

/// How deep imports may nest.
const MAX_IMPORT_DEPTH: usize = 64;

/// A file of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

impl FileId {
    /// The file with the model.
    pub const MAIN: FileId = FileId(0);
}

/// A text with the name its loader knows it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// one name per file, however it was reached; shown in messages
    pub path: String,
    /// its contents
    pub text: String,
}

/// Where files come from.
pub trait Loader {
    /// The text of `path`, relative to the file `from` (a [`SourceText::path`] given earlier), or the program itself.
    fn source(&self, path: &str, from: Option<&str>) -> Result<SourceText, LoadError>;

    /// The tensor in `path`, relative to the file `from`: all values finite, rank and size within the limits, no axis
    /// empty. Without a key the file must hold exactly one array; a `.npy` has no keys and ignores it.
    fn tensor(&self, path: &str, key: Option<&str>, from: &str) -> Result<Tensor, LoadError>;
}

/// A file, read.
#[derive(Clone, Debug, Default)]
pub struct SourceFile {
    /// its name
    pub path: String,
    /// its contents
    pub text: String,
    /// its syntax tree
    pub ast: Ast,
    /// the file of every import that could be read, with the statement
    pub imports: Vec<(FileId, Span)>,
}

/// All files of a program; [`FileId::MAIN`] is the one with the model.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Reads and parses a program with everything it imports. The diagnostics are the mistakes in the texts and
    /// imports that fail; an error means that the program itself cannot be read.
    pub fn read(path: &str, loader: &dyn Loader) -> Result<(Sources, Diagnostics), LoadError> {
        let text = loader.source(path, None)?;
        let mut reader =
            Reader { loader, sources: Sources::default(), known: BTreeMap::new(), found: Diagnostics::new() };
        reader.read(text, &mut Vec::new());
        Ok((reader.sources, reader.found))
    }

    /// A program of one file without imports, for tests and tools.
    pub fn from_text(path: &str, text: &str) -> Sources {
        let ast = grammar::parse(text).0;
        Sources { files: vec![SourceFile { path: path.into(), text: text.into(), ast, imports: vec![] }] }
    }

    /// A file, if there is one of that number.
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize)
    }

    /// The files with their numbers.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// The text of a place, empty if there is none.
    pub fn snippet(&self, file: FileId, span: Span) -> &str {
        self.get(file).and_then(|f| f.text.get(span.range())).unwrap_or("")
    }

    /// Line of a place in a file, from 1.
    pub fn line(&self, file: FileId, span: Span) -> usize {
        self.get(file).map_or(0, |f| span.line_column(&f.text).0)
    }
}

struct Reader<'a> {
    loader: &'a dyn Loader,
    sources: Sources,
    known: BTreeMap<String, FileId>,
    found: Diagnostics,
}

impl Reader<'_> {
    fn read(&mut self, source: SourceText, open: &mut Vec<FileId>) -> FileId {
        let file = FileId(self.sources.files.len() as u32);
        let (ast, errors) = grammar::parse(&source.text);
        errors.iter().for_each(|e| self.found.push(Diagnostic::syntax(file, e)));
        let imports = ast.imports.clone();
        let SourceText { path, text } = source;
        self.known.insert(path.clone(), file);
        self.sources.files.push(SourceFile { path: path.clone(), text, ast, imports: vec![] });
        open.push(file);
        for import in imports {
            let place = Label::new(file, import.path_span, "");
            match self.loader.source(&import.path, Some(&path)) {
                Ok(text) => {
                    if let Some(target) = self.target(text, place, open) {
                        self.sources.files[file.0 as usize].imports.push((target, import.span));
                    }
                }
                Err(error) => self.found.push(load_failure(IMPORT, &error, place)),
            }
        }
        open.pop();
        file
    }

    fn target(&mut self, text: SourceText, place: Label, open: &mut Vec<FileId>) -> Option<FileId> {
        if let Some(&known) = self.known.get(&text.path) {
            if open.contains(&known) {
                let message = format!("`{}` imports itself, through {} files", text.path, open.len());
                let help = "move what both need to a third file";
                self.found.push(Diagnostic::error(IMPORT_CYCLE, message, place).with_help(help));
                return None;
            }
            return Some(known);
        }
        if open.len() >= MAX_IMPORT_DEPTH {
            let message = format!("imports nest deeper than {MAX_IMPORT_DEPTH}");
            self.found.push(Diagnostic::error(IMPORT_CYCLE, message, place));
            return None;
        }
        Some(self.read(text, open))
    }
}

/// A failure to load as a message at the place that asked for the file, with advice.
pub fn load_failure(code: Code, error: &LoadError, mut place: Label) -> Diagnostic {
    let mut help = Vec::new();
    match error {
        LoadError::NotFound { .. } => {
            place.text = "not found".into();
            help.push("paths are relative to the file that contains them".to_string());
        }
        LoadError::UnknownExtension { .. } => {
            place.text = "unknown format".into();
            help.push(format!("tensors come from {}", plan::load::TENSOR_EXTENSIONS.join(", ")));
        }
        LoadError::MissingKey { key, available, .. } => {
            let near = nearest(key, available.iter().map(String::as_str));
            place.text = near.map_or(String::new(), |n| format!("did you mean \"{n}\"?"));
            help.push(format!("it has {}", quoted(available)));
        }
        LoadError::SeveralKeys { available, .. } => {
            place.text = "which one?".into();
            help.push(format!("name one: load(PATH, KEY) with the key {}", quoted(available)));
        }
        LoadError::NotFinite { .. } => place.text = "all values must be finite".into(),
        LoadError::UnsupportedType { .. } => {
            help.push("elements of type f64, f32, integer or bool convert".to_string());
        }
        LoadError::Unreadable { .. } | LoadError::Malformed { .. } | LoadError::UnsupportedShape { .. } => {}
    }
    let diagnostic = Diagnostic::error(code, error.to_string(), place);
    help.into_iter().fold(diagnostic, Diagnostic::with_help)
}

fn quoted(keys: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut shown: Vec<String> = keys.iter().take(SHOWN).map(|k| format!("\"{k}\"")).collect();
    if keys.len() > SHOWN {
        shown.push(format!("{} more", keys.len() - SHOWN));
    }
    shown.join(", ")
}

/// A loader that has everything in memory, for tests and tools. Paths are names, never relative.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    /// program texts by path
    pub sources: BTreeMap<String, String>,
    /// tensors by path and key; a `.npy` has the one key ""
    pub tensors: BTreeMap<String, BTreeMap<String, Tensor>>,
}

impl Loader for MemoryLoader {
    fn source(&self, path: &str, _from: Option<&str>) -> Result<SourceText, LoadError> {
        let text = self.sources.get(path).ok_or_else(|| LoadError::NotFound { path: path.into() })?;
        Ok(SourceText { path: path.into(), text: text.clone() })
    }

    fn tensor(&self, path: &str, key: Option<&str>, _from: &str) -> Result<Tensor, LoadError> {
        let path_owned = || path.to_string();
        let arrays = self.tensors.get(path).ok_or_else(|| LoadError::NotFound { path: path_owned() })?;
        let available = || arrays.keys().cloned().collect();
        match key {
            Some(key) if !path.ends_with(".npy") => arrays.get(key).cloned().ok_or_else(|| {
                LoadError::MissingKey { path: path_owned(), key: key.into(), available: available() }
            }),
            _ if arrays.len() > 1 => {
                Err(LoadError::SeveralKeys { path: path_owned(), available: available() })
            }
            _ => arrays.values().next().cloned().ok_or_else(|| LoadError::NotFound { path: path_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> (Sources, Diagnostics) {
        let mut loader = MemoryLoader::default();
        loader.sources.extend(files.iter().map(|(p, t)| (p.to_string(), t.to_string())));
        Sources::read(files[0].0, &loader).expect("the first file is there")
    }

    #[test]
    fn imports_are_read_once_and_circles_found() {
        let b = "fn f(x) = x;";
        let (sources, found) = read(&[
            ("a", "import \"b\"; import \"c\"; model m { input x : cipher f64 in [0, 1]; output x; }"),
            ("b", b),
            ("c", "import \"b\"; fn g(x) = x;"),
        ]);
        assert!(found.is_empty(), "{}", found.render(&sources, false));
        assert_eq!(sources.iter().count(), 3);
        let (_, found) = read(&[("a", "import \"b\";"), ("b", "import \"c\";"), ("c", "import \"b\";")]);
        assert_eq!(
            found.iter().map(|d| (d.code, d.primary.file)).collect::<Vec<_>>(),
            [(IMPORT_CYCLE, FileId(2))]
        );
        let (_, found) = read(&[("a", "import \"b\";")]);
        assert_eq!(found.iter().next().map(|d| d.code), Some(IMPORT));
    }
}
