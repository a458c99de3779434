//! CKKS as a backend: slot `i` of a plan is slot `i` of the ring.

use super::backend::{Backend, Map, OpError};
use super::ckks_linear;
use super::scheme::{EncryptionKey, Scheme, chain};
use crate::ckks::bootstrap::{Bootstrap, Parts};
use crate::ckks::masked_matmul::Frame;
use crate::ckks::{Ciphertext, Ckks, CkksError, Plaintext};
use crate::math::fft::Complex;
use crate::math::sampler::Sampler;
use crate::ring::Galois;
use crate::rlwe::{self, Chain, EvaluationKeys, KeySource, RlweError, SecretKey};
use plan::{Geometry, KeyKind, Level, Plan, Shift};
use std::sync::Arc;

/// CKKS for the parameters of a plan, with evaluation keys.
pub struct CkksScheme {
    pub(super) ckks: Ckks,
    pub(super) geometry: Geometry,
    pub(super) keys: EvaluationKeys,
    bootstrap: Option<Bootstrap>,
}

impl CkksScheme {
    /// The arithmetic.
    pub fn ckks(&self) -> &Ckks {
        &self.ckks
    }

    /// The encoded transforms of bootstrapping, where the keys for it are at hand.
    ///
    /// # Errors
    /// When they are not.
    pub fn bootstrapping(&self) -> Result<&Bootstrap, RlweError> {
        self.bootstrap.as_ref().ok_or(RlweError::MissingEncapsulation)
    }

    pub(super) fn galois(&self, shift: Shift) -> Galois {
        let steps = match shift {
            Shift::Slots(steps) => steps,
            Shift::Grid { .. } => 0,
        };
        self.ckks.chain().ring_spec().rotation(steps as i64)
    }

    fn encode(&self, slots: &[f64], level: usize) -> Result<Plaintext, CkksError> {
        let slots: Vec<Complex> = slots.iter().map(|&x| x.into()).collect();
        self.ckks.encode(&slots, level)
    }
}

impl Backend for CkksScheme {
    type Ciphertext = Ciphertext;

    fn level(&self, a: &Ciphertext) -> Level {
        Level(a.level() as u32)
    }
    fn scale(&self, a: &Ciphertext) -> f64 {
        a.scale()
    }
    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, OpError> {
        Ok(self.ckks.add(a, b)?)
    }
    fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, OpError> {
        Ok(self.ckks.sub(a, b)?)
    }
    fn neg(&self, a: &Ciphertext) -> Result<Ciphertext, OpError> {
        Ok(self.ckks.neg(a))
    }
    fn mul_integer(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext, OpError> {
        Ok(self.ckks.mul_integer(a, k))
    }
    fn add_clear(&self, a: &Ciphertext, slots: &[f64]) -> Result<Ciphertext, OpError> {
        Ok(self.ckks.add_plain(a, &self.encode(slots, a.level())?)?)
    }
    fn mul_clear(&self, a: &Ciphertext, slots: &[f64]) -> Result<Ciphertext, OpError> {
        Ok(self.ckks.mul_plain_rescale(a, &self.encode(slots, a.level())?)?)
    }
    fn mul(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, OpError> {
        Ok(if std::ptr::eq(a, b) {
            self.ckks.square(a, &self.keys)?
        } else {
            self.ckks.mul(a, b, &self.keys)?
        })
    }
    fn combine(&self, terms: &[(f64, &Ciphertext)]) -> Result<Ciphertext, OpError> {
        let (first, rest) = terms.split_first().ok_or(OpError::Empty)?;
        let scale = self.ckks.scale(first.1.level())?;
        let term = |(c, a): &(f64, &Ciphertext)| self.ckks.mul_constant(a, (*c).into(), scale);
        let mut sum = term(first)?;
        for t in rest {
            self.ckks.add_assign(&mut sum, &term(t)?)?;
        }
        Ok(self.ckks.rescale(&sum)?)
    }
    fn adjust(&self, a: &Ciphertext, level: Level) -> Result<Ciphertext, OpError> {
        Ok(self.ckks.adjust(a, level.0 as usize)?)
    }
    fn bootstrap(&self, a: &Ciphertext, log_bound: u32, level: Level) -> Result<Ciphertext, OpError> {
        let (bootstrap, target) = (self.bootstrapping()?, level.0 as usize);
        Ok(bootstrap.apply(&self.ckks, a, target, log_bound, Parts::Real, &self.keys)?)
    }
    fn linear(&self, x: &[Ciphertext], map: &Map) -> Result<Vec<Ciphertext>, OpError> {
        if map.masks { ckks_linear::masked(self, x, map) } else { ckks_linear::unmasked(self, x, map) }
    }
    fn masked_matmul(&self, a: &Ciphertext, b: &Ciphertext, inner: usize) -> Result<Ciphertext, OpError> {
        let frame = Frame::new(&self.ckks, self.geometry.rows, self.geometry.cols)?;
        Ok(frame.matmul(&self.ckks, a, b, inner, &self.keys)?)
    }
    fn matmul(&self, _: &[(&Ciphertext, &Ciphertext)]) -> Result<Ciphertext, OpError> {
        Err(OpError::Unsupported { operation: "matmul", scheme: "ckks" })
    }
    fn matmul_clear(&self, _: &[(&Ciphertext, Vec<f64>)]) -> Result<Ciphertext, OpError> {
        Err(OpError::Unsupported { operation: "matmul_clear", scheme: "ckks" })
    }
    fn flip(&self, _: &Ciphertext) -> Result<Ciphertext, OpError> {
        Err(OpError::Unsupported { operation: "flip", scheme: "ckks" })
    }
}

impl Scheme for CkksScheme {
    fn new(plan: &Plan, keys: EvaluationKeys) -> Result<CkksScheme, OpError> {
        let params = &plan.params;
        let ckks = Ckks::with_scales(Arc::new(chain(params)?), params.raised_scales())?;
        let bootstraps = keys.encapsulation().is_ok() && params.bootstrap.is_some();
        let bootstrap = bootstraps.then(|| Bootstrap::new(&ckks, params.top().0 as usize)).transpose()?;
        Ok(CkksScheme { ckks, geometry: plan.geometry, keys, bootstrap })
    }

    fn chain(&self) -> &Chain {
        self.ckks.chain()
    }

    fn keys(&self) -> &EvaluationKeys {
        &self.keys
    }

    fn sources(&self, kind: KeyKind) -> Vec<KeySource> {
        match kind {
            KeyKind::Relinearize => vec![KeySource::SQUARE],
            KeyKind::Rotate(shift) => vec![KeySource::Galois(self.galois(shift))],
            KeyKind::Conjugate => vec![KeySource::Galois(self.ckks.chain().ring_spec().conjugation())],
            KeyKind::Product | KeyKind::Flip | KeyKind::Encapsulate | KeyKind::Raise => vec![],
        }
    }

    fn encrypt(
        &self,
        slots: &[f64],
        level: Level,
        key: &EncryptionKey,
        sampler: &mut Sampler,
    ) -> Result<Ciphertext, OpError> {
        let plaintext = self.encode(slots, level.0 as usize)?;
        Ok(match key {
            EncryptionKey::Secret(key) => self.ckks.encrypt(key, &plaintext, sampler)?,
            EncryptionKey::Public(key) => self.ckks.encrypt_public(key, &plaintext, sampler)?,
        })
    }

    fn decrypt(&self, secret: &SecretKey, ct: &Ciphertext) -> Result<Vec<f64>, OpError> {
        // two primes hold every value, and all that decoding can use
        let low = self.ckks.drop_to_level(ct, ct.level().min(1))?;
        Ok(self.ckks.decode(&self.ckks.decrypt(secret, &low)).iter().map(|z| z.re).collect())
    }

    fn parts(ct: &Ciphertext) -> Vec<&rlwe::Ciphertext> {
        vec![ct.rlwe()]
    }

    fn part_count(&self) -> usize {
        1
    }

    fn assemble(&self, mut parts: Vec<rlwe::Ciphertext>) -> Result<Ciphertext, OpError> {
        let rlwe = parts.pop().filter(|_| parts.is_empty()).ok_or(OpError::Empty)?;
        self.ckks.chain().check(&rlwe)?;
        if rlwe.degree() != 1 {
            return Err(RlweError::DegreeMismatch { needed: 1, available: rlwe.degree() }.into());
        }
        let scale = self.ckks.scale(rlwe.level())?;
        Ok(Ciphertext::new(rlwe, scale)?)
    }
}
