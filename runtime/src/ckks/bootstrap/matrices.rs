//! The transforms between coefficients and slots as products of matrices with few diagonals.
//!
//! The slots of a polynomial with complex coefficients c_0, ..., c_(n-1) in bit-reversed order are n/2 butterflies in each of
//! log2 n stages away: in stage h = 1, 2, 4, ..., n/2, within each block of 2h,
//!
//!   x_j, x_(j+h)  <-  x_j + w x_(j+h), x_j - w x_(j+h),    w = e^(2 pi i 5^j / 8h), j < h.
//!
//! A stage has diagonals at 0, h and -h and repeats itself every 2h slots; so do the merged stages of a [`StageGroup`] at
//! multiples of their first h and every block of their last one.
//!
//! Reference: Chen, Chillotti, Song 2018/1043; Cheon, Han, Hhan 2018/1073.

use crate::ckks::linear::GiantStep;
use crate::math::fft::Complex;
use crate::ring::{Galois, RingSpec};
use plan::bootstrap::StageGroup;
use std::collections::BTreeMap;

/// Diagonals by multiple of the stride of their group, as it numbers them; each is given over one period.
#[derive(Clone, Debug)]
pub struct Diagonals {
    group: StageGroup,
    values: BTreeMap<i64, Vec<Complex>>,
}

impl Diagonals {
    /// The stages of a group from coefficients to slots.
    pub fn to_slots(group: StageGroup) -> Diagonals {
        Diagonals::product(group, (0..group.stages).map(|i| group.log_stride + i), |j, h| {
            let w = twiddle(j % h, h);
            if j < h { (Complex::ONE, w) } else { (-w, Complex::ONE) }
        })
    }

    /// The stages of a group from slots to coefficients: the inverse.
    pub fn to_coefficients(group: StageGroup) -> Diagonals {
        let stages = (0..group.stages).rev().map(|i| group.log_stride + i);
        Diagonals::product(group, stages, |j, h| {
            let w = twiddle(j % h, h).conj().scale(0.5);
            if j < h { (Complex::new(0.5, 0.0), Complex::new(0.5, 0.0)) } else { (-w, w) }
        })
    }

    /// The product of stages, first to last; `row(j, h)` gives what row j of a block of the stage h takes of x_j, and of the
    /// other element of its butterfly.
    fn product(
        group: StageGroup,
        stages: impl Iterator<Item = u32>,
        row: impl Fn(usize, usize) -> (Complex, Complex),
    ) -> Diagonals {
        let period = 1usize << (group.log_stride + group.stages);
        let mut values = BTreeMap::from([(0, vec![Complex::ONE; period])]);
        for stage in stages {
            let h = 1usize << stage;
            let mut next: BTreeMap<i64, Vec<Complex>> = BTreeMap::new();
            for i in 0..period {
                let j = i % (2 * h);
                let (own, other) = row(j, h);
                let step = if j < h { h as i64 } else { -(h as i64) };
                for (shift, factor) in [(0, own), (step, other)] {
                    let from = (i as i64 + shift).rem_euclid(period as i64) as usize;
                    for (&multiple, diagonal) in &values {
                        if diagonal[from] != Complex::ZERO {
                            let multiple = number(group, multiple + (shift >> group.log_stride));
                            let out = next.entry(multiple).or_insert_with(|| vec![Complex::ZERO; period]);
                            out[i] += factor * diagonal[from];
                        }
                    }
                }
            }
            values = next;
        }
        Diagonals { group, values }
    }

    /// Slots after which the diagonals repeat.
    pub fn period(&self) -> usize {
        1 << (self.group.log_stride + self.group.stages)
    }

    /// The matrix times a vector of a multiple of the period.
    #[cfg(test)]
    pub fn apply(&self, x: &[Complex]) -> Vec<Complex> {
        let (n, period) = (x.len() as i64, self.period());
        let entry = |i: usize| {
            let term = |(&multiple, diagonal): (&i64, &Vec<Complex>)| {
                let from = (i as i64 + (multiple << self.group.log_stride)).rem_euclid(n);
                diagonal[i % period] * x[from as usize]
            };
            self.values.iter().map(term).fold(Complex::ZERO, |sum, t| sum + t)
        };
        (0..x.len()).map(entry).collect()
    }

    /// Baby and giant steps on a ring: every mask is its diagonal times `factor`, turned back by its giant step.
    pub fn steps(&self, spec: RingSpec, factor: f64) -> Vec<GiantStep<Vec<Complex>>> {
        let mut steps: BTreeMap<i64, Vec<(Galois, Vec<Complex>)>> = BTreeMap::new();
        let period = self.period() as i64;
        for (&multiple, diagonal) in &self.values {
            let (baby, giant) = self.group.split(multiple);
            let [baby, giant] = [baby, giant].map(|s| s << self.group.log_stride);
            let at = |i: i64| diagonal[(i - giant).rem_euclid(period) as usize].scale(factor);
            steps.entry(giant).or_default().push((spec.rotation(baby), (0..period).map(at).collect()));
        }
        steps.into_iter().map(|(giant, babies)| GiantStep { giant: spec.rotation(giant), babies }).collect()
    }
}

/// The number of a diagonal: those of the last group wrap around.
fn number(group: StageGroup, multiple: i64) -> i64 {
    if group.last { multiple.rem_euclid(1 << group.stages) } else { multiple }
}

/// e^(2 pi i 5^j / 8h)
fn twiddle(j: usize, h: usize) -> Complex {
    let order = 8 * h as u64;
    let power = (0..j).fold(1, |power, _| power * 5 % order);
    Complex::root_of_unity(power, order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::embedding::Embedding;
    use crate::math::ntt::bit_reverse;

    #[test]
    fn products_are_the_embedding() {
        for log_slots in [4, 7, 8] {
            let (n, groups) = (1usize << log_slots, StageGroup::all(log_slots));
            let embedding = Embedding::new(RingSpec::PowerOfTwo { log_n: log_slots + 1 });
            let coefficients: Vec<f64> = (0..2 * n).map(|i| (i as f64 * 0.7).sin()).collect();
            let slots = embedding.decode(&coefficients);
            let reversed = |j: usize| {
                let i = bit_reverse(j, log_slots);
                Complex::new(coefficients[i], coefficients[i + n])
            };
            let packed: Vec<Complex> = (0..n).map(reversed).collect();
            let forward = groups.iter().fold(packed.clone(), |x, &g| Diagonals::to_slots(g).apply(&x));
            let back =
                groups.iter().rev().fold(slots.clone(), |x, &g| Diagonals::to_coefficients(g).apply(&x));
            let distance = |a: &[Complex], b: &[Complex]| {
                a.iter().zip(b).map(|(&x, &y)| (x - y).abs()).fold(0.0, f64::max)
            };
            assert!(distance(&forward, &slots) < 1e-11);
            assert!(distance(&back, &packed) < 1e-12);
        }
    }

    #[test]
    fn diagonals_are_where_the_group_says() {
        for group in StageGroup::all(8) {
            for diagonals in [Diagonals::to_slots(group), Diagonals::to_coefficients(group)] {
                assert!(diagonals.values.keys().all(|m| group.multiples().contains(m)));
                assert_eq!(diagonals.values.len(), group.multiples().count());
            }
        }
    }
}
