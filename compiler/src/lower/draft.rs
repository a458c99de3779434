//! A graph in the operations of a scheme, before levels: orientations settled, kernels chosen, flips inserted.

use super::error::PlanError;
use super::linear::{Kernel, Kernels};
use super::orientation::{Orientation, chain_of};
use crate::ir::{Graph, NodeId, Op as IrOp};
use crate::passes::ArithmeticGraph;
use grammar::Span;
use plan::{Geometry, Layout, Op, Scheme, TensorOp, plan::Constant};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A node of a draft; operands have smaller numbers.
#[derive(Clone, Debug)]
pub struct DraftNode {
    /// what it does
    pub op: Op,
    /// operands
    pub args: Vec<usize>,
    /// shape of the tensor
    pub shape: Vec<usize>,
    /// for encrypted values: held transposed
    pub held: Option<bool>,
    /// (smallest, largest) value
    pub range: (f64, f64),
    /// largest absolute error that an approximation brings in here
    pub error: f64,
    /// place in the source
    pub span: Option<Span>,
    /// kernel of a linear map
    pub kernel: Option<Rc<Kernel>>,
}

/// A program in the operations of a scheme.
#[derive(Clone, Debug)]
pub struct Draft {
    /// frame of all layouts
    pub geometry: Geometry,
    /// operations in order
    pub nodes: Vec<DraftNode>,
    /// constants that some node reads
    pub constants: Vec<Constant>,
    /// node of every output, in order of declaration
    pub outputs: Vec<usize>,
}

impl DraftNode {
    /// Whether the value is encrypted.
    pub fn is_cipher(&self) -> bool {
        self.held.is_some()
    }
    /// Largest absolute value.
    pub fn max_abs(&self) -> f64 {
        self.range.0.abs().max(self.range.1.abs())
    }
    /// Layout of the value.
    pub fn layout(&self) -> Layout {
        Layout { shape: self.shape.clone(), transposed: self.held == Some(true) }
    }
}

/// Makes the draft of a program.
///
/// # Errors
/// When a linear map is too large, or the graph is not in arithmetic form.
pub fn draft(
    program: &ArithmeticGraph,
    orientation: &Orientation,
    geometry: Geometry,
    kernels: &mut Kernels,
) -> Result<Draft, PlanError> {
    let graph = &program.graph;
    let empty = Draft { geometry, nodes: vec![], constants: vec![], outputs: vec![] };
    let mut b = Builder {
        program,
        orientation,
        kernels,
        draft: empty,
        of: vec![None; graph.len()],
        flips: BTreeMap::new(),
        constants: BTreeMap::new(),
    };
    let live = graph.live();
    for id in graph.ids().filter(|id| live[id.index()]) {
        let node = if graph.is_cipher(id) { b.cipher(id)? } else { b.clear(id)? };
        b.of[id.index()] = Some(node);
    }
    let outputs: Result<Vec<usize>, PlanError> = graph.outputs.iter().map(|o| b.at(o.node)).collect();
    b.draft.outputs = outputs?;
    Ok(b.draft)
}

struct Builder<'b, 'g> {
    program: &'b ArithmeticGraph,
    orientation: &'b Orientation,
    kernels: &'b mut Kernels<'g>,
    draft: Draft,
    of: Vec<Option<usize>>,
    flips: BTreeMap<usize, usize>,
    constants: BTreeMap<usize, usize>,
}

impl<'b> Builder<'b, '_> {
    fn graph(&self) -> &'b Graph {
        &self.program.graph
    }

    fn at(&self, id: NodeId) -> Result<usize, PlanError> {
        let span = self.graph().node(id).span;
        self.of[id.index()]
            .ok_or_else(|| PlanError::Unsupported(format!("{id} is read before it is computed"), span))
    }

    fn unsupported(&self, id: NodeId) -> PlanError {
        let node = self.graph().node(id);
        PlanError::Unsupported(format!("{id} is not in arithmetic form: {:?}", node.op), node.span)
    }

    fn push(&mut self, id: NodeId, op: Op, args: Vec<usize>, held: Option<bool>) -> usize {
        let node = self.graph().node(id);
        let shape = node.shape.clone();
        let error = self.program.errors.get(&id).copied().unwrap_or(0.0);
        let range = self.program.ranges[id.index()];
        self.draft.nodes.push(DraftNode {
            op,
            args,
            shape,
            held,
            range,
            error,
            span: node.span,
            kernel: None,
        });
        self.draft.nodes.len() - 1
    }

    /// A node like another one, for the same value.
    fn derive(&mut self, of: usize, op: Op, args: Vec<usize>, held: Option<bool>) -> usize {
        let node = DraftNode { op, args, held, kernel: None, error: 0.0, ..self.draft.nodes[of].clone() };
        self.draft.nodes.push(node);
        self.draft.nodes.len() - 1
    }

    fn clear(&mut self, id: NodeId) -> Result<usize, PlanError> {
        let graph = self.graph();
        let args: Vec<usize> = graph.args(id).iter().map(|&a| self.at(a)).collect::<Result<_, _>>()?;
        let op = match &graph.node(id).op {
            IrOp::Assume { .. } => return Ok(args[0]),
            IrOp::Input(i) => Op::Input(*i),
            IrOp::Constant(c) => Op::Constant(self.constant(*c)),
            IrOp::Tensor(op) => Op::Clear(op.clone()),
            IrOp::Function { function, .. } => Op::Clear(TensorOp::Apply { function: *function }),
            IrOp::Approximated { .. } => return Ok(args[0]),
            IrOp::Combine { .. } => return Err(self.unsupported(id)),
        };
        Ok(self.push(id, op, args, None))
    }

    fn constant(&mut self, c: usize) -> usize {
        let constant = &self.program.graph.constants[c];
        let draft = &mut self.draft;
        *self.constants.entry(c).or_insert_with(|| {
            draft.constants.push(constant.clone());
            draft.constants.len() - 1
        })
    }

    fn cipher(&mut self, id: NodeId) -> Result<usize, PlanError> {
        let graph = self.graph();
        let node = graph.node(id);
        let args = graph.args(id);
        let held = self.orientation.transposed[id.index()];
        match &node.op {
            IrOp::Input(i) => Ok(self.push(id, Op::Input(*i), vec![], Some(held))),
            IrOp::Assume { .. } => self.assume(id, args[0]),
            IrOp::Combine { coefficients, constant } => {
                let op = Op::Combine { coefficients: coefficients.clone(), constant: *constant };
                self.elementwise(id, op, &args)
            }
            IrOp::Tensor(TensorOp::Neg) => self.elementwise(id, Op::Neg, &args),
            IrOp::Tensor(TensorOp::Mul) if graph.is_cipher(args[0]) && graph.is_cipher(args[1]) => {
                self.elementwise(id, Op::Mul, &args)
            }
            IrOp::Tensor(TensorOp::Add) => match (graph.is_cipher(args[0]), graph.is_cipher(args[1])) {
                (true, true) => self.elementwise(id, Op::Add, &args),
                (true, false) => self.elementwise(id, Op::AddClear, &args),
                _ => self.elementwise(id, Op::AddClear, &[args[1], args[0]]),
            },
            IrOp::Tensor(TensorOp::Sub) => match (graph.is_cipher(args[0]), graph.is_cipher(args[1])) {
                (true, true) => self.elementwise(id, Op::Sub, &args),
                (true, false) => self.less_clear(id, args[0], args[1]),
                _ => self.clear_less(id, args[0], args[1]),
            },
            IrOp::Tensor(TensorOp::MatMul) => self.matmul(id, &args),
            IrOp::Tensor(TensorOp::Linear { .. }) => {
                let from = self.orientation.reads.get(&id).copied().unwrap_or(held);
                self.mapped(id, from, held)
            }
            _ => Err(self.unsupported(id)),
        }
    }

    /// The operand itself, with the range that is trusted.
    fn assume(&mut self, id: NodeId, arg: NodeId) -> Result<usize, PlanError> {
        let held = self.orientation.transposed[id.index()];
        let node = self.held(arg, held)?;
        let (low, high) = self.program.ranges[id.index()];
        let range = &mut self.draft.nodes[node].range;
        *range = (range.0.max(low), range.1.min(high));
        if range.0 > range.1 {
            *range = (low, high);
        }
        Ok(node)
    }

    /// An encrypted value in an orientation, flipped once if it is held the other way.
    fn held(&mut self, id: NodeId, transposed: bool) -> Result<usize, PlanError> {
        let node = self.at(id)?;
        if self.draft.nodes[node].held == Some(transposed) {
            return Ok(node);
        }
        if let Some(&flip) = self.flips.get(&node) {
            return Ok(flip);
        }
        let flip = match self.orientation.again.get(&id) {
            Some(&from) => self.mapped(id, from, transposed)?,
            None => self.derive(node, Op::Flip, vec![node], Some(transposed)),
        };
        self.flips.insert(node, flip);
        Ok(flip)
    }

    fn elementwise(&mut self, id: NodeId, op: Op, args: &[NodeId]) -> Result<usize, PlanError> {
        let held = self.orientation.transposed[id.index()];
        let mut operands = Vec::with_capacity(args.len());
        for &a in args {
            operands.push(if self.graph().is_cipher(a) { self.held(a, held)? } else { self.at(a)? });
        }
        Ok(self.push(id, op, operands, Some(held)))
    }

    /// Encrypted - clear.
    fn less_clear(&mut self, id: NodeId, cipher: NodeId, clear: NodeId) -> Result<usize, PlanError> {
        let held = self.orientation.transposed[id.index()];
        let (x, c) = (self.held(cipher, held)?, self.at(clear)?);
        let negative = self.derive(c, Op::Clear(TensorOp::Neg), vec![c], None);
        Ok(self.push(id, Op::AddClear, vec![x, negative], Some(held)))
    }

    /// Clear - encrypted.
    fn clear_less(&mut self, id: NodeId, clear: NodeId, cipher: NodeId) -> Result<usize, PlanError> {
        let held = self.orientation.transposed[id.index()];
        let (x, c) = (self.held(cipher, held)?, self.at(clear)?);
        let negative = self.derive(x, Op::Neg, vec![x], Some(held));
        let (low, high) = self.draft.nodes[negative].range;
        self.draft.nodes[negative].range = (-high, -low);
        Ok(self.push(id, Op::AddClear, vec![negative, c], Some(held)))
    }

    fn matmul(&mut self, id: NodeId, args: &[NodeId]) -> Result<usize, PlanError> {
        if !args.iter().all(|&a| self.graph().is_cipher(a)) {
            return Err(self.unsupported(id));
        }
        let gl = self.draft.geometry.scheme == Scheme::Gl;
        let (a, b) = (self.held(args[0], false)?, self.held(args[1], gl)?);
        let held = self.orientation.transposed[id.index()];
        let op = if gl { Op::MatMul } else { Op::MaskedMatMul };
        Ok(self.push(id, op, vec![a, b], Some(held)))
    }

    /// A linear node from its operand in one orientation to its result in one.
    fn mapped(&mut self, id: NodeId, from: bool, to: bool) -> Result<usize, PlanError> {
        let graph = self.graph();
        let args = graph.args(id);
        let chain = chain_of(graph, id, &args[1..]).ok_or_else(|| self.unsupported(id))?;
        let kernel = self.kernels.choose(chain, from, to)?.ok_or_else(|| self.unsupported(id))?;
        let x = self.held(args[0], from)?;
        if kernel.identity && from == to && chain.input == chain.output {
            return Ok(x);
        }
        let mut operands = vec![x];
        let clear: Vec<usize> = args[1..].iter().map(|&a| self.at(a)).collect::<Result<_, _>>()?;
        match kernel.op {
            Op::MatMulClear => operands.push(self.weight(&kernel, chain.steps, clear)?),
            Op::MulClear | Op::Linear { .. } | Op::LinearRows { .. } => operands.extend(clear),
            _ => {}
        }
        let node = self.push(id, kernel.op.clone(), operands, Some(to));
        self.draft.nodes[node].kernel = Some(kernel);
        Ok(node)
    }

    /// The clear matrix of a clear product, with the steps that go into it.
    fn weight(
        &mut self,
        kernel: &Kernel,
        steps: &[plan::LinearStep],
        clear: Vec<usize>,
    ) -> Result<usize, PlanError> {
        let first = steps[0].operand().map_or(0, |o| o.0);
        if kernel.weight_steps.is_empty() {
            return Ok(clear[first]);
        }
        let weight = self.draft.nodes[clear[first]].clone();
        let shape = plan::linear::output_shape(&kernel.weight_steps, &weight.shape)
            .map_err(|e| PlanError::Unsupported(e.to_string(), weight.span))?;
        let read = kernel.weight_steps.iter().filter_map(|s| s.operand()).map(|o| o.0 + 1).max().unwrap_or(0);
        let op = Op::Clear(TensorOp::Linear { steps: kernel.weight_steps.clone() });
        let args = [&clear[first..=first], &clear[..read]].concat();
        self.draft.nodes.push(DraftNode { op, args, shape, kernel: None, error: 0.0, ..weight });
        Ok(self.draft.nodes.len() - 1)
    }
}
