//! Interpolation in the Chebyshev points: what libraries make of a degree.
//!
//! Its largest error is close to the best for smooth functions, somewhat larger at the ends of the interval and smaller in the
//! middle, where values tend to gather.

use crate::approximate::remez::{Fit, Target, largest_error};
use std::f64::consts::PI;

/// The polynomial through the values at the `degree + 1` zeros of T_(degree + 1), with the orders of the target only: those of a
/// function with a symmetry are the others' zeros.
pub fn interpolate(target: &Target, degree: usize) -> Fit {
    let count = degree + 1;
    let angle = |j: usize| PI * (j as f64 + 0.5) / count as f64;
    let values: Vec<f64> = (0..count).map(|j| (target.f)(libm::cos(angle(j)))).collect();
    let mut coefficients = vec![0.0; target.orders.last().map_or(1, |k| k + 1)];
    for &k in &target.orders {
        let sum: f64 = (0..count).map(|j| values[j] * libm::cos(k as f64 * angle(j))).sum();
        coefficients[k] = if k == 0 { 1.0 } else { 2.0 } * sum / count as f64;
    }
    let error = largest_error(target, &coefficients);
    Fit { coefficients, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::op::chebyshev;

    #[test]
    fn the_polynomial_goes_through_the_points() {
        let f = |u: f64| libm::exp(u);
        let target = Target { f: &f, low: -1.0, orders: (0..=6).collect(), kinks: vec![] };
        let p = interpolate(&target, 6);
        for j in 0..7 {
            let u = libm::cos(PI * (f64::from(j) + 0.5) / 7.0);
            assert!((f(u) - chebyshev(&p.coefficients, u)).abs() < 1e-14);
        }
        assert!(p.error < 1e-5 && p.error > 1e-7);
    }

    #[test]
    fn symmetries_are_kept() {
        let f = |u: f64| libm::sin(3.0 * u);
        let orders = (1..=8).step_by(2).collect();
        let p = interpolate(&Target { f: &f, low: 0.0, orders, kinks: vec![] }, 8);
        assert!(p.coefficients.len() == 8 && p.error < 1e-3, "{}", p.error);
    }
}
