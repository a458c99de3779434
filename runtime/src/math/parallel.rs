//! Loops over limbs, on all threads when that pays.

use rayon::prelude::*;

/// Below this many words a loop stays on its thread.
const PARALLEL_WORDS: usize = 1 << 14;

/// Calls `f` with the number of every limb of `degree` words and the limb of each of several polynomials.
pub(crate) fn for_each_limb<const C: usize>(
    polys: [&mut [u64]; C],
    degree: usize,
    f: impl Fn(usize, [&mut [u64]; C]) + Sync,
) {
    let words: usize = polys.iter().map(|poly| poly.len()).sum();
    let count = polys.iter().map(|poly| poly.len() / degree).min().unwrap_or(0);
    let mut chunks = polys.map(|poly| poly.chunks_exact_mut(degree));
    let limbs = (0..count).map(|_| chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default()));
    if words < PARALLEL_WORDS || rayon::current_num_threads() == 1 {
        limbs.enumerate().for_each(|(i, limbs)| f(i, limbs));
    } else {
        limbs.collect::<Vec<_>>().into_par_iter().enumerate().for_each(|(i, limbs)| f(i, limbs));
    }
}

/// The images of some items, in their order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if rayon::current_num_threads() == 1 {
        items.iter().map(&f).collect()
    } else {
        items.par_iter().map(&f).collect()
    }
}
