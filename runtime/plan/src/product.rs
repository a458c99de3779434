//! Products of tiled matrices in GL as products of whole ciphertexts.
//!
//! `C[b, i, j] = sum_k A[b, i, k] B[b, k, j]` over tiles. Where tile `(b, i, k)` of A and tile `(b, k, j)` of B share a lane,
//! one product of two ciphertexts multiplies them together with the tiles of all other lanes. The sum over `k` runs over
//! pairs of ciphertexts, whose products are added before their one key switch, and over rotations of lanes by multiples of
//! one step, made by doubling. Nothing is masked: a lane without a tile on one side gives zero. Which pairs and rotations
//! there are follows from the layouts; that they give the product and nothing else is checked lane by lane.

use crate::layout::{Geometry, Layout, Shift};
use std::collections::{BTreeMap, BTreeSet};

/// A product of encrypted matrices by ciphertexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// by ciphertext of the result: the ciphertexts of the left and the right operand whose products are added
    pub terms: Vec<Vec<(usize, usize)>>,
    /// how many rotations of every sum are added, the first one by nothing
    pub turns: usize,
    /// lanes of the second rotation; the others are its multiples
    pub step: usize,
}

/// A product with a clear matrix: for the ciphertexts `(of the result, of the operand)` the tile of the clear matrix in
/// every lane.
pub type ClearProduct = BTreeMap<(usize, usize), Vec<Option<usize>>>;

/// Tiles of a product by number.
struct Grid {
    i: usize,
    k: usize,
    j: usize,
}

impl Grid {
    /// None unless the tiles of the operands meet.
    fn new(a: &Layout, b: &Layout, out: &Layout, g: &Geometry) -> Option<Grid> {
        let ((i, k), (inner, j)) = (g.tiles(a), g.tiles(b));
        (k == inner && g.tiles(out) == (i, j)).then_some(Grid { i, k, j })
    }

    /// `(batch, i, j)` of a tile of the result.
    fn result(&self, tile: usize) -> (usize, usize, usize) {
        (tile / (self.i * self.j), tile / self.j % self.i, tile % self.j)
    }

    fn left(&self, (batch, i, _): (usize, usize, usize), k: usize) -> usize {
        (batch * self.i + i) * self.k + k
    }

    fn right(&self, (batch, _, j): (usize, usize, usize), k: usize) -> usize {
        (batch * self.k + k) * self.j + j
    }
}

impl Product {
    /// The product of `a` and `b`, of equal batch axes, in layout `out`, if these layouts allow one.
    pub fn new(a: &Layout, b: &Layout, out: &Layout, g: &Geometry) -> Option<Product> {
        let grid = Grid::new(a, b, out, g)?;
        let (left, right) = (places(a, g), places(b, g));
        let result = g.contents(out);
        let mut product: Option<Product> = None;
        let mut terms = Vec::new();
        for lanes in result.chunks(g.lanes) {
            let Some(lane) = lanes.iter().position(Option::is_some) else {
                terms.push(Vec::new());
                continue;
            };
            let at = grid.result(lanes[lane]?);
            let (mut steps, mut pairs) = (BTreeSet::new(), BTreeSet::new());
            for k in 0..grid.k {
                let (step, pair) = meeting(&left[grid.left(at, k)], &right[grid.right(at, k)], lane, g)?;
                steps.insert(step);
                pairs.insert(pair);
            }
            let (turns, step) = (steps.len(), steps.iter().nth(1).copied().unwrap_or(0));
            let found = Product { terms: vec![], turns, step };
            let even = steps.into_iter().eq((0..turns).map(|t| t * step));
            if !even || product.as_ref().is_some_and(|p| *p != found) {
                return None;
            }
            product = Some(found);
            terms.push(pairs.into_iter().collect::<Vec<_>>());
        }
        let product = Product { terms, ..product? };
        product.gives(&grid, [&g.contents(a), &g.contents(b), &result], g).then_some(product)
    }

    /// Whether every lane of the result gets each of its inner products once, and empty lanes none.
    fn gives(&self, grid: &Grid, [a, b, out]: [&[Option<usize>]; 3], g: &Geometry) -> bool {
        let mut seen = vec![false; grid.k];
        out.chunks(g.lanes).zip(&self.terms).all(|(lanes, pairs)| {
            (0..g.lanes).all(|lane| {
                seen.fill(false);
                let moved = (0..self.turns).map(|t| (lane + t * self.step) % g.lanes);
                let all = moved.flat_map(|from| pairs.iter().map(move |&(x, y)| (x, y, from)));
                for (x, y, from) in all {
                    let (Some(left), Some(right)) = (a[x * g.lanes + from], b[y * g.lanes + from]) else {
                        continue;
                    };
                    let k = left % grid.k;
                    let wanted = lanes[lane].map(|tile| grid.result(tile));
                    let fits = wanted
                        .is_some_and(|at| (grid.left(at, k), grid.right(at, k)) == (left, right) && !seen[k]);
                    if !fits {
                        return false;
                    }
                    seen[k] = true;
                }
                lanes[lane].is_none() || seen.iter().all(|s| *s)
            })
        })
    }

    /// The rotations that make the sum over turns: the sum so far is rotated and added to itself (`true`), or to the
    /// sum of products (`false`).
    pub fn rotations(&self) -> Vec<(Shift, bool)> {
        let turn = |lane: usize| Shift::Grid { lane, row: 0, col: 0 };
        let (mut all, mut have) = (Vec::new(), 1);
        for bit in (0..self.turns.ilog2()).rev() {
            all.push((turn(have * self.step), true));
            have *= 2;
            if self.turns >> bit & 1 == 1 {
                all.push((turn(self.step), false));
                have += 1;
            }
        }
        all
    }

    /// Products of two ciphertexts.
    pub fn count(&self) -> usize {
        self.terms.iter().map(Vec::len).sum()
    }
}

/// Positions of every tile, copies included.
fn places(layout: &Layout, g: &Geometry) -> Vec<Vec<usize>> {
    let offsets = layout.offsets();
    g.positions(layout).into_iter().map(|p| offsets.iter().map(|o| p + o).collect()).collect()
}

/// Where two tiles share a lane: the lanes it is after `lane`, as few as possible, and their ciphertexts.
fn meeting(left: &[usize], right: &[usize], lane: usize, g: &Geometry) -> Option<(usize, (usize, usize))> {
    let mut by_lane: BTreeMap<usize, usize> = BTreeMap::new();
    right.iter().rev().for_each(|p| {
        by_lane.insert(p % g.lanes, p / g.lanes);
    });
    let after = |p: &usize| (p % g.lanes + g.lanes - lane) % g.lanes;
    let shared = left.iter().filter_map(|p| Some((after(p), (p / g.lanes, *by_lane.get(&(p % g.lanes))?))));
    shared.min()
}

/// The clear tiles that bring `a` to `out` by `a @ w`, `w` with the batch axes of `a` or none; None if some tile of the result
/// lacks a tile of `a` in its lane.
pub fn clear_product(a: &Layout, w: &[usize], out: &Layout, g: &Geometry) -> Option<ClearProduct> {
    let weight = Layout::plain(w);
    let grid = Grid::new(a, &weight, out, g)?;
    let (left, right) = (g.contents(a), g.contents(out));
    let mut product = ClearProduct::new();
    for (to, lanes) in right.chunks(g.lanes).enumerate() {
        let mut found = vec![0; g.lanes];
        for (from, held) in left.chunks(g.lanes).enumerate() {
            let tile = |lane: usize| {
                let at = grid.result(lanes[lane]?);
                let k = held[lane]? % grid.k;
                let batch = if w.len() > 2 { at.0 } else { 0 };
                (grid.left(at, k) == held[lane]?).then(|| grid.right((batch, 0, at.2), k))
            };
            let tiles: Vec<Option<usize>> = (0..g.lanes).map(tile).collect();
            if tiles.iter().any(Option::is_some) {
                found.iter_mut().zip(&tiles).for_each(|(n, t)| *n += usize::from(t.is_some()));
                product.insert((to, from), tiles);
            }
        }
        if (0..g.lanes).any(|l| lanes[l].is_some() && found[l] != grid.k) {
            return None;
        }
    }
    Some(product)
}

/// The slots of one ciphertext of a clear product: the tile of `w` in every lane.
pub fn clear_slots(w: &crate::Tensor, tiles: &[Option<usize>], g: &Geometry) -> Vec<f64> {
    let (k, j) = Geometry::matrix_of(w.shape());
    let (tr, tc) = g.tiles(&Layout::plain(w.shape()));
    let mut slots = vec![0.0; g.slots()];
    for (lane, tile) in tiles.iter().enumerate().filter_map(|(lane, t)| t.map(|t| (lane, t))) {
        let (batch, row, col) = (tile / (tr * tc), tile / tc % tr * g.rows, tile % tc * g.cols);
        for r in 0..g.rows.min(k - row) {
            let width = g.cols.min(j - col);
            let from = (batch * k + row + r) * j + col;
            slots[(lane * g.rows + r) * g.cols..][..width].copy_from_slice(&w.data()[from..from + width]);
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Copies, Placement};
    use crate::params::Scheme;

    const G: Geometry = Geometry { scheme: Scheme::Gl, lanes: 12, rows: 4, cols: 4 };

    fn placed(shape: &[usize], transposed: bool, strides: &[usize], copies: &[(usize, usize)]) -> Layout {
        let copies = copies.iter().map(|&(count, stride)| Copies { count, stride }).collect();
        let placement = Some(Placement { strides: strides.to_vec(), copies });
        G.normalized(Layout { shape: shape.to_vec(), transposed, placement })
    }

    #[test]
    fn single_tiles_multiply_in_place() {
        let (a, b) = (Layout::plain(&[30, 3, 2]), Layout::new(&[30, 2, 4], true));
        let p = Product::new(&a, &b, &Layout::plain(&[30, 3, 4]), &G).unwrap();
        assert_eq!((p.terms, p.turns), (vec![vec![(0, 0)], vec![(1, 1)], vec![(2, 2)]], 1));
        assert_eq!(Product::new(&a, &Layout::new(&[30, 6, 4], true), &Layout::plain(&[30, 3, 4]), &G), None);
    }

    #[test]
    fn inner_tiles_are_added_over_ciphertexts_or_by_rotations() {
        // 2 x 3 tiles by 3 x 2: four results in the lanes of three pairs of ciphertexts
        let a = placed(&[8, 12], false, &[2, 12], &[(2, 1)]);
        let b = placed(&[12, 8], true, &[12, 1], &[(2, 2)]);
        let p = Product::new(&a, &b, &Layout::plain(&[8, 8]), &G).unwrap();
        assert_eq!((p.terms, p.turns), (vec![vec![(0, 0), (1, 1), (2, 2)]], 1));
        // the same in one pair, a third of the lanes apart; the result is there three times
        let a = placed(&[8, 12], false, &[2, 4], &[(2, 1)]);
        let b = placed(&[12, 8], true, &[4, 1], &[(2, 2)]);
        let three = placed(&[8, 8], false, &[2, 1], &[(3, 4)]);
        let p = Product::new(&a, &b, &three, &G).unwrap();
        assert_eq!((&p.terms, p.turns, p.step), (&vec![vec![(0, 0)]], 3, 4));
        assert_eq!(p.rotations().iter().map(|r| r.1).collect::<Vec<_>>(), [true, false]);
        assert_eq!(Product::new(&a, &b, &Layout::plain(&[8, 8]), &G), None, "the other copies would be dirt");
    }

    #[test]
    fn clear_matrices_take_columns_of_tiles_apart() {
        let a = placed(&[5, 8, 8], false, &[2, 1, 12], &[]);
        let out = placed(&[5, 8, 12], false, &[2, 1, 12], &[]);
        let p = clear_product(&a, &[8, 12], &out, &G).unwrap();
        assert_eq!(p.len(), 6);
        assert_eq!(p[&(2, 1)][..11], [[Some(5); 10].as_slice(), &[None]].concat());
        assert_eq!(clear_product(&Layout::plain(&[5, 8, 8]), &[8, 12], &out, &G), None);
        assert!(
            clear_product(&Layout::plain(&[5, 8, 3]), &[5, 3, 3], &Layout::plain(&[5, 8, 3]), &G).is_some()
        );
    }
}
