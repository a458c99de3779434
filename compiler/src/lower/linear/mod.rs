//! How a linear map is evaluated in a geometry: which kernel, what it costs, what it does to noise.
//!
//! | kernel | when | levels | key switches |
//! |---|---|---|---|
//! | integer multiple | the chain only scales, by an integer | 0 | 0 |
//! | combination | the chain only scales | 1 | 0 |
//! | product with a clear tensor | the chain is one `scale` | 1 | 0 |
//! | renaming | GL, tiles stay as they are ([`plan::relabel`]) | 0 | 0 |
//! | clear product | GL, `x @ w` on tiles held plain | 1 | 0 |
//! | rows | GL, all rows of a tile are treated alike ([`plan::RowMap`]) | 1 | one per rotation |
//! | rotations | each rotation takes all elements with one integer ([`plan::Transform`]) | 0 | baby and giant steps |
//! | masks | otherwise | 1 | baby and giant steps |
//!
//! Clear operands that are known only at run time stand in as dense tensors without zeros or integers, so that keys and
//! masks suffice for every value they may take.

mod gl;

use super::error::PlanError;
use crate::cost::CostModel;
use crate::ir::{Graph, NodeId};
use plan::linear::{self, LinearStep, Sparse};
use plan::{Geometry, Layout, Op, Operand, Scheme, Shift, Tensor, Transform};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Largest number of coefficients of a map that is laid out element by element.
pub const MAX_ENTRIES: usize = 1 << 26;
/// Largest integer multiple that is evaluated without a level: beyond it the range suffers.
const MAX_INTEGER: f64 = 1024.0;

/// How a map is evaluated, and what that takes.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// operation of the plan
    pub op: Op,
    /// steps that only change the clear matrix of a clear product, done in clear before
    pub weight_steps: Vec<LinearStep>,
    /// key switches of base-ring ciphertexts
    pub key_switches: u64,
    /// rotations that need a key
    pub shifts: BTreeSet<Shift>,
    /// encoded base-ring polynomials
    pub plaintexts: u64,
    /// GL products of a ciphertext with a clear matrix
    pub products: u64,
    /// GL products of two ciphertexts
    pub pairs: u64,
    /// largest sum of squared coefficients of an output element
    pub square: f64,
    /// sum of squared factors of all rotations that an output slot receives, those of empty slots included
    pub spread: f64,
    /// whether every element stays as it is
    pub identity: bool,
    /// the map on elements, if it was laid out
    pub matrix: Option<Rc<Sparse>>,
}

impl Kernel {
    /// Levels it takes.
    pub fn levels(&self) -> u32 {
        self.op.level_cost().unwrap_or(0)
    }

    fn pointwise(op: Op, factor: f64) -> Kernel {
        let one = op == Op::MulInteger(1);
        Kernel {
            op,
            weight_steps: vec![],
            key_switches: 0,
            shifts: BTreeSet::new(),
            plaintexts: 0,
            products: 0,
            pairs: 0,
            square: factor * factor,
            spread: factor * factor,
            identity: one,
            matrix: None,
        }
    }
}

/// A linear node of a graph, with operands.
#[derive(Clone, Copy)]
pub struct Chain<'a> {
    /// its steps
    pub steps: &'a [LinearStep],
    /// shape of the encrypted operand
    pub input: &'a [usize],
    /// shape of the result
    pub output: &'a [usize],
    /// clear operands of the steps
    pub clear: &'a [NodeId],
    /// the node, for messages
    pub node: NodeId,
}

impl Chain<'_> {
    /// An upper bound on the coefficients of the matrices of the steps.
    pub fn entries(&self) -> usize {
        let size = |shape: &[usize]| shape.iter().fold(1usize, |n, &d| n.saturating_mul(d));
        let mut shape = self.input.to_vec();
        let mut most = size(&shape);
        for step in self.steps {
            let Ok(out) = step.output_shape(&shape) else { return most };
            let per_output = match step {
                LinearStep::MatMulRight { .. } => shape.last().copied().unwrap_or(1),
                LinearStep::MatMulLeft { .. } => shape.get(shape.len().wrapping_sub(2)).copied().unwrap_or(1),
                LinearStep::Conv2d { shape, .. } => size(&shape[1..]),
                LinearStep::AvgPool2d { kernel, .. } => kernel[0].saturating_mul(kernel[1]),
                LinearStep::Sum { .. } => size(&shape) / size(&out).max(1),
                _ => 1,
            };
            most = most.max(size(&out).saturating_mul(per_output));
            shape = out;
        }
        most
    }
}

/// What identifies a kernel: chain, input shape, clear operands, whether the operand is an input, orientations.
type Key = (String, Vec<usize>, Vec<NodeId>, bool, bool, bool);

/// Chooses kernels in a geometry, each once.
pub struct Kernels<'g> {
    graph: &'g Graph,
    ranges: &'g [(f64, f64)],
    geometry: Geometry,
    cost: CostModel,
    kernels: BTreeMap<Key, Option<Rc<Kernel>>>,
    matrices: BTreeMap<(String, Vec<usize>, Vec<NodeId>), Rc<Sparse>>,
    stand_ins: BTreeMap<NodeId, Rc<Tensor>>,
    /// maps that only move tiles
    moves: BTreeMap<(Layout, Layout), Rc<Kernel>>,
}

impl<'g> Kernels<'g> {
    /// No kernels yet.
    pub fn new(
        graph: &'g Graph,
        ranges: &'g [(f64, f64)],
        geometry: Geometry,
        cost: CostModel,
    ) -> Kernels<'g> {
        Kernels {
            graph,
            ranges,
            geometry,
            cost,
            kernels: BTreeMap::new(),
            matrices: BTreeMap::new(),
            stand_ins: BTreeMap::new(),
            moves: BTreeMap::new(),
        }
    }

    /// The frame.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The model that compares kernels.
    pub fn cost(&self) -> &CostModel {
        &self.cost
    }

    /// The cheapest kernel between two orientations; None where the map is left to the other orientations.
    ///
    /// # Errors
    /// When the map is too large to be laid out.
    pub fn choose(&mut self, chain: Chain, from: bool, to: bool) -> Result<Option<Rc<Kernel>>, PlanError> {
        let of_input = self.is_input(self.graph.args(chain.node)[0]);
        let key =
            (format!("{:?}", chain.steps), chain.input.to_vec(), chain.clear.to_vec(), of_input, from, to);
        if let Some(kernel) = self.kernels.get(&key) {
            return Ok(kernel.clone());
        }
        let kernel = self.make(chain, from, to)?.map(Rc::new);
        self.kernels.insert(key, kernel.clone());
        Ok(kernel)
    }

    fn make(&mut self, chain: Chain, from: bool, to: bool) -> Result<Option<Kernel>, PlanError> {
        if let Some(kernel) = self.pointwise(chain) {
            return Ok((from == to).then_some(kernel));
        }
        if let Some(held) = self.renames(chain, to) {
            return Ok((held == from).then(|| self.rename(chain.steps).as_ref().clone()));
        }
        if let Some(kernel) = self.clear_product(chain) {
            return Ok((!from && !to).then_some(kernel));
        }
        self.laid_out(chain, from, to).map(Some)
    }

    /// Chains that treat every element for itself.
    fn pointwise(&self, chain: Chain) -> Option<Kernel> {
        if let [LinearStep::Scale { .. }] = chain.steps {
            let largest = self.largest(chain.clear[0]);
            let plaintexts = self.ciphertexts(chain.input, false) * self.cost.slices as u64;
            return Some(Kernel { plaintexts, ..Kernel::pointwise(Op::MulClear, largest) });
        }
        let factor = chain.steps.iter().try_fold(1.0, |f, s| match s {
            LinearStep::ScaleBy { factor } => Some(f * factor),
            _ => None,
        })?;
        let integer = factor.fract() == 0.0 && factor.abs() <= MAX_INTEGER;
        let op = if integer {
            Op::MulInteger(factor as i64)
        } else {
            Op::Combine { coefficients: vec![factor], constant: 0.0 }
        };
        Some(Kernel::pointwise(op, factor))
    }

    /// Chains laid out element by element.
    fn laid_out(&mut self, chain: Chain, from: bool, to: bool) -> Result<Kernel, PlanError> {
        let matrix = self.matrix(chain)?;
        let source = Layout::new(chain.input, from);
        let target = Layout::new(chain.output, to);
        let transform = Transform::new(&matrix, &source, &target, &self.geometry);
        let known = chain.clear.iter().all(|&c| self.graph.constant_value(c).is_some());
        let masks = transform.integers.is_none() || !known;
        let rotations = self.rotations(chain.steps, &matrix, &transform, masks);
        if !masks || self.geometry.scheme == Scheme::Ckks {
            return Ok(rotations);
        }
        let rows = self.row_map(chain, &matrix, (&source, &target), &rotations);
        Ok(match rows {
            Some(rows) if self.cost.kernel(&rows) < self.cost.kernel(&rotations) => rows,
            _ => rotations,
        })
    }

    fn rotations(
        &self,
        steps: &[LinearStep],
        matrix: &Rc<Sparse>,
        transform: &Transform,
        masks: bool,
    ) -> Kernel {
        let split = transform.best_split(&self.geometry);
        let squares = (0..matrix.rows()).map(|i| matrix.row(i).iter().map(|e| e.1 * e.1).sum::<f64>());
        let square = squares.fold(0.0, f64::max);
        let diagonals: usize = transform.blocks.values().map(BTreeMap::len).sum();
        Kernel {
            op: Op::Linear { steps: steps.to_vec(), split, masks },
            weight_steps: vec![],
            key_switches: (transform.key_switches(&self.geometry, split) as f64 * self.cost.slices) as u64,
            shifts: transform.keyed_shifts(&self.geometry, split),
            plaintexts: if masks { (diagonals as f64 * self.cost.slices) as u64 } else { 0 },
            products: 0,
            pairs: 0,
            square,
            spread: if masks { square } else { spread(transform) },
            identity: !masks && is_identity(matrix),
            matrix: Some(matrix.clone()),
        }
    }

    fn matrix(&mut self, chain: Chain) -> Result<Rc<Sparse>, PlanError> {
        let key = (format!("{:?}", chain.steps), chain.input.to_vec(), chain.clear.to_vec());
        if let Some(m) = self.matrices.get(&key) {
            return Ok(m.clone());
        }
        let (span, node) = (self.graph.node(chain.node).span, chain.node);
        let entries = chain.entries();
        if entries > MAX_ENTRIES {
            return Err(PlanError::TooLarge { entries, limit: MAX_ENTRIES, span });
        }
        let clear: Vec<Rc<Tensor>> = chain.clear.iter().map(|&c| self.value(c)).collect();
        let clear: Vec<&Tensor> = clear.iter().map(Rc::as_ref).collect();
        let m = linear::matrix(chain.steps, chain.input, &clear)
            .map_err(|e| PlanError::Unsupported(format!("{node}: {e}"), span))?;
        let m = Rc::new(m);
        self.matrices.insert(key, m.clone());
        Ok(m)
    }

    /// A constant, or a dense stand-in of the size its range allows.
    fn value(&mut self, id: NodeId) -> Rc<Tensor> {
        let (graph, largest) = (self.graph, self.largest(id));
        let make = || match graph.constant_value(id) {
            Some(t) => t.clone(),
            None => stand_in(graph.shape(id), largest),
        };
        self.stand_ins.entry(id).or_insert_with(|| Rc::new(make())).clone()
    }

    fn largest(&self, id: NodeId) -> f64 {
        match self.graph.constant_value(id) {
            Some(t) => t.max_abs(),
            None => {
                let (low, high) = self.ranges[id.index()];
                low.abs().max(high.abs())
            }
        }
    }

    /// Ciphertexts of a tensor.
    pub fn ciphertexts(&self, shape: &[usize], transposed: bool) -> u64 {
        self.geometry.ciphertexts(&Layout::new(shape, transposed)) as u64
    }
}

fn is_identity(m: &Sparse) -> bool {
    m.rows() == m.columns() && (0..m.rows()).all(|i| m.row(i) == [(i as u32, 1.0)])
}

/// Distinct values between half and all of `largest`, none of them an integer: no sum of two of them vanishes.
fn stand_in(shape: &[usize], largest: f64) -> Tensor {
    let size = plan::tensor::size_of(shape).unwrap_or(0);
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let value = |i: usize| {
        let hash = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 12;
        scale * (0.5 + (hash as f64 + 0.5) / (1u64 << 53) as f64)
    };
    Tensor::new(shape.to_vec(), (0..size).map(value).collect()).unwrap_or_else(|_| Tensor::scalar(scale))
}

/// Sum of squared factors over the rotations into one output ciphertext, the largest over outputs.
fn spread(transform: &Transform) -> f64 {
    let mut by_output: BTreeMap<usize, f64> = BTreeMap::new();
    for (&(out, _), factors) in transform.integers.iter().flatten() {
        *by_output.entry(out).or_default() += factors.values().map(|&f| (f * f) as f64).sum::<f64>();
    }
    by_output.into_values().fold(0.0, f64::max)
}

/// A chain after another: steps and clear operands in order.
pub fn compose(first: &[LinearStep], first_clear: usize, second: &[LinearStep]) -> Vec<LinearStep> {
    let moved = second.iter().map(|s| s.with_operand(|o| Operand(o.0 + first_clear)));
    first.iter().cloned().chain(moved).collect()
}
