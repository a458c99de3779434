//! Small helpers of the tests of passes: an evaluator, random numbers, random programs.
#![allow(dead_code)] // each test file uses its part

use compiler::analysis::range::analyse;
use compiler::ir::op::Approximation;
use compiler::ir::{Graph, InputDecl, NodeId, Op, OutputDecl};
use plan::{Function, LinearStep, Operand, Secrecy, Tensor, TensorOp};

/// The value of every node for given inputs, functions exact.
pub fn values(g: &Graph, inputs: &[Tensor]) -> Vec<Tensor> {
    let mut values: Vec<Tensor> = vec![];
    for id in g.ids() {
        let args = g.args(id);
        let args: Vec<&Tensor> = args.iter().map(|a| &values[a.index()]).collect();
        let value = match &g.node(id).op {
            Op::Input(i) => inputs[*i].clone(),
            Op::Constant(c) => g.constants[*c].value.clone(),
            op => op.eval(&args).unwrap(),
        };
        values.push(value);
    }
    values
}

/// The outputs for given inputs.
pub fn outputs(g: &Graph, inputs: &[Tensor]) -> Vec<Tensor> {
    let values = values(g, inputs);
    g.outputs.iter().map(|o| values[o.node.index()].clone()).collect()
}

/// Largest difference between outputs.
pub fn difference(a: &[Tensor], b: &[Tensor]) -> f64 {
    assert_eq!(a.len(), b.len());
    let each = a.iter().zip(b).map(|(a, b)| a.zip(b, |x, y| x - y).max_abs());
    each.fold(0.0, |m, d| if d.is_nan() { d } else { m.max(d) })
}

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    /// Uniform in [-1, 1].
    pub fn real(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub fn tensor(&mut self, shape: &[usize]) -> Tensor {
        let n: usize = shape.iter().product();
        Tensor::new(shape.to_vec(), (0..n).map(|_| self.real()).collect()).unwrap()
    }
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Inputs inside their declared ranges.
pub fn inputs(g: &Graph, random: &mut Random) -> Vec<Tensor> {
    let make = |i: &InputDecl| {
        let (middle, half) = ((i.low + i.high) / 2.0, (i.high - i.low) / 2.0);
        random.tensor(&i.shape).map(|u| middle + half * u)
    };
    g.inputs.iter().map(make).collect()
}

const SIDE: usize = 3;

/// A random program on square matrices whose values stay between -4 and 4.
pub struct Programs {
    pub random: Random,
    pub functions: bool,
}

impl Programs {
    pub fn next(&mut self) -> Graph {
        let mut g = Graph::new("random");
        for (name, secrecy) in [("x", Secrecy::Cipher), ("y", Secrecy::Cipher), ("z", Secrecy::Plain)] {
            let (low, high) = (-1.0, 0.5 + self.random.below(2) as f64);
            let shape = vec![SIDE, SIDE];
            g.inputs.push(InputDecl { name: name.into(), secrecy, shape, low, high, span: None });
        }
        let mut nodes: Vec<NodeId> = (0..3).map(|i| g.add(Op::Input(i), &[], None).unwrap()).collect();
        for value in [0.0, 1.0, -1.0, 0.5] {
            nodes.push(g.constant("c", Tensor::full(&[SIDE, SIDE], value), None));
        }
        let weights = self.random.tensor(&[SIDE, SIDE]);
        nodes.push(g.constant("w", weights, None));
        for _ in 0..12 {
            let node = self.node(&mut g, &nodes);
            nodes.push(self.tamed(&mut g, node));
        }
        for (i, name) in ["a", "b"].into_iter().enumerate() {
            let node = nodes[nodes.len() - 1 - i * 2];
            g.outputs.push(OutputDecl { name: name.into(), node, precision: 1e-2, span: None });
        }
        g
    }

    fn node(&mut self, g: &mut Graph, nodes: &[NodeId]) -> NodeId {
        let recent = &nodes[nodes.len().saturating_sub(6)..];
        let (a, b) = (self.random.pick(recent), self.random.pick(nodes));
        let kinds = if self.functions { 11 } else { 9 };
        let (op, args) = match self.random.below(kinds) {
            0 => (TensorOp::Add, vec![a, b]),
            1 => (TensorOp::Sub, vec![a, b]),
            2 | 3 => (TensorOp::Mul, vec![a, b]),
            4 => (TensorOp::Neg, vec![a]),
            5 => (TensorOp::Pow { exponent: self.random.below(6) as u32 }, vec![a]),
            6 => {
                let coefficients =
                    (0..self.random.below(5)).map(|_| (self.random.real() * 4.0).round() / 4.0);
                (TensorOp::Polynomial { coefficients: coefficients.collect() }, vec![a])
            }
            7 => (TensorOp::MatMul, vec![a, b]),
            8 => return self.linear(g, a, nodes),
            _ => {
                let function =
                    self.random.pick(&[Function::Tanh, Function::Exp, Function::Gelu, Function::Sigmoid]);
                let within = (self.random.below(2) == 0).then_some(1e-4);
                let wish = Approximation { within, ..Approximation::default() };
                return g.add(Op::Function { function, wish }, &[a], None).unwrap();
            }
        };
        g.add(Op::Tensor(op), &args, None).unwrap()
    }

    fn linear(&mut self, g: &mut Graph, a: NodeId, nodes: &[NodeId]) -> NodeId {
        let clear: Vec<NodeId> = nodes.iter().copied().filter(|&n| !g.is_cipher(n)).collect();
        let w = self.random.pick(&clear);
        let shape = vec![SIDE, SIDE];
        let mut steps = vec![];
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(8) {
                0 => steps.push(LinearStep::Transpose { perm: vec![1, 0] }),
                1 => steps.push(LinearStep::Roll { axis: self.random.below(2), shift: self.random.below(4) }),
                2 => {
                    steps.push(LinearStep::ScaleBy { factor: self.random.pick(&[0.5, 1.0, 2.0, -1.0, 0.3]) })
                }
                3 => steps.push(LinearStep::Scale { by: Operand(0) }),
                4 => steps.push(LinearStep::MatMulRight { weight: Operand(0), shape: shape.clone() }),
                5 => steps.push(LinearStep::MatMulLeft { weight: Operand(0), shape: shape.clone() }),
                6 => steps.extend([
                    LinearStep::Sum { axes: vec![self.random.below(2)] },
                    LinearStep::Broadcast { shape: shape.clone() },
                ]),
                _ => steps.extend([
                    LinearStep::Slice { start: vec![2, 0], step: vec![-1, 1], count: vec![2, 3] },
                    LinearStep::Pad { before: vec![1, 0], after: vec![0, 0] },
                ]),
            }
        }
        let op = TensorOp::Linear { steps };
        let args = if op.arity() == 2 { vec![a, w] } else { vec![a] };
        g.add(Op::Tensor(op), &args, None).unwrap()
    }

    /// The value scaled down if it can be large.
    fn tamed(&mut self, g: &mut Graph, node: NodeId) -> NodeId {
        let size = analyse(g)[node].max_abs();
        if size <= 4.0 {
            return node;
        }
        let steps = vec![LinearStep::ScaleBy { factor: 2.0 / size }];
        g.add(Op::Tensor(TensorOp::Linear { steps }), &[node], None).unwrap()
    }
}
