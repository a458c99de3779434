//! Placements of the tiles of products in GL.
//!
//! A product of matrices of `i x k` by `k x j` tiles has a grid `(batch, i, j, k)` of products of tiles. Each axis of tiles
//! runs over lanes or over ciphertexts:
//!
//! * `i` or `j` over lanes: the operand without the axis is there once for each of its tiles, so one product of ciphertexts
//!   does them all; over ciphertexts: no copies, more products.
//! * `k` over ciphertexts: products of pairs of ciphertexts are added before the key switch; over lanes, a `k`-th part of all
//!   lanes apart: one product, and its sum over rotations, which leaves the result in `k` copies.
//!
//! Batch axes always run over lanes. Nothing takes a mask, whatever the axes; which choice is cheapest depends on what the
//! operands are (inputs are encrypted as wanted), so all are tried (see `lower::planner`).

use super::draft::Choices;
use super::linear::MAX_ENTRIES;
use super::orientation::chain_of;
use crate::ir::{Graph, NodeId, Op};
use plan::{Copies, Geometry, Layout, LinearStep, Placement, Scheme, TensorOp};

/// Which axes of tiles of a product run over ciphertexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tiling {
    /// rows of the left operand
    pub rows_apart: bool,
    /// columns of the right operand
    pub columns_apart: bool,
    /// inner tiles run over lanes, by rotations
    pub inner_turned: bool,
}

impl Tiling {
    /// Every tiling, the default first.
    pub fn all() -> impl Iterator<Item = Tiling> {
        let bit = |k: usize, b: usize| k >> b & 1 == 1;
        (0..8).map(move |k| Tiling {
            rows_apart: bit(k, 0),
            columns_apart: bit(k, 1),
            inner_turned: bit(k, 2),
        })
    }
}

/// Layouts of the operands and the result of an encrypted product.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// left operand, held plain
    pub left: Layout,
    /// right operand, held transposed
    pub right: Layout,
    /// the result, held plain
    pub result: Layout,
}

/// Positions given to axes: lanes in order, then ciphertexts.
struct Axes {
    /// positions that the lanes of one ciphertext axis take
    unit: usize,
}

impl Axes {
    /// Strides of a matrix's row and column axis over ciphertexts, where they are.
    fn apart(&self, rows: Option<usize>, columns: Option<usize>) -> (usize, usize) {
        match (rows, columns) {
            (Some(_), Some(c)) => (self.unit * c, self.unit),
            _ => (self.unit, self.unit),
        }
    }
}

/// The layouts of `[.., I, K] @ [.., K, J]`; None where a tiling is no other than one without its choices.
pub fn place(a: &[usize], b: &[usize], tiling: Tiling, g: &Geometry) -> Option<Placed> {
    let (left, right) = (Layout::plain(a), Layout::new(b, true));
    let ((ti, tk), (_, tj)) = (g.tiles(&left), g.tiles(&right));
    let batch = &a[..a.len() - 2];
    let (i, j) = (!tiling.rows_apart, !tiling.columns_apart);
    if (tiling.rows_apart && ti == 1) || (tiling.columns_apart && tj == 1) {
        return None;
    }
    let lanes = plan::tensor::strides(&[batch, &[if i { ti } else { 1 }, if j { tj } else { 1 }]].concat());
    let (batch_strides, inside) = lanes.split_at(batch.len());
    let used = batch.iter().product::<usize>() * if i { ti } else { 1 } * if j { tj } else { 1 };
    let share = g.lanes / tk;
    if tiling.inner_turned && (tk == 1 || !g.lanes.is_multiple_of(tk) || used > share) {
        return None;
    }
    let axes = Axes { unit: g.lanes * used.div_ceil(g.lanes) };
    let (rows, columns) = (tiling.rows_apart.then_some(ti), tiling.columns_apart.then_some(tj));
    let inner = (!tiling.inner_turned).then_some(tk);
    let copy = |wanted: bool, count: usize, stride: usize| wanted.then_some(Copies { count, stride });
    let layout = |shape: &[usize], transposed: bool, row: usize, col: usize, copies: Vec<Copies>| {
        let strides = [batch_strides, &[row, col]].concat();
        let placement = Some(Placement { strides, copies });
        g.normalized(Layout { shape: shape.to_vec(), transposed, placement })
    };
    let or = |lane: bool, stride: usize, apart: usize| if lane { stride } else { apart };
    let (row, col) = axes.apart(rows, inner);
    let left_copies = copy(j && tj > 1, tj, inside[1]).into_iter().collect();
    let left = layout(a, false, or(i, inside[0], row), or(inner.is_none(), share, col), left_copies);
    let (row, col) = axes.apart(inner, columns);
    let right_copies = copy(i && ti > 1, ti, inside[0]).into_iter().collect();
    let right = layout(b, true, or(inner.is_none(), share, row), or(j, inside[1], col), right_copies);
    let (row, col) = axes.apart(rows, columns);
    let turned = copy(inner.is_none(), tk, share).into_iter().collect();
    let shape = [&a[..a.len() - 1], &b[b.len() - 1..]].concat();
    let result = layout(&shape, false, or(i, inside[0], row), or(j, inside[1], col), turned);
    Some(Placed { left, right, result })
}

/// Batch and rows of tiles over lanes, columns of tiles over ciphertexts: how clear products take and give matrices that are
/// wider than a tile.
pub fn columns_apart(shape: &[usize], transposed: bool, g: &Geometry) -> Layout {
    let dense = Layout::new(shape, transposed);
    let grid = g.grid(&dense);
    let (columns, rest) = (grid[grid.len() - 1], &grid[..grid.len() - 1]);
    if columns == 1 {
        return dense;
    }
    let unit = g.lanes * rest.iter().product::<usize>().div_ceil(g.lanes);
    let strides = [plan::tensor::strides(rest), vec![unit]].concat();
    let placement = Some(Placement { strides, copies: vec![] });
    g.normalized(Layout { placement, ..dense })
}

/// The products of GL that are larger than a tile, of encrypted matrices or with a clear one on the right.
pub fn large_products<'g>(graph: &'g Graph, g: &Geometry) -> impl Iterator<Item = NodeId> + use<'g> {
    let (live, g) = (graph.live(), *g);
    let large = move |id: NodeId| {
        let args = graph.args(id);
        let kind = encrypted_product(graph, id) || clear_product(graph, id);
        let shapes = [graph.shape(id), args.first().map_or(&[], |&a| graph.shape(a))];
        let large = shapes.iter().any(|s| g.tiles(&Layout::plain(s)) != (1, 1));
        live[id.index()] && graph.is_cipher(id) && kind && large
    };
    graph.ids().filter(move |&id| g.scheme == Scheme::Gl && large(id))
}

fn encrypted_product(graph: &Graph, id: NodeId) -> bool {
    graph.node(id).op == Op::Tensor(TensorOp::MatMul)
}

fn clear_product(graph: &Graph, id: NodeId) -> bool {
    matches!(&graph.node(id).op, Op::Tensor(TensorOp::Linear { steps })
        if matches!(steps.first(), Some(LinearStep::MatMulRight { .. }))
            && steps[1..].iter().all(|s| matches!(s, LinearStep::MatMulRight { shape, .. } if shape.len() == 2)
                || matches!(s, LinearStep::ScaleBy { .. })))
}

impl Choices {
    /// What is tried first: clear products that are too large to be laid out element by element take columns apart.
    pub fn initial(graph: &Graph, g: &Geometry) -> Choices {
        let too_large = |id: &NodeId| {
            let clear = graph.args(*id);
            !encrypted_product(graph, *id)
                && chain_of(graph, *id, &clear[1..]).is_some_and(|c| c.entries() > MAX_ENTRIES)
        };
        Choices { apart: large_products(graph, g).filter(too_large).collect(), ..Choices::default() }
    }

    /// The choices that differ in one product.
    pub fn others(&self, graph: &Graph, id: NodeId) -> Vec<Choices> {
        if !encrypted_product(graph, id) {
            let mut other = self.clone();
            if !other.apart.remove(&id) {
                other.apart.insert(id);
            }
            return vec![other];
        }
        let with = |tiling: Tiling| {
            let mut other = self.clone();
            other.tilings.insert(id, tiling);
            other
        };
        Tiling::all().map(with).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Product;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_tiling_is_a_product(batch in 1usize..4, i in 1usize..13, k in 1usize..13, j in 1usize..13, p in 0usize..3, held: bool) {
            let g = Geometry { scheme: Scheme::Gl, lanes: [12, 18, 30][p], rows: 4, cols: 4 };
            let (a, b) = (vec![batch, i, k], vec![batch, k, j]);
            let placed: Vec<Placed> = Tiling::all().filter_map(|t| place(&a, &b, t, &g)).collect();
            prop_assert!(!placed.is_empty());
            for x in placed {
                let result = Layout { transposed: held, ..x.result };
                let product = Product::new(&x.left, &x.right, &result, &g);
                prop_assert!(product.is_some(), "{:?} {:?} {result:?}", x.left, x.right);
            }
        }
    }

    #[test]
    fn chains_of_products_with_columns_apart_fit_together() {
        let g = Geometry { scheme: Scheme::Gl, lanes: 30, rows: 4, cols: 4 };
        let apart = Tiling { columns_apart: true, ..Tiling::default() };
        let first = place(&[3, 8, 4], &[3, 4, 8], apart, &g).unwrap();
        let second = place(&[3, 8, 8], &[3, 8, 8], apart, &g).unwrap();
        assert_eq!(first.result, second.left);
        assert_eq!(first.result, columns_apart(&[3, 8, 8], false, &g));
    }
}
