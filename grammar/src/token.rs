//! Tokens, from text by logos. A lexical mistake is reported and reading goes on: it leaves nothing behind, the token
//! that was meant, or [`Token::Bad`] where nothing sensible was meant.

use crate::ast::Name;
use crate::error::{SyntaxError, code};
use crate::number;
use crate::span::Span;
use logos::{Lexer, Logos};
use std::collections::BTreeMap;

/// A token; its text is a slice of the source.
#[derive(Logos, Clone, Debug, PartialEq)]
#[logos(error = Mistake)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub(crate) enum Token<'s> {
    // Words that are never names.
    #[token("import")]
    Import,
    #[token("model")]
    Model,
    #[token("input")]
    Input,
    #[token("output")]
    Output,
    #[token("const")]
    Const,
    #[token("let")]
    Let,
    #[token("mut")]
    Mut,
    #[token("fn")]
    Fn,
    #[token("for")]
    For,
    #[token("in")]
    In,
    #[token("true")]
    #[token("True", |_| fault::<()>(Mistake::Capital))]
    True,
    #[token("false")]
    #[token("False", |_| fault::<()>(Mistake::Capital))]
    False,
    #[token("None")]
    None,
    // Words that act in one place and are names everywhere else.
    #[token("scheme")]
    Scheme,
    #[token("security")]
    Security,
    #[token("bootstrap")]
    Bootstrap,
    #[token("memory")]
    Memory,
    #[token("cipher")]
    Cipher,
    #[token("plain")]
    Plain,
    #[token("precision")]
    Precision,
    #[regex(r"[\p{XID_Start}_]\p{XID_Continue}*", ascii_name)]
    Name(&'s str),
    #[regex(r"[0-9]([0-9A-Za-z_]|\.[0-9A-Za-z_]|[eE][+-][0-9])*", whole_number)]
    #[regex(r"\.[0-9][0-9_]*", |_| fault(Mistake::Number))]
    Number(&'s str),
    #[regex(r#""[^"\n]*""#, |lex| &lex.slice()[1..lex.slice().len() - 1])]
    #[regex(r"'[^'\n]*'", |_| fault(Mistake::Quote))]
    Text(&'s str),
    #[token("=")]
    Equals,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("..")]
    Range,
    #[token("...")]
    Ellipsis,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Times,
    #[token("/")]
    Divide,
    #[token("@")]
    MatMul,
    #[token("**")]
    Power,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    // Tokens of other languages: no rule has them, so that the parser finds them and `hints` can explain.
    #[token(".")]
    Dot,
    #[token("^")]
    Caret,
    #[token("<")]
    #[token(">")]
    #[token("<=")]
    #[token(">=")]
    #[token("==")]
    #[token("!=")]
    Compare,
    #[token("+=")]
    #[token("-=")]
    #[token("*=")]
    #[token("/=")]
    #[token("@=")]
    #[token("**=")]
    Update,
    /// A lexical mistake, reported already.
    #[regex(r#""[^"\n]*"#, |_| fault::<()>(Mistake::Unclosed))]
    #[regex(r"#[^\n]*", |_| fault::<()>(Mistake::Hash), allow_greedy = true)]
    #[token("/*", block_comment)]
    #[token("&&", |_| fault::<()>(Mistake::Character))]
    #[token("||", |_| fault::<()>(Mistake::Character))]
    Bad,
    /// A statement that could not be read, reported already, with the names it defines.
    Broken(Vec<Name>),
}

impl<'s> Token<'s> {
    /// Its text, if it may be a name.
    pub fn name(&self) -> Option<&'s str> {
        match self {
            Token::Name(text) => Some(text),
            Token::Scheme => Some("scheme"),
            Token::Security => Some("security"),
            Token::Bootstrap => Some("bootstrap"),
            Token::Memory => Some("memory"),
            Token::Cipher => Some("cipher"),
            Token::Plain => Some("plain"),
            Token::Precision => Some("precision"),
            _ => None,
        }
    }

    /// Whether an operand or a call may end with it.
    pub fn ends_operand(&self) -> bool {
        use Token::*;
        let ends =
            matches!(self, Number(_) | Text(_) | True | False | None | CloseParen | CloseBracket | Bad);
        ends || self.is_name()
    }

    /// Whether it may be a name.
    pub fn is_name(&self) -> bool {
        self.name().is_some()
    }

    /// Whether it is a word that is never a name.
    pub fn is_reserved(&self) -> bool {
        use Token::*;
        matches!(
            self,
            Import | Model | Input | Output | Const | Let | Mut | Fn | For | In | True | False | None
        )
    }

    /// Whether only statements start with it.
    pub fn is_statement_word(&self) -> bool {
        use Token::*;
        matches!(self, Import | Model | Input | Output | Const | Let | Fn)
    }
}

/// A token and where it stands; empty if the parser put it there.
#[derive(Clone, Debug)]
pub(crate) struct Placed<'s> {
    pub token: Token<'s>,
    pub span: Span,
    /// The first token of its line.
    pub leads_line: bool,
}

impl Placed<'_> {
    /// A token the text lacks, behind what ends at `at`.
    pub fn inserted(token: Token<'static>, at: usize) -> Placed<'static> {
        Placed { token, span: Span::new(at, at), leads_line: false }
    }
}

/// The kinds of lexical mistakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// A character no token starts with.
    #[default]
    Character,
    /// Letters and digits after a digit that make no number.
    Number,
    /// A string without its closing quote.
    Unclosed,
    /// A string in single quotes.
    Quote,
    /// A name with other than ASCII characters.
    Alphabet,
    /// A comment after `#`.
    Hash,
    /// A comment after `/*`.
    Block,
    /// `True` or `False`.
    Capital,
}

impl Mistake {
    /// What was meant, if that is clear; outer `None`: nothing, it was a comment.
    fn meant(self, text: &str) -> Option<Token<'_>> {
        match self {
            Mistake::Hash | Mistake::Block => None,
            Mistake::Alphabet => Some(Token::Name(text)),
            Mistake::Quote => Some(Token::Text(&text[1..text.len() - 1])),
            Mistake::Capital if text == "True" => Some(Token::True),
            Mistake::Capital => Some(Token::False),
            Mistake::Character | Mistake::Number | Mistake::Unclosed => Some(Token::Bad),
        }
    }

    fn explain(self, text: &str, span: Span) -> SyntaxError {
        match self {
            Mistake::Character => unknown_character(text, span),
            Mistake::Number => number::malformed(text, span),
            Mistake::Unclosed => SyntaxError::new(
                code::STRING,
                "the string is not closed",
                span,
                "no `\"` before the end of the line",
            ),
            Mistake::Quote => {
                SyntaxError::new(code::STRING, "strings take double quotes", span, "single quotes")
                    .with_help(format!("write \"{}\"", &text[1..text.len() - 1]))
            }
            Mistake::Alphabet => {
                let other = text.chars().find(|c| !c.is_ascii()).unwrap_or_default();
                SyntaxError::new(
                    code::NAME,
                    format!("`{text}` is not a name"),
                    span,
                    format!("`{other}` is not ASCII"),
                )
                .with_help(
                    "names are ASCII letters, digits and `_`; comments and strings may hold any character",
                )
            }
            Mistake::Hash => {
                SyntaxError::new(code::COMMENT, "`#` does not start a comment", span, "not a comment")
                    .with_help("comments start with `//`")
            }
            Mistake::Block => {
                SyntaxError::new(code::COMMENT, "`/*` does not start a comment", span, "not a comment")
                    .with_help("comments start with `//` and end with the line")
            }
            Mistake::Capital => {
                let right = text.to_lowercase();
                SyntaxError::new(
                    code::SPELLING,
                    format!("`{text}` is spelt `{right}`"),
                    span,
                    "capital letter",
                )
                .with_help(format!("write `{right}`"))
            }
        }
    }
}

/// All tokens of a text, with its lexical mistakes; a name that is not ASCII is told once.
pub(crate) fn tokens<'s>(source: &'s str, errors: &mut Vec<SyntaxError>) -> Vec<Placed<'s>> {
    let text = source.strip_prefix('\u{feff}').unwrap_or(source);
    let offset = source.len() - text.len();
    let mut words: BTreeMap<&str, usize> = BTreeMap::new(); // names that are not ASCII, with their error
    let mut tokens = Vec::new();
    for (token, range) in Token::lexer(text).spanned() {
        let slice = &text[range.clone()];
        let span = Span::new(range.start + offset, range.end + offset);
        let token = token.or_else(|mistake| {
            match words.get(slice) {
                Some(&first) => errors[first].extra_labels.push((span, "here too".to_string())),
                None => errors.push(mistake.explain(slice, span)),
            }
            if mistake == Mistake::Alphabet {
                words.entry(slice).or_insert(errors.len() - 1);
            }
            mistake.meant(slice).ok_or(())
        });
        if let Ok(token) = token {
            let leads_line =
                tokens.last().is_none_or(|last: &Placed| source[last.span.end..span.start].contains('\n'));
            tokens.push(Placed { token, span, leads_line });
        }
    }
    tokens
}

fn ascii_name<'s>(lex: &Lexer<'s, Token<'s>>) -> Result<&'s str, Mistake> {
    if lex.slice().is_ascii() { Ok(lex.slice()) } else { Err(Mistake::Alphabet) }
}

/// Takes a dot that ends the number with it, so that `5.` is one mistake; the dots of `0..5` are left.
fn whole_number<'s>(lex: &mut Lexer<'s, Token<'s>>) -> Result<&'s str, Mistake> {
    if lex.remainder().starts_with('.') && !lex.remainder().starts_with("..") {
        lex.bump(1);
    }
    if number::fault(lex.slice()).is_none() { Ok(lex.slice()) } else { Err(Mistake::Number) }
}

fn fault<T>(mistake: Mistake) -> Result<T, Mistake> {
    Err(mistake)
}

fn block_comment<'s>(lex: &mut Lexer<'s, Token<'s>>) -> Result<(), Mistake> {
    let rest = lex.remainder();
    let end = rest.find("*/").map(|end| end + 2).or_else(|| rest.find('\n')).unwrap_or(rest.len());
    lex.bump(end);
    Err(Mistake::Block)
}

fn unknown_character(text: &str, span: Span) -> SyntaxError {
    let shown: String = text.chars().flat_map(char::escape_debug).collect();
    let error =
        SyntaxError::new(code::CHARACTER, format!("unexpected `{shown}`"), span, "not in the language");
    let help = match text {
        "×" | "·" | "⋅" | "∗" => "write `*`",
        "÷" => "write `/`",
        "−" | "–" | "—" => "write `-`",
        "²" => "write `** 2`",
        "³" => "write `** 3`",
        "…" => "write `...`",
        "“" | "”" | "„" | "‘" | "’" | "'" | "`" => "strings take straight double quotes: `\"`",
        "√" => "write `sqrt(x)`",
        "∑" => "write `sum(x)`",
        "≤" | "≥" | "≠" => "there are no comparisons; use `step(x)` or `sign(x)`",
        "&" | "|" | "&&" | "||" | "!" | "~" => {
            "there is no logic; for values 0 and 1, `a * b` is and, `1 - a` is not"
        }
        "%" => "there is no remainder",
        "\u{a0}" => "this is a non-breaking space: write an ordinary one",
        _ => return error,
    };
    error.with_help(help)
}
