//! Correctness of every operation under real noise, and measured against predicted noise.

use super::*;
use crate::math::prime::primes_near;
use crate::math::sampler::Sampler;
use crate::ring::{Galois, Poly, RingSpec};

const TOY_RINGS: [RingSpec; 3] =
    [RingSpec::PowerOfTwo { log_n: 9 }, RingSpec::Gl { n: 16, p: 17 }, RingSpec::Gl { n: 32, p: 7 }];

/// Five 45-bit ciphertext primes, keys with two 50-bit special primes and digits of two primes.
fn toy_chain(ring: RingSpec, alpha: usize, special: usize) -> Chain {
    let step = ring.modulus_step();
    let primes = primes_near(45, step, 5, &[]).expect("enough");
    let special = primes_near(50, step, special, &primes).expect("enough");
    Chain::new(ChainSpec { ring, primes, gadget: Gadget { special, alpha } }).expect("a chain")
}

fn sampler(seed: u8) -> Sampler {
    Sampler::from_seed([seed; 32])
}

/// Messages of a few dozen bits.
fn message(ring: RingSpec, seed: u8, bits: u32) -> Vec<i64> {
    let uniform = sampler(seed).seed();
    (0..ring.degree() as u64)
        .map(|i| {
            let word = blake3::keyed_hash(&uniform, &i.to_le_bytes());
            i64::from_le_bytes(word.as_bytes()[..8].try_into().expect("eight bytes")) >> (64 - bits)
        })
        .collect()
}

/// Slot error of `found` against `expected` / `divisor`, both read as centred integers.
fn slot_error(chain: &Chain, found: &Poly, expected: &Poly, divisor: u64) -> f64 {
    let (found, expected) = (chain.ring().to_signed(found), chain.ring().to_signed(expected));
    let difference = |(&f, &e): (&i128, &i128)| (f * i128::from(divisor) - e) as f64 / divisor as f64;
    let error: Vec<f64> = found.iter().zip(&expected).map(difference).collect();
    noise::slot_rms(chain.ring_spec(), &error)
}

#[track_caller]
fn assert_predicted(measured: f64, predicted: f64) {
    let ratio = measured / predicted;
    assert!(
        (1.0 / 1.5..1.5).contains(&ratio),
        "measured 2^{:.2}, predicted 2^{:.2}",
        measured.log2(),
        predicted.log2()
    );
}

#[test]
fn fresh_encryptions_have_the_predicted_noise() {
    for ring in TOY_RINGS {
        let (chain, mut sampler) = (toy_chain(ring, 2, 2), sampler(1));
        let secret = SecretKey::generate(&chain, &mut sampler);
        let public = PublicKey::generate(&chain, &secret, &mut sampler);
        for limbs in [1, 3, 5] {
            let m = chain.ring().lift(&message(ring, 2, 40), limbs);
            let ct = chain.encrypt(&secret, &m, &mut sampler).expect("fits");
            assert_eq!((ct.level(), ct.degree()), (limbs - 1, 1));
            assert_predicted(
                slot_error(&chain, &chain.decrypt(&secret, &ct), &m, 1),
                noise::fresh_secret(ring),
            );
            let ct = chain.encrypt_public(&public, &m, &mut sampler).expect("fits");
            assert_predicted(
                slot_error(&chain, &chain.decrypt(&secret, &ct), &m, 1),
                noise::fresh_public(ring),
            );
        }
    }
}

#[test]
fn public_keys_survive_storage() {
    let (chain, mut sampler) = (toy_chain(TOY_RINGS[0], 2, 2), sampler(1));
    let secret = SecretKey::generate(&chain, &mut sampler);
    let public = PublicKey::generate(&chain, &secret, &mut sampler);
    let restored = PublicKey::from_parts(&chain, *public.seed(), public.body().clone()).expect("valid");
    let m = chain.ring().lift(&message(TOY_RINGS[0], 2, 40), 5);
    let encrypt = |key| chain.encrypt_public(key, &m, &mut self::sampler(9)).expect("fits");
    assert_eq!(encrypt(&public), encrypt(&restored));
    assert!(PublicKey::from_parts(&chain, *public.seed(), public.body().prefix(3)).is_err());
}

struct Setting {
    chain: Chain,
    secret: SecretKey,
    keys: EvaluationKeys,
    sampler: Sampler,
}

fn setting(ring: RingSpec, alpha: usize, special: usize, key_level: usize, sources: &[KeySource]) -> Setting {
    let (chain, mut sampler) = (toy_chain(ring, alpha, special), sampler(3));
    let secret = SecretKey::generate(&chain, &mut sampler);
    let mut keys = EvaluationKeys::new();
    for &source in sources {
        keys.generate(&chain, &secret, source, key_level, &mut sampler).expect("a level of the chain");
    }
    Setting { chain, secret, keys, sampler }
}

#[test]
fn products_relinearize_and_rescale() {
    for ring in TOY_RINGS {
        for (alpha, special, key_level) in [(1, 1, 4), (2, 2, 4), (3, 3, 3), (2, 1, 4)] {
            let Setting { chain, secret, keys, mut sampler } =
                setting(ring, alpha, special, key_level, &[KeySource::SQUARE]);
            for level in 1..=key_level {
                let (a, b) = (message(ring, 4, 30), message(ring, 5, 30));
                let (a, b) = (chain.ring().lift(&a, level + 1), chain.ring().lift(&b, level + 1));
                let x = chain.encrypt(&secret, &a, &mut sampler).expect("fits");
                let y = chain.encrypt(&secret, &b, &mut sampler).expect("fits");
                let product = chain.tensor(&x, &y).expect("same level");
                let exact = chain.decrypt(&secret, &product);
                let factors = chain.ring().mul(&chain.decrypt(&secret, &x), &chain.decrypt(&secret, &y));
                assert_eq!(exact, factors);
                let one = chain.relinearize(&product, &keys).expect("key at hand");
                assert_eq!((one.degree(), one.level()), (1, level));
                let error = slot_error(&chain, &chain.decrypt(&secret, &one), &exact, 1);
                assert_predicted(error, noise::key_switch(&chain, level));
                let scaled = chain.relinearize_rescale(&product, &keys).expect("key at hand");
                assert_eq!((scaled.degree(), scaled.level()), (1, level - 1));
                let divisor = chain.prime(level).expect("in the chain");
                let error = slot_error(&chain, &chain.decrypt(&secret, &scaled), &exact, divisor);
                assert_predicted(error, noise::key_switch_rescale(&chain, level));
                let square = chain.tensor_square(&x).expect("degree 1");
                assert_eq!(square, chain.tensor(&x, &x).expect("same level"));
            }
        }
    }
}

#[test]
fn rescale_rounds_as_predicted() {
    for ring in TOY_RINGS {
        let Setting { chain, secret, mut sampler, .. } = setting(ring, 1, 1, 0, &[]);
        let m = chain.ring().lift(&message(ring, 6, 60), 4);
        let ct = chain.encrypt(&secret, &m, &mut sampler).expect("fits");
        let exact = chain.decrypt(&secret, &ct);
        let scaled = chain.rescale(&ct).expect("level 3");
        let error =
            slot_error(&chain, &chain.decrypt(&secret, &scaled), &exact, chain.prime(3).expect("level"));
        assert_predicted(error, noise::rounding(ring));
    }
}

#[test]
fn automorphisms_switch_back_to_the_secret() {
    for ring in TOY_RINGS {
        let group = [ring.rotation(1), ring.rotation(-3), ring.batch_rotation(2), ring.conjugation()];
        let sources = group.map(KeySource::Galois);
        let Setting { chain, secret, keys, mut sampler } = setting(ring, 2, 2, 3, &sources);
        let m = message(ring, 7, 40);
        for level in [0, 2, 3] {
            let ct = chain.encrypt(&secret, &chain.ring().lift(&m, level + 1), &mut sampler).expect("fits");
            let digits = chain.decompose(ct.mask());
            for g in group.into_iter().filter(|&g| g != Galois::default()) {
                let image = chain.automorphism(&ct, g, &keys).expect("key at hand");
                let expected = chain.ring().automorphism(&chain.decrypt(&secret, &ct), g);
                let error = slot_error(&chain, &chain.decrypt(&secret, &image), &expected, 1);
                assert_predicted(error, noise::key_switch(&chain, level));
                assert_eq!(image, chain.automorphism_hoisted(&ct, &digits, g, &keys).expect("key at hand"));
                let extended = chain.automorphism_extended(&ct, &digits, g, &keys).expect("key at hand");
                assert_eq!(image, chain.mod_down(&extended));
            }
            assert_eq!(ct, chain.automorphism(&ct, Galois::default(), &keys).expect("no key needed"));
            assert_eq!(ct, chain.mod_down(&chain.extend(&ct).expect("degree 1")));
        }
    }
}

#[test]
fn any_source_has_a_key() {
    let ring = RingSpec::Gl { n: 16, p: 17 };
    let g = ring.galois(true, 3, 8);
    let source = KeySource::Product(g);
    let Setting { chain, secret, keys, mut sampler } = setting(ring, 2, 2, 4, &[source]);
    let key = keys.get(source, 4).expect("made");
    let restored = SwitchKey::from_parts(&chain, *key.seed(), key.bodies().to_vec()).expect("valid");
    // c s sigma(s) for a uniform polynomial c
    let ct = chain
        .encrypt(&secret, &chain.ring().zero(5, crate::ring::Form::Evaluation), &mut sampler)
        .expect("fits");
    let c = ct.mask();
    let s = secret.values_at(&chain, 4);
    let expected = chain.ring().mul(&chain.ring().mul(c, &s), &chain.ring().automorphism(&s, g));
    for key in [key, &restored] {
        let switched = chain.key_product(&chain.decompose(c), Galois::default(), key).expect("level 4");
        let mut difference = chain.decrypt(&secret, &chain.mod_down(&switched));
        chain.ring().sub_assign(&mut difference, &expected);
        let zero = chain.ring().zero(5, crate::ring::Form::Evaluation);
        assert_predicted(slot_error(&chain, &difference, &zero, 1), noise::key_switch(&chain, 4));
    }
}

#[test]
fn linear_operations_are_exact() {
    let ring = TOY_RINGS[1];
    let Setting { chain, secret, mut sampler, .. } = setting(ring, 1, 1, 0, &[]);
    let ring_q = chain.ring();
    let (a, b) = (ring_q.lift(&message(ring, 8, 20), 3), ring_q.lift(&message(ring, 9, 20), 3));
    let x = chain.encrypt(&secret, &a, &mut sampler).expect("fits");
    let y = chain.encrypt(&secret, &b, &mut sampler).expect("fits");
    let (dx, dy) = (chain.decrypt(&secret, &x), chain.decrypt(&secret, &y));
    let open = |ct: Result<Ciphertext, RlweError>| chain.decrypt(&secret, &ct.expect("fits"));
    assert_eq!(open(chain.add(&x, &y)), ring_q.add(&dx, &dy));
    assert_eq!(open(chain.sub(&x, &y)), ring_q.sub(&dx, &dy));
    assert_eq!(open(chain.add_plain(&x, &b)), ring_q.add(&dx, &b));
    assert_eq!(open(chain.mul_plain(&x, &b)), ring_q.mul(&dx, &b));
    assert_eq!(open(chain.drop_to_level(&x, 1)), dx.prefix(2));
    let product = chain.tensor(&x, &y).expect("same level");
    assert_eq!(open(chain.sub(&x, &product)), ring_q.sub(&dx, &ring_q.mul(&dx, &dy)));
    assert_eq!(open(chain.add(&product, &x)), ring_q.add(&dx, &ring_q.mul(&dx, &dy)));
    assert_eq!(
        open(Ok(chain.mul_integer(&x, -3))),
        ring_q.sub(&dx, &ring_q.add(&ring_q.add(&dx, &dx), &ring_q.add(&dx, &dx)))
    );
}

#[test]
fn mismatches_are_errors() {
    let ring = TOY_RINGS[0];
    let rotation = KeySource::Galois(ring.rotation(1));
    let Setting { chain, secret, keys, mut sampler } = setting(ring, 2, 2, 2, &[rotation]);
    let m = chain.ring().lift(&message(ring, 1, 20), 5);
    let high = chain.encrypt(&secret, &m, &mut sampler).expect("fits");
    let low = chain.drop_to_level(&high, 0).expect("lower");
    assert_eq!(chain.add(&high, &low), Err(RlweError::LevelMismatch { left: 4, right: 0 }));
    assert_eq!(chain.rescale(&low), Err(RlweError::LevelTooLow { needed: 1, available: 0 }));
    assert_eq!(chain.drop_to_level(&low, 1), Err(RlweError::LevelTooLow { needed: 1, available: 0 }));
    assert_eq!(chain.add_plain(&high, &m.prefix(2)), Err(RlweError::LevelTooLow { needed: 4, available: 1 }));
    assert_eq!(
        chain.automorphism(&high, ring.rotation(1), &keys),
        Err(RlweError::KeyLevel { source_key: rotation, needed: 4, available: 2 })
    );
    let other = KeySource::Galois(ring.rotation(2));
    assert_eq!(
        chain.automorphism(&low, ring.rotation(2), &keys),
        Err(RlweError::MissingKey { source_key: other })
    );
    assert_eq!(chain.relinearize(&low, &keys), Err(RlweError::DegreeMismatch { needed: 2, available: 1 }));
    assert!(SecretKey::from_coefficients(&chain, vec![2; ring.degree()]).is_err());
    assert!(SecretKey::from_coefficients(&chain, secret.coefficients().to_vec()).is_ok());
    assert!(Ciphertext::new(vec![m.clone()]).is_err());
    assert!(Ciphertext::new(vec![m.clone(), m.prefix(2)]).is_err());
    assert!(chain.check(&high).is_ok());
}

#[test]
fn chains_without_primes_or_specials_are_refused() {
    let ring = TOY_RINGS[0];
    let spec = toy_chain(ring, 2, 2).spec().clone();
    let refuse = |spec: ChainSpec| assert!(matches!(Chain::new(spec), Err(RlweError::InvalidChain { .. })));
    refuse(ChainSpec { primes: vec![], ..spec.clone() });
    refuse(ChainSpec { gadget: Gadget { special: vec![], alpha: 2 }, ..spec.clone() });
    refuse(ChainSpec { gadget: Gadget { alpha: 0, ..spec.gadget.clone() }, ..spec.clone() });
    let repeated = ChainSpec { gadget: Gadget { special: spec.primes.clone(), alpha: 1 }, ..spec };
    assert!(matches!(Chain::new(repeated), Err(RlweError::Ring(_))));
}

/// A chain without some primes rotates with the keys of the whole chain, digits cut or left out.
#[test]
fn keys_serve_chains_without_some_primes() {
    let ring = TOY_RINGS[0];
    let (chain, mut sampler) = (toy_chain(ring, 2, 2), sampler(8));
    let secret = SecretKey::generate(&chain, &mut sampler);
    let (sigma, mut keys) = (ring.rotation(3), EvaluationKeys::new());
    keys.generate(&chain, &secret, KeySource::Galois(sigma), 4, &mut sampler).expect("level 4");
    for gap in [1..2, 2..4, 1..4] {
        let short = chain.without(gap.clone()).expect("levels of the chain");
        assert_eq!(short.max_level(), 4 - gap.len());
        let secret = SecretKey::from_coefficients(&short, secret.coefficients().to_vec()).expect("ternary");
        let m = short.ring().lift(&message(ring, 2, 30), short.max_level() + 1);
        let ct = short.encrypt(&secret, &m, &mut sampler).expect("fits");
        let found = short.decrypt(&secret, &short.automorphism(&ct, sigma, &keys).expect("key at hand"));
        let error = slot_error(&short, &found, &short.ring().automorphism(&m, sigma), 1);
        let predicted = noise::fresh_secret(ring).hypot(noise::rounding(ring));
        assert_predicted(error, predicted);
    }
    assert!(matches!(chain.without(0..1), Err(RlweError::InvalidChain { .. })));
    assert!(chain.without(3..6).is_err() && chain.without(2..2).is_ok());
}
