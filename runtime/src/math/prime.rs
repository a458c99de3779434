//! Primality, primes for transforms, and roots of unity.
//!
//! Everything is deterministic: the same request gives the same primes and the same roots on every machine, which the
//! file formats rely on.

use crate::math::modulus::{MAX_MODULUS_BITS, Modulus};
use thiserror::Error;

/// A request for primes or roots that cannot be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PrimeError {
    /// Fewer primes exist in the window around 2^bits than were asked for.
    #[error("needed {needed} primes near 2^{bits} congruent to 1 mod {step}, only {available} available")]
    TooFew {
        /// primes asked for
        needed: usize,
        /// primes found
        available: usize,
        /// logarithm of the centre of the window
        bits: u32,
        /// all primes are congruent to 1 modulo this
        step: u64,
    },
    /// The multiplicative group has no element of this order.
    #[error("no element of order {order} modulo {modulus}: the order must divide {modulus} - 1")]
    NoSuchOrder {
        /// order asked for
        order: u64,
        /// the prime
        modulus: u64,
    },
}

/// Whether n is prime: Miller-Rabin with the first twelve primes as bases, exact below 2^64
/// (Sorenson, Webster, "Strong pseudoprimes to twelve prime bases", 2015).
pub fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    if let Some(&divisor) = BASES.iter().find(|&&b| n.is_multiple_of(b)) {
        return n == divisor;
    }
    let twos = (n - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let mut x = pow_wide(base, (n - 1) >> twos, n);
        x == 1
            || (0..twos).any(|_| {
                let minus_one = x == n - 1;
                x = mul_wide(x, x, n);
                minus_one
            })
    })
}

/// The `count` primes closest to 2^bits that are 1 mod `step` and not in `avoid`, nearest first, within
/// [2^(bits-1), 2^(bits+1)) and below 2^61.
///
/// # Errors
/// [`PrimeError::TooFew`] when that window holds fewer.
pub fn primes_near(bits: u32, step: u64, count: usize, avoid: &[u64]) -> Result<Vec<u64>, PrimeError> {
    let centre = 1u64 << bits.min(MAX_MODULUS_BITS);
    let window = centre / 2..(2 * centre).min(1 << MAX_MODULUS_BITS);
    let first = centre / step * step + 1;
    let (mut below, mut above) = (Some(first), first.checked_add(step));
    let mut found = Vec::with_capacity(count);
    while found.len() < count {
        below = below.filter(|c| window.contains(c));
        above = above.filter(|c| window.contains(c));
        let candidate = match (below, above) {
            (None, None) => {
                return Err(PrimeError::TooFew { needed: count, available: found.len(), bits, step });
            }
            (Some(b), a) if a.is_none_or(|a| centre.abs_diff(b) <= a.abs_diff(centre)) => {
                below = b.checked_sub(step);
                b
            }
            (_, Some(a)) => {
                above = a.checked_add(step);
                a
            }
            (Some(b), None) => b,
        };
        if is_prime(candidate) && !avoid.contains(&candidate) {
            found.push(candidate);
        }
    }
    Ok(found)
}

/// An element of multiplicative order exactly `order` modulo the prime `m`: the power of the smallest base that has it.
///
/// # Errors
/// [`PrimeError::NoSuchOrder`] unless `order` divides q - 1.
pub fn element_of_order(order: u64, m: &Modulus) -> Result<u64, PrimeError> {
    let group = m.value() - 1;
    let unavailable = PrimeError::NoSuchOrder { order, modulus: m.value() };
    if order == 0 || !group.is_multiple_of(order) {
        return Err(unavailable);
    }
    let factors = prime_factors(order);
    (2..m.value())
        .map(|base| m.pow(base, group / order))
        .find(|&x| factors.iter().all(|f| m.pow(x, order / f) != 1))
        .ok_or(unavailable)
}

/// The smallest generator of the multiplicative group modulo the prime p.
pub fn primitive_root(p: u64) -> u64 {
    let factors = prime_factors(p - 1);
    (1..p).find(|&g| factors.iter().all(|f| pow_wide(g, (p - 1) / f, p) != 1)).unwrap_or(1)
}

/// The distinct prime factors of n in increasing order, by trial division: for small n.
pub fn prime_factors(n: u64) -> Vec<u64> {
    let mut factors = factor(n);
    factors.dedup();
    factors
}

/// The prime factorization of n, with repetitions, in increasing order, by trial division: for small n.
pub fn factor(mut n: u64) -> Vec<u64> {
    let mut factors = Vec::new();
    let mut d = 2;
    while d * d <= n {
        while n.is_multiple_of(d) {
            factors.push(d);
            n /= d;
        }
        d += 1;
    }
    if n > 1 {
        factors.push(n);
    }
    factors
}

/// Least common multiple, `None` on overflow.
pub fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}

fn mul_wide(a: u64, b: u64, n: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(n)) as u64
}

fn pow_wide(mut a: u64, mut e: u64, n: u64) -> u64 {
    let mut result = 1 % n;
    while e > 0 {
        if e & 1 == 1 {
            result = mul_wide(result, a, n);
        }
        a = mul_wide(a, a, n);
        e >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primality_agrees_with_trial_division() {
        for n in 0..5000u64 {
            assert_eq!(is_prime(n), n > 1 && factor(n) == [n], "{n}");
        }
        assert!(is_prime((1 << 61) - 1));
        assert!(!is_prime(3_215_031_751), "strong pseudoprime to bases 2, 3, 5, 7");
        assert!(!is_prime(u64::MAX));
    }

    #[test]
    fn primes_are_nearest_first() {
        let (bits, step) = (20, 1 << 10);
        let primes = primes_near(bits, step, 5, &[]).expect("enough");
        let distance = |q: u64| q.abs_diff(1 << bits);
        assert!(primes.windows(2).all(|w| distance(w[0]) <= distance(w[1])));
        assert!(primes.iter().all(|&q| is_prime(q) && q % step == 1));
        let closer = (1u64 << 19..1 << 21).filter(|&q| q % step == 1 && is_prime(q));
        assert_eq!(closer.filter(|&q| distance(q) <= distance(primes[4])).count(), 5);
        let rest = primes_near(bits, step, 2, &primes[..3]).expect("enough");
        assert_eq!(rest, primes[3..]);
    }

    #[test]
    fn exhausted_window_is_an_error() {
        let error = primes_near(12, 1 << 10, 10, &[]).expect_err("too many asked for");
        assert!(matches!(error, PrimeError::TooFew { needed: 10, .. }), "{error}");
    }

    #[test]
    fn orders_are_exact() {
        let m = Modulus::new(primes_near(40, 65792, 1, &[]).expect("one")[0]).expect("in range");
        for order in [1, 2, 256, 257, 65792] {
            let x = element_of_order(order, &m).expect("divides");
            assert_eq!(m.pow(x, order), 1);
            assert!(prime_factors(order).iter().all(|f| m.pow(x, order / f) != 1));
        }
        assert!(element_of_order(3 * 65792 * 1024 * 1024, &m).is_err());
        for (p, g) in [(3, 2), (5, 2), (7, 3), (17, 3), (257, 3), (193, 5)] {
            assert_eq!(primitive_root(p), g);
        }
    }

    #[test]
    fn least_common_multiples() {
        assert_eq!(lcm(256, 257), Some(65792));
        assert_eq!(lcm(12, 18), Some(36));
        assert_eq!(lcm(u64::MAX, 2), None);
    }
}
