//! Kernels for the vector units of the machine at hand.
//!
//! The portable kernels beside their callers are the reference: every kernel here takes and returns the same residues, bit
//! for bit. Which set is used is decided once, at the first use: what the processor has, unless the environment variable
//! FHEC_SIMD names another set (`portable` or `avx2`; one the machine lacks falls back to `portable`).
//!
//! This is the only folder with unsafe code, and it has three kinds of it: loads and stores of whole arrays, loads in the
//! innermost loop of the product of tiles, whose bounds are checked before the loop, and calls of functions that need a
//! feature, made only by those who hold the proof that the machine has it ([`Avx2`]). A hint to the caches ([`prefetch`])
//! comes besides.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(not(target_arch = "x86_64"))]
#[path = "absent.rs"]
mod avx2;
#[cfg(test)]
mod tests;

pub(crate) use avx2::{
    Avx2, COLUMNS, CyclicTables, NegacyclicTables, Products, TileProducts, sum_of_fractions,
};

use std::sync::LazyLock;

/// Words of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 8;

/// Asks for words that will soon be read or written; does nothing where there is no such hint.
#[inline]
pub(crate) fn prefetch(words: &[u64]) {
    #[cfg(target_arch = "x86_64")]
    for line in words.chunks(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint reads nothing, and every x86-64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = words;
}

/// A set of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simd {
    /// plain Rust, for any machine and any modulus
    Portable,
    /// AVX2 and FMA, four lanes
    Avx2(Avx2),
}

impl Simd {
    /// The set in use.
    pub(crate) fn active() -> Simd {
        static ACTIVE: LazyLock<Simd> = LazyLock::new(|| {
            let wanted = std::env::var("FHEC_SIMD").unwrap_or_default();
            if wanted == "portable" { Simd::Portable } else { Simd::best() }
        });
        *ACTIVE
    }

    /// The fastest set of this machine.
    pub(crate) fn best() -> Simd {
        Avx2::detect().map_or(Simd::Portable, Simd::Avx2)
    }
}
