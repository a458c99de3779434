//! Parameters of a plan: ring, moduli, scales, security. Filled in by parameter selection, trusted by nobody:
//! [`Params::check`] verifies what can be verified without choosing anything.

use crate::bootstrap::Bootstrapping;
use crate::prime::is_prime;
use crate::ring::{InvalidRing, RingSpec};
use crate::security::{self, SecurityLevel};
use crate::units::Level;
use serde::{Deserialize, Serialize};

/// Which scheme evaluates the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Cheon-Kim-Kim-Song on vectors of slots.
    Ckks,
    /// Gentry-Lee on batches of square matrices.
    Gl,
}

impl Scheme {
    /// `ckks` or `gl`.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Ckks => "ckks",
            Scheme::Gl => "gl",
        }
    }
}

/// Standard deviation of every error coefficient.
pub const ERROR_STD: f64 = 3.2;

/// Ring, moduli and scales.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// ring of the secret key
    pub ring: RingSpec,
    /// q_0, q_1, ..: a value at level l lives modulo q_0 .. q_l
    pub q: Vec<u64>,
    /// special primes of hybrid key switching
    pub special: Vec<u64>,
    /// primes of Q in one digit of hybrid key switching (alpha)
    pub digit: usize,
    /// exact scale of a value at each level: `scale[l - 1] = scale[l]^2 / q[l]` in f64
    pub scale: Vec<f64>,
    /// security asked for and found
    pub security: SecurityLevel,
    /// true only for rings made for tests: nothing is protected
    pub insecure: bool,
    /// what bootstrapping adds to the modulus, if the plan bootstraps
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Bootstrapping>,
}

/// What is wrong with a set of parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParamsError {
    /// log2(PQ) is above the bound of the security table.
    #[error(
        "log2(PQ) = {log_pq:.1} is above the bound {bound:.1} for dimension {degree} at {bits} bits of security"
    )]
    Insecure {
        /// of all moduli, special primes included
        log_pq: f64,
        /// from the table
        bound: f64,
        /// ring dimension
        degree: usize,
        /// bits asked for
        bits: u32,
    },
    /// The key of the sparse secret of bootstrapping is made modulo too much, or in a ring too small.
    #[error(
        "the key of the sparse secret of bootstrapping has log2(PQ) = {log_pq:.1} in dimension {degree}, allowed is {bound:.1} from 2^15 on"
    )]
    Sparse {
        /// of the key
        log_pq: f64,
        /// largest
        bound: f64,
        /// ring dimension
        degree: usize,
    },
    /// A modulus does not suit the ring.
    #[error("modulus {modulus} is not a prime that is 1 modulo {step} and below 2^61")]
    Modulus {
        /// the offending modulus
        modulus: u64,
        /// what the ring needs
        step: u64,
    },
    /// The same prime twice.
    #[error("modulus {0} occurs twice")]
    Repeated(u64),
    /// The scales are not those the moduli imply.
    #[error("the scale at level {level} is {found:e}, the moduli imply {expected:e}")]
    Scale {
        /// level of the wrong scale
        level: usize,
        /// implied value
        expected: f64,
        /// value found
        found: f64,
    },
    /// The values name no ring.
    #[error(transparent)]
    Ring(#[from] InvalidRing),
    /// A count is wrong.
    #[error("{0}")]
    Malformed(&'static str),
}

impl Params {
    /// Highest level.
    pub fn top(&self) -> Level {
        Level(self.q.len() as u32 - 1)
    }
    /// Scale of every ciphertext at `level`.
    pub fn scale_at(&self, level: Level) -> f64 {
        self.scale[level.0 as usize]
    }
    /// log2 of all moduli, special primes and those of bootstrapping included: what security is judged by.
    pub fn log_pq(&self) -> f64 {
        self.all_moduli().map(|q| libm::log2(q as f64)).sum()
    }
    fn all_moduli(&self) -> impl Iterator<Item = u64> {
        self.q.iter().chain(&self.special).copied().chain(self.raised_primes())
    }
    /// The scales that `q` and the top scale imply, level 0 first.
    pub fn canonical_scales(q: &[u64], top: f64) -> Vec<f64> {
        let mut scale = vec![top; q.len()];
        for l in (1..q.len()).rev() {
            scale[l - 1] = scale[l] * scale[l] / q[l] as f64;
        }
        scale
    }
    /// Verifies everything a stranger could have changed: primes, scales, security.
    pub fn check(&self) -> Result<(), ParamsError> {
        self.ring.validate()?;
        self.check_counts()?;
        let step = self.ring.modulus_step();
        let mut all: Vec<u64> = self.all_moduli().collect();
        if let Some(&modulus) = all.iter().find(|&&q| q >> 61 != 0 || q % step != 1 || !is_prime(q)) {
            return Err(ParamsError::Modulus { modulus, step });
        }
        all.sort_unstable();
        if let Some(w) = all.windows(2).find(|w| w[0] == w[1]) {
            return Err(ParamsError::Repeated(w[0]));
        }
        let expected = Params::canonical_scales(&self.q, self.scale[self.q.len() - 1]);
        if let Some(l) = (0..self.q.len()).find(|&l| self.scale[l].to_bits() != expected[l].to_bits()) {
            return Err(ParamsError::Scale { level: l, expected: expected[l], found: self.scale[l] });
        }
        let (degree, bits) = (self.ring.degree(), self.security.bits);
        let bound = security::max_log_pq(degree, bits).unwrap_or(0.0);
        let log_pq = self.log_pq();
        if !self.insecure && log_pq > bound {
            return Err(ParamsError::Insecure { log_pq, bound, degree, bits });
        }
        self.check_bootstrap()
    }

    fn check_counts(&self) -> Result<(), ParamsError> {
        if self.q.is_empty() || self.scale.len() != self.q.len() || self.digit == 0 || self.special.is_empty()
        {
            return Err(ParamsError::Malformed(
                "a plan needs moduli, one scale per level, a digit size and special primes",
            ));
        }
        if self.scale.iter().any(|s| !(s.is_finite() && *s >= 1.0)) {
            return Err(ParamsError::Malformed("scales are finite and at least 1"));
        }
        Ok(())
    }
}
