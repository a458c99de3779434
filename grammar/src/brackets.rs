//! Brackets and nesting, checked before parsing: the parser then sees balanced tokens of bounded depth.

use crate::MAX_NESTING;
use crate::error::{SyntaxError, code};
use crate::span::Span;
use crate::statement;
use crate::token::{Placed, Token};

/// Replaces statements with unbalanced brackets, with too deep nesting or with lexical mistakes by [`Token::Broken`].
/// Braces are balanced already.
pub(crate) fn check<'s>(tokens: &[Placed<'s>], errors: &mut Vec<SyntaxError>) -> Vec<Placed<'s>> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut blocks = 0; // open at this place
    let mut dangling = false; // the statement before lacks a closing bracket
    let mut at = 0;
    while at < tokens.len() {
        let range = statement::around(tokens, at);
        let statement = &tokens[range.clone()];
        let opens = statement.last().is_some_and(|last| last.token == Token::OpenBrace);
        let fault = match statement.iter().any(|placed| placed.token == Token::Bad) {
            true => Some(Fault::Told),
            false => check_brackets(statement, blocks),
        };
        at = range.end;
        match &fault {
            Some(fault) => {
                let (lost, broken) = statement::give_up(tokens, range.clone(), blocks >= MAX_NESTING);
                out.extend_from_slice(&tokens[range.start..lost.start]);
                out.push(broken);
                at = at.max(lost.end);
                out.extend_from_slice(&tokens[lost.end..at]);
                blocks += usize::from(opens && lost.end < range.end);
                match fault {
                    Fault::Unopened(_) if dangling && !statement[0].token.is_statement_word() => {}
                    Fault::Unopened(error) | Fault::Unclosed(error) | Fault::Other(error) => {
                        errors.push(error.clone())
                    }
                    Fault::Told => {}
                }
            }
            None => {
                blocks += usize::from(opens);
                blocks -= usize::from(statement[0].token == Token::CloseBrace);
                out.extend_from_slice(statement);
            }
        }
        dangling = matches!(fault, Some(Fault::Unclosed(_)));
    }
    out
}

/// Why a statement is not worth parsing.
enum Fault {
    /// Reported by the lexer.
    Told,
    /// A closing bracket without its opening one.
    Unopened(SyntaxError),
    /// An opening bracket without its closing one.
    Unclosed(SyntaxError),
    /// Wrong bracket, or too deep.
    Other(SyntaxError),
}

/// An open bracket, and how deep the operators before it nest.
struct Bracket {
    close: Token<'static>,
    span: Span,
    operators: usize,
}

/// The first fault in a statement's brackets, at a place with so many open blocks.
fn check_brackets(statement: &[Placed], blocks: usize) -> Option<Fault> {
    let mut open: Vec<Bracket> = Vec::new();
    let mut outer = blocks; // depth around the innermost open bracket
    let mut operators = 0; // signs, powers and indexings since, that nest
    let mut before: Option<&Token> = None;
    for placed in statement {
        let after_operand = before.is_some_and(Token::ends_operand);
        match &placed.token {
            Token::OpenParen | Token::OpenBracket => {
                operators += usize::from(after_operand);
                let close = match placed.token {
                    Token::OpenParen => Token::CloseParen,
                    _ => Token::CloseBracket,
                };
                open.push(Bracket { close, span: placed.span, operators });
                outer += operators + 1;
                operators = 0;
            }
            close @ (Token::CloseParen | Token::CloseBracket) => match open.pop() {
                Some(bracket) if bracket.close == *close => {
                    operators = bracket.operators;
                    outer -= operators + 1;
                }
                Some(bracket) => return Some(Fault::Other(crossed(&bracket, placed.span, close))),
                None => return Some(Fault::Unopened(unopened(placed.span, close))),
            },
            Token::Power => operators += 1,
            Token::Minus if !after_operand => operators += 1,
            Token::OpenBrace => outer += 1,
            token if token.ends_operand() => {}
            _ => operators = 0,
        }
        if outer + operators > MAX_NESTING {
            return Some(Fault::Other(too_deep(placed.span)));
        }
        before = Some(&placed.token);
    }
    let bracket = open.pop()?;
    let last = statement.last().map_or(bracket.span, |last| last.span);
    Some(Fault::Unclosed(never_closed(&bracket, last)))
}

fn symbol(close: &Token) -> (char, char) {
    match close {
        Token::CloseParen => ('(', ')'),
        _ => ('[', ']'),
    }
}

fn crossed(bracket: &Bracket, span: Span, found: &Token) -> SyntaxError {
    let ((open, close), (_, wrong)) = (symbol(&bracket.close), symbol(found));
    SyntaxError::new(
        code::BRACKET,
        format!("`{open}` is closed by `{wrong}`"),
        span,
        format!("expected `{close}`"),
    )
    .with_label(bracket.span, "opened here")
}

fn unopened(span: Span, close: &Token) -> SyntaxError {
    let (open, close) = symbol(close);
    SyntaxError::new(code::BRACKET, format!("`{close}` closes nothing"), span, format!("no `{open}` for it"))
}

fn never_closed(bracket: &Bracket, end: Span) -> SyntaxError {
    let (open, close) = symbol(&bracket.close);
    SyntaxError::new(code::BRACKET, format!("this `{open}` is never closed"), bracket.span, "opened here")
        .with_label(end, format!("expected `{close}` before the end of the statement"))
}

fn too_deep(span: Span) -> SyntaxError {
    SyntaxError::new(
        code::NESTING,
        "the program is nested too deeply",
        span,
        format!("level {}", MAX_NESTING + 1),
    )
    .with_help(format!("at most {MAX_NESTING} levels; name inner parts with `let`"))
}
