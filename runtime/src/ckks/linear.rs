//! Linear transforms of the slots by diagonals, baby-step giant-step, with double hoisting.
//!
//!   y = sum_g sigma_g( sum_b mask_(g,b) * sigma_b(x) )
//!
//! All baby rotations of x share one decomposition and stay modulo P Q, where they are multiplied by the masks and summed;
//! each giant step divides one component by P and switches once; one division by P q_l ends the transform.
//!
//! A mask that repeats itself is a polynomial in a power of X, and kept as an element of a smaller ring.
//!
//! Reference: Halevi, Shoup 2018/244 (baby-step giant-step, hoisting); Bossuat et al. 2020/1203, section 4.3.

use crate::ckks::{Ciphertext, Ckks, CkksError};
use crate::math::embedding::Embedding;
use crate::math::fft::Complex;
use crate::ring::{Galois, Poly, Ring, RingSpec};
use crate::rlwe::{Chain, EvaluationKeys, Extended, RlweError};
use std::collections::{BTreeMap, BTreeSet};

/// One giant step: the automorphism applied last, and for each baby step its automorphism and mask.
#[derive(Clone, Debug)]
pub struct GiantStep<M> {
    /// applied to the sum of the baby steps
    pub giant: Galois,
    /// automorphism of the input and the mask it is multiplied by
    pub babies: Vec<(Galois, M)>,
}

/// A linear transform encoded for one level.
#[derive(Clone, Debug)]
pub struct LinearTransform {
    level: usize,
    scale: f64,
    steps: Vec<GiantStep<Poly>>,
}

impl LinearTransform {
    /// Encodes the masks of a transform for inputs at `level` >= 1, at its canonical scale. Missing slots of masks are 0.
    ///
    /// # Errors
    /// When the level is not in the chain or a mask cannot be encoded.
    pub fn new(
        ckks: &Ckks,
        level: usize,
        steps: &[GiantStep<Vec<Complex>>],
    ) -> Result<LinearTransform, CkksError> {
        LinearTransform::with_period(ckks, level, ckks.scale(level)?, steps, ckks.slots())
    }

    /// As [`LinearTransform::new`] at any scale, for masks of which the first `period` slots are given and repeat; a divisor of the
    /// slots of a ring `Z[X]/(X^N + 1)`, or all slots.
    ///
    /// # Errors
    /// As [`LinearTransform::new`].
    pub fn with_period(
        ckks: &Ckks,
        level: usize,
        scale: f64,
        steps: &[GiantStep<Vec<Complex>>],
        period: usize,
    ) -> Result<LinearTransform, CkksError> {
        let chain = ckks.chain();
        chain.check_level(level)?;
        let small = (period < ckks.slots()).then(|| small_ring(chain, period)).transpose()?;
        let (ring, embedding) =
            small.as_ref().map_or((chain.extended_ring(), ckks.embedding()), |(ring, e)| (ring, e));
        let encode = |(sigma, mask): &(Galois, Vec<Complex>)| {
            let coefficients = embedding.encode(mask, scale)?;
            Ok((*sigma, ring.lift(&coefficients, chain.extended_limbs(level))))
        };
        let step = |step: &GiantStep<Vec<Complex>>| {
            let babies = step.babies.iter().map(encode).collect::<Result<_, CkksError>>()?;
            Ok(GiantStep { giant: step.giant, babies })
        };
        Ok(LinearTransform { level, scale, steps: steps.iter().map(step).collect::<Result<_, CkksError>>()? })
    }

    /// The transform y_j = sum_r diagonals\[r\]_j x_(j + r) along the rotations of X, with `baby_steps` >= 1 rotations
    /// by 0, ..., `baby_steps` - 1 per giant step. Zero diagonals are left out by leaving them out of the map.
    ///
    /// # Errors
    /// As [`LinearTransform::new`].
    pub fn from_diagonals(
        ckks: &Ckks,
        level: usize,
        diagonals: &BTreeMap<usize, Vec<Complex>>,
        baby_steps: usize,
    ) -> Result<LinearTransform, CkksError> {
        let (spec, baby_steps) = (ckks.chain().ring_spec(), baby_steps.max(1));
        let mut groups: BTreeMap<usize, Vec<(Galois, Vec<Complex>)>> = BTreeMap::new();
        for (&rotation, diagonal) in diagonals {
            let baby = rotation % baby_steps;
            let giant = rotation - baby;
            // sigma_giant(mask * sigma_baby(x)): the mask is the diagonal rotated back by the giant step
            let mask = rotate_slots(diagonal, spec.rows(), giant);
            groups.entry(giant).or_default().push((spec.rotation(baby as i64), mask));
        }
        let step = |(giant, babies)| GiantStep { giant: spec.rotation(giant as i64), babies };
        LinearTransform::new(ckks, level, &groups.into_iter().map(step).collect::<Vec<_>>())
    }

    /// Bytes of the masks.
    pub fn bytes(&self) -> usize {
        let masks = self.steps.iter().flat_map(|step| &step.babies);
        masks.map(|(_, mask)| 8 * mask.words().len()).sum()
    }

    /// Level of its inputs; outputs are one lower.
    pub fn level(&self) -> usize {
        self.level
    }

    /// The automorphisms that need keys at this level.
    pub fn automorphisms(&self) -> BTreeSet<Galois> {
        let used = self.steps.iter().flat_map(|s| s.babies.iter().map(|(b, _)| *b).chain([s.giant]));
        used.filter(|&g| g != Galois::default()).collect()
    }

    /// Applies the transform: one level. The chain may be one without some levels of that the transform was encoded for.
    ///
    /// # Errors
    /// When the input has another level or degree, or a key is missing.
    pub fn apply(&self, ckks: &Ckks, x: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext, CkksError> {
        let (chain, level) = (ckks.chain(), x.level());
        if chain.key_level(level) != self.level {
            return Err(RlweError::LevelMismatch { left: self.level, right: level }.into());
        }
        let digits = chain.decompose(x.rlwe().mask());
        let mut babies: BTreeMap<Galois, Extended> = BTreeMap::new();
        for &(baby, _) in self.steps.iter().flat_map(|step| &step.babies) {
            if let std::collections::btree_map::Entry::Vacant(entry) = babies.entry(baby) {
                entry.insert(chain.automorphism_extended(x.rlwe(), &digits, baby, keys)?);
            }
        }
        let mut sum = chain.extended_zero(level);
        for step in self.steps.iter().filter(|step| !step.babies.is_empty()) {
            let terms: Vec<(&Poly, &Extended)> =
                step.babies.iter().map(|(baby, mask)| (mask, &babies[baby])).collect();
            let mut inner = chain.extended_sum(&terms);
            if step.giant != Galois::default() {
                inner = chain.rotate_extended(&inner, step.giant, keys)?;
            }
            sum.add_assign(chain, &inner);
        }
        let scale = x.scale() * self.scale / chain.prime(level)? as f64;
        Ciphertext::new(chain.mod_down_rescale(&sum)?, scale)
    }
}

/// The ring of polynomials in a power of X with this many slots, modulo all primes of keys, and its embedding.
fn small_ring(chain: &Chain, slots: usize) -> Result<(Ring, Embedding), CkksError> {
    let spec = RingSpec::PowerOfTwo { log_n: slots.next_power_of_two().trailing_zeros() + 1 };
    let primes: Vec<u64> = chain.extended_ring().moduli().map(|m| m.value()).collect();
    Ok((Ring::new(spec, &primes).map_err(RlweError::from)?, Embedding::new(spec)))
}

/// New slot (l, j) is old slot (l, j - steps), in cycles of `rows` slots; missing slots are 0.
fn rotate_slots(slots: &[Complex], rows: usize, steps: usize) -> Vec<Complex> {
    let cycles = slots.len().div_ceil(rows);
    let mut rotated = vec![Complex::ZERO; cycles * rows];
    for (i, &z) in slots.iter().enumerate() {
        rotated[i / rows * rows + (i % rows + steps) % rows] = z;
    }
    rotated
}
