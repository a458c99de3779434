//! The client's side of a plan: inputs to ciphertexts, ciphertexts to outputs.

use super::backend::OpError;
use super::executor::{Encrypted, Value};
use super::layout::{gather, place};
use super::scheme::{EncryptionKey, Scheme};
use crate::math::sampler::Sampler;
use crate::rlwe::SecretKey;
use plan::{Layout, NodeId, Op, Plan, Secrecy, Tensor};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Encrypts checked inputs ([`check_inputs`](super::check_inputs)) for every node of the plan that reads one; plain inputs stay clear.
///
/// # Errors
/// When a value is too large to encode.
pub fn encrypt_inputs<S: Scheme>(
    scheme: &S,
    plan: &Plan,
    inputs: &[Option<Tensor>],
    key: &EncryptionKey,
    sampler: &mut Sampler,
) -> Result<Encrypted<S::Ciphertext>, OpError> {
    let tensor = |i: usize| inputs.get(i).and_then(Option::as_ref);
    let mut encrypted = Encrypted { cipher: BTreeMap::new(), plain: BTreeMap::new() };
    for (i, _) in plan.inputs.iter().enumerate().filter(|(_, i)| i.secrecy == Secrecy::Plain) {
        encrypted.plain.extend(tensor(i).map(|t| (i, t.clone())));
    }
    for (n, node) in plan.nodes.iter().enumerate() {
        let (Op::Input(i), Some(level)) = (&node.op, node.level()) else { continue };
        let Some(tensor) = tensor(*i) else { continue };
        let slots = place(tensor, &node.layout(), &plan.geometry);
        let cts = slots.iter().map(|slots| scheme.encrypt(slots, level, key, sampler));
        encrypted.cipher.insert(NodeId(n as u32), cts.collect::<Result<_, _>>()?);
    }
    Ok(encrypted)
}

/// Decrypts the outputs of a run, in order of declaration.
///
/// # Errors
/// When a ciphertext does not belong to the scheme.
pub fn decrypt_outputs<S: Scheme>(
    scheme: &S,
    plan: &Plan,
    secret: &SecretKey,
    outputs: Vec<Value<S::Ciphertext>>,
) -> Result<Vec<Tensor>, OpError> {
    let decrypted = plan.outputs.iter().zip(outputs).map(|(output, value)| match value {
        Value::Clear(tensor) => Ok(Cow::into_owned(tensor)),
        Value::Cipher(cts) => {
            let layout: Layout = plan.node(output.node).layout();
            let slots: Result<Vec<Vec<f64>>, OpError> =
                cts.par_iter().map(|ct| scheme.decrypt(secret, ct)).collect();
            Ok(gather(&slots?, &layout, &plan.geometry))
        }
    });
    decrypted.collect()
}
