//! The ring, its encoding, its product and its maps against vectors computed from the definitions by exact integers
//! (tests/data/make_gl_vectors.py).

use crate::gl::product::trace_products;
use crate::gl::{Gl, GlCiphertext, GlPlaintext, Matrices, Rotation};
use crate::math::fft::Complex;
use crate::ring::{Form, Galois, Poly, RingSpec};
use crate::rlwe::{Chain, ChainSpec, Ciphertext, Gadget};
use serde::Deserialize;

#[derive(Deserialize)]
struct Vectors {
    n: usize,
    p: usize,
    modulus: u64,
    scale: f64,
    denominator: f64,
    diagonals: Vec<usize>,
    a: [Vec<i64>; 2],
    b: [Vec<i64>; 2],
    encoded: Vec<Vec<i64>>,
    product: Vec<Vec<i64>>,
    product_decoded: [Vec<f64>; 2],
    transpose: Vec<Vec<i64>>,
    conjugate: Vec<Vec<i64>>,
    conjugate_transpose: Vec<Vec<i64>>,
    rows_by_1: Vec<Vec<i64>>,
    batch_by_1: Vec<Vec<i64>>,
    batch_by_3_rows_by_2: Vec<Vec<i64>>,
    columns_by_1: Vec<Vec<i64>>,
    row_sums: Vec<Vec<i64>>,
}

const FILES: [&str; 2] =
    [include_str!("../../tests/data/gl_4_5.json"), include_str!("../../tests/data/gl_8_17.json")];

impl Vectors {
    fn all() -> Vec<Vectors> {
        FILES.iter().map(|text| serde_json::from_str(text).expect("well formed")).collect()
    }

    fn scheme(&self) -> Gl {
        let ring = RingSpec::Gl { n: self.n, p: self.p };
        let special =
            crate::math::prime::primes_near(58, ring.modulus_step(), 1, &[self.modulus]).expect("a prime");
        let spec = ChainSpec { ring, primes: vec![self.modulus], gadget: Gadget { special, alpha: 1 } };
        Gl::new(Chain::new(spec).expect("a chain"), self.scale).expect("a scheme")
    }

    fn encode(&self, gl: &Gl, numerators: &[Vec<i64>; 2]) -> GlPlaintext {
        let [re, im] = numerators;
        let entry =
            |(&re, &im): (&i64, &i64)| Complex::new(re as f64, im as f64).scale(1.0 / self.denominator);
        let matrices = Matrices::new(self.n, re.iter().zip(im).map(entry).collect()).expect("whole matrices");
        gl.encode(&matrices, 0, self.scale).expect("encodes")
    }

    /// A ciphertext that decrypts exactly.
    fn without_noise(&self, gl: &Gl, plaintext: &GlPlaintext) -> GlCiphertext {
        let zero = gl.chain().ring().zero(1, Form::Evaluation);
        let pair = |f: &Poly| Ciphertext::new(vec![f.clone(), zero.clone()]).expect("a pair");
        GlCiphertext::new(plaintext.diagonals().iter().map(pair).collect(), self.scale).expect("diagonals")
    }

    fn compare(&self, gl: &Gl, found: &[Poly], expected: &[Vec<i64>], what: &str) {
        for (&k, expected) in self.diagonals.iter().zip(expected) {
            let expected: Vec<i128> = expected.iter().map(|&c| c.into()).collect();
            assert_eq!(gl.chain().ring().to_signed(&found[k]), expected, "{what}, diagonal {k}");
        }
    }
}

#[test]
fn encoded_diagonals() {
    for v in Vectors::all() {
        let gl = v.scheme();
        v.compare(&gl, v.encode(&gl, &v.a).diagonals(), &v.encoded, "encoding");
    }
}

#[test]
fn trace_product() {
    for v in Vectors::all() {
        let gl = v.scheme();
        let (a, b) = (v.encode(&gl, &v.a), v.encode(&gl, &v.b));
        let terms = [(vec![a.diagonals().iter().collect()], vec![b.diagonals().iter().collect()])];
        let product = trace_products(gl.chain().ring(), 1, &terms).concat();
        v.compare(&gl, &product, &v.product, "product");
        let decoded = gl.decode(&GlPlaintext::from_parts(product, v.scale * v.scale)).expect("decodes");
        let size = v.n * v.n;
        for (expected, start) in v.product_decoded.iter().zip([0, (v.p - 2) * size]) {
            let found = &decoded.entries()[start..start + size];
            for (z, w) in found.iter().zip(expected.as_chunks::<2>().0) {
                let error = z.scale(1.0 / v.n as f64) - Complex::new(w[0], w[1]);
                assert!(error.abs() < 1e-9, "{error:?}");
            }
        }
    }
}

#[test]
fn row_sums() {
    for v in Vectors::all() {
        let gl = v.scheme();
        let a = v.without_noise(&gl, &v.encode(&gl, &v.a));
        let slice = gl.reduce_columns(&a).expect("matrices");
        let found = vec![slice.diagonal(0).body().clone()];
        v.compare(&gl, &found, &v.row_sums, "row sums");
    }
}

#[test]
fn automorphisms() {
    for v in Vectors::all() {
        let gl = v.scheme();
        let (ring, spec, n) = (gl.chain().ring(), gl.chain().ring_spec(), v.n);
        let a = v.encode(&gl, &v.a);
        let check = |expected: &[Vec<i64>], what: &str, image: &dyn Fn(usize) -> (usize, Galois)| {
            let found: Vec<Poly> = (0..n)
                .map(|k| {
                    let (from, map) = image(k);
                    ring.automorphism(&a.diagonals()[from], map)
                })
                .collect();
            v.compare(&gl, &found, expected, what);
        };
        check(&v.transpose, "transpose", &|k| ((n - k) % n, spec.rotation(k as i64)));
        check(&v.conjugate, "conjugate", &|k| (k, spec.conjugation()));
        check(&v.conjugate_transpose, "conjugate transpose", &|k| ((n - k) % n, gl.dagger_map(k)));
        let rotated = |batch, rows, columns| {
            let rotation = Rotation { batch, rows, columns };
            let map = gl.rotation_map(rotation);
            move |k: usize| (rotation.source(k, n), map)
        };
        check(&v.rows_by_1, "rows", &rotated(0, 1, 0));
        check(&v.batch_by_1, "batch", &rotated(1, 0, 0));
        check(&v.batch_by_3_rows_by_2, "batch and rows", &rotated(3, 2, 0));
        check(&v.columns_by_1, "columns", &rotated(0, 0, 1));
    }
}
