//! Every operation decrypts to what it means, at the level and scale it promises.

use crate::toy::*;
use runtime::gl::{GlCiphertext, GlOperation, Matrices, Rotation};
use runtime::math::fft::Complex;
use runtime::rlwe::PublicKey;

const TOLERANCE: f64 = 1e-7;

fn check(toy: &Toy, found: &GlCiphertext, expected: &Matrices, level: usize, what: &str) {
    assert_eq!(found.level(), level, "{what}");
    assert_eq!(found.scale(), toy.gl.scale(level).expect("level"), "{what}: canonical to the last bit");
    toy.gl.check(found).expect("residues in range");
    let error = max_error(&toy.decrypt(found), expected);
    assert!(error < TOLERANCE, "{what} at n = {}, p - 1 = {}: {error:e}", toy.gl.side(), toy.gl.batch());
}

#[test]
fn sums_and_constants() {
    for shape in TOY_SHAPES {
        let mut toy = Toy::new(shape, 1, 1);
        let (a, b) = (toy.random(1), toy.random(2));
        let (x, y) = (toy.encrypt(&a), toy.encrypt(&b));
        let top = toy.gl.max_level();
        let plus = |s: f64, t: f64| zip(&a, &b, move |u, v| u.scale(s) + v.scale(t));
        check(&toy, &x, &a, top, "encryption");
        check(&toy, &toy.gl.add(&x, &y).expect("adds"), &plus(1.0, 1.0), top, "sum");
        check(&toy, &toy.gl.sub(&x, &y).expect("subtracts"), &plus(1.0, -1.0), top, "difference");
        check(&toy, &toy.gl.neg(&x), &plus(-1.0, 0.0), top, "negation");
        check(&toy, &toy.gl.mul_integer(&x, -7), &plus(-7.0, 0.0), top, "integer multiple");
        let plain = toy.gl.encode(&b, top, x.scale()).expect("encodes");
        check(&toy, &toy.gl.add_plain(&x, &plain).expect("adds"), &plus(1.0, 1.0), top, "plain sum");
        assert!(max_error(&toy.gl.decode(&plain).expect("decodes"), &b) < 1e-10);
        let combined = toy.gl.combine(&[(0.375, &x), (-1.75, &y)]).expect("combines");
        check(&toy, &combined, &plus(0.375, -1.75), top - 1, "combination");
    }
}

#[test]
fn public_key_encryption() {
    let mut toy = Toy::new((8, 17), 1, 1);
    let a = toy.random(3);
    let key = PublicKey::generate(toy.gl.chain(), &toy.secret, &mut toy.sampler);
    let plain = toy.gl.encode(&a, 2, toy.gl.scale(2).expect("level")).expect("encodes");
    let ct = toy.gl.encrypt_public(&key, &plain, &mut toy.sampler).expect("encrypts");
    check(&toy, &ct, &a, 2, "public key encryption");
}

#[test]
fn hadamard_products() {
    for shape in TOY_SHAPES {
        let mut toy = Toy::new(shape, 1, 1).with_keys(&[GlOperation::Hadamard]);
        let (a, b) = (toy.random(4), toy.random(5));
        let (x, y) = (toy.encrypt(&a), toy.encrypt(&b));
        let top = toy.gl.max_level();
        let product = zip(&a, &b, |u, v| u * v);
        check(&toy, &toy.gl.hadamard(&x, &y, &toy.keys).expect("multiplies"), &product, top - 1, "ct o ct");
        let square = toy.gl.hadamard_square(&x, &toy.keys).expect("squares");
        check(&toy, &square, &zip(&a, &a, |u, v| u * v), top - 1, "square");
        let factor = toy.gl.encode(&b, top, toy.gl.factor_scale(top).expect("level")).expect("encodes");
        check(&toy, &toy.gl.hadamard_plain(&x, &factor).expect("multiplies"), &product, top - 1, "ct o pt");
        let sum = toy.gl.hadamard_plain_sum(&[(&x, &factor), (&y, &factor)]).expect("multiplies");
        check(&toy, &sum, &zip(&product, &b, |u, v| u + v * v), top - 1, "sum of ct o pt");
    }
}

#[test]
fn matrix_products() {
    for shape in TOY_SHAPES {
        for (special, alpha) in [(1, 1), (2, 2)] {
            let mut toy = Toy::new(shape, special, alpha).with_keys(&[GlOperation::Product]);
            let (a, b) = (toy.random(6), toy.random(7));
            let (x, y) = (toy.encrypt(&a), toy.encrypt(&b));
            let top = toy.gl.max_level();
            let product = times_dagger(&a, &b);
            check(&toy, &toy.gl.matmul(&x, &y, &toy.keys).expect("multiplies"), &product, top - 1, "ct ct");
            let mut few = Toy::new(shape, special + 1, alpha).with_keys(&[GlOperation::ProductInSteps]);
            assert_eq!(few.keys.iter().count(), shape.0.ilog2() as usize + 2);
            let (u, v) = (few.encrypt(&a), few.encrypt(&b));
            let found = few.gl.matmul_sum_in_steps(&[(&u, &v)], &few.keys).expect("multiplies");
            check(&few, &found, &product, top - 1, "ct ct in steps");
            let factor_scale = toy.gl.factor_scale(top).expect("level");
            let right = toy.gl.encode(&b, top, factor_scale).expect("encodes");
            check(&toy, &toy.gl.matmul_plain(&x, &right).expect("multiplies"), &product, top - 1, "ct pt");
            let left = toy.gl.encode(&a, top, factor_scale).expect("encodes");
            let found = toy.gl.plain_matmul(&left, &y, &toy.keys).expect("multiplies");
            check(&toy, &found, &product, top - 1, "pt ct");
        }
    }
}

#[test]
fn sums_of_matrix_products() {
    let mut toy = Toy::new((8, 5), 1, 1).with_keys(&[GlOperation::Product]);
    let m: Vec<Matrices> = (0..4).map(|seed| toy.random(20 + seed)).collect();
    let x: Vec<GlCiphertext> = m.iter().map(|m| toy.encrypt(m)).collect();
    let top = toy.gl.max_level();
    let sum = zip(&times_dagger(&m[0], &m[1]), &times_dagger(&m[2], &m[3]), |u, v| u + v);
    let found = toy.gl.matmul_sum(&[(&x[0], &x[1]), (&x[2], &x[3])], &toy.keys).expect("multiplies");
    check(&toy, &found, &sum, top - 1, "sum of ct ct");
    let scale = toy.gl.factor_scale(top).expect("level");
    let p: Vec<_> = [1, 3].iter().map(|&i| toy.gl.encode(&m[i], top, scale).expect("encodes")).collect();
    let found = toy.gl.matmul_plain_sum(&[(&x[0], &p[0]), (&x[2], &p[1])]).expect("multiplies");
    check(&toy, &found, &sum, top - 1, "sum of ct pt");
}

#[test]
fn gram_matrices_and_products_from_the_left() {
    for shape in TOY_SHAPES {
        let mut toy = Toy::new(shape, 2, 1).with_keys(&[GlOperation::Gram]);
        let (a, b) = (toy.random(13), toy.random(14));
        let x = toy.encrypt(&a);
        let top = toy.gl.max_level();
        let gram = toy.gl.gram(&x, &toy.keys).expect("multiplies");
        check(&toy, &gram, &times_dagger(&a, &a), top - 1, "A A^dagger");
        // the keys of a Gram matrix contain those of the conjugate transpose
        let p = toy.gl.encode(&b, top, toy.gl.factor_scale(top).expect("level")).expect("encodes");
        let found = toy.gl.matmul_plain_left(&p, &x, &toy.keys).expect("multiplies");
        let dagger = map(&a, |l, j, c| a.get(l, c, j).conj());
        check(&toy, &found, &times_dagger(&b, &dagger), top - 1, "P B");
    }
}

#[test]
fn transposes_and_conjugates() {
    for shape in TOY_SHAPES {
        let operations = [GlOperation::Transpose, GlOperation::ConjugateTranspose, GlOperation::Conjugate];
        let mut toy = Toy::new(shape, 1, 1).with_keys(&operations);
        let a = toy.random(8);
        let x = toy.encrypt(&a);
        let top = toy.gl.max_level();
        let transpose = map(&a, |l, j, c| a.get(l, c, j));
        let conjugate = |m: &Matrices| map(m, |l, j, c| m.get(l, j, c).conj());
        check(&toy, &toy.gl.transpose(&x, &toy.keys).expect("keys"), &transpose, top, "transpose");
        let mut few = Toy::new(shape, 1, 1).with_keys(&[GlOperation::TransposeInSteps]);
        assert_eq!(few.keys.iter().count(), shape.0.ilog2() as usize);
        let y = few.encrypt(&a);
        let found = few.gl.transpose_in_steps(&y, &few.keys).expect("keys");
        check(&few, &found, &transpose, top, "transpose in steps");
        let dagger = toy.gl.conjugate_transpose(&x, &toy.keys).expect("keys");
        check(&toy, &dagger, &conjugate(&transpose), top, "conjugate transpose");
        check(&toy, &toy.gl.conjugate(&x, &toy.keys).expect("keys"), &conjugate(&a), top, "conjugate");
    }
}

#[test]
fn rotations() {
    for shape in TOY_SHAPES {
        let steps = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -2), (-1, 3, 0), (2, -1, 3)];
        let rotations = steps.map(|(batch, rows, columns)| Rotation { batch, rows, columns });
        let mut toy = Toy::new(shape, 1, 1).with_keys(&rotations.map(GlOperation::Rotate));
        assert_eq!(toy.keys.iter().count(), 4, "columns need no key, one automorphism for batch and rows");
        let a = toy.random(9);
        let x = toy.encrypt(&a);
        let top = toy.gl.max_level();
        let many = toy.gl.rotate_many(&x, &rotations, &toy.keys).expect("keys");
        for (rotation, hoisted) in rotations.into_iter().zip(&many) {
            let found = toy.gl.rotate(&x, rotation, &toy.keys).expect("keys");
            check(&toy, &found, &rotated(&a, rotation), top, &format!("{rotation:?}"));
            assert_eq!(&found, hoisted, "hoisting changes nothing");
        }
    }
}

#[test]
fn levels_are_crossed_with_one_set_of_keys() {
    let mut toy = Toy::new((4, 13), 1, 1).with_keys(&[GlOperation::Hadamard, GlOperation::Product]);
    let (a, b, c) = (toy.random(10), toy.random(11), toy.random(12));
    let (x, y, z) = (toy.encrypt(&a), toy.encrypt(&b), toy.encrypt(&c));
    let adjust = |ct: &GlCiphertext, level| toy.gl.adjust(ct, level).expect("level left");
    for level in 0..=3 {
        check(&toy, &adjust(&x, level), &a, level, "adjusted");
    }
    let first = toy.gl.matmul(&x, &y, &toy.keys).expect("level 3");
    let second = toy.gl.hadamard(&first, &adjust(&z, 2), &toy.keys).expect("level 2");
    let third = toy.gl.matmul(&second, &adjust(&x, 1), &toy.keys).expect("level 1");
    let expected = times_dagger(&zip(&times_dagger(&a, &b), &c, |u, v| u * v), &a);
    check(&toy, &third, &expected, 0, "((A B^dagger) o C) A^dagger");
}

#[test]
fn short_batches_are_padded() {
    let mut toy = Toy::new((4, 13), 1, 1);
    let short = random(5, 4, 13);
    let ct = toy.encrypt(&short);
    let padded = Matrices::from_fn(12, 4, |l, j, c| if l < 5 { short.get(l, j, c) } else { Complex::ZERO });
    check(&toy, &ct, &padded, 3, "short batch");
    let real = Matrices::from_real(4, &[0.5; 32]).expect("two matrices");
    let ct = toy.encrypt(&real);
    let expected = Matrices::from_fn(12, 4, |l, _, _| if l < 2 { 0.5.into() } else { Complex::ZERO });
    check(&toy, &ct, &expected, 3, "real batch");
}
