//! Maps of GL: those that move nothing, those that move tiles, products of encrypted matrices, and products with clear
//! ones, which need no key switch.

use super::{Chain, Kernel, Kernels};
use crate::ir::{NodeId, Op as IrOp};
use crate::lower::tiling::columns_apart;
use plan::linear::{self, LinearStep, Sparse};
use plan::relabel::operand_layout;
use plan::{Layout, Op, Product, RowMap, Scheme, Split, Tensor, Transform};
use std::rc::Rc;

impl Kernels<'_> {
    /// For a map that moves nothing the orientation its operand is held in; maps over batch axes count where their operand
    /// is an input, which is encrypted in copies.
    pub(super) fn renames(&self, chain: Chain, to: bool) -> Option<bool> {
        let spreads = chain.steps.iter().any(|s| matches!(s, LinearStep::Broadcast { .. }));
        if spreads && !self.is_input(self.graph.args(chain.node)[0]) {
            return None;
        }
        let target = Layout::new(chain.output, to);
        operand_layout(chain.steps, chain.input, &target, &self.geometry).map(|l| l.transposed)
    }

    /// Whether a value is an input, by whatever name.
    pub fn is_input(&self, id: NodeId) -> bool {
        match self.graph.node(id).op {
            IrOp::Input(_) => true,
            IrOp::Assume { .. } => self.is_input(self.graph.args(id)[0]),
            _ => false,
        }
    }

    /// A map that moves nothing.
    pub fn rename(&self, steps: &[LinearStep]) -> Rc<Kernel> {
        let op = Op::Linear { steps: steps.to_vec(), split: Split::Lanes { baby: 1 }, masks: false };
        Rc::new(Kernel { identity: true, ..Kernel::pointwise(op, 1.0) })
    }

    /// The map that moves tiles from one layout of a tensor to another one.
    pub fn arrange(&mut self, from: &Layout, to: &Layout) -> Rc<Kernel> {
        let key = (from.clone(), to.clone());
        if let Some(kernel) = self.moves.get(&key) {
            return kernel.clone();
        }
        let matrix = Rc::new(Sparse::identity(from.shape.iter().product()));
        let transform = Transform::new(&matrix, from, to, &self.geometry);
        let kernel = Rc::new(self.rotations(&[], &matrix, &transform, transform.integers.is_none()));
        self.moves.insert(key, kernel.clone());
        kernel
    }

    /// An encrypted product.
    pub fn product(&self, product: &Product) -> Kernel {
        let outputs = product.terms.len() as f64;
        let turns = product.rotations();
        let switches = outputs * (2.0 + turns.len() as f64);
        Kernel {
            key_switches: (switches * self.cost.slices) as u64,
            shifts: turns.into_iter().map(|(shift, _)| shift).collect(),
            pairs: product.count() as u64,
            spread: product.turns as f64,
            ..Kernel::pointwise(Op::MatMul, 1.0)
        }
    }

    /// `x @ w` inside a tile, then products and factors that go into the clear matrix.
    pub(super) fn clear_product(&mut self, chain: Chain) -> Option<Kernel> {
        let (first, _) = chain.steps.split_first()?;
        let LinearStep::MatMulRight { shape, .. } = first else { return None };
        let fits =
            shape[shape.len() - 2] <= self.geometry.cols && *chain.output.last()? <= self.geometry.cols;
        if fits { self.apart(chain) } else { None }
    }

    /// The same for matrices of any size, columns of tiles over ciphertexts.
    pub fn apart(&mut self, chain: Chain) -> Option<Kernel> {
        let (first, rest) = chain.steps.split_first()?;
        let LinearStep::MatMulRight { weight, shape } = first else { return None };
        let into_weight = rest.iter().all(|s| match s {
            LinearStep::ScaleBy { .. } => true,
            LinearStep::MatMulRight { shape, .. } => shape.len() == 2,
            _ => false,
        });
        if self.geometry.scheme != Scheme::Gl || !into_weight {
            return None;
        }
        let (k, j) = (shape[shape.len() - 2], *chain.output.last()?);
        let clear: Vec<Rc<Tensor>> = chain.clear.iter().map(|&c| self.value(c)).collect();
        let all: Vec<&Tensor> = clear.iter().map(Rc::as_ref).collect();
        let weight = linear::apply(rest, &clear[weight.0], &all).ok()?;
        let square = largest_column(&weight, k, j);
        let count = |shape: &[usize]| {
            let layout = columns_apart(shape, false, &self.geometry);
            (self.geometry.ciphertexts(&layout), self.geometry.tiles(&layout).1)
        };
        let ((operands, _), (_, columns)) = (count(chain.input), count(chain.output));
        let products = (operands * columns) as u64;
        Some(Kernel {
            weight_steps: rest.to_vec(),
            products,
            plaintexts: products * self.cost.slices as u64,
            square,
            spread: square,
            ..Kernel::pointwise(Op::MatMulClear, 1.0)
        })
    }

    /// A map that treats all rows of a tile alike, if it is one; `rotations` is the same map by rotations.
    pub(super) fn row_map(
        &self,
        chain: Chain,
        matrix: &Sparse,
        (source, target): (&Layout, &Layout),
        rotations: &Kernel,
    ) -> Option<Kernel> {
        let map = RowMap::new(matrix, source, target, &self.geometry)?;
        Some(Kernel {
            op: Op::LinearRows { steps: chain.steps.to_vec() },
            key_switches: (map.key_switches() as f64 * self.cost.slices) as u64,
            shifts: map.keyed_shifts(),
            plaintexts: (map.products() as f64 * self.cost.slices) as u64,
            products: map.products() as u64,
            ..rotations.clone()
        })
    }
}

/// The largest sum of squares of a column of the matrices of `w`, `k x j` each.
fn largest_column(w: &Tensor, k: usize, j: usize) -> f64 {
    let columns = w
        .data()
        .chunks(k * j)
        .flat_map(|w| (0..j).map(move |c| (0..k).map(|r| w[r * j + c].powi(2)).sum::<f64>()));
    columns.fold(0.0, f64::max)
}
