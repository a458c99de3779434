//! Braces, balanced before parsing by adding or leaving out some. Lines and indentation decide which.

use crate::error::{SyntaxError, code};
use crate::span::Span;
use crate::statement;
use crate::token::{Placed, Token};

/// Balances the braces.
pub(crate) fn balance<'s>(
    source: &str,
    tokens: Vec<Placed<'s>>,
    errors: &mut Vec<SyntaxError>,
) -> Vec<Placed<'s>> {
    let tokens = open_blocks(tokens, errors);
    let count = |brace: Token| tokens.iter().filter(|placed| placed.token == brace).count();
    let (opened, closed) = (count(Token::OpenBrace), count(Token::CloseBrace));
    let mut balance = Balance {
        source,
        missing: opened.saturating_sub(closed),
        surplus: closed.saturating_sub(opened),
        indent: 0,
        blocks: Vec::new(),
        out: Vec::with_capacity(tokens.len()),
        errors,
    };
    let mut rest = tokens.into_iter().peekable();
    while let Some(placed) = rest.next() {
        balance.take(placed, rest.peek());
    }
    balance.close_at_end();
    balance.out
}

/// Adds the `{` of a loop, function or model that has none where its block starts.
fn open_blocks<'s>(tokens: Vec<Placed<'s>>, errors: &mut Vec<SyntaxError>) -> Vec<Placed<'s>> {
    let mut out: Vec<Placed> = Vec::with_capacity(tokens.len());
    let mut header: Option<usize> = None; // where in `out` the header starts whose `{` is awaited
    let mut rest = tokens.into_iter().peekable();
    while let Some(placed) = rest.next() {
        let assigns = placed.token.is_name() && rest.peek().is_some_and(|next| next.token == Token::Equals);
        let goes_on =
            placed.token.is_name() || placed.token.is_statement_word() || placed.token == Token::For;
        if let Some(start) = header
            && (placed.leads_line || assigns || statement::ends(&placed.token))
        {
            if (placed.leads_line || assigns) && goes_on && wants_block(&out[start..]) {
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

/// Whether the start of a loop, function or model is whole but for its `{`.
fn wants_block(header: &[Placed]) -> bool {
    let last = header.last().map(|last| &last.token);
    let mut depth = 0i32;
    for placed in header {
        match placed.token {
            Token::OpenParen | Token::OpenBracket => depth += 1,
            Token::CloseParen | Token::CloseBracket => depth -= 1,
            Token::Equals if depth == 0 => return false, // `fn f(x) = ..`
            _ => {}
        }
    }
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

/// Goes through the tokens, adds missing and leaves out surplus braces.
struct Balance<'a, 's> {
    source: &'a str,
    /// How many `}` are missing in what follows.
    missing: usize,
    /// How many `}` are too many in what follows.
    surplus: usize,
    /// Of the line, in bytes.
    indent: usize,
    blocks: Vec<Block>,
    out: Vec<Placed<'s>>,
    errors: &'a mut Vec<SyntaxError>,
}

impl<'s> Balance<'_, 's> {
    fn take(&mut self, placed: Placed<'s>, next: Option<&Placed>) {
        let after_open = self.out.last().is_some_and(|last| last.token == Token::OpenBrace);
        if placed.leads_line {
            self.indent = indent_of(self.source, placed.span);
            if let Some(block) = self.blocks.last_mut().filter(|_| after_open) {
                block.indented = self.indent > block.indent;
            }
            self.close_left(placed.token == Token::CloseBrace);
        }
        match placed.token {
            Token::OpenBrace if after_open && self.missing > 0 => {
                self.missing -= 1;
                return self.left_out("two `{` for one block", placed.span);
            }
            Token::OpenBrace => {
                self.blocks.push(Block { brace: placed.span, indent: self.indent, indented: false });
            }
            Token::CloseBrace if self.blocks.is_empty() || (self.surplus > 0 && self.goes_on(next)) => {
                self.surplus = self.surplus.saturating_sub(1);
                return self.left_out("this `}` closes nothing", placed.span);
            }
            Token::CloseBrace => drop(self.blocks.pop()),
            _ => {}
        }
        self.out.push(placed);
    }

    fn left_out(&mut self, message: &str, span: Span) {
        self.errors
            .push(SyntaxError::new(code::BRACKET, message, span, "one too many").with_help("remove it"));
    }

    /// Whether the text after a `}` is indented as the block it would close.
    fn goes_on(&self, next: Option<&Placed>) -> bool {
        let Some((next, block)) = next.zip(self.blocks.last()) else { return false };
        next.leads_line && next.token != Token::CloseBrace && indent_of(self.source, next.span) > block.indent
    }

    /// Adds the `}` of blocks whose indentation a new line has left.
    fn close_left(&mut self, by_brace: bool) {
        let indent = self.indent;
        let left = |block: &mut Block| {
            block.indented && (indent < block.indent || (indent == block.indent && !by_brace))
        };
        while self.missing > 0
            && let Some(block) = self.blocks.pop_if(left)
        {
            let end = statement::place_after(&self.out, self.out.len());
            self.errors.push(unclosed(&block, end, "expected `}` before the next line"));
            self.out.push(Placed::inserted(Token::CloseBrace, end.end));
            self.missing -= 1;
        }
    }

    /// Adds the `}` of what is still open.
    fn close_at_end(&mut self) {
        let end = statement::place_after(&self.out, self.out.len());
        if let [first, inner @ ..] = self.blocks.as_slice() {
            let error = unclosed(first, end, "the file ends here, expected `}`");
            let also = |error: SyntaxError, block: &Block| error.with_label(block.brace, "not closed either");
            self.errors.push(inner.iter().take(3).fold(error, also));
        }
        self.out.extend(self.blocks.iter().map(|_| Placed::inserted(Token::CloseBrace, end.end)));
    }
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
