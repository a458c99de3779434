//! Replaces polynomials by the products and linear combinations of their evaluation scheme, and takes the marks of approximated
//! functions off. The last pass of the arithmetic form: from here on ranges and errors are kept beside the graph, because
//! nobody could bound the intermediate results again without knowing which polynomial they belong to.

use crate::analysis::range::{Range, Ranges};
use crate::approximate::scheme::{Scheme, Step, scheme};
use crate::ir::print::operation;
use crate::ir::{Graph, NodeId, Op};
use crate::passes::rewrite::Rewrite;
use grammar::Span;
use plan::{LinearStep, Tensor, TensorOp};
use std::collections::BTreeMap;

/// A graph without polynomials, and what is known of its nodes.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// the program
    pub graph: Graph,
    /// range of every node
    pub ranges: Ranges,
    /// errors that approximated functions bring in
    pub errors: BTreeMap<NodeId, f64>,
}

/// Expands every polynomial of an encrypted value.
pub fn expand_polynomials(g: &Graph, ranges: &Ranges) -> Expanded {
    let mut known = Known { ranges: Ranges::new(), made: BTreeMap::new() };
    let mut errors: BTreeMap<NodeId, f64> = BTreeMap::new();
    let graph = Rewrite::each(g, |r, id| {
        let span = g.node(id).span;
        match &g.node(id).op {
            Op::Tensor(TensorOp::Chebyshev { coefficients, low, high }) if g.is_cipher(id) => {
                let x = r.args(id)[0];
                known.ranges.restrict(x, Range::new(*low, *high));
                if coefficients.len() < 2 {
                    let shape = g.shape(id).to_vec();
                    return known.uniform(r, &shape, coefficients.first().copied().unwrap_or(0.0), span);
                }
                known.emit(r, &scheme(coefficients, *low, *high), x, span)
            }
            Op::Approximated { error, .. } => {
                let x = r.args(id)[0];
                let worst = errors.entry(x).or_default();
                *worst = worst.max(*error);
                known.ranges.restrict(x, ranges[id]);
                x
            }
            op => {
                let args = r.args(id);
                known.add(r, op.clone(), &args, ranges[id], span)
            }
        }
    });
    errors.retain(|_, e| *e > 0.0);
    Expanded { graph, ranges: known.ranges, errors }
}

/// Ranges of the new nodes, and the nodes that were made, so that polynomials of one argument share their powers.
struct Known {
    ranges: Ranges,
    made: BTreeMap<(String, Vec<NodeId>), NodeId>,
}

impl Known {
    fn add(&mut self, r: &mut Rewrite, op: Op, args: &[NodeId], range: Range, span: Option<Span>) -> NodeId {
        let id = r.add(op, args, span);
        self.ranges.push(range);
        id
    }

    fn share(
        &mut self,
        r: &mut Rewrite,
        op: Op,
        args: &[NodeId],
        range: Range,
        span: Option<Span>,
    ) -> NodeId {
        let key = (operation(r.graph(), &op), args.to_vec());
        if let Some(&made) = self.made.get(&key) {
            return made;
        }
        let id = self.add(r, op, args, range, span);
        self.made.insert(key, id);
        id
    }

    /// A clear value with all elements equal.
    fn uniform(&mut self, r: &mut Rewrite, shape: &[usize], value: f64, span: Option<Span>) -> NodeId {
        let key = (format!("{value:?} {shape:?}"), vec![]);
        if let Some(&made) = self.made.get(&key) {
            return made;
        }
        let range = Range::new(value, value);
        let scalar = r.constant(Tensor::scalar(value), span);
        self.ranges.push(range);
        let id = if shape.is_empty() {
            scalar
        } else {
            let steps = vec![LinearStep::Broadcast { shape: shape.to_vec() }];
            self.add(r, Op::Tensor(TensorOp::Linear { steps }), &[scalar], range, span)
        };
        self.made.insert(key, id);
        id
    }

    fn emit(&mut self, r: &mut Rewrite, scheme: &Scheme, x: NodeId, span: Option<Span>) -> NodeId {
        let shape = r.graph().shape(x).to_vec();
        let mut nodes: Vec<NodeId> = Vec::with_capacity(scheme.steps.len());
        for (step, &(low, high)) in scheme.steps.iter().zip(&scheme.bounds) {
            let range = Range::new(low, high);
            let (op, args) = match step {
                Step::Argument => {
                    nodes.push(x);
                    continue;
                }
                Step::Mul(a, b) => (Op::Tensor(TensorOp::Mul), vec![nodes[*a], nodes[*b]]),
                Step::Add(a, b) => (Op::Tensor(TensorOp::Add), vec![nodes[*a], nodes[*b]]),
                Step::Sub(a, b) => (Op::Tensor(TensorOp::Sub), vec![nodes[*a], nodes[*b]]),
                Step::AddConstant(a, c) => {
                    let constant = self.uniform(r, &shape, *c, span);
                    (Op::Tensor(TensorOp::Add), vec![nodes[*a], constant])
                }
                Step::Times(a, n) => {
                    let steps = vec![LinearStep::ScaleBy { factor: *n as f64 }];
                    (Op::Tensor(TensorOp::Linear { steps }), vec![nodes[*a]])
                }
                Step::Combine(terms, constant) => {
                    let coefficients = terms.iter().map(|t| t.0).collect();
                    let args = terms.iter().map(|t| nodes[t.1]).collect();
                    (Op::Combine { coefficients, constant: *constant }, args)
                }
            };
            nodes.push(self.share(r, op, &args, range, span));
        }
        nodes.last().copied().unwrap_or(x)
    }
}
