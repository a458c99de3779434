//! A graph in the operations of a scheme, before levels: orientations and placements settled, kernels chosen, flips inserted.
//!
//! Every value has the layout it is computed in. A reader that wants another one gets it for nothing where the value is an
//! input, which is encrypted again as wanted, or only another name of one ([`plan::relabel`]); else by a flip, or a map that
//! moves tiles.

mod held;
mod linear;

use super::error::PlanError;
use super::linear::{Kernel, Kernels};
use super::orientation::Orientation;
use super::tiling::{Tiling, place};
use crate::ir::{Graph, NodeId, Op as IrOp};
use crate::passes::ArithmeticGraph;
use grammar::Span;
use plan::{Geometry, Layout, Op, Placement, Product, Scheme, TensorOp, plan::Constant};
use std::collections::{BTreeMap, BTreeSet};
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
    /// positions of the tiles of an encrypted value, where they are not their numbers
    pub placement: Option<Placement>,
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
        let placement = self.placement.clone();
        Layout { shape: self.shape.clone(), transposed: self.held == Some(true), placement }
    }
}

/// What is chosen for products of matrices larger than a tile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// tilings of encrypted products; the default where there is none
    pub tilings: BTreeMap<NodeId, Tiling>,
    /// products with clear matrices that take columns of tiles over ciphertexts
    pub apart: BTreeSet<NodeId>,
}

impl Draft {
    /// Ciphertexts of a node; 0 for clear ones.
    pub fn ciphertexts(&self, i: usize) -> usize {
        let node = &self.nodes[i];
        if node.is_cipher() { self.geometry.ciphertexts(&node.layout()) } else { 0 }
    }

    /// Contraction of an encrypted product; 0 for other nodes.
    pub fn inner(&self, i: usize) -> usize {
        match self.nodes[i].op {
            Op::MaskedMatMul | Op::MatMul => {
                self.nodes[self.nodes[i].args[0]].shape.last().copied().unwrap_or(1)
            }
            _ => 0,
        }
    }
}

/// Makes the draft of a program.
///
/// # Errors
/// When a linear map is too large, or the graph is not in arithmetic form.
pub fn draft(
    program: &ArithmeticGraph,
    orientation: &Orientation,
    choices: &Choices,
    kernels: &mut Kernels,
) -> Result<Draft, PlanError> {
    let graph = &program.graph;
    let geometry = *kernels.geometry();
    let empty = Draft { geometry, nodes: vec![], constants: vec![], outputs: vec![] };
    let mut b = Builder {
        program,
        orientation,
        choices,
        kernels,
        draft: empty,
        of: vec![None; graph.len()],
        held: BTreeMap::new(),
        constants: BTreeMap::new(),
    };
    let live = graph.live();
    for id in graph.ids().filter(|id| live[id.index()]) {
        let node = if graph.is_cipher(id) { b.cipher(id)? } else { b.clear(id)? };
        b.of[id.index()] = Some(node);
    }
    let outputs: Result<Vec<usize>, PlanError> = graph.outputs.iter().map(|o| b.at(o.node)).collect();
    b.draft.outputs = outputs?;
    Ok(b.draft.pruned())
}

impl Draft {
    /// Without the nodes that no output needs.
    fn pruned(mut self) -> Draft {
        let mut live = vec![false; self.nodes.len()];
        self.outputs.iter().for_each(|&o| live[o] = true);
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if live[i] {
                node.args.iter().for_each(|&a| live[a] = true);
            }
        }
        let mut kept = 0..;
        let number: Vec<usize> = live.iter().map(|&l| if l { kept.next().unwrap_or(0) } else { 0 }).collect();
        let mut is_live = live.iter();
        self.nodes.retain(|_| is_live.next() == Some(&true));
        let renumber = |i: &mut usize| *i = number[*i];
        self.nodes.iter_mut().for_each(|n| n.args.iter_mut().for_each(renumber));
        self.outputs.iter_mut().for_each(renumber);
        self
    }
}

struct Builder<'b, 'g> {
    program: &'b ArithmeticGraph,
    orientation: &'b Orientation,
    choices: &'b Choices,
    kernels: &'b mut Kernels<'g>,
    draft: Draft,
    of: Vec<Option<usize>>,
    /// a value in a layout it was not computed in
    held: BTreeMap<(usize, Layout), usize>,
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
            placement: None,
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

    /// The same with an encrypted value, in a layout.
    fn derive_in(&mut self, of: usize, op: Op, args: Vec<usize>, layout: &Layout) -> usize {
        let node = self.derive(of, op, args, Some(layout.transposed));
        self.draft.nodes[node].placement = layout.placement.clone();
        node
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
        let node = self.turned(arg, held)?;
        let (low, high) = self.program.ranges[id.index()];
        let range = &mut self.draft.nodes[node].range;
        *range = (range.0.max(low), range.1.min(high));
        if range.0 > range.1 {
            *range = (low, high);
        }
        Ok(node)
    }

    /// The placement that an element-wise operation works in: that of its first operand that is computed.
    fn common_placement(&self, args: &[NodeId]) -> Option<Placement> {
        let computed =
            args.iter().filter(|&&a| self.graph().is_cipher(a)).filter_map(|&a| self.of[a.index()]);
        let mut nodes = computed.map(|n| &self.draft.nodes[n]);
        nodes.find(|n| !matches!(n.op, Op::Input(_))).and_then(|n| n.placement.clone())
    }

    /// An element-wise operation; clear operands follow its layout.
    fn elementwise(&mut self, id: NodeId, op: Op, args: &[NodeId]) -> Result<usize, PlanError> {
        let layout = Layout {
            shape: self.graph().shape(id).to_vec(),
            transposed: self.orientation.transposed[id.index()],
            placement: self.common_placement(args),
        };
        let mut operands = Vec::with_capacity(args.len());
        for &a in args {
            operands.push(if self.graph().is_cipher(a) { self.held(a, &layout)? } else { self.at(a)? });
        }
        Ok(self.push_in(id, op, operands, &layout))
    }

    fn push_in(&mut self, id: NodeId, op: Op, args: Vec<usize>, layout: &Layout) -> usize {
        let node = self.push(id, op, args, Some(layout.transposed));
        self.draft.nodes[node].placement = layout.placement.clone();
        node
    }

    /// Encrypted - clear.
    fn less_clear(&mut self, id: NodeId, cipher: NodeId, clear: NodeId) -> Result<usize, PlanError> {
        let x = self.turned(cipher, self.orientation.transposed[id.index()])?;
        let (c, layout) = (self.at(clear)?, self.draft.nodes[x].layout());
        let negative = self.derive(c, Op::Clear(TensorOp::Neg), vec![c], None);
        Ok(self.push_in(id, Op::AddClear, vec![x, negative], &layout))
    }

    /// Clear - encrypted.
    fn clear_less(&mut self, id: NodeId, clear: NodeId, cipher: NodeId) -> Result<usize, PlanError> {
        let x = self.turned(cipher, self.orientation.transposed[id.index()])?;
        let (c, layout) = (self.at(clear)?, self.draft.nodes[x].layout());
        let negative = self.derive_in(x, Op::Neg, vec![x], &layout);
        let (low, high) = self.draft.nodes[negative].range;
        self.draft.nodes[negative].range = (-high, -low);
        Ok(self.push_in(id, Op::AddClear, vec![negative, c], &layout))
    }

    fn matmul(&mut self, id: NodeId, args: &[NodeId]) -> Result<usize, PlanError> {
        let graph = self.graph();
        if !args.iter().all(|&a| graph.is_cipher(a)) {
            return Err(self.unsupported(id));
        }
        let (left, right, shape) = (graph.shape(args[0]), graph.shape(args[1]), graph.shape(id));
        if self.draft.geometry.scheme == Scheme::Ckks {
            let (a, b) =
                (self.held(args[0], &Layout::plain(left))?, self.held(args[1], &Layout::plain(right))?);
            return Ok(self.push_in(id, Op::MaskedMatMul, vec![a, b], &Layout::plain(shape)));
        }
        let geometry = self.draft.geometry;
        let tiling = self.choices.tilings.get(&id).copied().unwrap_or_default();
        let placed = place(left, right, tiling, &geometry).ok_or_else(|| self.unsupported(id))?;
        let result = Layout { transposed: self.orientation.transposed[id.index()], ..placed.result };
        // operands as they are computed, if they serve
        let lefts = self.as_computed(args[0], placed.left)?;
        let rights = self.as_computed(args[1], placed.right)?;
        let pairs = lefts.iter().flat_map(|a| rights.iter().map(move |b| (a, b)));
        let mut products = pairs.filter_map(|(a, b)| Some((a, b, Product::new(a, b, &result, &geometry)?)));
        let (a, b, product) = products.next().ok_or_else(|| self.unsupported(id))?;
        let operands = vec![self.held(args[0], a)?, self.held(args[1], b)?];
        let node = self.push_in(id, Op::MatMul, operands, &result);
        self.draft.nodes[node].kernel = Some(Rc::new(self.kernels.product(&product)));
        Ok(node)
    }
}
