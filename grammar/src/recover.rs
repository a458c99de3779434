//! Parsing in spite of mistakes. The generated parser stops at its first one; that is explained, and either the missing
//! `;` is added or the statement is replaced by [`Token::Broken`], and the file is parsed again. So a mistake costs one
//! statement, whose names stay known, and one message.

use crate::MAX_ERRORS;
use crate::ast::Ast;
use crate::error::{SyntaxError, code};
use crate::expected::Expected;
use crate::fhec::FileParser;
use crate::hints::{self, Refusal};
use crate::statement;
use crate::token::{Placed, Token};
use lalrpop_util::ParseError;

/// The tree; `None` if there are too many mistakes.
///
/// While mistakes are found, only the headers of the blocks around the last one and what follows it are parsed; then
/// everything once: the time is linear in the text.
pub(crate) fn parse<'s>(
    source: &'s str,
    mut tokens: Vec<Placed<'s>>,
    errors: &mut Vec<SyntaxError>,
) -> Option<Ast> {
    let parser = FileParser::new();
    let mut from = 0;
    for _ in 0..=MAX_ERRORS + 1 {
        let known = errors.len();
        let stream = open_headers(&tokens[..from]).chain(&tokens[from..]);
        let stream = stream.map(|placed| Ok((placed.span.start, placed.token.clone(), placed.span.end)));
        match parser.parse(errors, stream) {
            Ok(ast) if from == 0 => return Some(ast),
            Ok(_) => {
                errors.truncate(known);
                from = 0;
            }
            Err(failure) => {
                errors.truncate(known);
                let (at, expected) = locate(&tokens, failure);
                from = repair(source, &mut tokens, at, &expected, errors);
            }
        }
    }
    None
}

/// The headers of the blocks that are open behind the tokens.
fn open_headers<'a, 's>(tokens: &'a [Placed<'s>]) -> impl Iterator<Item = &'a Placed<'s>> + use<'a, 's> {
    let mut open = Vec::new();
    for (at, placed) in tokens.iter().enumerate() {
        match placed.token {
            Token::OpenBrace => open.push(at),
            Token::CloseBrace => drop(open.pop()),
            _ => {}
        }
    }
    open.into_iter().flat_map(|brace| &tokens[statement::around(tokens, brace)])
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

/// Explains the refused token and changes the tokens so that the parser gets further; where the change starts.
fn repair<'s>(
    source: &'s str,
    tokens: &mut Vec<Placed<'s>>,
    at: usize,
    expected: &Expected,
    errors: &mut Vec<SyntaxError>,
) -> usize {
    if expected.has("\";\"") && lacks_semicolon(tokens, at) {
        let end = statement::place_after(tokens, at);
        errors.push(SyntaxError::new(code::SEMICOLON, "a `;` is missing", end, "expected `;` here"));
        tokens.insert(at, Placed::inserted(Token::Semicolon, end.end));
        return statement::around(tokens, at).start;
    }
    let unfinished = at > 0
        && (at == tokens.len() || statement::starts(tokens, at))
        && !statement::ends(&tokens[at - 1].token);
    let statement = statement::around(tokens, if unfinished { at - 1 } else { at.min(tokens.len() - 1) });
    let refusal = Refusal { source, tokens, statement: statement.clone(), at, expected };
    errors.extend(hints::explain(&refusal));
    if matches!(tokens[statement.clone()], [Placed { token: Token::Broken(_) | Token::CloseBrace, .. }]) {
        tokens.remove(statement.start);
    } else {
        let (lost, broken) = statement::give_up(tokens, statement.clone(), at == statement.start);
        tokens.splice(lost, [broken]);
    }
    statement.start
}

/// Whether the text goes on as if the statement before token `at` were complete.
fn lacks_semicolon(tokens: &[Placed], at: usize) -> bool {
    let Some(last) = at.checked_sub(1).filter(|&last| !statement::ends(&tokens[last].token)) else {
        return false;
    };
    let goes_on = match tokens.get(at).map(|next| (&next.token, next.leads_line)) {
        None => true,
        Some((Token::Name(word), true)) => !hints::is_argument(word),
        Some((token, _)) => statement::starts(tokens, at) && *token != Token::OpenBrace,
    };
    goes_on && is_statement(&tokens[statement::around(tokens, last)])
}

/// Whether it starts like a statement, not like an expression.
fn is_statement(tokens: &[Placed]) -> bool {
    let second = tokens.get(1).map(|second| &second.token);
    match tokens[0].token {
        Token::Scheme | Token::Security | Token::Bootstrap | Token::Memory => true,
        ref first => first.is_statement_word() || second == Some(&Token::Equals),
    }
}
