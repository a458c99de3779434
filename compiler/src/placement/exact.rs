//! The live-set dynamic programme: the least cost, proved, or a bound on what is left to gain.
//!
//! Operations are visited in an order that keeps few values alive. A front holds the states after an operation ([`super::front`]);
//! the next front follows from the states, the operation's modes, its levels, and what its result can become
//! ([`super::options`]). Costs are whole numbers and fronts are kept relative to their cheapest state, so a front that was seen
//! before, before an operation of the same kind, is followed by the front that followed then: the layers of a network and the
//! iterations of a loop cost nothing once their fronts repeat, which is the periodic regime of the least mean cycle.
//!
//! A front that grows beyond [`WIDE`] is cut by the cost of a placement that is known, since no state may cost more with the
//! least price of what follows ([`super::bound`]). The first known one is greedy; where fronts are wide, a search with narrow
//! fronts finds a second one. Beyond [`CAP`] the cheapest states go on, and the cheapest of the others, with the least price of
//! what follows, bounds what the result misses.

use super::bound::{Bounds, Rest};
use super::front::{Candidates, Point, State};
use super::graph::{Cost, Mode, Operation, PlanningGraph};
use super::options::{Choice, options, with_level};
use super::order::order;
use super::visit::{Readers, Visit, keep, reach, read};
use super::{NoPlacement, Placement, Step, greedy};
use std::collections::HashMap;
use std::rc::Rc;

/// States of a front from which on it is cut by the cost of a known placement, and that the first search keeps.
const WIDE: usize = 64;
/// States of a front that go on.
const CAP: usize = 2048;
/// Comparisons of states from which on fronts are kept narrow, so that placing takes no more than seconds.
const MAX_WORK: usize = 1 << 25;

/// The cheapest placement.
///
/// # Errors
/// When the graph breaks its rules, or some operation can run in no way.
pub fn exact(graph: &PlanningGraph) -> Result<Placement, NoPlacement> {
    graph.check()?;
    let first = place(graph, greedy(graph).ok(), WIDE);
    match first {
        Ok(p) if !p.proved() => place(graph, Some(p), CAP),
        Err(_) => place(graph, None, CAP),
        proved => proved,
    }
}

/// The cheapest placement among those with fronts of at most `cap` states and one that is known.
fn place(graph: &PlanningGraph, known: Option<Placement>, cap: usize) -> Result<Placement, NoPlacement> {
    let limit = known.as_ref().map_or(Cost::MAX, |p| p.cost);
    let mut search = Search::new(graph, limit, cap);
    let found = search.run();
    let bounded = |p: Placement| {
        let least = p.cost.min(search.missed.max(search.bounds.all()));
        let before = known.as_ref().map_or(0, |k| k.lower_bound);
        Placement { lower_bound: least.max(before.min(p.cost)), ..p }
    };
    match (found, &known) {
        (found, None) => found.map(bounded),
        (Ok(p), Some(known)) if p.cost <= known.cost => Ok(bounded(p)),
        (_, Some(known)) => Ok(bounded(known.clone())),
    }
}

/// What was decided on the way to a state.
#[derive(Clone, Debug)]
struct Decision {
    /// state of the front before
    before: usize,
    mode: usize,
    level: u32,
    choice: Rc<Choice>,
}

/// States with costs relative to the cheapest one.
type Front = Rc<Vec<Point<Decision>>>;

/// Weights of the live values, states and costs of a front.
type FrontKey = (Vec<u64>, Vec<(State, Cost)>);

/// What is needed to bound the price of what follows a state.
#[derive(Clone, Copy)]
struct Ahead {
    /// cost so far and least price of the operations that are not on the deepest path
    sure: Cost,
    rest: Rest,
    /// position of the value that the path goes on with
    on_path: Option<usize>,
}

/// A front after an operation.
#[derive(Clone)]
struct Reached {
    /// equal for equal fronts of values of equal weights
    number: usize,
    front: Front,
    /// cost of its cheapest state over that of the front before
    added: Cost,
}

struct Search<'g> {
    graph: &'g PlanningGraph,
    bounds: Bounds,
    /// no placement of interest costs more
    limit: Cost,
    cap: usize,
    /// least cost among the states that were let go, with what must follow
    missed: Cost,
    /// comparisons of states so far
    work: usize,
    choices: HashMap<(u64, bool, usize, u32), Vec<Rc<Choice>>>,
    kinds: HashMap<(u64, bool, &'g [Mode]), usize>,
    numbers: HashMap<FrontKey, usize>,
    known: HashMap<(usize, Visit), Reached>,
}

impl<'g> Search<'g> {
    fn new(graph: &'g PlanningGraph, limit: Cost, cap: usize) -> Search<'g> {
        Search {
            graph,
            bounds: Bounds::new(graph),
            limit,
            cap,
            missed: Cost::MAX,
            work: 0,
            choices: HashMap::new(),
            kinds: HashMap::new(),
            numbers: HashMap::new(),
            known: HashMap::new(),
        }
    }

    fn run(&mut self) -> Result<Placement, NoPlacement> {
        let order = order(self.graph);
        let rests = self.bounds.rests(&order);
        let mut readers = Readers::new(self.graph, &order, &self.bounds);
        let mut live: Vec<usize> = Vec::new();
        let nothing = Rc::new(Choice { sets: vec![], cost: 0, actions: vec![] });
        let start = Decision { before: 0, mode: 0, level: 0, choice: nothing };
        let mut at = self.reached(&live, vec![Point { state: [].into(), cost: 0, from: start }]);
        let mut fronts: Vec<Front> = Vec::with_capacity(order.len());
        let mut cost: Cost = 0;
        for (&i, &rest) in order.iter().zip(&rests[1..]) {
            readers.pass(i);
            live.push(i);
            let visit = self.visit(i, &live, &readers);
            let after: Vec<usize> =
                live.iter().zip(&visit.stays).filter(|(_, s)| s.is_some()).map(|(&v, _)| v).collect();
            let key = (at.number, visit);
            at = match self.known.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let ahead = self.ahead(cost, rest, &after);
                    let (points, complete) = self.expand(&at.front, &key.1, &live, ahead);
                    if points.is_empty() {
                        return Err(self.out_of_reach(i, &at.front, &key.1));
                    }
                    let next = self.reached(&after, points);
                    if complete {
                        self.known.insert(key, next.clone());
                    }
                    next
                }
            };
            cost += at.added;
            live = after;
            fronts.push(at.front.clone());
        }
        Ok(Placement { steps: steps(&order, &fronts), order, cost, lower_bound: 0 })
    }

    /// A front relative to its cheapest state, with its number.
    fn reached(&mut self, live: &[usize], mut points: Vec<Point<Decision>>) -> Reached {
        let added = points.first().map_or(0, |p| p.cost);
        points.iter_mut().for_each(|p| p.cost -= added);
        let weights = live.iter().map(|&v| self.graph.operations[v].weight).collect();
        let states = points.iter().map(|p| (p.state.clone(), p.cost)).collect();
        let next = self.numbers.len();
        let number = *self.numbers.entry((weights, states)).or_insert(next);
        Reached { number, front: Rc::new(points), added }
    }

    /// What the visit of an operation is; `live` are the values alive before it and its own.
    fn visit(&mut self, i: usize, live: &[usize], readers: &Readers) -> Visit {
        let op = &self.graph.operations[i];
        let next = self.kinds.len();
        let kind = *self.kinds.entry((op.weight, op.refreshable, op.modes.as_slice())).or_insert(next);
        let position = |a: &usize| live.iter().position(|v| v == a);
        let args = op.args.iter().filter_map(position).collect();
        Visit { kind, args, stays: live.iter().map(|&v| readers.wish(v)).collect() }
    }

    /// Where the least price of what follows stands in the states after a visit.
    fn ahead(&self, cost: Cost, rest: Rest, after: &[usize]) -> Ahead {
        let on_path = self.bounds.value(rest).and_then(|value| after.iter().position(|&v| v == value));
        Ahead { sure: cost.saturating_add(rest.others), rest, on_path }
    }

    /// The states after an operation, cheapest first, and whether they are all that matter whatever the cost so far.
    fn expand(
        &mut self,
        front: &Front,
        visit: &Visit,
        live: &[usize],
        ahead: Ahead,
    ) -> (Vec<Point<Decision>>, bool) {
        let i = live[live.len() - 1];
        let op = &self.graph.operations[i];
        let is_read = visit.stays[live.len() - 1].is_some();
        let mut found = Candidates::new();
        for (before, point) in front.iter().enumerate() {
            for (mode, m) in op.modes.iter().enumerate() {
                for level in self.levels(&point.state, visit, m) {
                    let (state, price) = read(self.graph, &point.state, visit, live, m, level);
                    let cost = point.cost + price + m.cost[level as usize];
                    for choice in self.choices(op, m.gives, level - m.depth, is_read) {
                        let Some(next) = keep(&state, &choice.sets, visit) else { continue };
                        let decision = || Decision { before, mode, level, choice: choice.clone() };
                        found.add(&next, cost + choice.cost, decision);
                    }
                }
            }
        }
        let bounds = &self.bounds;
        let least = |p: &Point<Decision>| {
            let levels = ahead.on_path.map(|slot| p.state[slot]);
            ahead.sure.saturating_add(p.cost).saturating_add(bounds.to_go(ahead.rest, levels))
        };
        let mut complete = true;
        if found.len() > WIDE && self.limit < Cost::MAX {
            complete &= found.retain(|p| least(p) <= self.limit);
        }
        let mut missed = self.missed;
        let dropped = |p: &Point<Decision>| {
            complete = false;
            missed = missed.min(least(p));
        };
        let cap = if self.work > MAX_WORK { WIDE.min(self.cap) } else { self.cap };
        let count = found.len();
        let points = found.front(self.graph, &self.slots(live, visit), cap, dropped);
        self.missed = missed;
        self.work += count * points.len();
        (points, complete)
    }

    /// Space and weight of every entry of the states after a visit.
    fn slots(&self, live: &[usize], visit: &Visit) -> Vec<(usize, u64)> {
        let stay = live.iter().zip(&visit.stays).filter(|(_, s)| s.is_some());
        let weights = stay.map(|(&v, _)| self.graph.operations[v].weight);
        let spaces = self.graph.spaces.len();
        weights.flat_map(|w| (0..spaces).map(move |s| (s, w))).collect()
    }

    /// Levels at which an operation can run from a state, without those that no lower price speaks for.
    fn levels(&self, state: &[u64], visit: &Visit, mode: &Mode) -> Vec<u32> {
        let Some(top) = reach(state, visit, mode, self.graph.spaces.len()) else { return vec![] };
        let free = |s: usize| self.graph.spaces[s].drop.is_empty();
        let free = free(mode.gives) && mode.reads.iter().all(|&s| free(s));
        let cost = |l: u32| mode.cost[l as usize];
        (mode.least..=top).filter(|&l| !free || l == top || cost(l) < cost(l + 1)).collect()
    }

    /// What the result of an operation can become; nothing is done with a result that nobody reads.
    fn choices(&mut self, op: &Operation, space: usize, level: u32, is_read: bool) -> Vec<Rc<Choice>> {
        let graph = self.graph;
        let mut sets = vec![0; graph.spaces.len()];
        sets[space] = with_level(graph, space, 0, level);
        if !is_read {
            return vec![Rc::new(Choice { sets, cost: 0, actions: vec![] })];
        }
        let make = || options(graph, op, &sets).into_iter().map(Rc::new).collect();
        self.choices.entry((op.weight, op.refreshable, space, level)).or_insert_with(make).clone()
    }

    fn out_of_reach(&self, operation: usize, front: &Front, visit: &Visit) -> NoPlacement {
        let op = &self.graph.operations[operation];
        let spaces = self.graph.spaces.len();
        let levels =
            op.modes.iter().flat_map(|m| front.iter().filter_map(|p| reach(&p.state, visit, m, spaces)));
        let available = levels.max().unwrap_or(0);
        NoPlacement::OutOfReach { operation, needed: self.bounds.run[operation], available }
    }
}

/// The decisions that led to the cheapest of the last states, by operation.
fn steps(order: &[usize], fronts: &[Front]) -> Vec<Step> {
    let mut steps = vec![Step { mode: 0, level: 0, actions: vec![] }; order.len()];
    let mut state = 0;
    for (&i, front) in order.iter().zip(fronts).rev() {
        let d = &front[state].from;
        steps[i] = Step { mode: d.mode, level: d.level, actions: d.choice.actions.clone() };
        state = d.before;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::check;

    /// x <- x^2 + x, with bootstraps from level 1 to `top`.
    fn chain(steps: usize, top: u32) -> PlanningGraph {
        let mut g = PlanningGraph::single(1, top, 10);
        let mode = |args: usize, depth: u32, cost: Cost| {
            let cost = vec![cost; top as usize + 1];
            vec![Mode { reads: vec![0; args], gives: 0, depth, least: depth, cost }]
        };
        let mut x = g.add(&[], 1, mode(0, 0, 0));
        for _ in 0..steps {
            let square = g.add(&[x], 1, mode(1, 1, 1));
            x = g.add(&[square, x], 1, mode(2, 0, 0));
        }
        g
    }

    fn visits(graph: &PlanningGraph) -> usize {
        let mut search = Search::new(graph, Cost::MAX, CAP);
        search.run().unwrap();
        search.known.len()
    }

    #[test]
    fn iterations_are_planned_once() {
        assert_eq!(visits(&chain(100, 6)), visits(&chain(1000, 6)));
    }

    #[test]
    fn a_cap_gives_a_bound() {
        let graph = chain(30, 4);
        let proved = exact(&graph).unwrap();
        assert!(proved.proved());
        let cut = place(&graph, greedy(&graph).ok(), 1).unwrap();
        assert!(cut.lower_bound <= proved.cost && proved.cost <= cut.cost);
        assert_eq!(check(&graph, &cut), Ok(cut.cost));
    }
}
