//! Predicted errors of the operations on matrices, as the root mean square over the entries in units of the scale.
//!
//! Entries are slots of diagonals, so what [`crate::rlwe::noise`] says of slots holds for entries. Here is what only
//! matrices have. Errors of independent sources add in quadrature.

use crate::rlwe::{Chain, noise};

/// The errors of the operands in a product A B^dagger: sqrt(n (|A|^2 e_B^2 + |B|^2 e_A^2)), with |.| the root mean square
/// of the entries and e that of their errors.
pub fn propagated(side: usize, a_rms: f64, a_error: f64, b_rms: f64, b_error: f64) -> f64 {
    (side as f64).sqrt() * (a_rms * b_error).hypot(b_rms * a_error)
}

/// The row sums of [`Gl::reduce_columns`](crate::gl::Gl::reduce_columns), for entries with independent errors e: sqrt(n) e.
pub fn reduced(side: usize, error: f64) -> f64 {
    (side as f64).sqrt() * error
}

/// A transpose in steps at `level`, averaged over the diagonals: log2(n) / 2 key switches each.
pub fn transpose_in_steps(chain: &Chain, level: usize) -> f64 {
    (f64::from(chain.ring_spec().rows().ilog2()) / 2.0).sqrt() * noise::key_switch(chain, level)
}

/// The key switches of A B^dagger in steps at `level` >= 1, averaged over the diagonals: 1 + log2(n) / 2 on each of two pairs,
/// one of which is then multiplied by the secret, and the relinearization.
pub fn product_in_steps_switch(chain: &Chain, level: usize) -> f64 {
    let (spec, prime) = (chain.ring_spec(), chain.spec().primes[level] as f64);
    let steps = 1.0 + f64::from(spec.rows().ilog2()) / 2.0;
    let secret = 2.0 * spec.degree() as f64 / 3.0;
    let pairs = (steps * (1.0 + secret)).sqrt() * noise::key_switch(chain, level) / prime;
    pairs.hypot(noise::key_switch_rescale(chain, level))
}

/// The key switches of A A^dagger at `level` >= 1, averaged over the diagonals: n/2 - 1 of them are images of others and
/// have been switched once more at the level below.
pub fn gram_switch(chain: &Chain, level: usize) -> f64 {
    let side = chain.ring_spec().rows() as f64;
    let images = ((side / 2.0 - 1.0) / side).sqrt() * noise::key_switch(chain, level - 1);
    product_switch(chain, level).hypot(images)
}

/// The key switches of A B^dagger at `level` >= 1 and the division by P q_l: two digit parts, one rounding.
pub fn product_switch(chain: &Chain, level: usize) -> f64 {
    let one = noise::key_switch_rescale(chain, level);
    let rounding = noise::rounding(chain.ring_spec());
    (2.0 * (one * one - rounding * rounding) + rounding * rounding).sqrt()
}
