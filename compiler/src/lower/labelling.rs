//! The cheapest labels of a graph whose values are held one of two ways.
//!
//! A value has a label, and for the cost of a flip it can be had the other way too, once for all readers. Readers want the label
//! of their own result, a fixed one, or, for maps, either at a cost that depends on both labels. A map that gives its result
//! the other way for nothing needs no flip.
//!
//! The graph is walked in order with a table of states: for every value that still has readers, its label and whether it is
//! had both ways. A state that has no more than another one, and costs no less, is dropped. The result is exact unless the
//! table outgrows `MAX_STATES`; then the cheapest states go on, and the result is said not to be proved.

use std::collections::{BTreeMap, BTreeSet};

/// Most states kept after a node.
const MAX_STATES: usize = 1 << 10;

/// Costs of a map by label of operand and result; infinite where there is no such map.
pub type Costs = [[f64; 2]; 2];

/// How a node reads an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// labelled as its own result
    Own,
    /// with this label
    Fixed(bool),
    /// whatever is cheaper: the operand of a map
    Any(Costs),
}

/// A value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// operands, earlier values
    pub args: Vec<(usize, Wish)>,
    /// cost of having it both ways
    pub flip: f64,
    /// always plain
    pub plain: bool,
}

/// Labels of all values.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    /// by value: the label
    pub of: Vec<bool>,
    /// by value that is a map: the label its operand is read with
    pub reads: Vec<bool>,
    /// by value that is a map: the label its operand is read with to make the value again the other way
    pub again: Vec<Option<bool>>,
    /// cost of all flips and maps
    pub cost: f64,
    /// whether no labels cost less
    pub proved: bool,
}

/// Label of a live value, and whether it is had both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    label: bool,
    both: bool,
}

/// What was decided for a value, and in which state before.
#[derive(Clone, Copy, Debug)]
struct Step {
    before: usize,
    label: bool,
    read: bool,
    again: Option<bool>,
}

/// States after a node: what live values are, cost, and how it came about.
type Table = Vec<(Vec<Held>, f64, Step)>;

/// Chooses labels of least cost.
pub fn label(items: &[Item]) -> Labels {
    let mut last: Vec<usize> = (0..items.len()).collect();
    items.iter().enumerate().for_each(|(i, item)| item.args.iter().for_each(|a| last[a.0] = i));
    let mut live: Vec<usize> = Vec::new();
    let start = Step { before: 0, label: false, read: false, again: None };
    let mut tables: Vec<Vec<Step>> = Vec::with_capacity(items.len());
    let (mut table, mut proved): (Table, bool) = (vec![(vec![], 0.0, start)], true);
    for i in 0..items.len() {
        let walk = Walk { items, live: &live, value: i };
        let mut best: BTreeMap<Vec<Held>, (f64, Step)> = BTreeMap::new();
        let stays: Vec<usize> = (0..live.len()).filter(|&k| last[live[k]] > i).collect();
        for (before, (held, cost, _)) in table.iter().enumerate() {
            for option in walk.options(held) {
                let mut kept: Vec<Held> = stays.iter().map(|&k| option.held[k]).collect();
                if last[i] > i {
                    kept.push(Held { label: option.step.label, both: option.step.again.is_some() });
                }
                let (cost, step) = (cost + option.cost, Step { before, ..option.step });
                let entry = best.entry(kept).or_insert((f64::INFINITY, step));
                if cost < entry.0 {
                    *entry = (cost, step);
                }
            }
        }
        table = best.into_iter().map(|(held, (cost, step))| (held, cost, step)).collect();
        table.retain(|s| s.1 < f64::INFINITY);
        proved &= reduce(&mut table);
        tables.push(table.iter().map(|s| s.2).collect());
        live = stays.iter().map(|&k| live[k]).chain((last[i] > i).then_some(i)).collect();
    }
    let end = (0..table.len()).min_by(|&a, &b| table[a].1.total_cmp(&table[b].1));
    match end {
        Some(end) => traced(&tables, end, table[end].1, proved),
        None => {
            let plain = vec![false; items.len()];
            let again = vec![None; items.len()];
            Labels { reads: plain.clone(), of: plain, again, cost: f64::INFINITY, proved }
        }
    }
}

fn traced(tables: &[Vec<Step>], end: usize, cost: f64, proved: bool) -> Labels {
    let mut steps = Vec::with_capacity(tables.len());
    let mut at = end;
    for table in tables.iter().rev() {
        steps.push(table[at]);
        at = table[at].before;
    }
    steps.reverse();
    Labels {
        of: steps.iter().map(|s| s.label).collect(),
        reads: steps.iter().map(|s| s.read).collect(),
        again: steps.iter().map(|s| s.again).collect(),
        cost,
        proved,
    }
}

/// Drops states that another one dominates, then the dearest beyond the limit; whether none of those had to go.
fn reduce(table: &mut Table) -> bool {
    let has = |a: &[Held], b: &[Held]| a.iter().zip(b).all(|(a, b)| a.label == b.label && a.both >= b.both);
    table.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut kept: Table = Vec::with_capacity(table.len());
    for state in table.drain(..) {
        if !kept.iter().any(|better| has(&better.0, &state.0)) {
            kept.push(state);
        }
    }
    let within = kept.len() <= MAX_STATES;
    kept.truncate(MAX_STATES);
    *table = kept;
    within
}

/// One value, about to be computed.
struct Walk<'a> {
    items: &'a [Item],
    live: &'a [usize],
    value: usize,
}

/// A way to compute a value: what live values are then, its cost, and what it decides.
struct Choice {
    held: Vec<Held>,
    cost: f64,
    step: Step,
}

impl Walk<'_> {
    fn options(&self, held: &[Held]) -> Vec<Choice> {
        let item = &self.items[self.value];
        let labels = if item.plain { &[false][..] } else { &[false, true] };
        let mut all = Vec::new();
        for &label in labels {
            match item.args[..] {
                [(arg, Wish::Any(costs))] => self.map_options(held, label, arg, costs, &mut all),
                _ => all.extend(self.option(held, label)),
            }
        }
        all
    }

    fn place(&self, arg: usize) -> usize {
        self.live.iter().position(|&l| l == arg).unwrap_or(0)
    }

    /// The operand had with a label: the cost of it.
    fn get(&self, held: &mut [Held], arg: usize, label: bool) -> f64 {
        let state = &mut held[self.place(arg)];
        if state.both || state.label == label {
            return 0.0;
        }
        state.both = true;
        self.items[arg].flip
    }

    /// A value that reads its operands as they have to be.
    fn option(&self, held: &[Held], label: bool) -> Option<Choice> {
        let mut held = held.to_vec();
        let mut cost = 0.0;
        for &(arg, wish) in &self.items[self.value].args {
            let wanted = match wish {
                Wish::Own => label,
                Wish::Fixed(wanted) => wanted,
                Wish::Any(_) => return None,
            };
            cost += self.get(&mut held, arg, wanted);
        }
        let step = Step { before: 0, label, read: false, again: None };
        Some(Choice { held, cost, step })
    }

    /// A map: its operand read either way, and had both ways early if that makes the result both ways for nothing.
    fn map_options(&self, held: &[Held], label: bool, arg: usize, costs: Costs, all: &mut Vec<Choice>) {
        for read in [false, true] {
            let mut direct = held.to_vec();
            let cost = self.get(&mut direct, arg, read) + costs[usize::from(read)][usize::from(label)];
            for other in [false, true] {
                let free = costs[usize::from(other)][usize::from(!label)] == 0.0;
                if free {
                    let mut held = direct.clone();
                    let cost = cost + self.get(&mut held, arg, other);
                    all.push(Choice {
                        held,
                        cost,
                        step: Step { before: 0, label, read, again: Some(other) },
                    });
                }
            }
            all.push(Choice { held: direct, cost, step: Step { before: 0, label, read, again: None } });
        }
    }
}

/// The cost of labels and reads: what [`label`] makes small.
pub fn cost(items: &[Item], labels: &[bool], reads: &[bool], again: &[Option<bool>]) -> f64 {
    let mut flipped: BTreeSet<usize> = BTreeSet::new();
    let mut cost = 0.0;
    for (i, item) in items.iter().enumerate() {
        if item.plain && labels[i] {
            return f64::INFINITY;
        }
        for &(arg, wish) in &item.args {
            let mut read = |wanted: bool| {
                if labels[arg] != wanted && again[arg].is_none() {
                    flipped.insert(arg);
                }
            };
            match wish {
                Wish::Own => read(labels[i]),
                Wish::Fixed(wanted) => read(wanted),
                Wish::Any(costs) => {
                    read(reads[i]);
                    cost += costs[usize::from(reads[i])][usize::from(labels[i])];
                    if let Some(other) = again[i] {
                        read(other);
                        cost += costs[usize::from(other)][usize::from(!labels[i])];
                    }
                }
            }
        }
    }
    cost + flipped.into_iter().map(|i| items[i].flip).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wish() -> impl Strategy<Value = Wish> {
        let costs = prop_oneof![Just(0.0), Just(1.0), Just(3.0), Just(f64::INFINITY)];
        let any =
            [costs.clone(), costs.clone(), costs.clone()].prop_map(|[a, b, c]| Wish::Any([[a, b], [c, 2.0]]));
        prop_oneof![Just(Wish::Own), any_bool().prop_map(Wish::Fixed), any]
    }

    fn any_bool() -> impl Strategy<Value = bool> {
        prop_oneof![Just(false), Just(true)]
    }

    /// A random graph: every value reads one or two earlier ones.
    fn graph() -> impl Strategy<Value = Vec<Item>> {
        let node = (wish(), wish(), 0usize..100, 0usize..100, 1u32..5);
        proptest::collection::vec(node, 2..7).prop_map(|nodes| {
            let mut items: Vec<Item> = Vec::new();
            for (i, (first, second, a, b, flip)) in nodes.into_iter().enumerate() {
                let args = match (i, first, second) {
                    (0, ..) => vec![],
                    (_, Wish::Any(_), _) => vec![(a % i, first)],
                    (_, _, Wish::Any(_)) => vec![(a % i, first)],
                    _ => vec![(a % i, first), (b % i, second)],
                };
                items.push(Item { args, flip: f64::from(flip), plain: flip == 4 && i % 3 == 1 });
            }
            items
        })
    }

    /// The least cost over all labels and reads.
    fn brute_force(items: &[Item]) -> f64 {
        let n = items.len();
        let (mut least, maps) = (f64::INFINITY, |i: usize| matches!(items[i].args[..], [(_, Wish::Any(_))]));
        for code in 0..(1usize << n) {
            let labels: Vec<bool> = (0..n).map(|i| code >> i & 1 == 1).collect();
            for choice in 0..6usize.pow((0..n).filter(|&i| maps(i)).count() as u32) {
                let (mut reads, mut again, mut rest) = (vec![false; n], vec![None; n], choice);
                let mut free = true;
                for i in (0..n).filter(|&i| maps(i)) {
                    reads[i] = rest % 2 == 1;
                    again[i] = [None, Some(false), Some(true)][rest / 2 % 3];
                    if let (Some(other), [(_, Wish::Any(costs))]) = (again[i], &items[i].args[..]) {
                        free &= costs[usize::from(other)][usize::from(!labels[i])] == 0.0;
                    }
                    rest /= 6;
                }
                if free {
                    least = least.min(cost(items, &labels, &reads, &again));
                }
            }
        }
        least
    }

    proptest! {
        #[test]
        fn labels_cost_as_little_as_the_best_of_all(items in graph()) {
            let found = label(&items);
            prop_assert!(found.proved);
            let least = brute_force(&items);
            prop_assert_eq!(found.cost, least, "{:?}", items);
            if least < f64::INFINITY {
                prop_assert_eq!(cost(&items, &found.of, &found.reads, &found.again), least);
            }
        }
    }

    #[test]
    fn one_flip_serves_all_readers() {
        let input = Item { flip: 5.0, ..Item::default() };
        let reader = |wish| Item { args: vec![(0, wish)], flip: 5.0, plain: false };
        let items = [
            input,
            reader(Wish::Fixed(true)),
            reader(Wish::Fixed(false)),
            reader(Wish::Fixed(true)),
            reader(Wish::Fixed(false)),
        ];
        assert_eq!(label(&items).cost, 5.0);
    }
}
