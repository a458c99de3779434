//! What an expression is worth while the tree is read: a tensor known now or a node of the graph, and the few things that
//! are not tensors.

use crate::ir::NodeId;
use plan::Tensor;
use std::rc::Rc;

/// A mistake was reported; whatever depends on the value stays silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Poisoned;

/// A value, unless a mistake was reported.
pub(super) type Eval<T = Value> = Result<T, Poisoned>;

/// A tensor known at compile time, with the name it has in the program or an empty text.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) tensor: Tensor,
    pub(super) name: String,
}

/// A tensor.
#[derive(Clone, Debug)]
pub(super) enum Array {
    /// known at compile time
    Known(Rc<Known>),
    /// computed at run time, encrypted or in clear
    Node(NodeId),
}

impl Array {
    /// A tensor known at compile time.
    pub(super) fn known(tensor: Tensor) -> Array {
        Array::Known(Rc::new(Known { tensor, name: String::new() }))
    }
    /// A number known at compile time.
    pub(super) fn number(value: f64) -> Array {
        Array::known(Tensor::scalar(value))
    }
    /// Its value if it is known.
    pub(super) fn tensor(&self) -> Option<&Tensor> {
        match self {
            Array::Known(known) => Some(&known.tensor),
            Array::Node(_) => None,
        }
    }
    /// The one value of all its elements, if it is known and there is one.
    pub(super) fn uniform(&self) -> Option<f64> {
        let data = self.tensor()?.data();
        let first = *data.first()?;
        data.iter().all(|x| x.to_bits() == first.to_bits()).then_some(first)
    }
    /// The same tensor under a name, for constants that have none yet.
    pub(super) fn named(self, name: &str) -> Array {
        match self {
            Array::Known(known) if known.name.is_empty() => {
                let tensor = Rc::try_unwrap(known).map_or_else(|k| k.tensor.clone(), |k| k.tensor);
                Array::Known(Rc::new(Known { tensor, name: name.to_string() }))
            }
            other => other,
        }
    }
}

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// a tensor; numbers have rank 0
    Array(Array),
    /// `(a, b)`
    Tuple(Vec<Value>),
    /// `"text"`
    Text(String),
    /// `true`, `false`
    Bool(bool),
}

impl Value {
    /// What it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Array(Array::Known(k)) if k.tensor.shape().is_empty() => "a number",
            Value::Array(_) => "a tensor",
            Value::Tuple(_) => "a tuple",
            Value::Text(_) => "a text",
            Value::Bool(_) => "true or false",
        }
    }
}
