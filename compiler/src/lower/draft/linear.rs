//! Linear maps of a graph as operations of a scheme.

use super::{Builder, DraftNode};
use crate::ir::NodeId;
use crate::lower::error::PlanError;
use crate::lower::linear::{Chain, Kernel};
use crate::lower::orientation::chain_of;
use crate::lower::tiling::columns_apart;
use plan::product::clear_product;
use plan::relabel::{operand_layout, result_layout};
use plan::{Layout, LinearStep, Op, TensorOp};
use std::rc::Rc;

impl Builder<'_, '_> {
    /// A linear node from its operand in one orientation to its result in one.
    pub(super) fn mapped(&mut self, id: NodeId, from: bool, to: bool) -> Result<usize, PlanError> {
        let graph = self.graph();
        let args = graph.args(id);
        let chain = chain_of(graph, id, &args[1..]).ok_or_else(|| self.unsupported(id))?;
        if let Some(node) = self.only_renamed(id, chain, from, to)? {
            return Ok(node);
        }
        if self.choices.apart.contains(&id) { self.apart(id, chain) } else { self.by_kernel(id, from, to) }
    }

    /// The same by the kernel that is chosen for it.
    pub(super) fn by_kernel(&mut self, id: NodeId, from: bool, to: bool) -> Result<usize, PlanError> {
        let graph = self.graph();
        let args = graph.args(id);
        let chain = chain_of(graph, id, &args[1..]).ok_or_else(|| self.unsupported(id))?;
        let kernel = self.kernels.choose(chain, from, to)?.ok_or_else(|| self.unsupported(id))?;
        let (source, target) = match kernel.op {
            Op::MatMulClear => {
                let layouts = (Layout::plain(chain.input), Layout::plain(chain.output));
                return self.clear_product(id, kernel, chain, layouts);
            }
            // these leave tiles where they are
            Op::MulClear | Op::MulInteger(_) | Op::Combine { .. } => {
                let placement = self.common_placement(&args[..1]);
                let layout = |shape: &[usize], transposed| Layout {
                    placement: placement.clone(),
                    ..Layout::new(shape, transposed)
                };
                (layout(chain.input, from), layout(chain.output, to))
            }
            _ => {
                let target = Layout::new(chain.output, to);
                let same = operand_layout(chain.steps, chain.input, &target, &self.draft.geometry);
                let source = same.filter(|_| kernel.identity);
                (source.unwrap_or_else(|| Layout::new(chain.input, from)), target)
            }
        };
        let x = self.held(args[0], &source)?;
        if kernel.identity && source == target {
            return Ok(x);
        }
        self.push_kernel(id, x, kernel, chain, &target)
    }

    /// A linear node as its kernel says, on its operand.
    fn push_kernel(
        &mut self,
        id: NodeId,
        x: usize,
        kernel: Rc<Kernel>,
        chain: Chain,
        target: &Layout,
    ) -> Result<usize, PlanError> {
        let mut operands = vec![x];
        let clear: Vec<usize> = chain.clear.iter().map(|&a| self.at(a)).collect::<Result<_, _>>()?;
        match kernel.op {
            Op::MatMulClear => operands.push(self.weight(&kernel, chain.steps, clear)?),
            Op::MulClear | Op::Linear { .. } | Op::LinearRows { .. } => operands.extend(clear),
            _ => {}
        }
        let node = self.push_in(id, kernel.op.clone(), operands, target);
        self.draft.nodes[node].kernel = Some(kernel);
        Ok(node)
    }

    /// A product with a clear matrix, columns of tiles over ciphertexts.
    fn apart(&mut self, id: NodeId, chain: Chain) -> Result<usize, PlanError> {
        let kernel = self.kernels.apart(chain).ok_or_else(|| self.unsupported(id))?;
        let layout = |shape: &[usize]| columns_apart(shape, false, &self.draft.geometry);
        let (source, target) = (layout(chain.input), layout(chain.output));
        self.clear_product(id, Rc::new(kernel), chain, (source, target))
    }

    /// A product with a clear matrix: of the operand as it is computed, if that serves.
    fn clear_product(
        &mut self,
        id: NodeId,
        kernel: Rc<Kernel>,
        chain: Chain,
        (source, target): (Layout, Layout),
    ) -> Result<usize, PlanError> {
        let arg = self.graph().args(id)[0];
        let first = chain.steps[0].operand().map_or(0, |o| o.0);
        let mut weight = self.graph().shape(chain.clear[first]).to_vec();
        weight.pop();
        weight.extend(chain.output.last());
        let geometry = self.draft.geometry;
        let serves = |from: &Layout| clear_product(from, &weight, &target, &geometry).is_some();
        let found = self.as_computed(arg, source)?.into_iter().find(serves);
        let x = self.held(arg, &found.ok_or_else(|| self.unsupported(id))?)?;
        self.push_kernel(id, x, kernel, chain, &target)
    }

    /// A map that moves nothing: the operand in the layout that gives the result in its orientation, if it is an input, or as
    /// it is computed.
    fn only_renamed(
        &mut self,
        id: NodeId,
        chain: Chain,
        from: bool,
        to: bool,
    ) -> Result<Option<usize>, PlanError> {
        let (geometry, x) = (self.draft.geometry, self.graph().args(id)[0]);
        let operand = self.at(x)?;
        let (layout, target) = if matches!(self.draft.nodes[operand].op, Op::Input(_)) {
            let target = Layout::new(chain.output, to);
            (operand_layout(chain.steps, chain.input, &target, &geometry), Some(target))
        } else {
            let layout = Layout { transposed: from, ..self.draft.nodes[operand].layout() };
            let target = result_layout(chain.steps, &layout, &geometry);
            (Some(layout), target.filter(|t| t.transposed == to))
        };
        let (Some(layout), Some(target)) = (layout, target) else { return Ok(None) };
        let operand = self.held(x, &layout)?;
        if chain.input == chain.output && layout == target {
            return Ok(Some(operand));
        }
        let kernel = self.kernels.rename(chain.steps);
        let node = self.push_in(id, kernel.op.clone(), vec![operand], &target);
        self.draft.nodes[node].kernel = Some(kernel);
        Ok(Some(node))
    }

    /// The clear matrix of a clear product, with the steps that go into it.
    fn weight(
        &mut self,
        kernel: &Kernel,
        steps: &[LinearStep],
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
