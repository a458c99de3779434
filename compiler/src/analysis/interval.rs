//! Intervals of f64: what can be said about a value that is not known.
//!
//! Results contain every value the operation can take on operands of the intervals, up to rounding of the bounds
//! (relative 2^-52). Bounds saturate at the largest f64. An interval of NaN is unknown: a mistake was reported where it
//! came from, and whatever is computed from it is unknown too.

use plan::op::power;
use plan::{Function, Tensor};
use std::f64::consts::PI;
use std::fmt;

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// smallest value
    pub low: f64,
    /// largest value
    pub high: f64,
}

impl Range {
    /// Nothing is known, and nothing more is to be said.
    pub const UNKNOWN: Range = Range { low: f64::NAN, high: f64::NAN };
    /// The one value 0.
    pub const ZERO: Range = Range { low: 0.0, high: 0.0 };

    /// The interval between two bounds in order, saturated.
    pub fn new(low: f64, high: f64) -> Range {
        Range { low: low.clamp(-f64::MAX, f64::MAX), high: high.clamp(-f64::MAX, f64::MAX) }
    }
    /// The smallest interval with all values; unknown for none.
    pub fn of_values(values: impl IntoIterator<Item = f64>) -> Range {
        let (low, high) =
            values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low <= high { Range::new(low, high) } else { Range::UNKNOWN }
    }
    /// The values of a tensor.
    pub fn of(tensor: &Tensor) -> Range {
        Range::of_values(tensor.data().iter().copied())
    }
    /// Whether nothing is known.
    pub fn is_unknown(self) -> bool {
        self.low.is_nan() || self.high.is_nan()
    }
    /// Whether a value lies inside.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
    /// Whether another interval lies inside.
    pub fn covers(self, other: Range) -> bool {
        self.low <= other.low && other.high <= self.high
    }
    /// Largest absolute value.
    pub fn max_abs(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }
    /// The smallest interval with both.
    pub fn hull(self, other: Range) -> Range {
        if self.is_unknown() || other.is_unknown() {
            return Range::UNKNOWN;
        }
        Range::new(self.low.min(other.low), self.high.max(other.high))
    }
    /// `a + b`
    pub fn plus(self, other: Range) -> Range {
        Range::new(self.low + other.low, self.high + other.high)
    }
    /// `a - b`
    pub fn minus(self, other: Range) -> Range {
        Range::new(self.low - other.high, self.high - other.low)
    }
    /// `-a`
    pub fn negative(self) -> Range {
        Range::new(-self.high, -self.low)
    }
    /// `a b` of independent values
    pub fn times(self, other: Range) -> Range {
        if self.is_unknown() || other.is_unknown() {
            return Range::UNKNOWN;
        }
        let (a, b) = (self, other);
        Range::of_values([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high])
    }
    /// `a` times a number
    pub fn scaled(self, factor: f64) -> Range {
        self.times(Range::new(factor, factor))
    }
    /// `a` to a power
    pub fn power(self, exponent: u32) -> Range {
        if self.is_unknown() {
            return self;
        }
        let ends = Range::of_values([power(self.low, exponent), power(self.high, exponent)]);
        let turns = exponent > 0 && exponent.is_multiple_of(2) && self.contains(0.0);
        if turns { Range::new(0.0, ends.high) } else { ends }
    }
    /// `sum of weights[i] a_i` of independent values `a_i` in the interval
    pub fn weighted_sum(self, weights: impl IntoIterator<Item = f64>) -> Range {
        weights.into_iter().fold(Range::ZERO, |sum, w| sum.plus(self.scaled(w)))
    }
    /// The values of a function; unknown outside its domain.
    pub fn function(self, f: Function) -> Range {
        if self.is_unknown() || !f.defined_on(self.low, self.high) {
            return Range::UNKNOWN;
        }
        let turning = turning_points(f, self);
        let inside = turning.into_iter().filter(|&x| self.contains(x));
        let points = [self.low, self.high].into_iter().chain(inside);
        match f {
            Function::Sin | Function::Cos if self.high - self.low >= 2.0 * PI => Range::new(-1.0, 1.0),
            _ => Range::of_values(points.map(|x| f.eval(x))),
        }
    }
    /// The values of a polynomial of that degree, given as a function.
    ///
    /// With x = middle + half width * cos(t) it is a trigonometric polynomial in t of degree d, and such a polynomial
    /// with largest absolute value M at t0 is at least M cos(d s) at distance s from t0: samples at distance s of each
    /// other miss the bounds by a factor cos(d s / 2) at most.
    pub fn polynomial(self, degree: usize, f: impl Fn(f64) -> f64) -> Range {
        const SAMPLES_PER_DEGREE: usize = 32;
        if self.is_unknown() || degree <= 1 {
            return if self.is_unknown() { self } else { Range::of_values([f(self.low), f(self.high)]) };
        }
        let steps = SAMPLES_PER_DEGREE * degree;
        let (middle, half) = (self.low / 2.0 + self.high / 2.0, self.high / 2.0 - self.low / 2.0);
        let at = |i: usize| match i {
            0 => self.high,
            i if i == steps => self.low,
            i => middle + half * Function::Cos.eval(PI * i as f64 / steps as f64),
        };
        let seen = Range::of_values((0..=steps).map(|i| f(at(i))));
        let missed = (seen.high / 2.0 - seen.low / 2.0)
            * (1.0 / Function::Cos.eval(PI / (2 * SAMPLES_PER_DEGREE) as f64) - 1.0);
        Range::new(seen.low - missed, seen.high + missed)
    }
}

/// Where a function can have a smallest or largest value inside an interval.
fn turning_points(f: Function, range: Range) -> Vec<f64> {
    let waves = |first: f64| {
        let start = ((range.low - first) / PI).ceil();
        (0..3).map(|k| first + (start + f64::from(k)) * PI).collect()
    };
    match f {
        Function::Abs => vec![0.0],
        Function::Gelu => vec![-0.751_791_524_693_564_5],
        Function::Silu => vec![-1.278_464_542_761_073_8],
        Function::Sin => waves(PI / 2.0),
        Function::Cos => waves(0.0),
        _ => vec![],
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", show_number(self.low), show_number(self.high))
    }
}

/// A number for a message: six digits, an exponent where it is shorter.
pub fn show_number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return (x + 0.0).to_string();
    }
    let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(x);
    if (1e-4..1e7).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(a: f64, b: f64) -> Range {
        Range::new(a.min(b), a.max(b))
    }

    proptest! {
        #[test]
        fn functions_stay_inside(a in -9.0..9.0f64, b in -9.0..9.0f64, t in 0.0..=1.0f64) {
            use Function::*;
            let clip = Clip { low: -1.0, high: 2.0 };
            for f in [Exp, Log, Inv, Sqrt, Rsqrt, Sigmoid, Tanh, Gelu, Silu, Erf, Softplus, Relu, Abs, Sin, Cos, Sign,
                Step, clip] {
                let r = range(a, b);
                let y = r.function(f);
                let value = f.eval((r.low + t * (r.high - r.low)).clamp(r.low, r.high));
                let slack = 1e-12 * (1.0 + value.abs());
                prop_assert!(y.is_unknown() || (y.low - slack <= value && value <= y.high + slack), "{f:?} {r} {y} {value}");
                prop_assert_eq!(y.is_unknown(), !f.defined_on(r.low, r.high));
            }
        }

        #[test]
        fn polynomials_stay_inside(a in -3.0..3.0f64, b in -3.0..3.0f64, t in 0.0..1.0f64, c in prop::collection::vec(-1.0..1.0f64, 1..9)) {
            let (r, f) = (range(a, b), |x: f64| c.iter().rev().fold(0.0, |s, c| s * x + c));
            let (y, value) = (r.polynomial(c.len() - 1, f), f(r.low + t * (r.high - r.low)));
            prop_assert!(y.low - 1e-9 <= value && value <= y.high + 1e-9);
        }

        #[test]
        fn sums_and_products_stay_inside(a in -3.0..3.0f64, b in -3.0..3.0f64, c in -3.0..3.0f64, d in -3.0..3.0f64, t in 0.0..1.0f64, u in 0.0..1.0f64) {
            let (r, s) = (range(a, b), range(c, d));
            let (x, y) = (r.low + t * (r.high - r.low), s.low + u * (s.high - s.low));
            let inside = |r: Range, v: f64| r.low - 1e-9 <= v && v <= r.high + 1e-9;
            prop_assert!(inside(r.plus(s), x + y) && inside(r.minus(s), x - y) && inside(r.times(s), x * y));
            prop_assert!(inside(r.power(2), x * x) && inside(r.power(3), x * x * x) && inside(r.negative(), -x));
            prop_assert!(r.power(2).low >= 0.0);
        }
    }

    #[test]
    fn numbers_read_well() {
        let shown: Vec<String> =
            [0.0, -0.0, -0.1, f64::INFINITY, -f64::INFINITY, 1234567.0, 1e15, 2.5e-7, -3.0]
                .map(show_number)
                .to_vec();
        assert_eq!(shown, ["0", "0", "-0.1", "inf", "-inf", "1234570", "1e15", "2.5e-7", "-3"]);
    }
}
