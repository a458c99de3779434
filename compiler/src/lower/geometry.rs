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

/// Sides of GL matrices worth trying: one that covers all columns, the smallest one the encrypted products allow, and one
/// that covers all rows too if that is the next one.
pub fn gl_sides(e: &Extent) -> Result<Vec<usize>, PlanError> {
    let product = e.product_rows.max(e.product_cols).max(4).next_power_of_two();
    if product > 512 {
        let (rows, cols) = (e.product_rows, e.product_cols);
        return Err(PlanError::TooWide {
            scheme: Scheme::Gl,
            rows,
            cols,
            limit: 512,
            what: "rows and columns",
            span: e.product,
        });
    }
    let covering = product.max(e.cols.next_power_of_two()).min(512);
    let mut sides = vec![covering];
    if product >= 8 && product < covering {
        sides.push(product);
    }
    if e.rows > covering && e.rows <= 2 * covering && covering < 512 {
        sides.push(2 * covering);
    }
    Ok(sides)
}

/// The frame of GL for a side and a prime.
pub fn gl(n: usize, p: usize) -> Geometry {
    Geometry { scheme: Scheme::Gl, lanes: p - 1, rows: n, cols: n }
}

/// The smallest ring R(n, p) with a side that admits `log_pq` bits at a security level and has dimension at most `limit`.
pub fn secure_gl(n: usize, log_pq: f64, bits: u32, limit: usize) -> Option<RingSpec> {
    SMOOTH_PRIMES
        .into_iter()
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
            gl_sides(&Extent { rows: 256, cols: 60, product_rows: 9, product_cols: 8, ..e }).unwrap(),
            [64, 16]
        );
        let ring = secure_gl(64, 240.0, 128, 1 << 16).unwrap();
        assert!(security::max_log_pq(ring.degree(), 128).unwrap() >= 240.0 && ring.degree() < 10_500);
    }
}
