//! Hand-built programs, planned.
#![allow(dead_code)] // each test file takes what it needs

use compiler::analysis::range::analyse;
use compiler::ir::{Graph, InputDecl, NodeId, Op, OutputDecl};
use compiler::lower::{Planned, Subject, Target, error::PlanError, plan_scheme};
use compiler::passes::{ArithmeticGraph, arithmetic};
use plan::{KeyKind, LinearStep, Operand, Plan, Scheme, Secrecy, Tensor, TensorOp};

/// A graph in the making.
pub struct Program {
    pub graph: Graph,
}

impl Program {
    pub fn new() -> Program {
        Program { graph: Graph::new("t") }
    }
    pub fn input(&mut self, shape: &[usize]) -> NodeId {
        self.input_in(shape, Secrecy::Cipher, 1.0)
    }
    pub fn input_in(&mut self, shape: &[usize], secrecy: Secrecy, bound: f64) -> NodeId {
        let name = format!("x{}", self.graph.inputs.len());
        let shape = shape.to_vec();
        self.graph.inputs.push(InputDecl { name, secrecy, shape, low: -bound, high: bound, span: None });
        self.add(Op::Input(self.graph.inputs.len() - 1), &[])
    }
    pub fn add(&mut self, op: Op, args: &[NodeId]) -> NodeId {
        self.graph.add(op, args, None).unwrap()
    }
    pub fn op(&mut self, op: TensorOp, args: &[NodeId]) -> NodeId {
        self.add(Op::Tensor(op), args)
    }
    pub fn linear(&mut self, steps: Vec<LinearStep>, args: &[NodeId]) -> NodeId {
        self.op(TensorOp::Linear { steps }, args)
    }
    pub fn transpose(&mut self, x: NodeId) -> NodeId {
        let rank = self.graph.shape(x).len();
        let mut perm: Vec<usize> = (0..rank).collect();
        perm.swap(rank - 2, rank - 1);
        self.linear(vec![LinearStep::Transpose { perm }], &[x])
    }
    pub fn constant(&mut self, shape: &[usize]) -> NodeId {
        let size = shape.iter().product();
        let data = (0..size).map(|i: usize| ((i * 7 + 3) % 11) as f64 / 11.0 - 0.45).collect();
        self.graph.constant("w", Tensor::new(shape.to_vec(), data).unwrap(), None)
    }
    pub fn matmul_right(&mut self, x: NodeId, w: NodeId) -> NodeId {
        let shape = self.graph.shape(w).to_vec();
        self.linear(vec![LinearStep::MatMulRight { weight: Operand(0), shape }], &[x, w])
    }
    pub fn matmul_left(&mut self, w: NodeId, x: NodeId) -> NodeId {
        let shape = self.graph.shape(w).to_vec();
        self.linear(vec![LinearStep::MatMulLeft { weight: Operand(0), shape }], &[x, w])
    }
    pub fn output(&mut self, node: NodeId, precision: f64) {
        let name = format!("y{}", self.graph.outputs.len());
        self.graph.outputs.push(OutputDecl { name, node, precision, span: None });
    }
    pub fn arithmetic(self) -> ArithmeticGraph {
        let ranges = analyse(&self.graph).pairs();
        ArithmeticGraph { graph: self.graph, ranges, ..arithmetic(&Graph::new("t")).unwrap() }
    }
    /// Plans twice and checks that both plans are the same bytes and verify.
    pub fn plan(self, scheme: Scheme, target: &Target) -> Result<Plan, PlanError> {
        let program = self.arithmetic();
        let once = || plan_scheme(Subject { program: &program, source: "" }, scheme, target);
        let Planned { plan, .. } = once()?;
        plan::verify::verify(&plan).unwrap();
        assert_eq!(plan.to_json(), once()?.plan.to_json());
        Ok(plan)
    }
    pub fn planned(self, scheme: Scheme) -> Plan {
        self.plan(scheme, &Target::default()).unwrap()
    }
}

/// Nodes of a plan that do something.
pub fn count(plan: &Plan, wanted: impl Fn(&plan::Op) -> bool) -> usize {
    plan.nodes.iter().filter(|n| wanted(&n.op)).count()
}

/// Kinds of the keys of a plan.
pub fn kinds(plan: &Plan) -> Vec<KeyKind> {
    plan.keys.iter().map(|k| k.kind).collect()
}
