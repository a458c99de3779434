//! Every shape works: sides from 4 to 512 (those above 128 with FHEC_SLOW=1), batches of p - 1 for primes p of all kinds of
//! factors of p - 1.

use crate::toy::*;
use runtime::gl::{GlOperation, Rotation};

/// (n, p) with transforms along W of lengths 2, 2^k, 2^k 3, 2^k 9, and matrices of all sides.
const SHAPES: [(usize, usize); 12] = [
    (4, 3),
    (4, 97),
    (8, 193),
    (4, 257),
    (4, 577),
    (4, 769),
    (4, 1153),
    (32, 5),
    (64, 3),
    (128, 3),
    (256, 5),
    (512, 3),
];

/// Largest side in the fast tier.
const FAST_SIDE: usize = 128;
/// Largest side for which a key per diagonal is made.
const KEYED_SIDE: usize = 32;
const TOLERANCE: f64 = 1e-6;

#[test]
fn operations_on_every_shape() {
    let rotation = Rotation { batch: 1, rows: -1, columns: 2 };
    for (n, p) in SHAPES.into_iter().filter(|&(n, _)| n <= FAST_SIDE || slow()) {
        let mut operations = vec![GlOperation::Hadamard, GlOperation::Rotate(rotation)];
        if n <= KEYED_SIDE {
            operations.push(GlOperation::Product);
        }
        let mut toy = Toy::new((n, p), 1, 1).with_keys(&operations);
        let (a, b) = (toy.random(1), toy.random(2));
        let (x, y) = (toy.encrypt(&a), toy.encrypt(&b));
        let (gl, keys, top) = (&toy.gl, &toy.keys, toy.gl.max_level());
        let factor = gl.encode(&b, top, gl.factor_scale(top).expect("level")).expect("encodes");
        let check = |found, expected: &_, what: &str| {
            let error = max_error(&toy.decrypt(&found), expected);
            assert!(error < TOLERANCE, "{what} at n = {n}, p = {p}: {error:e}");
        };
        let product = times_dagger(&a, &b);
        check(gl.matmul_plain(&x, &factor).expect("level"), &product, "ct pt");
        if n <= KEYED_SIDE {
            check(gl.matmul(&x, &y, keys).expect("keys"), &product, "ct ct");
        }
        check(gl.hadamard(&x, &y, keys).expect("key"), &zip(&a, &b, |u, v| u * v), "ct o ct");
        check(gl.rotate(&x, rotation, keys).expect("key"), &rotated(&a, rotation), "rotation");
    }
}
