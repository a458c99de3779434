//! The greedy placement: as late as possible where the levels suffice, otherwise bootstraps only where nothing else works.

use super::bound::Bounds;
use super::check::check;
use super::graph::{Cost, Mode, PlanningGraph};
use super::levels::highest;
use super::options::{Choice, cheapest, with_level};
use super::{NoPlacement, Placement, Step};

/// A placement found without looking ahead.
///
/// # Errors
/// When the graph breaks its rules, or an operation cannot run after what was done before it.
pub fn greedy(graph: &PlanningGraph) -> Result<Placement, NoPlacement> {
    graph.check()?;
    let order: Vec<usize> = (0..graph.operations.len()).collect();
    let lower_bound = Bounds::new(graph).all();
    let place = |steps: Vec<Step>| -> Result<Placement, NoPlacement> {
        let mut placement = Placement { order: order.clone(), steps, cost: 0, lower_bound: 0 };
        placement.cost = check(graph, &placement)?;
        placement.lower_bound = lower_bound.min(placement.cost);
        Ok(placement)
    };
    let late = (0..graph.spaces.len()).find_map(|space| as_late_as_possible(graph, space));
    place(match late {
        Some(steps) => steps,
        None => lazy(graph)?,
    })
}

/// Every operation at the lowest level its readers allow, all in one space; None where that takes more levels than there are.
fn as_late_as_possible(graph: &PlanningGraph, space: usize) -> Option<Vec<Step>> {
    let mut needed = vec![0u32; graph.operations.len()];
    let mut steps = vec![Step { mode: 0, level: 0, actions: vec![] }; needed.len()];
    for (i, op) in graph.operations.iter().enumerate().rev() {
        let inside = |m: &Mode| m.gives == space && m.reads.iter().all(|&s| s == space);
        let mode = op.modes.iter().position(inside)?;
        let level = op.modes[mode].least.max(needed[i] + op.modes[mode].depth);
        op.modes[mode].cost.get(level as usize)?;
        op.args.iter().for_each(|&a| needed[a] = needed[a].max(level));
        steps[i] = Step { mode, level, actions: vec![] };
    }
    Some(steps)
}

/// Every operation as soon as it comes, at the highest level; operands are bootstrapped and converted when it could not run
/// otherwise, or its result could not be bootstrapped.
fn lazy(graph: &PlanningGraph) -> Result<Vec<Step>, NoPlacement> {
    let readers = graph.readers();
    let mut sets = vec![vec![0u64; graph.spaces.len()]; graph.operations.len()];
    let mut steps = vec![Step { mode: 0, level: 0, actions: vec![] }; sets.len()];
    for (i, op) in graph.operations.iter().enumerate() {
        let run = |mode: usize| prepare(graph, i, &op.modes[mode], &sets, !readers[i].is_empty());
        let ways = (0..op.modes.len()).filter_map(|mode| run(mode).map(|way| (mode, way)));
        let Some((mode, way)) = ways.min_by_key(|(_, way)| way.cost) else {
            let available = op.args.iter().flat_map(|&a| &sets[a]).filter_map(|&s| highest(s)).max();
            let needed = op.modes.iter().map(|m| m.least).min().unwrap_or(0);
            return Err(NoPlacement::OutOfReach { operation: i, needed, available: available.unwrap_or(0) });
        };
        for (a, choice) in way.operands {
            sets[a] = choice.sets;
            steps[a].actions.extend(choice.actions);
        }
        let m = &op.modes[mode];
        sets[i][m.gives] = with_level(graph, m.gives, 0, way.level - m.depth);
        steps[i].mode = mode;
        steps[i].level = way.level;
    }
    Ok(steps)
}

/// A way to run an operation now.
struct Way {
    /// what its operands become
    operands: Vec<(usize, Choice)>,
    level: u32,
    cost: Cost,
}

/// How to run an operation in a mode.
fn prepare(graph: &PlanningGraph, i: usize, mode: &Mode, sets: &[Vec<u64>], is_read: bool) -> Option<Way> {
    let op = &graph.operations[i];
    let again = graph.spaces[mode.gives].bootstrap.as_ref().filter(|_| is_read).map_or(0, |b| b.from);
    let needed = mode.least.max(mode.depth + again);
    let mut way = Way { operands: vec![], level: mode.cost.len().checked_sub(1)? as u32, cost: 0 };
    for (&a, &space) in op.args.iter().zip(&mode.reads) {
        let done = way.operands.iter().rposition(|(b, _)| *b == a);
        let from = done.map_or(&sets[a], |d| &way.operands[d].1.sets);
        let choice = cheapest(graph, &graph.operations[a], from, space, needed)?;
        way.level = way.level.min(highest(choice.sets[space])?);
        way.cost += choice.cost;
        way.operands.push((a, choice));
    }
    way.cost += mode.cost.get(way.level as usize).filter(|_| way.level >= mode.least)?;
    Some(way)
}
