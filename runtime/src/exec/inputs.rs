//! The data of a run, checked against the declarations of the plan before anything is encrypted.

use plan::tensor::show;
use plan::{Form, Op, Plan, Tensor};
use std::collections::BTreeMap;

/// What is wrong with the data of a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InputError {
    /// Data of an input that the program reads are missing.
    #[error(
        "no data for the input `{name}`, {} (line {line}): give `--input {name}=PATH`, or put `{name}.npy` beside the program",
        show(.shape)
    )]
    Missing {
        /// name of the input
        name: String,
        /// its shape
        shape: Vec<usize>,
        /// its declaration
        line: u32,
    },
    /// Data for an input the program does not declare.
    #[error("the program has no input `{name}`; its inputs are {}", .known.join(", "))]
    Unknown {
        /// name given
        name: String,
        /// names declared
        known: Vec<String>,
    },
    /// Another shape.
    #[error("input `{name}` has shape {}, the program declares {} (line {line})", show(.found), show(.expected))]
    Shape {
        /// name of the input
        name: String,
        /// declared
        expected: Vec<usize>,
        /// given
        found: Vec<usize>,
        /// its declaration
        line: u32,
    },
    /// A value outside the declared range, or no number at all.
    #[error("input `{name}` at {} is {value}, outside its range [{low}, {high}] (line {line})", show(.index))]
    Range {
        /// name of the input
        name: String,
        /// index of the element
        index: Vec<usize>,
        /// its value; NaN is in no range
        value: f64,
        /// smallest allowed
        low: f64,
        /// largest allowed
        high: f64,
        /// its declaration
        line: u32,
    },
}

impl InputError {
    /// The line of the program it concerns, if there is one.
    pub fn line(&self) -> Option<u32> {
        match self {
            InputError::Unknown { .. } => None,
            InputError::Missing { line, .. }
            | InputError::Shape { line, .. }
            | InputError::Range { line, .. } => Some(*line),
        }
    }
}

/// Which of the inputs that a program reads must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// all
    All,
    /// the encrypted ones: on the client, when the server has the plain ones
    Cipher,
    /// none
    Nothing,
}

/// The data of every input in order of declaration; None for one that is not given and need not be. An input that the program
/// does not read is never required.
///
/// # Errors
/// All that is wrong with the data.
pub fn check_inputs(
    plan: &Plan,
    data: &BTreeMap<String, Tensor>,
    required: Required,
) -> Result<Vec<Option<Tensor>>, Vec<InputError>> {
    let mut errors: Vec<InputError> = Vec::new();
    let known: Vec<String> = plan.inputs.iter().map(|i| i.name.clone()).collect();
    let unknown = data.keys().filter(|name| !known.contains(name));
    errors.extend(unknown.map(|name| InputError::Unknown { name: name.clone(), known: known.clone() }));
    let needed = |i: usize| match required {
        Required::All => plan.nodes.iter().any(|n| n.op == Op::Input(i)),
        Required::Cipher => plan.nodes.iter().any(|n| n.op == Op::Input(i) && n.form != Form::Clear),
        Required::Nothing => false,
    };
    let mut tensors = Vec::new();
    for (i, input) in plan.inputs.iter().enumerate() {
        let tensor = data.get(&input.name);
        match tensor {
            Some(t) => errors.extend(check_input(input, t)),
            None if needed(i) => errors.push(InputError::Missing {
                name: input.name.clone(),
                shape: input.shape.clone(),
                line: input.line,
            }),
            None => {}
        }
        tensors.push(tensor.cloned());
    }
    if errors.is_empty() { Ok(tensors) } else { Err(errors) }
}

fn check_input(input: &plan::Input, tensor: &Tensor) -> Option<InputError> {
    let (name, line) = (input.name.clone(), input.line);
    if tensor.shape() != input.shape {
        let (expected, found) = (input.shape.clone(), tensor.shape().to_vec());
        return Some(InputError::Shape { name, expected, found, line });
    }
    let (low, high) = (input.low, input.high);
    let at = tensor.data().iter().position(|x| !(low..=high).contains(x))?;
    let (index, value) = (tensor.index_of(at), tensor.data()[at]);
    Some(InputError::Range { name, index, value, low, high, line })
}
