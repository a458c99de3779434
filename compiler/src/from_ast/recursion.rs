//! Functions that call themselves: they are inlined, so this cannot end.

use crate::diag::{Code, Diagnostic, Diagnostics, Label};
use crate::from_ast::names::FnKey;
use crate::source::Sources;
use grammar::Span;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A function that calls itself.
pub const RECURSION: Code = Code("E0306");

/// The calls in the body of each function, with their places.
pub(super) type Calls = BTreeMap<FnKey, Vec<(FnKey, Span)>>;

/// Every function that can reach itself, once per circle.
pub(super) fn report(sources: &Sources, calls: &Calls) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut done: BTreeSet<FnKey> = BTreeSet::new();
    for &start in calls.keys() {
        if done.contains(&start) {
            continue;
        }
        if let Some(circle) = circle(calls, start) {
            done.extend(circle.iter().map(|c| c.0));
            let name = |k: FnKey| sources.snippet(k.0, k.1);
            let through: Vec<String> = circle[1..].iter().map(|c| format!("`{}`", name(c.0))).collect();
            let via =
                if through.is_empty() { String::new() } else { format!(" through {}", through.join(", ")) };
            let message = format!("function `{}` calls itself{via}", name(start));
            let label = Label::new(start.0, start.1, "functions are inlined, so they cannot be recursive");
            let mut d = Diagnostic::error(RECURSION, message, label);
            for (caller, call) in circle {
                d = d.with_label(Label::new(caller.0, call, "called here"));
            }
            found.push(d.with_help("a repetition with a fixed number of steps is a `for` loop"));
        }
    }
    found
}

/// The shortest way from a function to itself: callers with the places of the calls.
fn circle(calls: &Calls, start: FnKey) -> Option<Vec<(FnKey, Span)>> {
    let mut from: BTreeMap<FnKey, (FnKey, Span)> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(caller) = queue.pop_front() {
        for &(target, span) in calls.get(&caller).into_iter().flatten() {
            if target == start {
                let mut way = vec![(caller, span)];
                while way[0].0 != start {
                    way.insert(0, from[&way[0].0]);
                }
                return Some(way);
            }
            if let Entry::Vacant(entry) = from.entry(target) {
                entry.insert((caller, span));
                queue.push_back(target);
            }
        }
    }
    None
}
