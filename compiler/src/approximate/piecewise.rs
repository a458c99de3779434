//! Functions with a jump or a bend by compositions for the sign: sign and step themselves, `|x| = x sign(x)`,
//! `relu(x) = x step(x)`, `clip(x, a, b) = (a + b + |x - a| - |x - b|) / 2`.

use crate::approximate::composite::{Composite, absolute, sign};
use crate::approximate::fit::{DEFAULT_GAP, Request};
use plan::Function;

/// `offset + sum of parts`.
#[derive(Clone, Debug, PartialEq)]
pub struct Piecewise {
    /// number to be added
    pub offset: f64,
    /// the parts
    pub parts: Vec<Part>,
    /// largest absolute error, outside the gap
    pub error: f64,
    /// half width of the zone without that bound; 0 if there is none
    pub gap: f64,
}

/// The last stage of `stages` after the others at `(x - shift) / reach`, times `x - shift` if `product` says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// where the jump or bend is
    pub shift: f64,
    /// largest distance of an argument from it
    pub reach: f64,
    /// Chebyshev coefficients on [-1, 1] of every stage
    pub stages: Vec<Vec<f64>>,
    /// whether the value is multiplied by the distance
    pub product: bool,
    /// levels, with those of the product
    pub depth: u32,
}

impl Piecewise {
    /// Levels of the deepest part.
    pub fn depth(&self) -> u32 {
        self.parts.iter().map(|p| p.depth).max().unwrap_or(0)
    }
    /// Degree as one polynomial.
    pub fn degree(&self) -> usize {
        let of = |p: &Part| p.stages.iter().map(|c| c.len() - 1).product::<usize>() + usize::from(p.product);
        self.parts.iter().map(of).max().unwrap_or(0)
    }
}

/// Compositions for a function with a jump or a bend inside the interval; None for others, or if they would be too deep.
pub fn piecewise(r: &Request, within: f64) -> Option<Piecewise> {
    let reach = r.low.abs().max(r.high.abs());
    let bend = |shift: f64, weight: f64, constant: f64, share: f64| {
        let reach = (r.low - shift).abs().max((r.high - shift).abs());
        let part = within * share / weight.abs() / reach;
        let found = match (r.function, r.gap) {
            (Function::Clip { .. }, _) | (_, None) => absolute(part),
            (_, Some(gap)) => sign(gap / reach, part),
        };
        found.map(|c| Part::new(c, shift, reach, weight, constant, true))
    };
    let jump = |weight: f64, constant: f64| {
        let gap = r.gap.unwrap_or(DEFAULT_GAP * reach) / reach;
        let found = sign(gap, within / weight)?;
        Some((Part::new(found, 0.0, reach, weight, constant, false), gap * reach))
    };
    let (offset, parts, gap) = match r.function {
        Function::Sign => jump(1.0, 0.0).map(|(p, gap)| (0.0, vec![p], gap))?,
        Function::Step => jump(0.5, 0.5).map(|(p, gap)| (0.0, vec![p], gap))?,
        Function::Abs => (0.0, vec![bend(0.0, 1.0, 0.0, 1.0)?], r.gap.unwrap_or(0.0)),
        Function::Relu => (0.0, vec![bend(0.0, 0.5, 0.5, 1.0)?], r.gap.unwrap_or(0.0)),
        Function::Clip { low, high } => {
            ((low + high) / 2.0, vec![bend(low, 0.5, 0.0, 0.5)?, bend(high, -0.5, 0.0, 0.5)?], 0.0)
        }
        _ => return None,
    };
    Some(Piecewise { offset, parts, error: within, gap })
}

impl Part {
    /// `weight sign + constant`, with both in the last stage.
    fn new(c: Composite, shift: f64, reach: f64, weight: f64, constant: f64, product: bool) -> Part {
        let mut stages = c.stages;
        if let Some(last) = stages.last_mut() {
            last.iter_mut().for_each(|x| *x *= weight);
            last[0] += constant;
        }
        Part { shift, reach, stages, product, depth: c.depth + u32::from(product) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::op::chebyshev;

    fn value(p: &Piecewise, x: f64) -> f64 {
        let part = |p: &Part| {
            let d = x - p.shift;
            let s = p.stages.iter().fold(d / p.reach, |u, c| chebyshev(c, u));
            if p.product { d * s } else { s }
        };
        p.offset + p.parts.iter().map(part).sum::<f64>()
    }

    #[test]
    fn bounds_hold_where_one_polynomial_is_out_of_reach() {
        use Function::*;
        for function in [Abs, Relu, Sign, Step, Clip { low: -0.5, high: 2.0 }] {
            for (low, high, gap) in [(-4.0, 4.0, None), (-1.0, 6.0, Some(0.02))] {
                let r = Request { function, low, high, gap };
                let p = piecewise(&r, 2e-4).unwrap_or_else(|| panic!("{r:?}"));
                for i in 0..=50_000 {
                    let x = low + (high - low) * f64::from(i) / 50_000.0;
                    let miss = (value(&p, x) - function.eval(x)).abs();
                    assert!(x.abs() < p.gap || miss <= p.error, "{r:?} at {x}: {miss}");
                }
            }
        }
        assert_eq!(piecewise(&Request { function: Exp, low: 0.0, high: 1.0, gap: None }, 0.1), None);
    }
}
