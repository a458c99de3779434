//! The polynomial that a function of the language needs on an interval.
//!
//! Functions with a symmetry are fitted as `offset + slope x + (even or odd part)` on an interval around 0, which halves the
//! number of coefficients; `sign` and `step` leave out a zone around the jump. The smallest degree that reaches the wanted
//! error is taken, of the forms the one with the smallest depth and then the fewest products.

use crate::approximate::interpolate::interpolate;
use crate::approximate::remez::{Fit, Target, minimax};
use crate::approximate::scheme::scheme;
use plan::Function;

/// Largest degree of a polynomial that is tried: 8 levels.
pub const MAX_DEGREE: usize = 255;
/// Half width of the zone around a jump, relative to the largest argument, where the program names none.
pub const DEFAULT_GAP: f64 = 0.05;

/// What a call asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// the function
    pub function: Function,
    /// start of the interval
    pub low: f64,
    /// end of the interval
    pub high: f64,
    /// half width of the zone around 0 where anything between the values at its ends is allowed
    pub gap: Option<f64>,
}

/// A polynomial in place of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Approximant {
    /// coefficients in the Chebyshev basis on `[low, high]`, the last one not 0 unless it is the only one
    pub coefficients: Vec<f64>,
    /// start of the interval; at most what was asked for
    pub low: f64,
    /// end of the interval; at least what was asked for
    pub high: f64,
    /// largest absolute error, outside the gap
    pub error: f64,
    /// half width of the zone without that bound; 0 if there is none
    pub gap: f64,
}

impl Approximant {
    /// Degree of the polynomial.
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }
    /// Levels of its evaluation.
    pub fn depth(&self) -> u32 {
        cost(self).0
    }
}

/// A way to write the function: `f(x) = offset + slope x + g(u)` with `x = middle + half u`.
#[derive(Clone, Copy)]
struct Form {
    function: Function,
    offset: f64,
    slope: f64,
    /// first order and distance of orders: (0, 1), even (0, 2), odd (1, 2)
    orders: (usize, usize),
    middle: f64,
    half: f64,
    /// half width of the zone around u = 0 that is left out
    gap: f64,
}

/// The polynomial of smallest degree with an error of at most `within`; the one of [`MAX_DEGREE`] as `Err` if that is more.
pub fn fit_within(request: &Request, within: f64) -> Result<Approximant, Approximant> {
    if let Some(exact) = exact(request) {
        return Ok(exact);
    }
    let found = forms(request).into_iter().map(|form| smallest(&form, within));
    let (reached, missed): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
    match reached.into_iter().flatten().min_by_key(cost) {
        Some(best) => Ok(best),
        None => {
            let closest =
                missed.into_iter().filter_map(Result::err).min_by(|a, b| a.error.total_cmp(&b.error));
            Err(closest.unwrap_or_else(|| constant(request, 0.0)))
        }
    }
}

/// Levels and products.
fn cost(a: &Approximant) -> (u32, usize) {
    if a.degree() == 0 {
        return (0, 0);
    }
    let s = scheme(&a.coefficients, a.low, a.high);
    (s.depth, s.products)
}

/// A polynomial of a degree on the interval itself: by interpolation if the function is smooth, the best one if it has a jump or
/// a bend, or if only that one has an error of at most `within`.
pub fn fit_degree(request: &Request, degree: usize, within: Option<f64>) -> Approximant {
    if let Some(exact) = exact(request) {
        return exact;
    }
    let Some(form) = forms(request).pop() else { return constant(request, 0.0) };
    let smooth = form.gap == 0.0 && form.kinks().is_empty();
    let usual = smooth.then(|| form.interpolated(degree));
    match usual.filter(|p| within.is_none_or(|within| p.error <= within)) {
        Some(p) => p,
        None => form.fit(degree),
    }
}

/// Functions that are linear on the interval.
fn exact(r: &Request) -> Option<Approximant> {
    let line = |slope: f64, offset: f64| {
        let (middle, half) = ((r.low + r.high) / 2.0, (r.high - r.low) / 2.0);
        let coefficients = vec![offset + slope * middle, slope * half];
        let coefficients = if slope == 0.0 { coefficients[..1].to_vec() } else { coefficients };
        Approximant { coefficients, low: r.low, high: r.high, error: 0.0, gap: 0.0 }
    };
    if r.low == r.high {
        return Some(constant(r, r.function.eval(r.low)));
    }
    let (positive, negative) = (r.low >= 0.0, r.high <= 0.0);
    match r.function {
        Function::Abs | Function::Relu if positive => Some(line(1.0, 0.0)),
        Function::Abs if negative => Some(line(-1.0, 0.0)),
        Function::Relu if negative => Some(constant(r, 0.0)),
        Function::Sign | Function::Step if r.low > 0.0 || r.high < 0.0 => {
            Some(constant(r, r.function.eval(r.low)))
        }
        Function::Clip { low, high } if low <= r.low && r.high <= high => Some(line(1.0, 0.0)),
        Function::Clip { low, high } if high <= r.low || r.high <= low => {
            Some(constant(r, r.function.eval(r.low)))
        }
        _ => None,
    }
}

fn constant(r: &Request, value: f64) -> Approximant {
    let wide = if r.low == r.high { 1.0 } else { 0.0 };
    Approximant { coefficients: vec![value], low: r.low - wide, high: r.high + wide, error: 0.0, gap: 0.0 }
}

/// Offset, slope and orders of a function around 0, if it has a symmetry there.
fn symmetry(f: Function) -> Option<(f64, f64, (usize, usize))> {
    const EVEN: (usize, usize) = (0, 2);
    const ODD: (usize, usize) = (1, 2);
    match f {
        Function::Abs | Function::Cos => Some((0.0, 0.0, EVEN)),
        Function::Relu | Function::Gelu | Function::Silu | Function::Softplus => Some((0.0, 0.5, EVEN)),
        Function::Tanh | Function::Erf | Function::Sin | Function::Sign => Some((0.0, 0.0, ODD)),
        Function::Sigmoid | Function::Step => Some((0.5, 0.0, ODD)),
        Function::Clip { low, high } if low == -high => Some((0.0, 0.0, ODD)),
        _ => None,
    }
}

/// The forms worth trying; the last one has the interval of the request.
fn forms(r: &Request) -> Vec<Form> {
    let (middle, half) = ((r.low + r.high) / 2.0, (r.high - r.low) / 2.0);
    let plain =
        Form { function: r.function, offset: 0.0, slope: 0.0, orders: (0, 1), middle, half, gap: 0.0 };
    let reach = r.low.abs().max(r.high.abs());
    let jumps = matches!(r.function, Function::Sign | Function::Step);
    let gap = match r.gap {
        Some(gap) => gap / reach,
        None if jumps => DEFAULT_GAP,
        None => 0.0,
    };
    let even = symmetry(r.function).filter(|_| r.low < 0.0 && r.high > 0.0);
    let around = even.map(|(offset, slope, orders)| {
        let gap = gap.min(0.99);
        Form { offset, slope, orders, middle: 0.0, half: reach, gap, ..plain }
    });
    match around {
        Some(form) if jumps || r.low == -r.high || form.gap > 0.0 => vec![form],
        Some(form) => vec![form, plain],
        None => vec![plain],
    }
}

/// The smallest degree of a form that reaches the error, by bisection: errors fall with the degree.
fn smallest(form: &Form, within: f64) -> Result<Approximant, Approximant> {
    let (first, step) = form.orders;
    let (mut enough, mut top) = (None, 0);
    let mut tried = None;
    for degree in [3, 7, 15, 31, 63, 127, MAX_DEGREE] {
        let fit = form.fit(degree);
        if fit.error <= within {
            (enough, top) = (Some(fit), degree);
            break;
        }
        tried = Some(fit);
    }
    let Some(mut best) = enough else {
        return Err(tried.unwrap_or_else(|| form.fit(MAX_DEGREE)));
    };
    let index = |degree: usize| (degree.max(first) - first) / step;
    let (mut low, mut high) = (if top == 3 { 0 } else { index(top / 2) + 1 }, index(top));
    while low < high {
        let middle = (low + high) / 2;
        let fit = form.fit(first + middle * step);
        if fit.error <= within {
            (best, high) = (fit, middle);
        } else {
            low = middle + 1;
        }
    }
    Ok(best)
}

impl Form {
    /// The part of the function that the polynomial of the chosen orders is for.
    fn rest(&self, u: f64) -> f64 {
        let x = self.middle + self.half * u;
        self.function.eval(x) - self.offset - self.slope * x
    }

    /// The best polynomial.
    fn fit(&self, degree: usize) -> Approximant {
        self.with(degree, minimax)
    }

    /// The polynomial through the Chebyshev points.
    fn interpolated(&self, degree: usize) -> Approximant {
        self.with(degree, |target| interpolate(target, degree))
    }

    fn with(&self, degree: usize, method: impl Fn(&Target) -> Fit) -> Approximant {
        let (first, step) = self.orders;
        let f = |u: f64| self.rest(u);
        let low = if step == 1 { -1.0 } else { self.gap };
        let orders: Vec<usize> = (first..=degree.max(first)).step_by(step).collect();
        let fit = method(&Target { f: &f, low, orders, kinks: self.kinks() });
        let mut coefficients = fit.coefficients;
        coefficients[0] += self.offset + self.slope * self.middle;
        if self.slope != 0.0 {
            coefficients.resize(coefficients.len().max(2), 0.0);
            coefficients[1] += self.slope * self.half;
        }
        while coefficients.len() > 1 && coefficients.last() == Some(&0.0) {
            coefficients.pop();
        }
        let (low, high) = (self.middle - self.half, self.middle + self.half);
        Approximant { coefficients, low, high, error: fit.error, gap: self.gap * self.half }
    }

    /// Where the function has no derivative, in u.
    fn kinks(&self) -> Vec<f64> {
        let at = |x: f64| (x - self.middle) / self.half;
        match self.function {
            Function::Abs | Function::Relu => vec![at(0.0)],
            Function::Clip { low, high } => vec![at(low), at(high)],
            _ => vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::op::chebyshev;

    /// Largest error on a grid with both ends that shares no point with the one used for the fit.
    fn seen(r: &Request, a: &Approximant) -> f64 {
        let points = (0..=20_000).map(|i| r.low + (r.high - r.low) * f64::from(i) / 20_000.0);
        let miss = |x: f64| {
            let p = chebyshev(&a.coefficients, (2.0 * x - a.low - a.high) / (a.high - a.low));
            (r.function.eval(x) - p).abs()
        };
        points.filter(|x| x.abs() >= a.gap).map(miss).fold(0.0, f64::max)
    }

    #[test]
    fn bounds_hold_for_every_function() {
        use Function::*;
        let clip = Clip { low: -0.5, high: 0.4 };
        let everywhere =
            [Exp, Sigmoid, Tanh, Gelu, Silu, Erf, Softplus, Relu, Abs, Sin, Cos, Sign, Step, clip];
        let positive = [Log, Inv, Sqrt, Rsqrt];
        let wide = [(-1.0, 1.0), (-3.0, 5.0), (0.25, 4.0), (-4.0, 0.5)];
        let cases = everywhere.iter().flat_map(|&f| wide.map(|i| (f, i)));
        let cases = cases.chain(positive.iter().flat_map(|&f| [(0.25, 4.0), (1.0, 30.0)].map(|i| (f, i))));
        for (function, (low, high)) in cases {
            let r = Request { function, low, high, gap: None };
            let a =
                fit_within(&r, 1e-2).unwrap_or_else(|a| panic!("{function:?} [{low}, {high}]: {}", a.error));
            assert!(a.error <= 1e-2 && a.low <= low && high <= a.high, "{function:?} {a:?}");
            let seen = seen(&r, &a);
            assert!(seen <= a.error + 1e-15, "{function:?} [{low}, {high}]: {seen} > {}", a.error);
            let five = fit_degree(&r, 5, None);
            assert!(five.degree() <= 5 && self::seen(&r, &five) <= five.error + 1e-15, "{function:?}");
        }
    }

    #[test]
    fn symmetric_functions_have_few_coefficients() {
        let fit = |function, low, high| {
            fit_within(&Request { function, low, high, gap: None }, 1e-3).unwrap().coefficients
        };
        assert!(fit(Function::Tanh, -4.0, 4.0).iter().step_by(2).all(|&c| c == 0.0));
        assert!(fit(Function::Gelu, -4.0, 4.0).iter().skip(3).step_by(2).all(|&c| c == 0.0));
        let sigmoid = fit(Function::Sigmoid, -4.0, 4.0);
        assert!(sigmoid[0] == 0.5 && sigmoid.len() <= 10);
    }

    #[test]
    fn what_is_linear_is_exact() {
        let fit =
            |function, low, high| fit_within(&Request { function, low, high, gap: None }, 1e-9).unwrap();
        assert_eq!(fit(Function::Abs, -3.0, -1.0).coefficients, [2.0, -1.0]);
        assert_eq!(fit(Function::Sign, 0.5, 1.0).coefficients, [1.0]);
        assert_eq!(fit(Function::Clip { low: -1.0, high: 1.0 }, -0.5, 0.5).coefficients, [0.0, 0.5]);
        assert_eq!(fit(Function::Log, 1.0, 1.0).coefficients, [0.0]);
    }

    #[test]
    fn the_zone_around_a_jump_stays_between() {
        let r = Request { function: Function::Step, low: -1.0, high: 1.0, gap: Some(0.1) };
        let a = fit_within(&r, 1e-2).unwrap();
        assert_eq!(a.gap, 0.1);
        let inside = |i: i32| chebyshev(&a.coefficients, f64::from(i) / 10_000.0);
        assert!((-1000..=1000).all(|i| (-0.01..=1.01).contains(&inside(i))));
        let out_of_reach = fit_within(&Request { gap: Some(1e-4), ..r }, 1e-6).unwrap_err();
        assert!(out_of_reach.degree() == MAX_DEGREE && out_of_reach.error > 0.4);
    }
}
