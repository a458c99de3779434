//! Statements as stretches of tokens, found without parsing: so that a mistake costs one statement and no more.
//!
//! A statement ends with `;` or with the `{` of its block, and before a word that only starts statements; a `}` is a
//! stretch of its own.

use crate::ast::Name;
use crate::span::Span;
use crate::token::{Placed, Token};
use std::ops::Range;

/// Whether nothing belongs to a statement after this token, a `{` apart.
pub(crate) fn ends(token: &Token) -> bool {
    matches!(token, Token::Semicolon | Token::OpenBrace | Token::CloseBrace | Token::Broken(_))
}

/// Whether a statement starts at token `at`.
pub(crate) fn starts(tokens: &[Placed], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &tokens[before].token) else { return true };
    match &tokens[at].token {
        Token::CloseBrace => true,
        Token::OpenBrace => ends(before) && !matches!(before, Token::Broken(_)),
        _ if ends(before) => true,
        Token::Broken(_) => !matches!(before, Token::For | Token::Model),
        Token::For => is_loop(&tokens[at + 1..]),
        word if word.is_statement_word() => {
            before.ends_operand() || (tokens[at].leads_line && !before.is_reserved())
        }
        _ => false,
    }
}

/// Whether a `for` before these tokens is a loop with a block, not a part of a list.
fn is_loop(rest: &[Placed]) -> bool {
    let stop = rest.iter().find(|placed| {
        ends(&placed.token) || matches!(placed.token, Token::CloseBracket | Token::CloseParen | Token::For)
    });
    stop.is_some_and(|placed| placed.token == Token::OpenBrace)
}

/// The statement that holds token `at`.
pub(crate) fn around(tokens: &[Placed], at: usize) -> Range<usize> {
    let start = (0..=at).rev().find(|&i| starts(tokens, i)).unwrap_or(0);
    let end = (at + 1..tokens.len()).find(|&i| starts(tokens, i)).unwrap_or(tokens.len());
    start..end
}

/// What to put in the place of a statement that cannot be read: the tokens to replace and their replacement.
///
/// Loops and models lose their header but keep their block, unless `with_block`; other statements lose both.
pub(crate) fn give_up<'s>(
    tokens: &[Placed<'s>],
    statement: Range<usize>,
    with_block: bool,
) -> (Range<usize>, Placed<'s>) {
    let Range { start, end } = statement;
    let opens = tokens[end - 1].token == Token::OpenBrace;
    let keeps_block =
        matches!(tokens[start].token, Token::For | Token::Model) && end - start > 1 && !with_block;
    let range = match opens {
        true if keeps_block => start + 1..end - 1,
        true => start..after_block(tokens, end - 1),
        false => start..end,
    };
    let span = match range.is_empty() {
        true => tokens[start].span.after(),
        false => tokens[range.start].span.to(tokens[range.end - 1].span),
    };
    let leads_line = tokens[range.start].leads_line;
    let broken = Token::Broken(defines(&tokens[start..end]));
    (range, Placed { token: broken, span, leads_line })
}

/// The token after the block that `open` opens, and after a `;` behind it.
fn after_block(tokens: &[Placed], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, placed) in tokens.iter().enumerate().skip(open) {
        match placed.token {
            Token::OpenBrace => depth += 1,
            Token::CloseBrace if depth == 1 => {
                let semicolon = tokens.get(at + 1).is_some_and(|next| next.token == Token::Semicolon);
                return at + 1 + usize::from(semicolon);
            }
            Token::CloseBrace => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// The names a statement seems to define.
fn defines(statement: &[Placed]) -> Vec<Name> {
    let [first, rest @ ..] = statement else { return Vec::new() };
    let several = match first.token {
        Token::Input | Token::Output | Token::Let => true,
        Token::Const | Token::Fn | Token::For | Token::Model => false,
        // a misspelt word: `lett a = ..`
        _ if first.token.is_name() && rest.first().is_some_and(|next| next.token.is_name()) => true,
        _ => return Vec::new(),
    };
    let between = |token: &Token| matches!(token, Token::Mut | Token::OpenParen | Token::Comma);
    let names = rest.iter().filter(|placed| !several || !between(&placed.token));
    let names =
        names.map_while(|placed| Some(Name { text: placed.token.name()?.to_string(), span: placed.span }));
    names.take(if several { usize::MAX } else { 1 }).collect()
}

/// The place just behind a token.
pub(crate) fn place_after(tokens: &[Placed], at: usize) -> Span {
    at.checked_sub(1).map_or(Span::new(0, 0), |before| tokens[before].span.after())
}
