//! Keys in files: the secret key by its coefficients, public and evaluation keys by their bodies and the seeds of their
//! masks.

use super::container::{self, Container, FileError, Kind};
use crate::exec::Scheme;
use crate::exec::scheme::{wanted_keys, wants_encapsulation};
use crate::math::sampler::Seed;
use crate::ring::{Form, Poly};
use crate::rlwe::{EncapsulationKeys, EvaluationKeys, KeySource, PublicKey, SecretKey, SwitchKey};
use plan::Plan;
use serde::{Deserialize, Serialize};
use std::path::Path;
use zeroize::Zeroizing;

const SEED_WORDS: usize = 4;

#[derive(Serialize, Deserialize)]
struct KeyHeader {
    program: String,
    degree: usize,
}

#[derive(Serialize, Deserialize)]
struct EvaluationHeader {
    program: String,
    degree: usize,
    keys: Vec<EvaluationEntry>,
    /// whether the two keys of an encapsulated secret follow the others
    encapsulation: bool,
}

#[derive(Serialize, Deserialize)]
struct EvaluationEntry {
    source: KeySource,
    level: usize,
}

/// Writes a secret key, readable by its owner only.
///
/// # Errors
/// When the file cannot be written.
pub fn write_secret(path: &Path, plan: &Plan, secret: &SecretKey) -> Result<(), FileError> {
    let coefficients = secret.coefficients();
    let words = Zeroizing::new(coefficients.iter().map(|&c| c as u64).collect::<Vec<u64>>());
    let header = KeyHeader { program: plan.program.clone(), degree: coefficients.len() };
    container::write(path, Kind::SecretKey, &plan.hash(), &header, &[&words])
}

/// Reads the secret key of a plan.
///
/// # Errors
/// When the file is not the plan's secret key.
pub fn read_secret<S: Scheme>(path: &Path, plan: &Plan, scheme: &S) -> Result<SecretKey, FileError> {
    let mut file = Container::open(path, Kind::SecretKey, Some(&plan.hash()))?;
    let degree = check_degree(&file, file.header::<KeyHeader>()?.degree, scheme)?;
    let words = Zeroizing::new(file.words(degree)?);
    let secret = SecretKey::from_coefficients(scheme.chain(), words.iter().map(|&w| w as i64).collect())
        .map_err(|e| file.content("secret key", "coefficients in -1, 0, 1", e))?;
    file.finish()?;
    Ok(secret)
}

/// Writes a public key.
///
/// # Errors
/// When the file cannot be written.
pub fn write_public(path: &Path, plan: &Plan, key: &PublicKey) -> Result<(), FileError> {
    let header = KeyHeader { program: plan.program.clone(), degree: key.body().degree() };
    let payload = [&seed_words(key.seed())[..], key.body().words()];
    container::write(path, Kind::PublicKey, &plan.hash(), &header, &payload)
}

/// Reads the public key of a plan.
///
/// # Errors
/// When the file is not the plan's public key.
pub fn read_public<S: Scheme>(path: &Path, plan: &Plan, scheme: &S) -> Result<PublicKey, FileError> {
    let mut file = Container::open(path, Kind::PublicKey, Some(&plan.hash()))?;
    let degree = check_degree(&file, file.header::<KeyHeader>()?.degree, scheme)?;
    let seed = read_seed(&mut file)?;
    let body = read_poly(&mut file, degree, scheme.chain().ring().primes())?;
    let key = PublicKey::from_parts(scheme.chain(), seed, body)
        .map_err(|e| file.content("public key", "residues of the plan's moduli", e))?;
    file.finish()?;
    Ok(key)
}

/// Whether a file says that it holds a secret key.
pub fn is_secret(path: &Path) -> bool {
    !matches!(
        Container::open(path, Kind::SecretKey, None),
        Err(FileError::Kind { .. } | FileError::Io { .. } | FileError::Magic { .. })
    )
}

/// Writes evaluation keys.
///
/// # Errors
/// When the file cannot be written.
pub fn write_evaluation(
    path: &Path,
    plan: &Plan,
    degree: usize,
    keys: &EvaluationKeys,
) -> Result<(), FileError> {
    let entry = |(&source, key): (&KeySource, &SwitchKey)| EvaluationEntry { source, level: key.level() };
    let encapsulation = keys.encapsulation().ok();
    let header = EvaluationHeader {
        program: plan.program.clone(),
        degree,
        keys: keys.iter().map(entry).collect(),
        encapsulation: encapsulation.is_some(),
    };
    let pair = encapsulation.map(|keys| [keys.enter(), keys.leave()]);
    let pair_seeds = pair.map(|pair| pair.map(|(seed, _)| seed_words(seed)));
    let seeds: Vec<[u64; SEED_WORDS]> = keys.iter().map(|(_, key)| seed_words(key.seed())).collect();
    let parts = keys.iter().zip(&seeds).flat_map(|((_, key), seed)| {
        std::iter::once(&seed[..]).chain(key.bodies().iter().map(|body| body.words()))
    });
    let pair = pair.iter().flatten().zip(pair_seeds.iter().flatten());
    let pair = pair.flat_map(|((_, body), seed)| [&seed[..], body.words()]);
    let payload: Vec<&[u64]> = parts.chain(pair).collect();
    container::write(path, Kind::EvaluationKeys, &plan.hash(), &header, &payload)
}

/// Reads the evaluation keys of a plan: exactly those the plan lists.
///
/// # Errors
/// When the file does not hold the plan's evaluation keys.
pub fn read_evaluation<S: Scheme>(path: &Path, plan: &Plan, scheme: &S) -> Result<EvaluationKeys, FileError> {
    let mut file = Container::open(path, Kind::EvaluationKeys, Some(&plan.hash()))?;
    let header: EvaluationHeader = file.header()?;
    let degree = check_degree(&file, header.degree, scheme)?;
    let found: Vec<(KeySource, usize)> = header.keys.iter().map(|k| (k.source, k.level)).collect();
    let wanted = wanted_keys(scheme, plan);
    let encapsulation = wants_encapsulation(plan);
    if found != wanted || header.encapsulation != encapsulation {
        let count = |n: usize| format!("{n} keys of other kinds or levels");
        return Err(file.content(
            "keys",
            format!("the {} keys of the plan", wanted.len()),
            count(found.len()),
        ));
    }
    let (chain, mut keys) = (scheme.chain(), EvaluationKeys::new());
    for (source, level) in wanted {
        let seed = read_seed(&mut file)?;
        let limbs = chain.extended_limbs(level);
        let bodies: Vec<Poly> = (0..chain.digits(level))
            .map(|_| read_poly(&mut file, degree, limbs))
            .collect::<Result<_, _>>()?;
        let key = SwitchKey::from_parts(chain, seed, bodies)
            .map_err(|e| file.content("evaluation key", "residues of the plan's moduli", e))?;
        keys.insert(source, key);
    }
    if encapsulation {
        let mut part =
            |limbs: usize| Ok::<_, FileError>((read_seed(&mut file)?, read_poly(&mut file, degree, limbs)?));
        let (enter, leave) = (part(2)?, part(chain.extended_ring().primes())?);
        let pair = EncapsulationKeys::from_parts(chain, enter, leave)
            .map_err(|e| file.content("keys of a sparse secret", "residues of the plan's moduli", e))?;
        keys.set_encapsulation(pair);
    }
    file.finish()?;
    Ok(keys)
}

fn check_degree<S: Scheme>(file: &Container, found: usize, scheme: &S) -> Result<usize, FileError> {
    let degree = scheme.chain().ring_spec().degree();
    if found == degree { Ok(degree) } else { Err(file.content("ring dimension", degree, found)) }
}

/// A polynomial in evaluation form; its words are held against the moduli by the user.
pub(super) fn read_poly(file: &mut Container, degree: usize, limbs: usize) -> Result<Poly, FileError> {
    let words = file.words(degree * limbs)?;
    Poly::from_words(degree, Form::Evaluation, words)
        .map_err(|e| file.content("polynomial", "whole limbs", e))
}

fn seed_words(seed: &Seed) -> [u64; SEED_WORDS] {
    std::array::from_fn(|i| {
        seed[8 * i..8 * i + 8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
    })
}

fn read_seed(file: &mut Container) -> Result<Seed, FileError> {
    let words = file.words(SEED_WORDS)?;
    let mut seed = [0; 32];
    for (bytes, word) in seed.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Ok(seed)
}
