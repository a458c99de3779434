//! Plans written by hand, on toy rings, that use every operation of a scheme.

#![allow(dead_code)] // each test binary uses a part

use plan::plan::{Constant, Estimate, FORMAT, Optimality};
use plan::prime::nearest_prime;
use plan::security::SecurityLevel;
use plan::verify::masked_matmul_keys;
use plan::{
    Bytes, Copies, Form, Geometry, Input, Key, KeyKind, Layout, Level, LinearStep, Node, NodeId, Op, Operand,
    Output, Params, Placement, Plan, RingSpec, RowMap, Scheme, Secrecy, Shift, Tensor, TensorOp, Transform,
    linear,
};
use std::collections::BTreeMap;

pub const TOP: u32 = 4;
const TOY_CKKS: RingSpec = RingSpec::PowerOfTwo { log_n: 8 };
const TOY_GL: RingSpec = RingSpec::Gl { n: 8, p: 5 };

fn toy_params(ring: RingSpec) -> Params {
    let (step, limit) = (ring.modulus_step(), 1 << 61);
    let mut taken = Vec::new();
    let mut prime = |bits: u32| {
        let q = nearest_prime(1 << bits, step, limit, &taken).expect("there are enough");
        taken.push(q);
        q
    };
    let q: Vec<u64> =
        std::iter::once(55).chain(std::iter::repeat_n(45, TOP as usize)).map(&mut prime).collect();
    let special = vec![prime(56), prime(56)];
    let scale = Params::canonical_scales(&q, 2f64.powi(45));
    Params {
        ring,
        q,
        special,
        digit: 2,
        scale,
        security: SecurityLevel { bits: 128 },
        insecure: true,
        bootstrap: None,
    }
}

fn geometry(scheme: Scheme) -> Geometry {
    match scheme {
        Scheme::Ckks => Geometry { scheme, lanes: 2, rows: 8, cols: 8 },
        Scheme::Gl => Geometry { scheme, lanes: 4, rows: 8, cols: 8 },
    }
}

pub fn tensor(shape: &[usize], seed: usize) -> Tensor {
    let n: usize = shape.iter().product();
    let data = (0..n).map(|i| ((i * 37 + seed * 101) % 64) as f64 / 32.0 - 1.0).collect();
    Tensor::new(shape.to_vec(), data).unwrap()
}

/// Adds nodes and keeps the keys they need.
pub struct Builder {
    pub plan: Plan,
}

impl Builder {
    pub fn new(scheme: Scheme) -> Builder {
        let ring = if scheme == Scheme::Ckks { TOY_CKKS } else { TOY_GL };
        let estimate = Estimate {
            key_switches: 0,
            key_bytes: Bytes(0),
            peak_bytes: Bytes(1 << 20),
            levels_used: TOP,
            optimality: Optimality::default(),
        };
        Builder {
            plan: Plan {
                format: FORMAT,
                program: "toy".into(),
                params: toy_params(ring),
                geometry: geometry(scheme),
                inputs: vec![],
                constants: vec![],
                nodes: vec![],
                outputs: vec![],
                keys: vec![],
                assumptions: vec![],
                estimate,
            },
        }
    }

    fn push(&mut self, op: Op, args: &[NodeId], shape: &[usize], form: Form) -> NodeId {
        self.plan.nodes.push(Node {
            op,
            args: args.to_vec(),
            shape: shape.to_vec(),
            form,
            placement: None,
            line: 1,
        });
        NodeId(self.plan.nodes.len() as u32 - 1)
    }

    pub fn input(&mut self, name: &str, shape: &[usize], secrecy: Secrecy, transposed: bool) -> NodeId {
        self.plan.inputs.push(Input {
            name: name.into(),
            secrecy,
            shape: shape.to_vec(),
            low: -1.0,
            high: 1.0,
            line: 1,
        });
        let form = match secrecy {
            Secrecy::Cipher => Form::Cipher { level: Level(TOP), transposed, noise: 1e-9 },
            Secrecy::Plain => Form::Clear,
        };
        self.push(Op::Input(self.plan.inputs.len() - 1), &[], shape, form)
    }

    pub fn constant(&mut self, value: Tensor) -> NodeId {
        let shape = value.shape().to_vec();
        self.plan.constants.push(Constant { name: "c".into(), value });
        self.push(Op::Constant(self.plan.constants.len() - 1), &[], &shape, Form::Clear)
    }

    pub fn clear(&mut self, op: TensorOp, args: &[NodeId]) -> NodeId {
        let shapes: Vec<&[usize]> = args.iter().map(|&a| self.plan.node(a).shape.as_slice()).collect();
        let shape = op.output_shape(&shapes).unwrap();
        self.push(Op::Clear(op), args, &shape, Form::Clear)
    }

    /// An operation whose level follows from its first operand.
    pub fn op(&mut self, op: Op, args: &[NodeId], shape: &[usize], transposed: bool) -> NodeId {
        let from = self.plan.node(args[0]).level().unwrap();
        let level = from.after_rescales(op.level_cost().unwrap()).unwrap();
        match &op {
            Op::Mul => self.key(KeyKind::Relinearize, from),
            Op::MatMul => self.key(KeyKind::Product, from),
            Op::Flip => self.key(KeyKind::Flip, from),
            Op::MaskedMatMul => {
                masked_matmul_keys(&self.plan.geometry).into_iter().for_each(|k| self.key(k, from));
            }
            Op::Linear { .. } | Op::LinearRows { .. } => self.linear_keys(&op, args, shape, transposed, from),
            _ => {}
        }
        self.push(op, args, shape, Form::Cipher { level, transposed, noise: 1e-9 })
    }

    pub fn adjust(&mut self, a: NodeId, level: u32) -> NodeId {
        let node = self.plan.node(a).clone();
        let transposed = node.layout().transposed;
        self.push(
            Op::Adjust,
            &[a],
            &node.shape,
            Form::Cipher { level: Level(level), transposed, noise: 1e-9 },
        )
    }

    /// A linear map with the split that needs the fewest key switches.
    pub fn linear(&mut self, steps: Vec<LinearStep>, args: &[NodeId], transposed: bool) -> NodeId {
        let from = self.plan.node(args[0]).clone();
        let shape = linear::output_shape(&steps, &from.shape).unwrap();
        let t = self.transform(&steps, args, &shape, transposed);
        let split = t.best_split(&self.plan.geometry);
        let masks = t.integers.is_none();
        self.op(Op::Linear { steps, split, masks }, args, &shape, transposed)
    }

    fn transform(
        &self,
        steps: &[LinearStep],
        args: &[NodeId],
        shape: &[usize],
        transposed: bool,
    ) -> Transform {
        let from = self.plan.node(args[0]);
        let m = self.matrix(steps, args);
        let to = Layout::new(shape, transposed);
        Transform::new(&m, &from.layout(), &to, &self.plan.geometry)
    }

    fn matrix(&self, steps: &[LinearStep], args: &[NodeId]) -> plan::Sparse {
        let clear: Vec<&Tensor> = args[1..]
            .iter()
            .map(|&a| match self.plan.node(a).op {
                Op::Constant(c) => &self.plan.constants[c].value,
                _ => panic!("maps of constants only"),
            })
            .collect();
        linear::matrix(steps, &self.plan.node(args[0]).shape, &clear).unwrap()
    }

    fn linear_keys(&mut self, op: &Op, args: &[NodeId], shape: &[usize], transposed: bool, level: Level) {
        let geometry = self.plan.geometry;
        let shifts = match op {
            Op::Linear { steps, split, .. } => {
                self.transform(steps, args, shape, transposed).keyed_shifts(&geometry, *split)
            }
            Op::LinearRows { steps } => {
                let (m, from) = (self.matrix(steps, args), self.plan.node(args[0]).layout());
                let to = Layout::new(shape, transposed);
                RowMap::new(&m, &from, &to, &geometry).unwrap().keyed_shifts()
            }
            _ => Default::default(),
        };
        shifts.into_iter().for_each(|s| self.key(KeyKind::Rotate(s.keyed()), level));
    }

    /// Puts the tiles of a node where strides and copies say.
    pub fn place(&mut self, node: NodeId, strides: &[usize], copies: &[(usize, usize)]) {
        let copies = copies.iter().map(|&(count, stride)| Copies { count, stride }).collect();
        self.plan.nodes[node.index()].placement = Some(Placement { strides: strides.to_vec(), copies });
    }

    fn key(&mut self, kind: KeyKind, level: Level) {
        match self.plan.keys.iter_mut().find(|k| k.kind == kind) {
            Some(key) => key.level = key.level.max(level),
            None => self.plan.keys.push(Key { kind, level }),
        }
    }

    pub fn output(&mut self, name: &str, node: NodeId) {
        self.plan.outputs.push(Output {
            name: name.into(),
            node,
            precision: 1e-3,
            predicted_error: 1e-4,
            expected_error: 1e-5,
            approximation_error: 0.0,
            max_abs: 100.0,
        });
    }
}

/// A plan with every operation of the scheme.
pub fn everything(scheme: Scheme) -> Plan {
    let mut b = Builder::new(scheme);
    let gl = scheme == Scheme::Gl;
    let x = b.input("x", &[3, 6, 5], Secrecy::Cipher, false);
    let y = b.input("y", &[3, 5, 4], Secrecy::Cipher, false);
    let s = b.input("s", &[3, 6, 4], Secrecy::Plain, false);
    let w = b.constant(tensor(&[5, 4], 3));
    let product = if gl {
        let held = b.op(Op::Flip, &[y], &[3, 5, 4], true);
        let p = b.op(Op::MatMul, &[x, held], &[3, 6, 4], false);
        b.adjust(p, 2)
    } else {
        b.op(Op::MaskedMatMul, &[x, y], &[3, 6, 4], false)
    };
    let right = LinearStep::MatMulRight { weight: Operand(0), shape: vec![5, 4] };
    let dense = b.linear(vec![right.clone()], &[x, w], false);
    let dense = b.adjust(dense, 2);
    let sum = b.op(Op::Add, &[product, dense], &[3, 6, 4], false);
    let difference = b.op(Op::Sub, &[product, dense], &[3, 6, 4], false);
    let square = b.op(Op::Mul, &[sum, sum], &[3, 6, 4], false);
    let mixed = b.op(Op::Mul, &[sum, difference], &[3, 6, 4], false);
    let combine = Op::Combine { coefficients: vec![0.5, -1.25], constant: 0.75 };
    let combined = b.op(combine, &[square, mixed], &[3, 6, 4], false);
    let twice = b.clear(TensorOp::Add, &[s, s]);
    let scaled = b.op(Op::MulClear, &[square, twice], &[3, 6, 4], false);
    let shifted = b.op(Op::AddClear, &[scaled, twice], &[3, 6, 4], false);
    let tripled = b.op(Op::MulInteger(-3), &[shifted], &[3, 6, 4], false);
    let negated = b.op(Op::Neg, &[tripled], &[3, 6, 4], false);
    let total = b.op(Op::Add, &[negated, combined], &[3, 6, 4], false);
    let padded =
        b.linear(vec![LinearStep::Pad { before: vec![0, 1, 0], after: vec![0, 0, 2] }], &[total], false);
    let rolled =
        b.linear(vec![LinearStep::Sum { axes: vec![0] }, LinearStep::Roll { axis: 1, shift: 1 }], &[sum], gl);
    b.output("combined", combined);
    b.output("padded", padded);
    b.output("rolled", rolled);
    b.output("clear", twice);
    if gl {
        let weighted = b.op(Op::MatMulClear, &[x, w], &[3, 6, 4], false);
        b.output("weighted", weighted);
        let held = b.op(Op::Flip, &[y], &[3, 5, 4], true);
        let reverse = b.op(Op::MatMul, &[x, held], &[3, 6, 4], true);
        b.output("reverse", reverse);
        let slice = LinearStep::Slice { start: vec![1, 0, 0], step: vec![1; 3], count: vec![2, 6, 5] };
        let rows = b.op(Op::LinearRows { steps: vec![slice, right] }, &[x, w], &[2, 6, 4], false);
        b.output("rows", rows);
        tiled(&mut b);
    }
    plan::verify::verify(&b.plan).unwrap();
    b.plan
}

/// A product of 2 x 2 by 2 x 1 tiles in one ciphertext each: inner tiles are added by a rotation, the result is there twice.
fn tiled(b: &mut Builder) {
    let left = b.input("left", &[16, 16], Secrecy::Cipher, false);
    b.place(left, &[1, 2], &[]);
    let right = b.input("right", &[16, 8], Secrecy::Cipher, true);
    b.place(right, &[2, 0], &[(2, 1)]);
    let product = b.op(Op::MatMul, &[left, right], &[16, 8], false);
    b.place(product, &[1, 0], &[(2, 2)]);
    b.key(KeyKind::Rotate(Shift::Grid { lane: 2, row: 0, col: 0 }), Level(TOP));
    b.output("tiled", product);
}

/// Data for [`everything`].
pub fn data(plan: &Plan) -> BTreeMap<String, Tensor> {
    plan.inputs
        .iter()
        .enumerate()
        .map(|(i, input)| (input.name.clone(), tensor(&input.shape, i + 5)))
        .collect()
}

/// What the outputs of [`everything`] are, in f64 on tensors.
pub fn expected(plan: &Plan) -> BTreeMap<&'static str, Tensor> {
    let data = data(plan);
    let (x, y, s, w) = (&data["x"], &data["y"], &data["s"], &plan.constants[0].value);
    let op = |op: TensorOp, args: &[&Tensor]| op.eval(args).unwrap();
    let right = LinearStep::MatMulRight { weight: Operand(0), shape: vec![5, 4] };
    let product = op(TensorOp::MatMul, &[x, y]);
    let dense = op(TensorOp::Linear { steps: vec![right.clone()] }, &[x, w]);
    let sum = product.zip(&dense, |a, b| a + b);
    let difference = product.zip(&dense, |a, b| a - b);
    let square = sum.map(|a| a * a);
    let mixed = sum.zip(&difference, |a, b| a * b);
    let combined = square.zip(&mixed, |a, b| 0.5 * a - 1.25 * b + 0.75);
    let twice = s.map(|a| 2.0 * a);
    let shifted = square.zip(&twice, |a, b| 3.0 * (a * b + b));
    let total = shifted.zip(&combined, |a, b| a + b);
    let pad = LinearStep::Pad { before: vec![0, 1, 0], after: vec![0, 0, 2] };
    let steps = vec![LinearStep::Sum { axes: vec![0] }, LinearStep::Roll { axis: 1, shift: 1 }];
    let slice = LinearStep::Slice { start: vec![1, 0, 0], step: vec![1; 3], count: vec![2, 6, 5] };
    let tiled = match (data.get("left"), data.get("right")) {
        (Some(left), Some(right)) => op(TensorOp::MatMul, &[left, right]),
        _ => product.clone(),
    };
    BTreeMap::from([
        ("tiled", tiled),
        ("padded", op(TensorOp::Linear { steps: vec![pad] }, &[&total])),
        ("rolled", op(TensorOp::Linear { steps }, &[&sum])),
        ("rows", op(TensorOp::Linear { steps: vec![slice, right] }, &[x, w])),
        ("combined", combined),
        ("clear", twice),
        ("weighted", dense),
        ("reverse", product),
    ])
}
