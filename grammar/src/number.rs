//! Numbers: what they are worth, and what is wrong with words that start like one.

use crate::error::{SyntaxError, code};
use crate::span::Span;

/// The value of a well-formed number.
pub(crate) fn value(text: &str) -> f64 {
    text.replace('_', "").parse().unwrap_or(f64::NAN)
}

/// Whether it is written as an integer.
pub(crate) fn is_integer(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// The parts of `whole.fraction e exponent`, whatever they hold.
fn parts(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction), exponent),
        None => (mantissa, None, exponent),
    }
}

/// What is wrong with a number: label and help.
pub(crate) fn fault(text: &str) -> Option<(&'static str, String)> {
    spelling_fault(text).or_else(|| {
        let (whole, fraction, _) = parts(text);
        let zero = |part: &str| part.bytes().all(|b| matches!(b, b'0' | b'_'));
        let value = value(text);
        if value.is_infinite() {
            return Some(("too large", "f64 ends at 1.8e308".to_string()));
        }
        let lost = value == 0.0 && !(zero(whole) && fraction.is_none_or(zero));
        lost.then(|| ("too small", "f64 has nothing between 0 and 4.9e-324".to_string()))
    })
}

fn spelling_fault(text: &str) -> Option<(&'static str, String)> {
    if let [b'0', b'x' | b'X' | b'b' | b'B' | b'o' | b'O', ..] = text.as_bytes() {
        return Some(("not decimal", "numbers are decimal".to_string()));
    }
    if text.starts_with('.') {
        return Some(("no digit before the dot", format!("write `0{text}`")));
    }
    if let Some(whole) = text.strip_suffix('.') {
        return Some(("no digit after the dot", format!("write `{whole}.0`")));
    }
    let (whole, fraction, exponent) = parts(text);
    if fraction.is_some_and(|fraction| fraction.contains('.')) {
        let help = "a number has one dot at most, a range has two together: `0..5`";
        return Some(("more than one dot", help.to_string()));
    }
    if let Some(at) = text.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')) {
        let (value, unit) = text.split_at(at);
        return Some(match unit {
            "B" | "KiB" | "MiB" | "GiB" | "TiB" => {
                ("no space before the unit", format!("write `{value} {unit}`"))
            }
            _ => {
                let help = format!("names do not start with a digit; did you mean `{value} * {unit}`?");
                ("letters after a number", help)
            }
        });
    }
    if exponent == Some("") {
        return Some(("no digits after the `e`", format!("write the exponent, as in `{text}-3`")));
    }
    let digits = |run: &str| !run.is_empty() && run.bytes().all(|b| b.is_ascii_digit());
    let unsigned = exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    let mut runs = [Some(whole), fraction, unsigned].into_iter().flatten().flat_map(|part| part.split('_'));
    let help = "numbers look like `12`, `0.5`, `1e-3` or `1_000`, with `_` between digits";
    (!runs.all(digits)).then(|| ("not a number", help.to_string()))
}

/// The error for a word that starts like a number.
pub(crate) fn malformed(text: &str, span: Span) -> SyntaxError {
    let (label, help) = fault(text).unwrap_or_default();
    SyntaxError::new(code::NUMBER, format!("`{text}` is not a number of the language"), span, label)
        .with_help(help)
}
