//! A draft with levels: every operation where its placement says, copies at lower levels and bootstraps between them.
//!
//! Operations keep the order of the draft. A reader at a level below those at which its operand exists reads a copy made by
//! `Adjust`, once per level; a bootstrap reads a copy at the level it takes.

use super::draft::{Draft, DraftNode};
use super::levels::Placed;
use super::linear::Kernel;
use super::refresh::Refresh;
use crate::placement::Action;
use plan::bootstrap::SLOTS_TO_COEFFS;
use plan::plan::Optimality;
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
    /// how the cost of the placement compares
    pub optimality: Optimality,
}

/// Orders the operations of a placed draft. `line` gives the line of a node of the draft.
pub fn schedule(
    draft: Draft,
    placed: &Placed,
    refresh: Option<&Refresh>,
    line: impl Fn(&DraftNode) -> u32,
) -> Schedule {
    let (top, optimality) = (placed.levels.top, placed.optimality());
    let empty = Schedule { draft, nodes: vec![], of: vec![], outputs: vec![], top, optimality };
    let mut b = Builder { s: empty, clear: BTreeMap::new(), at: BTreeMap::new() };
    let mut operation = 0;
    for i in 0..b.s.draft.nodes.len() {
        let (node, line) = (b.s.draft.nodes[i].clone(), line(&b.s.draft.nodes[i]));
        if !node.is_cipher() {
            let args = node.args.iter().map(|a| b.clear[a]).collect();
            let id = b.push(i, node.op, args, 0, line);
            b.clear.insert(i, id);
            continue;
        }
        let step = &placed.placement.steps[operation];
        operation += 1;
        let args = node.args.iter().map(|&a| b.operand(a, step.level, line)).collect();
        let after = step.level - node.op.level_cost().unwrap_or(0);
        let own = b.push(i, node.op, args, after, line);
        b.at.insert((i, after), own);
        for action in &step.actions {
            let Action::Bootstrap { target, .. } = *action else { continue };
            let low = b.operand(i, SLOTS_TO_COEFFS, line);
            let log_bound = refresh.and_then(|r| r.log_bound(i)).unwrap_or(0);
            let raised = b.push(i, Op::Bootstrap { log_bound }, vec![low], target, line);
            b.at.insert((i, target), raised);
        }
    }
    b.finish()
}

struct Builder {
    s: Schedule,
    /// node of the plan of a clear node of the draft
    clear: BTreeMap<usize, NodeId>,
    /// node of the plan of an encrypted node of the draft at a level
    at: BTreeMap<(usize, u32), NodeId>,
}

impl Builder {
    fn push(&mut self, of: usize, op: Op, args: Vec<NodeId>, level: u32, line: u32) -> NodeId {
        let node = &self.s.draft.nodes[of];
        let form = match node.held {
            Some(transposed) => Form::Cipher { level: Level(level), transposed, noise: 0.0 },
            None => Form::Clear,
        };
        let (shape, placement) = (node.shape.clone(), node.placement.clone());
        self.s.nodes.push(Node { op, args, shape, form, placement, line });
        self.s.of.push(of);
        NodeId(self.s.nodes.len() as u32 - 1)
    }

    /// A node of the draft as an operand at a level; a placement reads nothing above what exists.
    fn operand(&mut self, node: usize, level: u32, line: u32) -> NodeId {
        if let Some(&id) = self.clear.get(&node) {
            return id;
        }
        let above = self.at.range((node, level)..=(node, u32::MAX)).next();
        match above.map(|(&(_, l), &id)| (l, id)) {
            Some((l, id)) if l > level => {
                let copy = self.push(node, Op::Adjust, vec![id], level, line);
                self.at.insert((node, level), copy);
                copy
            }
            Some((_, id)) => id,
            None => NodeId(u32::MAX),
        }
    }

    fn finish(mut self) -> Schedule {
        let first = |o: &usize| {
            let own = self.s.of.iter().position(|of| of == o).unwrap_or(0);
            NodeId(own as u32)
        };
        self.s.outputs = self.s.draft.outputs.iter().map(first).collect();
        self.s
    }
}

impl Schedule {
    /// The node of the draft whose value a node of the plan has.
    pub fn origin(&self, i: usize) -> &DraftNode {
        &self.draft.nodes[self.of[i]]
    }

    /// Level at which a node of the plan works: one above its own for a copy, else that of its first operand, or its own.
    pub fn working_level(&self, i: usize) -> Option<Level> {
        let node = &self.nodes[i];
        let operand = node.args.first().and_then(|a| self.nodes[a.index()].level());
        node.level().map(|own| match node.op {
            Op::Adjust => Level(own.0 + 1),
            _ => operand.unwrap_or(own),
        })
    }

    /// Ciphertexts of a node of the plan; 0 for clear ones.
    pub fn ciphertexts(&self, i: usize) -> usize {
        self.draft.ciphertexts(self.of[i])
    }

    /// Contraction of an encrypted product; 0 for other nodes.
    pub fn inner(&self, i: usize) -> usize {
        self.draft.inner(self.of[i])
    }

    /// How a linear map is evaluated; None for other operations.
    pub fn kernel(&self, i: usize) -> Option<&Kernel> {
        let moved = matches!(self.nodes[i].op, Op::Adjust | Op::Bootstrap { .. });
        self.origin(i).kernel.as_deref().filter(|_| !moved)
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
