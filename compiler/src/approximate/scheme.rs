//! How a polynomial is evaluated: the method of Paterson and Stockmeyer in the basis of the Dickson polynomials
//! `D_k(y) = 2 r^k T_k(y / 2r)`, with the smallest depth and then the fewest products.
//!
//! * `D_(m+n) = D_m D_n - r^(2n) D_(m-n)` and `D_2m = D_m^2 - 2 r^2m`: one level for a doubling of the degree and no integer
//!   factor to double. With r = 1 they are `2 T_k` and need only products and differences.
//! * `y = n (x - middle)` with an integer n costs no level, and r is whatever the interval gives, unless the `D_k` grow too
//!   large; then y = factor x + constant with a level of its own and r = 1.
//! * A polynomial of degree below 2^k takes k levels, coefficients included: a leading part that has no level to spare is
//!   split down to degree 1, everything else ends in linear combinations of D_1 .. D_m.
//! * Even polynomials are polynomials in D_2 of half the degree; coefficients that are zero cost nothing.
//!
//! References: Paterson, Stockmeyer, "On the number of nonscalar multiplications necessary to evaluate polynomials" (1973);
//! Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux, "Efficient bootstrapping for approximate homomorphic encryption with
//! non-sparse keys" (2021), section 4: depth-optimal evaluation.

use std::f64::consts::PI;

/// Largest absolute value of an intermediate result for which the argument is not brought to the standard interval.
const MAX_GROWTH: f64 = 2048.0;
/// Smallest r^degree for which it is not: the D_k lose that much precision.
const MIN_SHRINKAGE: f64 = 1.0 / 16.0;
/// Largest number of small powers that is tried.
const MAX_BABY: usize = 24;

/// One step; operands are earlier steps.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// the argument of the polynomial
    Argument,
    /// product of two values; 1 level
    Mul(usize, usize),
    /// sum of two values
    Add(usize, usize),
    /// difference of two values
    Sub(usize, usize),
    /// value plus a number
    AddConstant(usize, f64),
    /// value times an integer
    Times(usize, i64),
    /// `sum coefficient * value + constant`; 1 level
    Combine(Vec<(f64, usize)>, f64),
}

/// A straight-line program for one polynomial; the last step is its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// the steps
    pub steps: Vec<Step>,
    /// (smallest, largest) value of every step for arguments in the interval
    pub bounds: Vec<(f64, f64)>,
    /// levels from the argument to the value
    pub depth: u32,
    /// number of products of two values
    pub products: usize,
}

/// The best scheme for `sum c_k T_k(u)` where u maps `[low, high]` to [-1, 1]; c has at least two coefficients, the last not 0.
pub fn scheme(coefficients: &[f64], low: f64, high: f64) -> Scheme {
    match without_map(coefficients, low, high) {
        Some(free) => free,
        None => {
            let half = (high - low) / 2.0;
            let frame = Frame { middle: (low + high) / 2.0, factor: 2.0 / half, radius: 1.0 };
            best(coefficients, &frame, low, high)
        }
    }
}

/// Whether the argument of a polynomial costs a level before the evaluation starts.
pub fn needs_map(coefficients: &[f64], low: f64, high: f64) -> bool {
    coefficients.len() > 2 && without_map(coefficients, low, high).is_none()
}

/// The scheme with an integer factor, if values stay moderate.
fn without_map(coefficients: &[f64], low: f64, high: f64) -> Option<Scheme> {
    let degree = coefficients.len() as i32 - 1;
    let frames = Frame::integers(low, high).into_iter().filter(|f| f.radius.powi(degree) >= MIN_SHRINKAGE);
    frames.map(|f| best(coefficients, &f, low, high)).find(|free| {
        let size = |b: &(f64, f64)| b.0.abs().max(b.1.abs());
        let products = free.steps.iter().zip(&free.bounds).filter(|(s, _)| matches!(s, Step::Mul(..)));
        let largest = products.map(|(_, b)| size(b)).fold(0.0, f64::max);
        let own = free.bounds.last().map_or(0.0, size);
        largest <= MAX_GROWTH.max(own)
    })
}

/// Levels of the polynomial alone: ceil(log2(degree + 1)).
pub fn polynomial_depth(degree: usize) -> u32 {
    (degree + 1).next_power_of_two().trailing_zeros()
}

fn best(c: &[f64], frame: &Frame, low: f64, high: f64) -> Scheme {
    let schemes = (1..=MAX_BABY.min(c.len())).map(|baby| Builder::run(c, frame, baby));
    let cost = |b: &Builder| (b.depth(), b.products(), b.steps.len());
    let found = schemes.min_by_key(cost).unwrap_or_else(|| Builder::run(c, frame, 1));
    let bounds = bounds(&found.steps, c.len(), low, high);
    Scheme { depth: found.depth(), products: found.products(), steps: found.steps, bounds }
}

/// How the argument x becomes y in `[-2 radius, 2 radius]`: `y = factor (x - middle)`.
struct Frame {
    middle: f64,
    factor: f64,
    radius: f64,
}

impl Frame {
    /// The integer factors next to the one that makes the radius 1, the better one first.
    fn integers(low: f64, high: f64) -> Vec<Frame> {
        let half = (high - low) / 2.0;
        let exact = (2.0 / half).min((1u64 << 40) as f64);
        let frame = |factor: f64| Frame { middle: (low + high) / 2.0, factor, radius: factor * half / 2.0 };
        let mut frames: Vec<Frame> = vec![frame(exact.ceil()), frame(exact.floor())];
        frames.retain(|f| f.factor >= 1.0);
        frames.sort_by(|a, b| libm::log(a.radius).abs().total_cmp(&libm::log(b.radius).abs()));
        frames
    }
}

/// A value in the making: a step, or a number.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    Step(usize),
    Number(f64),
}

/// Terms that still have to be added to some linear combination.
type Terms = Vec<(f64, usize)>;

struct Builder {
    steps: Vec<Step>,
    depths: Vec<u32>,
    /// B_1, B_2, .. as far as they are made; B_k is D_k, or D_(stride k)
    basis: Vec<Option<usize>>,
    /// r of the basis
    radius: f64,
    /// levels of B_1
    start: u32,
    /// combinations take orders up to this
    baby: usize,
}

impl Builder {
    fn run(c: &[f64], frame: &Frame, baby: usize) -> Builder {
        let mut b = Builder {
            steps: vec![Step::Argument],
            depths: vec![0],
            basis: vec![],
            radius: frame.radius,
            start: 0,
            baby,
        };
        let degree = c.len() - 1;
        if degree == 1 {
            b.line(c[1] * frame.factor / (2.0 * frame.radius), c[0], frame.middle);
            return b;
        }
        let y = b.argument(frame);
        b.basis = vec![None, Some(y)];
        b.start = b.depths[y];
        let slope = c[1] / (2.0 * b.radius);
        let (c, extra) = b.halved(c, slope, y);
        let depth = b.start + polynomial_depth(c.len() - 1);
        let value = b.evaluate(&c, depth, extra);
        debug_assert!(matches!(value, Value::Step(s) if s + 1 == b.steps.len()));
        b
    }

    /// `slope (x - middle) + value`; integer slopes need no level.
    fn line(&mut self, slope: f64, value: f64, middle: f64) {
        let constant = value - slope * middle;
        if slope.fract() != 0.0 || slope.abs() > MAX_GROWTH {
            self.push(Step::Combine(vec![(slope, 0)], constant));
            return;
        }
        let multiple = self.push(Step::Times(0, slope as i64));
        if constant != 0.0 {
            self.push(Step::AddConstant(multiple, constant));
        }
    }

    fn argument(&mut self, frame: &Frame) -> usize {
        if frame.factor.fract() != 0.0 {
            return self.push(Step::Combine(vec![(frame.factor, 0)], -frame.factor * frame.middle));
        }
        let centred = if frame.middle == 0.0 { 0 } else { self.push(Step::AddConstant(0, -frame.middle)) };
        if frame.factor == 1.0 { centred } else { self.push(Step::Times(centred, frame.factor as i64)) }
    }

    /// While all orders but 1 are even: the polynomial in D_2, with the term of order 1 left over.
    fn halved(&mut self, c: &[f64], slope: f64, y: usize) -> (Vec<f64>, Terms) {
        let even = |c: &[f64]| c.iter().skip(3).step_by(2).all(|&x| x == 0.0) && c.len() > 2;
        if !even(c) {
            return (c.to_vec(), vec![]);
        }
        let extra = if c[1] == 0.0 { vec![] } else { vec![(slope, y)] };
        let mut c = c.to_vec();
        c[1] = 0.0;
        while even(&c) && c[1] == 0.0 {
            let square = self.order(2);
            self.basis = vec![None, Some(square)];
            self.radius *= self.radius;
            self.start += 1;
            c = c.into_iter().step_by(2).collect();
        }
        (c, extra)
    }

    fn push(&mut self, step: Step) -> usize {
        let of = |i: &usize| self.depths[*i];
        let depth = match &step {
            Step::Argument => 0,
            Step::Mul(a, b) => 1 + of(a).max(of(b)),
            Step::Add(a, b) | Step::Sub(a, b) => of(a).max(of(b)),
            Step::AddConstant(a, _) | Step::Times(a, _) => of(a),
            Step::Combine(terms, _) => 1 + terms.iter().map(|t| of(&t.1)).max().unwrap_or(0),
        };
        self.steps.push(step);
        self.depths.push(depth);
        self.steps.len() - 1
    }

    fn depth(&self) -> u32 {
        self.depths.last().copied().unwrap_or(0)
    }
    fn products(&self) -> usize {
        self.steps.iter().filter(|s| matches!(s, Step::Mul(..))).count()
    }

    /// B_k, made when it is first needed, at ceil(log2 k) levels above B_1.
    fn order(&mut self, k: usize) -> usize {
        if let Some(Some(made)) = self.basis.get(k) {
            return *made;
        }
        let made = if k.is_multiple_of(2) {
            let m = self.order(k / 2);
            let square = self.push(Step::Mul(m, m));
            self.push(Step::AddConstant(square, -2.0 * self.radius.powi(k as i32)))
        } else {
            let m = 1 << k.ilog2();
            let (n, rest) = (k - m, 2 * m - k);
            let (a, b, rest) = (self.order(m), self.order(n), self.order(rest));
            let product = self.push(Step::Mul(a, b));
            self.minus(product, self.radius.powi(2 * n as i32), rest)
        };
        self.basis.resize(self.basis.len().max(k + 1), None);
        self.basis[k] = Some(made);
        made
    }

    /// `a - factor b`, where b is at least a level above a unless the factor is 1.
    fn minus(&mut self, a: usize, factor: f64, b: usize) -> usize {
        if factor == 1.0 {
            return self.push(Step::Sub(a, b));
        }
        let b = self.push(Step::Combine(vec![(-factor, b)], 0.0));
        self.push(Step::Add(a, b))
    }

    fn order_depth(&self, k: usize) -> u32 {
        self.start + k.next_power_of_two().trailing_zeros()
    }

    /// `sum c_k T_k + extra` at no more than `depth` levels, which are enough for the degree.
    fn evaluate(&mut self, c: &[f64], depth: u32, mut extra: Terms) -> Value {
        let degree = c.iter().rposition(|&x| x != 0.0).unwrap_or(0);
        let shallow = |k: usize| self.order_depth(k) < depth;
        let small =
            |k: usize| k <= self.baby || (k.is_multiple_of(self.baby) && (k / self.baby).is_power_of_two());
        if (1..=degree).all(|k| c[k] == 0.0 || (small(k) && shallow(k))) {
            return self.combination(&c[..=degree.min(c.len() - 1)], extra);
        }
        let giant = self.giant(degree, depth);
        let (quotient, remainder) = divide(&c[..=degree], giant);
        let step = self.order(giant);
        let unit = 2.0 * self.radius.powi(giant as i32);
        if quotient.iter().skip(1).all(|&x| x == 0.0) {
            extra.push((quotient[0] / unit, step));
            return self.evaluate(&remainder, depth, extra);
        }
        let quotient: Vec<f64> = quotient.iter().map(|x| x / unit).collect();
        let quotient = self.evaluate(&quotient, depth - 1, vec![]);
        let remainder = self.evaluate(&remainder, depth, extra);
        let Value::Step(quotient) = quotient else { return remainder };
        let product = self.push(Step::Mul(quotient, step));
        Value::Step(match remainder {
            Value::Number(0.0) => product,
            Value::Number(x) => self.push(Step::AddConstant(product, x)),
            Value::Step(r) => self.push(Step::Add(product, r)),
        })
    }

    fn combination(&mut self, c: &[f64], mut terms: Terms) -> Value {
        for k in (1..c.len()).filter(|&k| c[k] != 0.0) {
            let step = self.order(k);
            terms.push((c[k] / (2.0 * self.radius.powi(k as i32)), step));
        }
        let constant = c.first().copied().unwrap_or(0.0);
        if terms.is_empty() {
            Value::Number(constant)
        } else {
            Value::Step(self.push(Step::Combine(terms, constant)))
        }
    }

    /// The order to divide by: `baby 2^i` if that leaves enough levels, else a power of two.
    fn giant(&self, degree: usize, depth: u32) -> usize {
        let mut giant = self.baby;
        while 2 * giant <= degree {
            giant *= 2;
        }
        let rest = self.start + polynomial_depth(degree.saturating_sub(giant));
        let fits = giant > 1 && giant <= degree && self.order_depth(giant) < depth && rest < depth;
        if fits { giant } else { 1 << degree.ilog2() }
    }
}

/// Quotient and remainder in the Chebyshev basis: `c = q T_m + r`, for a degree from m to 2 m - 1.
fn divide(c: &[f64], m: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut quotient, mut remainder) = (vec![c[m]], c[..m].to_vec());
    for k in m + 1..c.len() {
        quotient.push(2.0 * c[k]);
        remainder[2 * m - k] -= c[k];
    }
    (quotient, remainder)
}

/// Smallest and largest value of every step. In the angle they are trigonometric polynomials of the degree, which samples
/// at this distance miss by a known factor (Ehlich, Zeller 1964).
fn bounds(steps: &[Step], coefficients: usize, low: f64, high: f64) -> Vec<(f64, f64)> {
    const SAMPLES: usize = 32;
    let count = SAMPLES * coefficients.next_power_of_two();
    let mut seen = vec![(f64::INFINITY, f64::NEG_INFINITY); steps.len()];
    for i in 0..=count {
        let x = (low + high) / 2.0 + (high - low) / 2.0 * libm::cos(PI * i as f64 / count as f64);
        for (b, v) in seen.iter_mut().zip(values(steps, x)) {
            *b = (b.0.min(v), b.1.max(v));
        }
    }
    let missed = (1.0 / libm::cos(PI / (2 * SAMPLES) as f64) - 1.0) / 2.0;
    seen.into_iter().map(|(l, h)| (l - (h - l) * missed, h + (h - l) * missed)).collect()
}

/// The value of every step.
pub fn values(steps: &[Step], x: f64) -> Vec<f64> {
    let mut v: Vec<f64> = Vec::with_capacity(steps.len());
    for step in steps {
        v.push(match step {
            Step::Argument => x,
            Step::Mul(a, b) => v[*a] * v[*b],
            Step::Add(a, b) => v[*a] + v[*b],
            Step::Sub(a, b) => v[*a] - v[*b],
            Step::AddConstant(a, c) => v[*a] + c,
            Step::Times(a, n) => v[*a] * *n as f64,
            Step::Combine(terms, c) => terms.iter().fold(*c, |s, (f, a)| s + f * v[*a]),
        });
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::op::chebyshev;

    /// Coefficients that are not small anywhere, with the orders of one parity only if `step` is 2.
    fn coefficients(degree: usize, first: usize, step: usize) -> Vec<f64> {
        let used = |k: usize| k >= first && (k - first).is_multiple_of(step);
        (0..=degree)
            .map(|k| if used(k) { libm::cos(1.0 + 2.7 * k as f64) / (1.0 + k as f64) } else { 0.0 })
            .collect()
    }

    fn check(c: &[f64], low: f64, high: f64) -> Scheme {
        let s = scheme(c, low, high);
        let size: f64 = c.iter().map(|x| x.abs()).sum();
        for i in 0..=50 {
            let x = low + (high - low) * f64::from(i) / 50.0;
            let found = values(&s.steps, x);
            let expected = chebyshev(c, (2.0 * x - low - high) / (high - low));
            assert!((found[found.len() - 1] - expected).abs() < 1e-9 * size, "degree {}: {x}", c.len() - 1);
            let inside = |(v, b): (&f64, &(f64, f64))| b.0 - 1e-9 <= *v && *v <= b.1 + 1e-9;
            assert!(found.iter().zip(&s.bounds).all(inside));
        }
        s
    }

    #[test]
    fn every_degree_has_the_least_depth() {
        for degree in 1..=64 {
            for (low, high) in [(-2.0, 2.0), (-1.0, 1.0), (-0.25, 0.75)] {
                for c in [coefficients(degree, 0, 1), coefficients(degree, degree % 2, 2)] {
                    let s = check(&c, low, high);
                    assert_eq!(s.depth, polynomial_depth(degree), "degree {degree} on [{low}, {high}]");
                }
            }
            let s = check(&coefficients(degree, 0, 1), -9.5, 3.0);
            assert!(s.depth <= polynomial_depth(degree) + 1);
        }
        assert_eq!(check(&coefficients(255, 0, 1), -2.0, 2.0).depth, 8);
    }

    #[test]
    fn products_are_few() {
        let products = |degree: usize, first, step| {
            let s = check(&coefficients(degree, first, step), -2.0, 2.0);
            s.products
        };
        let counts = |f: fn(usize) -> (usize, usize, usize)| {
            [7, 15, 31, 63, 127].map(f).map(|(d, first, step)| products(d, first, step))
        };
        assert_eq!(counts(|d| (d, 0, 1)), [5, 8, 13, 18, 27]);
        assert_eq!(counts(|d| (d, 1, 2)), [5, 8, 12, 17, 23]);
        assert_eq!(counts(|d| (d - 1, 0, 2)), [3, 6, 9, 14, 19]);
    }

    #[test]
    fn a_linear_term_does_not_spoil_evenness() {
        let mut c = coefficients(30, 0, 2);
        let even = check(&c, -2.0, 2.0);
        c[1] = 0.5;
        let both = check(&c, -2.0, 2.0);
        assert_eq!((even.depth, even.products), (both.depth, both.products));
    }

    #[test]
    fn moderate_intervals_need_no_map() {
        assert_eq!(check(&coefficients(7, 0, 1), -8.0, 8.0).depth, 3);
        assert_eq!(check(&coefficients(15, 0, 1), -8.0, 8.0).depth, 5);
        assert_eq!(check(&coefficients(1, 0, 1), 3.0, 1000.0).depth, 1);
        assert_eq!(check(&[1.5, -0.5], -2.0, -1.0).depth, 0);
    }
}
