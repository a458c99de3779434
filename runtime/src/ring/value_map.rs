//! The action of an automorphism on values: a permutation, the same for all primes.
//!
//! In bit-reversed order the place 8b + r, r < 8, holds the value at exponent e_0 + brv(r) N/4, with e_0 = 2 brv(b) + 1 below
//! N/4. Times k these exponents agree below N/4 again: eight neighbours come from eight neighbours.

use crate::math::ntt::bit_reverse;
use crate::ring::{Galois, RingSpec};

/// The action of one automorphism on values, the same for all primes: a permutation.
#[derive(Clone, Debug)]
pub(crate) enum ValueMap {
    /// new values 8b, ..., 8b + 7 are the old values of another such block: its number, and the number of the pattern by
    /// which they are permuted
    Blocks { sources: Vec<(u32, u8)>, patterns: [[u8; 8]; 8] },
    /// values ordered `[l][s][j]` with j < `rows`: shifts of l and j, exchange of the signs s
    Shifts { galois: Galois, rows: usize },
}

impl ValueMap {
    pub(crate) fn new(spec: RingSpec, galois: Galois) -> ValueMap {
        match spec {
            RingSpec::PowerOfTwo { log_n } => {
                let (step, quarter) = (spec.x_exponent(galois), 1 << (log_n - 2));
                let source = |b: usize| {
                    let exponent = (2 * bit_reverse(b, log_n - 3) + 1) * step % (8 * quarter);
                    let block = bit_reverse(exponent % quarter / 2, log_n - 3);
                    (block as u32, (exponent / quarter) as u8)
                };
                let place =
                    |first: usize, r: usize| bit_reverse((first + bit_reverse(r, 3) * step) % 8, 3) as u8;
                let pattern = |first| std::array::from_fn(|r| place(first, r));
                let patterns = std::array::from_fn(pattern);
                ValueMap::Blocks { sources: (0..1 << (log_n - 3)).map(source).collect(), patterns }
            }
            RingSpec::Gl { n, .. } => ValueMap::Shifts { galois, rows: n },
        }
    }

    /// Writes the image of `values` to `image`, one limb each.
    pub(crate) fn apply(&self, values: &[u64], image: &mut [u64]) {
        match self {
            ValueMap::Blocks { sources, patterns } => {
                let (old, new) = (values.as_chunks::<8>().0, image.as_chunks_mut::<8>().0);
                for (new, &(block, pattern)) in new.iter_mut().zip(sources) {
                    let (old, pattern) = (&old[block as usize], &patterns[usize::from(pattern)]);
                    for (new, &place) in new.iter_mut().zip(pattern) {
                        *new = old[usize::from(place % 8)];
                    }
                }
            }
            ValueMap::Shifts { galois, rows } => {
                let block = 2 * rows;
                let w_len = values.len() / block;
                for (l, new) in image.chunks_exact_mut(block).enumerate() {
                    let old = &values[(l + galois.w) % w_len * block..][..block];
                    for (s, new) in new.chunks_exact_mut(*rows).enumerate() {
                        let old = &old[(s ^ usize::from(galois.conj)) * rows..][..*rows];
                        let (tail, head) = old.split_at(galois.row % rows);
                        let (first, last) = new.split_at_mut(head.len());
                        first.copy_from_slice(head);
                        last.copy_from_slice(tail);
                    }
                }
            }
        }
    }
}
