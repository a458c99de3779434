//! Places in the source text.

use std::ops::Range;

/// A half-open range of bytes of the source. Empty where something is missing (`start == end`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The empty span at the end of this one: where something should follow.
    pub fn after(self) -> Span {
        Span::new(self.end, self.end)
    }

    /// The bytes as a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// Line and column, counted from 1, of the first byte; the column counts characters.
    pub fn line_column(self, source: &str) -> (usize, usize) {
        let before = source.get(..self.start).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[line_start..].chars().count() + 1;
        (before.matches('\n').count() + 1, column)
    }
}
