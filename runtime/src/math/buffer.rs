//! Memory of polynomials, used again: what one operation gives back the next one takes, without the page faults of fresh
//! memory.
//!
//! Buffers of all threads come from one pool, which keeps at most [`KEPT_WORDS`]. A buffer may hold what its last owner left
//! in it; owners of secrets wipe them before they let go, as [`Zeroizing`](zeroize::Zeroizing) does.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroize;

/// Smaller buffers are left to the allocator.
const MIN_WORDS: usize = 1 << 11;
/// Words kept for later, 512 MiB.
const KEPT_WORDS: usize = 1 << 26;

static POOL: Mutex<Pool> = Mutex::new(Pool { free: BTreeMap::new(), words: 0 });

/// Buffers that nobody uses, by their size in words.
struct Pool {
    free: BTreeMap<usize, Vec<Vec<u64>>>,
    words: usize,
}

impl Pool {
    /// A buffer of at least `len` words, and not much more.
    fn take(&mut self, len: usize) -> Option<Vec<u64>> {
        let (&size, buffers) = self.free.range_mut(len..=len + len / 4).next()?;
        let words = buffers.pop()?;
        if buffers.is_empty() {
            self.free.remove(&size);
        }
        self.words -= size;
        Some(words)
    }

    fn give(&mut self, words: Vec<u64>) {
        if self.words + words.len() <= KEPT_WORDS {
            self.words += words.len();
            self.free.entry(words.len()).or_default().push(words);
        }
    }
}

/// A slice of words on the heap.
#[derive(Default)]
pub(crate) struct Buffer {
    /// at least `len` of them
    words: Vec<u64>,
    len: usize,
}

impl Buffer {
    /// `len` words of any value.
    pub(crate) fn dirty(len: usize) -> Buffer {
        let pooled = (len >= MIN_WORDS).then(|| lock(|pool| pool.take(len))).flatten();
        Buffer { words: pooled.unwrap_or_else(|| vec![0; len]), len }
    }

    /// `len` zeros.
    pub(crate) fn zeroed(len: usize) -> Buffer {
        match (len >= MIN_WORDS).then(|| lock(|pool| pool.take(len))).flatten() {
            Some(mut words) => {
                words[..len].fill(0);
                Buffer { words, len }
            }
            None => Buffer { words: vec![0; len], len },
        }
    }

    /// Forgets all but the first `len` words.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

fn lock<T>(f: impl FnOnce(&mut Pool) -> T) -> T {
    f(&mut POOL.lock().unwrap_or_else(PoisonError::into_inner))
}

impl From<&[u64]> for Buffer {
    fn from(words: &[u64]) -> Buffer {
        let mut copy = Buffer::dirty(words.len());
        copy.copy_from_slice(words);
        copy
    }
}

impl From<Vec<u64>> for Buffer {
    fn from(words: Vec<u64>) -> Buffer {
        Buffer { len: words.len(), words }
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Buffer {
        Buffer::from(&**self)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let words = std::mem::take(&mut self.words);
        if words.len() >= MIN_WORDS {
            lock(|pool| pool.give(words));
        }
    }
}

impl Deref for Buffer {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.words[..self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.words[..self.len]
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Buffer) -> bool {
        **self == **other
    }
}

impl Eq for Buffer {}

/// Wipes every word, those beyond the length included.
impl Zeroize for Buffer {
    fn zeroize(&mut self) {
        self.words.as_mut_slice().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_fits_and_forgets() {
        let mut pool = Pool { free: BTreeMap::new(), words: 0 };
        for size in [1000, 1200, 1300] {
            pool.give(vec![0; size]);
        }
        assert_eq!(pool.take(1001).map(|b| b.len()), Some(1200));
        assert_eq!(pool.take(1001), None);
        assert_eq!(pool.take(1000).map(|b| b.len()), Some(1000));
        assert_eq!(pool.words, 1300);
        pool.give(vec![0; KEPT_WORDS]);
        assert_eq!(pool.words, 1300);
    }

    #[test]
    fn buffers_are_slices() {
        let mut a = Buffer::zeroed(MIN_WORDS);
        a.fill(7);
        let mut b = a.clone();
        assert!(a == b);
        b.truncate(10);
        assert_eq!(*b, [7; 10]);
        b.zeroize();
        assert_eq!(b.words, [0; MIN_WORDS]);
        drop(a);
        assert_eq!(*Buffer::zeroed(MIN_WORDS), [0; MIN_WORDS]);
    }
}
