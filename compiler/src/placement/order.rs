//! An order of the operations that keeps few values alive: the number of states grows with them.

use super::graph::PlanningGraph;
use std::collections::BTreeSet;

/// The best of three orders: the one of the graph, the one that always takes the operation that frees most, and the one that
/// follows operands depth first.
pub fn order(graph: &PlanningGraph) -> Vec<usize> {
    let readers = graph.readers();
    let given: Vec<usize> = (0..graph.operations.len()).collect();
    let orders = [given, freeing_most(graph, &readers), depth_first(graph, &readers)];
    let best = orders.into_iter().min_by_key(|o| width(graph, &readers, o));
    best.unwrap_or_default()
}

/// Most values alive at once, then the sum over all moments.
fn width(graph: &PlanningGraph, readers: &[Vec<usize>], order: &[usize]) -> (usize, usize) {
    let mut left: Vec<usize> = readers.iter().map(Vec::len).collect();
    let (mut live, mut most, mut sum) = (0usize, 0, 0);
    for &i in order {
        live += usize::from(!readers[i].is_empty());
        for a in distinct(&graph.operations[i].args) {
            left[a] -= 1;
            live -= usize::from(left[a] == 0);
        }
        most = most.max(live);
        sum += live;
    }
    (most, sum)
}

/// Operands, each once.
pub fn distinct(args: &[usize]) -> Vec<usize> {
    args.iter().copied().collect::<BTreeSet<usize>>().into_iter().collect()
}

fn freeing_most(graph: &PlanningGraph, readers: &[Vec<usize>]) -> Vec<usize> {
    let args: Vec<Vec<usize>> = graph.operations.iter().map(|o| distinct(&o.args)).collect();
    let mut missing: Vec<usize> = args.iter().map(Vec::len).collect();
    let mut left: Vec<usize> = readers.iter().map(Vec::len).collect();
    // readers to come as a sum, so that the last one is known when one is left
    let mut sum: Vec<usize> = readers.iter().map(|r| r.iter().sum()).collect();
    let mut gain: Vec<i64> = readers.iter().map(|r| -i64::from(!r.is_empty())).collect();
    for r in readers.iter().filter(|r| r.len() == 1) {
        gain[r[0]] += 1;
    }
    let key = |gain: &[i64], i: usize| (-gain[i], i);
    let mut ready: BTreeSet<(i64, usize)> =
        (0..args.len()).filter(|&i| missing[i] == 0).map(|i| key(&gain, i)).collect();
    let mut order = Vec::with_capacity(args.len());
    while let Some((_, i)) = ready.pop_first() {
        order.push(i);
        for &a in &args[i] {
            left[a] -= 1;
            sum[a] -= i;
            if left[a] == 1 {
                let last = sum[a];
                let waiting = ready.remove(&key(&gain, last));
                gain[last] += 1;
                if waiting {
                    ready.insert(key(&gain, last));
                }
            }
        }
        for &r in &readers[i] {
            missing[r] -= 1;
            if missing[r] == 0 {
                ready.insert(key(&gain, r));
            }
        }
    }
    order
}

fn depth_first(graph: &PlanningGraph, readers: &[Vec<usize>]) -> Vec<usize> {
    let mut done = vec![false; readers.len()];
    let mut order = Vec::with_capacity(readers.len());
    for output in (0..readers.len()).filter(|&i| readers[i].is_empty()) {
        let mut stack = vec![(output, false)];
        while let Some((i, entered)) = stack.pop() {
            if done[i] {
                continue;
            }
            if entered {
                done[i] = true;
                order.push(i);
            } else {
                stack.push((i, true));
                stack.extend(graph.operations[i].args.iter().rev().map(|&a| (a, false)));
            }
        }
    }
    order
}
