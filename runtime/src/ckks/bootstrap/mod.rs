//! Bootstrapping of `Z[X]/(X^N + 1)`: a ciphertext of few levels comes back with more.
//!
//! 1. *Slots to coefficients*, three levels: the slots z become the coefficients of the plaintext, so what is bounded is the value
//!    of every single coefficient, |z| q_0 / 2^ratio.
//! 2. *Raise*: at level 0 the ciphertext is switched to an encapsulated sparse secret, read modulo the raised modulus, and
//!    switched back. Coefficients are now z q_0 / 2^ratio + q_0 I.
//! 3. *Coefficients to slots*, three primes: N coefficients over q_0 RANGE in N/2 complex slots, then real and imaginary parts.
//! 4. *Eval-mod*, nine primes: I is removed, and the slots are z again, at the canonical scale of the target level.
//!
//! Slots pass in bit-reversed order between 1 and 3, which costs nothing. Real values need half of step 4.
//!
//! The chain has the primes of values first, then those of eval-mod, then those of coefficients to slots. To reach a lower
//! target, the primes of the levels above it are left out of the raised modulus ([`Ckks::without`]).
//!
//! References: Bossuat et al. 2020/1203 (factored transforms, double hoisting), 2022/024 (encapsulation); slots to coefficients
//! first: Chen, Han 2018/067. Parameters and failure probability: [`plan::bootstrap`].

mod eval_mod;
mod matrices;

use crate::ckks::linear::{GiantStep, LinearTransform};
use crate::ckks::{Ciphertext, Ckks, CkksError};
use crate::math::fft::Complex;
use crate::rlwe::{EvaluationKeys, RlweError};
use eval_mod::eval_mod;
use matrices::Diagonals;
use plan::bootstrap::{COEFFS_TO_SLOTS, EVAL_MOD, RANGE, SLOTS_TO_COEFFS, StageGroup};
use std::f64::consts::PI;

const STEPS_DOWN: usize = SLOTS_TO_COEFFS as usize;

/// What the slots of a ciphertext hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// real numbers; imaginary parts are lost
    Real,
    /// complex numbers
    Complex,
}

/// The encoded transforms of one chain.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// highest level of values
    top: usize,
    /// the first transform down, encoded for every bootstrap at the scale it takes
    first: (Vec<GiantStep<Vec<Complex>>>, usize),
    down: Vec<LinearTransform>,
    up: Vec<LinearTransform>,
}

impl Bootstrap {
    /// Encodes the transforms. The scales of `ckks` are canonical up to the level `top` of values, and again from the first to
    /// the last prime of eval-mod.
    ///
    /// # Errors
    /// When the chain does not have the primes of a bootstrap above `top`, or the ring is not `Z[X]/(X^N + 1)`.
    pub fn new(ckks: &Ckks, top: usize) -> Result<Bootstrap, CkksError> {
        let (spec, chain, raised) = (ckks.chain().ring_spec(), ckks.chain(), ckks.max_level());
        if spec.w_len() != 1 || raised != top + EVAL_MOD + COEFFS_TO_SLOTS || top <= STEPS_DOWN {
            return Err(
                RlweError::InvalidChain { reason: "no primes of a bootstrap above the values" }.into()
            );
        }
        let groups = StageGroup::all(ckks.slots().trailing_zeros());
        let encode = |matrix: &Diagonals, level: usize, factor: f64, scale: f64| {
            LinearTransform::with_period(ckks, level, scale, &matrix.steps(spec, factor), matrix.period())
        };
        let down = groups.map(Diagonals::to_slots);
        let first = (down[0].steps(spec, 1.0), down[0].period());
        // the last of them brings the scale down to that of the coefficients
        let missing = coefficient_scale(ckks, top, top)? / ckks.scale(STEPS_DOWN)?;
        let down = down[1..].iter().zip([1.0, missing]).zip([2, 1]).map(|((matrix, missing), level)| {
            encode(matrix, level, 1.0, chain.prime(level)? as f64 * missing)
        });
        let down = down.collect::<Result<_, CkksError>>()?;
        // From coefficients over q_0 at scale q_0 to their half over RANGE at the scale of eval-mod, a third of the way each.
        let third = |x: f64| libm::cbrt(x);
        let factor = third(0.5 / f64::from(RANGE));
        let scale = third(ckks.scale(top + EVAL_MOD)? / chain.prime(0)? as f64);
        let up = groups.iter().rev().enumerate().map(|(i, &group)| {
            let level = raised - i;
            encode(&Diagonals::to_coefficients(group), level, factor, chain.prime(level)? as f64 * scale)
        });
        let up = up.collect::<Result<_, CkksError>>()?;
        Ok(Bootstrap { top, first, down, up })
    }

    /// Bytes of the encoded transforms.
    pub fn bytes(&self) -> usize {
        self.down.iter().chain(&self.up).map(LinearTransform::bytes).sum()
    }

    /// The same slots at the level `target`, for slots of at most 2^`log_bound` in absolute value (both parts).
    ///
    /// # Errors
    /// When the ciphertext is not at level 3 and of degree 1, the target is not above and among the levels of values, or a key
    /// is missing.
    pub fn apply(
        &self,
        ckks: &Ckks,
        ct: &Ciphertext,
        target: usize,
        log_bound: u32,
        parts: Parts,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        self.apply_observed(ckks, ct, target, log_bound, parts, keys, &mut |_| ())
    }

    /// As [`Bootstrap::apply`]; `done` is called with the name of every stage when it is over.
    ///
    /// # Errors
    /// As [`Bootstrap::apply`].
    pub fn apply_observed(
        &self,
        ckks: &Ckks,
        ct: &Ciphertext,
        target: usize,
        log_bound: u32,
        parts: Parts,
        keys: &EvaluationKeys,
        done: &mut dyn FnMut(&'static str),
    ) -> Result<Ciphertext, CkksError> {
        self.check_target(target)?;
        let packed = self.slots_to_coeffs(ckks, ct, target, log_bound, keys)?;
        done("slots_to_coeffs");
        let short = ckks.without(target + 1..self.top + 1)?;
        let raised = self.raise(ckks, &short, &packed, keys)?;
        done("raise");
        let slots = self.coeffs_to_slots(&short, &raised, keys)?;
        done("coeffs_to_slots");
        let refreshed = self.eval_mod(&short, &slots, parts, keys)?;
        done("eval_mod");
        // the scale is that of the target up to rounding, by the choice of the scale of the coefficients
        let scaled = ckks.mul_integer(&refreshed, 1 << log_bound);
        Ciphertext::new(scaled.rlwe, ckks.scale(target)?)
    }

    fn check_target(&self, target: usize) -> Result<(), CkksError> {
        if target > self.top {
            return Err(RlweError::LevelTooLow { needed: target, available: self.top }.into());
        }
        if target <= STEPS_DOWN {
            return Err(RlweError::LevelTooLow { needed: STEPS_DOWN + 1, available: target }.into());
        }
        Ok(())
    }

    /// From level 3 to level 0: the coefficients of the plaintext, in bit-reversed order, are the slots over 2^`log_bound`.
    fn slots_to_coeffs(
        &self,
        ckks: &Ckks,
        ct: &Ciphertext,
        target: usize,
        log_bound: u32,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        let chain = ckks.chain();
        // what the other transforms leave to the first one
        let wanted =
            coefficient_scale(ckks, self.top, target)? / coefficient_scale(ckks, self.top, self.top)?;
        let wanted = wanted * ckks.scale(STEPS_DOWN)? / ct.scale();
        let scale = chain.prime(STEPS_DOWN)? as f64 * wanted / f64::from(log_bound).exp2();
        let first = LinearTransform::with_period(ckks, STEPS_DOWN, scale, &self.first.0, self.first.1)?;
        let mut packed = first.apply(ckks, ct, keys)?;
        for transform in &self.down {
            packed = transform.apply(ckks, &packed, keys)?;
        }
        Ok(packed)
    }

    /// Modulo the raised modulus, with scale q_0: coefficients over q_0.
    fn raise(
        &self,
        ckks: &Ckks,
        short: &Ckks,
        packed: &Ciphertext,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        let raised = keys.encapsulation()?.raise(ckks.chain(), short.chain(), &packed.rlwe)?;
        Ciphertext::new(raised, ckks.chain().prime(0)? as f64)
    }

    /// Slots x / (2 RANGE), for complex x of two coefficients over q_0.
    fn coeffs_to_slots(
        &self,
        short: &Ckks,
        raised: &Ciphertext,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        let mut slots = raised.clone();
        for transform in &self.up {
            slots = transform.apply(short, &slots, keys)?;
        }
        let scale = short.scale(slots.level())?;
        Ciphertext::new(slots.rlwe, scale)
    }

    /// x mod 1 of both parts, or of the real part, from x / (2 RANGE); the scale is that of eval-mod.
    fn eval_mod(
        &self,
        short: &Ckks,
        slots: &Ciphertext,
        parts: Parts,
        keys: &EvaluationKeys,
    ) -> Result<Ciphertext, CkksError> {
        let conjugate = short.conjugate(slots, keys)?;
        let real = eval_mod(short, &short.add(slots, &conjugate)?, keys)?;
        if parts == Parts::Real {
            return Ok(real);
        }
        let imaginary = short.neg(&short.mul_imaginary(&short.sub(slots, &conjugate)?));
        let imaginary = eval_mod(short, &imaginary, keys)?;
        short.add(&real, &short.mul_imaginary(&imaginary))
    }
}

/// Scale S_0 of the coefficients at level 0 from which values come out at the canonical scale S of the target: with S_F the scale
/// after eval-mod, (24 pi S_0 / q_0) S_F = S.
fn coefficient_scale(ckks: &Ckks, top: usize, target: usize) -> Result<f64, CkksError> {
    let last = ckks.scale(top + 1)?;
    let after = last * last / ckks.chain().prime(top + 1)? as f64;
    Ok(ckks.scale(target)? * ckks.chain().prime(0)? as f64 / (24.0 * PI * after))
}

#[cfg(test)]
mod tests;
