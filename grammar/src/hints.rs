//! Explanations of tokens the grammar refuses, above all for those who come from numpy.

use crate::error::{SyntaxError, code};
use crate::expected::Expected;
use crate::span::Span;
use crate::statement;
use crate::token::{Placed, Token};
use std::ops::Range;

/// A token the parser refused.
pub(crate) struct Refusal<'a, 's> {
    pub source: &'s str,
    pub tokens: &'a [Placed<'s>],
    /// The statement it belongs to, or that lacks something before it.
    pub statement: Range<usize>,
    /// The token; one past the last at the end of the file.
    pub at: usize,
    pub expected: &'a Expected,
}

/// Arguments that are easily written behind a call.
const ARGUMENTS: [&str; 9] = ["on", "within", "degree", "gap", "axis", "keepdims", "var_on", "eps", "dim"];
const MODULES: [&str; 11] =
    ["np", "numpy", "jnp", "jax", "torch", "tf", "nn", "F", "math", "scipy", "linalg"];

/// Whether a word names an argument of a function.
pub(crate) fn is_argument(word: &str) -> bool {
    ARGUMENTS.contains(&word)
}

/// What is wrong with the refused token; `None` if it follows from a mistake that is reported.
pub(crate) fn explain(refusal: &Refusal) -> Option<SyntaxError> {
    if refusal.follows_from_broken() {
        return None;
    }
    let error = foreign_statement(refusal)
        .or_else(|| setting(refusal))
        .or_else(|| unfinished(refusal))
        .or_else(|| foreign_token(refusal))
        .or_else(|| behind_the_call(refusal))
        .or_else(|| out_of_place(refusal))
        .or_else(|| header(refusal))
        .or_else(|| reserved_name(refusal))
        .or_else(|| missing_part(refusal));
    Some(error.unwrap_or_else(|| unexpected(refusal)))
}

impl<'s> Refusal<'_, 's> {
    fn token(&self, at: usize) -> Option<&Token<'s>> {
        self.tokens.get(at).map(|placed| &placed.token)
    }

    fn found(&self) -> Option<&Token<'s>> {
        self.token(self.at)
    }

    fn first(&self) -> Option<&Token<'s>> {
        self.token(self.statement.start)
    }

    /// The token before, if it belongs to the statement.
    fn before(&self) -> Option<&Token<'s>> {
        (self.at > self.statement.start).then(|| &self.tokens[self.at - 1].token)
    }

    fn text(&self, at: usize) -> &'s str {
        self.tokens.get(at).map_or("", |placed| &self.source[placed.span.range()])
    }

    fn span(&self) -> Span {
        self.tokens
            .get(self.at)
            .map_or_else(|| statement::place_after(self.tokens, self.at), |placed| placed.span)
    }

    fn error(&self, code: &'static str, message: impl Into<String>, label: &str, help: &str) -> SyntaxError {
        SyntaxError::new(code, message, self.span(), label).with_help(help)
    }

    /// An `else` whose `if` is reported.
    fn follows_from_broken(&self) -> bool {
        let after_broken = self.statement.start > 0
            && matches!(self.token(self.statement.start - 1), Some(Token::Broken(_)));
        after_broken && matches!(self.first(), Some(Token::Name("else" | "elif")))
    }
}

/// Statements of other languages.
fn foreign_statement(refusal: &Refusal) -> Option<SyntaxError> {
    let Some(&Token::Name(word)) = refusal.first() else { return None };
    let help = match word {
        "if" | "elif" | "else" | "switch" | "match" => {
            "an encrypted value cannot be branched on: compute both sides and mix them, `c * a + (1 - c) * b`"
        }
        "while" | "loop" | "do" => "loops have constant bounds: `for i in 0..n { .. }`",
        "return" => "the result of a function stands last, without `return` and `;`",
        "def" | "function" | "fun" | "func" => "functions are `fn f(x) { .. }` or `fn f(x) = ..;`",
        "var" | "val" | "auto" => "values are `let x = ..;`",
        "class" | "struct" => "there are no such types; tensors are the only values",
        "print" => "values leave the model by `output x;`",
        "from" | "use" | "include" => "files are imported by `import \"file.fhe\";`, before the model",
        _ => return near_miss(refusal, word),
    };
    let span = refusal.tokens[refusal.statement.start].span;
    let message = format!("`{word}` is not a word of the language");
    Some(SyntaxError::new(code::UNEXPECTED, message, span, "not a statement").with_help(help))
}

/// `scheme auto;` and the like outside the model, or in a block.
fn setting(refusal: &Refusal) -> Option<SyntaxError> {
    let first = refusal.first()?;
    let known = matches!(first, Token::Scheme | Token::Security | Token::Bootstrap | Token::Memory);
    if !known || refusal.at != refusal.statement.start + 1 || refusal.expected.has("number") {
        return None;
    }
    let span = refusal.tokens[refusal.statement.start].span;
    let message = format!("`{}` is a setting of the model", refusal.text(refusal.statement.start));
    let help = "settings open the model: `model NAME { scheme auto; .. }`";
    Some(SyntaxError::new(code::PLACE, message, span, "not a statement here").with_help(help))
}

/// A first word that is one letter off: `lett a = 1;`
fn near_miss(refusal: &Refusal, word: &str) -> Option<SyntaxError> {
    const WORDS: [&str; 12] = [
        "import",
        "model",
        "input",
        "output",
        "const",
        "let",
        "fn",
        "for",
        "scheme",
        "security",
        "bootstrap",
        "memory",
    ];
    let stands_alone =
        refusal.at == refusal.statement.start + 1 && !matches!(refusal.found(), Some(Token::OpenParen));
    let right = WORDS.iter().find(|right| stands_alone && one_letter_off(word, right))?;
    let span = refusal.tokens[refusal.statement.start].span;
    Some(
        SyntaxError::new(
            code::UNEXPECTED,
            format!("`{word}` does not start a statement"),
            span,
            "unknown word",
        )
        .with_help(format!("did you mean `{right}`?")),
    )
}

/// Whether one letter added, left out or replaced, or two neighbours exchanged, makes one word the other.
fn one_letter_off(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    match (a, b) {
        ([_, rest @ ..], _) if rest == b => true,
        (_, [_, rest @ ..]) if rest == a => true,
        ([_, x @ ..], [_, y @ ..]) if x == y => true,
        ([x0, x1, x @ ..], [y0, y1, y @ ..]) => x0 == y1 && x1 == y0 && x == y,
        _ => false,
    }
}

/// A statement that stops before it is complete.
fn unfinished(refusal: &Refusal) -> Option<SyntaxError> {
    if refusal.at < refusal.statement.end {
        return None;
    }
    let end = statement::place_after(refusal.tokens, refusal.at);
    let label = format!("expected {}", refusal.expected.in_words());
    Some(SyntaxError::new(code::UNEXPECTED, "the statement is not complete", end, label))
}

/// Operators and attributes of other languages.
fn foreign_token(refusal: &Refusal) -> Option<SyntaxError> {
    let text = refusal.text(refusal.at);
    match refusal.found()? {
        Token::Caret => Some(refusal.error(
            code::SPELLING,
            "`^` is not a power",
            "not an operator",
            "powers are written `**`, as in `x ** 2`",
        )),
        Token::Compare => Some(refusal.error(
            code::COMPARISON,
            format!("`{text}` is not available: encrypted values cannot be compared"),
            "comparison",
            "`step(a - b)` is 1 where a > b and 0 where a < b, `sign(a - b)` is 1 and -1; there are no masks: multiply",
        )),
        Token::Update => {
            let operator = text.trim_end_matches('=');
            let name = refusal.before().and_then(Token::name).unwrap_or("x");
            let help = format!("write `{name} = {name} {operator} ..;`");
            Some(refusal.error(code::SPELLING, format!("there is no `{text}`"), "not an operator", &help))
        }
        Token::Name("and" | "or" | "not") if refusal.before().is_some() => Some(refusal.error(
            code::SPELLING,
            format!("there is no `{text}`"),
            "not an operator",
            "for values 0 and 1, `a * b` is and, `1 - a` is not, `a + b - a * b` is or",
        )),
        Token::Name("if" | "else") if refusal.before().is_some() => Some(refusal.error(
            code::SPELLING,
            format!("there is no `{text}`"),
            "not an operator",
            "compute both sides and mix them: `c * a + (1 - c) * b`",
        )),
        Token::Plus if !refusal.before().is_some_and(Token::ends_operand) => {
            Some(refusal.error(code::SPELLING, "there is no sign `+`", "nothing before it", "leave it out"))
        }
        Token::Dot => Some(attribute(refusal)),
        _ => None,
    }
}

/// `x.T`, `np.sum(x)`, `x.sum()`
fn attribute(refusal: &Refusal) -> SyntaxError {
    let at = refusal.at;
    let mut last = at + 1;
    while refusal.token(last + 1) == Some(&Token::Dot) {
        last += 2;
    }
    let base = match refusal.before() {
        Some(token) if token.is_name() => refusal.text(at - 1),
        _ => "x",
    };
    let (attribute, name) = (refusal.text(at + 1), refusal.text(last));
    let called = refusal.token(last + 1) == Some(&Token::OpenParen);
    let span = refusal.span().to(refusal.tokens.get(last).map_or(refusal.span(), |placed| placed.span));
    let (message, help) = if MODULES.contains(&base) {
        let right = if called { format!("{name}(..)") } else { name.to_string() };
        (format!("`{base}.{name}`: there are no modules"), format!("write `{right}` without `{base}.`"))
    } else {
        let help = match attribute {
            "T" | "mT" | "t" => format!("write `transpose({base})`"),
            "shape" | "size" => format!("`size({base}, k)` is the size of axis k"),
            "matmul" | "mm" | "dot" => format!("write `{base} @ y`"),
            _ => format!("functions take the value as their first argument: `{attribute}({base})`"),
        };
        (format!("values have no attributes: `.{attribute}`"), help)
    };
    SyntaxError::new(code::ATTRIBUTE, message, span, "not in the language").with_help(help)
}

/// `sigmoid(x) within 1e-3`
fn behind_the_call(refusal: &Refusal) -> Option<SyntaxError> {
    let Some(&Token::Name(word)) = refusal.found() else { return None };
    if !is_argument(word) || refusal.before() != Some(&Token::CloseParen) {
        return None;
    }
    let open = (refusal.statement.start..refusal.at).rev().scan(0i32, |depth, at| {
        *depth += match refusal.tokens[at].token {
            Token::CloseParen => 1,
            Token::OpenParen => -1,
            _ => 0,
        };
        Some((at, *depth))
    });
    let open = open.filter(|&(_, depth)| depth == 0).map(|(at, _)| at).next()?;
    let function =
        if open > 0 && refusal.tokens[open - 1].token.is_name() { refusal.text(open - 1) } else { "f" };
    let value = match refusal.token(refusal.at + 1) {
        Some(Token::Number(number)) => number,
        _ => "..",
    };
    let help = format!("write it inside: `{function}(.., {word} = {value})`");
    let message = format!("`{word}` is an argument and belongs inside the call of `{function}`");
    Some(refusal.error(code::ARGUMENT, message, "behind the call", &help))
}

/// Words of the language in the wrong place.
fn out_of_place(refusal: &Refusal) -> Option<SyntaxError> {
    let first = refusal.first()?;
    let inside = refusal.before().is_some();
    let after_precision =
        || refusal.tokens[refusal.statement.clone()].iter().any(|placed| placed.token == Token::Precision);
    let (code, message, label, help) = match refusal.found()? {
        Token::None if inside => (
            code::UNEXPECTED,
            "`None` stands in an index only, for a new axis",
            "not a value",
            "leave out an argument that has no value",
        ),
        Token::Ellipsis if inside => (
            code::UNEXPECTED,
            "`...` stands in an index only, for the axes not named",
            "not a value",
            "a range has two dots: `0..n`",
        ),
        Token::For if inside => (
            code::UNEXPECTED,
            "a `for` inside a statement needs square brackets around it",
            "not in a list",
            "write `[f(x[t]) for t in 0..n]`",
        ),
        Token::Precision if inside && *first != Token::Output => {
            (code::UNEXPECTED, "only outputs have a `precision`", "not an output", "move it to the output")
        }
        Token::In if after_precision() => {
            (code::UNEXPECTED, "`in` stands before `precision`", "too late", "exchange the two")
        }
        Token::In if *first == Token::Const => {
            (code::UNEXPECTED, "a constant needs no range", "known at compile time", "remove it")
        }
        Token::Import if !inside => (
            code::PLACE,
            "`import` stands outside the model",
            "inside the model",
            "move it to the top of the file",
        ),
        Token::Model if !inside => {
            (code::PLACE, "a model cannot stand inside another", "inside a model", "one model a file")
        }
        _ => return None,
    };
    Some(refusal.error(code, message, label, help))
}

/// Types, default values and brackets where a `let`, a loop or a function has none.
fn header(refusal: &Refusal) -> Option<SyntaxError> {
    let first = refusal.first()?;
    let in_parameters = refusal.expected.has("\")\"") && !refusal.expected.has("\"+\"");
    let (code, message, label, help) = match (first, refusal.found()?) {
        (_, Token::Colon) if refusal.token(refusal.at + 1) == Some(&Token::Equals) => {
            (code::SPELLING, "there is no `:=`", "not an operator", "write `=`")
        }
        (Token::Let, Token::Colon) if refusal.expected.has("\"=\"") => {
            (code::TYPE, "`let` takes no type", "remove the type", "the shape follows from the value")
        }
        (Token::Fn, Token::Colon) if in_parameters => (
            code::TYPE,
            "parameters take no type",
            "remove the type",
            "a function works for all shapes its body allows",
        ),
        (Token::Fn, Token::Equals) if in_parameters => (
            code::UNEXPECTED,
            "parameters have no default value",
            "not here",
            "give every argument in the call",
        ),
        (Token::Fn, Token::OpenBrace) if refusal.before() == Some(&Token::Equals) => {
            (code::UNEXPECTED, "a function is `= ..;` or `{ .. }`, not both", "block", "remove the `=`")
        }
        (Token::For, Token::OpenParen) if refusal.before() == Some(first) => (
            code::UNEXPECTED,
            "a loop has no parentheses around its range",
            "not here",
            "write `for i in 0..n { .. }`",
        ),
        _ => return None,
    };
    Some(refusal.error(code, message, label, help))
}

/// `let in = 1;`
fn reserved_name(refusal: &Refusal) -> Option<SyntaxError> {
    let word = refusal.text(refusal.at);
    if !refusal.found()?.is_reserved() || !refusal.expected.has("name") {
        return None;
    }
    let message = format!("`{word}` is a word of the language and cannot be a name");
    Some(refusal.error(code::UNEXPECTED, message, "not a name", "choose another name"))
}

/// Something left out before the refused token.
fn missing_part(refusal: &Refusal) -> Option<SyntaxError> {
    let text = refusal.text(refusal.at);
    let before = refusal.before()?;
    if refusal.expected.has("\"..\"") {
        return Some(refusal.error(
            code::UNEXPECTED,
            "a `for` runs over a range",
            "expected `..` before this",
            "write `for i in 0..n`, the upper bound excluded",
        ));
    }
    if matches!(before, Token::Cipher | Token::Plain) && refusal.first() == Some(&Token::Input) {
        let help = "write `f64`, as in `cipher f64[3, 4]`; a scalar is `cipher f64`";
        return Some(refusal.error(
            code::TYPE,
            "the element type is missing",
            "expected `f64` before this",
            help,
        ));
    }
    let starts_operand =
        matches!(refusal.found()?, Token::Number(_) | Token::Text(_) | Token::True | Token::False)
            || refusal.found()?.is_name();
    if starts_operand && before.ends_operand() && refusal.expected.has("\"+\"") {
        let left = refusal.text(refusal.at - 1);
        let message = format!("no operator between `{left}` and `{text}`");
        let label = format!("expected {}", refusal.expected.in_words());
        return Some(SyntaxError::new(code::UNEXPECTED, message, refusal.span(), label));
    }
    None
}

fn unexpected(refusal: &Refusal) -> SyntaxError {
    let message = match refusal.found() {
        Some(_) => format!("unexpected `{}`", refusal.text(refusal.at)),
        None => "the file ends too early".to_string(),
    };
    let label = format!("expected {}", refusal.expected.in_words());
    SyntaxError::new(code::UNEXPECTED, message, refusal.span(), label)
}
