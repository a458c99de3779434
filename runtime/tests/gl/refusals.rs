//! What cannot be done is refused with both sides.

use crate::toy::*;
use runtime::gl::{Gl, GlCiphertext, GlError, GlOperation, Matrices};
use runtime::math::embedding::EncodeError;
use runtime::math::fft::Complex;
use runtime::math::prime::primes_near;
use runtime::ring::RingSpec;
use runtime::rlwe::{Chain, ChainSpec, Gadget, RlweError};

#[test]
fn shapes_and_scales() {
    let mut toy = Toy::new((4, 5), 1, 1);
    let a = toy.random(1);
    let refuse = |m: &Matrices, level, scale| toy.gl.encode(m, level, scale).expect_err("refused");
    let shape = |found_count, found_side| GlError::WrongShape { count: 4, side: 4, found_count, found_side };
    assert_eq!(refuse(&random(5, 4, 1), 1, 1e9), shape(5, 4));
    assert_eq!(refuse(&random(1, 8, 1), 1, 1e9), shape(1, 8));
    assert_eq!(refuse(&a, 1, 0.5), GlError::InvalidScale { found: 0.5 });
    assert_eq!(refuse(&a, 7, 1e9), RlweError::LevelTooLow { needed: 7, available: 3 }.into());
    assert!(matches!(refuse(&a, 1, 1e20), GlError::Encode(EncodeError::TooLarge { .. })));
    let infinite = Matrices::new(4, vec![Complex::new(f64::INFINITY, 0.0); 16]).expect("one matrix");
    assert!(matches!(refuse(&infinite, 1, 1e9), GlError::Encode(EncodeError::NotFinite { .. })));
    assert_eq!(Matrices::from_real(4, &[0.0; 17]), Err(GlError::PartialMatrix { entries: 17, side: 4 }));
    let x = toy.encrypt(&a);
    let other = toy.gl.encode(&a, 3, 2.0 * x.scale()).expect("encodes");
    assert!(matches!(toy.gl.add_plain(&x, &other), Err(GlError::ScaleMismatch { .. })));
    let fewer = GlCiphertext::new(x.diagonals()[1..].to_vec(), x.scale()).expect("of one level");
    assert_eq!(toy.gl.check(&fewer), Err(GlError::WrongDiagonals { side: 4, found: 3 }));
    assert!(toy.gl.add(&x, &fewer).is_err() && toy.gl.decrypt(&toy.secret, &fewer).is_err());
    assert!(
        GlCiphertext::new(vec![], 1e9).is_err()
            && GlCiphertext::new(x.diagonals().to_vec(), f64::NAN).is_err()
    );
}

#[test]
fn levels_and_keys() {
    let mut toy = Toy::new((4, 5), 1, 1);
    let x = toy.encrypt(&random(4, 4, 1));
    let missing = |result: Result<GlCiphertext, GlError>| {
        matches!(result, Err(GlError::Rlwe(RlweError::MissingKey { .. })))
    };
    assert!(missing(toy.gl.hadamard(&x, &x, &toy.keys)));
    assert!(missing(toy.gl.matmul(&x, &x, &toy.keys)));
    assert!(missing(toy.gl.transpose(&x, &toy.keys)));
    assert!(missing(toy.gl.conjugate(&x, &toy.keys)));
    let made = toy.gl.generate_keys(&mut toy.keys, &toy.secret, GlOperation::Product, 1, &mut toy.sampler);
    made.expect("keys");
    let key_level =
        |needed| matches!(needed, Err(GlError::Rlwe(RlweError::KeyLevel { needed: 3, available: 1, .. })));
    assert!(key_level(toy.gl.matmul(&x, &x, &toy.keys)));
    let low = toy.gl.adjust(&x, 1).expect("levels left");
    assert!(toy.gl.matmul(&low, &low, &toy.keys).is_ok());
    let mixed = GlError::Rlwe(RlweError::LevelMismatch { left: 3, right: 1 });
    assert_eq!(toy.gl.add(&x, &low), Err(mixed.clone()));
    assert_eq!(toy.gl.matmul(&x, &low, &toy.keys), Err(mixed));
    let spent = toy.gl.drop_to_level(&x, 0).expect("levels left");
    let too_low = |needed, available| Err(GlError::Rlwe(RlweError::LevelTooLow { needed, available }));
    assert_eq!(toy.gl.matmul(&spent, &spent, &toy.keys), too_low(1, 0));
    assert_eq!(toy.gl.combine(&[(2.0, &spent)]), too_low(1, 0));
    assert_eq!(toy.gl.drop_to_level(&low, 2), too_low(2, 1));
    assert!(toy.gl.adjust(&low, 2).is_err() && toy.gl.adjust(&low, usize::MAX).is_err());
    assert_eq!(toy.gl.combine(&[]), Err(GlError::EmptySum));
    assert!(matches!(
        toy.gl.combine(&[(f64::NAN, &x)]),
        Err(GlError::Encode(EncodeError::NotFinite { index: 0 }))
    ));
    assert!(matches!(toy.gl.combine(&[(1e9, &x)]), Err(GlError::Encode(EncodeError::TooLarge { .. }))));
}

#[test]
fn rings_without_batches() {
    let ring = RingSpec::PowerOfTwo { log_n: 5 };
    let primes = primes_near(40, ring.modulus_step(), 2, &[]).expect("two primes");
    let special = primes_near(50, ring.modulus_step(), 1, &[]).expect("a prime");
    let chain =
        Chain::new(ChainSpec { ring, primes, gadget: Gadget { special, alpha: 1 } }).expect("a chain");
    assert_eq!(Gl::new(chain, 1e9).map(|_| ()), Err(GlError::WrongRing { found: ring }));
}
