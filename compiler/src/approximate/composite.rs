//! The sign as a composition of odd polynomials of low degree: where one polynomial would need a degree beyond reach.
//!
//! Every stage is the best odd polynomial for 1 on what the stage before makes of `[gap, 1]`; scaled so that its values stay in
//! [-1, 1]. Degrees that do not fall from stage to stage are searched for the smallest depth, then for the fewest products.
//!
//! Reference: Lee, Lee, No, Kim, "Minimax approximation of sign function by composite polynomial for homomorphic comparison"
//! (IEEE TDSC 2021).

use crate::approximate::remez::{Fit, Target, minimax};
use crate::approximate::scheme::scheme;
use plan::op::chebyshev;
use std::collections::BTreeMap;

/// Degrees of a stage: the largest of 2, 3, 4 and 5 levels.
const DEGREES: [usize; 4] = [3, 7, 15, 31];
/// Levels of the deepest composition that is tried.
pub const MAX_DEPTH: u32 = 24;
/// Points of a grid on the gap.
const GRID: usize = 1000;

/// Odd polynomials to be applied one after the other to arguments in [-1, 1].
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    /// Chebyshev coefficients on [-1, 1] of every stage, the first stage first
    pub stages: Vec<Vec<f64>>,
    /// half width of the zone around 0 without a bound
    pub gap: f64,
    /// largest distance to -1 or 1 outside the gap
    pub error: f64,
    /// levels
    pub depth: u32,
    /// products of two values
    pub products: usize,
}

impl Composite {
    /// The value at an argument in [-1, 1].
    pub fn eval(&self, u: f64) -> f64 {
        self.stages.iter().fold(u, |v, c| chebyshev(c, v))
    }
}

/// The composition of smallest depth that is within an error of the sign on `[gap, 1]`, 0 < gap < 1.
pub fn sign(gap: f64, within: f64) -> Option<Composite> {
    let mut search = Search { gap, within, best: None, known: BTreeMap::new() };
    (2..=MAX_DEPTH).find_map(|depth| {
        let start = Composite { stages: vec![], gap, error: 1.0 - gap, depth: 0, products: 0 };
        search.extend(&start, gap, depth, DEGREES[0]);
        search.best.take()
    })
}

/// A composition s for which `u s(u)` is within an error of `|u|` on [-1, 1].
pub fn absolute(within: f64) -> Option<Composite> {
    // inside the gap the product misses by u (1 - s(u)), which is a small part of the gap
    (1..=6).rev().find_map(|wide| {
        let found = sign((f64::from(wide) * within).min(0.9), within)?;
        let miss = |i: usize| {
            let u = found.gap * i as f64 / GRID as f64;
            (u - u * found.eval(u)).abs()
        };
        let worst = (0..=GRID).map(miss).fold(0.0, f64::max) * 1.01;
        (worst.max(found.error) <= within).then_some(found)
    })
}

struct Search {
    gap: f64,
    within: f64,
    best: Option<Composite>,
    /// best polynomials by start of the interval and degree
    known: BTreeMap<(u64, usize), Fit>,
}

impl Search {
    /// The best odd polynomial for 1 on `[from, 1]`.
    fn fit(&mut self, from: f64, degree: usize) -> Fit {
        let fit = || {
            let orders = (1..=degree).step_by(2).collect();
            minimax(&Target { f: &|_| 1.0, low: from, orders, kinks: vec![] })
        };
        self.known.entry((from.to_bits(), degree)).or_insert_with(fit).clone()
    }

    /// Adds stages of `levels` levels in all to a composition whose values are in `[from, 1]` outside the gap.
    fn extend(&mut self, so_far: &Composite, from: f64, levels: u32, least: usize) {
        for degree in DEGREES.into_iter().filter(|&d| d >= least) {
            let own = (degree + 1).ilog2();
            if own > levels || (own < levels && levels - own < own) {
                continue;
            }
            let fit = self.fit(from, degree);
            let last = own == levels;
            let factor = if last { 1.0 } else { 1.0 / (1.0 + fit.error) };
            let stage: Vec<f64> = fit.coefficients.iter().map(|c| c * factor).collect();
            let cost = scheme(&stage, -1.0, 1.0);
            let mut next = so_far.clone();
            next.stages.push(stage);
            (next.depth, next.products) = (next.depth + cost.depth, next.products + cost.products);
            next.error = fit.error;
            if !last {
                self.extend(&next, (1.0 - fit.error) * factor, levels - own, degree);
            } else if fit.error <= self.within
                && self.best.as_ref().is_none_or(|b| next.products < b.products)
            {
                next.gap = self.gap;
                self.best = Some(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compositions_keep_their_bounds() {
        for (gap, within) in [(0.1, 1e-3), (0.01, 1e-4), (1e-4, 1e-3)] {
            let s = sign(gap, within).unwrap();
            assert!(s.error <= within && s.depth == s.stages.iter().map(|c| c.len().ilog2()).sum::<u32>());
            for i in 0..=20_000 {
                let u = gap + (1.0 - gap) * f64::from(i) / 20_000.0;
                assert!((1.0 - s.eval(u)).abs() <= within * 1.001, "{u}: {}", s.eval(u));
                assert!((1.0 + s.eval(-u)).abs() <= within * 1.001);
                let inside = s.eval(gap * f64::from(i) / 20_000.0);
                assert!((-1e-12..=1.0 + within).contains(&inside));
            }
        }
    }

    #[test]
    fn absolute_values_are_close_everywhere() {
        for within in [1e-2, 1e-3, 1e-5] {
            let s = absolute(within).unwrap();
            let miss = |u: f64| (u - u * s.eval(u)).abs();
            assert!((0..=100_000).all(|i| miss(f64::from(i) / 100_000.0) <= within));
            assert!((0..=1000).all(|i| miss(s.gap * f64::from(i) / 1000.0) <= within));
        }
    }

    #[test]
    fn depths_grow_with_the_precision() {
        let depths = |bits: i32| {
            let e = 2f64.powi(-bits);
            (sign(e, e).map(|s| s.depth), absolute(e).map(|s| s.depth))
        };
        let found = [4, 6, 8, 10, 12, 16].map(depths);
        assert_eq!(found.map(|f| f.0), [6, 9, 12, 14, 17, 21].map(Some));
        assert_eq!(found.map(|f| f.1), [4, 7, 9, 11, 14, 18].map(Some));
    }
}
