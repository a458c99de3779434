//! Which ring: R = `Z[X]/(X^N + 1)`, or the Gentry-Lee ring R(n, p) = `Z[X, W]/(X^2n + 1, Phi_p(W))`.
//!
//! Both are described by the length of their X axis (N, or 2n) and of their W axis (1, or p - 1): the power-of-two ring is
//! the case without W. A polynomial is written over the basis W^(gamma^t) X^x, with gamma the smallest generator of
//! Z_p^*, and stored as `[t][x]`. Over this basis an automorphism of W is a cyclic shift of t.

use crate::math::prime::{is_prime, lcm, primitive_root};
use crate::ring::RingError;
use serde::{Deserialize, Serialize};

/// The largest degree for which a ring is built.
pub const MAX_DEGREE: usize = 1 << 18;

/// The name of a ring. Any values can be written; [`RingSpec::validate`] says whether they name a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RingSpec {
    /// `Z[X]/(X^N + 1)`, N = 2^`log_n`
    PowerOfTwo {
        /// log2 of the degree, at least 2
        log_n: u32,
    },
    /// `Z[X, W]/(X^2n + 1, Phi_p(W))`, the 4np-th cyclotomic ring
    Gl {
        /// a power of two, at least 4
        n: usize,
        /// an odd prime; transforms are fast when p - 1 has only small factors
        p: usize,
    },
}

impl RingSpec {
    /// Checks that the values name a ring of degree at most [`MAX_DEGREE`].
    ///
    /// # Errors
    /// [`RingError::InvalidSpec`] with what is wrong.
    pub fn validate(&self) -> Result<(), RingError> {
        let reason = match *self {
            RingSpec::PowerOfTwo { log_n } if log_n < 2 => "the degree must be at least 4",
            RingSpec::PowerOfTwo { log_n } if log_n > MAX_DEGREE.ilog2() => "the degree is too large",
            RingSpec::PowerOfTwo { .. } => return Ok(()),
            RingSpec::Gl { n, .. } if n < 4 || !n.is_power_of_two() => "n must be a power of two, at least 4",
            RingSpec::Gl { p, .. } if p < 3 || !is_prime(p as u64) => "p must be an odd prime",
            RingSpec::Gl { n, p } if n.saturating_mul(2).saturating_mul(p - 1) > MAX_DEGREE => {
                "the degree is too large"
            }
            RingSpec::Gl { .. } => return Ok(()),
        };
        Err(RingError::InvalidSpec { spec: *self, reason })
    }

    /// Degree N of the ring: the number of coefficients of an element.
    pub fn degree(&self) -> usize {
        self.x_len() * self.w_len()
    }

    /// Complex slots of an element, N / 2: slot (l, j) at index l `rows()` + j is its value at
    /// X = zeta^(5^j), W = eta^(gamma^l), zeta and eta primitive roots of order 2 `x_len()` and p.
    pub fn slots(&self) -> usize {
        self.degree() / 2
    }

    /// Length of the X axis: N, or 2n.
    pub fn x_len(&self) -> usize {
        match *self {
            RingSpec::PowerOfTwo { log_n } => 1 << log_n,
            RingSpec::Gl { n, .. } => 2 * n,
        }
    }

    /// Length of the W axis: 1, or p - 1.
    pub fn w_len(&self) -> usize {
        match *self {
            RingSpec::PowerOfTwo { .. } => 1,
            RingSpec::Gl { p, .. } => p - 1,
        }
    }

    /// Rotations of the slots along X: N / 2, or n.
    pub fn rows(&self) -> usize {
        self.x_len() / 2
    }

    /// The prime p of the W axis; 1 without one.
    pub fn p(&self) -> usize {
        match *self {
            RingSpec::PowerOfTwo { .. } => 1,
            RingSpec::Gl { p, .. } => p,
        }
    }

    /// The generator gamma of Z_p^* that orders the W axis; 1 without one.
    pub fn gamma(&self) -> u64 {
        match *self {
            RingSpec::PowerOfTwo { .. } => 1,
            RingSpec::Gl { p, .. } => primitive_root(p as u64),
        }
    }

    /// Primes for this ring are 1 modulo this number: 2N, or lcm(4n, p, p - 1).
    pub fn modulus_step(&self) -> u64 {
        let x_order = 2 * self.x_len() as u64;
        match *self {
            RingSpec::PowerOfTwo { .. } => x_order,
            // within a valid degree no product overflows
            RingSpec::Gl { p, .. } => lcm(x_order, (p * (p - 1)) as u64).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions() {
        let gl = RingSpec::Gl { n: 64, p: 257 };
        assert_eq!((gl.degree(), gl.slots(), gl.rows(), gl.w_len()), (1 << 15, 1 << 14, 64, 256));
        assert_eq!((gl.modulus_step(), gl.gamma()), (65792, 3));
        let power = RingSpec::PowerOfTwo { log_n: 15 };
        assert_eq!(
            (power.degree(), power.slots(), power.rows(), power.w_len()),
            (1 << 15, 1 << 14, 1 << 14, 1)
        );
        assert_eq!((power.modulus_step(), power.gamma()), (1 << 16, 1));
    }

    #[test]
    fn only_rings_are_valid() {
        let valid = |spec: RingSpec| spec.validate().is_ok();
        assert!(valid(RingSpec::Gl { n: 4, p: 3 }) && valid(RingSpec::Gl { n: 64, p: 577 }));
        assert!(valid(RingSpec::PowerOfTwo { log_n: 2 }) && valid(RingSpec::PowerOfTwo { log_n: 17 }));
        for (n, p) in [(0, 5), (2, 5), (6, 5), (8, 0), (8, 1), (8, 2), (8, 9), (1 << 40, 5), (4, usize::MAX)]
        {
            assert!(!valid(RingSpec::Gl { n, p }), "({n}, {p})");
        }
        for log_n in [0, 1, 19, 64, u32::MAX] {
            assert!(!valid(RingSpec::PowerOfTwo { log_n }), "{log_n}");
        }
    }
}
