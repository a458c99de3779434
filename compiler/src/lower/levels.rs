//! The planning graph of a draft: every encrypted operation with what it costs at every level, in one space.
//!
//! Without bootstraps there are as many levels as the deepest path needs; more of them never help, since costs do not fall
//! with the level. With bootstraps the parameters are given, and with them the levels and the room for values at each.

use super::draft::Draft;
use super::error::PlanError;
use super::refresh::Refresh;
use crate::analysis::level;
use crate::cost::CostModel;
use crate::placement::{
    self, Bootstrap, Cost, MAX_LEVEL, Mode, NoPlacement, Placement, PlanningGraph, Policy, Space,
};
use plan::Op;
use plan::bootstrap::SLOTS_TO_COEFFS;
use plan::plan::Optimality;

/// The graph to place, and which nodes of the draft it is about.
#[derive(Clone, Debug)]
pub struct Levels {
    /// one operation for every encrypted node
    pub graph: PlanningGraph,
    /// node of the draft of every operation
    pub nodes: Vec<usize>,
    /// highest level
    pub top: u32,
}

/// A placed draft.
#[derive(Clone, Debug)]
pub struct Placed {
    /// what was placed
    pub levels: Levels,
    /// where
    pub placement: Placement,
    /// what greedy would have cost, if it finds a way
    pub greedy: Option<Cost>,
}

impl Levels {
    /// The graph of a draft under a cost model.
    pub fn new(draft: &Draft, model: &CostModel, refresh: Option<&Refresh>) -> Levels {
        let top = match refresh {
            Some(r) => r.params.top().0,
            None => level::assign(&draft.nodes).into_iter().zip(&draft.nodes).fold(0, |top, (l, n)| {
                if n.is_cipher() { top.max(l + n.op.level_cost().unwrap_or(0)) } else { top }
            }),
        };
        let price = |cost: f64| cost.round() as Cost;
        let copy = |l: u32| price(model.adjust(f64::from(l + 2)));
        let bootstrap = refresh.map(|r| Bootstrap {
            from: SLOTS_TO_COEFFS,
            targets: r.targets().map(|t| (t.0, price(model.bootstrap(r.params, t)))).collect(),
        });
        let space = Space { drop: (0..=top).map(copy).collect(), bootstrap };
        let mut levels =
            Levels { graph: PlanningGraph { spaces: vec![space], ..Default::default() }, nodes: vec![], top };
        let mut of = vec![None; draft.nodes.len()];
        for (i, node) in draft.nodes.iter().enumerate().filter(|(_, n)| n.is_cipher()) {
            let args: Vec<usize> = node.args.iter().filter_map(|&a| of[a]).collect();
            let depth = node.op.level_cost().unwrap_or(0);
            let at = |l: u32| match node.op {
                // what a client sends is larger at a higher level
                Op::Input(_) => Cost::from(l) * draft.ciphertexts(i) as Cost,
                _ => price(model.node(draft, i, f64::from(l + 1))),
            };
            let least = depth + refresh.map_or(0, |r| r.least_level(i));
            let cost = (0..=top).map(at).collect();
            let mode = Mode { reads: vec![0; args.len()], gives: 0, depth, least, cost };
            let operation = levels.graph.add(&args, draft.ciphertexts(i) as u64, vec![mode]);
            levels.graph.operations[operation].refreshable =
                refresh.is_some_and(|r| r.log_bound(i).is_some());
            of[i] = Some(operation);
            levels.nodes.push(i);
        }
        levels
    }

    /// Places the graph, and greedily beside it.
    ///
    /// # Errors
    /// When an operation cannot run at any level, with its place in the program.
    pub fn place(self, draft: &Draft, policy: Policy) -> Result<Placed, PlanError> {
        let greedy = placement::greedy(&self.graph);
        let placement = match policy {
            Policy::Greedy => greedy.clone(),
            Policy::Exact => placement::exact(&self.graph),
        };
        let span = |operation: usize| self.nodes.get(operation).and_then(|&n| draft.nodes[n].span);
        match placement {
            Ok(placement) => Ok(Placed { placement, greedy: greedy.ok().map(|p| p.cost), levels: self }),
            Err(NoPlacement::OutOfReach { operation, needed, available }) => {
                Err(PlanError::OutOfReach { needed, available, span: span(operation) })
            }
            Err(e @ NoPlacement::Malformed { operation, .. }) => {
                Err(PlanError::Unsupported(e.to_string(), span(operation)))
            }
        }
    }
}

/// Cost of a draft as late as possible and without bootstraps: for comparing drafts. Of one with more levels than can be
/// placed, the cost at the highest level.
///
/// # Errors
/// As [`Levels::place`].
pub fn rough_cost(draft: &Draft, model: &CostModel) -> Result<Cost, PlanError> {
    let levels = Levels::new(draft, model, None);
    if levels.top > MAX_LEVEL {
        let modes = levels.graph.operations.iter().flat_map(|o| &o.modes);
        return Ok(modes.filter_map(|m| m.cost.last()).sum());
    }
    Ok(levels.place(draft, Policy::Greedy)?.placement.cost)
}

impl Placed {
    /// How the cost compares.
    pub fn optimality(&self) -> Optimality {
        let Placement { cost, lower_bound, .. } = self.placement;
        Optimality { cost, lower_bound, greedy: self.greedy }
    }
}
