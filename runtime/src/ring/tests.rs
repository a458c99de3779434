//! The ring against naive evaluation and multiplication.

use super::*;
use crate::math::{prime::primes_near, root::element_of_order};
use proptest::prelude::*;

const TOY_RINGS: [RingSpec; 7] = [
    RingSpec::Gl { n: 4, p: 5 },
    RingSpec::Gl { n: 4, p: 7 },
    RingSpec::Gl { n: 8, p: 17 },
    RingSpec::Gl { n: 16, p: 13 },
    RingSpec::Gl { n: 4, p: 3 },
    RingSpec::PowerOfTwo { log_n: 3 },
    RingSpec::PowerOfTwo { log_n: 5 },
];

fn ring(spec: RingSpec) -> Ring {
    let mut moduli = primes_near(60, spec.modulus_step(), 1, &[]).expect("a prime");
    moduli.extend(primes_near(35, spec.modulus_step(), 2, &[]).expect("two primes"));
    Ring::new(spec, &moduli).expect("suitable primes")
}

fn integers(spec: RingSpec, seed: u64) -> Vec<i64> {
    let word =
        |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (seed << 32)).wrapping_mul(seed | 1) as i64;
    (0..spec.degree() as u64).map(|i| word(i) >> 40).collect()
}

/// Product by the definition: exponents of X modulo X^2n + 1, exponents of W modulo W^p - 1, then W^0 = -(W + ... ).
fn multiply(spec: RingSpec, a: &[i64], b: &[i64]) -> Vec<i128> {
    let (x_len, w_len, p) = (spec.x_len(), spec.w_len(), spec.p());
    let exponent = |t: usize| (0..t).fold(1 % p, |e, _| e * spec.gamma() as usize % p);
    let powers: Vec<usize> = (0..w_len).map(exponent).collect();
    let mut full = vec![vec![0i128; x_len]; p];
    for (i, &c) in a.iter().enumerate() {
        for (k, &d) in b.iter().enumerate() {
            let (x, w) = (i % x_len + k % x_len, (powers[i / x_len] + powers[k / x_len]) % p);
            let sign = if x < x_len { 1 } else { -1 };
            full[w][x % x_len] += sign * i128::from(c) * i128::from(d);
        }
    }
    let constant = if p > 1 { full[0].clone() } else { vec![0; x_len] };
    powers
        .iter()
        .flat_map(|&w| full[w].iter().zip(&constant).map(|(c, c0)| c - c0).collect::<Vec<_>>())
        .collect()
}

#[test]
fn integers_survive_the_transform() {
    for spec in TOY_RINGS {
        let (ring, a) = (ring(spec), integers(spec, 1));
        let wide: Vec<i128> = a.iter().map(|&c| i128::from(c) << 60).collect();
        assert_eq!(ring.to_signed(&ring.lift_wide(&wide, 3)), wide);
        for limbs in 1..=3 {
            let expected: Vec<i128> = a.iter().map(|&c| c.into()).collect();
            assert_eq!(ring.to_signed(&ring.lift(&a, limbs)), expected);
        }
    }
}

#[test]
fn values_are_those_at_the_roots_of_unity() {
    for spec in TOY_RINGS {
        let (ring, a) = (ring(spec), integers(spec, 2));
        let poly = ring.lift(&a, 1);
        let (m, zeta) = (ring.modulus(0), ring.limbs[0].zeta());
        let eta = element_of_order(spec.p() as u64, m).expect("divides");
        let gamma_power = |t: usize| (0..t).fold(1, |e, _| e * spec.gamma() % spec.p() as u64);
        let (rows, x_len) = (spec.rows(), spec.x_len());
        let mut expected = Vec::new();
        for l in 0..spec.w_len() {
            for s in [false, true] {
                for j in 0..rows {
                    let x = m.pow(zeta, spec.x_exponent(spec.galois(s, j as i64, 0)) as u64);
                    let term = |(i, &c): (usize, &i64)| {
                        let w = m.pow(m.pow(eta, gamma_power(l)), gamma_power(i / x_len));
                        m.mul(m.mul(w, m.pow(x, (i % x_len) as u64)), m.reduce_signed(c))
                    };
                    expected.push(a.iter().enumerate().map(term).fold(0, |sum, v| m.add(sum, v)));
                }
            }
        }
        let mut found = poly.limb(0).to_vec();
        if matches!(spec, RingSpec::PowerOfTwo { .. }) {
            found.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(found, expected, "{spec:?}");
    }
}

#[test]
fn products_are_those_of_the_ring() {
    for spec in TOY_RINGS {
        let (ring, a, b) = (ring(spec), integers(spec, 3), integers(spec, 4));
        let (x, y) = (ring.lift(&a, 3), ring.lift(&b, 3));
        let expected = multiply(spec, &a, &b);
        assert_eq!(ring.to_signed(&ring.mul(&x, &y)), expected, "{spec:?}");
        let mut sum = ring.lift(&b, 2);
        ring.mul_add_assign(&mut sum, &x, &y);
        let expected: Vec<i128> = expected.iter().zip(&b).map(|(c, &d)| c + i128::from(d)).collect();
        assert_eq!(ring.to_signed(&sum), expected);
    }
}

proptest! {
    #[test]
    fn automorphisms_agree_in_all_forms(which in 0..TOY_RINGS.len(), conj: bool, row in -40i64..40, w in -40i64..40) {
        let spec = TOY_RINGS[which];
        let (ring, a, g) = (ring(spec), integers(spec, 5), spec.galois(conj, row, w));
        let expected = ring.lift(&spec.map_coefficients(g, &a, |c| -c), 2);
        let values = ring.lift(&a, 2);
        prop_assert_eq!(&ring.automorphism(&values, g), &expected);
        let mut coefficients = values;
        ring.intt(&mut coefficients);
        let mut image = ring.automorphism(&coefficients, g);
        ring.ntt(&mut image);
        prop_assert_eq!(&image, &expected);
    }

    #[test]
    fn automorphisms_are_multiplicative(which in 0..TOY_RINGS.len(), conj: bool, row in 0i64..16, w in 0i64..16) {
        let spec = TOY_RINGS[which];
        let g = spec.galois(conj, row, w);
        let image = |v: &[i64]| spec.map_coefficients(g, v, |c| -c);
        let (a, b) = (integers(spec, 6), integers(spec, 7));
        let product = multiply(spec, &a, &b);
        prop_assert_eq!(multiply(spec, &image(&a), &image(&b)), spec.map_coefficients(g, &product, |c| -c));
    }

    #[test]
    fn sums_and_constants(which in 0..TOY_RINGS.len(), c in -1000i64..1000) {
        let spec = TOY_RINGS[which];
        let (ring, a, b) = (ring(spec), integers(spec, 8), integers(spec, 9));
        let (x, y) = (ring.lift(&a, 3), ring.lift(&b, 3));
        let mut z = ring.sub(&ring.add(&x, &y), &y);
        prop_assert_eq!(&z, &x);
        ring.mul_integer_assign(&mut z, c);
        let multiple: Vec<i128> = a.iter().map(|&v| i128::from(v) * i128::from(c)).collect();
        prop_assert_eq!(ring.to_signed(&z), multiple);
        ring.neg_assign(&mut z);
        ring.mul_integer_assign(&mut z, -1);
        let same: Vec<i128> = a.iter().map(|&v| i128::from(v) * i128::from(c)).collect();
        prop_assert_eq!(ring.to_signed(&z), same);
    }
}

#[test]
fn unsuitable_moduli_are_refused() {
    let spec = RingSpec::Gl { n: 4, p: 5 };
    let good = primes_near(30, spec.modulus_step(), 1, &[]).expect("a prime")[0];
    let refuse = |moduli: &[u64]| Ring::new(spec, moduli).expect_err("refused");
    assert_eq!(refuse(&[good, good]), RingError::RepeatedModulus { modulus: good });
    assert!(matches!(refuse(&[good * good]), RingError::InvalidModulus { .. }));
    assert!(matches!(refuse(&[(1 << 61) - 1]), RingError::UnsuitableModulus { step: 80, .. }));
    assert!(Ring::new(RingSpec::Gl { n: 3, p: 5 }, &[good]).is_err());
}

#[test]
fn foreign_words_are_refused() {
    let ring = ring(TOY_RINGS[0]);
    let mut poly = ring.lift(&integers(ring.spec(), 1), 3);
    assert!(ring.check(&poly).is_ok());
    poly.limb_mut(1)[3] = ring.modulus(1).value();
    assert!(ring.check(&poly).is_err());
    assert!(Poly::from_words(4, Form::Coefficient, vec![0; 6]).is_err());
}
