//! How well a polynomial of a degree can approximate a function at all.
//!
//! For every polynomial p of degree d and every k > d, the Chebyshev coefficient c_k of f is also that of f - p, and
//! |c_k| <= 4/pi max |f - p|. So pi/4 |c_k| bounds the error of the best polynomial from below (Rivlin, The Chebyshev
//! Polynomials, 1974, section 2.4).

use crate::analysis::interval::Range;
use plan::Function;
use std::f64::consts::PI;

/// How many coefficients beyond the degree are looked at.
const LOOK_AHEAD: usize = 4;

/// A lower bound of the largest error on an interval of any polynomial of that degree, safe against the error of the
/// quadrature for functions that are smooth at the scale of the samples.
pub fn least_error(f: impl Fn(f64) -> f64, range: Range, degree: usize) -> f64 {
    let samples = 8 * (degree + LOOK_AHEAD) + 64;
    let (middle, half) = (range.low / 2.0 + range.high / 2.0, range.high / 2.0 - range.low / 2.0);
    let angle = |j: usize| PI * (j as f64 + 0.5) / samples as f64;
    let cos = |t: f64| Function::Cos.eval(t);
    let values: Vec<f64> = (0..samples).map(|j| f(middle + half * cos(angle(j)))).collect();
    let coefficient = |k: usize| {
        let sum: f64 = (0..samples).map(|j| values[j] * cos(k as f64 * angle(j))).sum();
        (2.0 / samples as f64 * sum).abs()
    };
    let rounding = 1e-13 * values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let largest = (degree + 1..=degree + LOOK_AHEAD).map(coefficient).fold(0.0, f64::max);
    (PI / 4.0 * largest - rounding).max(0.0) * 0.99
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_lie_below_the_best_error() {
        // the best line on [-1, 1] for x^2 is 1/2; for exp its error is 0.2788
        let unit = Range::new(-1.0, 1.0);
        let square = least_error(|x| x * x, unit, 1);
        assert!((0.35..=0.5).contains(&square), "{square}");
        let exp = least_error(|x| Function::Exp.eval(x), unit, 1);
        assert!((0.2..=0.2788).contains(&exp), "{exp}");
        assert!(least_error(|x| x * x, unit, 2) < 1e-12);
        // the best error for |x| of degree n tends to 0.2801 / n (Bernstein)
        let abs = least_error(f64::abs, unit, 10);
        assert!((0.005..=0.0281).contains(&abs), "{abs}");
    }
}
