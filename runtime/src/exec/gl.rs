//! GL as a backend: lanes, rows and columns of a plan are batch, rows and columns of the scheme.

use super::backend::{Backend, Map, OpError};
use super::gl_linear;
use super::scheme::{EncryptionKey, Scheme, chain};
use crate::gl::{Gl, GlCiphertext, GlOperation, GlPlaintext, Matrices, Rotation};
use crate::math::sampler::Sampler;
use crate::rlwe::{Chain, Ciphertext, EvaluationKeys, KeySource, SecretKey};
use plan::{Geometry, KeyKind, Level, Plan, Shift};

/// GL for the parameters of a plan, with evaluation keys.
pub struct GlScheme {
    pub(super) gl: Gl,
    pub(super) geometry: Geometry,
    pub(super) keys: EvaluationKeys,
}

/// A shift of the plan as a rotation of the scheme.
pub(super) fn rotation(shift: Shift) -> Rotation {
    match shift {
        Shift::Grid { lane, row, col } => {
            Rotation { batch: lane as i64, rows: row as i64, columns: col as i64 }
        }
        Shift::Slots(_) => Rotation::default(),
    }
}

impl GlScheme {
    /// Whether there is a key for each source. A plan that must save memory has keys for products and flips in steps only.
    fn has(&self, sources: &[KeySource]) -> bool {
        sources.iter().all(|&source| self.keys.get(source, 0).is_ok())
    }

    /// A summand: at the scale of its level.
    fn encode(&self, slots: &[f64], level: usize) -> Result<GlPlaintext, OpError> {
        let matrices = Matrices::from_real(self.gl.side(), slots)?;
        Ok(self.gl.encode(&matrices, level, self.gl.scale(level)?)?)
    }

    /// A factor: at the scale that makes the product one of the level below.
    pub(super) fn encode_factor(&self, slots: &[f64], level: usize) -> Result<GlPlaintext, OpError> {
        let matrices = Matrices::from_real(self.gl.side(), slots)?;
        Ok(self.gl.encode(&matrices, level, self.gl.factor_scale(level)?)?)
    }
}

impl Backend for GlScheme {
    type Ciphertext = GlCiphertext;

    fn level(&self, a: &GlCiphertext) -> Level {
        Level(a.level() as u32)
    }
    fn scale(&self, a: &GlCiphertext) -> f64 {
        a.scale()
    }
    fn add(&self, a: &GlCiphertext, b: &GlCiphertext) -> Result<GlCiphertext, OpError> {
        Ok(self.gl.add(a, b)?)
    }
    fn sub(&self, a: &GlCiphertext, b: &GlCiphertext) -> Result<GlCiphertext, OpError> {
        Ok(self.gl.sub(a, b)?)
    }
    fn neg(&self, a: &GlCiphertext) -> Result<GlCiphertext, OpError> {
        Ok(self.gl.neg(a))
    }
    fn mul_integer(&self, a: &GlCiphertext, k: i64) -> Result<GlCiphertext, OpError> {
        Ok(self.gl.mul_integer(a, k))
    }
    fn add_clear(&self, a: &GlCiphertext, slots: &[f64]) -> Result<GlCiphertext, OpError> {
        Ok(self.gl.add_plain(a, &self.encode(slots, a.level())?)?)
    }
    fn mul_clear(&self, a: &GlCiphertext, slots: &[f64]) -> Result<GlCiphertext, OpError> {
        Ok(self.gl.hadamard_plain(a, &self.encode_factor(slots, a.level())?)?)
    }
    fn mul(&self, a: &GlCiphertext, b: &GlCiphertext) -> Result<GlCiphertext, OpError> {
        Ok(if std::ptr::eq(a, b) {
            self.gl.hadamard_square(a, &self.keys)?
        } else {
            self.gl.hadamard(a, b, &self.keys)?
        })
    }
    fn combine(&self, terms: &[(f64, &GlCiphertext)]) -> Result<GlCiphertext, OpError> {
        Ok(self.gl.combine(terms)?)
    }
    fn adjust(&self, a: &GlCiphertext, level: Level) -> Result<GlCiphertext, OpError> {
        Ok(self.gl.adjust(a, level.0 as usize)?)
    }
    fn linear(&self, x: &[GlCiphertext], map: &Map) -> Result<Vec<GlCiphertext>, OpError> {
        gl_linear::linear(self, x, map)
    }
    fn masked_matmul(&self, _: &GlCiphertext, _: &GlCiphertext, _: usize) -> Result<GlCiphertext, OpError> {
        Err(OpError::Unsupported { operation: "masked_matmul", scheme: "gl" })
    }
    fn matmul(&self, terms: &[(&GlCiphertext, &GlCiphertext)]) -> Result<GlCiphertext, OpError> {
        // a b^dagger of real matrices, b held transposed
        let direct = self.gl.key_sources(GlOperation::Product);
        Ok(if self.has(&direct) {
            self.gl.matmul_sum(terms, &self.keys)?
        } else {
            self.gl.matmul_sum_in_steps(terms, &self.keys)?
        })
    }
    fn matmul_clear(&self, terms: &[(&GlCiphertext, Vec<f64>)]) -> Result<GlCiphertext, OpError> {
        let n = self.gl.side();
        let encode = |(a, slots): &(&GlCiphertext, Vec<f64>)| {
            let at = |i: usize| slots[i / (n * n) * (n * n) + i % n * n + i / n % n];
            let transposed: Vec<f64> = (0..slots.len()).map(at).collect();
            self.encode_factor(&transposed, a.level())
        };
        let factors: Vec<GlPlaintext> = terms.iter().map(encode).collect::<Result<_, _>>()?;
        let pairs: Vec<_> = terms.iter().zip(&factors).map(|((a, _), factor)| (*a, factor)).collect();
        Ok(self.gl.matmul_plain_sum(&pairs)?)
    }
    fn bootstrap(&self, _: &GlCiphertext, _: u32, _: Level) -> Result<GlCiphertext, OpError> {
        Err(OpError::Unsupported { operation: "bootstrap", scheme: "gl" })
    }
    fn flip(&self, a: &GlCiphertext) -> Result<GlCiphertext, OpError> {
        let direct = self.gl.key_sources(GlOperation::Transpose);
        Ok(if self.has(&direct) {
            self.gl.transpose(a, &self.keys)?
        } else {
            self.gl.transpose_in_steps(a, &self.keys)?
        })
    }
}

impl Scheme for GlScheme {
    fn new(plan: &Plan, keys: EvaluationKeys) -> Result<GlScheme, OpError> {
        let params = &plan.params;
        let gl = Gl::new(chain(params)?, params.scale_at(params.top()))?;
        Ok(GlScheme { gl, geometry: plan.geometry, keys })
    }

    fn chain(&self) -> &Chain {
        self.gl.chain()
    }

    fn keys(&self) -> &EvaluationKeys {
        &self.keys
    }

    fn sources(&self, kind: KeyKind) -> Vec<KeySource> {
        self.gl.key_sources(match kind {
            KeyKind::Relinearize => GlOperation::Hadamard,
            KeyKind::Rotate(shift) => GlOperation::Rotate(rotation(shift)),
            KeyKind::Product => GlOperation::Product,
            KeyKind::Flip => GlOperation::Transpose,
            KeyKind::Conjugate => GlOperation::Conjugate,
            KeyKind::Encapsulate | KeyKind::Raise => return vec![],
        })
    }

    fn encrypt(
        &self,
        slots: &[f64],
        level: Level,
        key: &EncryptionKey,
        sampler: &mut Sampler,
    ) -> Result<GlCiphertext, OpError> {
        let plaintext = self.encode(slots, level.0 as usize)?;
        Ok(match key {
            EncryptionKey::Secret(key) => self.gl.encrypt(key, &plaintext, sampler)?,
            EncryptionKey::Public(key) => self.gl.encrypt_public(key, &plaintext, sampler)?,
        })
    }

    fn decrypt(&self, secret: &SecretKey, ct: &GlCiphertext) -> Result<Vec<f64>, OpError> {
        Ok(self.gl.decrypt(secret, ct)?.entries().iter().map(|z| z.re).collect())
    }

    fn parts(ct: &GlCiphertext) -> Vec<&Ciphertext> {
        ct.diagonals().iter().collect()
    }

    fn part_count(&self) -> usize {
        self.gl.side()
    }

    fn assemble(&self, parts: Vec<Ciphertext>) -> Result<GlCiphertext, OpError> {
        let level = parts.first().ok_or(OpError::Empty)?.level();
        let ct = GlCiphertext::new(parts, self.gl.scale(level)?)?;
        self.gl.check(&ct)?;
        Ok(ct)
    }
}
