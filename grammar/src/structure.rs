//! Braces, brackets and nesting, checked before parsing: the parser then sees balanced tokens of bounded depth.
//!
//! Indentation decides which brace is the one without a partner.

use crate::MAX_NESTING;
use crate::error::{SyntaxError, code};
use crate::span::Span;
use crate::statement;
use crate::token::{Placed, Token};

/// Balances braces by adding or leaving out some, and replaces statements with unbalanced brackets, with too deep
/// nesting or with lexical mistakes by [`Token::Broken`].
pub(crate) fn balance<'s>(
    source: &'s str,
    tokens: Vec<Placed<'s>>,
    errors: &mut Vec<SyntaxError>,
) -> Vec<Placed<'s>> {
    let tokens = open_blocks(tokens, errors);
    let tokens = close_blocks(source, tokens, errors);
    check_statements(&tokens, errors)
}

/// Adds the `{` of a loop, function or model that has none before the end of its line.
fn open_blocks<'s>(tokens: Vec<Placed<'s>>, errors: &mut Vec<SyntaxError>) -> Vec<Placed<'s>> {
    let mut out: Vec<Placed> = Vec::with_capacity(tokens.len());
    let mut header: Option<usize> = None; // where in `out` the header starts whose `{` is awaited
    for placed in tokens {
        if let Some(start) = header
            && (placed.leads_line || statement::ends(&placed.token))
        {
            let opened = out[start..].iter().any(|p| p.token == Token::Equals);
            let goes_on =
                placed.token.is_name() || placed.token.is_statement_word() || placed.token == Token::For;
            if placed.leads_line && goes_on && !opened && wants_block(&out[start..]) {
                let colon = out.pop_if(|last| last.token == Token::Colon);
                let at = colon.map_or_else(|| statement::place_after(&out, out.len()), |colon| colon.span);
                errors.push(
                    SyntaxError::new(code::BRACKET, "the block is not opened", at, "expected `{`")
                        .with_label(out[start].span, "the block of this"),
                );
                out.push(Placed::inserted(Token::OpenBrace, at.end));
            }
            header = None;
        }
        if matches!(placed.token, Token::For | Token::Fn | Token::Model)
            && out.last().is_none_or(|last| statement::ends(&last.token))
        {
            header = Some(out.len());
        }
        out.push(placed);
    }
    out
}

/// Whether a line that starts a loop, function or model is whole but for its `{`.
fn wants_block(header: &[Placed]) -> bool {
    let last = header.last().map(|last| &last.token);
    let depth = header.iter().fold(0i32, |depth, placed| match placed.token {
        Token::OpenParen | Token::OpenBracket => depth + 1,
        Token::CloseParen | Token::CloseBracket => depth - 1,
        _ => depth,
    });
    depth == 0 && header.len() > 1 && last.is_some_and(|last| last.ends_operand() || *last == Token::Colon)
}

/// An open block.
struct Block {
    brace: Span,
    /// Of the line with the brace, in bytes.
    indent: usize,
    /// Whether its first line is indented further.
    indented: bool,
}

/// Adds missing and leaves out surplus `}`.
fn close_blocks<'s>(source: &str, tokens: Vec<Placed<'s>>, errors: &mut Vec<SyntaxError>) -> Vec<Placed<'s>> {
    let count = |brace: Token| tokens.iter().filter(|placed| placed.token == brace).count();
    let (opened, closed) = (count(Token::OpenBrace), count(Token::CloseBrace));
    let (mut missing, mut surplus) = (opened.saturating_sub(closed), closed.saturating_sub(opened));
    let mut blocks: Vec<Block> = Vec::new();
    let mut out: Vec<Placed> = Vec::with_capacity(tokens.len());
    let mut indent = 0;
    let mut rest = tokens.into_iter().peekable();
    while let Some(placed) = rest.next() {
        if placed.leads_line {
            indent = indent_of(source, placed.span);
            if out.last().is_some_and(|last| last.token == Token::OpenBrace)
                && let Some(block) = blocks.last_mut()
            {
                block.indented = indent > block.indent;
            }
            let is_close = placed.token == Token::CloseBrace;
            let left = |block: &mut Block| {
                block.indented && (indent < block.indent || (indent == block.indent && !is_close))
            };
            while missing > 0
                && let Some(block) = blocks.pop_if(left)
            {
                let at = statement::place_after(&out, out.len());
                errors.push(unclosed(&block, at, "expected `}` before the next line"));
                out.push(Placed::inserted(Token::CloseBrace, at.end));
                missing -= 1;
            }
        }
        match placed.token {
            Token::OpenBrace => blocks.push(Block { brace: placed.span, indent, indented: false }),
            Token::CloseBrace => {
                let goes_on = rest.peek().is_some_and(|next| {
                    let deeper = |block: &Block| indent_of(source, next.span) > block.indent;
                    next.leads_line && next.token != Token::CloseBrace && blocks.last().is_some_and(deeper)
                });
                let stray = blocks.is_empty() || (surplus > 0 && goes_on);
                if stray {
                    surplus = surplus.saturating_sub(1);
                    errors.push(
                        SyntaxError::new(code::BRACKET, "`}` closes nothing", placed.span, "no `{` for it")
                            .with_help("remove it"),
                    );
                    continue;
                }
                blocks.pop();
            }
            _ => {}
        }
        out.push(placed);
    }
    close_at_end(blocks, &mut out, errors);
    out
}

fn close_at_end(blocks: Vec<Block>, out: &mut Vec<Placed>, errors: &mut Vec<SyntaxError>) {
    let end = statement::place_after(out, out.len());
    if let [first, inner @ ..] = blocks.as_slice() {
        let mut error = unclosed(first, end, "the file ends here, expected `}`");
        for block in inner.iter().take(3) {
            error = error.with_label(block.brace, "not closed either");
        }
        errors.push(error);
    }
    out.extend(blocks.iter().map(|_| Placed::inserted(Token::CloseBrace, end.end)));
}

fn unclosed(block: &Block, end: Span, label: &str) -> SyntaxError {
    SyntaxError::new(code::BRACKET, "this `{` is never closed by a `}`", block.brace, "opened here")
        .with_label(end, label)
}

/// Bytes before the first token of a line.
fn indent_of(source: &str, first: Span) -> usize {
    let before = &source[..first.start];
    before.len() - before.rfind('\n').map_or(0, |newline| newline + 1)
}

fn check_statements<'s>(tokens: &[Placed<'s>], errors: &mut Vec<SyntaxError>) -> Vec<Placed<'s>> {
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
