//! What a scheme adds to the operations of a [`Backend`]: keys, encryption, decryption, and its ciphertexts in parts for
//! files. Implemented by [`CkksScheme`](super::ckks::CkksScheme) and [`GlScheme`](super::gl::GlScheme).

use super::backend::{Backend, OpError};
use crate::math::sampler::Sampler;
use crate::rlwe::{
    Chain, ChainSpec, Ciphertext, EncapsulationKeys, EvaluationKeys, Gadget, KeySource, PublicKey, RlweError,
    SecretKey,
};
use plan::bootstrap::SPARSE_WEIGHT;
use plan::{KeyKind, Level, Params, Plan};

/// The key a client encrypts with.
pub enum EncryptionKey<'a> {
    /// less noise
    Secret(&'a SecretKey),
    /// can be given away
    Public(&'a PublicKey),
}

/// A scheme for the parameters of a plan, with the keys of its evaluator (none on the client).
pub trait Scheme: Backend + Sized {
    /// The scheme of a plan.
    ///
    /// # Errors
    /// When the parameters do not fit the scheme.
    fn new(plan: &Plan, keys: EvaluationKeys) -> Result<Self, OpError>;

    /// The modulus chain.
    fn chain(&self) -> &Chain;

    /// The keys of the evaluator.
    fn keys(&self) -> &EvaluationKeys;

    /// Sources of the keys that a plan's key stands for.
    fn sources(&self, kind: KeyKind) -> Vec<KeySource>;

    /// Encrypts slots at a level and its scale.
    ///
    /// # Errors
    /// When a slot is too large to encode.
    fn encrypt(
        &self,
        slots: &[f64],
        level: Level,
        key: &EncryptionKey,
        sampler: &mut Sampler,
    ) -> Result<Self::Ciphertext, OpError>;

    /// The real parts of all slots, with the noise of the ciphertext.
    ///
    /// # Errors
    /// When the ciphertext has another form than this scheme's.
    fn decrypt(&self, secret: &SecretKey, ct: &Self::Ciphertext) -> Result<Vec<f64>, OpError>;

    /// The RLWE ciphertexts of a ciphertext: as many for every one.
    fn parts(ct: &Self::Ciphertext) -> Vec<&Ciphertext>;

    /// How many these are.
    fn part_count(&self) -> usize;

    /// A ciphertext of the scale of its level from RLWE ciphertexts that anybody may have made.
    ///
    /// # Errors
    /// When they do not belong to the scheme.
    fn assemble(&self, parts: Vec<Ciphertext>) -> Result<Self::Ciphertext, OpError>;
}

/// The modulus chain of a plan, primes of bootstrapping included.
///
/// # Errors
/// When the moduli do not fit the ring.
pub fn chain(params: &Params) -> Result<Chain, RlweError> {
    let gadget = Gadget { special: params.special.clone(), alpha: params.digit };
    let primes = params.q.iter().copied().chain(params.raised_primes()).collect();
    Chain::new(ChainSpec { ring: params.ring, primes, gadget })
}

/// Makes the evaluation keys a plan lists.
///
/// # Errors
/// When the chain does not have the level of a key.
pub fn generate_keys<S: Scheme>(
    scheme: &S,
    plan: &Plan,
    secret: &SecretKey,
    sampler: &mut Sampler,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<EvaluationKeys, OpError> {
    let wanted = wanted_keys(scheme, plan);
    let mut keys = EvaluationKeys::new();
    for (i, &(source, level)) in wanted.iter().enumerate() {
        keys.generate(scheme.chain(), secret, source, level, sampler)?;
        progress(i + 1, wanted.len());
    }
    if wants_encapsulation(plan) {
        let weight = SPARSE_WEIGHT as usize;
        keys.set_encapsulation(EncapsulationKeys::generate(scheme.chain(), secret, weight, sampler)?);
    }
    Ok(keys)
}

/// Whether a plan lists the keys of an encapsulated sparse secret.
pub fn wants_encapsulation(plan: &Plan) -> bool {
    plan.keys.iter().any(|key| matches!(key.kind, KeyKind::Encapsulate | KeyKind::Raise))
}

/// Sources of all keys of a plan, each once, with the highest level it is used at; in order.
pub fn wanted_keys<S: Scheme>(scheme: &S, plan: &Plan) -> Vec<(KeySource, usize)> {
    let mut wanted = std::collections::BTreeMap::new();
    for key in &plan.keys {
        for source in scheme.sources(key.kind) {
            let level = wanted.entry(source).or_insert(0);
            *level = key.level.0.max(*level);
        }
    }
    wanted.into_iter().map(|(source, level)| (source, level as usize)).collect()
}
