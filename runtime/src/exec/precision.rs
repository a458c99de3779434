//! How far a result is from the expected one, in absolute numbers and in bits.

use plan::Tensor;

/// Absolute errors of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// largest
    pub max: f64,
    /// mean
    pub mean: f64,
    /// median
    pub median: f64,
}

impl Precision {
    /// Errors of `found` against `expected`; None if the shapes differ. A NaN counts as an infinite error.
    pub fn of(found: &Tensor, expected: &Tensor) -> Option<Precision> {
        if found.shape() != expected.shape() || found.is_empty() {
            return None;
        }
        let mut errors: Vec<f64> = found.zip(expected, |a, b| (a - b).abs()).into_data();
        errors.iter_mut().filter(|e| e.is_nan()).for_each(|e| *e = f64::INFINITY);
        errors.sort_unstable_by(f64::total_cmp);
        let n = errors.len();
        Some(Precision {
            max: errors[n - 1],
            mean: errors.iter().sum::<f64>() / n as f64,
            median: errors[n / 2],
        })
    }

    /// `-log2` of an error; an exact result counts as f64's own 53 bits.
    pub fn bits(error: f64) -> f64 {
        if error == 0.0 { 53.0 } else { -error.log2() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_sorted_out() {
        let expected = Tensor::new(vec![4], vec![0.0; 4]).unwrap();
        let found = Tensor::new(vec![4], vec![0.5, -0.25, 0.125, 0.125]).unwrap();
        assert_eq!(Precision::of(&found, &expected), Some(Precision { max: 0.5, mean: 0.25, median: 0.25 }));
        assert_eq!(Precision::of(&Tensor::scalar(1.0), &expected), None);
        let broken = Precision::of(&Tensor::scalar(f64::NAN), &Tensor::scalar(0.0)).unwrap();
        assert_eq!((Precision::bits(broken.max), Precision::bits(0.25)), (f64::NEG_INFINITY, 2.0));
    }
}
