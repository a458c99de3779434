//! Reassociates products of many factors to the smallest depth: always the two shallowest factors first, as Huffman's tree.
//!
//! Only products with a single reader are taken apart, so nothing is computed twice. Matrix products do not commute and stay.

use crate::analysis::depth::depths;
use crate::analysis::level_cost::{Kind, levels};
use crate::ir::{Graph, NodeId, Op};
use crate::passes::fuse_linear::readers;
use crate::passes::rewrite::Rewrite;
use plan::{Scheme, TensorOp};

/// The same program with balanced products.
pub fn balance_products(g: &Graph) -> Graph {
    let (readers, depths) = (readers(g), depths(g, Scheme::Ckks));
    let inner = |id: NodeId| is_product(g, id) && readers[id.index()] == 1;
    let is_factor = |id: NodeId| g.users(id).first().is_some_and(|&u| is_product(g, u));
    let is_root = |id: NodeId| !(inner(id) && is_factor(id));
    Rewrite::each(g, |r, id| {
        if !is_product(g, id) || !is_root(id) {
            return r.copy(id);
        }
        let mut factors = vec![];
        collect(g, id, &inner, &mut factors);
        if factors.len() < 3 {
            return r.copy(id);
        }
        let tree = Tree::of(&factors, &depths);
        if tree.depth >= depths[id.index()] { r.copy(id) } else { tree.emit(r, g, id) }
    })
}

fn is_product(g: &Graph, id: NodeId) -> bool {
    matches!(g.node(id).op, Op::Tensor(TensorOp::Mul)) && g.is_cipher(id)
}

fn collect(g: &Graph, id: NodeId, inner: &impl Fn(NodeId) -> bool, factors: &mut Vec<NodeId>) {
    for a in g.args(id) {
        if inner(a) { collect(g, a, inner, factors) } else { factors.push(a) }
    }
}

/// A way to multiply factors.
struct Tree {
    depth: u32,
    what: Part,
}

enum Part {
    Factor(NodeId),
    Product(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn of(factors: &[NodeId], depths: &[u32]) -> Tree {
        let leaf = |&id: &NodeId| Tree { depth: depths[id.index()], what: Part::Factor(id) };
        let mut open: Vec<Tree> = factors.iter().map(leaf).collect();
        while open.len() > 1 {
            open.sort_by_key(|t| std::cmp::Reverse(t.depth));
            let (Some(a), Some(b)) = (open.pop(), open.pop()) else { break };
            let depth = a.depth.max(b.depth) + levels(Kind::Mul, Scheme::Ckks);
            open.push(Tree { depth, what: Part::Product(Box::new(a), Box::new(b)) });
        }
        open.remove(0)
    }

    fn emit(&self, r: &mut Rewrite, g: &Graph, id: NodeId) -> NodeId {
        match &self.what {
            Part::Factor(f) => r.at(*f),
            Part::Product(a, b) => {
                let args = [a.emit(r, g, id), b.emit(r, g, id)];
                r.tensor(TensorOp::Mul, &args, g.node(id).span)
            }
        }
    }
}
