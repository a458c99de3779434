//! Which evaluation keys each operation needs.

use crate::gl::{Gl, GlError, Rotation};
use crate::math::sampler::Sampler;
use crate::ring::Galois;
use crate::rlwe::{EvaluationKeys, KeySource, SecretKey};

/// An operation that needs keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GlOperation {
    /// A o B, both encrypted: one key
    Hadamard,
    /// A B^dagger, both encrypted: two keys per diagonal
    Product,
    /// A B^dagger in steps: log2(n) + 2 keys, n (log2(n) + 3) key switches
    ProductInSteps,
    /// A A^dagger: one key per diagonal and a second for those up to n/2, all of them among those of `Product`
    Gram,
    /// P B^dagger, P in clear: one key per diagonal, all of them among those of `Product`
    PlainLeftProduct,
    /// transpose: one key per diagonal but the first
    Transpose,
    /// transpose in steps: log2(n) keys, (n/2) log2(n) key switches
    TransposeInSteps,
    /// conjugate transpose: one key per diagonal, those of `PlainLeftProduct`
    ConjugateTranspose,
    /// complex conjugate: one key
    Conjugate,
    /// rotation: one key, none for columns alone
    Rotate(Rotation),
}

impl Gl {
    /// sigma_k: X -> X^(-5^k), W -> W^-1. The slots (l, j) go to the conjugates of the slots (l, j + k).
    pub(crate) fn dagger_map(&self, k: usize) -> Galois {
        let spec = self.chain.ring_spec();
        spec.compose(spec.conjugation(), spec.rotation(k as i64))
    }

    /// Powers of two below n: rotations by them make all others.
    pub(crate) fn row_steps(&self) -> impl Iterator<Item = usize> {
        (0..self.side.ilog2()).map(|bit| 1 << bit)
    }

    /// The sources of the keys an operation needs, in order.
    pub fn key_sources(&self, operation: GlOperation) -> Vec<KeySource> {
        let (spec, diagonals) = (self.chain.ring_spec(), 0..self.side);
        let steps = || self.row_steps().map(|step| KeySource::Galois(spec.rotation(step as i64)));
        let galois: Vec<KeySource> = match operation {
            GlOperation::Hadamard => vec![KeySource::SQUARE],
            GlOperation::Product => diagonals
                .map(|k| self.dagger_map(k))
                .flat_map(|g| [KeySource::Galois(g), KeySource::Product(g)])
                .collect(),
            GlOperation::Gram => diagonals
                .map(|k| (k, self.dagger_map(k)))
                .flat_map(|(k, g)| {
                    let product = (k <= self.side / 2).then_some(KeySource::Product(g));
                    [KeySource::Galois(g)].into_iter().chain(product)
                })
                .collect(),
            GlOperation::PlainLeftProduct | GlOperation::ConjugateTranspose => {
                diagonals.map(|k| KeySource::Galois(self.dagger_map(k))).collect()
            }
            GlOperation::Transpose => diagonals.map(|k| KeySource::Galois(spec.rotation(k as i64))).collect(),
            GlOperation::TransposeInSteps => steps().collect(),
            GlOperation::ProductInSteps => [KeySource::SQUARE, KeySource::Galois(spec.conjugation())]
                .into_iter()
                .chain(steps())
                .collect(),
            GlOperation::Conjugate => vec![KeySource::Galois(spec.conjugation())],
            GlOperation::Rotate(rotation) => vec![KeySource::Galois(self.rotation_map(rotation))],
        };
        galois.into_iter().filter(|&source| source != KeySource::Galois(Galois::default())).collect()
    }

    /// Makes the keys of an operation for all levels up to `level`, leaving those that are there.
    ///
    /// # Errors
    /// When the chain does not have the level.
    pub fn generate_keys(
        &self,
        keys: &mut EvaluationKeys,
        secret: &SecretKey,
        operation: GlOperation,
        level: usize,
        sampler: &mut Sampler,
    ) -> Result<(), GlError> {
        for source in self.key_sources(operation) {
            keys.generate(&self.chain, secret, source, level, sampler)?;
        }
        Ok(())
    }
}
