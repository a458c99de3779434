//! Linear maps in GL, between several ciphertexts: rotations of lanes and rows by key switches, of columns by relabelling
//! diagonals, and masks by element-wise products.
//!
//! `y_o = sum_g rot_g( sum_i sum_b mask_(o,i,g,b) o rot_b(x_i) )`. Baby rotations that need a key are made a few at a time
//! with shared digits, their column rotations are read in place, and the sums of every output and giant step are
//! rescaled before they are rotated.

use super::backend::{Map, OpError};
use super::gl::{GlScheme, rotation};
use crate::gl::{GlCiphertext, GlPlaintext};
use crate::rlwe::{Ciphertext, RlweError};
use plan::Shift;
use plan::transform::Diagonal;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Rotations made at a time: bounds the memory.
const BATCH: usize = 4;

/// The rotations of one input, by the part of the baby step that needs a key.
type Babies<'m> = BTreeMap<Shift, Vec<Use<'m>>>;

struct Use<'m> {
    to: usize,
    giant: Shift,
    /// columns of the baby step
    columns: Shift,
    diagonal: &'m Diagonal,
}

/// Sums of every output and giant step, one RLWE ciphertext per diagonal.
type Sums = BTreeMap<(usize, Shift), Vec<Ciphertext>>;

/// Any map; one level with masks, none without.
pub(super) fn linear(scheme: &GlScheme, x: &[GlCiphertext], map: &Map) -> Result<Vec<GlCiphertext>, OpError> {
    let gl = &scheme.gl;
    let mut sums = Sums::new();
    for (from, ct) in x.iter().enumerate() {
        let babies: Vec<(Shift, Vec<Use>)> = babies_of(scheme, map, from).into_iter().collect();
        for batch in babies.chunks(BATCH) {
            let steps: Vec<_> = batch.iter().map(|(keyed, _)| rotation(*keyed)).collect();
            let turned = gl.rotate_many(ct, &steps, &scheme.keys)?;
            for ((_, uses), turned) in batch.iter().zip(&turned) {
                uses.iter().try_for_each(|u| add_term(scheme, &mut sums, turned, u, map.masks))?;
            }
        }
    }
    finish(scheme, x.first().ok_or(OpError::Empty)?, sums, map)
}

fn babies_of<'m>(scheme: &GlScheme, map: &'m Map, from: usize) -> Babies<'m> {
    let mut babies = Babies::new();
    for (&(to, input), block) in &map.transform.blocks {
        for (&shift, diagonal) in block.iter().filter(|_| input == from) {
            let (giant, baby) = scheme.geometry.split(shift, map.split);
            let columns = match baby {
                Shift::Grid { col, .. } => Shift::Grid { lane: 0, row: 0, col },
                slots => slots,
            };
            babies.entry(baby.keyed()).or_default().push(Use { to, giant, columns, diagonal });
        }
    }
    babies
}

/// Adds one masked or multiplied rotation to its sum.
fn add_term(
    scheme: &GlScheme,
    sums: &mut Sums,
    turned: &GlCiphertext,
    u: &Use,
    masks: bool,
) -> Result<(), OpError> {
    let (gl, chain) = (&scheme.gl, scheme.gl.chain());
    let factor = if masks {
        Factor::Mask(encode_mask(scheme, u, turned.level())?)
    } else {
        Factor::integer(u.diagonal)
    };
    let shift = rotation(u.columns);
    let sum = sums
        .entry((u.to, u.giant))
        .or_insert_with(|| turned.diagonals().par_iter().map(|f| chain.mul_integer(f, 0)).collect());
    sum.par_iter_mut().enumerate().try_for_each(|(k, sum)| -> Result<(), RlweError> {
        let source = &turned.diagonals()[shift.source(k, gl.side())];
        match &factor {
            Factor::Integer(c) => chain.add_assign(sum, &chain.mul_integer(source, *c)),
            Factor::Mask(mask) => {
                for (part, x) in sum.parts_mut().iter_mut().zip(source.parts()) {
                    chain.ring().mul_add_assign(part, x, &mask.diagonals()[k]);
                }
                Ok(())
            }
        }
    })?;
    Ok(())
}

enum Factor {
    Integer(i64),
    Mask(GlPlaintext),
}

impl Factor {
    fn integer(diagonal: &Diagonal) -> Factor {
        Factor::Integer(diagonal.first().map_or(0, |d| d.1 as i64))
    }
}

/// The mask of a diagonal, turned back by its giant step.
fn encode_mask(scheme: &GlScheme, u: &Use, level: usize) -> Result<GlPlaintext, OpError> {
    let mut slots = vec![0.0; scheme.geometry.slots()];
    for &(slot, factor) in u.diagonal {
        slots[scheme.geometry.source(slot as usize, u.giant)] = factor;
    }
    scheme.encode_factor(&slots, level)
}

/// Rescales the sums of a map with masks, rotates them by their giant steps and adds them up.
fn finish(
    scheme: &GlScheme,
    like: &GlCiphertext,
    sums: Sums,
    map: &Map,
) -> Result<Vec<GlCiphertext>, OpError> {
    let (gl, chain) = (&scheme.gl, scheme.gl.chain());
    let level = like.level() - usize::from(map.masks && like.level() > 0);
    let scale = gl.scale(level)?;
    let mut outputs: Vec<Option<GlCiphertext>> = vec![None; map.transform.outputs];
    for ((to, giant), diagonals) in sums {
        let diagonals = if map.masks {
            diagonals.par_iter().map(|f| chain.rescale(f)).collect::<Result<_, _>>()?
        } else {
            diagonals
        };
        let inner = GlCiphertext::new(diagonals, scale)?;
        let turned =
            if giant.is_identity() { inner } else { gl.rotate(&inner, rotation(giant), &scheme.keys)? };
        outputs[to] = Some(match outputs[to].take() {
            Some(sum) => gl.add(&sum, &turned)?,
            None => turned,
        });
    }
    let zero = || -> Result<GlCiphertext, OpError> {
        let low = gl.mul_integer(&gl.drop_to_level(like, level)?, 0);
        Ok(GlCiphertext::new(low.diagonals().to_vec(), scale)?)
    };
    outputs.into_iter().map(|output| output.map_or_else(zero, Ok)).collect()
}
