//! The modulus chain: primes q_0, ..., q_L of the ciphertexts, special primes p_0, ..., p_(k-1) of the keys, and for every
//! level the constants to cut a polynomial into digits and to divide.
//!
//! Two rings share the tables of their primes: `q` holds q_0, ..., q_L; `ext` holds p_0, ..., p_(k-1), q_0, ..., q_L, in this
//! order, so that what belongs to a lower level is a prefix in both.
//!
//! A chain can leave out primes of another one ([`Chain::without`]) and still use its keys: a key is a list of digits modulo a
//! list of primes, and leaving out primes, or digits of which no prime is left, is all it takes.

use crate::math::modulus::Modulus;
use crate::math::rns::{BaseConverter, MAX_SOURCES};
use crate::ring::{Ring, RingSpec};
use crate::rlwe::{RlweError, divide::Divider};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Products of two residues are summed over the digits in 128 bits.
const MAX_DIGITS: usize = 60;

/// How keys are made: which special primes, and how many ciphertext primes share a digit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gadget {
    /// special primes, at least one
    pub special: Vec<u64>,
    /// primes in a digit, at least 1
    pub alpha: usize,
}

/// A chain as written down. [`Chain::new`] checks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainSpec {
    /// the ring
    pub ring: RingSpec,
    /// ciphertext primes q_0, ..., q_L, from the last to be left to the first to be divided away
    pub primes: Vec<u64>,
    /// how keys are made
    pub gadget: Gadget,
}

/// A checked chain with its tables. Immutable; share it by reference.
#[derive(Clone, Debug)]
pub struct Chain {
    spec: ChainSpec,
    q: Ring,
    ext: Ring,
    levels: Vec<LevelTables>,
    /// the extended ring of the chain that keys are made for
    key_ring: Ring,
    /// number of each ciphertext prime in the chain that keys are made for, increasing
    places: Vec<usize>,
    /// P mod q_i
    special_product: Vec<u64>,
}

/// Constants of one level l.
#[derive(Clone, Debug)]
pub(crate) struct LevelTables {
    pub digits: Vec<DigitTables>,
    /// division by P, from `ext` to `q`
    pub mod_down: Divider,
    /// division by P q_l, from `ext` to `q` at level l - 1; absent at level 0
    pub mod_down_rescale: Option<Divider>,
    /// division by q_l, within `q`; absent at level 0
    pub rescale: Option<Divider>,
}

/// The primes of one digit, as indices in `q`, its number in keys, and the conversion to all primes of `ext` up to the level.
#[derive(Clone, Debug)]
pub(crate) struct DigitTables {
    pub primes: Range<usize>,
    pub number: usize,
    pub converter: BaseConverter,
}

impl Chain {
    /// Checks the values and computes the tables.
    ///
    /// # Errors
    /// When the ring or a prime does not fit, or there are no primes, no special primes, or too many digits.
    pub fn new(spec: ChainSpec) -> Result<Chain, RlweError> {
        let (k, alpha) = (spec.gadget.special.len(), spec.gadget.alpha);
        let invalid = |reason| Err(RlweError::InvalidChain { reason });
        if spec.primes.is_empty() {
            return invalid("no ciphertext primes");
        }
        if k == 0 || k >= MAX_SOURCES {
            return invalid("the number of special primes is not between 1 and 59");
        }
        if alpha == 0 || alpha > MAX_SOURCES {
            return invalid("a digit does not have between 1 and 60 primes");
        }
        if spec.primes.len().div_ceil(alpha) > MAX_DIGITS {
            return invalid("more than 60 digits");
        }
        let all: Vec<u64> = spec.gadget.special.iter().chain(&spec.primes).copied().collect();
        let ext = Ring::new(spec.ring, &all)?;
        let places = (0..spec.primes.len()).collect();
        Ok(Chain::from_ring(spec, ext.clone(), ext, places))
    }

    /// The tables for a checked specification and its extended ring; the ring of keys, and the places of the primes in it.
    fn from_ring(spec: ChainSpec, ext: Ring, key_ring: Ring, places: Vec<usize>) -> Chain {
        let (k, alpha) = (spec.gadget.special.len(), spec.gadget.alpha);
        let q = ext.select(k..ext.primes());
        let levels = (0..spec.primes.len()).map(|l| LevelTables::new(&q, &ext, k, alpha, &places[..=l]));
        let levels = levels.collect();
        let product = |m: &Modulus| spec.gadget.special.iter().fold(1, |x, &p| m.mul(x, m.reduce(p)));
        let special_product = q.moduli().map(product).collect();
        Chain { spec, q, ext, levels, key_ring, places, special_product }
    }

    /// The chain without the primes of some levels, q_0 not among them. It uses the keys of this chain; a level above the gap is
    /// lower by its length.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] when the chain does not have the levels, [`RlweError::InvalidChain`] when q_0 is among them.
    pub fn without(&self, gap: Range<usize>) -> Result<Chain, RlweError> {
        if gap.is_empty() {
            return Ok(self.clone());
        }
        self.check_level(gap.end - 1)?;
        if gap.start == 0 {
            return Err(RlweError::InvalidChain { reason: "q_0 is left out" });
        }
        let kept: Vec<usize> = (0..=self.max_level()).filter(|level| !gap.contains(level)).collect();
        let k = self.special_primes();
        let primes = kept.iter().map(|&i| self.spec.primes[i]).collect();
        let spec = ChainSpec { primes, ..self.spec.clone() };
        let ext = self.ext.select((0..k).chain(kept.iter().map(|&i| k + i)));
        let places = kept.iter().map(|&i| self.places[i]).collect();
        Ok(Chain::from_ring(spec, ext, self.key_ring.clone(), places))
    }

    /// The chain of q_0 and one special prime, with keys of its own: what is encrypted there hides a secret under a small modulus.
    pub fn base(&self) -> Chain {
        let gadget = Gadget { special: self.spec.gadget.special[..1].to_vec(), alpha: 1 };
        let spec = ChainSpec { ring: self.spec.ring, primes: self.spec.primes[..1].to_vec(), gadget };
        let ext = self.ext.select([0, self.special_primes()]);
        Chain::from_ring(spec, ext.clone(), ext, vec![0])
    }

    /// The same ring and ciphertext primes with keys made another way. Ciphertexts and secrets fit both chains (a secret
    /// through its coefficients), evaluation keys do not.
    ///
    /// # Errors
    /// As [`Chain::new`].
    pub fn with_gadget(&self, gadget: Gadget) -> Result<Chain, RlweError> {
        Chain::new(ChainSpec { gadget, ..self.spec.clone() })
    }

    /// The values the chain was made from.
    pub fn spec(&self) -> &ChainSpec {
        &self.spec
    }

    /// Which ring.
    pub fn ring_spec(&self) -> RingSpec {
        self.spec.ring
    }

    /// R modulo the ciphertext primes: the ring of ciphertexts and plaintexts.
    pub fn ring(&self) -> &Ring {
        &self.q
    }

    /// R modulo the special primes, then the ciphertext primes: the ring of keys.
    pub fn extended_ring(&self) -> &Ring {
        &self.ext
    }

    /// The highest level L, that of fresh ciphertexts.
    pub fn max_level(&self) -> usize {
        self.levels.len() - 1
    }

    /// Number k of special primes.
    pub fn special_primes(&self) -> usize {
        self.spec.gadget.special.len()
    }

    /// Primes in a digit.
    pub fn alpha(&self) -> usize {
        self.spec.gadget.alpha
    }

    /// Digits of a polynomial at a level.
    pub fn digits(&self, level: usize) -> usize {
        self.levels[level].digits.len()
    }

    /// Limbs in the extended ring at a level.
    pub fn extended_limbs(&self, level: usize) -> usize {
        self.special_primes() + level + 1
    }

    /// Prime q_level, the one a rescale from that level divides by.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] above the highest level.
    pub fn prime(&self, level: usize) -> Result<u64, RlweError> {
        self.check_level(level)?;
        Ok(self.spec.primes[level])
    }

    /// log2 of P Q_level: the modulus under which a key made for this level hides the secret.
    pub fn log_pq(&self, level: usize) -> f64 {
        let q = &self.spec.primes[..=level.min(self.max_level())];
        self.spec.gadget.special.iter().chain(q).map(|&p| (p as f64).log2()).sum()
    }

    /// Checks that the chain has this level.
    ///
    /// # Errors
    /// [`RlweError::LevelTooLow`] with the highest level as the available one.
    pub fn check_level(&self, level: usize) -> Result<(), RlweError> {
        if level <= self.max_level() {
            return Ok(());
        }
        Err(RlweError::LevelTooLow { needed: level, available: self.max_level() })
    }

    pub(crate) fn level(&self, level: usize) -> &LevelTables {
        &self.levels[level]
    }

    /// The least level of a key that serves a level of this chain.
    pub(crate) fn key_level(&self, level: usize) -> usize {
        self.places[level]
    }

    /// The extended ring of the chain that keys are made for.
    pub(crate) fn key_ring(&self) -> &Ring {
        &self.key_ring
    }

    /// The limb of a polynomial in the ring of keys, from its number in this chain's extended ring.
    pub(crate) fn key_limb(&self, limb: usize) -> usize {
        let k = self.special_primes();
        if limb < k { limb } else { k + self.places[limb - k] }
    }

    /// P mod q_i.
    pub(crate) fn special_product(&self) -> &[u64] {
        &self.special_product
    }
}

impl LevelTables {
    /// For the primes at the given places in keys, of which a digit has those at `alpha` consecutive places.
    fn new(q: &Ring, ext: &Ring, k: usize, alpha: usize, places: &[usize]) -> LevelTables {
        let level = places.len() - 1;
        let targets: Vec<Modulus> = ext.moduli().take(k + level + 1).copied().collect();
        let mut first = 0;
        let digit = |members: &[usize]| {
            let primes = first..first + members.len();
            first = primes.end;
            let sources: Vec<Modulus> = primes.clone().map(|i| *q.modulus(i)).collect();
            let number = members[0] / alpha;
            DigitTables { primes, number, converter: BaseConverter::new(&sources, &targets) }
        };
        let last = k + level;
        LevelTables {
            digits: places.chunk_by(|a, b| a / alpha == b / alpha).map(digit).collect(),
            mod_down: Divider::new(ext, (0..k).collect(), (k..=last).collect()),
            mod_down_rescale: (level > 0)
                .then(|| Divider::new(ext, (0..k).chain([last]).collect(), (k..last).collect())),
            rescale: (level > 0).then(|| Divider::new(q, vec![level], (0..level).collect())),
        }
    }
}
