//! Measured errors are within a factor 1.25 of the documented formulas: over 6 encryptions with one key each, or over 200
//! with FHEC_SLOW=1.

use crate::toy::*;
use runtime::gl::{GlCiphertext, GlOperation, Matrices, Rotation, noise as gl_noise};
use runtime::math::fft::Complex;
use runtime::math::sampler::Sampler;
use runtime::rlwe::noise;

/// Encryptions averaged over, with one key each.
fn runs() -> u64 {
    if slow() { 200 } else { 6 }
}

/// Root mean square over several runs of the error of an operation on two random batches, in units of the scale of the
/// result, beside the prediction.
fn measure(
    operations: &[GlOperation],
    shape: (usize, usize),
    gadget: (usize, usize),
    evaluate: impl Fn(&Toy, &[GlCiphertext; 2], &[Matrices; 2]) -> (GlCiphertext, Matrices),
    predict: impl Fn(&Toy) -> f64,
    what: &str,
) {
    let (mut measured, mut predicted) = (0.0, 0.0);
    for run in 0..runs() {
        let mut toy = Toy::new(shape, gadget.0, gadget.1);
        toy.sampler = Sampler::from_seed([run as u8; 32]);
        toy.secret = runtime::rlwe::SecretKey::generate(toy.gl.chain(), &mut toy.sampler);
        let mut toy = toy.with_keys(operations);
        let m = [toy.random(2 * run), toy.random(2 * run + 1)];
        let x = [toy.encrypt(&m[0]), toy.encrypt(&m[1])];
        let (found, expected) = evaluate(&toy, &x, &m);
        measured += (error(&toy.decrypt(&found), &expected) * found.scale()).powi(2);
        predicted += predict(&toy).powi(2);
    }
    let ratio = (measured / predicted).sqrt();
    assert!((0.8..1.25).contains(&ratio), "{what} at {shape:?} {gadget:?}: {ratio}");
}

/// Mean square of an entry of [`Toy::random`].
const MEAN_SQUARE: f64 = 2.0 / 3.0;

fn fresh(toy: &Toy) -> f64 {
    noise::fresh_secret(toy.gl.chain().ring_spec())
}

fn top(toy: &Toy) -> usize {
    toy.gl.max_level()
}

/// From units of the scale of level L to those of level L - 1.
fn rescaled(toy: &Toy, e: f64) -> f64 {
    e * toy.gl.scale(top(toy) - 1).expect("level") / toy.gl.scale(top(toy)).expect("level")
}

/// Rounding of an encoding at `scale`, in units of the scale of level L.
fn encoding(toy: &Toy, scale: f64) -> f64 {
    let spec = toy.gl.chain().ring_spec();
    (spec.degree() as f64 / 12.0).sqrt() / scale * toy.gl.scale(top(toy)).expect("level")
}

#[test]
fn fresh_encryptions_and_automorphisms() {
    for shape in TOY_SHAPES {
        let switch = |toy: &Toy| noise::key_switch(toy.gl.chain(), top(toy)).hypot(fresh(toy));
        measure(&[], shape, (1, 1), |_, x, m| (x[0].clone(), m[0].clone()), fresh, "encryption");
        let rotation = Rotation { batch: 1, rows: 1, columns: 2 };
        let rotate = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
            (toy.gl.rotate(&x[0], rotation, &toy.keys).expect("key"), rotated(&m[0], rotation))
        };
        measure(&[GlOperation::Rotate(rotation)], shape, (1, 1), rotate, switch, "rotation");
        let transpose = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
            (
                toy.gl.conjugate_transpose(&x[0], &toy.keys).expect("keys"),
                map(&m[0], |l, j, c| m[0].get(l, c, j).conj()),
            )
        };
        measure(&[GlOperation::ConjugateTranspose], shape, (1, 1), transpose, switch, "conjugate transpose");
    }
}

#[test]
fn hadamard_products() {
    for shape in TOY_SHAPES {
        let (m, operations) = (MEAN_SQUARE.sqrt(), [GlOperation::Hadamard]);
        let multiply = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
            (toy.gl.hadamard(&x[0], &x[1], &toy.keys).expect("key"), zip(&m[0], &m[1], |u, v| u * v))
        };
        let predict = |toy: &Toy| {
            let operands = rescaled(toy, m * 2f64.sqrt() * fresh(toy));
            operands.hypot(noise::key_switch_rescale(toy.gl.chain(), top(toy)))
        };
        measure(&operations, shape, (1, 1), multiply, predict, "ct o ct");
    }
}

#[test]
fn matrix_products() {
    for shape in TOY_SHAPES {
        // with two primes of about 40 bits in a digit and one special prime the digits matter, too
        for gadget in [(1, 1), (1, 2)] {
            let multiply = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
                (toy.gl.matmul(&x[0], &x[1], &toy.keys).expect("keys"), times_dagger(&m[0], &m[1]))
            };
            let predict = |toy: &Toy| {
                let m = MEAN_SQUARE.sqrt();
                let operands = gl_noise::propagated(toy.gl.side(), m, fresh(toy), m, fresh(toy));
                rescaled(toy, operands).hypot(gl_noise::product_switch(toy.gl.chain(), top(toy)))
            };
            measure(&[GlOperation::Product], shape, gadget, multiply, predict, "ct ct");
        }
    }
}

#[test]
fn products_with_plaintexts() {
    for shape in TOY_SHAPES {
        let m = MEAN_SQUARE.sqrt();
        let factor_scale = |toy: &Toy| toy.gl.factor_scale(top(toy)).expect("level");
        let operands = |toy: &Toy| {
            let rounding = encoding(toy, factor_scale(toy));
            rescaled(toy, gl_noise::propagated(toy.gl.side(), m, rounding, m, fresh(toy)))
        };
        let right = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
            let p = toy.gl.encode(&m[1], top(toy), factor_scale(toy)).expect("encodes");
            (toy.gl.matmul_plain(&x[0], &p).expect("level"), times_dagger(&m[0], &m[1]))
        };
        let predict = |toy: &Toy| operands(toy).hypot(noise::rounding(toy.gl.chain().ring_spec()));
        measure(&[], shape, (1, 1), right, predict, "ct pt");
        let left = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
            let p = toy.gl.encode(&m[0], top(toy), factor_scale(toy)).expect("encodes");
            (toy.gl.plain_matmul(&p, &x[1], &toy.keys).expect("keys"), times_dagger(&m[0], &m[1]))
        };
        let predict = |toy: &Toy| operands(toy).hypot(noise::key_switch_rescale(toy.gl.chain(), top(toy)));
        measure(&[GlOperation::PlainLeftProduct], shape, (1, 1), left, predict, "pt ct");
    }
}

#[test]
fn row_sums_and_transposes_in_steps() {
    for shape in TOY_SHAPES {
        let reduce = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
            let sum = |l, j| (0..m[0].side()).fold(Complex::ZERO, |sum, c| sum + m[0].get(l, j, c));
            (toy.gl.reduce_columns(&x[0]).expect("matrices"), map(&m[0], |l, j, _| sum(l, j)))
        };
        let predict = |toy: &Toy| gl_noise::reduced(toy.gl.side(), fresh(toy));
        measure(&[], shape, (1, 1), reduce, predict, "row sums");
        let transpose = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
            let found = toy.gl.transpose_in_steps(&x[0], &toy.keys).expect("keys");
            (found, map(&m[0], |l, j, c| m[0].get(l, c, j)))
        };
        let predict = |toy: &Toy| gl_noise::transpose_in_steps(toy.gl.chain(), top(toy)).hypot(fresh(toy));
        let operations = [GlOperation::TransposeInSteps];
        measure(&operations, shape, (1, 1), transpose, predict, "transpose in steps");
    }
}

#[test]
fn products_in_steps() {
    for shape in TOY_SHAPES {
        for gadget in [(1, 1), (1, 2)] {
            let multiply = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
                let found = toy.gl.matmul_sum_in_steps(&[(&x[0], &x[1])], &toy.keys).expect("keys");
                (found, times_dagger(&m[0], &m[1]))
            };
            let predict = |toy: &Toy| {
                let m = MEAN_SQUARE.sqrt();
                let operands = gl_noise::propagated(toy.gl.side(), m, fresh(toy), m, fresh(toy));
                rescaled(toy, operands).hypot(gl_noise::product_in_steps_switch(toy.gl.chain(), top(toy)))
            };
            measure(&[GlOperation::ProductInSteps], shape, gadget, multiply, predict, "ct ct in steps");
        }
    }
}

#[test]
fn gram_matrices() {
    for shape in TOY_SHAPES {
        let multiply = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
            (toy.gl.gram(&x[0], &toy.keys).expect("keys"), times_dagger(&m[0], &m[0]))
        };
        let predict = |toy: &Toy| {
            let m = MEAN_SQUARE.sqrt();
            let operands = gl_noise::propagated(toy.gl.side(), m, fresh(toy), m, fresh(toy));
            rescaled(toy, operands).hypot(gl_noise::gram_switch(toy.gl.chain(), top(toy)))
        };
        measure(&[GlOperation::Gram], shape, (1, 1), multiply, predict, "A A^dagger");
    }
}

#[test]
fn products_of_matrices_and_slices() {
    for shape in TOY_SHAPES {
        let m = MEAN_SQUARE.sqrt();
        let multiply = |toy: &Toy, x: &[GlCiphertext; 2], m: &[Matrices; 2]| {
            let diagonal = x[1].diagonals()[..1].to_vec();
            let slice = GlCiphertext::new(diagonal, x[1].scale()).expect("one diagonal");
            let found = toy.gl.hadamard_slice(&x[0], &slice, &toy.keys).expect("key");
            (found, map(&m[0], |l, j, c| m[0].get(l, j, c) * m[1].get(l, j, j)))
        };
        let predict = |toy: &Toy| {
            let operands = rescaled(toy, m * 2f64.sqrt() * fresh(toy));
            operands.hypot(noise::key_switch_rescale(toy.gl.chain(), top(toy)))
        };
        measure(&[GlOperation::Hadamard], shape, (1, 1), multiply, predict, "ct o slice");
    }
}
