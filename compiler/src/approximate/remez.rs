//! Best approximation by polynomials in the largest error: the second algorithm of Remez, all points exchanged at once.
//!
//! The polynomial is a combination of chosen Chebyshev polynomials, so that even and odd functions keep their symmetry and
//! are fitted on half of the interval, and a jump can be left out. Peaks of the error are found on a grid and located between
//! its points; the error that is reported is the highest of them. Nothing here depends on the machine: cosines are those of
//! `libm`.
//!
//! Reference: Remez, "Sur le calcul effectif des polynomes d'approximation de Tchebichef" (1934); Pachon and Trefethen,
//! "Barycentric-Remez algorithms for best polynomial approximation in the chebfun system" (2009).

use plan::op::chebyshev;
use std::f64::consts::PI;

/// What is to be approximated, in the variable of the Chebyshev polynomials.
pub struct Target<'f> {
    /// the function on `[low, 1]`
    pub f: &'f dyn Fn(f64) -> f64,
    /// start of the interval that ends at 1: -1, or at least 0 when all orders have one parity
    pub low: f64,
    /// orders of the Chebyshev polynomials to combine, increasing
    pub orders: Vec<usize>,
    /// points where the function has no derivative
    pub kinks: Vec<f64>,
}

/// A polynomial and what it misses.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// coefficients of T_0, T_1, ..
    pub coefficients: Vec<f64>,
    /// largest absolute error on the interval, measured and rounded up
    pub error: f64,
}

/// Grid points for one degree: an oscillation of the error has a dozen at least.
const GRID: usize = 24;
/// Exchanges after which the best polynomial so far is taken.
const ROUNDS: usize = 24;
/// The exchange ends when the largest error is within this factor of the levelled one.
const LEVELLED: f64 = 1.0 + 1e-5;
/// Steps of a golden section: they place a peak to 2^-20 of the grid, and its height to 2^-40 of itself.
const SECTIONS: usize = 30;
/// Room for what a located peak can still miss.
const ALLOWANCE: f64 = 1.0 + 1e-7;

/// The best polynomial, or one close to it.
pub fn minimax(target: &Target) -> Fit {
    let grid = grid(target);
    let values: Vec<f64> = grid.iter().map(|&u| (target.f)(u)).collect();
    let mut reference = first_reference(target, &grid);
    let mut best = Fit { coefficients: vec![0.0], error: f64::INFINITY };
    for _ in 0..ROUNDS {
        let Some((coefficients, level)) = levelled(target, &reference) else { break };
        let peaks = peaks(target, &grid, &values, &coefficients);
        let error = peaks.iter().fold(0.0, |m: f64, p| m.max(p.error.abs())) * ALLOWANCE;
        if error < best.error {
            best = Fit { coefficients, error };
        }
        if error <= level.abs() * LEVELLED * ALLOWANCE {
            break;
        }
        match exchanged(&peaks, reference.len()) {
            Some(next) if next != reference => reference = next,
            _ => break,
        }
    }
    best
}

/// Largest absolute error of a polynomial on the interval, rounded up.
pub fn largest_error(target: &Target, coefficients: &[f64]) -> f64 {
    let grid = grid(target);
    let values: Vec<f64> = grid.iter().map(|&u| (target.f)(u)).collect();
    let peaks = peaks(target, &grid, &values, coefficients);
    peaks.iter().fold(0.0, |m: f64, p| m.max(p.error.abs())) * ALLOWANCE
}

/// A place where the error is largest for its sign.
#[derive(Clone, Copy)]
struct Peak {
    u: f64,
    error: f64,
}

/// The largest error of every stretch of one sign: found on the grid, then located between the neighbours.
fn peaks(t: &Target, grid: &[f64], values: &[f64], coefficients: &[f64]) -> Vec<Peak> {
    let errors: Vec<f64> = grid.iter().zip(values).map(|(&u, v)| v - chebyshev(coefficients, u)).collect();
    let mut highest: Vec<usize> = vec![];
    for (i, e) in errors.iter().enumerate() {
        match highest.last_mut() {
            Some(last) if (errors[*last] >= 0.0) == (*e >= 0.0) => {
                if e.abs() > errors[*last].abs() {
                    *last = i;
                }
            }
            _ => highest.push(i),
        }
    }
    let locate = |i: usize| {
        let sign = if errors[i] >= 0.0 { 1.0 } else { -1.0 };
        let height = |u: f64| sign * ((t.f)(u) - chebyshev(coefficients, u));
        let (right, left) = (grid[i.saturating_sub(1)], grid[(i + 1).min(grid.len() - 1)]);
        let u = golden_section(&height, left, right);
        let found = Peak { u, error: sign * height(u) };
        if found.error.abs() > errors[i].abs() { found } else { Peak { u: grid[i], error: errors[i] } }
    };
    highest.into_iter().map(locate).collect()
}

/// Where a function with one hill on an interval is highest.
fn golden_section(f: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_8;
    let (mut a, mut b) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..SECTIONS {
        if at_a > at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - RATIO * (high - low);
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + RATIO * (high - low);
            at_b = f(b);
        }
    }
    if at_a > at_b { a } else { b }
}

/// Decreasing points, distributed as the peaks of the best error are in the long run: u = cos(angle) on [-1, 1], and on the
/// positive side, where polynomials of one parity are polynomials in u^2, `u^2 = middle + half cos(angle)`.
fn grid(t: &Target) -> Vec<f64> {
    let degree = t.orders.last().copied().unwrap_or(0);
    let steps = GRID * (degree + 4);
    let (middle, half) = ((1.0 + t.low * t.low) / 2.0, (1.0 - t.low * t.low) / 2.0);
    let point = |i: usize| {
        let c = libm::cos(PI * i as f64 / steps as f64);
        if t.low < 0.0 { c } else { (middle + half * c).max(0.0).sqrt() }
    };
    let mut points: Vec<f64> = (1..steps).map(point).chain(t.kinks.iter().copied()).collect();
    points.retain(|&u| u > t.low && u < 1.0);
    points.extend([t.low, 1.0]);
    points.sort_by(|a, b| b.total_cmp(a));
    points.dedup();
    points
}

/// Every so many grid points, from end to end; odd polynomials know their value at 0, so that their last point lies before it.
fn first_reference(t: &Target, grid: &[f64]) -> Vec<f64> {
    let knows_zero = t.low == 0.0 && t.orders.first().is_some_and(|k| k % 2 == 1);
    let steps = 2 * t.orders.len() + usize::from(knows_zero);
    (0..=t.orders.len()).map(|i| grid[2 * i * (grid.len() - 1) / steps.max(1)]).collect()
}

/// The polynomial whose error at the reference points is `level` with alternating sign.
fn levelled(t: &Target, reference: &[f64]) -> Option<(Vec<f64>, f64)> {
    let rows = reference.iter().enumerate().map(|(i, &u)| {
        let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
        let all = chebyshev_values(u, t.orders.last().copied().unwrap_or(0));
        t.orders.iter().map(|&k| all[k]).chain([sign, (t.f)(u)]).collect()
    });
    let solution = solve(rows.collect())?;
    let (level, own) = solution.split_last()?;
    let mut coefficients = vec![0.0; t.orders.last().map_or(1, |k| k + 1)];
    t.orders.iter().zip(own).for_each(|(&k, &c)| coefficients[k] = c);
    Some((coefficients, *level))
}

/// T_0(u), .., T_degree(u).
fn chebyshev_values(u: f64, degree: usize) -> Vec<f64> {
    let mut t = vec![1.0, u];
    for k in 2..=degree {
        t.push(2.0 * u * t[k - 1] - t[k - 2]);
    }
    t
}

/// Solves a square system given by rows with the right side last; None if it is singular.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        let (upper, lower) = rows.split_at_mut(column + 1);
        let top = &upper[column];
        if top[column] == 0.0 || !top[column].is_finite() {
            return None;
        }
        for row in lower {
            let factor = row[column] / top[column];
            if factor != 0.0 {
                row[column..].iter_mut().zip(&top[column..]).for_each(|(x, t)| *x -= factor * t);
            }
        }
    }
    let mut solution = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| rows[i][j] * solution[j]).sum();
        solution[i] = (rows[i][n] - known) / rows[i][i];
    }
    solution.iter().all(|x| x.is_finite()).then_some(solution)
}

/// The next reference: all peaks, the smaller end dropped while there are too many. None if the error changes sign too rarely,
/// which is a matter of rounding or of a symmetry that was not declared.
fn exchanged(peaks: &[Peak], count: usize) -> Option<Vec<f64>> {
    let mut kept = peaks;
    while kept.len() > count {
        let first_is_smaller = kept[0].error.abs() < kept[kept.len() - 1].error.abs();
        kept = if first_is_smaller { &kept[1..] } else { &kept[..kept.len() - 1] };
    }
    (kept.len() == count).then(|| kept.iter().map(|p| p.u).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(f: &dyn Fn(f64) -> f64, low: f64, orders: Vec<usize>, kinks: Vec<f64>) -> Fit {
        minimax(&Target { f, low, orders, kinks })
    }

    #[test]
    fn known_best_approximations() {
        // x^n is best approximated by lower degrees with error 2^(1 - n)
        let f = |u: f64| u.powi(6);
        let p = fit(&f, -1.0, (0..6).collect(), vec![]);
        assert!((p.error * 32.0 - 1.0).abs() < 2e-3, "{p:?}");
        // Bernstein: n E_n(|x|) tends to 0.2801694990
        let p = fit(&f64::abs, 0.0, (0..=40).step_by(2).collect(), vec![]);
        assert!((p.error * 40.0 - 0.2801).abs() < 2e-3, "{}", p.error * 40.0);
        // the same on the whole interval, where the error has more peaks than the exchange needs
        let p = fit(&f64::abs, -1.0, (0..=40).collect(), vec![0.0]);
        assert!((p.error * 40.0 - 0.2801).abs() < 3e-3, "{}", p.error * 40.0);
    }

    #[test]
    fn a_jump_is_left_out() {
        let p = fit(&|_| 1.0, 0.1, (1..=31).step_by(2).collect(), vec![]);
        let at = |u: f64| (1.0 - chebyshev(&p.coefficients, u)).abs();
        assert!((0..=5000).all(|i| at(0.1 + 0.9 * f64::from(i) / 5000.0) <= p.error));
        assert!(p.error < 0.03 && at(0.1) > 0.9 * p.error, "{}", p.error);
    }

    #[test]
    fn odd_functions_are_levelled() {
        let p = fit(&|u| libm::tanh(4.0 * u), 0.0, (1..=17).step_by(2).collect(), vec![]);
        let errors = (0..=4000).map(|i| f64::from(i) / 4000.0);
        let signs: Vec<bool> = errors
            .map(|u| libm::tanh(4.0 * u) - chebyshev(&p.coefficients, u))
            .filter(|e| e.abs() > 0.98 * p.error)
            .map(|e| e > 0.0)
            .collect();
        let alternations = signs.windows(2).filter(|w| w[0] != w[1]).count();
        assert_eq!(alternations, 9, "{p:?}");
    }

    #[test]
    fn rounding_ends_the_exchange() {
        let p = fit(&libm::exp, -1.0, (0..=40).collect(), vec![]);
        assert!(p.error < 1e-14, "{}", p.error);
    }
}
