//! Parsing in spite of mistakes. The generated parser stops at its first one; that is explained, and either the missing
//! `;` is added or the statement is replaced by [`Token::Broken`], and the file is parsed again. So a mistake costs one
//! statement, whose names stay known, and one message.

use crate::MAX_ERRORS;
use crate::ast::Ast;
use crate::error::{SyntaxError, code};
use crate::fhec::FileParser;
use crate::hints::{self, Expected, Refusal};
use crate::statement;
use crate::token::{Placed, Token};
use lalrpop_util::ParseError;

/// The tree; `None` if there are too many mistakes.
pub(crate) fn parse<'s>(
    source: &'s str,
    mut tokens: Vec<Placed<'s>>,
    errors: &mut Vec<SyntaxError>,
) -> Option<Ast> {
    let parser = FileParser::new();
    for _ in 0..=MAX_ERRORS {
        let mut found_by_actions = Vec::new();
        let stream =
            tokens.iter().map(|placed| Ok((placed.span.start, placed.token.clone(), placed.span.end)));
        match parser.parse(source, &mut found_by_actions, stream) {
            Ok(ast) => {
                errors.extend(found_by_actions);
                return Some(ast);
            }
            Err(failure) => {
                let (at, expected) = locate(&tokens, failure);
                repair(source, &mut tokens, at, &expected, errors);
            }
        }
    }
    None
}

/// The token the parser refused (one past the last at the end of the file), and what it expected.
fn locate<'s>(tokens: &[Placed<'s>], failure: ParseError<usize, Token<'s>, ()>) -> (usize, Expected) {
    match failure {
        ParseError::UnrecognizedToken { token: (start, _, end), expected } => {
            let first = tokens.partition_point(|placed| placed.span.start < start);
            let offset = tokens[first..].iter().position(|placed| placed.span.end == end);
            (first + offset.unwrap_or(0), Expected::new(expected))
        }
        ParseError::UnrecognizedEof { expected, .. } => (tokens.len(), Expected::new(expected)),
        ParseError::ExtraToken { .. } | ParseError::InvalidToken { .. } | ParseError::User { .. } => {
            (tokens.len(), Expected::new(Vec::new()))
        }
    }
}

/// Explains the refused token and changes the tokens so that the parser gets further.
fn repair<'s>(
    source: &'s str,
    tokens: &mut Vec<Placed<'s>>,
    at: usize,
    expected: &Expected,
    errors: &mut Vec<SyntaxError>,
) {
    if expected.has("\";\"") && lacks_semicolon(tokens, at) {
        let end = statement::place_after(tokens, at);
        errors.push(SyntaxError::new(code::SEMICOLON, "a `;` is missing", end, "expected `;` here"));
        tokens.insert(at, Placed::inserted(Token::Semicolon, end.end));
        return;
    }
    let unfinished = at > 0
        && (at == tokens.len() || statement::starts(tokens, at))
        && !statement::ends(&tokens[at - 1].token);
    let statement = statement::around(tokens, if unfinished { at - 1 } else { at.min(tokens.len() - 1) });
    let refusal = Refusal { source, tokens, statement: statement.clone(), at, expected };
    errors.extend(hints::explain(&refusal));
    if matches!(tokens[statement.clone()], [Placed { token: Token::Broken(_) | Token::CloseBrace, .. }]) {
        tokens.remove(statement.start);
        return;
    }
    let (lost, broken) = statement::give_up(tokens, statement, false);
    tokens.splice(lost, [broken]);
}

/// Whether the text goes on as if the statement before token `at` were complete.
fn lacks_semicolon(tokens: &[Placed], at: usize) -> bool {
    match tokens.get(at) {
        None => true,
        Some(next) if statement::starts(tokens, at) => !matches!(next.token, Token::OpenBrace),
        Some(next) => match next.token {
            Token::Name(text) => next.leads_line && !hints::is_argument(text),
            _ => false,
        },
    }
}
