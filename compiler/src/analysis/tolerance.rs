//! The error that a function may bring in where the program does not say: a share of the precision of the outputs it reaches.
//!
//! The functions that reach an output share a part of its precision equally, divided by how much the output magnifies an error
//! at the function ([`crate::analysis::sensitivity`]). Noise needs the rest.

use crate::analysis::range::Ranges;
use crate::analysis::sensitivity::sensitivities;
use crate::ir::{Graph, NodeId, Op};

/// Part of an output's precision for all approximations together: as a rule, and where that saves a level.
const RULE: f64 = 1.0 / 4.0;
const RELAXED: f64 = 1.0 / 2.0;
/// Limits of the share of one function.
const LARGEST: f64 = 1.0 / 8.0;
const SMALLEST: f64 = 1.0 / 64.0;
/// Magnification is mostly overestimated: beyond this it is not believed.
const MAGNIFIED: f64 = 16.0;
/// Precision where no output is reached.
const UNREAD: f64 = 1e-3;

/// What a function may miss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// as a rule
    pub rule: f64,
    /// where that saves a level; at least `rule`
    pub relaxed: f64,
    /// smallest precision of the outputs that the function reaches
    pub precision: f64,
}

/// The tolerance of every node, as if it were a function; used for functions of encrypted values.
pub fn tolerances(g: &Graph, ranges: &Ranges) -> Vec<Tolerance> {
    let weights = sensitivities(g, ranges);
    let reached: Vec<Vec<bool>> = g.outputs.iter().map(|o| ancestors(g, o.node)).collect();
    let counts: Vec<usize> =
        reached.iter().map(|r| g.ids().filter(|&id| r[id.index()] && is_free(g, id)).count()).collect();
    let of = |id: NodeId| {
        let outputs = (0..g.outputs.len()).filter(|&o| reached[o][id.index()]);
        let precision = outputs.clone().map(|o| g.outputs[o].precision).fold(f64::INFINITY, f64::min);
        let precision = if precision.is_finite() { precision } else { UNREAD };
        let functions = outputs.map(|o| counts[o]).max().unwrap_or(1).max(1) as f64;
        let magnified = (weights[id.index()] * precision).min(MAGNIFIED);
        let unit = if magnified > 0.0 { precision / magnified } else { precision };
        let rule = unit * (RULE / functions).clamp(SMALLEST, LARGEST);
        Tolerance { rule, relaxed: rule.max(unit * RELAXED / functions), precision }
    };
    g.ids().map(of).collect()
}

/// Whether a node is a function of an encrypted value whose error the program leaves open.
fn is_free(g: &Graph, id: NodeId) -> bool {
    matches!(&g.node(id).op, Op::Function { wish, .. } if wish.within.is_none() && wish.degree.is_none())
        && g.is_cipher(id)
}

/// The nodes that a node depends on, and itself.
fn ancestors(g: &Graph, of: NodeId) -> Vec<bool> {
    let mut needed = vec![false; g.len()];
    needed[of.index()] = true;
    for id in g.ids().rev().filter(|id| id.index() <= of.index()) {
        if needed[id.index()] {
            g.args(id).iter().for_each(|a| needed[a.index()] = true);
        }
    }
    needed
}
