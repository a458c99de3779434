//! Building the next graph from the last one, node by node: what every pass shares.

use crate::ir::{Graph, NodeId, Op};
use grammar::Span;
use plan::{LinearStep, Tensor, TensorOp};

/// A new graph in the making, and where every finished node of the old one went.
pub(crate) struct Rewrite<'g> {
    old: &'g Graph,
    new: Graph,
    map: Vec<NodeId>,
}

impl<'g> Rewrite<'g> {
    /// Starts with the declarations of `old` and no nodes.
    pub(crate) fn new(old: &'g Graph) -> Rewrite<'g> {
        Rewrite { old, new: old.emptied(), map: Vec::with_capacity(old.len()) }
    }

    /// Rewrites every node in order: `f` says which new node carries the value of an old one.
    pub(crate) fn each(old: &'g Graph, mut f: impl FnMut(&mut Rewrite<'g>, NodeId) -> NodeId) -> Graph {
        let mut r = Rewrite::new(old);
        for id in old.ids() {
            let new = f(&mut r, id);
            r.map.push(new);
        }
        r.finish()
    }

    /// The graph so far.
    pub(crate) fn graph(&self) -> &Graph {
        &self.new
    }
    /// The new node of an old one that was rewritten before.
    pub(crate) fn at(&self, old: NodeId) -> NodeId {
        self.map[old.index()]
    }
    /// The new operands of an old node.
    pub(crate) fn args(&self, old: NodeId) -> Vec<NodeId> {
        self.old.args(old).into_iter().map(|a| self.at(a)).collect()
    }
    /// The old node as it is, on its new operands.
    pub(crate) fn copy(&mut self, old: NodeId) -> NodeId {
        let (node, args) = (self.old.node(old), self.args(old));
        self.add(node.op.clone(), &args, node.span)
    }
    /// A node of the new graph.
    ///
    /// # Panics
    /// Panics if the operation does not apply: passes make operations only from operands whose shapes they know.
    pub(crate) fn add(&mut self, op: Op, args: &[NodeId], span: Option<Span>) -> NodeId {
        self.new.add(op, args, span).expect("a pass keeps shapes")
    }
    /// A tensor operation of the new graph.
    pub(crate) fn tensor(&mut self, op: TensorOp, args: &[NodeId], span: Option<Span>) -> NodeId {
        self.add(Op::Tensor(op), args, span)
    }
    /// A new constant, without a name of the program.
    pub(crate) fn constant(&mut self, value: Tensor, span: Option<Span>) -> NodeId {
        self.new.constant("", value, span)
    }

    /// A clear value with all elements equal: a scalar and its repetition, however large the shape.
    pub(crate) fn uniform(&mut self, shape: &[usize], value: f64, span: Option<Span>) -> NodeId {
        let scalar = self.constant(Tensor::scalar(value), span);
        if shape.is_empty() {
            return scalar;
        }
        let steps = vec![LinearStep::Broadcast { shape: shape.to_vec() }];
        self.tensor(TensorOp::Linear { steps }, &[scalar], span)
    }

    fn finish(mut self) -> Graph {
        self.new.outputs = self.old.outputs.clone();
        let map = &self.map;
        self.new.outputs.iter_mut().for_each(|o| o.node = map[o.node.index()]);
        self.new
    }
}

/// The number that all elements of a clear value are known to be.
pub fn uniform_value(g: &Graph, id: NodeId) -> Option<f64> {
    match &g.node(id).op {
        Op::Constant(c) => uniform(&g.constants[*c].value),
        Op::Tensor(TensorOp::Linear { steps }) => match steps[..] {
            [LinearStep::Broadcast { .. }] => uniform_value(g, g.args(id)[0]),
            _ => None,
        },
        _ => None,
    }
}

/// The number that all elements of a tensor are.
pub(crate) fn uniform(t: &Tensor) -> Option<f64> {
    let first = *t.data().first()?;
    t.data().iter().all(|x| x.to_bits() == first.to_bits()).then_some(first)
}

/// The value of a node that is made of constants alone, however it is written.
pub fn known_value(g: &Graph, id: NodeId) -> Option<Tensor> {
    if let Some(value) = g.constant_value(id) {
        return Some(value.clone());
    }
    if g.is_cipher(id) || matches!(g.node(id).op, Op::Input(_)) {
        return None;
    }
    let args: Option<Vec<Tensor>> = g.args(id).into_iter().map(|a| known_value(g, a)).collect();
    let args = args?;
    g.node(id).op.eval(&args.iter().collect::<Vec<_>>()).ok()
}
