//! The action of an automorphism on values: a permutation, the same for all primes.

use crate::math::ntt::bit_reverse;
use crate::ring::{Galois, RingSpec};

/// The action of one automorphism on values, the same for all primes: a permutation.
#[derive(Clone, Debug)]
pub(crate) enum ValueMap {
    /// new value i is old value `table[i]`
    Table(Vec<u32>),
    /// values ordered `[l][s][j]` with j < `rows`: shifts of l and j, exchange of the signs s
    Shifts { galois: Galois, rows: usize },
}

impl ValueMap {
    pub(crate) fn new(spec: RingSpec, galois: Galois) -> ValueMap {
        match spec {
            RingSpec::PowerOfTwo { log_n } => {
                let step = spec.x_exponent(galois);
                let place = |i: usize| {
                    let exponent = (2 * bit_reverse(i, log_n) + 1) * step % (2 << log_n);
                    bit_reverse(exponent / 2, log_n) as u32
                };
                ValueMap::Table((0..1 << log_n).map(place).collect())
            }
            RingSpec::Gl { n, .. } => ValueMap::Shifts { galois, rows: n },
        }
    }

    /// Writes the image of `values` to `image`, one limb each.
    pub(crate) fn apply(&self, values: &[u64], image: &mut [u64]) {
        match self {
            ValueMap::Table(table) => {
                for (new, &place) in image.iter_mut().zip(table) {
                    *new = values[place as usize];
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
