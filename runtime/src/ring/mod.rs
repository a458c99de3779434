//! The ring R modulo sets of primes: elements, transforms, arithmetic, automorphisms.
//!
//! [`RingSpec`] names the ring, [`Ring`] adds primes and their tables, [`Poly`] is an element. Values are multiplied
//! pointwise; no user of this module depends on their order except through [`RingSpec::Gl`], where it is
//! `[l][s][j]` (see `limb`).

mod arithmetic;
mod constants;
mod limb;
mod poly;
mod value_map;

pub use plan::ring::{Galois, InvalidRing, RingSpec};
pub use poly::{Form, Poly};

pub(crate) use arithmetic::for_each_limb;
pub(crate) use value_map::ValueMap;

use crate::math::modulus::{MAX_MODULUS_BITS, Modulus};
use crate::math::root::RootError;
use limb::LimbRing;
use plan::prime::is_prime;
use std::sync::Arc;
use thiserror::Error;

/// Why a ring or an element cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RingError {
    /// The values do not name a ring.
    #[error(transparent)]
    InvalidSpec(#[from] InvalidRing),
    /// A modulus is not a prime in the supported range.
    #[error("modulus {modulus} is not an odd prime below 2^{MAX_MODULUS_BITS}")]
    InvalidModulus {
        /// the number
        modulus: u64,
    },
    /// A modulus has no transform for this ring.
    #[error("modulus {modulus} is not 1 mod {step}, as the transforms of {spec:?} need")]
    UnsuitableModulus {
        /// the ring
        spec: RingSpec,
        /// the prime
        modulus: u64,
        /// what the prime must be 1 modulo
        step: u64,
    },
    /// The same modulus appears twice.
    #[error("modulus {modulus} is given twice")]
    RepeatedModulus {
        /// the prime
        modulus: u64,
    },
    /// Roots of unity are missing.
    #[error(transparent)]
    Roots(#[from] RootError),
    /// Words do not fill whole limbs.
    #[error("{words} words are not whole limbs of {degree} words")]
    PartialLimb {
        /// words of a limb
        degree: usize,
        /// words given
        words: usize,
    },
    /// A polynomial from outside does not belong to this ring.
    #[error(
        "needed at most {max_limbs} limbs of {degree} residues, found {limbs} limbs of {found_degree} words or a word out of range"
    )]
    ForeignPoly {
        /// degree of the ring
        degree: usize,
        /// primes of the ring
        max_limbs: usize,
        /// degree of the polynomial
        found_degree: usize,
        /// limbs of the polynomial
        limbs: usize,
    },
}

/// R modulo each of a list of primes, with the tables of the transforms. Cloning shares the tables.
#[derive(Clone, Debug)]
pub struct Ring {
    spec: RingSpec,
    limbs: Vec<Arc<LimbRing>>,
}

impl Ring {
    /// The ring `spec` modulo each of `moduli`: different primes below 2^61, each 1 mod [`RingSpec::modulus_step`].
    ///
    /// # Errors
    /// When the values name no ring or a modulus does not fit.
    pub fn new(spec: RingSpec, moduli: &[u64]) -> Result<Ring, RingError> {
        spec.validate()?;
        let limbs = moduli.iter().enumerate().map(|(i, &q)| {
            if moduli[..i].contains(&q) {
                return Err(RingError::RepeatedModulus { modulus: q });
            }
            let modulus =
                Modulus::new(q).filter(|_| is_prime(q)).ok_or(RingError::InvalidModulus { modulus: q })?;
            let step = spec.modulus_step();
            if q % step != 1 {
                return Err(RingError::UnsuitableModulus { spec, modulus: q, step });
            }
            Ok(Arc::new(LimbRing::new(spec, modulus)?))
        });
        Ok(Ring { spec, limbs: limbs.collect::<Result<_, _>>()? })
    }

    /// The ring modulo a selection of its primes, in the order of `indices`; tables are shared.
    pub fn select(&self, indices: impl IntoIterator<Item = usize>) -> Ring {
        Ring { spec: self.spec, limbs: indices.into_iter().map(|i| Arc::clone(&self.limbs[i])).collect() }
    }

    /// Which ring this is.
    pub fn spec(&self) -> RingSpec {
        self.spec
    }

    /// Degree N: the words of a limb.
    pub fn degree(&self) -> usize {
        self.spec.degree()
    }

    /// Number of primes.
    pub fn primes(&self) -> usize {
        self.limbs.len()
    }

    /// Prime number `i` with its reduction constants.
    pub fn modulus(&self, i: usize) -> &Modulus {
        self.limbs[i].modulus()
    }

    /// All primes in order.
    pub fn moduli(&self) -> impl ExactSizeIterator<Item = &Modulus> {
        self.limbs.iter().map(|limb| limb.modulus())
    }

    /// Checks that a polynomial from outside has the degree of this ring, no more limbs than it has primes, and only
    /// residues as words.
    ///
    /// # Errors
    /// [`RingError::ForeignPoly`] otherwise.
    pub fn check(&self, poly: &Poly) -> Result<(), RingError> {
        let fits = poly.degree() == self.degree() && poly.limbs() <= self.primes();
        let in_range = |(i, m): (usize, &Modulus)| poly.limb(i).iter().all(|&word| word < m.value());
        if fits && self.moduli().take(poly.limbs()).enumerate().all(in_range) {
            return Ok(());
        }
        Err(RingError::ForeignPoly {
            degree: self.degree(),
            max_limbs: self.primes(),
            found_degree: poly.degree(),
            limbs: poly.limbs(),
        })
    }
}

#[cfg(test)]
mod tests;
