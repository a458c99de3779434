//! Drops nodes that no output depends on, and constants that no node reads. Inputs stay declared.

use crate::ir::{Graph, NodeId, Op};
use plan::plan::Constant;
use std::collections::BTreeMap;

/// The same program without what no output needs. Constants keep their order.
pub fn remove_dead(g: &Graph) -> Graph {
    let live = g.live();
    let mut new = g.emptied();
    new.constants.clear();
    let (mut nodes, mut constants) = (BTreeMap::new(), BTreeMap::new());
    for id in g.ids().filter(|id| live[id.index()]) {
        let node = g.node(id);
        let op = match &node.op {
            Op::Constant(c) => Op::Constant(keep(&mut new.constants, &mut constants, g, *c)),
            other => other.clone(),
        };
        let args: Vec<NodeId> = g.args(id).iter().map(|a| nodes[a]).collect();
        let kept = new.add(op, &args, node.span).expect("a copied node keeps its shape");
        nodes.insert(id, kept);
    }
    new.outputs = g.outputs.clone();
    new.outputs.iter_mut().for_each(|o| o.node = nodes[&o.node]);
    new
}

fn keep(kept: &mut Vec<Constant>, numbers: &mut BTreeMap<usize, usize>, g: &Graph, c: usize) -> usize {
    *numbers.entry(c).or_insert_with(|| {
        kept.push(g.constants[c].clone());
        kept.len() - 1
    })
}
