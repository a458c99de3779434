//! Random products of matrices larger than a tile, encrypted on small rings, against the same products in f64.

use compiler::analysis::range::analyse;
use compiler::interpret::{OutOfRange, interpret};
use compiler::ir::{Graph, InputDecl, NodeId, Op, OutputDecl};
use compiler::lower::{Subject, Target, plan_scheme};
use compiler::passes::{ArithmeticGraph, arithmetic};
use fhec_tests::encrypted;
use plan::{LinearStep, Operand, Scheme, Secrecy, Tensor, TensorOp};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What a random program does.
#[derive(Clone, Debug)]
struct Shape {
    batch: usize,
    sides: [usize; 4],
    /// the left operand is computed, the right one is, the right one has no batch, operands are given transposed
    computed: [bool; 2],
    broadcast: bool,
    transposed: [bool; 2],
    /// a second product: none, with an encrypted matrix, with a clear one
    second: usize,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let flag = any::<bool>;
    let sides = [1usize..11, 1usize..11, 1usize..11, 1usize..9];
    (1usize..4, sides, [flag(), flag()], flag(), [flag(), flag()], 0usize..3).prop_map(
        |(batch, sides, computed, broadcast, transposed, second)| Shape {
            batch,
            sides,
            computed,
            broadcast,
            transposed,
            second,
        },
    )
}

fn input(g: &mut Graph, shape: &[usize]) -> NodeId {
    let name = format!("x{}", g.inputs.len());
    let (secrecy, shape) = (Secrecy::Cipher, shape.to_vec());
    g.inputs.push(InputDecl { name, secrecy, shape, low: -1.0, high: 1.0, span: None });
    add(g, Op::Input(g.inputs.len() - 1), &[])
}

fn add(g: &mut Graph, op: Op, args: &[NodeId]) -> NodeId {
    g.add(op, args, None).expect("the operands fit")
}

fn linear(g: &mut Graph, step: LinearStep, args: &[NodeId]) -> NodeId {
    add(g, Op::Tensor(TensorOp::Linear { steps: vec![step] }), args)
}

/// An operand `[batch, rows, columns]`, made in the ways of a [`Shape`].
fn operand(g: &mut Graph, batch: Option<usize>, (r, c): (usize, usize), how: (bool, bool)) -> NodeId {
    let (computed, transposed) = how;
    let own: Vec<usize> = batch.into_iter().chain(if transposed { [c, r] } else { [r, c] }).collect();
    let mut x = input(g, &own);
    if computed {
        x = add(g, Op::Tensor(TensorOp::Mul), &[x, x]);
    }
    if transposed {
        let mut perm: Vec<usize> = (0..own.len()).collect();
        perm.swap(own.len() - 2, own.len() - 1);
        x = linear(g, LinearStep::Transpose { perm }, &[x]);
    }
    x
}

fn fill(shape: &[usize], seed: usize) -> Tensor {
    let data = (0..shape.iter().product()).map(|i: usize| ((i * 37 + seed * 11) % 41) as f64 / 20.5 - 1.0);
    Tensor::new(shape.to_vec(), data.collect()).expect("shape and data agree")
}

fn program(s: &Shape) -> Graph {
    let (g, [i, k, j, l]) = (&mut Graph::new("t"), s.sides);
    let a = operand(g, Some(s.batch), (i, k), (s.computed[0], s.transposed[0]));
    let own = (!s.broadcast).then_some(s.batch);
    let mut b = operand(g, own, (k, j), (s.computed[1], s.transposed[1]));
    if s.broadcast {
        b = linear(g, LinearStep::Broadcast { shape: vec![s.batch, k, j] }, &[b]);
    }
    let mut y = add(g, Op::Tensor(TensorOp::MatMul), &[a, b]);
    if s.second == 1 {
        let c = input(g, &[s.batch, j, l]);
        y = add(g, Op::Tensor(TensorOp::MatMul), &[y, c]);
    }
    if s.second == 2 {
        let w = g.constant("w", fill(&[j, l], 5), None);
        y = linear(g, LinearStep::MatMulRight { weight: Operand(0), shape: vec![j, l] }, &[y, w]);
    }
    g.outputs.push(OutputDecl { name: "y".into(), node: y, precision: 1e-1, span: None });
    g.clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn tiled_products_are_products(shape in shapes()) {
        let graph = program(&shape);
        let data: BTreeMap<String, Tensor> =
            graph.inputs.iter().enumerate().map(|(n, i)| (i.name.clone(), fill(&i.shape, n))).collect();
        let judged = interpret(&graph, &data, OutOfRange::Refuse).expect("it runs").values;
        let ranges = analyse(&graph).pairs();
        let empty = arithmetic(&Graph::new("t")).expect("nothing is refused");
        let program = ArithmeticGraph { graph, ranges, ..empty };
        let target = Target { toy: true, max_side: 4, ..Target::default() };
        let planned = plan_scheme(Subject { program: &program, source: "" }, Scheme::Gl, &target);
        let plan = planned.expect("there is a plan").plan;
        let inputs: Vec<Option<Tensor>> =
            plan.inputs.iter().map(|i| data.get(&i.name).cloned()).collect();
        let found = encrypted(&plan, &inputs).expect("it runs");
        let error = found[0].zip(&judged[0], |x, y| x - y).max_abs();
        prop_assert!(error <= plan.outputs[0].predicted_error, "off by {error:e}\n{plan}");
    }
}
