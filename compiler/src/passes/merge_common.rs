//! Merges nodes that compute the same: equal operations on equal operands, equal constants. The operands of `Add` and `Mul`
//! are compared in any order. The first node of each kind stays.

use crate::ir::print::operation;
use crate::ir::{Graph, NodeId, Op};
use crate::passes::rewrite::Rewrite;
use plan::TensorOp;
use std::collections::BTreeMap;

/// What makes two nodes the same.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// shape and bits of the values
    Constant(Vec<usize>, Vec<u64>),
    /// operation as it is printed, operands
    Node(String, Vec<NodeId>),
}

/// The same program with every value computed once.
pub fn merge_common(g: &Graph) -> Graph {
    let mut first = BTreeMap::new();
    Rewrite::each(g, |r, id| match first.get(&key(g, id, r.args(id))) {
        Some(&same) => same,
        None => {
            let key = key(g, id, r.args(id));
            let new = r.copy(id);
            first.insert(key, new);
            new
        }
    })
}

fn key(g: &Graph, id: NodeId, mut args: Vec<NodeId>) -> Key {
    if let Some(value) = g.constant_value(id) {
        return Key::Constant(value.shape().to_vec(), value.data().iter().map(|x| x.to_bits()).collect());
    }
    let node = g.node(id);
    if let Op::Tensor(TensorOp::Add | TensorOp::Mul) = node.op {
        args.sort_unstable();
    }
    Key::Node(operation(g, &node.op), args)
}
