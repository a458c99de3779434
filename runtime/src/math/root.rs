//! Roots of unity modulo a prime, the same on every machine: values are stored in the order of their powers.

use crate::math::modulus::Modulus;
use plan::prime::prime_factors;
use thiserror::Error;

/// The multiplicative group has no element of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no element of order {order} modulo {modulus}: the order must divide {modulus} - 1")]
pub struct RootError {
    /// order asked for
    pub order: u64,
    /// the prime
    pub modulus: u64,
}

/// An element of multiplicative order exactly `order` modulo the prime `m`: the power of the smallest base that has it.
///
/// # Errors
/// [`RootError`] unless `order` divides q - 1.
pub fn element_of_order(order: u64, m: &Modulus) -> Result<u64, RootError> {
    let group = m.value() - 1;
    let unavailable = RootError { order, modulus: m.value() };
    if order == 0 || !group.is_multiple_of(order) {
        return Err(unavailable);
    }
    let factors = prime_factors(order);
    (2..m.value())
        .map(|base| m.pow(base, group / order))
        .find(|&x| factors.iter().all(|f| m.pow(x, order / f) != 1))
        .ok_or(unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::prime::primes_near;

    #[test]
    fn orders_are_exact() {
        let m = Modulus::new(primes_near(40, 65792, 1, &[]).expect("one")[0]).expect("in range");
        for order in [1, 2, 256, 257, 65792] {
            let x = element_of_order(order, &m).expect("divides");
            assert_eq!(m.pow(x, order), 1);
            assert!(prime_factors(order).iter().all(|f| m.pow(x, order / f) != 1));
        }
        assert!(element_of_order(3 * 65792 * 1024 * 1024, &m).is_err());
    }
}
