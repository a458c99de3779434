//! The cost of a placement, computed afresh: every read is held against what exists, every copy and action is paid for.

use super::graph::{Cost, Operation, PlanningGraph};
use super::levels::highest;
use super::options::with_level;
use super::{Action, NoPlacement, Placement};

/// The cost of a placement.
///
/// # Errors
/// When an operation reads what does not exist.
pub fn check(graph: &PlanningGraph, placement: &Placement) -> Result<Cost, NoPlacement> {
    let mut values = vec![vec![0; graph.spaces.len()]; graph.operations.len()];
    let mut cost = 0;
    for &i in &placement.order {
        let (op, step) = (&graph.operations[i], &placement.steps[i]);
        let malformed = |rule| NoPlacement::Malformed { operation: i, rule };
        let mode = op.modes.get(step.mode).ok_or(malformed("it has no such mode"))?;
        let level = step.level;
        for (&a, &space) in op.args.iter().zip(&mode.reads) {
            let weight = graph.operations[a].weight;
            cost += copy(graph, weight, &mut values[a], space, level)
                .map_err(|available| NoPlacement::OutOfReach { operation: i, needed: level, available })?;
        }
        if level < mode.least {
            return Err(malformed("it does not run so low"));
        }
        cost += mode.cost.get(level as usize).ok_or(malformed("it does not run at that level"))?;
        let after = level.checked_sub(mode.depth).ok_or(malformed("it spends more levels than it has"))?;
        values[i][mode.gives] = with_level(graph, mode.gives, 0, after);
        for action in &step.actions {
            cost += act(graph, op, &mut values[i], action)
                .ok_or(malformed("its result cannot be bootstrapped or converted so"))?;
        }
    }
    Ok(cost)
}

/// Makes a value exist at a level; the error is the highest level it reaches.
fn copy(graph: &PlanningGraph, weight: u64, sets: &mut [u64], space: usize, level: u32) -> Result<Cost, u32> {
    match highest(sets[space]) {
        _ if sets[space] >> level & 1 == 1 => Ok(0),
        Some(top) if top > level => {
            sets[space] |= 1 << level;
            Ok(graph.drop_cost(space, weight, level))
        }
        top => Err(top.unwrap_or(0)),
    }
}

fn act(graph: &PlanningGraph, op: &Operation, sets: &mut [u64], action: &Action) -> Option<Cost> {
    let weight = op.weight;
    match *action {
        Action::Bootstrap { space, target } => {
            let bootstrap = graph.spaces.get(space)?.bootstrap.as_ref().filter(|_| op.refreshable)?;
            let read = copy(graph, weight, sets, space, bootstrap.from).ok()?;
            let price = bootstrap.targets.iter().find(|t| t.0 == target)?.1;
            sets[space] = with_level(graph, space, sets[space], target);
            Some(read + weight * price)
        }
        Action::Convert { conversion, level } => {
            let way = graph.conversions.get(conversion)?;
            let copies = copy(graph, weight, sets, way.from, level).ok()?;
            let after = level.checked_sub(way.depth)?;
            sets[way.to] = with_level(graph, way.to, sets[way.to], after);
            Some(copies + weight * way.cost.get(level as usize)?)
        }
    }
}
