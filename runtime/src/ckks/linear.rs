//! Linear transforms of the slots by diagonals, baby-step giant-step, with double hoisting.
//!
//!   y = sum_g sigma_g( sum_b mask_(g,b) * sigma_b(x) )
//!
//! All baby rotations of x share one decomposition and stay modulo P Q, where they are multiplied by the masks and summed;
//! each giant step divides by P once and switches once; one division by P q_l ends the transform.
//!
//! Reference: Halevi, Shoup 2018/244 (baby-step giant-step, hoisting); Bossuat et al. 2020/1203, section 4.3.

use crate::ckks::{Ciphertext, Ckks, CkksError};
use crate::math::fft::Complex;
use crate::ring::{Galois, Poly};
use crate::rlwe::{EvaluationKeys, Extended, RlweError};
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
    /// Encodes the masks of a transform for inputs at `level` >= 1, at its canonical scale.
    ///
    /// # Errors
    /// When the level is not in the chain or a mask cannot be encoded.
    pub fn new(
        ckks: &Ckks,
        level: usize,
        steps: &[GiantStep<Vec<Complex>>],
    ) -> Result<LinearTransform, CkksError> {
        let (chain, scale) = (ckks.chain(), ckks.scale(level)?);
        let encode = |(sigma, mask): &(Galois, Vec<Complex>)| {
            let coefficients = ckks.embedding().encode(mask, scale)?;
            Ok((*sigma, chain.extended_ring().lift(&coefficients, chain.extended_limbs(level))))
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

    /// Level of its inputs; outputs are one lower.
    pub fn level(&self) -> usize {
        self.level
    }

    /// The automorphisms that need keys at this level.
    pub fn automorphisms(&self) -> BTreeSet<Galois> {
        let used = self.steps.iter().flat_map(|s| s.babies.iter().map(|(b, _)| *b).chain([s.giant]));
        used.filter(|&g| g != Galois::default()).collect()
    }

    /// Applies the transform: one level.
    ///
    /// # Errors
    /// When the input has another level or degree, or a key is missing.
    pub fn apply(&self, ckks: &Ckks, x: &Ciphertext, keys: &EvaluationKeys) -> Result<Ciphertext, CkksError> {
        let chain = ckks.chain();
        if x.level() != self.level {
            return Err(RlweError::LevelMismatch { left: self.level, right: x.level() }.into());
        }
        let digits = chain.decompose(x.rlwe().mask());
        let mut babies: BTreeMap<Galois, Extended> = BTreeMap::new();
        for &(baby, _) in self.steps.iter().flat_map(|step| &step.babies) {
            if let std::collections::btree_map::Entry::Vacant(entry) = babies.entry(baby) {
                entry.insert(chain.automorphism_extended(x.rlwe(), &digits, baby, keys)?);
            }
        }
        let mut sum = chain.extended_zero(self.level);
        for step in &self.steps {
            let mut inner = chain.extended_zero(self.level);
            for (baby, mask) in &step.babies {
                inner.mul_add_assign(chain, mask, &babies[baby]);
            }
            if step.giant != Galois::default() {
                let inner_ct = chain.mod_down(&inner);
                let digits = chain.decompose(inner_ct.mask());
                inner = chain.automorphism_extended(&inner_ct, &digits, step.giant, keys)?;
            }
            sum.add_assign(chain, &inner);
        }
        let scale = x.scale() * self.scale / chain.prime(self.level)? as f64;
        Ciphertext::new(chain.mod_down_rescale(&sum)?, scale)
    }
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
