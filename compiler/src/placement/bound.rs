//! What operations cost at least, whatever happens around them.

use super::graph::{Cost, PlanningGraph};

/// Bounds of every operation.
pub struct Bounds {
    /// least level at which its operands are read
    pub run: Vec<u32>,
    /// least price
    pub cost: Vec<Cost>,
}

impl Bounds {
    /// Without bootstraps an operation runs no lower than its readers make it; with them, no lower than its own depth.
    pub fn new(graph: &PlanningGraph) -> Bounds {
        let count = graph.operations.len();
        let (mut run, mut cost, mut out) = (vec![0; count], vec![0; count], vec![0; count]);
        for (i, op) in graph.operations.iter().enumerate().rev() {
            let levels = op.modes.iter().map(|m| m.least.max(out[i] + m.depth));
            run[i] = levels.clone().min().unwrap_or(0);
            let prices = op.modes.iter().zip(levels).filter_map(|(m, l)| m.cost.get(l as usize));
            cost[i] = prices.copied().min().unwrap_or(0);
            if !graph.bootstraps() {
                op.args.iter().for_each(|&a| out[a] = out[a].max(run[i]));
            }
        }
        Bounds { run, cost }
    }

    /// By position in an order: the least price of everything from there on.
    pub fn from(&self, order: &[usize]) -> Vec<Cost> {
        let mut rest = vec![0; order.len() + 1];
        for (at, &i) in order.iter().enumerate().rev() {
            rest[at] = rest[at + 1] + self.cost[i];
        }
        rest
    }
}
