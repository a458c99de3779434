//! Encrypted inputs and outputs in files, with the values that travel in clear beside them: plain inputs, and outputs
//! that depend on nothing encrypted.

use super::container::{self, Container, FileError, Kind};
use super::keys::read_poly;
use crate::exec::{Encrypted, Scheme, Value};
use crate::rlwe::Ciphertext;
use plan::{NodeId, Op, Plan, Secrecy, Tensor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Names what the payload holds, in its order: first ciphertexts, then clear values.
#[derive(Serialize, Deserialize)]
struct Header {
    program: String,
    degree: usize,
    /// node, number of ciphertexts; each has the level of the node
    cipher: Vec<(NodeId, usize)>,
    /// number of the input or output, shape
    clear: Vec<(usize, Vec<usize>)>,
}

/// Writes encrypted inputs.
///
/// # Errors
/// When the file cannot be written.
pub fn write_inputs<S: Scheme>(
    path: &Path,
    plan: &Plan,
    inputs: &Encrypted<S::Ciphertext>,
) -> Result<(), FileError> {
    let cipher = inputs.cipher.iter().map(|(&node, cts)| (node, &cts[..])).collect();
    let clear = inputs.plain.iter().map(|(&i, tensor)| (i, tensor)).collect();
    write::<S>(path, Kind::Inputs, plan, cipher, clear)
}

/// Writes encrypted outputs.
///
/// # Errors
/// When the file cannot be written.
pub fn write_outputs<S: Scheme>(
    path: &Path,
    plan: &Plan,
    outputs: &[Value<S::Ciphertext>],
) -> Result<(), FileError> {
    let (mut cipher, mut clear) = (BTreeMap::new(), Vec::new());
    for (i, (output, value)) in plan.outputs.iter().zip(outputs).enumerate() {
        match value {
            Value::Cipher(cts) => {
                cipher.insert(output.node, &cts[..]);
            }
            Value::Clear(tensor) => clear.push((i, &**tensor)),
        }
    }
    write::<S>(path, Kind::Outputs, plan, cipher, clear)
}

fn write<S: Scheme>(
    path: &Path,
    kind: Kind,
    plan: &Plan,
    cipher: BTreeMap<NodeId, &[S::Ciphertext]>,
    clear: Vec<(usize, &Tensor)>,
) -> Result<(), FileError> {
    let header = Header {
        program: plan.program.clone(),
        degree: plan.params.ring.degree(),
        cipher: cipher.iter().map(|(&node, cts)| (node, cts.len())).collect(),
        clear: clear.iter().map(|(i, tensor)| (*i, tensor.shape().to_vec())).collect(),
    };
    let bits: Vec<Vec<u64>> =
        clear.iter().map(|(_, tensor)| tensor.data().iter().map(|x| x.to_bits()).collect()).collect();
    let cts = cipher.values().flat_map(|cts| cts.iter());
    let polys = cts.flat_map(S::parts).flat_map(|part: &Ciphertext| part.parts());
    let payload: Vec<&[u64]> = polys.map(|p| p.words()).chain(bits.iter().map(|b| &b[..])).collect();
    container::write(path, kind, &plan.hash(), &header, &payload)
}

/// Reads encrypted inputs of a plan.
///
/// # Errors
/// When the file does not hold inputs of the plan.
pub fn read_inputs<S: Scheme>(
    path: &Path,
    plan: &Plan,
    scheme: &S,
) -> Result<Encrypted<S::Ciphertext>, FileError> {
    let mut file = Container::open(path, Kind::Inputs, Some(&plan.hash()))?;
    let header: Header = file.header()?;
    let mut cipher = BTreeMap::new();
    for &(node, count) in &header.cipher {
        let is_input = plan.nodes.get(node.index()).is_some_and(|n| matches!(n.op, Op::Input(_)));
        if !is_input {
            return Err(file.content("node of a ciphertext", "an input of the plan", node));
        }
        cipher.insert(node, read_value(&mut file, plan, scheme, node, count)?);
    }
    let mut plain = BTreeMap::new();
    for (i, shape) in header.clear {
        let declared = plan.inputs.get(i).filter(|input| input.secrecy == Secrecy::Plain);
        if declared.is_none_or(|input| input.shape != shape) {
            return Err(file.content("number of a plain input", "a plain input of the plan", i));
        }
        plain.insert(i, read_tensor(&mut file, shape)?);
    }
    file.finish()?;
    Ok(Encrypted { cipher, plain })
}

/// Reads encrypted outputs of a plan, in order of declaration.
///
/// # Errors
/// When the file does not hold the outputs of the plan.
pub fn read_outputs<'p, S: Scheme>(
    path: &Path,
    plan: &'p Plan,
    scheme: &S,
) -> Result<Vec<Value<'p, S::Ciphertext>>, FileError> {
    let mut file = Container::open(path, Kind::Outputs, Some(&plan.hash()))?;
    let header: Header = file.header()?;
    let mut cipher = BTreeMap::new();
    for &(node, count) in &header.cipher {
        if !plan.outputs.iter().any(|o| o.node == node) {
            return Err(file.content("node of a ciphertext", "an output of the plan", node));
        }
        cipher.insert(node, read_value(&mut file, plan, scheme, node, count)?);
    }
    let mut clear = BTreeMap::new();
    for (i, shape) in header.clear {
        let declared = plan.outputs.get(i).map(|o| &plan.node(o.node).shape);
        if declared != Some(&shape) {
            return Err(file.content("number of a clear output", "a clear output of the plan", i));
        }
        clear.insert(i, read_tensor(&mut file, shape)?);
    }
    let value = |(i, output): (usize, &plan::Output)| match plan.node(output.node).level() {
        Some(_) => cipher.get(&output.node).cloned().map(Value::Cipher),
        None => clear.remove(&i).map(|tensor| Value::Clear(Cow::Owned(tensor))),
    };
    let values: Option<Vec<_>> = plan.outputs.iter().enumerate().map(value).collect();
    let missing = file.content("outputs", "all outputs of the plan", "fewer");
    file.finish()?;
    values.ok_or(missing)
}

/// The ciphertexts of a node of the plan.
fn read_value<S: Scheme>(
    file: &mut Container,
    plan: &Plan,
    scheme: &S,
    node: NodeId,
    count: usize,
) -> Result<Vec<S::Ciphertext>, FileError> {
    let declared = plan.node(node);
    let Some(level) = declared.level() else {
        return Err(file.content("node of a ciphertext", "an encrypted value", node));
    };
    let expected = plan.geometry.ciphertexts(&declared.layout());
    if count != expected {
        return Err(file.content("ciphertexts of a value", expected, count));
    }
    let degree = scheme.chain().ring_spec().degree();
    let mut cts = Vec::new();
    for _ in 0..count {
        let mut parts = Vec::new();
        for _ in 0..scheme.part_count() {
            let polys =
                vec![read_poly(file, degree, level.limbs())?, read_poly(file, degree, level.limbs())?];
            let part = Ciphertext::new(polys).map_err(|e| file.content("ciphertext", "two components", e))?;
            parts.push(part);
        }
        let ct = scheme
            .assemble(parts)
            .map_err(|e| file.content("ciphertext", "residues of the plan's moduli", e))?;
        cts.push(ct);
    }
    Ok(cts)
}

fn read_tensor(file: &mut Container, shape: Vec<usize>) -> Result<Tensor, FileError> {
    let size = plan::tensor::size_of(&shape).map_err(|e| file.content("shape", "a size in reach", e))?;
    let data = file.words(size)?.into_iter().map(f64::from_bits).collect();
    Tensor::new(shape, data).map_err(|e| file.content("shape", "a size in reach", e))
}
