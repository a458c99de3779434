//! The frame of all layouts: how large the matrices of a program are, and the frames a ring offers for them.

use super::error::PlanError;
use crate::ir::{Graph, Op};
use grammar::Span;
use plan::{Geometry, RingSpec, Scheme, TensorOp, security};

/// Sizes a frame must take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extent {
    /// most rows of an encrypted matrix
    pub rows: usize,
    /// most columns of an encrypted matrix
    pub cols: usize,
    /// rows a frame needs for the encrypted products
    pub product_rows: usize,
    /// columns a frame needs for the encrypted products
    pub product_cols: usize,
    /// the product that needs most
    pub product: Option<Span>,
}

/// Primes p of GL whose p - 1 has no factor above 7, so that its transforms are fast.
#[rustfmt::skip]
const SMOOTH_PRIMES: [usize; 62] = [
    5, 7, 11, 13, 17, 19, 29, 31, 37, 41, 43, 61, 71, 73, 97, 101, 109, 113, 127, 151, 163, 181, 193, 197, 211, 241,
    251, 257, 271, 281, 337, 379, 401, 421, 433, 449, 487, 491, 541, 577, 601, 631, 641, 673, 701, 751, 769, 883, 1009,
    1051, 1153, 1297, 1459, 1621, 2017, 2593, 2917, 3457, 3889, 4861, 6301, 7681,
];

/// Sizes of the encrypted values of a program and of its encrypted products.
pub fn extent(graph: &Graph) -> Extent {
    let mut e = Extent { rows: 1, cols: 1, ..Extent::default() };
    let live = graph.live();
    for id in graph.ids().filter(|&id| live[id.index()] && graph.is_cipher(id)) {
        let (r, c) = Geometry::matrix_of(graph.shape(id));
        (e.rows, e.cols) = (e.rows.max(r), e.cols.max(c));
        let args = graph.args(id);
        let product = graph.node(id).op == Op::Tensor(TensorOp::MatMul);
        if product && args.iter().all(|&a| graph.is_cipher(a)) {
            let ((i, k), (_, j)) =
                (Geometry::matrix_of(graph.shape(args[0])), Geometry::matrix_of(graph.shape(args[1])));
            let (rows, cols) = (i.max(k), k.max(j));
            if rows.max(cols) > e.product_rows.max(e.product_cols) {
                e.product = graph.node(id).span;
            }
            (e.product_rows, e.product_cols) = (e.product_rows.max(rows), e.product_cols.max(cols));
        }
    }
    e
}

/// The frame of CKKS in a ring of dimension `2^log_n`: powers of two that cover every matrix, cut to the slots.
pub fn ckks(e: &Extent, log_n: u32) -> Result<Geometry, PlanError> {
    let slots = 1usize << (log_n - 1);
    let cols = e.cols.next_power_of_two().min(slots);
    let rows = e.rows.next_power_of_two().min(slots / cols);
    if rows < e.product_rows || cols < e.product_cols {
        return Err(PlanError::TooWide {
            scheme: Scheme::Ckks,
            rows: e.product_rows,
            cols: e.cols,
            limit: slots,
            what: "slots",
            span: e.product,
        });
    }
    Ok(Geometry { scheme: Scheme::Ckks, lanes: slots / (rows * cols), rows, cols })
}

/// Smallest side worth trying below one that covers every product: smaller tiles spend more on key switches than they save.
const LEAST_SIDE: usize = 16;

/// Sides of GL matrices worth trying, at most `limit`: one that covers all columns, the smallest one that has the encrypted
/// products in one tile, two that cut large ones, and one that covers all rows too if that is the next one.
pub fn gl_sides(e: &Extent, limit: usize) -> Vec<usize> {
    let product = e.product_rows.max(e.product_cols).max(4).next_power_of_two().min(limit);
    let covering = product.max(e.cols.next_power_of_two()).min(limit);
    let mut sides = vec![covering];
    if product >= 8 && product < covering {
        sides.push(product);
    }
    let cuts = [product / 2, product / 4].into_iter().filter(|&n| n >= LEAST_SIDE && e.product_rows > 0);
    sides.extend(cuts);
    if e.rows > covering && e.rows <= 2 * covering && 2 * covering <= limit {
        sides.push(2 * covering);
    }
    sides
}

/// What a ring should offer beside security.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lanes {
    /// at least so many
    pub least: usize,
    /// a multiple of this
    pub multiple: usize,
}

impl Lanes {
    /// Whatever there is.
    pub const ANY: Lanes = Lanes { least: 1, multiple: 1 };
}

/// Lanes worth having for a side: as few as are secure; as many as the largest encrypted product has tiles in its result; and
/// as many as it has products of tiles, in equal parts.
pub fn lanes_wanted(graph: &Graph, n: usize) -> Vec<Lanes> {
    let live = graph.live();
    let products = graph.ids().filter(|&id| {
        live[id.index()] && graph.is_cipher(id) && graph.node(id).op == Op::Tensor(TensorOp::MatMul)
    });
    let grid = |id| {
        let (a, out) = (graph.shape(graph.args(id)[0]), graph.shape(id));
        let ((i, k), (_, j)) = (Geometry::matrix_of(a), Geometry::matrix_of(out));
        let batch: usize = out[..out.len() - 2].iter().product();
        (batch * i.div_ceil(n) * j.div_ceil(n), k.div_ceil(n))
    };
    let mut wanted = vec![Lanes::ANY];
    if let Some((tiles, inner)) = products.map(grid).max_by_key(|(tiles, inner)| tiles * inner) {
        if tiles > 1 {
            wanted.push(Lanes { least: tiles, multiple: 1 });
        }
        if inner > 1 {
            wanted.push(Lanes { least: tiles * inner, multiple: inner });
        }
    }
    wanted
}

/// The frame of GL for a side and a prime.
pub fn gl(n: usize, p: usize) -> Geometry {
    Geometry { scheme: Scheme::Gl, lanes: p - 1, rows: n, cols: n }
}

/// The smallest ring R(n, p) with a side that admits `log_pq` bits at a security level, has the lanes that are wanted, and
/// dimension at most `limit`.
pub fn secure_gl(n: usize, lanes: Lanes, log_pq: f64, bits: u32, limit: usize) -> Option<RingSpec> {
    SMOOTH_PRIMES
        .into_iter()
        .filter(|p| *p > lanes.least && (p - 1).is_multiple_of(lanes.multiple))
        .map(|p| RingSpec::Gl { n, p })
        .find(|r| security::max_log_pq(r.degree(), bits).is_some_and(|b| b >= log_pq))
        .filter(|r| r.degree() <= limit)
}

/// The smallest ring R(n, p) with at least `lanes` lanes, 31 at most: for trials only.
pub fn toy_gl(n: usize, lanes: usize) -> RingSpec {
    let p = SMOOTH_PRIMES.into_iter().find(|&p| p > lanes || p == 31).unwrap_or(31);
    RingSpec::Gl { n, p }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_prime_and_smooth() {
        let mut previous = 0;
        for p in SMOOTH_PRIMES {
            let mut rest = p - 1;
            [2, 3, 5, 7].iter().for_each(|d| {
                while rest.is_multiple_of(*d) {
                    rest /= d
                }
            });
            assert!(plan::prime::is_prime(p as u64) && rest == 1 && p > previous, "{p}");
            previous = p;
        }
    }

    #[test]
    fn frames_cover_matrices_and_are_cut_to_the_slots() {
        let e = Extent { rows: 256, cols: 60, ..Extent::default() };
        let g = ckks(&e, 13).unwrap();
        assert_eq!((g.lanes, g.rows, g.cols), (1, 64, 64));
        let product = Extent { product_rows: 128, product_cols: 64, ..e };
        assert!(ckks(&product, 13).is_err());
        assert_eq!(
            gl_sides(&Extent { rows: 256, cols: 60, product_rows: 9, product_cols: 8, ..e }, 512),
            [64, 16]
        );
        assert_eq!(gl_sides(&Extent { product_rows: 768, product_cols: 768, ..e }, 512), [512, 256, 128]);
        let ring = secure_gl(64, Lanes::ANY, 240.0, 128, 1 << 16).unwrap();
        let Some(RingSpec::Gl { p, .. }) =
            secure_gl(64, Lanes { least: 100, multiple: 7 }, 240.0, 128, 1 << 16)
        else {
            panic!("there is one")
        };
        assert!(p > 100 && (p - 1) % 7 == 0);
        assert!(security::max_log_pq(ring.degree(), 128).unwrap() >= 240.0 && ring.degree() < 10_500);
    }
}
