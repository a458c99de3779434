//! Levels: what every operation needs, from the outputs backwards, and the path that sets the depth.

use crate::analysis::level_cost::{Kind, levels};
use crate::ir::NodeId as GraphNode;
use crate::ir::{Graph, Op};
use crate::lower::draft::DraftNode;
use plan::{LinearStep, NodeId, Plan, Scheme, TensorOp};

/// Level of every node of a draft: the highest that some reader needs, 0 for outputs. Levels of clear nodes mean nothing.
pub fn assign(nodes: &[DraftNode]) -> Vec<u32> {
    let mut levels = vec![0; nodes.len()];
    for (i, node) in nodes.iter().enumerate().rev().filter(|(_, n)| n.is_cipher()) {
        let needed = levels[i] + node.op.level_cost().unwrap_or(0);
        node.args.iter().for_each(|&a| levels[a] = levels[a].max(needed));
    }
    levels
}

/// The nodes of a plan on the deepest path, the input first: each one needs the level that its operand has.
pub fn deepest_path(plan: &Plan) -> Vec<NodeId> {
    let level = |i: usize| plan.nodes[i].level().map(|l| l.0);
    let ids = 0..plan.nodes.len();
    let Some(mut at) = ids.filter(|&i| level(i).is_some()).max_by_key(|&i| (level(i), std::cmp::Reverse(i)))
    else {
        return vec![];
    };
    let mut path = vec![NodeId(at as u32)];
    while let Some(next) = (at + 1..plan.nodes.len()).find(|&i| {
        let node = &plan.nodes[i];
        let needed = node.op.level_cost().and_then(|c| level(i).map(|l| l + c));
        node.args.contains(&NodeId(at as u32)) && needed.is_some() && needed == level(at)
    }) {
        at = next;
        path.push(NodeId(at as u32));
    }
    path
}

/// A lower bound on the levels a graph needs in a scheme, and the nodes of a path that needs them, the last one first.
/// Linear maps count as free unless they multiply by numbers that are no integers; nothing is laid out.
pub fn depth_bound(graph: &Graph, scheme: Scheme) -> (u32, Vec<GraphNode>) {
    let live = graph.live();
    let mut depth = vec![0u32; graph.len()];
    let mut from: Vec<Option<GraphNode>> = vec![None; graph.len()];
    for id in graph.ids().filter(|&id| live[id.index()] && graph.is_cipher(id)) {
        let args = graph.args(id);
        let deepest = args.iter().copied().filter(|&a| graph.is_cipher(a)).max_by_key(|a| depth[a.index()]);
        let base = deepest.map_or(0, |a| depth[a.index()]);
        depth[id.index()] = base.saturating_add(least_cost(graph, id, scheme));
        from[id.index()] = deepest;
    }
    let outputs = graph.outputs.iter().map(|o| o.node).filter(|&o| graph.is_cipher(o));
    let Some(last) = outputs.max_by_key(|o| depth[o.index()]) else { return (0, vec![]) };
    let path = std::iter::successors(Some(last), |id| from[id.index()]).collect();
    (depth[last.index()], path)
}

fn least_cost(graph: &Graph, id: GraphNode, scheme: Scheme) -> u32 {
    match &graph.node(id).op {
        Op::Combine { .. } => levels(Kind::Combine, scheme),
        Op::Tensor(TensorOp::Mul) => levels(Kind::Mul, scheme),
        Op::Tensor(TensorOp::MatMul) => levels(Kind::MatMul, scheme),
        Op::Tensor(TensorOp::Linear { steps }) => {
            let fraction =
                |s: &LinearStep| matches!(s, LinearStep::ScaleBy { factor } if factor.fract() != 0.0);
            if steps.len() == 1 && fraction(&steps[0]) { levels(Kind::Linear, scheme) } else { 0 }
        }
        _ => 0,
    }
}
