//! Linear maps that treat all rows of a tile alike: products with clear matrices, added by rotation and output, and each sum
//! rotated once.

use super::backend::{Backend, Map, OpError};
use plan::{Geometry, RowMap, Shift, Split};

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
        let mut products: Vec<Option<B::Ciphertext>> = vec![None; map.outputs];
        for (&(to, from), lanes) in blocks {
            let product = backend.matmul_clear(&x[from], &RowMap::slots(lanes, geometry))?;
            add(backend, &mut products[to], product)?;
        }
        for (sum, product) in sums.iter_mut().zip(products) {
            if let Some(product) = product {
                add(backend, sum, rotate(backend, product, shift)?)?;
            }
        }
    }
    let zero = vec![0.0; geometry.slots()];
    sums.into_iter().map(|sum| sum.map_or_else(|| backend.matmul_clear(&x[0], &zero), Ok)).collect()
}

fn add<B: Backend>(backend: &B, sum: &mut Option<B::Ciphertext>, term: B::Ciphertext) -> Result<(), OpError> {
    *sum = Some(match sum.take() {
        Some(sum) => backend.add(&sum, &term)?,
        None => term,
    });
    Ok(())
}

fn rotate<B: Backend>(backend: &B, x: B::Ciphertext, shift: Shift) -> Result<B::Ciphertext, OpError> {
    if shift.is_identity() {
        return Ok(x);
    }
    let transform = RowMap::rotation(shift, 1);
    let map = Map { transform: &transform, split: Split::Rows { baby: 1 }, masks: false };
    Ok(backend.linear(&[x], &map)?.remove(0))
}
