//! Primes for levels and keys.
//!
//! The scale at the highest level is 2^s. Going down, q_l is the prime nearest to S_l^2 / 2^s, so that S_(l-1) = S_l^2 / q_l comes
//! back to 2^s and scales do not drift. q_0 is as large as the largest value of any level needs; the special primes together
//! are at least eight times the largest digit.

use crate::analysis::noise::SPECIAL_MARGIN;
use crate::lower::error::PlanError;
use plan::prime::nearest_prime;
use plan::{Params, RingSpec, params::ParamsError, security::SecurityLevel};

/// Bits between a value at its scale and half of its modulus.
pub const VALUE_MARGIN_BITS: f64 = 2.0;
/// Largest modulus of one prime, in bits.
pub const MAX_PRIME_BITS: f64 = 60.0;
/// Largest special prime, in bits: vector kernels take moduli below 2^49.
const MAX_SPECIAL_BITS: f64 = 48.0;
/// Largest distance of a scale from 2^s, in bits.
const MAX_DRIFT_BITS: f64 = 0.5;

/// What the moduli must do.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// ring of the secret
    pub ring: RingSpec,
    /// bits of security
    pub security: u32,
    /// scale at the highest level, in bits
    pub log_scale: f64,
    /// for every level the largest absolute value there; its length is the number of limbs
    pub largest: Vec<f64>,
    /// for rings without security
    pub insecure: bool,
}

/// log2 of q_0: at every level l the modulus q_0 .. q_l exceeds twice the largest value at its scale by the margin. The other
/// primes count as 2^s each.
pub fn base_bits(log_scale: f64, largest: &[f64]) -> f64 {
    let of = |(l, &v): (usize, &f64)| {
        log_scale * (1.0 - l as f64) + log2_at_least_one(v) + 1.0 + VALUE_MARGIN_BITS
    };
    largest.iter().enumerate().map(of).fold(log_scale + 1.0 + VALUE_MARGIN_BITS, f64::max)
}

fn log2_at_least_one(v: f64) -> f64 {
    libm::log2(v.max(1.0))
}

/// Bits of the special primes for digits of `alpha` primes, and how many there are.
pub fn special_bits(base: f64, log_scale: f64, limbs: usize, alpha: usize) -> (f64, usize) {
    let digit = |first: f64, count: usize| first + log_scale * (count - 1) as f64;
    let largest = if alpha >= limbs { digit(base, limbs) } else { digit(base.max(log_scale), alpha) };
    let bits = largest + libm::log2(SPECIAL_MARGIN) + 0.5;
    (bits, (bits / MAX_SPECIAL_BITS).ceil() as usize)
}

/// log2(PQ) that a demand takes with digits of `alpha` primes, before primes are known.
pub fn log_pq(base: f64, log_scale: f64, limbs: usize, alpha: usize) -> f64 {
    base + log_scale * (limbs - 1) as f64 + special_bits(base, log_scale, limbs, alpha).0
}

/// Parameters for a demand with digits of `alpha` primes.
///
/// # Errors
/// When the ring has no primes of the sizes needed, or they are not secure after all.
pub fn choose(demand: &Demand, alpha: usize) -> Result<Params, PlanError> {
    let limbs = demand.largest.len();
    let base = base_bits(demand.log_scale, &demand.largest);
    let mut search = Search { ring: demand.ring, taken: Vec::new() };
    let target = libm::exp2(demand.log_scale);
    let mut scale = target;
    let mut q = Vec::with_capacity(limbs);
    for _ in 1..limbs {
        let prime = search.near(libm::log2(scale * scale / target))?;
        scale = scale * scale / prime as f64;
        if libm::fabs(libm::log2(scale) - demand.log_scale) > MAX_DRIFT_BITS {
            return Err(search.none(demand.log_scale));
        }
        q.push(prime);
    }
    q.push(search.near(base + 0.05)?);
    q.reverse();
    let (bits, count) = special_bits(base, demand.log_scale, limbs, alpha);
    let special = (0..count).map(|_| search.near(bits / count as f64)).collect::<Result<Vec<u64>, _>>()?;
    let scale = Params::canonical_scales(&q, target);
    let security = SecurityLevel { bits: demand.security };
    let digit = alpha;
    let (ring, insecure) = (demand.ring, demand.insecure);
    let params = Params { ring, q, special, digit, scale, security, insecure, bootstrap: None };
    match params.check() {
        Ok(()) => Ok(params),
        Err(ParamsError::Insecure { log_pq, .. }) => Err(search.none(log_pq)),
        Err(e) => Err(PlanError::Unsupported(e.to_string(), None)),
    }
}

struct Search {
    ring: RingSpec,
    taken: Vec<u64>,
}

impl Search {
    fn near(&mut self, bits: f64) -> Result<u64, PlanError> {
        let found = nearest_prime(libm::exp2(bits) as u64, self.ring.modulus_step(), 1 << 61, &self.taken);
        let prime = found
            .filter(|&p| libm::fabs(libm::log2(p as f64) - bits) < 1.0)
            .ok_or_else(|| self.none(bits))?;
        self.taken.push(prime);
        Ok(prime)
    }

    fn none(&self, bits: f64) -> PlanError {
        PlanError::NoPrimes { bits, step: self.ring.modulus_step(), degree: self.ring.degree() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(ring: RingSpec, log_scale: f64, largest: &[f64]) -> Demand {
        Demand { ring, security: 128, log_scale, largest: largest.to_vec(), insecure: false }
    }

    #[test]
    fn scales_do_not_drift_and_values_fit() {
        for ring in [RingSpec::PowerOfTwo { log_n: 15 }, RingSpec::Gl { n: 64, p: 257 }] {
            let largest = [1.0, 1000.0, 3.0, 0.5, 1e9, 1.0, 1.0, 1.0];
            let params = choose(&demand(ring, 40.0, &largest), 2).unwrap();
            params.check().unwrap();
            let mut modulus = 0.0;
            for (l, v) in largest.iter().enumerate() {
                modulus += libm::log2(params.q[l] as f64);
                let drift = libm::log2(params.scale[l]) - 40.0;
                assert!(drift.abs() < 0.01, "{drift}");
                assert!(modulus >= libm::log2(params.scale[l] * v.max(1.0)) + 1.0 + VALUE_MARGIN_BITS - 0.01);
            }
            let digit: f64 = params.q[..2].iter().map(|&q| libm::log2(q as f64)).sum();
            let special: f64 = params.special.iter().map(|&q| libm::log2(q as f64)).sum();
            assert!(special >= digit + 3.0);
            let estimate = log_pq(base_bits(40.0, &largest), 40.0, 8, 2);
            assert!((params.log_pq() - estimate).abs() < 0.5, "{} {estimate}", params.log_pq());
        }
    }

    #[test]
    fn large_values_make_the_base_large() {
        assert_eq!(base_bits(40.0, &[1.0, 1.0]), 43.0);
        assert_eq!(base_bits(40.0, &[1.0, 2f64.powi(50)]), 53.0);
        assert_eq!(base_bits(35.0, &[1024.0]), 48.0);
    }
}
