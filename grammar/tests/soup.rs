//! Any text is read without a panic, and what is said about it makes sense.

use grammar::{Ast, MAX_ERRORS, SyntaxError, parse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const PROGRAM: &str = include_str!("programs/gru.fhe");

const WORDS: [&str; 88] = [
    "import",
    "model",
    "input",
    "output",
    "const",
    "let",
    "mut",
    "fn",
    "for",
    "in",
    "true",
    "false",
    "True",
    "None",
    "scheme",
    "security",
    "bootstrap",
    "memory",
    "cipher",
    "plain",
    "precision",
    "auto",
    "gl",
    "GiB",
    "f64",
    "x",
    "y",
    "w",
    "f",
    "np",
    "within",
    "on",
    "if",
    "else",
    "return",
    "and",
    "128",
    "0.5",
    "1e-3",
    "1_000",
    "1e",
    "1.2.3",
    "0x1F",
    "3kg",
    ".5",
    "5.",
    "1e999",
    "\"a.fhe\"",
    "\"",
    "'a'",
    "'",
    "=",
    ";",
    ",",
    ":",
    "..",
    "...",
    "+",
    "-",
    "*",
    "/",
    "@",
    "**",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".",
    "^",
    "<",
    "==",
    "!=",
    "+=",
    "&&",
    "#",
    "//",
    "/*",
    "*/",
    "$",
    "größe",
    "×",
    "\u{a0}",
    "\u{feff}",
    "\u{0}",
    "\n",
    "\r\n",
];

fn check(source: &str) -> (Ast, Vec<SyntaxError>) {
    let (ast, errors) = parse(source);
    let spans =
        errors.iter().flat_map(|error| error.extra_labels.iter().map(|(span, _)| span).chain([&error.span]));
    for span in spans {
        assert!(source.get(span.range()).is_some(), "{span:?} is not in the text");
    }
    assert!(errors.is_sorted_by_key(|error| error.span.start) && errors.len() <= MAX_ERRORS + 1);
    let printed = ast.to_string();
    if errors.is_empty() {
        let (again, errors) = parse(&printed);
        assert!(errors.is_empty(), "{printed}\n{errors:#?}");
        assert_eq!(again.to_string(), printed);
    }
    (ast, errors)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_in_any_order(words in vec(select(&WORDS[..]), 0..80), spaces in any::<bool>(), inside in any::<bool>()) {
        let text = words.join(if spaces { " " } else { "" });
        check(&if inside { format!("model m {{ {text} }}") } else { text });
    }

    #[test]
    fn any_characters(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn programs_with_words_replaced(edits in vec((any::<Index>(), 0usize..12, select(&WORDS[..])), 1..4)) {
        let mut text = PROGRAM.to_string();
        for (place, length, word) in edits {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let start = place.index(places.len());
            let end = places.get(start + length).copied().unwrap_or(text.len());
            text.replace_range(places[start]..end, word);
        }
        check(&text);
    }

    #[test]
    fn programs_cut_short(place in any::<Index>()) {
        let (_, errors) = check(&PROGRAM[..place.index(PROGRAM.len())]);
        prop_assert!(errors.len() <= 4, "{errors:#?}");
    }
}

#[test]
fn one_token_too_few_or_too_many_is_one_message() {
    let symbols =
        PROGRAM.match_indices(|c: char| c.is_ascii_punctuation() && !matches!(c, '_' | '"' | '/' | '.'));
    let words = PROGRAM.split(|c: char| !c.is_ascii_alphabetic() && c != '_').filter(|word| word.len() > 1);
    let words = words.map(|word| (word.as_ptr() as usize - PROGRAM.as_ptr() as usize, word));
    for (at, token) in symbols.chain(words) {
        let (before, after) = (&PROGRAM[..at], &PROGRAM[at + token.len()..]);
        for text in [format!("{before}{after}"), format!("{before} {token} {token} {after}")] {
            let (_, errors) = check(&text);
            assert!(errors.len() <= 1, "{text}\n{errors:#?}");
        }
    }
}

#[test]
fn the_program_is_right() {
    let (ast, errors) = check(PROGRAM);
    assert_eq!(errors, []);
    assert_eq!(ast.model.map(|model| (model.directives.len(), model.body.len())), Some((4, 12)));
}
