//! The shape of 256 matrices of 64 x 64 at ring dimension 2^15, three primes: correct at full size.
//!
//! `RAYON_NUM_THREADS=1 cargo test --release -p fhec-runtime --test gl full_size -- --ignored --nocapture` prints times.

use crate::toy::*;
use runtime::gl::{Gl, GlCiphertext, GlOperation, Matrices, Rotation};
use runtime::math::prime::primes_near;
use runtime::math::sampler::Sampler;
use runtime::ring::RingSpec;
use runtime::rlwe::{Chain, ChainSpec, EvaluationKeys, Gadget, SecretKey};
use std::time::Instant;

const RING: RingSpec = RingSpec::Gl { n: 64, p: 257 };

fn timed<T, E: std::fmt::Debug>(what: &str, f: impl FnOnce() -> Result<T, E>) -> T {
    let start = Instant::now();
    let result = f().expect(what);
    eprintln!("{what:<24} {:8.3} s", start.elapsed().as_secs_f64());
    result
}

fn primes(bits: u32, count: usize, avoid: &[u64]) -> Vec<u64> {
    primes_near(bits, RING.modulus_step(), count, avoid).expect("enough primes")
}

fn check(gl: &Gl, secret: &SecretKey, found: &GlCiphertext, expected: &Matrices, what: &str) {
    let error = max_error(&timed("decrypt", || gl.decrypt(secret, found)), expected);
    eprintln!("{what}: largest error 2^{:.1}", error.log2());
    assert!(error < 2e-7, "{what}: {error:e}");
}

/// 43 and 40 bits beside a scale of 2^40, one digit; two special primes are enough where the rescale helps to divide.
fn scheme() -> Gl {
    let mut q = primes(43, 1, &[]);
    q.extend(primes(40, 2, &[]));
    let gadget = Gadget { special: primes(43, 2, &q), alpha: 3 };
    let chain = Chain::new(ChainSpec { ring: RING, primes: q, gadget }).expect("a chain");
    Gl::new(chain, 2f64.powi(40)).expect("a scheme")
}

#[test]
#[ignore = "full size: run in release"]
fn products_of_256_pairs() {
    let gl = scheme();
    let mut sampler = Sampler::from_seed([9; 32]);
    let secret = SecretKey::generate(gl.chain(), &mut sampler);
    let mut keys = EvaluationKeys::new();
    for (what, operation) in [("product keys", GlOperation::Product), ("hadamard key", GlOperation::Hadamard)]
    {
        timed(what, || gl.generate_keys(&mut keys, &secret, operation, 2, &mut sampler));
    }
    let words: usize = keys.iter().flat_map(|(_, key)| key.bodies()).map(|body| body.words().len()).sum();
    eprintln!("{} keys, {} MiB without the masks", keys.iter().count(), (8 * words) >> 20);

    let (a, b, scale) = (random(256, 64, 1), random(256, 64, 2), gl.scale(2).expect("level"));
    let plain = [&a, &b].map(|m| timed("encode", || gl.encode(m, 2, scale)));
    let [x, y] = plain.map(|m| timed("encrypt", || gl.encrypt(&secret, &m, &mut sampler)));
    let factor = gl.encode(&b, 2, gl.factor_scale(2).expect("level")).expect("encodes");
    let (product, elementwise) = (times_dagger(&a, &b), zip(&a, &b, |u, v| u * v));
    check(&gl, &secret, &timed("ct ct", || gl.matmul(&x, &y, &keys)), &product, "ct ct");
    check(&gl, &secret, &timed("ct pt", || gl.matmul_plain(&x, &factor)), &product, "ct pt");
    check(
        &gl,
        &secret,
        &timed("pt ct", || gl.plain_matmul(&factor, &x, &keys)),
        &times_dagger(&b, &a),
        "pt ct",
    );
    check(&gl, &secret, &timed("ct o ct", || gl.hadamard(&x, &y, &keys)), &elementwise, "ct o ct");
    check(&gl, &secret, &timed("ct o pt", || gl.hadamard_plain(&x, &factor)), &elementwise, "ct o pt");
}

#[test]
#[ignore = "full size: run in release"]
fn rotation_of_256_matrices() {
    // without a rescale the digits must stay below P
    let gl = scheme();
    let gadget = Gadget { special: primes(43, 4, &gl.chain().spec().primes), alpha: 3 };
    let scale = gl.scale(2).expect("level");
    let gl = Gl::new(gl.chain().with_gadget(gadget).expect("a chain"), scale).expect("a scheme");
    let mut sampler = Sampler::from_seed([10; 32]);
    let secret = SecretKey::generate(gl.chain(), &mut sampler);
    let (rotation, mut keys) = (Rotation { batch: 3, rows: 5, columns: 7 }, EvaluationKeys::new());
    let operation = GlOperation::Rotate(rotation);
    timed("rotation key", || gl.generate_keys(&mut keys, &secret, operation, 2, &mut sampler));
    let a = random(256, 64, 3);
    let plain = gl.encode(&a, 2, scale).expect("encodes");
    let x = gl.encrypt(&secret, &plain, &mut sampler).expect("encrypts");
    let turned = timed("rotate", || gl.rotate(&x, rotation, &keys));
    check(&gl, &secret, &turned, &rotated(&a, rotation), "rotation");
    let columns = Rotation { columns: -3, ..Rotation::default() };
    let turned = timed("rotate columns", || gl.rotate(&x, columns, &keys));
    check(&gl, &secret, &turned, &rotated(&a, columns), "columns");
}
