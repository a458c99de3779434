//! Predicted errors of the RLWE operations, as the root mean square over the slots of the error polynomial (before any
//! scale is divided away).
//!
//! An error with independent coefficients of deviation sigma has slots of deviation sigma sqrt(N); the slots of a product
//! are products of slots, so reduction modulo Phi_p adds nothing. Secrets are uniform ternary, their slots have mean
//! square h = 2N/3. Errors of successive operations add in quadrature.

use crate::math::sampler::SIGMA;
use crate::ring::RingSpec;
use crate::rlwe::Chain;

/// Encryption under the secret key: sigma sqrt(N).
pub fn fresh_secret(ring: RingSpec) -> f64 {
    SIGMA * (ring.degree() as f64).sqrt()
}

/// Encryption under a public key: v e + e_0 + e_1 s, that is sigma sqrt(N (1 + 2 h)).
pub fn fresh_public(ring: RingSpec) -> f64 {
    fresh_secret(ring) * (1.0 + 2.0 * secret_mean_square(ring)).sqrt()
}

/// Rounding of both components after a division, b + a s with roundings uniform in [-1/2, 1/2]: sqrt(N (1 + h) / 12).
pub fn rounding(ring: RingSpec) -> f64 {
    (ring.degree() as f64 * (1.0 + secret_mean_square(ring)) / 12.0).sqrt()
}

/// The digits of one key switch at `level`, before the division by P: N sigma sqrt(sum_j D_j^2 / 12), D_j the product of
/// the primes of digit j. Divide by P (and q_l for a fused rescale), then add one [`rounding`].
pub fn key_product(chain: &Chain, level: usize) -> f64 {
    let primes = &chain.spec().primes[..=level.min(chain.max_level())];
    let digit = |primes: &[u64]| primes.iter().map(|&q| q as f64).product::<f64>();
    let squares: f64 = primes.chunks(chain.alpha()).map(|primes| digit(primes).powi(2)).sum();
    chain.ring_spec().degree() as f64 * SIGMA * (squares / 12.0).sqrt()
}

/// A key switch at `level`, rounding included.
pub fn key_switch(chain: &Chain, level: usize) -> f64 {
    let special: f64 = chain.spec().gadget.special.iter().map(|&p| p as f64).product();
    (key_product(chain, level) / special).hypot(rounding(chain.ring_spec()))
}

/// A key switch fused with the rescale from `level` >= 1.
pub fn key_switch_rescale(chain: &Chain, level: usize) -> f64 {
    let divisor: f64 = chain
        .spec()
        .gadget
        .special
        .iter()
        .chain(&chain.spec().primes[level..=level])
        .map(|&p| p as f64)
        .product();
    (key_product(chain, level) / divisor).hypot(rounding(chain.ring_spec()))
}

/// Root mean square over the slots of a polynomial with coefficients `[t][x]`.
///
/// By Parseval, without a transform: sum_l |sum_t c_t eta^(gamma^(l + t))|^2 = p sum_t c_t^2 - (sum_t c_t)^2.
pub fn slot_rms(ring: RingSpec, coefficients: &[f64]) -> f64 {
    let (x_len, w_len) = (ring.x_len(), ring.w_len());
    let total: f64 = coefficients.iter().map(|c| c * c).sum();
    if w_len == 1 {
        return total.sqrt();
    }
    let column = |x: usize| coefficients.iter().skip(x).step_by(x_len).sum::<f64>();
    let columns: f64 = (0..x_len).map(|x| column(x).powi(2)).sum();
    ((ring.p() as f64 * total - columns) / w_len as f64).sqrt()
}

fn secret_mean_square(ring: RingSpec) -> f64 {
    2.0 * ring.degree() as f64 / 3.0
}
