//! The passes that only make a program smaller, repeated until nothing changes.

use crate::ir::Graph;
use crate::passes::fold_constants::fold_constants;
use crate::passes::merge_common::merge_common;
use crate::passes::remove_dead::remove_dead;
use crate::passes::simplify::simplify;

/// Rounds after which cleaning stops in any case; two are enough for most programs.
const ROUNDS: usize = 8;

/// Folds, simplifies, merges and removes until the program stays the same.
pub fn clean(g: &Graph) -> Graph {
    let mut now = remove_dead(g);
    for _ in 0..ROUNDS {
        let next = remove_dead(&merge_common(&simplify(&fold_constants(&now))));
        if next == now {
            break;
        }
        now = next;
    }
    now
}
