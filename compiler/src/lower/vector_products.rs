//! CKKS: encrypted products with vectors as element-wise products.
//!
//! A masked product takes two levels and many rotations. When one side is a vector, spreading it over the matrix, one
//! element-wise product and one sum give the same with one level for the product and one for the sum; spreading a row over
//! rows costs none. An outer product needs no sum at all. Linear maps that read such a sum join it into one map, and the
//! spreading joins the map that made the vector, so that neither costs a level of its own.

use super::linear::compose;
use crate::ir::{Graph, NodeId, Op};
use crate::passes::ArithmeticGraph;
use grammar::Span;
use plan::{LinearStep, TensorOp, op::OpError};
use std::collections::{BTreeMap, BTreeSet};

/// The program with every encrypted product with a vector rewritten.
///
/// # Errors
/// Never for graphs in arithmetic form: shapes are those of the products.
pub fn rewrite_vector_products(program: &ArithmeticGraph) -> Result<ArithmeticGraph, OpError> {
    let old = &program.graph;
    let mut r = Rewriter {
        old,
        new: old.emptied(),
        ranges: Vec::with_capacity(old.len()),
        of: Vec::with_capacity(old.len()),
        sums: BTreeSet::new(),
    };
    let mut errors = BTreeMap::new();
    for id in old.ids() {
        let new = r.node(id, program.ranges[id.index()])?;
        if let Some(&e) = program.errors.get(&id) {
            errors.insert(new, e);
        }
        r.of.push(new);
    }
    let mut graph = r.new;
    graph.outputs = old.outputs.clone();
    graph.outputs.iter_mut().for_each(|o| o.node = r.of[o.node.index()]);
    Ok(ArithmeticGraph { graph, ranges: r.ranges, errors, ..program.clone() })
}

struct Rewriter<'g> {
    old: &'g Graph,
    new: Graph,
    ranges: Vec<(f64, f64)>,
    of: Vec<NodeId>,
    /// sums of element-wise products made here
    sums: BTreeSet<NodeId>,
}

impl Rewriter<'_> {
    fn add(
        &mut self,
        op: Op,
        args: &[NodeId],
        span: Option<Span>,
        range: (f64, f64),
    ) -> Result<NodeId, OpError> {
        let id = self.new.add(op, args, span)?;
        self.ranges.push(range);
        Ok(id)
    }

    /// A linear map of a new node, joined with the map that made it where that is a linear map.
    fn linear(
        &mut self,
        x: NodeId,
        steps: Vec<LinearStep>,
        clear: &[NodeId],
        span: Option<Span>,
        range: (f64, f64),
    ) -> Result<NodeId, OpError> {
        let (mut args, mut all) = (vec![x], steps);
        if let Op::Tensor(TensorOp::Linear { steps: first }) = &self.new.node(x).op {
            args = self.new.args(x);
            all = compose(first, args.len() - 1, &all);
        }
        args.extend(clear);
        self.add(Op::Tensor(TensorOp::Linear { steps: all }), &args, span, range)
    }

    fn node(&mut self, id: NodeId, range: (f64, f64)) -> Result<NodeId, OpError> {
        let node = self.old.node(id);
        let args: Vec<NodeId> = self.old.args(id).iter().map(|a| self.of[a.index()]).collect();
        match &node.op {
            Op::Tensor(TensorOp::MatMul) if args.iter().all(|&a| self.new.is_cipher(a)) => {
                let (a, b) = (self.new.shape(args[0]).to_vec(), self.new.shape(args[1]).to_vec());
                let (i, k, j) = (a[a.len() - 2], a[a.len() - 1], b[b.len() - 1]);
                if k == 1 || i == 1 || j == 1 {
                    return self.product(&args, &a, &b, node.span, range);
                }
                self.add(node.op.clone(), &args, node.span, range)
            }
            Op::Tensor(TensorOp::Linear { steps }) if self.sums.contains(&args[0]) => {
                self.linear(args[0], steps.clone(), &args[1..], node.span, range)
            }
            op => self.add(op.clone(), &args, node.span, range),
        }
    }

    fn product(
        &mut self,
        args: &[NodeId],
        a: &[usize],
        b: &[usize],
        span: Option<Span>,
        range: (f64, f64),
    ) -> Result<NodeId, OpError> {
        let rank = a.len();
        let (i, k, j) = (a[rank - 2], a[rank - 1], b[rank - 1]);
        let batch = &a[..rank - 2];
        let shape = |r: usize, c: usize| [batch, &[r, c]].concat();
        let result = shape(i, j);
        let mut swapped: Vec<usize> = (0..rank).collect();
        swapped.swap(rank - 2, rank - 1);
        let transpose = LinearStep::Transpose { perm: swapped };
        // both operands at the shape of the element-wise product, and the axis to sum
        let (left, right, common, axis) = if k == 1 {
            (vec![], vec![], result.clone(), None)
        } else if j == 1 {
            (vec![], vec![transpose], shape(i, k), Some(rank - 1))
        } else {
            (vec![transpose], vec![], shape(k, j), Some(rank - 2))
        };
        let x = self.spread(args[0], left, &common, span)?;
        let y = self.spread(args[1], right, &common, span)?;
        let Some(axis) = axis else {
            return self.add(Op::Tensor(TensorOp::Mul), &[x, y], span, range);
        };
        let terms = times(self.ranges[x.index()], self.ranges[y.index()]);
        let terms = self.add(Op::Tensor(TensorOp::Mul), &[x, y], span, terms)?;
        let sum = vec![LinearStep::Sum { axes: vec![axis] }, LinearStep::Reshape { shape: result }];
        let sum = self.linear(terms, sum, &[], span, range)?;
        self.sums.insert(sum);
        Ok(sum)
    }

    /// A vector spread over a shape; a value that has the shape stays.
    fn spread(
        &mut self,
        x: NodeId,
        mut steps: Vec<LinearStep>,
        shape: &[usize],
        span: Option<Span>,
    ) -> Result<NodeId, OpError> {
        if steps.is_empty() && self.new.shape(x) == shape {
            return Ok(x);
        }
        steps.push(LinearStep::Broadcast { shape: shape.to_vec() });
        let range = self.ranges[x.index()];
        self.linear(x, steps, &[], span, range)
    }
}

fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let ends = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
    ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::InputDecl;
    use plan::{Secrecy, Tensor};

    fn evaluate(g: &Graph, inputs: &[Tensor]) -> Tensor {
        let mut values: Vec<Tensor> = Vec::new();
        for id in g.ids() {
            let value = match &g.node(id).op {
                Op::Input(i) => inputs[*i].clone(),
                op => op.eval(&g.args(id).iter().map(|a| &values[a.index()]).collect::<Vec<_>>()).unwrap(),
            };
            values.push(value);
        }
        values[g.outputs[0].node.index()].clone()
    }

    #[test]
    fn vectors_need_no_masked_product() {
        for (a, b) in
            [([2, 3, 4], [2, 4, 1]), ([2, 1, 4], [2, 4, 3]), ([2, 3, 1], [2, 1, 4]), ([2, 1, 4], [2, 4, 1])]
        {
            let mut g = Graph::new("t");
            let input = |name: &str, shape: [usize; 3]| InputDecl {
                name: name.into(),
                secrecy: Secrecy::Cipher,
                shape: shape.to_vec(),
                low: -1.0,
                high: 1.0,
                span: None,
            };
            g.inputs = vec![input("a", a), input("b", b)];
            let x = g.add(Op::Input(0), &[], None).unwrap();
            let y = g.add(Op::Input(1), &[], None).unwrap();
            let z = g.add(Op::Tensor(TensorOp::MatMul), &[x, y], None).unwrap();
            let steps = vec![LinearStep::ScaleBy { factor: 0.5 }];
            let w = g.add(Op::Tensor(TensorOp::Linear { steps }), &[z], None).unwrap();
            g.outputs.push(crate::ir::OutputDecl { name: "o".into(), node: w, precision: 1e-3, span: None });
            let ranges = vec![(-4.0, 4.0); g.len()];
            let empty = crate::passes::arithmetic(&Graph::new("t")).unwrap();
            let program = ArithmeticGraph { graph: g, ranges, ..empty };
            let new = rewrite_vector_products(&program).unwrap();
            assert!(new.graph.ids().all(|id| new.graph.node(id).op != Op::Tensor(TensorOp::MatMul)));
            assert_eq!(new.ranges.len(), new.graph.len());
            let fill = |s: [usize; 3]| {
                Tensor::new(s.to_vec(), (0..s.iter().product()).map(|i: usize| (i as f64).sin()).collect())
                    .unwrap()
            };
            let inputs = [fill(a), fill(b)];
            let (u, v) = (evaluate(&program.graph, &inputs), evaluate(&new.graph, &inputs));
            assert!(
                u.data().iter().zip(v.data()).all(|(p, q)| (p - q).abs() < 1e-14) && u.shape() == v.shape()
            );
        }
    }
}
