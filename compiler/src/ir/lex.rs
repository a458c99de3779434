//! Tokens of the text form of graphs.

use std::fmt;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// letters, digits and underscores, not starting with a digit
    Word(String),
    /// a number as it is spelt, with its sign
    Number(String),
    /// a quoted string, escapes resolved
    Text(String),
    /// anything else, one character; `..` is one token
    Punct(String),
    /// the end
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(s) | Token::Number(s) | Token::Punct(s) => write!(f, "`{s}`"),
            Token::Text(s) => write!(f, "{s:?}"),
            Token::End => write!(f, "the end of the text"),
        }
    }
}

/// The rest of a text.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// depth of open parentheses: inside, `;` is a token; outside, it starts a comment
    open: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, at: 0, open: 0 }
    }

    /// Line of the next token, from 1.
    pub(crate) fn line(&self) -> usize {
        1 + self.text[..self.at].matches('\n').count()
    }

    /// The next token, taken.
    pub(crate) fn next(&mut self) -> Token {
        let (token, at) = self.scan();
        self.at = at;
        match &token {
            Token::Punct(p) if p == "(" => self.open += 1,
            Token::Punct(p) if p == ")" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        token
    }

    /// The next token.
    pub(crate) fn peek(&self) -> Token {
        self.scan().0
    }

    /// Takes the next token if it is this word or sign.
    pub(crate) fn eat(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(s) | Token::Punct(s) if s == wanted);
        if found {
            self.next();
        }
        found
    }

    /// Whether the next token is on the same line, and a letter followed by a number, such as `n12`.
    pub(crate) fn is_numbered(&self, letter: char) -> bool {
        let (token, end) = self.scan();
        let Token::Word(word) = token else { return false };
        let digits = word.strip_prefix(letter).unwrap_or("");
        !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && !self.text[self.at..end].contains('\n')
    }

    fn scan(&self) -> (Token, usize) {
        let mut at = self.at;
        loop {
            let rest = &self.text[at..];
            at += rest.len() - rest.trim_start().len();
            if self.open > 0 || !self.text[at..].starts_with(';') {
                break;
            }
            at += self.text[at..].find('\n').unwrap_or(self.text.len() - at);
        }
        let rest = &self.text[at..];
        let take = |length: usize| (rest[..length].to_string(), at + length);
        let Some(first) = rest.chars().next() else { return (Token::End, at) };
        if first == '"' {
            return quoted(rest)
                .map_or((Token::Punct("\"".into()), at + 1), |(s, n)| (Token::Text(s), at + n));
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let (word, end) = take(span(rest, |c| c.is_ascii_alphanumeric() || c == '_'));
            return (Token::Word(word), end);
        }
        if let Some(length) = number(rest) {
            let (number, end) = take(length);
            return (Token::Number(number), end);
        }
        let (sign, end) = take(if rest.starts_with("..") { 2 } else { first.len_utf8() });
        (Token::Punct(sign), end)
    }
}

fn span(text: &str, accepts: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accepts(c)).unwrap_or(text.len())
}

/// Length of a number at the start: sign, digits or `inf`, fraction, exponent.
fn number(text: &str) -> Option<usize> {
    let digits = |from: usize| span(&text[from..], |c| c.is_ascii_digit());
    let mut n = usize::from(text.starts_with('-'));
    if n == 1 && text[1..].starts_with("inf") {
        return Some(4);
    }
    let whole = digits(n);
    n += whole;
    if whole == 0 {
        return None;
    }
    if text[n..].starts_with('.') && digits(n + 1) > 0 {
        n += 1 + digits(n + 1);
    }
    if text[n..].starts_with(['e', 'E']) {
        let sign = usize::from(text[n + 1..].starts_with(['-', '+']));
        let exponent = digits(n + 1 + sign);
        n += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    Some(n)
}

/// A string as `{:?}` writes it, and its length in the text.
fn quoted(text: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                '0' => value.push('\0'),
                'u' => {
                    let code: String =
                        chars.by_ref().map(|c| c.1).skip(1).take_while(|&c| c != '}').collect();
                    value.push(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32)?);
                }
                other => value.push(other),
            },
            c => value.push(c),
        }
    }
    None
}
