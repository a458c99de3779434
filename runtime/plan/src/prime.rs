//! Primes for RNS moduli: deterministic Miller-Rabin, search near a size, factors and generators of small numbers.
//!
//! The same request gives the same primes on every machine, which the file formats rely on.

fn mul_mod(a: u64, b: u64, q: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(q)) as u64
}

fn pow_mod(mut b: u64, mut e: u64, q: u64) -> u64 {
    let mut r = 1;
    while e > 0 {
        if e & 1 == 1 {
            r = mul_mod(r, b, q);
        }
        b = mul_mod(b, b, q);
        e >>= 1;
    }
    r
}

/// Primality of any u64: Miller-Rabin with the first twelve primes as bases, which is exact below 2^64 (Sorenson, Webster 2015).
pub fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    if let Some(&d) = BASES.iter().find(|&&d| n.is_multiple_of(d)) {
        return n == d;
    }
    let s = (n - 1).trailing_zeros();
    BASES.iter().all(|&a| {
        let mut x = pow_mod(a, (n - 1) >> s, n);
        x == 1
            || (0..s).any(|_| {
                let found = x == n - 1;
                x = mul_mod(x, x, n);
                found
            })
    })
}

/// The prime nearest to `target` that is 1 modulo `step`, at least `step`, below `limit`, and not in `taken`; ties go down.
/// None when there is no such prime.
pub fn nearest_prime(target: u64, step: u64, limit: u64, taken: &[u64]) -> Option<u64> {
    let base = target / step * step + 1;
    let good = |c: u64| c > step && c < limit && !taken.contains(&c) && is_prime(c);
    for k in 0..limit / step + 1 {
        let up = base.checked_add((k + 1) * step);
        let down = base.checked_sub(k * step);
        let mut pair = [down, up];
        if up.is_some_and(|u| u.abs_diff(target) < base.saturating_sub(k * step).abs_diff(target)) {
            pair.swap(0, 1);
        }
        if let Some(c) = pair.into_iter().flatten().find(|&c| good(c)) {
            return Some(c);
        }
        if down.is_none() && up.is_none_or(|u| u >= limit) {
            return None;
        }
    }
    None
}

/// The largest prime below `limit` that is 1 modulo `step` and not in `taken`.
pub fn prime_below(limit: u64, step: u64, taken: &[u64]) -> Option<u64> {
    let mut c = (limit - 2) / step * step + 1;
    while c > step {
        if !taken.contains(&c) && is_prime(c) {
            return Some(c);
        }
        c -= step;
    }
    None
}

/// The `count` primes nearest to 2^`bits` that are 1 modulo `step` and not in `taken`, nearest first, each within a factor of
/// two and below 2^61. None when there are fewer.
pub fn primes_near(bits: u32, step: u64, count: usize, taken: &[u64]) -> Option<Vec<u64>> {
    let (centre, mut taken) = (1u64 << bits.min(60), taken.to_vec());
    let limit = (2 * centre).min(1 << 61);
    let next = |_| {
        let prime = nearest_prime(centre, step, limit, &taken).filter(|&p| p >= centre / 2)?;
        taken.push(prime);
        Some(prime)
    };
    (0..count).map(next).collect()
}

/// The smallest generator of the multiplicative group modulo the prime p.
pub fn primitive_root(p: u64) -> u64 {
    let factors = prime_factors(p - 1);
    (1..p).find(|&g| factors.iter().all(|f| pow_mod(g, (p - 1) / f, p) != 1)).unwrap_or(1)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primality_is_exact() {
        let sieve: Vec<u64> =
            (2..2000u64).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).collect();
        assert_eq!((0..2000).filter(|&n| is_prime(n)).collect::<Vec<_>>(), sieve);
        assert!(
            is_prime(0xffff_ffff_ffff_ffc5) && !is_prime(3_215_031_751) && !is_prime(341_550_071_728_321)
        );
    }

    #[test]
    fn search_stays_near_and_in_class() {
        let step = 1 << 16;
        let p = nearest_prime(1 << 40, step, 1 << 61, &[]).unwrap();
        let r = nearest_prime(1 << 40, step, 1 << 61, &[p]).unwrap();
        assert!(p != r && p % step == 1 && r % step == 1 && p.abs_diff(1 << 40) <= r.abs_diff(1 << 40));
        assert!(prime_below(1 << 50, step, &[]).unwrap() < 1 << 50);
        assert_eq!(nearest_prime(100, 1 << 20, 200, &[]), None);
    }

    #[test]
    fn primes_are_nearest_first() {
        let (bits, step) = (20, 1 << 10);
        let primes = primes_near(bits, step, 5, &[]).unwrap();
        let distance = |q: u64| q.abs_diff(1 << bits);
        assert!(primes.windows(2).all(|w| distance(w[0]) <= distance(w[1])));
        assert!(primes.iter().all(|&q| is_prime(q) && q % step == 1));
        let closer = (1u64 << 19..1 << 21).filter(|&q| q % step == 1 && is_prime(q));
        assert_eq!(closer.filter(|&q| distance(q) <= distance(primes[4])).count(), 5);
        assert_eq!(primes_near(bits, step, 2, &primes[..3]).unwrap(), primes[3..]);
        assert_eq!(primes_near(12, 1 << 10, 10, &[]), None);
    }

    #[test]
    fn small_numbers() {
        for n in 0..5000u64 {
            assert_eq!(is_prime(n), n > 1 && factor(n) == [n], "{n}");
        }
        for (p, g) in [(3, 2), (5, 2), (7, 3), (17, 3), (257, 3), (193, 5)] {
            assert_eq!(primitive_root(p), g);
        }
        assert_eq!((lcm(256, 257), lcm(12, 18), lcm(u64::MAX, 2)), (Some(65792), Some(36), None));
    }
}
