//! Data of the inputs of a plan: from files, numbers, or a seed.

use crate::failure::Failure;
use plan::{Input, Plan, Secrecy, Tensor};
use rand::rngs::ChaCha20Rng;
use rand::{Rng, SeedableRng};
use runtime::data::read_tensor;
use runtime::exec::{Required, check_inputs};
use std::collections::BTreeMap;
use std::path::Path;

/// The data given as `NAME=VALUE`, by name. Inputs that are not given come from `NAME.npy`, `NAME.npz` or
/// `NAME.safetensors` in the folder `beside`, if there is one.
pub fn read_all(
    plan: &Plan,
    given: &[String],
    beside: Option<&Path>,
) -> Result<BTreeMap<String, Tensor>, Failure> {
    let mut data = BTreeMap::new();
    for argument in given {
        let (name, value) = split(argument)?;
        let tensor = match plan.inputs.iter().find(|i| i.name == name) {
            Some(input) => read(input, value)?,
            None => Tensor::scalar(0.0), // checks refuse the name
        };
        if data.insert(name.to_string(), tensor).is_some() {
            return Err(Failure::Usage(format!("the input `{name}` is given twice")));
        }
    }
    for input in &plan.inputs {
        let Some(folder) = beside.filter(|_| !data.contains_key(&input.name)) else { continue };
        let candidates = ["npy", "npz", "safetensors"].map(|e| folder.join(format!("{}.{e}", input.name)));
        if let Some(path) = candidates.iter().find(|p| p.is_file()) {
            data.insert(input.name.clone(), read_file(input, path)?);
        }
    }
    Ok(data)
}

/// Data checked against a plan: by number of the input.
pub fn check(
    plan: &Plan,
    data: &BTreeMap<String, Tensor>,
    file: &Path,
    required: Required,
) -> Result<Vec<Option<Tensor>>, Failure> {
    check_inputs(plan, data, required).map_err(|errors| Failure::Inputs { file: file.to_path_buf(), errors })
}

/// Plain inputs for the evaluator, by number.
pub fn load_plain(plan: &Plan, given: &[String], file: &Path) -> Result<BTreeMap<usize, Tensor>, Failure> {
    let tensors = check(plan, &read_all(plan, given, None)?, file, Required::Nothing)?;
    let given = tensors.into_iter().enumerate().filter_map(|(i, t)| Some((i, t?)));
    let (plain, encrypted): (BTreeMap<_, _>, BTreeMap<_, _>) =
        given.partition(|(i, _)| plan.inputs[*i].secrecy == Secrecy::Plain);
    match encrypted.first_key_value() {
        Some((&i, _)) => {
            let name = &plan.inputs[i].name;
            Err(Failure::Usage(format!("the input `{name}` is encrypted: the client encrypts it")))
        }
        None => Ok(plain),
    }
}

/// `NAME=VALUE`.
fn split(argument: &str) -> Result<(&str, &str), Failure> {
    argument
        .split_once('=')
        .filter(|(name, value)| !name.is_empty() && !value.is_empty())
        .ok_or_else(|| Failure::Usage(format!("--input takes NAME=PATH, found `{argument}`")))
}

fn read(input: &Input, value: &str) -> Result<Tensor, Failure> {
    if let Some(seed) = value.strip_prefix("random:") {
        let seed = seed
            .parse()
            .map_err(|_| Failure::Usage(format!("random:SEED takes a number, found `{value}`")))?;
        return Ok(random(input, seed));
    }
    match value.parse::<f64>() {
        Ok(number) => Ok(Tensor::scalar(number)),
        Err(_) => read_file(input, Path::new(value)),
    }
}

/// The tensor of the input's name, or the only one of the file.
fn read_file(input: &Input, path: &Path) -> Result<Tensor, Failure> {
    let named = read_tensor(path, Some(&input.name));
    match named {
        Err(runtime::data::DataError::MissingKey { keys, .. }) if keys.len() == 1 => {
            Ok(read_tensor(path, None)?)
        }
        other => Ok(other?),
    }
}

/// Uniform values in the declared range, the same for the same seed on every machine.
fn random(input: &Input, seed: u64) -> Tensor {
    let name = input.name.bytes().fold(seed, |h, b| h.wrapping_mul(0x0100_0000_01b3) ^ u64::from(b));
    let mut rng = ChaCha20Rng::seed_from_u64(name);
    let mut value = || {
        let unit = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (input.low * (1.0 - unit) + input.high * unit).clamp(input.low, input.high)
    };
    let data = (0..input.shape.iter().product()).map(|_| value()).collect();
    Tensor::new(input.shape.clone(), data).expect("shapes of plans are checked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_data_stay_in_range_and_repeat() {
        let input = Input {
            name: "x".into(),
            secrecy: Secrecy::Cipher,
            shape: vec![50, 20],
            low: -2.0,
            high: 0.5,
            line: 1,
        };
        let t = random(&input, 7);
        assert!(t.data().iter().all(|x| (-2.0..=0.5).contains(x)) && t.max_abs() > 1.9);
        assert_eq!(t, random(&input, 7));
        assert_ne!(t, random(&input, 8));
        assert_ne!(t, random(&Input { name: "y".into(), ..input }, 7));
    }
}
