//! Values in the layouts their readers want.

use super::Builder;
use crate::ir::{NodeId, Op as IrOp};
use crate::lower::error::PlanError;
use plan::relabel::operand_layout;
use plan::{Layout, LinearStep, Op, TensorOp};

impl Builder<'_, '_> {
    /// An encrypted value in an orientation, its tiles where they are.
    pub(super) fn turned(&mut self, id: NodeId, transposed: bool) -> Result<usize, PlanError> {
        let layout = self.draft.nodes[self.at(id)?].layout();
        self.held(id, &Layout { transposed, ..layout })
    }

    /// An encrypted value in a layout, made once for all readers.
    pub(super) fn held(&mut self, id: NodeId, layout: &Layout) -> Result<usize, PlanError> {
        let node = self.at(id)?;
        if let Some(renamed) = self.renamed(id, layout)? {
            return Ok(renamed);
        }
        let other = self.converted(id, node, layout)?;
        self.held.insert((node, layout.clone()), other);
        Ok(other)
    }

    /// The value where it is in the layout, an input encrypted in it, or another name of one of these.
    pub(super) fn renamed(&mut self, id: NodeId, layout: &Layout) -> Result<Option<usize>, PlanError> {
        let (graph, node) = (self.graph(), self.at(id)?);
        if self.draft.nodes[node].layout() == *layout {
            return Ok(Some(node));
        }
        if let Some(&other) = self.held.get(&(node, layout.clone())) {
            return Ok(Some(other));
        }
        let other = match (&self.draft.nodes[node].op, &graph.node(id).op) {
            (Op::Input(i), _) => {
                let input = Op::Input(*i);
                self.derive_in(node, input, vec![], layout)
            }
            (_, IrOp::Tensor(TensorOp::Linear { steps })) => {
                let x = graph.args(id)[0];
                let from = operand_layout(steps, graph.shape(x), layout, &self.draft.geometry);
                let operand = from.map(|from| self.renamed(x, &from)).transpose()?.flatten();
                let Some(operand) = operand else { return Ok(None) };
                self.rename(node, steps, operand, layout)
            }
            _ => return Ok(None),
        };
        self.held.insert((node, layout.clone()), other);
        Ok(Some(other))
    }

    /// A map that moves nothing, on an operand in the layout it wants.
    pub(super) fn rename(
        &mut self,
        of: usize,
        steps: &[LinearStep],
        operand: usize,
        layout: &Layout,
    ) -> usize {
        let kernel = self.kernels.rename(steps);
        let node = self.derive_in(of, kernel.op.clone(), vec![operand], layout);
        self.draft.nodes[node].kernel = Some(kernel);
        node
    }

    /// A value flipped, then its tiles moved.
    fn converted(&mut self, id: NodeId, node: usize, layout: &Layout) -> Result<usize, PlanError> {
        let have = self.draft.nodes[node].layout();
        if have.transposed != layout.transposed {
            let flipped = have.flipped();
            if flipped != *layout {
                let turned = self.held(id, &flipped)?;
                return self.moved(turned, layout);
            }
            return match self.orientation.again.get(&id) {
                Some(&from) if have.placement.is_none() => self.by_kernel(id, from, layout.transposed),
                _ => Ok(self.derive_in(node, Op::Flip, vec![node], layout)),
            };
        }
        self.moved(node, layout)
    }

    /// A value with its tiles moved.
    fn moved(&mut self, node: usize, layout: &Layout) -> Result<usize, PlanError> {
        let from = self.draft.nodes[node].layout();
        let kernel = self.kernels.arrange(&from, layout);
        let moved = self.derive_in(node, kernel.op.clone(), vec![node], layout);
        self.draft.nodes[moved].kernel = Some(kernel);
        Ok(moved)
    }

    /// The layout a value is computed in, if it is held like another one, then that one.
    pub(super) fn as_computed(&self, id: NodeId, wanted: Layout) -> Result<Vec<Layout>, PlanError> {
        let node = &self.draft.nodes[self.at(id)?];
        let own = node.layout();
        let serves = own.transposed == wanted.transposed && !matches!(node.op, Op::Input(_)) && own != wanted;
        Ok(serves.then_some(own).into_iter().chain([wanted]).collect())
    }
}
