//! Linear maps as products with clear matrices, which need no key switch in GL.

use super::{Chain, Kernel, Kernels};
use plan::linear::{self, LinearStep, Sparse};
use plan::{Layout, Op, RowMap, Scheme, Tensor};
use std::rc::Rc;

impl Kernels<'_> {
    /// `x @ w`, then products and factors that go into the clear matrix.
    pub(super) fn clear_product(&mut self, chain: Chain) -> Option<Kernel> {
        let (first, rest) = chain.steps.split_first()?;
        let LinearStep::MatMulRight { weight, shape } = first else { return None };
        let into_weight = rest.iter().all(|s| match s {
            LinearStep::ScaleBy { .. } => true,
            LinearStep::MatMulRight { shape, .. } => shape.len() == 2,
            _ => false,
        });
        let (k, j) = (shape[shape.len() - 2], *chain.output.last()?);
        let fits = k <= self.geometry.cols && j <= self.geometry.cols;
        if self.geometry.scheme != Scheme::Gl || !into_weight || !fits {
            return None;
        }
        let clear: Vec<Rc<Tensor>> = chain.clear.iter().map(|&c| self.value(c)).collect();
        let all: Vec<&Tensor> = clear.iter().map(Rc::as_ref).collect();
        let weight = linear::apply(rest, &clear[weight.0], &all).ok()?;
        let square = weight
            .data()
            .chunks(k * j)
            .flat_map(|w| (0..j).map(move |c| (0..k).map(|r| w[r * j + c].powi(2)).sum::<f64>()))
            .fold(0.0, f64::max);
        let products = self.ciphertexts(chain.input, false);
        let plaintexts = products * self.cost.slices as u64;
        Some(Kernel {
            weight_steps: rest.to_vec(),
            products,
            plaintexts,
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
