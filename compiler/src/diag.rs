//! What the compiler says to the user: data first, text or JSON only at the edge.
//!
//! A [`Diagnostic`] has one primary label, any number of others (each names its file: a program may import), help and
//! notes. Every family of codes lives in the file that finds those mistakes.

use crate::source::{FileId, Sources};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use grammar::{Span, SyntaxError};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;

/// What identifies a kind of message, `E0204` or `W0101`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Whether the program is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is.
    Error,
    /// It is not.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A place in a file with what to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// the file
    pub file: FileId,
    /// the place in it
    pub span: Span,
    /// what to write there; may be empty
    pub text: String,
}

impl Label {
    /// A place in a file.
    pub fn new(file: FileId, span: Span, text: impl Into<String>) -> Label {
        Label { file, span, text: text.into() }
    }
    /// A place in the program itself.
    pub fn main(span: Span, text: impl Into<String>) -> Label {
        Label::new(FileId::MAIN, span, text)
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// kind of message
    pub code: Code,
    /// error or warning
    pub severity: Severity,
    /// one line, lower case, without a final stop
    pub message: String,
    /// where it is
    pub primary: Label,
    /// other places that explain it
    pub secondary: Vec<Label>,
    /// how to put it right
    pub help: Vec<String>,
    /// background
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: Code, message: impl Into<String>, primary: Label) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary,
            secondary: Vec::new(),
            help: Vec::new(),
            notes: Vec::new(),
        }
    }
    /// A warning.
    pub fn warning(code: Code, message: impl Into<String>, primary: Label) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message, primary) }
    }
    /// A mistake in the text of a file.
    pub fn syntax(file: FileId, error: &SyntaxError) -> Diagnostic {
        let primary = Label::new(file, error.span, &error.label);
        let mut diagnostic = Diagnostic::error(Code(error.code), &error.message, primary);
        let others = error.extra_labels.iter().map(|(span, text)| Label::new(file, *span, text));
        diagnostic.secondary.extend(others);
        diagnostic.help.extend(error.help.clone());
        diagnostic
    }
    /// Adds a place.
    pub fn with_label(mut self, label: Label) -> Diagnostic {
        self.secondary.push(label);
        self
    }
    /// Adds advice.
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help.push(help.into());
        self
    }
    /// Adds advice if there is some.
    pub fn with_help_if(mut self, help: Option<String>) -> Diagnostic {
        self.help.extend(help);
        self
    }
    /// Adds background.
    pub fn with_note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    fn group<'a>(&'a self, sources: &'a Sources) -> Group<'a> {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut files = vec![self.primary.file];
        for label in &self.secondary {
            if !files.contains(&label.file) {
                files.push(label.file);
            }
        }
        let snippets = files.into_iter().filter_map(|file| {
            let source = sources.get(file)?;
            let labels = self.secondary.iter().filter(move |l| l.file == file);
            let mut snippet = Snippet::source(source.text.as_str()).path(source.path.as_str());
            if self.primary.file == file {
                snippet =
                    snippet.annotation(annotation(AnnotationKind::Primary, &self.primary, &source.text));
            }
            Some(snippet.annotations(labels.map(|l| annotation(AnnotationKind::Context, l, &source.text))))
        });
        level
            .primary_title(self.message.as_str())
            .id(self.code.0)
            .elements(snippets)
            .elements(self.notes.iter().map(|n| Level::NOTE.message(n.as_str())))
            .elements(self.help.iter().map(|h| Level::HELP.message(h.as_str())))
    }

    /// The message as a JSON object: code, severity, message, file, line, column, end_line, end_column (counted from 1,
    /// columns in characters, end excluded), label, labels, help, notes.
    pub fn to_json(&self, sources: &Sources) -> Value {
        let mut object = place(&self.primary, sources);
        object["code"] = json!(self.code.0);
        object["severity"] = json!(self.severity.name());
        object["message"] = json!(self.message);
        object["labels"] = self.secondary.iter().map(|l| place(l, sources)).collect();
        object["help"] = json!(self.help);
        object["notes"] = json!(self.notes);
        object
    }
}

fn annotation<'a>(kind: AnnotationKind, label: &'a Label, text: &str) -> annotate_snippets::Annotation<'a> {
    let end = label.span.end.min(text.len());
    let annotation = kind.span(label.span.start.min(end)..end);
    if label.text.is_empty() { annotation } else { annotation.label(label.text.as_str()) }
}

fn place(label: &Label, sources: &Sources) -> Value {
    let (path, text) = sources.get(label.file).map_or(("", ""), |s| (&s.path, &s.text));
    let (line, column) = label.span.line_column(text);
    let (end_line, end_column) = label.span.after().line_column(text);
    json!({
        "file": path, "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        "label": label.text,
    })
}

/// Messages by place, each mistake once: a second message of the same code at the same place (another step of a loop,
/// another call of a function) is dropped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    seen: BTreeSet<(Code, FileId, Span)>,
}

impl Diagnostics {
    /// No messages.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }
    /// Adds a message.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let Label { file, span, .. } = diagnostic.primary;
        if self.seen.insert((diagnostic.code, file, span)) {
            let at = self.list.partition_point(|d| order(d) <= order(&diagnostic));
            self.list.insert(at, diagnostic);
        }
    }
    /// Adds messages.
    pub fn extend(&mut self, other: Diagnostics) {
        other.list.into_iter().for_each(|d| self.push(d));
    }
    /// The messages by file and place.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }
    /// Number of messages.
    pub fn len(&self) -> usize {
        self.list.len()
    }
    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// Whether the program is refused.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }
    /// The messages as text with the lines they are about, in the style of rustc.
    pub fn render(&self, sources: &Sources, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let texts: Vec<String> =
            self.list.iter().map(|d| renderer.render(&[d.group(sources)]) + "\n").collect();
        texts.join("\n")
    }
    /// The messages as a JSON array.
    pub fn to_json(&self, sources: &Sources) -> Value {
        self.list.iter().map(|d| d.to_json(sources)).collect()
    }
}

fn order(d: &Diagnostic) -> (FileId, Span, Severity, Code) {
    (d.primary.file, d.primary.span, d.severity, d.code)
}

/// The candidate closest to a misspelt word, if one is close enough to be meant: at most a third of the letters
/// differ, or only underscores and capitals do.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| s.replace('_', "").to_lowercase();
    let limit = word.chars().count().div_ceil(3).min(3);
    candidates
        .into_iter()
        .filter(|c| *c != word)
        .map(|c| (if plain(c) == plain(word) { 0 } else { edit_distance(word, c) }, c))
        .filter(|&(distance, c)| distance <= limit && distance < c.chars().count().max(word.chars().count()))
        .min()
        .map(|(_, c)| c)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            d[i][j] = match (i, j) {
                (0, n) | (n, 0) => n,
                _ => {
                    let replaced = d[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    let swap = if swapped { d[i - 2][j - 2] + 1 } else { usize::MAX };
                    replaced.min(d[i - 1][j] + 1).min(d[i][j - 1] + 1).min(swap)
                }
            };
        }
    }
    d[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_find_their_word() {
        let words = ["softmax", "sigmoid", "layer_norm", "within", "x", "y"];
        assert_eq!(nearest("sofmax", words), Some("softmax"));
        assert_eq!(nearest("layernorm", words), Some("layer_norm"));
        assert_eq!(nearest("withn", words), Some("within"));
        assert_eq!(nearest("xx", words), Some("x"));
        assert_eq!(nearest("z", words), None);
        assert_eq!(edit_distance("wieght", "weight"), 1);
    }

    #[test]
    fn messages_are_sorted_and_said_once() {
        let sources = Sources::from_text("m.fhe", "let a = b;\nlet c = d;\n");
        let mut all = Diagnostics::new();
        let at = |start, end| Label::main(Span::new(start, end), "here");
        all.push(Diagnostic::error(Code("E0001"), "second", at(19, 20)).with_help("do"));
        all.push(Diagnostic::error(Code("E0001"), "first", at(8, 9)).with_note("so"));
        all.push(Diagnostic::error(Code("E0001"), "again", at(8, 9)));
        assert_eq!(all.iter().map(|d| d.message.as_str()).collect::<Vec<_>>(), ["first", "second"]);
        let text = all.render(&sources, false);
        assert!(text.contains("error[E0001]: first") && text.contains("m.fhe:1:9"), "{text}");
        assert!(text.contains("= help: do") && text.contains("= note: so"), "{text}");
        let json = all.to_json(&sources);
        assert_eq!((json[1]["line"].as_u64(), json[1]["column"].as_u64()), (Some(2), Some(9)));
    }
}
