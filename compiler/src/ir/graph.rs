//! The graph: nodes with typed operations, operands in order, shapes and secrecy known from the moment a node is added.
//! The only file that names petgraph.
//!
//! Nodes are added after their operands, so node numbers are a topological order. Passes build a new graph.

use crate::ir::op::Op;
use grammar::Span;
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use plan::op::OpError;
use plan::{Secrecy, Tensor, plan::Constant};
use std::fmt;

/// A node of a graph; operands have smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Position in node order.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// A node: operation, shape, secrecy, place in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct IrNode {
    /// what it does
    pub op: Op,
    /// shape of its value
    pub shape: Vec<usize>,
    /// encrypted, or known to the evaluator
    pub secrecy: Secrecy,
    /// source range; None in hand-written graphs
    pub span: Option<Span>,
}

/// A declared input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputDecl {
    /// name in the program
    pub name: String,
    /// cipher or plain
    pub secrecy: Secrecy,
    /// shape
    pub shape: Vec<usize>,
    /// smallest allowed value
    pub low: f64,
    /// largest allowed value
    pub high: f64,
    /// the declaration; None in hand-written graphs
    pub span: Option<Span>,
}

/// A declared output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputDecl {
    /// name in the program
    pub name: String,
    /// its value
    pub node: NodeId,
    /// largest absolute error asked for
    pub precision: f64,
    /// the declaration; None in hand-written graphs
    pub span: Option<Span>,
}

/// A program as a dataflow graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// name of the model
    pub name: String,
    /// inputs in order of declaration
    pub inputs: Vec<InputDecl>,
    /// constants by number
    pub constants: Vec<Constant>,
    /// outputs in order of declaration
    pub outputs: Vec<OutputDecl>,
    graph: DiGraph<IrNode, u32>,
}

impl Graph {
    /// An empty graph.
    pub fn new(name: &str) -> Graph {
        Graph { name: name.to_string(), ..Graph::default() }
    }

    /// A graph with the declarations of `self` (inputs, constants) and no nodes: where a pass starts.
    pub fn emptied(&self) -> Graph {
        Graph {
            name: self.name.clone(),
            inputs: self.inputs.clone(),
            constants: self.constants.clone(),
            ..Graph::default()
        }
    }

    /// Adds a node after its operands. The shape follows from the operation; secrecy from the operands.
    pub fn add(&mut self, op: Op, args: &[NodeId], span: Option<Span>) -> Result<NodeId, OpError> {
        let shape = match &op {
            Op::Input(i) => self.inputs[*i].shape.clone(),
            Op::Constant(c) => self.constants[*c].value.shape().to_vec(),
            other => {
                let shapes: Vec<&[usize]> = args.iter().map(|&a| self.shape(a)).collect();
                other.output_shape(&shapes)?
            }
        };
        let cipher = match &op {
            Op::Input(i) => self.inputs[*i].secrecy == Secrecy::Cipher,
            _ => args.iter().any(|&a| self.is_cipher(a)),
        };
        let secrecy = if cipher { Secrecy::Cipher } else { Secrecy::Plain };
        let node = self.graph.add_node(IrNode { op, shape, secrecy, span });
        for (position, a) in args.iter().enumerate() {
            self.graph.add_edge(NodeIndex::new(a.index()), node, position as u32);
        }
        Ok(NodeId(node.index() as u32))
    }

    /// Adds a constant and its node.
    pub fn constant(&mut self, name: &str, value: Tensor, span: Option<Span>) -> NodeId {
        self.constants.push(Constant { name: name.to_string(), value });
        let op = Op::Constant(self.constants.len() - 1);
        self.add(op, &[], span).expect("a constant has no operands to disagree with")
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }
    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All nodes in topological order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.len() as u32).map(NodeId)
    }
    /// A node.
    pub fn node(&self, id: NodeId) -> &IrNode {
        &self.graph[NodeIndex::new(id.index())]
    }
    /// Shape of a node.
    pub fn shape(&self, id: NodeId) -> &[usize] {
        &self.node(id).shape
    }
    /// Whether a node is encrypted.
    pub fn is_cipher(&self, id: NodeId) -> bool {
        self.node(id).secrecy == Secrecy::Cipher
    }
    /// The value of a node that is a constant.
    pub fn constant_value(&self, id: NodeId) -> Option<&Tensor> {
        match self.node(id).op {
            Op::Constant(c) => Some(&self.constants[c].value),
            _ => None,
        }
    }
    /// Operands in order; the same node may occur twice.
    pub fn args(&self, id: NodeId) -> Vec<NodeId> {
        let edges = self.graph.edges_directed(NodeIndex::new(id.index()), Direction::Incoming);
        let mut args: Vec<(u32, NodeId)> =
            edges.map(|e| (*e.weight(), NodeId(e.source().index() as u32))).collect();
        args.sort_unstable();
        args.into_iter().map(|a| a.1).collect()
    }
    /// Nodes that read a node, in order, each once per operand; outputs not counted.
    pub fn users(&self, id: NodeId) -> Vec<NodeId> {
        let edges = self.graph.edges_directed(NodeIndex::new(id.index()), Direction::Outgoing);
        let mut users: Vec<NodeId> = edges.map(|e| NodeId(e.target().index() as u32)).collect();
        users.sort_unstable();
        users
    }
    /// Nodes that some output depends on.
    pub fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.len()];
        self.outputs.iter().for_each(|o| live[o.node.index()] = true);
        for id in self.ids().rev() {
            if live[id.index()] {
                self.args(id).iter().for_each(|a| live[a.index()] = true);
            }
        }
        live
    }
}

/// Equal declarations, and equal nodes in the same order with the same operands.
impl PartialEq for Graph {
    fn eq(&self, other: &Graph) -> bool {
        let declarations = |g: &Graph| (g.name.clone(), g.inputs.clone(), g.outputs.clone());
        declarations(self) == declarations(other)
            && self.constants == other.constants
            && self.len() == other.len()
            && self.ids().all(|n| self.node(n) == other.node(n) && self.args(n) == other.args(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::TensorOp;

    #[test]
    fn operands_keep_their_order_and_aliases() {
        let mut g = Graph::new("t");
        let input = |name: &str| InputDecl {
            name: name.into(),
            secrecy: Secrecy::Cipher,
            shape: vec![2],
            low: -1.0,
            high: 1.0,
            span: None,
        };
        g.inputs = vec![input("x"), input("y")];
        let x = g.add(Op::Input(0), &[], None).unwrap();
        let y = g.add(Op::Input(1), &[], None).unwrap();
        let d = g.add(Op::Tensor(TensorOp::Sub), &[y, x], None).unwrap();
        let s = g.add(Op::Tensor(TensorOp::Mul), &[d, d], None).unwrap();
        assert_eq!((g.args(d), g.args(s), g.users(d)), (vec![y, x], vec![d, d], vec![s, s]));
        let c = g.constant("c", Tensor::full(&[3], 1.0), None);
        assert!(g.add(Op::Tensor(TensorOp::Add), &[x, c], None).is_err());
        g.outputs.push(OutputDecl { name: "o".into(), node: d, precision: 1e-3, span: None });
        assert_eq!(g.live(), [true, true, true, false, false]);
    }
}
