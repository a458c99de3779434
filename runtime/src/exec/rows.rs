//! Products of whole ciphertexts in GL: encrypted products of tiled matrices, products with clear matrices, and linear maps
//! that treat all rows of a tile alike. Products that are added are added before their one rescale and key switch, and each
//! sum is rotated once.

use super::backend::{Backend, Map, OpError};
use plan::product::{ClearProduct, clear_slots};
use plan::{Geometry, Product, RowMap, Shift, Split, Tensor};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Evaluates a product of encrypted matrices; 1 level. `turned` exchanges the operands of every product, which gives the
/// result held transposed.
///
/// # Errors
/// As the operations of the backend.
pub fn product<B: Backend>(
    backend: &B,
    (a, b): (&[B::Ciphertext], &[B::Ciphertext]),
    product: &Product,
    turned: bool,
) -> Result<Vec<B::Ciphertext>, OpError> {
    let one = |pairs: &Vec<(usize, usize)>| {
        let term = |&(x, y): &(usize, usize)| if turned { (&b[y], &a[x]) } else { (&a[x], &b[y]) };
        let terms: Vec<_> = pairs.iter().map(term).collect();
        let sum = backend.matmul(&terms)?;
        let mut all = sum.clone();
        for (shift, doubles) in product.rotations() {
            let moved = rotate(backend, all.clone(), shift)?;
            all = backend.add(&moved, if doubles { &all } else { &sum })?;
        }
        Ok(all)
    };
    product.terms.par_iter().map(one).collect()
}

/// A ciphertext of an operand, and the tile of the clear matrix that each of its lanes meets.
type Tiles<'a> = (usize, &'a Vec<Option<usize>>);

/// Evaluates a product with clear matrices, the tiles of `weight`; 1 level, no key switch.
///
/// # Errors
/// As the operations of the backend.
pub fn clear_product<B: Backend>(
    backend: &B,
    x: &[B::Ciphertext],
    weight: &Tensor,
    product: &ClearProduct,
    geometry: &Geometry,
) -> Result<Vec<B::Ciphertext>, OpError> {
    let mut terms: BTreeMap<usize, Vec<Tiles>> = BTreeMap::new();
    product.iter().for_each(|(&(to, from), tiles)| terms.entry(to).or_default().push((from, tiles)));
    let outputs: Vec<_> = terms.into_values().collect();
    let one = |terms: &Vec<Tiles>| {
        let encode = |&(from, tiles): &Tiles| (&x[from], clear_slots(weight, tiles, geometry));
        backend.matmul_clear(&terms.iter().map(encode).collect::<Vec<_>>())
    };
    outputs.par_iter().map(one).collect()
}

/// Evaluates a row map on the ciphertexts of a value; 1 level, a key switch only for rotations.
///
/// # Errors
/// As the operations of the backend.
pub fn row_map<B: Backend>(
    backend: &B,
    x: &[B::Ciphertext],
    map: &RowMap,
    geometry: &Geometry,
) -> Result<Vec<B::Ciphertext>, OpError> {
    let mut sums: Vec<Option<B::Ciphertext>> = vec![None; map.outputs];
    for (&shift, blocks) in &map.terms {
        let mut terms: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for (&(to, from), lanes) in blocks {
            terms.entry(to).or_default().push((&x[from], RowMap::slots(lanes, geometry)));
        }
        for (to, terms) in terms {
            let moved = rotate(backend, backend.matmul_clear(&terms)?, shift)?;
            sums[to] = Some(match sums[to].take() {
                Some(sum) => backend.add(&sum, &moved)?,
                None => moved,
            });
        }
    }
    let zero = || backend.matmul_clear(&[(&x[0], vec![0.0; geometry.slots()])]);
    sums.into_iter().map(|sum| sum.map_or_else(zero, Ok)).collect()
}

fn rotate<B: Backend>(backend: &B, x: B::Ciphertext, shift: Shift) -> Result<B::Ciphertext, OpError> {
    if shift.is_identity() {
        return Ok(x);
    }
    let transform = RowMap::rotation(shift, 1);
    let map = Map { transform: &transform, split: Split::Rows { baby: 1 }, masks: false };
    Ok(backend.linear(&[x], &map)?.remove(0))
}
