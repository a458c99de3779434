//! A draft with levels: every operation at the lowest level its readers allow, and `Adjust` where operands meet.
//!
//! Levels run from the outputs backwards: an output ends at level 0, an operand of an operation that costs `c` levels and
//! gives level `l` is needed at `l + c`, and a value is computed at the highest level some reader needs. Readers below that
//! level read an adjusted copy, made once per level.

use super::draft::{Draft, DraftNode};
use crate::analysis::level;
use plan::{Bytes, Form, Level, Node, NodeId, Op};
use std::collections::BTreeMap;

/// A draft in execution order with levels.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// the draft
    pub draft: Draft,
    /// nodes of the plan; noise is 0 so far
    pub nodes: Vec<Node>,
    /// for every node of the plan the node of the draft whose value it has
    pub of: Vec<usize>,
    /// node of the plan of every output
    pub outputs: Vec<NodeId>,
    /// highest level
    pub top: u32,
}

/// Assigns levels and orders the operations. `line` gives the line of a node of the draft.
pub fn schedule(draft: Draft, line: impl Fn(&DraftNode) -> u32) -> Schedule {
    let levels = level::assign(&draft.nodes);
    let mut s = Schedule { draft, nodes: vec![], of: vec![], outputs: vec![], top: 0 };
    let mut placed: Vec<NodeId> = Vec::with_capacity(s.draft.nodes.len());
    let mut adjusted: BTreeMap<(usize, u32), NodeId> = BTreeMap::new();
    for i in 0..s.draft.nodes.len() {
        let (node, line) = (s.draft.nodes[i].clone(), line(&s.draft.nodes[i]));
        let needed = levels[i] + node.op.level_cost().unwrap_or(0);
        let mut args = Vec::with_capacity(node.args.len());
        for &a in &node.args {
            let lower = s.draft.nodes[a].is_cipher() && levels[a] > needed;
            args.push(if lower {
                *adjusted
                    .entry((a, needed))
                    .or_insert_with(|| s.push(a, Op::Adjust, vec![placed[a]], needed, line))
            } else {
                placed[a]
            });
        }
        placed.push(s.push(i, node.op, args, levels[i], line));
    }
    s.outputs = s.draft.outputs.iter().map(|&o| placed[o]).collect();
    s.top =
        s.draft.nodes.iter().zip(&levels).filter(|(n, _)| n.is_cipher()).map(|(_, &l)| l).max().unwrap_or(0);
    s
}

impl Schedule {
    fn push(&mut self, of: usize, op: Op, args: Vec<NodeId>, level: u32, line: u32) -> NodeId {
        let node = &self.draft.nodes[of];
        let form = match node.held {
            Some(transposed) => Form::Cipher { level: Level(level), transposed, noise: 0.0 },
            None => Form::Clear,
        };
        let (shape, placement) = (node.shape.clone(), node.placement.clone());
        self.nodes.push(Node { op, args, shape, form, placement, line });
        self.of.push(of);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// The node of the draft whose value a node of the plan has.
    pub fn origin(&self, i: usize) -> &DraftNode {
        &self.draft.nodes[self.of[i]]
    }

    /// Level at which a node of the plan works: that of its first operand, or its own.
    pub fn working_level(&self, i: usize) -> Option<Level> {
        let node = &self.nodes[i];
        let operand = node.args.first().and_then(|a| self.nodes[a.index()].level());
        node.level().map(|own| operand.unwrap_or(own))
    }

    /// Ciphertexts of a node of the plan; 0 for clear ones.
    pub fn ciphertexts(&self, i: usize) -> usize {
        let node = &self.nodes[i];
        node.level().map_or(0, |_| self.draft.geometry.ciphertexts(&node.layout()))
    }

    /// Contraction of an encrypted product; 0 for other nodes.
    pub fn inner(&self, i: usize) -> usize {
        match self.nodes[i].op {
            Op::MaskedMatMul | Op::MatMul => {
                let a = &self.nodes[self.nodes[i].args[0].index()];
                a.shape.last().copied().unwrap_or(1)
            }
            _ => 0,
        }
    }

    /// For every level the largest absolute value held there; 0 where there is none.
    pub fn largest_by_level(&self) -> Vec<f64> {
        let mut largest = vec![0.0_f64; self.top as usize + 1];
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(level) = node.level() {
                let at = &mut largest[level.0 as usize];
                *at = at.max(self.origin(i).max_abs());
            }
        }
        largest
    }

    /// Bytes of a value at a level: two components of one word per coefficient and limb.
    pub fn value_bytes(&self, i: usize, degree: usize, slices: usize) -> Bytes {
        let node = &self.nodes[i];
        let words = match node.level() {
            Some(level) => 2 * level.limbs() * degree * slices * self.ciphertexts(i),
            None => node.shape.iter().product(),
        };
        Bytes(8 * words as u64)
    }
}
