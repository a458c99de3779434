//! Groups of log2 R stages of a transform on R vectors, forwards (decimation in time) and transposed.
//!
//! `w[1]` is the constant of the first stage, `w[2]` and `w[3]` those of the second, and so on: node i has the children
//! 2i and 2i + 1.
//!
//! *Ranges.* A product is within 3q/4 (see [`Field`]) of zero; the operand that is not multiplied grows by as much in every
//! stage forwards, and doubles in every stage of the transpose. With WIDE = false, q < 2^47, and in no transform of at most
//! 2^19 rows does a value forwards leave 16q < 2^51. In the transpose output 0 of a group is reduced and the others were
//! products at most two stages ago (R <= 8), so that all are below 4 (3q/4) = 3q and the sums of the next group below
//! 24q < 2^52. With WIDE = true, q < 2^51: forwards the operand without a product is reduced in every stage, so that values
//! stay below q/2 + 3q/4; in the transpose all sums are reduced, so that values stay below q and differences below 2q < 2^52.

use super::field::{Factor, Field};
use std::arch::x86_64::*;

/// Moduli below 2^47 need few reductions.
pub(super) const NARROW_BITS: u32 = 47;

/// (x, y) -> (x + w y, x - w y), log2 R stages.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn forward<const R: usize, const WIDE: bool>(f: Field, x: &mut [__m256d; R], w: &[Factor; R]) {
    forward_stage::<R, WIDE>(f, x, w, R / 2);
    if R >= 4 {
        forward_stage::<R, WIDE>(f, x, w, R / 4);
    }
    if R >= 8 {
        forward_stage::<R, WIDE>(f, x, w, R / 8);
    }
}

/// (x, y) -> (x + y, w (x - y)), log2 R stages in the opposite order.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn transposed<const R: usize, const WIDE: bool>(f: Field, x: &mut [__m256d; R], w: &[Factor; R]) {
    if R >= 8 {
        transposed_stage::<R, WIDE>(f, x, w, R / 8);
    }
    if R >= 4 {
        transposed_stage::<R, WIDE>(f, x, w, R / 4);
    }
    transposed_stage::<R, WIDE>(f, x, w, R / 2);
    if !WIDE {
        x[0] = f.reduce(x[0]);
    }
}

/// The stage whose butterflies join places `half` apart.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn forward_stage<const R: usize, const WIDE: bool>(
    f: Field,
    x: &mut [__m256d; R],
    w: &[Factor; R],
    half: usize,
) {
    for b in 0..R / 2 {
        let (node, i) = (R / 2 / half + b / half, b + b / half * half);
        let u = if WIDE { f.reduce(x[i]) } else { x[i] };
        let v = f.scale(x[i + half], w[node]);
        (x[i], x[i + half]) = (_mm256_add_pd(u, v), _mm256_sub_pd(u, v));
    }
}

/// As [`forward_stage`].
#[target_feature(enable = "avx2,fma")]
#[inline]
fn transposed_stage<const R: usize, const WIDE: bool>(
    f: Field,
    x: &mut [__m256d; R],
    w: &[Factor; R],
    half: usize,
) {
    for b in 0..R / 2 {
        let (node, i) = (R / 2 / half + b / half, b + b / half * half);
        let (u, v) = (x[i], x[i + half]);
        let sum = _mm256_add_pd(u, v);
        x[i] = if WIDE { f.reduce(sum) } else { sum };
        x[i + half] = f.scale(_mm256_sub_pd(u, v), w[node]);
    }
}
