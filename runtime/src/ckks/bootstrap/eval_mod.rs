//! Removing multiples of q_0 slot by slot: x mod 1 for x near integers of at most [`RANGE`] in absolute value.
//!
//! E = e^(2 pi i x) is a Chebyshev series in x / RANGE of e^(2 pi i x / 8) and three squarings. Then (8 - E) E has the
//! imaginary part 8 sin a - sin 2a, a = 2 pi x: six times a without the cubic term, so that
//!
//!   (F - conj F) / i = 24 pi (x mod 1) + O(a^5),    F = (8 - E) E,
//!
//! at the cost of one level and no second polynomial. The distance of x to its integer stays below 2^-MIN_LOG_RATIO.
//!
//! References: Cheon et al. 2018/153 (the exponential); Han, Ki 2019/688 (few squarings after a short series).

use crate::ckks::{Ciphertext, Ckks, CkksError};
use crate::math::fft::Complex;
use crate::rlwe::EvaluationKeys;
use plan::bootstrap::{DEGREE, DOUBLINGS, RANGE};

/// Points of the quadrature of Bessel functions: exact to the last bits for orders and arguments far below it.
const QUADRATURE: usize = 256;

/// (F - conj F) / i for real slots x / RANGE, at the level that is left after all primes of eval-mod, with the scale of F.
///
/// # Errors
/// When levels or keys are missing.
pub(super) fn eval_mod(ckks: &Ckks, x: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext, CkksError> {
    let after = x.level().saturating_sub(crate::ckks::polynomial::depth(DEGREE + 1));
    let mut e = ckks.chebyshev(x, &exponential(), ckks.scale(after)?, keys)?;
    for _ in 0..DOUBLINGS {
        e = ckks.square(&e, keys)?;
    }
    let rest = ckks.add_constant(&ckks.neg(&e), Complex::new(8.0, 0.0))?;
    let f = ckks.mul(&rest, &e, keys)?;
    let conjugate = ckks.conjugate(&f, keys)?;
    // times -i
    Ok(ckks.neg(&ckks.mul_imaginary(&ckks.sub(&f, &conjugate)?)))
}

/// Coefficients of e^(2 pi i RANGE u / 2^DOUBLINGS) on [-1, 1]: those of T_k are i^k J_k(w), doubled but for k = 0 (Jacobi, Anger).
fn exponential() -> Vec<Complex> {
    let w = std::f64::consts::TAU * f64::from(RANGE) / f64::from(1 << DOUBLINGS);
    let power = |k: usize| [Complex::ONE, Complex::I, -Complex::ONE, -Complex::I][k % 4];
    (0..=DEGREE).map(|k| power(k).scale(bessel(k, w) * if k == 0 { 1.0 } else { 2.0 })).collect()
}

/// J_k(w) = 1/pi integral over [0, pi] of cos(k t - w sin t), by the midpoint rule.
fn bessel(k: usize, w: f64) -> f64 {
    let at = |i: usize| {
        let t = std::f64::consts::PI * (i as f64 + 0.5) / QUADRATURE as f64;
        libm::cos(k as f64 * t - w * libm::sin(t))
    };
    (0..QUADRATURE).map(at).sum::<f64>() / QUADRATURE as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn bessel_functions_at_known_points() {
        assert!((bessel(0, 1.0) - 0.765_197_686_557_966_6).abs() < 1e-14);
        assert!((bessel(1, 2.5) - 0.497_094_102_464_274).abs() < 1e-14);
    }

    #[test]
    fn the_series_is_exact_to_2_to_the_minus_27() {
        let coefficients = exponential();
        for i in 0..=1000 {
            let u = f64::from(i) / 500.0 - 1.0;
            let term = |(k, c): (usize, &Complex)| c.scale((k as f64 * u.acos()).cos());
            let sum = coefficients.iter().enumerate().map(term).fold(Complex::ZERO, |s, t| s + t);
            let angle = TAU * f64::from(RANGE) / 8.0 * u;
            let error = (sum - Complex::new(angle.cos(), angle.sin())).abs();
            assert!(error < 2f64.powi(-27), "{u}: 2^{}", error.log2());
        }
    }

    #[test]
    fn the_cubic_term_is_gone() {
        for log_distance in [-5.0, -6.5, -7.0_f64] {
            let x = log_distance.exp2();
            let (sin, sin2) = ((TAU * x).sin(), (2.0 * TAU * x).sin());
            let found = 2.0 * (8.0 * sin - sin2) / (24.0 * std::f64::consts::PI);
            // sin: a^5/120, times 8/6 - 32/6 of it: -a^5/30, over a
            let relative = (found - x) / x;
            let predicted = -(TAU * x).powi(4) / 30.0;
            assert!((relative / predicted - 1.0).abs() < 0.05, "{relative} {predicted}");
        }
    }
}
