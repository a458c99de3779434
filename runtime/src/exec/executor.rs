//! Walks the nodes of a plan in order. After every node the level and the scale of each ciphertext must be the plan's; a
//! value is freed after its last reader.

use super::backend::{Backend, Map, OpError};
use super::layout::place;
use super::rows;
use plan::product::clear_product;
use plan::relabel::operand_layout;
use plan::verify::{VerifyError, verify};
use plan::{
    Geometry, Level, LinearStep, Node, NodeId, Op, Plan, Product, RowMap, Secrecy, Sparse, Tensor, TensorOp,
    Transform,
};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Why a plan does not execute.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The plan breaks a rule.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A value for an input node is missing.
    #[error("{node}: no value for the input `{name}`")]
    MissingInput {
        /// the node
        node: NodeId,
        /// name of the input
        name: String,
    },
    /// A value given for an input node has another number of ciphertexts, or a tensor another shape.
    #[error("{node}: the input `{name}` should be {expected}, it is {found}")]
    Input {
        /// the node
        node: NodeId,
        /// name of the input
        name: String,
        /// what the plan says
        expected: String,
        /// what was given
        found: String,
    },
    /// An operation fails.
    #[error("{node} ({operation}, line {line}): {source}")]
    Operation {
        /// the node
        node: NodeId,
        /// what it does
        operation: String,
        /// line of the program
        line: u32,
        /// why it fails
        source: OpError,
    },
    /// A clear operation does not apply.
    #[error("{node}: {source}")]
    Clear {
        /// the node
        node: NodeId,
        /// why not
        source: plan::op::OpError,
    },
    /// A clear operation has no finite result.
    #[error("{node} (line {line}): the value at {index:?} is {value}")]
    NotFinite {
        /// the node
        node: NodeId,
        /// line of the program
        line: u32,
        /// where
        index: Vec<usize>,
        /// infinite or not a number
        value: f64,
    },
    /// Ciphertexts at another level or scale than the plan says.
    #[error(
        "{node}: level {found} and scale {found_scale:e}, the plan has level {expected} and scale {expected_scale:e}"
    )]
    Book {
        /// the node
        node: NodeId,
        /// the plan's level
        expected: Level,
        /// the plan's scale
        expected_scale: f64,
        /// the ciphertext's level
        found: Level,
        /// the ciphertext's scale
        found_scale: f64,
    },
    /// A linear map is not of the kind the plan says.
    #[error("{node}: the map {rule}")]
    Map {
        /// the node
        node: NodeId,
        /// what the plan says it would not do
        rule: &'static str,
    },
}

/// The value of a node.
#[derive(Clone, Debug)]
pub enum Value<'p, C> {
    /// known
    Clear(Cow<'p, Tensor>),
    /// encrypted, in the layout of the node
    Cipher(Vec<C>),
}

/// What the evaluator is given: ciphertexts for the encrypted input nodes, tensors for the plain inputs by number.
#[derive(Clone, Debug)]
pub struct Encrypted<C> {
    /// ciphertexts of each node that is an encrypted input
    pub cipher: BTreeMap<NodeId, Vec<C>>,
    /// values of plain inputs
    pub plain: BTreeMap<usize, Tensor>,
}

/// Progress after a node.
#[derive(Clone, Copy, Debug)]
pub struct Step<'p> {
    /// the node that is done
    pub node: NodeId,
    /// what it did
    pub op: &'p Op,
    /// nodes of the plan
    pub total: usize,
    /// time it took
    pub time: Duration,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run<'p, C> {
    /// values of the outputs in order of declaration
    pub outputs: Vec<Value<'p, C>>,
    /// time of every node
    pub times: Vec<Duration>,
}

/// Executes a plan. `progress` is called after every node.
///
/// # Errors
/// When the plan is not a right one, inputs are missing, an operation fails, or a level or scale differs from the plan's.
pub fn execute<'p, B: Backend>(
    plan: &'p Plan,
    backend: &B,
    inputs: &Encrypted<B::Ciphertext>,
    progress: &mut dyn FnMut(Step),
) -> Result<Run<'p, B::Ciphertext>, ExecError> {
    verify(plan)?;
    let last_uses = plan.last_uses();
    let mut values: Vec<Option<Value<'p, B::Ciphertext>>> = (0..plan.nodes.len()).map(|_| None).collect();
    let mut times = Vec::with_capacity(plan.nodes.len());
    for (i, node) in plan.nodes.iter().enumerate() {
        let (id, start) = (NodeId(i as u32), Instant::now());
        let evaluator = Evaluator { plan, backend, values: &values, id, node };
        let value = evaluator.evaluate(inputs)?;
        evaluator.check(&value)?;
        values[i] = Some(value);
        for read in node.args.iter().chain([&id]).filter(|a| last_uses[a.index()] == id) {
            values[read.index()] = None;
        }
        times.push(start.elapsed());
        progress(Step { node: id, op: &node.op, total: plan.nodes.len(), time: times[i] });
    }
    let outputs = plan.outputs.iter().map(|o| values[o.node.index()].clone());
    let outputs = outputs.map(|v| v.expect("outputs are never freed")).collect();
    Ok(Run { outputs, times })
}

struct Evaluator<'a, 'p, B: Backend> {
    plan: &'p Plan,
    backend: &'a B,
    values: &'a [Option<Value<'p, B::Ciphertext>>],
    id: NodeId,
    node: &'p Node,
}

impl<'p, B: Backend> Evaluator<'_, 'p, B> {
    fn evaluate(&self, inputs: &Encrypted<B::Ciphertext>) -> Result<Value<'p, B::Ciphertext>, ExecError> {
        match &self.node.op {
            Op::Input(i) => self.input(*i, inputs),
            Op::Constant(c) => Ok(Value::Clear(Cow::Borrowed(&self.plan.constants[*c].value))),
            Op::Clear(op) => self.clear_op(op),
            op => self.cipher_op(op).map(Value::Cipher),
        }
    }

    fn input(
        &self,
        i: usize,
        inputs: &Encrypted<B::Ciphertext>,
    ) -> Result<Value<'p, B::Ciphertext>, ExecError> {
        let (node, input) = (self.id, &self.plan.inputs[i]);
        let missing = || ExecError::MissingInput { node, name: input.name.clone() };
        let wrong = |expected: String, found: String| ExecError::Input {
            node,
            name: input.name.clone(),
            expected,
            found,
        };
        if input.secrecy == Secrecy::Plain {
            let tensor = inputs.plain.get(&i).ok_or_else(missing)?;
            if tensor.shape() != input.shape {
                let show = plan::tensor::show;
                return Err(wrong(show(&input.shape), show(tensor.shape())));
            }
            return Ok(Value::Clear(Cow::Owned(tensor.clone())));
        }
        let cts = inputs.cipher.get(&node).ok_or_else(missing)?;
        let expected = self.plan.geometry.ciphertexts(&self.node.layout());
        if cts.len() != expected {
            return Err(wrong(format!("{expected} ciphertexts"), format!("{} ciphertexts", cts.len())));
        }
        Ok(Value::Cipher(cts.clone()))
    }

    fn clear_op(&self, op: &TensorOp) -> Result<Value<'p, B::Ciphertext>, ExecError> {
        let args: Vec<&Tensor> = (0..self.node.args.len()).map(|i| self.tensor(i)).collect();
        let tensor = op.eval(&args).map_err(|source| ExecError::Clear { node: self.id, source })?;
        if let Some(at) = tensor.data().iter().position(|x| !x.is_finite()) {
            let (index, value) = (tensor.index_of(at), tensor.data()[at]);
            return Err(ExecError::NotFinite { node: self.id, line: self.node.line, index, value });
        }
        Ok(Value::Clear(Cow::Owned(tensor)))
    }

    fn cipher_op(&self, op: &Op) -> Result<Vec<B::Ciphertext>, ExecError> {
        let b = self.backend;
        match op {
            Op::Add => self.each(|e, k| b.add(&e.ct(0)[k], &e.ct(1)[k])),
            Op::Sub => self.each(|e, k| b.sub(&e.ct(0)[k], &e.ct(1)[k])),
            Op::Neg => self.each(|e, k| b.neg(&e.ct(0)[k])),
            Op::MulInteger(factor) => self.each(|e, k| b.mul_integer(&e.ct(0)[k], *factor)),
            Op::Mul => self.each(|e, k| b.mul(&e.ct(0)[k], &e.ct(1)[k])),
            Op::AddClear => self.each_with_clear(|a, slots| b.add_clear(a, slots)),
            Op::MulClear => self.each_with_clear(|a, slots| b.mul_clear(a, slots)),
            Op::Combine { coefficients, constant } => self.combine(coefficients, *constant),
            Op::Adjust => {
                let level = self.node.level().unwrap_or(Level(0));
                self.each(|e, k| b.adjust(&e.ct(0)[k], level))
            }
            Op::Bootstrap { log_bound } => {
                let level = self.node.level().unwrap_or(Level(0));
                self.each(|e, k| b.bootstrap(&e.ct(0)[k], *log_bound, level))
            }
            Op::Linear { steps, masks: false, .. } if self.moves_nothing(steps) => Ok(self.ct(0).to_vec()),
            Op::Linear { steps, split, masks } => {
                let (from, matrix) = self.matrix(steps)?;
                let geometry = &self.plan.geometry;
                let transform = Transform::new(&matrix, &from.layout(), &self.node.layout(), geometry);
                if !masks && transform.integers.is_none() {
                    return Err(ExecError::Map { node: self.id, rule: "needs masks" });
                }
                let map = Map { transform: &transform, split: *split, masks: *masks };
                b.linear(self.ct(0), &map).map_err(|e| self.failed(e))
            }
            Op::LinearRows { steps } => {
                let (from, matrix) = self.matrix(steps)?;
                let map = RowMap::new(&matrix, &from.layout(), &self.node.layout(), &self.plan.geometry)
                    .ok_or(ExecError::Map { node: self.id, rule: "does not treat all rows alike" })?;
                rows::row_map(b, self.ct(0), &map, &self.plan.geometry).map_err(|e| self.failed(e))
            }
            Op::MaskedMatMul => {
                let (_, inner) = Geometry::matrix_of(&self.plan.node(self.node.args[0]).shape);
                self.each(|e, k| b.masked_matmul(&e.ct(0)[k], &e.ct(1)[k], inner))
            }
            Op::MatMul => {
                let (from, to) = (|i: usize| self.plan.node(self.node.args[i]).layout(), self.node.layout());
                let map = Product::new(&from(0), &from(1), &to, &self.plan.geometry)
                    .ok_or(ExecError::Map { node: self.id, rule: "does not bring its tiles together" })?;
                rows::product(b, (self.ct(0), self.ct(1)), &map, to.transposed).map_err(|e| self.failed(e))
            }
            Op::MatMulClear => {
                let (from, weight) = (self.plan.node(self.node.args[0]).layout(), self.tensor(1));
                let geometry = &self.plan.geometry;
                let map = clear_product(&from, weight.shape(), &self.node.layout(), geometry)
                    .ok_or(ExecError::Map { node: self.id, rule: "does not bring its tiles together" })?;
                rows::clear_product(b, self.ct(0), weight, &map, geometry).map_err(|e| self.failed(e))
            }
            Op::Flip => self.each(|e, k| b.flip(&e.ct(0)[k])),
            Op::Input(_) | Op::Constant(_) | Op::Clear(_) => unreachable!("no operation on ciphertexts"),
        }
    }

    fn combine(&self, coefficients: &[f64], constant: f64) -> Result<Vec<B::Ciphertext>, ExecError> {
        let sums = self.each(|e, k| {
            let terms: Vec<(f64, &B::Ciphertext)> =
                coefficients.iter().enumerate().map(|(i, &c)| (c, &e.ct(i)[k])).collect();
            e.backend.combine(&terms)
        })?;
        if constant == 0.0 {
            return Ok(sums);
        }
        let slots = self.slots(&Tensor::full(&self.node.shape, constant), self.node);
        let with_constant = sums.par_iter().zip(&slots).map(|(a, slots)| self.backend.add_clear(a, slots));
        with_constant.collect::<Result<_, _>>().map_err(|e| self.failed(e))
    }

    /// Whether a linear map only gives its ciphertexts another name.
    fn moves_nothing(&self, steps: &[LinearStep]) -> bool {
        let from = self.plan.node(self.node.args[0]).layout();
        let same = operand_layout(steps, &from.shape, &self.node.layout(), &self.plan.geometry);
        same == Some(from)
    }

    /// Operand 0 and the matrix of a chain of linear steps on it.
    fn matrix(&self, steps: &[LinearStep]) -> Result<(&'p Node, Sparse), ExecError> {
        let clear: Vec<&Tensor> = (1..self.node.args.len()).map(|i| self.tensor(i)).collect();
        let from = self.plan.node(self.node.args[0]);
        let matrix = plan::linear::matrix(steps, &from.shape, &clear)
            .map_err(|e| ExecError::Clear { node: self.id, source: e.into() })?;
        Ok((from, matrix))
    }

    /// One operation on every ciphertext of operand 0, and the same ciphertext of the other encrypted operands.
    fn each(
        &self,
        op: impl Fn(&Self, usize) -> Result<B::Ciphertext, OpError> + Sync,
    ) -> Result<Vec<B::Ciphertext>, ExecError> {
        let results = (0..self.ct(0).len()).into_par_iter().map(|k| op(self, k));
        results.collect::<Result<_, _>>().map_err(|e| self.failed(e))
    }

    /// The same with the slots of a clear operand 1, laid out as the encrypted operand 0.
    fn each_with_clear(
        &self,
        op: impl Fn(&B::Ciphertext, &[f64]) -> Result<B::Ciphertext, OpError> + Sync,
    ) -> Result<Vec<B::Ciphertext>, ExecError> {
        let slots = self.slots(self.tensor(1), self.plan.node(self.node.args[0]));
        self.zip_clear(&slots, op)
    }

    /// One operation on every ciphertext of operand 0 and the slots of a clear one.
    fn zip_clear(
        &self,
        slots: &[Vec<f64>],
        op: impl Fn(&B::Ciphertext, &[f64]) -> Result<B::Ciphertext, OpError> + Sync,
    ) -> Result<Vec<B::Ciphertext>, ExecError> {
        let results = self.ct(0).par_iter().zip(slots).map(|(a, slots)| op(a, slots));
        results.collect::<Result<_, _>>().map_err(|e| self.failed(e))
    }

    /// A clear tensor in the orientation of an encrypted node.
    fn slots(&self, tensor: &Tensor, like: &Node) -> Vec<Vec<f64>> {
        place(tensor, &like.layout(), &self.plan.geometry)
    }

    fn failed(&self, source: OpError) -> ExecError {
        let operation = plan::text::operation(&self.node.op);
        ExecError::Operation { node: self.id, operation, line: self.node.line, source }
    }

    fn value(&self, operand: usize) -> &Value<'p, B::Ciphertext> {
        self.values[self.node.args[operand].index()]
            .as_ref()
            .expect("values are kept until their last reader")
    }

    /// Ciphertexts of an operand that the verified plan says is encrypted.
    fn ct(&self, operand: usize) -> &[B::Ciphertext] {
        match self.value(operand) {
            Value::Cipher(cts) => cts,
            Value::Clear(_) => &[],
        }
    }

    /// An operand that the verified plan says is clear.
    fn tensor(&self, operand: usize) -> &Tensor {
        match self.value(operand) {
            Value::Clear(tensor) => tensor,
            Value::Cipher(_) => unreachable!("a verified plan has a clear operand here"),
        }
    }

    /// Level and scale against the plan's; scales are equal to the last bit.
    fn check(&self, value: &Value<'p, B::Ciphertext>) -> Result<(), ExecError> {
        let (Value::Cipher(cts), Some(expected)) = (value, self.node.level()) else { return Ok(()) };
        let expected_scale = self.plan.params.scale_at(expected);
        for ct in cts {
            let (found, found_scale) = (self.backend.level(ct), self.backend.scale(ct));
            if found != expected || found_scale.to_bits() != expected_scale.to_bits() {
                let node = self.id;
                return Err(ExecError::Book { node, expected, expected_scale, found, found_scale });
            }
        }
        Ok(())
    }
}
