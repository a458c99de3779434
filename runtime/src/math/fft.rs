//! Complex numbers and the discrete Fourier transform of power-of-two length in f64, on many columns at once.
//!
//! Roots of unity are correct to the last bit or so (angles are reduced to one octant by integer arithmetic first) and come
//! from `libm`, so results have the same bits on every machine. The error of a transform is about 2^-52 sqrt(log2 length)
//! relative to the norm of the vector.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// real part
    pub re: f64,
    /// imaginary part
    pub im: f64,
}

impl Complex {
    /// 0
    pub const ZERO: Complex = Complex { re: 0.0, im: 0.0 };
    /// 1
    pub const ONE: Complex = Complex { re: 1.0, im: 0.0 };
    /// i
    pub const I: Complex = Complex { re: 0.0, im: 1.0 };

    /// re + i im
    #[inline(always)]
    pub fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }

    /// The complex conjugate.
    #[inline(always)]
    pub fn conj(self) -> Complex {
        Complex::new(self.re, -self.im)
    }

    /// Both parts times a real number.
    #[inline(always)]
    pub fn scale(self, factor: f64) -> Complex {
        Complex::new(self.re * factor, self.im * factor)
    }

    /// re^2 + im^2
    #[inline(always)]
    pub fn norm_squared(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    /// The absolute value.
    pub fn abs(self) -> f64 {
        libm::hypot(self.re, self.im)
    }

    /// Whether neither part is infinite or not a number.
    pub fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }

    /// e^(2 pi i k / order); needs 0 < order < 2^32.
    pub fn root_of_unity(k: u64, order: u64) -> Complex {
        // The angle is (8 k / order) octants = (octant + rest / order) octants, reflected into [0, 1/2] quarter turns.
        let k = 8 * (k % order);
        let (octant, rest) = (k / order, k % order);
        let reduced = if octant % 2 == 0 { rest } else { order - rest };
        let (sin, cos) = libm::sincos(std::f64::consts::FRAC_PI_4 * reduced as f64 / order as f64);
        let (a, b) = match octant % 8 {
            0 => (cos, sin),
            1 => (sin, cos),
            2 => (-sin, cos),
            3 => (-cos, sin),
            4 => (-cos, -sin),
            5 => (-sin, -cos),
            6 => (sin, -cos),
            _ => (cos, -sin),
        };
        Complex::new(a, b)
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Complex {
        Complex::new(re, 0.0)
    }
}

impl Add for Complex {
    type Output = Complex;
    #[inline(always)]
    fn add(self, other: Complex) -> Complex {
        Complex::new(self.re + other.re, self.im + other.im)
    }
}

impl AddAssign for Complex {
    #[inline(always)]
    fn add_assign(&mut self, other: Complex) {
        *self = *self + other;
    }
}

impl Sub for Complex {
    type Output = Complex;
    #[inline(always)]
    fn sub(self, other: Complex) -> Complex {
        Complex::new(self.re - other.re, self.im - other.im)
    }
}

impl Neg for Complex {
    type Output = Complex;
    #[inline(always)]
    fn neg(self) -> Complex {
        Complex::new(-self.re, -self.im)
    }
}

impl Mul for Complex {
    type Output = Complex;
    #[inline(always)]
    fn mul(self, other: Complex) -> Complex {
        Complex::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

/// Tables of the transform of one length.
#[derive(Clone, Debug)]
pub struct Fft {
    /// entry h + k: e^(2 pi i k / 2h), k < h, for h = 1, 2, 4, .. below the length
    twiddles: Vec<Complex>,
}

impl Fft {
    /// Tables for vectors of `length` = 2^k < 2^31 entries.
    pub fn new(length: usize) -> Fft {
        debug_assert!(length.is_power_of_two());
        let entry = |i: usize| {
            let half = 1 << i.max(1).ilog2();
            Complex::root_of_unity((i.max(1) - half) as u64, 2 * half as u64)
        };
        Fft { twiddles: (0..length).map(entry).collect() }
    }

    /// Number of rows.
    pub fn length(&self) -> usize {
        self.twiddles.len()
    }

    /// Rows c_t, t < M, natural order -> rows sum_t c_t e^(2 pi i f t / M), f bit-reversed, in place.
    pub fn forward(&self, rows: &mut [Complex]) {
        let width = rows.len() / self.length();
        let mut half = self.length() / 2;
        while half > 0 {
            let twiddles = &self.twiddles[half..2 * half];
            for block in rows.chunks_exact_mut(2 * half * width) {
                for_each_pair(block, width, twiddles, |x, y, w| (*x, *y) = (*x + *y, (*x - *y) * w));
            }
            half /= 2;
        }
    }

    /// The inverse of [`Fft::forward`] times the length: rows c_f, f bit-reversed -> rows
    /// sum_f c_f e^(-2 pi i f t / M), t natural, in place.
    pub fn inverse(&self, rows: &mut [Complex]) {
        let width = rows.len() / self.length();
        let mut half = 1;
        while half < self.length() {
            let twiddles = &self.twiddles[half..2 * half];
            for block in rows.chunks_exact_mut(2 * half * width) {
                for_each_pair(block, width, twiddles, |x, y, w| {
                    let v = *y * w.conj();
                    (*x, *y) = (*x + v, *x - v);
                });
            }
            half *= 2;
        }
    }
}

/// Calls `f` for corresponding entries of row k and row half + k, with the twiddle of k.
#[inline(always)]
fn for_each_pair(
    block: &mut [Complex],
    width: usize,
    twiddles: &[Complex],
    f: impl Fn(&mut Complex, &mut Complex, Complex),
) {
    let (low, high) = block.split_at_mut(twiddles.len() * width);
    if width == 1 {
        for ((x, y), &w) in low.iter_mut().zip(high).zip(twiddles) {
            f(x, y, w);
        }
        return;
    }
    for ((xs, ys), &w) in low.chunks_exact_mut(width).zip(high.chunks_exact_mut(width)).zip(twiddles) {
        for (x, y) in xs.iter_mut().zip(ys) {
            f(x, y, w);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::ntt::bit_reverse;

    #[test]
    fn roots_of_unity_are_exact_where_they_can_be() {
        for order in [1u64, 2, 3, 4, 5, 8, 257, 1153, 1 << 18] {
            for k in [0, 1, order / 4, order / 3, order / 2, order - 1, order, 3 * order + 1] {
                let w = Complex::root_of_unity(k, order);
                let angle = std::f64::consts::TAU * (k % order) as f64 / order as f64;
                assert!((w - Complex::new(angle.cos(), angle.sin())).abs() < 1e-15, "{k} of {order}");
                assert!((w.norm_squared() - 1.0).abs() < 4.0 * f64::EPSILON);
                assert!(
                    (w.conj() - Complex::root_of_unity(order - k % order, order)).abs() < 2.0 * f64::EPSILON
                );
            }
        }
        for (k, w) in [Complex::ONE, Complex::I, -Complex::ONE, -Complex::I].into_iter().enumerate() {
            assert_eq!(Complex::root_of_unity(k as u64, 4), w);
        }
    }

    #[test]
    fn transform_agrees_with_its_definition() {
        for (log_length, width) in [(0u32, 3), (1, 1), (3, 1), (4, 5), (6, 2)] {
            let length = 1usize << log_length;
            let fft = Fft::new(length);
            let a: Vec<Complex> = (0..length * width)
                .map(|i| Complex::new((i * i % 31) as f64, (i * 7 % 13) as f64 - 6.0))
                .collect();
            let mut b = a.clone();
            fft.forward(&mut b);
            for i in 0..length {
                for j in 0..width {
                    let f = bit_reverse(i, log_length);
                    let sum = (0..length).fold(Complex::ZERO, |sum, t| {
                        sum + a[t * width + j] * Complex::root_of_unity((f * t) as u64, length as u64)
                    });
                    assert!((b[i * width + j] - sum).abs() < 1e-11);
                }
            }
            fft.inverse(&mut b);
            for (x, y) in a.iter().zip(&b) {
                assert!((*x - y.scale(1.0 / length as f64)).abs() < 1e-12);
            }
        }
    }
}
