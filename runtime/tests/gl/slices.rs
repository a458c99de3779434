//! Slices: reductions, broadcasts, and arithmetic with slices in the place of matrices.

use crate::toy::*;
use runtime::gl::{GlCiphertext, GlError, GlOperation, Matrices, Rotation};
use runtime::math::fft::Complex;

const TOLERANCE: f64 = 1e-7;

fn row_sums(a: &Matrices) -> Vec<Complex> {
    let rows = a.entries().chunks_exact(a.side());
    rows.map(|row| row.iter().fold(Complex::ZERO, |sum, &z| sum + z)).collect()
}

/// Entries of a random slice.
fn random_slice(toy: &Toy, seed: u64) -> Vec<Complex> {
    let m = toy.random(seed);
    m.entries().iter().step_by(m.side()).copied().collect()
}

/// The matrices a slice stands for.
fn columns(toy: &Toy, slice: &[Complex]) -> Matrices {
    Matrices::from_fn(toy.gl.batch(), toy.gl.side(), |l, j, _| slice[l * toy.gl.side() + j])
}

fn encrypt_slice(toy: &mut Toy, slice: &[Complex]) -> GlCiphertext {
    let top = toy.gl.max_level();
    let plain = toy.gl.encode_slice(slice, top, toy.gl.scale(top).expect("level")).expect("encodes");
    toy.gl.encrypt(&toy.secret, &plain, &mut toy.sampler).expect("encrypts")
}

fn check(toy: &Toy, found: &GlCiphertext, expected: &Matrices, what: &str) {
    toy.gl.check(found).expect("residues in range");
    assert_eq!(found.scale(), toy.gl.scale(found.level()).expect("level"), "{what}: canonical");
    let error = max_error(&toy.decrypt(found), expected);
    assert!(error < TOLERANCE, "{what} at n = {}, p - 1 = {}: {error:e}", toy.gl.side(), toy.gl.batch());
}

#[test]
fn rows_are_summed_and_columns_repeated_without_keys() {
    for shape in TOY_SHAPES {
        let mut toy = Toy::new(shape, 1, 1);
        let a = toy.random(1);
        let x = toy.encrypt(&a);
        let sums = toy.gl.reduce_columns(&x).expect("matrices");
        assert!(sums.is_slice() && sums.level() == x.level());
        let found = toy.gl.decrypt_slice(&toy.secret, &sums).expect("a slice");
        for (z, w) in found.iter().zip(row_sums(&a)) {
            assert!((*z - w).abs() < TOLERANCE);
        }
        let wide = toy.gl.broadcast_columns(&sums).expect("a slice");
        assert_eq!(wide.diagonals().len(), toy.gl.side());
        check(&toy, &wide, &columns(&toy, &row_sums(&a)), "broadcast");
        assert_eq!(toy.decrypt(&wide), toy.decrypt(&sums), "a slice stands for its broadcast");
    }
}

#[test]
fn slices_stand_beside_matrices() {
    for shape in TOY_SHAPES {
        let mut toy = Toy::new(shape, 1, 1).with_keys(&[GlOperation::Hadamard]);
        let (a, v) = (toy.random(2), random_slice(&toy, 3));
        let wide = columns(&toy, &v);
        let (x, s) = (toy.encrypt(&a), encrypt_slice(&mut toy, &v));
        let top = toy.gl.max_level();
        let (sum, product) = (zip(&a, &wide, |u, w| u + w), zip(&a, &wide, |u, w| u * w));
        check(&toy, &toy.gl.add(&x, &s).expect("adds"), &sum, "matrices + slice");
        check(&toy, &toy.gl.add(&s, &x).expect("adds"), &sum, "slice + matrices");
        check(&toy, &toy.gl.hadamard_slice(&x, &s, &toy.keys).expect("key"), &product, "matrices o slice");
        let combined = toy.gl.combine(&[(0.5, &s), (-2.0, &x)]).expect("level");
        check(&toy, &combined, &zip(&a, &wide, |u, w| w.scale(0.5) + u.scale(-2.0)), "combination");
        let factor = toy.gl.encode_slice(&v, top, toy.gl.factor_scale(top).expect("level")).expect("encodes");
        check(&toy, &toy.gl.hadamard_plain(&x, &factor).expect("level"), &product, "matrices o clear slice");
        let matrices = toy.gl.encode(&a, top, x.scale()).expect("encodes");
        check(&toy, &toy.gl.add_plain(&s, &matrices).expect("adds"), &sum, "slice + clear matrices");
    }
}

#[test]
fn slices_are_ckks_ciphertexts() {
    let rotation = Rotation { batch: 2, rows: 1, columns: 5 };
    for shape in TOY_SHAPES {
        let operations = [GlOperation::Hadamard, GlOperation::Rotate(rotation), GlOperation::Conjugate];
        let mut toy = Toy::new(shape, 1, 1).with_keys(&operations);
        let (v, w) = (random_slice(&toy, 4), random_slice(&toy, 5));
        let (s, t) = (encrypt_slice(&mut toy, &v), encrypt_slice(&mut toy, &w));
        let (v, w) = (columns(&toy, &v), columns(&toy, &w));
        let (gl, keys) = (&toy.gl, &toy.keys);
        let product = gl.hadamard(&s, &t, keys).expect("key");
        assert!(product.is_slice());
        check(&toy, &product, &zip(&v, &w, |x, y| x * y), "product");
        let square = gl.hadamard_square(&s, keys).expect("key");
        check(&toy, &square, &zip(&v, &v, |x, y| x * y), "square");
        check(
            &toy,
            &gl.adjust(&gl.sub(&s, &t).expect("level"), 1).expect("level"),
            &zip(&v, &w, |x, y| x - y),
            "difference",
        );
        check(&toy, &gl.rotate(&s, rotation, keys).expect("key"), &rotated(&v, rotation), "rotation");
        let many = gl.rotate_many(&s, &[rotation], keys).expect("key");
        check(&toy, &many[0], &rotated(&v, rotation), "hoisted rotation");
        check(
            &toy,
            &gl.conjugate(&s, keys).expect("key"),
            &map(&v, |l, j, c| v.get(l, j, c).conj()),
            "conjugate",
        );
    }
}

#[test]
fn rows_are_normalised() {
    // the shape of a layer norm: row sums, a product on one slice, and its product with the matrices
    let mut toy = Toy::new((8, 17), 1, 1).with_keys(&[GlOperation::Hadamard]);
    let (a, v) = (toy.random(6), random_slice(&toy, 7));
    let (x, s) = (toy.encrypt(&a), encrypt_slice(&mut toy, &v));
    let (gl, keys) = (&toy.gl, &toy.keys);
    let gate = gl.hadamard(&gl.reduce_columns(&x).expect("matrices"), &s, keys).expect("key");
    let low = gl.adjust(&x, gate.level()).expect("level");
    let found = gl.hadamard_slice(&low, &gate, keys).expect("key");
    let sums = columns(&toy, &row_sums(&a));
    let expected = zip(&a, &zip(&sums, &columns(&toy, &v), |u, w| u * w), |u, w| u * w);
    check(&toy, &found, &expected, "rows by their sums");
}

#[test]
fn slices_are_refused_where_diagonals_mix() {
    let mut toy = Toy::new((4, 5), 1, 1);
    let v = random_slice(&toy, 8);
    let (s, a) = (encrypt_slice(&mut toy, &v), toy.random(9));
    let x = toy.encrypt(&a);
    let mixed = GlError::WrongDiagonals { side: 4, found: 1 };
    assert_eq!(toy.gl.matmul(&x, &s, &toy.keys), Err(mixed.clone()));
    assert_eq!(toy.gl.transpose(&s, &toy.keys), Err(mixed.clone()));
    assert_eq!(toy.gl.reduce_columns(&s), Err(mixed));
    assert_eq!(toy.gl.broadcast_columns(&x), Err(GlError::NotASlice { found: 4 }));
    assert_eq!(toy.gl.decrypt_slice(&toy.secret, &x), Err(GlError::NotASlice { found: 4 }));
    let long = vec![Complex::ZERO; 17];
    assert_eq!(
        toy.gl.encode_slice(&long, 1, 1e9).map(|_| ()),
        Err(GlError::SliceTooLong { slots: 16, found: 17 })
    );
}
