//! Linear maps in CKKS, between several ciphertexts.
//!
//! `y_o = sum_g rot_g( sum_i sum_b mask_(o,i,g,b) o rot_b(x_i) )`: the baby rotations of an input share one decomposition
//! and stay modulo P Q, the masked sums of every output and giant step are collected there over all inputs, and each is
//! divided and switched once; one division by P q_l ends each output.
//!
//! Reference: Halevi, Shoup 2018/244 (baby-step giant-step, hoisting); Bossuat et al. 2020/1203, section 4.3.

use super::backend::{Map, OpError};
use super::ckks::CkksScheme;
use crate::ckks::{Ciphertext, CkksError};
use crate::math::fft::Complex;
use crate::ring::{Galois, Poly};
use crate::rlwe::Extended;
use plan::Shift;
use plan::transform::Diagonal;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The rotations of one input, by baby step: output, giant step, and the diagonal.
type Babies<'m> = BTreeMap<Shift, Vec<(usize, Shift, &'m Diagonal)>>;

/// A map with masks: one level.
pub(super) fn masked(scheme: &CkksScheme, x: &[Ciphertext], map: &Map) -> Result<Vec<Ciphertext>, OpError> {
    let (ckks, chain) = (&scheme.ckks, scheme.ckks.chain());
    let level = x.first().ok_or(OpError::Empty)?.level();
    let mut sums: BTreeMap<(usize, Shift), Extended> = BTreeMap::new();
    for (from, ct) in x.iter().enumerate() {
        let babies = babies_of(scheme, map, from);
        let digits = chain.decompose(ct.rlwe().mask());
        let terms = babies.par_iter().map(|(&baby, uses)| {
            let turned =
                chain.automorphism_extended(ct.rlwe(), &digits, scheme.galois(baby), &scheme.keys)?;
            let mut terms = BTreeMap::new();
            for &(to, giant, diagonal) in uses {
                let mask = encode_mask(scheme, diagonal, giant, level)?;
                let term = terms.entry((to, giant)).or_insert_with(|| chain.extended_zero(level));
                term.mul_add_assign(chain, &mask, &turned);
            }
            Ok(terms)
        });
        for term in terms.collect::<Result<Vec<_>, OpError>>()?.into_iter().flatten() {
            match sums.entry(term.0) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(term.1);
                }
                std::collections::btree_map::Entry::Occupied(mut place) => {
                    place.get_mut().add_assign(chain, &term.1);
                }
            }
        }
    }
    let scale = ckks.scale(level)?;
    let prime = chain.prime(level)? as f64;
    let output = |to: usize| {
        let mut total = chain.extended_zero(level);
        for (&(_, giant), inner) in sums.range((to, Shift::Slots(0))..(to + 1, Shift::Slots(0))) {
            if giant.is_identity() {
                total.add_assign(chain, inner);
                continue;
            }
            let inner = chain.mod_down(inner);
            let digits = chain.decompose(inner.mask());
            let sigma = scheme.galois(giant);
            total.add_assign(chain, &chain.automorphism_extended(&inner, &digits, sigma, &scheme.keys)?);
        }
        Ok(Ciphertext::new(chain.mod_down_rescale(&total)?, scale * scale / prime)?)
    };
    (0..map.transform.outputs).into_par_iter().map(output).collect()
}

fn babies_of<'m>(scheme: &CkksScheme, map: &'m Map, from: usize) -> Babies<'m> {
    let mut babies = Babies::new();
    for (&(to, input), block) in &map.transform.blocks {
        for (&shift, diagonal) in block.iter().filter(|_| input == from) {
            let (giant, baby) = scheme.geometry.split(shift, map.split);
            babies.entry(baby).or_default().push((to, giant, diagonal));
        }
    }
    babies
}

/// The mask of a diagonal, turned back by its giant step, in the ring of keys.
fn encode_mask(
    scheme: &CkksScheme,
    diagonal: &Diagonal,
    giant: Shift,
    level: usize,
) -> Result<Poly, OpError> {
    let (ckks, chain) = (&scheme.ckks, scheme.ckks.chain());
    let mut slots = vec![Complex::ZERO; ckks.slots()];
    for &(slot, factor) in diagonal {
        slots[scheme.geometry.source(slot as usize, giant)] = factor.into();
    }
    let coefficients = ckks.embedding().encode(&slots, ckks.scale(level)?).map_err(CkksError::from)?;
    Ok(chain.extended_ring().lift(&coefficients, chain.extended_limbs(level)))
}

/// A map without masks: integer multiples of rotations, no level.
pub(super) fn unmasked(scheme: &CkksScheme, x: &[Ciphertext], map: &Map) -> Result<Vec<Ciphertext>, OpError> {
    let ckks = &scheme.ckks;
    let zero = ckks.mul_integer(x.first().ok_or(OpError::Empty)?, 0);
    let mut sums: BTreeMap<(usize, Shift), Ciphertext> = BTreeMap::new();
    for (from, ct) in x.iter().enumerate() {
        let babies = babies_of(scheme, map, from);
        let steps: BTreeSet<Galois> = babies.keys().map(|&baby| scheme.galois(baby)).collect();
        let steps: Vec<Galois> = steps.into_iter().collect();
        let turned = ckks.rotate_hoisted(ct, &steps, &scheme.keys)?;
        let turned: BTreeMap<Galois, Ciphertext> = steps.into_iter().zip(turned).collect();
        for (baby, uses) in babies {
            for (to, giant, diagonal) in uses {
                let factor = diagonal.first().map_or(0, |d| d.1 as i64);
                let term = ckks.mul_integer(&turned[&scheme.galois(baby)], factor);
                let sum = sums.entry((to, giant)).or_insert_with(|| zero.clone());
                ckks.add_assign(sum, &term)?;
            }
        }
    }
    let mut outputs = vec![zero; map.transform.outputs];
    for ((to, giant), inner) in sums {
        ckks.add_assign(&mut outputs[to], &ckks.rotate(&inner, scheme.galois(giant), &scheme.keys)?)?;
    }
    Ok(outputs)
}
