//! The transform of one limb: an element of R modulo one prime, between coefficients and values.
//!
//! Along X it is the negacyclic transform of every row t. Along W (Gentry-Lee rings only), with W = eta^(gamma^l) and the
//! basis W^(gamma^t), the values are z_l = sum_t c_t eta^(gamma^(l + t)): a cyclic correlation of length p - 1 with a fixed
//! vector (Rader, "Discrete Fourier transforms when the number of data samples is prime", 1968). It is computed as
//! F^T (k * F c), with F the cyclic transform and k the transformed vector; so is its inverse,
//! c_t = (1/p) sum_l z_l (eta^-(gamma^(l + t)) - 1).
//!
//! Values of a Gentry-Lee ring are ordered `[l][s][j]` at the points X = zeta^((-1)^s 5^j), so that every automorphism is a
//! cyclic shift; those of the power-of-two ring are in bit-reversed order.

use crate::math::{
    modulus::{Modulus, Shoup},
    ntt::{CyclicNtt, NegacyclicNtt, bit_reverse},
    root::{RootError, element_of_order},
};
use crate::ring::RingSpec;

/// Tables of the transform modulo one prime.
#[derive(Clone, Debug)]
pub(crate) struct LimbRing {
    modulus: Modulus,
    /// zeta^(x_len / 2), a square root of -1
    imaginary: u64,
    x_axis: NegacyclicNtt,
    w_axis: Option<WAxis>,
}

/// Tables for the W axis of a Gentry-Lee ring.
#[derive(Clone, Debug)]
struct WAxis {
    cyclic: CyclicNtt,
    /// the vectors behind the correlations
    forward: Vec<Shoup>,
    inverse: Vec<Shoup>,
    /// place of (s, j) in the order of the X transform
    order: Vec<u32>,
}

impl LimbRing {
    /// Tables for a valid ring and a prime that is 1 modulo its step.
    pub(crate) fn new(spec: RingSpec, modulus: Modulus) -> Result<LimbRing, RootError> {
        let x_axis = NegacyclicNtt::new(modulus, spec.x_len().ilog2())?;
        let w_axis = match spec {
            RingSpec::PowerOfTwo { .. } => None,
            RingSpec::Gl { .. } => Some(WAxis::new(spec, modulus)?),
        };
        let imaginary = modulus.pow(x_axis.psi(), spec.rows() as u64);
        Ok(LimbRing { modulus, imaginary, x_axis, w_axis })
    }

    pub(crate) fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The value of X^(x_len / 2) at the points X = zeta^(5^j).
    pub(crate) fn imaginary(&self) -> u64 {
        self.imaginary
    }

    /// Primitive root zeta of order 2 `x_len` at whose powers the values are taken.
    #[cfg(test)]
    pub(crate) fn zeta(&self) -> u64 {
        self.x_axis.psi()
    }

    /// Coefficients -> values, in place.
    pub(crate) fn forward(&self, limb: &mut [u64]) {
        let Some(w) = &self.w_axis else { return self.x_axis.forward(limb) };
        let mut row = vec![0; w.order.len()];
        for values in limb.chunks_exact_mut(row.len()) {
            row.copy_from_slice(values);
            self.x_axis.forward(&mut row);
            for (value, &place) in values.iter_mut().zip(&w.order) {
                *value = row[place as usize];
            }
        }
        w.cyclic.correlate(limb, &w.forward);
    }

    /// Values -> coefficients times the residue c, in place.
    pub(crate) fn inverse_scaled(&self, limb: &mut [u64], c: u64) {
        let Some(w) = &self.w_axis else { return self.x_axis.inverse_scaled(limb, c) };
        w.cyclic.correlate(limb, &w.inverse);
        let mut row = vec![0; w.order.len()];
        for values in limb.chunks_exact_mut(row.len()) {
            for (&value, &place) in values.iter().zip(&w.order) {
                row[place as usize] = value;
            }
            self.x_axis.inverse_scaled(&mut row, c);
            values.copy_from_slice(&row);
        }
    }
}

impl WAxis {
    fn new(spec: RingSpec, modulus: Modulus) -> Result<WAxis, RootError> {
        let (m, p, len) = (&modulus, spec.p() as u64, spec.w_len());
        let cyclic = CyclicNtt::new(modulus, len)?;
        let eta = element_of_order(p, m)?;
        let exponents = std::iter::successors(Some(1), |e| Some(e * spec.gamma() % p));
        let points: Vec<u64> = exponents.take(len).map(|e| m.pow(eta, e)).collect();
        let inverse_p = m.inv(p);
        let duals: Vec<u64> = points.iter().map(|&w| m.mul(m.sub(m.inv(w), 1), inverse_p)).collect();
        let kernel = |vector: &[u64]| transformed_kernel(m, &cyclic, vector);
        let (forward, inverse) = (kernel(&points), kernel(&duals));
        Ok(WAxis { forward, inverse, cyclic, order: sign_and_row_order(spec) })
    }
}

/// With F c = (sum_t c_t g^(f t))_f, the correlation with k is F^T (K * F c) for K_f = (1/M) sum_u k_u g^(-f u).
fn transformed_kernel(m: &Modulus, cyclic: &CyclicNtt, vector: &[u64]) -> Vec<Shoup> {
    let len = vector.len();
    let scale = m.inv(len as u64);
    let mut mirrored: Vec<u64> = (0..len).map(|u| m.mul(vector[(len - u) % len], scale)).collect();
    cyclic.forward(&mut mirrored);
    mirrored.into_iter().map(|k| m.shoup(k)).collect()
}

/// Entry (s, j): where the bit-reversed transform along X puts the value at zeta^((-1)^s 5^j).
fn sign_and_row_order(spec: RingSpec) -> Vec<u32> {
    let (x_len, rows) = (spec.x_len(), spec.rows());
    let powers = std::iter::successors(Some(1), |e| Some(5 * e % (2 * x_len)));
    let positive: Vec<usize> = powers.take(rows).collect();
    let negative = positive.iter().map(|e| 2 * x_len - e);
    let places = positive.iter().copied().chain(negative).map(|e| bit_reverse(e / 2, x_len.ilog2()) as u32);
    places.collect()
}
