//! Best approximation by polynomials in the largest error: the second algorithm of Remez, all points exchanged at once.
//!
//! The polynomial is a combination of chosen Chebyshev polynomials, so that even and odd functions keep their symmetry and
//! are fitted on half of the interval, and a jump can be left out. The error is measured on a finer grid than the one the
//! exchange works on. Nothing here depends on the machine: cosines are those of `libm`.
//!
//! Reference: Remez, "Sur le calcul effectif des polynomes d'approximation de Tchebichef" (1934); Pachon and Trefethen,
//! "Barycentric-Remez algorithms for best polynomial approximation in the chebfun system" (2009).

use plan::op::chebyshev;
use std::f64::consts::PI;

/// What is to be approximated, in the variable of the Chebyshev polynomials.
pub struct Target<'f> {
    /// the function on `[low, high]`
    pub f: &'f dyn Fn(f64) -> f64,
    /// start of the interval, at least -1
    pub low: f64,
    /// end of the interval, at most 1
    pub high: f64,
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

/// Grid points for one degree in the exchange, and in the measurement.
const EXCHANGE: usize = 24;
const MEASURE: usize = 120;
/// Exchanges after which the best polynomial so far is taken.
const ROUNDS: usize = 24;
/// The exchange ends when the largest error is within this factor of the levelled one.
const LEVELLED: f64 = 1.0005;
/// What the measuring grid can miss of an oscillation of the degree: 1 - cos(pi / 120) < 2^-11, with room.
const ALLOWANCE: f64 = 1.0 + 1.0 / 1024.0;

/// The best polynomial, or one close to it.
pub fn minimax(target: &Target) -> Fit {
    let grid = grid(target, EXCHANGE);
    let values: Vec<f64> = grid.iter().map(|&u| (target.f)(u)).collect();
    let mut reference = first_reference(target.orders.len() + 1, grid.len());
    let mut best: Option<(f64, Vec<f64>)> = None;
    for _ in 0..ROUNDS {
        let Some((coefficients, level)) = levelled(target, &grid, &values, &reference) else { break };
        let errors: Vec<f64> =
            grid.iter().zip(&values).map(|(&u, v)| v - chebyshev(&coefficients, u)).collect();
        let largest = errors.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
        if best.as_ref().is_none_or(|b| largest < b.0) {
            best = Some((largest, coefficients));
        }
        if largest <= level.abs() * LEVELLED {
            break;
        }
        match exchanged(&errors, reference.len()) {
            Some(next) if next != reference => reference = next,
            _ => break,
        }
    }
    let coefficients = best.map_or(vec![0.0], |b| b.1);
    let error = measure(target, &coefficients);
    Fit { coefficients, error }
}

/// Largest absolute error of a polynomial on the interval, rounded up by what the grid can miss.
fn measure(target: &Target, coefficients: &[f64]) -> f64 {
    let miss = |u: f64| ((target.f)(u) - chebyshev(coefficients, u)).abs();
    grid(target, MEASURE).into_iter().map(miss).fold(0.0, f64::max) * ALLOWANCE
}

/// Increasing angle, decreasing u: even in the angle where the polynomials are (all of [-1, 1], or half of it for even and odd
/// ones), crowded towards both ends otherwise.
fn grid(t: &Target, per_degree: usize) -> Vec<f64> {
    let degree = t.orders.last().copied().unwrap_or(0);
    let steps = per_degree * (degree + 4);
    let (start, end) = (libm::acos(t.high), libm::acos(t.low));
    let natural = t.high == 1.0 && (t.low == -1.0 || t.low == 0.0);
    let angle = |i: usize| {
        let part = i as f64 / steps as f64;
        let part = if natural { part } else { (1.0 - libm::cos(PI * part)) / 2.0 };
        start + (end - start) * part
    };
    let inside = |u: f64| u > t.low && u < t.high;
    let mut points: Vec<f64> =
        (1..steps).map(|i| libm::cos(angle(i))).chain(t.kinks.iter().copied()).collect();
    points.retain(|&u| inside(u));
    points.extend([t.low, t.high]);
    points.sort_by(|a, b| b.total_cmp(a));
    points.dedup();
    points
}

fn first_reference(count: usize, grid: usize) -> Vec<usize> {
    (0..count).map(|i| i * (grid - 1) / (count - 1).max(1)).collect()
}

/// The polynomial whose error at the reference points is `level` with alternating sign.
fn levelled(t: &Target, grid: &[f64], values: &[f64], reference: &[usize]) -> Option<(Vec<f64>, f64)> {
    let rows = reference.iter().enumerate().map(|(i, &at)| {
        let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
        let all = chebyshev_values(grid[at], t.orders.last().copied().unwrap_or(0));
        t.orders.iter().map(|&k| all[k]).chain([sign, values[at]]).collect()
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

/// The next reference: the largest error of every stretch of one sign, the smaller end dropped while there are too many.
/// None if the error changes sign too rarely, which is a matter of rounding or of a symmetry that was not declared.
fn exchanged(errors: &[f64], count: usize) -> Option<Vec<usize>> {
    let mut peaks: Vec<usize> = vec![];
    for (i, e) in errors.iter().enumerate() {
        match peaks.last_mut() {
            Some(last) if (errors[*last] >= 0.0) == (*e >= 0.0) => {
                if e.abs() > errors[*last].abs() {
                    *last = i;
                }
            }
            _ => peaks.push(i),
        }
    }
    let mut kept = &peaks[..];
    while kept.len() > count {
        let first_is_smaller = errors[kept[0]].abs() < errors[kept[kept.len() - 1]].abs();
        kept = if first_is_smaller { &kept[1..] } else { &kept[..kept.len() - 1] };
    }
    (kept.len() == count).then(|| kept.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(f: &dyn Fn(f64) -> f64, low: f64, orders: Vec<usize>, kinks: Vec<f64>) -> Fit {
        minimax(&Target { f, low, high: 1.0, orders, kinks })
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
    fn rounding_ends_the_exchange() {
        let p = fit(&libm::exp, -1.0, (0..=40).collect(), vec![]);
        assert!(p.error < 1e-14, "{}", p.error);
    }
}
