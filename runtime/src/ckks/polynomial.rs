//! Polynomials in the Chebyshev basis, of least depth, with a result at exactly the scale asked for.
//!
//! Baby-step giant-step: with m the largest power of two up to the degree, p = q T_m + r by division in the Chebyshev basis
//! (T_m T_k = (T_(m+k) + T_(m-k)) / 2), down to polynomials of a few terms, which are sums of the powers T_1, T_2, ... with
//! coefficients rounded at the scale that makes the sum exact. Scales are decided from the result back to the operands, so no
//! operand is ever adjusted: a factor T_m has the scale it has, and q is evaluated at the scale that the product is missing.
//! Sums are taken before relinearization and rescale, which end each product once.
//!
//! A polynomial of degree d takes ceil(log2(d + 1)) levels.
//!
//! References: Paterson, Stockmeyer 1973; Chen, Chillotti, Song 2018/1043 (Chebyshev basis); Bossuat et al. 2020/1203, section 5
//! (scales from the result back).

use crate::ckks::{Ciphertext, Ckks, CkksError};
use crate::math::fft::Complex;
use crate::rlwe::{EvaluationKeys, RlweError};
use std::collections::BTreeMap;

impl Ckks {
    /// sum_k c_k T_k(x) at exactly `scale`, for x in [-1, 1] and at least two coefficients, ceil(log2(number of coefficients))
    /// levels below x.
    ///
    /// # Errors
    /// When x has too few levels or another degree than 1, a coefficient is too large at its scale, or the key for s^2 is
    /// missing.
    pub fn chebyshev(
        &self,
        x: &Ciphertext,
        coefficients: &[Complex],
        scale: f64,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        let depth = depth(coefficients.len());
        let Some(level) = x.level().checked_sub(depth) else {
            return Err(RlweError::LevelTooLow { needed: depth, available: x.level() }.into());
        };
        let degree = coefficients.len().saturating_sub(1).max(1);
        // half of the depth below, half above: fewest products
        let babies = 1 << (depth / 2);
        let mut evaluation =
            Evaluation { ckks: self, keys, babies, powers: BTreeMap::from([(1, x.clone())]) };
        (2..babies).try_for_each(|k| evaluation.make_power(k))?;
        (1..).map(|i| 1 << i).take_while(|&m| m <= degree).try_for_each(|m| evaluation.make_power(m))?;
        evaluation.value(coefficients, level, scale)
    }
}

/// Levels that a polynomial with so many coefficients takes.
pub fn depth(coefficients: usize) -> usize {
    coefficients.max(2).next_power_of_two().trailing_zeros() as usize
}

struct Evaluation<'a> {
    ckks: &'a Ckks,
    keys: &'a EvaluationKeys,
    /// polynomials with at most so many coefficients are sums of powers
    babies: usize,
    /// T_k by k, each at the highest level it can have
    powers: BTreeMap<usize, Ciphertext>,
}

impl Evaluation<'_> {
    /// T_k = 2 T_a T_b - T_(a-b) with a + b = k, a - b in {0, 1}.
    fn make_power(&mut self, k: usize) -> Result<(), CkksError> {
        if self.powers.contains_key(&k) {
            return Ok(());
        }
        let (a, b) = (k.div_ceil(2), k / 2);
        self.make_power(a)?;
        self.make_power(b)?;
        let level = self.powers[&a].level().min(self.powers[&b].level());
        let [x, y] = [a, b].map(|i| self.ckks.drop_to_level(&self.powers[&i], level));
        let mut product = self.ckks.tensor(&x?, &y?)?;
        product = self.ckks.mul_integer(&product, 2);
        let scale = product.scale();
        let product = if a == b {
            self.ckks.add_constant(&product, -Complex::ONE)?
        } else {
            let difference = [Complex::ZERO, -Complex::ONE];
            self.ckks.add(&product, &self.sum(&difference, level, scale)?)?
        };
        let power = self.ckks.relinearize_rescale(&product, self.keys)?;
        self.powers.insert(k, power);
        Ok(())
    }

    /// The polynomial at a level and exactly a scale.
    fn value(&self, p: &[Complex], level: usize, scale: f64) -> Result<Ciphertext, CkksError> {
        let prime = self.ckks.chain().prime(level + 1)? as f64;
        let raw = self.unfinished(p, level + 1, scale * prime)?;
        let value = if raw.degree() == 2 {
            self.ckks.relinearize_rescale(&raw, self.keys)?
        } else {
            self.ckks.rescale(&raw)?
        };
        Ciphertext::new(value.rlwe, scale)
    }

    /// The polynomial at a level and a scale, before relinearization and rescale.
    fn unfinished(&self, p: &[Complex], level: usize, scale: f64) -> Result<Ciphertext, CkksError> {
        let degree = p.len() - 1;
        let at_hand = self.powers.get(&degree).is_some_and(|power| power.level() >= level);
        if degree == 0 || (degree < self.babies && at_hand) {
            return self.sum(p, level, scale);
        }
        let m = 1 << degree.ilog2();
        let (quotient, remainder) = divide(p, m);
        let power = self.ckks.drop_to_level(&self.powers[&m], level)?;
        let missing = scale / power.scale();
        let product = if let [factor] = quotient[..] {
            self.ckks.mul_constant(&power, factor, missing)?
        } else {
            self.ckks.tensor(&self.value(&quotient, level, missing)?, &power)?
        };
        let rest = self.unfinished(&remainder, level, scale)?;
        // the scales are the same up to the rounding of their quotient
        self.ckks.add(&Ciphertext::new(product.rlwe, scale)?, &rest)
    }

    /// A sum of powers at a level, with coefficients rounded so that the scale is exact.
    fn sum(&self, p: &[Complex], level: usize, scale: f64) -> Result<Ciphertext, CkksError> {
        let used: Vec<(&Ciphertext, Complex)> =
            (1..p.len()).filter(|&k| p[k] != Complex::ZERO).map(|k| (&self.powers[&k], p[k])).collect();
        let zero = (&self.powers[&1], Complex::ZERO);
        let used = if used.is_empty() { vec![zero] } else { used };
        let sum = self.ckks.combine_to(&used, level, scale)?;
        self.ckks.add_constant(&sum, p[0])
    }
}

/// Quotient and remainder of p by T_m, for m <= degree < 2m.
fn divide(p: &[Complex], m: usize) -> (Vec<Complex>, Vec<Complex>) {
    let (mut quotient, mut remainder) = (p[m..].to_vec(), p[..m].to_vec());
    for k in 1..quotient.len() {
        remainder[m - k] = remainder[m - k] - p[m + k];
        quotient[k] = p[m + k].scale(2.0);
    }
    (quotient, remainder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sum_k c_k T_k(x) by the recurrence of Clenshaw.
    fn clenshaw(p: &[Complex], x: f64) -> Complex {
        let (mut b1, mut b2) = (Complex::ZERO, Complex::ZERO);
        for &c in p[1..].iter().rev() {
            (b1, b2) = (c + b1.scale(2.0 * x) - b2, b1);
        }
        p[0] + b1.scale(x) - b2
    }

    #[test]
    fn division_is_that_of_the_basis() {
        let p: Vec<Complex> =
            (0..15).map(|k| Complex::new(1.0 / (k + 1) as f64, (k % 4) as f64 - 1.5)).collect();
        let (quotient, remainder) = divide(&p, 8);
        assert_eq!((quotient.len(), remainder.len()), (7, 8));
        for x in [-1.0, -0.3, 0.0, 0.77, 1.0_f64] {
            let power = (8.0 * x.acos()).cos();
            let found = clenshaw(&quotient, x).scale(power) + clenshaw(&remainder, x);
            assert!((found - clenshaw(&p, x)).abs() < 1e-12);
        }
    }

    #[test]
    fn depth_is_the_least() {
        assert_eq!([2, 3, 4, 5, 8, 9, 32].map(depth), [1, 2, 2, 3, 3, 4, 5]);
    }
}
