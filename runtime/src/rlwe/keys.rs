//! Evaluation keys: encryptions of P s' under s, digit by digit, for a source s' that is made from s.
//!
//! Digit j of the key for level l is a pair (b_j, a_j) modulo P Q_l with b_j = -a_j s + e_j + g_j s', where g_j is P modulo the
//! primes of digit j and 0 modulo all others. Leaving out limbs and digits gives the key for a lower level. The masks a_j
//! are given by a seed: a stored key is half a key, the rest is expanded on first use.

use crate::math::sampler::{Sampler, Seed};
use crate::ring::{Form, Galois, Poly};
use crate::rlwe::chain::DigitTables;
use crate::rlwe::encrypt::{expand_mask, lift_secret};
use crate::rlwe::{Chain, EncapsulationKeys, RlweError, SecretKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use zeroize::Zeroizing;

const SWITCH_KEY_DOMAIN: &str = "fhec switch key mask";

/// What a key switches from, as a function of the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum KeySource {
    /// sigma(s)
    Galois(Galois),
    /// s sigma(s); with the identity, s^2
    Product(Galois),
}

impl KeySource {
    /// s^2, the source of a relinearization.
    pub const SQUARE: KeySource = KeySource::Product(Galois { conj: false, row: 0, w: 0 });

    fn polynomial(self, chain: &Chain, secret: &SecretKey) -> Zeroizing<Poly> {
        let (ring, s) = (chain.extended_ring(), secret.values());
        match self {
            KeySource::Galois(g) => Zeroizing::new(ring.automorphism(s, g)),
            KeySource::Product(g) => {
                let mut source = Zeroizing::new(ring.automorphism(s, g));
                ring.mul_assign(&mut source, s);
                source
            }
        }
    }
}

/// A key that switches from one source polynomial to the secret, at every level up to its own.
#[derive(Clone, Debug)]
pub struct SwitchKey {
    level: usize,
    seed: Seed,
    bodies: Vec<Poly>,
    masks: OnceLock<Vec<Poly>>,
}

impl SwitchKey {
    /// A key from `source` (values modulo all primes of the extended ring) to `secret` for levels up to `level`.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when the chain does not have the level.
    pub fn generate(
        chain: &Chain,
        secret: &SecretKey,
        source: &Poly,
        level: usize,
        sampler: &mut Sampler,
    ) -> Result<SwitchKey, RlweError> {
        chain.check_level(level)?;
        let (ring, seed, limbs) = (chain.extended_ring(), sampler.seed(), chain.extended_limbs(level));
        let masks: Vec<Poly> = (0..chain.digits(level))
            .map(|j| expand_mask(ring, &seed, SWITCH_KEY_DOMAIN, j as u64, limbs))
            .collect();
        let body = |(mask, digit): (&Poly, &DigitTables)| {
            let error = lift_secret(ring, sampler.gaussian(ring.degree()), limbs);
            let mut body = ring.mul(mask, secret.values());
            ring.neg_assign(&mut body);
            ring.add_assign(&mut body, &error);
            for i in digit.primes.clone() {
                let limb = chain.special_primes() + i;
                let (m, factor) = (ring.modulus(limb), chain.special_product()[i]);
                for (b, &s) in body.limb_mut(limb).iter_mut().zip(source.limb(limb)) {
                    *b = m.add(*b, m.mul(factor, s));
                }
            }
            body
        };
        let bodies = masks.iter().zip(&chain.level(level).digits).map(body).collect();
        Ok(SwitchKey { level, seed, bodies, masks: OnceLock::from(masks) })
    }

    /// A key from its stored parts: the seed of the masks and one body per digit.
    ///
    /// # Errors
    /// When the bodies are not values in the extended ring for one level of the chain.
    pub fn from_parts(chain: &Chain, seed: Seed, bodies: Vec<Poly>) -> Result<SwitchKey, RlweError> {
        let foreign = |reason| Err(RlweError::ForeignShape { reason });
        let limbs = bodies.first().map_or(0, Poly::limbs);
        let Some(level) = limbs.checked_sub(chain.special_primes() + 1) else {
            return foreign("a key has limbs for the special primes and at least one more");
        };
        chain.check_level(level)?;
        if bodies.len() != chain.digits(level) {
            return foreign("a key has one body per digit");
        }
        for body in &bodies {
            chain.extended_ring().check(body)?;
            if body.limbs() != limbs || body.form() != Form::Evaluation {
                return foreign("the bodies of a key are values with the same number of limbs");
            }
        }
        Ok(SwitchKey { level, seed, bodies, masks: OnceLock::new() })
    }

    /// The highest level the key serves.
    pub fn level(&self) -> usize {
        self.level
    }

    /// The seed of the masks.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The bodies, one per digit, in the extended ring.
    pub fn bodies(&self) -> &[Poly] {
        &self.bodies
    }

    /// The masks, one per digit, expanded on first use.
    pub fn masks(&self, chain: &Chain) -> &[Poly] {
        self.masks.get_or_init(|| {
            let mask = |(j, body): (usize, &Poly)| {
                expand_mask(chain.key_ring(), &self.seed, SWITCH_KEY_DOMAIN, j as u64, body.limbs())
            };
            self.bodies.iter().enumerate().map(mask).collect()
        })
    }
}

/// The evaluation keys at hand, by source.
#[derive(Clone, Debug, Default)]
pub struct EvaluationKeys {
    keys: BTreeMap<KeySource, SwitchKey>,
    encapsulation: Option<EncapsulationKeys>,
}

impl EvaluationKeys {
    /// No keys.
    pub fn new() -> EvaluationKeys {
        EvaluationKeys::default()
    }

    /// Makes the key for `source` up to `level`, unless one is there that serves it.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when the chain does not have the level.
    pub fn generate(
        &mut self,
        chain: &Chain,
        secret: &SecretKey,
        source: KeySource,
        level: usize,
        sampler: &mut Sampler,
    ) -> Result<(), RlweError> {
        if self.keys.get(&source).is_some_and(|key| key.level >= level) {
            return Ok(());
        }
        let polynomial = source.polynomial(chain, secret);
        self.insert(source, SwitchKey::generate(chain, secret, &polynomial, level, sampler)?);
        Ok(())
    }

    /// Adds or replaces a key.
    pub fn insert(&mut self, source: KeySource, key: SwitchKey) {
        self.keys.insert(source, key);
    }

    /// The key for `source`, for use at `level`.
    ///
    /// # Errors
    /// [`RlweError::MissingKey`], [`RlweError::KeyLevel`].
    pub fn get(&self, source: KeySource, level: usize) -> Result<&SwitchKey, RlweError> {
        let key = self.keys.get(&source).ok_or(RlweError::MissingKey { source_key: source })?;
        if key.level < level {
            return Err(RlweError::KeyLevel { source_key: source, needed: level, available: key.level });
        }
        Ok(key)
    }

    /// The keys of an encapsulated secret.
    ///
    /// # Errors
    /// [`RlweError::MissingEncapsulation`].
    pub fn encapsulation(&self) -> Result<&EncapsulationKeys, RlweError> {
        self.encapsulation.as_ref().ok_or(RlweError::MissingEncapsulation)
    }

    /// Adds or replaces the keys of an encapsulated secret.
    pub fn set_encapsulation(&mut self, keys: EncapsulationKeys) {
        self.encapsulation = Some(keys);
    }

    /// All keys with a source, in the order of their sources.
    pub fn iter(&self) -> impl Iterator<Item = (&KeySource, &SwitchKey)> {
        self.keys.iter()
    }
}
