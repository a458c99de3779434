//! Primes for RNS moduli: deterministic Miller-Rabin and search near a size.

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
}
