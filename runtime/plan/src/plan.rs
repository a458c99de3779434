//! A plan: what is encrypted, which operation runs at which level, and what comes out.
//!
//! Nodes are in execution order. A node is clear (known to the evaluator at run time) or a ciphertext value: one or several
//! ciphertexts of the plan's geometry at one level, with the exact scale `params.scale[level]`.

use crate::layout::{Geometry, Layout, Placement, Shift, Split};
use crate::linear::LinearStep;
use crate::op::TensorOp;
use crate::params::Params;
use crate::tensor::Tensor;
use crate::units::{Bytes, Level, NodeId};
use serde::{Deserialize, Serialize};

/// Version of the plan format.
pub const FORMAT: u32 = 1;

/// A compiled program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`FORMAT`]
    pub format: u32,
    /// name of the model
    pub program: String,
    /// ring, moduli, scales, security
    pub params: Params,
    /// frame of all layouts; names the scheme
    pub geometry: Geometry,
    /// inputs in order of declaration, unused ones included
    pub inputs: Vec<Input>,
    /// constants by number
    pub constants: Vec<Constant>,
    /// operations in execution order
    pub nodes: Vec<Node>,
    /// outputs in order of declaration
    pub outputs: Vec<Output>,
    /// switch keys the evaluator needs
    pub keys: Vec<Key>,
    /// assumptions about values that nothing proves (`in`, `on`), for the report
    pub assumptions: Vec<Assumption>,
    /// what the planner expects of a run
    pub estimate: Estimate,
}

/// Whether an input is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Secrecy {
    /// encrypted by the client
    Cipher,
    /// known to the evaluator at run time
    Plain,
}

/// A declared input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// name in the program
    pub name: String,
    /// cipher or plain
    pub secrecy: Secrecy,
    /// shape of the tensor
    pub shape: Vec<usize>,
    /// smallest allowed value
    pub low: f64,
    /// largest allowed value
    pub high: f64,
    /// line of the declaration
    pub line: u32,
}

/// A tensor known when the plan was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constant {
    /// name in the program, or a made-up one
    pub name: String,
    /// its value
    pub value: Tensor,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// what is done
    pub op: Op,
    /// operands, all of them earlier nodes
    pub args: Vec<NodeId>,
    /// shape of the tensor
    pub shape: Vec<usize>,
    /// where the result lives
    pub form: Form,
    /// positions of the tiles of an encrypted result, where they are not their numbers
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// line of the program it comes from, 0 if none
    pub line: u32,
}

/// Where the value of a node lives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Form {
    /// In clear, in the evaluator's memory.
    Clear,
    /// Encrypted.
    Cipher {
        /// level of all its ciphertexts
        level: Level,
        /// held transposed
        transposed: bool,
        /// predicted standard deviation of the noise of an element, in units of the message
        noise: f64,
    },
}

/// Operations of a plan. `ct` are encrypted operands, `pt` clear ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Op {
    /// Input number `0`; encrypted at the node's level and orientation, or clear.
    Input(usize),
    /// Constant number `0`, clear.
    Constant(usize),
    /// A tensor operation among clear nodes.
    Clear(TensorOp),
    /// ct + ct, same level and layout; 0 levels.
    Add,
    /// ct - ct; 0 levels.
    Sub,
    /// -ct; 0 levels.
    Neg,
    /// ct + pt of the same shape; 0 levels.
    AddClear,
    /// ct o pt of the same shape; 1 level.
    MulClear,
    /// Integer multiple; 0 levels.
    MulInteger(i64),
    /// ct o ct, relinearized and rescaled; 1 level. A square has the same operand twice.
    Mul,
    /// `sum c_i ct_i + constant` on the elements of the tensor, one rescale; 1 level.
    Combine {
        /// c_i, one per operand
        coefficients: Vec<f64>,
        /// added to every element
        constant: f64,
    },
    /// Same value at the node's lower level and scale; needs at least one level of difference.
    Adjust,
    /// CKKS: the same value at the node's higher level, from [`crate::bootstrap::SLOTS_TO_COEFFS`] levels. Values are at most
    /// 2^`log_bound` in absolute value; the error grows with that bound.
    Bootstrap {
        /// log2 of the largest absolute value
        log_bound: u32,
    },
    /// A linear map on operand 0; the other operands are the clear tensors of the steps. 1 level, 0 when `masks` is false.
    Linear {
        /// chain of steps
        steps: Vec<LinearStep>,
        /// baby and giant steps
        split: Split,
        /// whether the map needs masks
        masks: bool,
    },
    /// CKKS: A @ B by masks, both encrypted in plain layout; 2 levels.
    MaskedMatMul,
    /// GL: A @ B, A held plain, B held transposed; 1 level. The result is held either way: transposed it is the product of
    /// the operands in the other order, `(A B)^T = B^T A^T`, at the same cost. The placements of operands and result say
    /// which ciphertexts are multiplied ([`crate::product::Product`]).
    MatMul,
    /// GL: A @ P, A held plain, P clear with the batch axes of A or none; no key switch; 1 level. Every tile of the result
    /// shares its lane with the tiles of A that go into it ([`crate::product::clear_product`]).
    MatMulClear,
    /// GL: a linear map that treats all held rows of a tile alike ([`crate::rows::RowMap`]): products with clear matrices, then
    /// one rotation of each product; operands as of `Linear`; 1 level. Without rotations there is no key switch.
    LinearRows {
        /// chain of steps
        steps: Vec<LinearStep>,
    },
    /// GL: transpose of how the value is held (the tensor stays the same); 0 levels.
    Flip,
}

/// A switch key the evaluator needs, usable up to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// what it is for
    pub kind: KeyKind,
    /// highest level it is used at
    pub level: Level,
}

/// What a switch key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum KeyKind {
    /// s^2 to s
    Relinearize,
    /// rotation by a shift with no free part
    Rotate(Shift),
    /// GL encrypted product: for every diagonal k, sigma_k(s) to s and s sigma_k(s) to s
    Product,
    /// GL flip: for every diagonal k, tau_k(s) to s with tau_k: X -> X^(5^k)
    Flip,
    /// complex conjugation
    Conjugate,
    /// bootstrap: s to an encapsulated sparse secret, at level 0
    Encapsulate,
    /// bootstrap: the encapsulated sparse secret to s, for masks below q_0
    Raise,
}

/// A declared output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// name in the program
    pub name: String,
    /// its value
    pub node: NodeId,
    /// largest absolute error asked for
    pub precision: f64,
    /// bound on the largest absolute error, approximation and noise together, for inputs anywhere in their ranges
    pub predicted_error: f64,
    /// largest absolute error that a run on inputs uniform in their ranges is expected to show
    pub expected_error: f64,
    /// part of it that comes from approximating functions
    pub approximation_error: f64,
    /// largest absolute value by range analysis
    pub max_abs: f64,
}

/// A range that is trusted, not proved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assumption {
    /// name of the value, or of the function whose argument it is
    pub name: String,
    /// lower end
    pub low: f64,
    /// upper end
    pub high: f64,
    /// line of the annotation
    pub line: u32,
}

/// What the planner expects of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// key switches of base-ring ciphertexts
    pub key_switches: u64,
    /// bytes of the evaluation keys, masks expanded from seeds not counted
    pub key_bytes: Bytes,
    /// bytes of ciphertexts, keys and encoded constants at the worst moment
    pub peak_bytes: Bytes,
    /// levels used from input to the deepest output
    pub levels_used: u32,
    /// cost of levels and bootstraps as they are placed
    pub optimality: Optimality,
}

/// How the cost of a placement of levels and bootstraps compares, in the unit of the cost model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Optimality {
    /// cost of a run
    pub cost: u64,
    /// no placement costs less
    pub lower_bound: u64,
    /// cost of the greedy placement, if there is one
    pub greedy: Option<u64>,
}

impl Optimality {
    /// Whether no placement costs less.
    pub fn proved(&self) -> bool {
        self.lower_bound >= self.cost
    }

    /// Largest part of the cost that another placement could save; 0 when it is proved that none does.
    pub fn gap(&self) -> f64 {
        if self.proved() { 0.0 } else { (self.cost - self.lower_bound) as f64 / self.cost as f64 }
    }
}

impl Op {
    /// Levels an operation on encrypted values costs; None for inputs and clear values, for `Adjust`, which goes to any
    /// lower level, and for `Bootstrap`, which goes to a higher one.
    pub fn level_cost(&self) -> Option<u32> {
        match self {
            Op::Input(_) | Op::Constant(_) | Op::Clear(_) | Op::Adjust | Op::Bootstrap { .. } => None,
            Op::Add | Op::Sub | Op::Neg | Op::AddClear | Op::MulInteger(_) | Op::Flip => Some(0),
            Op::MulClear | Op::Mul | Op::Combine { .. } => Some(1),
            Op::MatMul | Op::MatMulClear | Op::LinearRows { .. } => Some(1),
            Op::Linear { masks, .. } => Some(u32::from(*masks)),
            Op::MaskedMatMul => Some(2),
        }
    }
}

impl Node {
    /// Layout of an encrypted node.
    pub fn layout(&self) -> Layout {
        let transposed = matches!(self.form, Form::Cipher { transposed: true, .. });
        Layout { shape: self.shape.clone(), transposed, placement: self.placement.clone() }
    }
    /// Level of an encrypted node.
    pub fn level(&self) -> Option<Level> {
        match self.form {
            Form::Cipher { level, .. } => Some(level),
            Form::Clear => None,
        }
    }
}

impl Plan {
    /// The node with a number.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// For every node, the last node that reads it (itself if none): values are freed after it. Outputs are never freed.
    pub fn last_uses(&self) -> Vec<NodeId> {
        let mut last: Vec<NodeId> = (0..self.nodes.len() as u32).map(NodeId).collect();
        for (i, node) in self.nodes.iter().enumerate() {
            node.args.iter().for_each(|a| last[a.index()] = NodeId(i as u32));
        }
        let end = NodeId(self.nodes.len() as u32);
        self.outputs.iter().for_each(|o| last[o.node.index()] = end);
        last
    }

    /// Ciphertexts that are bootstrapped in a run.
    pub fn bootstraps(&self) -> u64 {
        let bootstraps = self.nodes.iter().filter(|n| matches!(n.op, Op::Bootstrap { .. }));
        bootstraps.map(|n| self.geometry.ciphertexts(&n.layout()) as u64).sum()
    }

    /// blake3 of the JSON form, in hex: names the plan in key and ciphertext files.
    pub fn hash(&self) -> String {
        blake3::hash(self.to_json().as_bytes()).to_hex().to_string()
    }

    /// The JSON form, complete: `Plan::from_json` gives the same plan back.
    ///
    /// # Panics
    /// Never: every value of a plan is finite and has a JSON form.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plans have a JSON form")
    }

    /// Reads the JSON form. The caller verifies it: [`crate::verify::verify`].
    pub fn from_json(text: &str) -> Result<Plan, serde_json::Error> {
        serde_json::from_str(text)
    }
}
