//! Parameters: the scale that the wanted precision needs, and moduli for it in a ring.

pub mod moduli;

use crate::cost::CostModel;
use crate::lower::error::PlanError;
use moduli::{Demand, MAX_PRIME_BITS, VALUE_MARGIN_BITS, base_bits, log_pq, special_bits};
use plan::{Params, security};

/// Smallest useful scale, in bits: taken only when values are too large for more.
pub const MIN_LOG_SCALE: u32 = 30;
/// Smallest scale by default.
pub const LOW_LOG_SCALE: u32 = 35;
/// Largest scale.
pub const MAX_LOG_SCALE: u32 = 50;
/// Bits between the predicted error and the wanted precision.
pub const PRECISION_MARGIN_BITS: f64 = 2.0;

/// What an output wants, and what is predicted at the nominal scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// largest absolute error
    pub precision: f64,
    /// error by approximations
    pub approximation: f64,
    /// largest error by noise, at a scale of one bit
    pub noise_at_one: f64,
}

impl Wish {
    /// Bits of scale that meet the precision with the margin. Where approximations take more than three quarters of it, noise
    /// may take an eighth: it is not what to save on.
    fn log_scale(&self) -> f64 {
        let margin = libm::exp2(PRECISION_MARGIN_BITS);
        let left = self.precision - self.approximation;
        let allowed = if left >= self.precision / margin { left / margin } else { self.precision / 8.0 };
        libm::log2(self.noise_at_one / allowed)
    }
}

/// The smallest scale that meets every wish, within the limits that precision and the largest values set.
pub fn log_scale(wishes: &[Wish], largest: &[f64]) -> u32 {
    let wanted = wishes.iter().map(Wish::log_scale).fold(0.0, f64::max);
    let wanted = (libm::ceil(wanted.min(f64::from(MAX_LOG_SCALE))) as u32).max(LOW_LOG_SCALE);
    let fits = |s: u32| base_bits(f64::from(s), largest) <= MAX_PRIME_BITS;
    (MIN_LOG_SCALE..=wanted).rev().find(|&s| fits(s)).unwrap_or(MIN_LOG_SCALE)
}

/// Largest absolute value that fits at level 0 at the smallest useful scale.
pub fn largest_value() -> f64 {
    libm::exp2(MAX_PRIME_BITS - f64::from(MIN_LOG_SCALE) - 1.0 - VALUE_MARGIN_BITS)
}

/// log2(PQ) of a demand with one prime a digit: the least a ring must admit.
pub fn least_log_pq(demand: &Demand) -> f64 {
    let base = base_bits(demand.log_scale, &demand.largest);
    (1..=demand.largest.len())
        .map(|alpha| log_pq(base, demand.log_scale, demand.largest.len(), alpha))
        .fold(f64::INFINITY, f64::min)
}

/// Moduli for a demand: of the digit sizes that are secure, the one with the cheapest key switches. `switches` counts them by
/// level.
///
/// # Errors
/// When no digit size has primes that are secure in the ring.
pub fn select(demand: &Demand, switches: &[u64], cost: &CostModel) -> Result<Params, PlanError> {
    let limbs = demand.largest.len();
    let base = base_bits(demand.log_scale, &demand.largest);
    let bound = security::max_log_pq(demand.ring.degree(), demand.security).unwrap_or(0.0);
    let mut sizes: Vec<(f64, usize)> = (1..=limbs)
        .filter(|&alpha| demand.insecure || log_pq(base, demand.log_scale, limbs, alpha) <= bound)
        .map(|alpha| {
            let special = special_bits(base, demand.log_scale, limbs, alpha).1 as f64;
            let model = CostModel { special, digit: alpha as f64, ..*cost };
            let by_level = switches.iter().enumerate();
            (by_level.map(|(l, &n)| n as f64 * model.key_switch(l as f64 + 1.0)).sum(), alpha)
        })
        .collect();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let none = PlanError::NoPrimes {
        bits: demand.log_scale,
        step: demand.ring.modulus_step(),
        degree: demand.ring.degree(),
    };
    sizes.into_iter().map(|(_, alpha)| moduli::choose(demand, alpha)).find(Result::is_ok).unwrap_or(Err(none))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_follows_precision_and_range() {
        let wish = |precision: f64, noise: f64| Wish { precision, approximation: 0.0, noise_at_one: noise };
        assert_eq!(log_scale(&[wish(1e-3, 1e4)], &[1.0]), LOW_LOG_SCALE);
        assert_eq!(log_scale(&[wish(1e-6, 1e5)], &[1.0]), 39);
        assert_eq!(log_scale(&[wish(1e-12, 1e5)], &[1.0]), MAX_LOG_SCALE);
        assert_eq!(log_scale(&[wish(1e-6, 1e5)], &[2f64.powi(25)]), 32);
        assert_eq!(log_scale(&[], &[largest_value()]), MIN_LOG_SCALE);
    }
}
