//! Where the elements of a tensor sit: tiles of a matrix frame in the lanes of one or several ciphertexts.
//!
//! A tensor `[.., R, C]` (rank 1 is a single row, rank 0 a single cell) is cut into tiles of `rows x cols`. Tiles are numbered
//! in row-major order of batch, row tile and column tile of the tensor, whichever way the tiles are held. A tile has a
//! position, its number unless a [`Placement`] says otherwise: position `k` is lane `k mod lanes` of ciphertext `k / lanes`.
//! In GL a lane is one matrix of the batch; in CKKS lanes follow each other in the slots, rows by rows.
//! Every slot outside the tensor holds zero, and every operation keeps it so.

use crate::params::Scheme;
use crate::tensor::{Indices, size_of};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The frame all tensors of a plan are laid out in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// CKKS or GL
    pub scheme: Scheme,
    /// tiles in one ciphertext
    pub lanes: usize,
    /// rows of a tile
    pub rows: usize,
    /// columns of a tile
    pub cols: usize,
}

/// A tensor in a geometry; `transposed` swaps rows and columns inside each tile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Layout {
    /// shape of the tensor
    pub shape: Vec<usize>,
    /// held as the transpose of its last two axes
    pub transposed: bool,
    /// positions of tiles, where they are not their numbers
    pub placement: Option<Placement>,
}

/// Positions of the tiles of a tensor: `sum index * stride` over batch axes, row tiles and column tiles, repeated by copies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Placement {
    /// stride of every batch axis, then of row tiles and column tiles
    pub strides: Vec<usize>,
    /// every tile sits at its position plus any multiple below `count` of `stride`, for all copies together
    pub copies: Vec<Copies>,
}

/// A tile that occurs `count` times, `stride` positions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Copies {
    /// how often, at least twice
    pub count: usize,
    /// positions from one to the next
    pub stride: usize,
}

/// The place of one element: ciphertext and slot. Slots are numbered `(lane * rows + row) * cols + col` in both schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// ciphertext of the value
    pub ct: usize,
    /// slot in it
    pub slot: usize,
}

/// A rotation: `out[i] = in[i + shift]`, cyclic. CKKS rotates all slots as one ring; GL rotates lanes, rows and columns apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Shift {
    /// by a number of slots
    Slots(usize),
    /// by lanes, rows and columns; columns cost nothing
    Grid {
        /// lanes
        lane: usize,
        /// rows
        row: usize,
        /// columns
        col: usize,
    },
}

impl Shift {
    /// Whether nothing moves.
    pub fn is_identity(self) -> bool {
        matches!(self, Shift::Slots(0) | Shift::Grid { lane: 0, row: 0, col: 0 })
    }
    /// Whether it needs no key switch: identity, and column rotations of GL.
    pub fn is_free(self) -> bool {
        matches!(self, Shift::Slots(0) | Shift::Grid { lane: 0, row: 0, .. })
    }
    /// The part that needs a key: columns left out.
    pub fn keyed(self) -> Shift {
        match self {
            Shift::Grid { lane, row, .. } => Shift::Grid { lane, row, col: 0 },
            s => s,
        }
    }
}

impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shift::Slots(s) => write!(f, "{s}"),
            Shift::Grid { lane, row, col } => write!(f, "({lane}, {row}, {col})"),
        }
    }
}

/// How a shift is cut into a giant and a baby step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Split {
    /// CKKS: baby = slots mod `baby`
    Slots {
        /// number of baby steps
        baby: usize,
    },
    /// GL: baby = (row mod `baby`, column); giant = (lane, rest of the rows)
    Rows {
        /// number of baby steps
        baby: usize,
    },
    /// GL: baby = (lane mod `baby`, row, column); giant = rest of the lanes
    Lanes {
        /// number of baby steps
        baby: usize,
    },
}

impl Geometry {
    /// Slots of one ciphertext.
    pub fn slots(&self) -> usize {
        self.lanes * self.rows * self.cols
    }

    /// Matrix dimensions of a shape: the last two axes, missing ones 1.
    pub fn matrix_of(shape: &[usize]) -> (usize, usize) {
        match shape {
            [] => (1, 1),
            [c] => (1, *c),
            [.., r, c] => (*r, *c),
        }
    }

    /// Rows and columns of the tensor that one tile takes.
    fn tile_extent(&self, layout: &Layout) -> (usize, usize) {
        if layout.transposed { (self.cols, self.rows) } else { (self.rows, self.cols) }
    }

    /// Row tiles and column tiles of one matrix of a tensor.
    pub fn tiles(&self, layout: &Layout) -> (usize, usize) {
        let ((r, c), (rows, cols)) = (Geometry::matrix_of(&layout.shape), self.tile_extent(layout));
        (r.div_ceil(rows), c.div_ceil(cols))
    }

    /// Extents of the grid of tiles: batch axes, row tiles, column tiles.
    pub fn grid(&self, layout: &Layout) -> Vec<usize> {
        let (rows, cols) = self.tiles(layout);
        let batch = &layout.shape[..layout.shape.len().saturating_sub(2)];
        [batch, &[rows, cols]].concat()
    }

    /// First position of every tile by its number.
    pub fn positions(&self, layout: &Layout) -> Vec<usize> {
        let grid = self.grid(layout);
        match &layout.placement {
            None => (0..grid.iter().product()).collect(),
            Some(p) => Indices::new(&grid)
                .map(|index| index.iter().zip(&p.strides).map(|(i, s)| i * s).sum())
                .collect(),
        }
    }

    /// Number of ciphertexts of a value.
    pub fn ciphertexts(&self, layout: &Layout) -> usize {
        let grid = self.grid(layout);
        let last = match &layout.placement {
            None => grid.iter().product::<usize>().saturating_sub(1),
            Some(p) => {
                let own: usize = grid.iter().zip(&p.strides).map(|(n, s)| n.saturating_sub(1) * s).sum();
                own + p.copies.iter().map(|c| (c.count - 1) * c.stride).sum::<usize>()
            }
        };
        last / self.lanes + 1
    }

    /// The tile in every position of the ciphertexts of a value, with the copies.
    pub fn contents(&self, layout: &Layout) -> Vec<Option<usize>> {
        let mut contents = vec![None; self.ciphertexts(layout) * self.lanes];
        let offsets = layout.offsets();
        for (tile, position) in self.positions(layout).into_iter().enumerate() {
            offsets.iter().for_each(|o| contents[position + o] = Some(tile));
        }
        contents
    }

    /// Addresses of all elements, in row-major order of the tensor; of their first copies.
    pub fn addresses(&self, layout: &Layout) -> Vec<Address> {
        let (r, c) = Geometry::matrix_of(&layout.shape);
        let ((rows, cols), (tr, tc)) = (self.tile_extent(layout), self.tiles(layout));
        let positions = self.positions(layout);
        let total = size_of(&layout.shape).expect("shapes are checked when values are made");
        (0..total)
            .map(|at| {
                let (batch, i, j) = (at / (r * c), at / c % r, at % c);
                let position = positions[(batch * tr + i / rows) * tc + j / cols];
                let inside = if layout.transposed { (j % cols, i % rows) } else { (i % rows, j % cols) };
                let slot = (position % self.lanes * self.rows + inside.0) * self.cols + inside.1;
                Address { ct: position / self.lanes, slot }
            })
            .collect()
    }

    /// The same element in a copy of its tile.
    pub fn moved(&self, a: Address, offset: usize) -> Address {
        let tile = self.rows * self.cols;
        let position = a.ct * self.lanes + a.slot / tile + offset;
        Address { ct: position / self.lanes, slot: position % self.lanes * tile + a.slot % tile }
    }

    /// The layout with no placement if tiles are where they are without one, and strides of single tiles 0.
    pub fn normalized(&self, mut layout: Layout) -> Layout {
        let grid = self.grid(&layout);
        if let Some(p) = &mut layout.placement {
            p.copies.retain(|c| c.count > 1);
            p.strides.iter_mut().zip(&grid).filter(|(_, n)| **n <= 1).for_each(|(s, _)| *s = 0);
            let dense = crate::tensor::strides(&grid);
            let same = p.strides.iter().zip(&dense).zip(&grid).all(|((s, d), n)| *n <= 1 || s == d);
            if same && p.copies.is_empty() {
                layout.placement = None;
            }
        }
        layout
    }

    /// Lane, row and column of a slot.
    pub fn coordinates(&self, slot: usize) -> (usize, usize, usize) {
        (slot / (self.rows * self.cols), slot / self.cols % self.rows, slot % self.cols)
    }

    /// The rotation that brings slot `from` to slot `to`.
    pub fn shift(&self, from: usize, to: usize) -> Shift {
        let back = |a: usize, b: usize, n: usize| (a + n - b) % n;
        match self.scheme {
            Scheme::Ckks => Shift::Slots(back(from, to, self.slots())),
            Scheme::Gl => {
                let ((fl, fr, fc), (tl, tr, tc)) = (self.coordinates(from), self.coordinates(to));
                Shift::Grid {
                    lane: back(fl, tl, self.lanes),
                    row: back(fr, tr, self.rows),
                    col: back(fc, tc, self.cols),
                }
            }
        }
    }

    /// The slot that a rotation brings to slot `to`: `to + shift`.
    pub fn source(&self, to: usize, shift: Shift) -> usize {
        match shift {
            Shift::Slots(s) => (to + s) % self.slots(),
            Shift::Grid { lane, row, col } => {
                let (l, r, c) = self.coordinates(to);
                let (l, r, c) = ((l + lane) % self.lanes, (r + row) % self.rows, (c + col) % self.cols);
                (l * self.rows + r) * self.cols + c
            }
        }
    }

    /// The slot that slot `from` is brought to: `from - shift`.
    pub fn target(&self, from: usize, shift: Shift) -> usize {
        match shift {
            Shift::Slots(s) => (from + self.slots() - s) % self.slots(),
            Shift::Grid { lane, row, col } => {
                let (l, r, c) = self.coordinates(from);
                let (l, r, c) = (
                    (l + self.lanes - lane) % self.lanes,
                    (r + self.rows - row) % self.rows,
                    (c + self.cols - col) % self.cols,
                );
                (l * self.rows + r) * self.cols + c
            }
        }
    }

    /// Cuts a shift into `(giant, baby)`; rotating by baby, then by giant, rotates by the shift.
    pub fn split(&self, shift: Shift, split: Split) -> (Shift, Shift) {
        match (shift, split) {
            (Shift::Slots(s), Split::Slots { baby }) => (Shift::Slots(s - s % baby), Shift::Slots(s % baby)),
            (Shift::Grid { lane, row, col }, Split::Rows { baby }) => (
                Shift::Grid { lane, row: row - row % baby, col: 0 },
                Shift::Grid { lane: 0, row: row % baby, col },
            ),
            (Shift::Grid { lane, row, col }, Split::Lanes { baby }) => (
                Shift::Grid { lane: lane - lane % baby, row: 0, col: 0 },
                Shift::Grid { lane: lane % baby, row, col },
            ),
            (s, _) => (self.shift(0, 0), s),
        }
    }
}

impl Layout {
    /// The layout of a tensor held as it is.
    pub fn plain(shape: &[usize]) -> Layout {
        Layout::new(shape, false)
    }
    /// The layout of a tensor held either way, tiles in order.
    pub fn new(shape: &[usize], transposed: bool) -> Layout {
        Layout { shape: shape.to_vec(), transposed, placement: None }
    }
    /// The same tensor held the other way round.
    pub fn flipped(&self) -> Layout {
        Layout { transposed: !self.transposed, ..self.clone() }
    }
    /// Positions of the copies of a tile from its first: 0 first.
    pub fn offsets(&self) -> Vec<usize> {
        let copies = self.placement.iter().flat_map(|p| &p.copies);
        copies.fold(vec![0], |all, c| {
            (0..c.count).flat_map(|k| all.iter().map(move |o| o + k * c.stride)).collect()
        })
    }
    /// Whether every tile occurs once.
    pub fn single(&self) -> bool {
        self.placement.as_ref().is_none_or(|p| p.copies.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn geometry(gl: bool) -> Geometry {
        let scheme = if gl { Scheme::Gl } else { Scheme::Ckks };
        Geometry { scheme, lanes: 4, rows: 4, cols: if gl { 4 } else { 8 } }
    }

    proptest! {
        #[test]
        fn addresses_are_distinct_and_counted(b in 1usize..5, r in 1usize..11, c in 1usize..11, gl: bool, transposed: bool) {
            let (g, l) = (geometry(gl), Layout::new(&[b, r, c], transposed));
            let mut a = g.addresses(&l);
            prop_assert!(a.iter().all(|a| a.ct < g.ciphertexts(&l) && a.slot < g.slots()));
            a.sort_unstable();
            a.dedup();
            prop_assert_eq!(a.len(), b * r * c);
        }

        #[test]
        fn shifts_bring_source_to_target(from in 0usize..64, to in 0usize..64, baby in 1usize..9, gl: bool, lanes: bool) {
            let g = geometry(gl);
            let s = g.shift(from, to);
            prop_assert_eq!((g.source(to, s), g.target(from, s)), (from, to));
            let split = match (gl, lanes) {
                (false, _) => Split::Slots { baby },
                (true, false) => Split::Rows { baby },
                (true, true) => Split::Lanes { baby },
            };
            let (giant, step) = g.split(s, split);
            prop_assert_eq!(g.target(g.target(from, step), giant), to);
        }
    }
}
