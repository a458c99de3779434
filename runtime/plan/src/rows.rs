//! Linear maps of GL that treat all rows of a tile alike: products with clear matrices.
//!
//! `out = sum_s rot_s(X P_s)` with a rotation `s` over lanes and rows and one clear matrix per lane: every map whose
//! coefficients depend on lanes and columns, but not on rows. A product with a clear matrix needs no key switch, so such a
//! map has a key switch only for each rotation that is not the identity, and one plaintext per rotation where masks would need
//! one per column shift. Rows and columns are those of the tiles as held: on values held transposed, maps of columns.

use crate::layout::{Address, Geometry, Layout, Shift};
use crate::linear::Sparse;
use crate::transform::Transform;
use std::collections::{BTreeMap, BTreeSet};

/// Entries `(column of the operand, column of the result, coefficient)` of a clear matrix, sorted.
pub type Matrix = Vec<(u32, u32, f64)>;
/// `(output ciphertext, input ciphertext)`, then lane of the input: the clear matrix.
pub type Blocks = BTreeMap<(usize, usize), BTreeMap<usize, Matrix>>;

/// A linear map that treats all rows of a tile alike.
#[derive(Clone, Debug, PartialEq)]
pub struct RowMap {
    /// the products by the rotation after them
    pub terms: BTreeMap<Shift, Blocks>,
    /// number of output ciphertexts
    pub outputs: usize,
    /// number of input ciphertexts
    pub inputs: usize,
}

/// Where a matrix of a map stands: rotation, output and input ciphertext, lane of the input.
type Place = (Shift, usize, usize, usize);

impl RowMap {
    /// The row map of the matrix `m` from layout `from` to layout `to`, if it is one: for each rotation and lane, every row
    /// that holds elements has the same coefficients.
    pub fn new(m: &Sparse, from: &Layout, to: &Layout, geometry: &Geometry) -> Option<RowMap> {
        if !from.single() || !to.single() {
            return None;
        }
        let (source, target) = (geometry.addresses(from), geometry.addresses(to));
        let mut entries: Vec<(Place, usize, u32, u32, f64)> = Vec::with_capacity(m.len());
        for (i, out) in target.iter().enumerate() {
            for &(c, v) in m.row(i) {
                let x = source[c as usize];
                let (lane, row, column) = geometry.coordinates(x.slot);
                let place = (geometry.shift(x.slot, out.slot).keyed(), out.ct, x.ct, lane);
                entries.push((place, row, column as u32, geometry.coordinates(out.slot).2 as u32, v));
            }
        }
        entries.sort_unstable_by_key(|&(place, row, from, to, _)| (place, row, from, to));
        let held = held_rows(&source, geometry);
        let mut terms: BTreeMap<Shift, Blocks> = BTreeMap::new();
        for run in entries.chunk_by(|a, b| a.0 == b.0) {
            let (shift, out, input, lane) = run[0].0;
            let mut rows = run.chunk_by(|a, b| a.1 == b.1);
            let all = held[&(input, lane)].len() == rows.clone().count();
            let matrix = |row: &[(Place, usize, u32, u32, f64)]| {
                row.iter().map(|e| (e.2, e.3, e.4)).collect::<Matrix>()
            };
            let first = matrix(rows.next()?);
            if !all || rows.any(|row| matrix(row) != first) {
                return None;
            }
            terms.entry(shift).or_default().entry((out, input)).or_default().insert(lane, first);
        }
        Some(RowMap { terms, outputs: geometry.ciphertexts(to), inputs: geometry.ciphertexts(from) })
    }

    /// Rotations that need a key.
    pub fn keyed_shifts(&self) -> BTreeSet<Shift> {
        self.terms.keys().copied().filter(|s| !s.is_free()).collect()
    }

    /// Key switches of one evaluation, per ciphertext of the scheme: the products of one rotation and output are added first.
    pub fn key_switches(&self) -> usize {
        let outputs = |blocks: &Blocks| blocks.keys().map(|b| b.0).collect::<BTreeSet<usize>>().len();
        self.terms.iter().filter(|(s, _)| !s.is_free()).map(|(_, blocks)| outputs(blocks)).sum()
    }

    /// The clear matrices of one term in the slots of a ciphertext, lane by lane, zero elsewhere.
    pub fn slots(lanes: &BTreeMap<usize, Matrix>, geometry: &Geometry) -> Vec<f64> {
        let mut slots = vec![0.0; geometry.slots()];
        for (&lane, matrix) in lanes {
            for &(from, to, v) in matrix {
                slots[(lane * geometry.rows + from as usize) * geometry.cols + to as usize] = v;
            }
        }
        slots
    }

    /// The rotation of `count` ciphertexts, each for itself, as a map without masks.
    pub fn rotation(shift: Shift, count: usize) -> Transform {
        let block = BTreeMap::from([(shift, vec![(0, 1.0)])]);
        let blocks: BTreeMap<_, _> = (0..count).map(|k| ((k, k), block.clone())).collect();
        let integers = (0..count).map(|k| ((k, k), BTreeMap::from([(shift, 1)]))).collect();
        Transform { blocks, outputs: count, inputs: count, integers: Some(integers) }
    }

    /// Clear products of one evaluation: one plaintext each.
    pub fn products(&self) -> usize {
        self.terms.values().map(BTreeMap::len).sum()
    }
}

/// Rows that hold elements, by ciphertext and lane.
fn held_rows(source: &[Address], geometry: &Geometry) -> BTreeMap<(usize, usize), BTreeSet<usize>> {
    let mut held: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
    for a in source {
        let (lane, row, _) = geometry.coordinates(a.slot);
        held.entry((a.ct, lane)).or_default().insert(row);
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LinearStep, Operand, matrix};
    use crate::params::Scheme;
    use crate::tensor::Tensor;
    use proptest::prelude::*;

    const TOY: Geometry = Geometry { scheme: Scheme::Gl, lanes: 4, rows: 4, cols: 4 };

    fn place(l: &Layout, data: &[f64]) -> Vec<Vec<f64>> {
        let mut cts = vec![vec![0.0; TOY.slots()]; TOY.ciphertexts(l)];
        TOY.addresses(l).iter().zip(data).for_each(|(a, v)| cts[a.ct][a.slot] = *v);
        cts
    }

    /// Evaluates as an executor does: whole tiles, rows without elements included.
    fn evaluate(map: &RowMap, x: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut out = vec![vec![0.0; TOY.slots()]; map.outputs];
        for (&shift, blocks) in &map.terms {
            for (&(o, i), lanes) in blocks {
                for (&lane, matrix) in lanes {
                    for (row, &(from, to, v)) in
                        (0..TOY.rows).flat_map(|r| matrix.iter().map(move |e| (r, e)))
                    {
                        let base = (lane * TOY.rows + row) * TOY.cols;
                        out[o][TOY.target(base + to as usize, shift)] += v * x[i][base + from as usize];
                    }
                }
            }
        }
        out
    }

    fn map_of(steps: &[LinearStep], x: &[usize], held: (bool, bool), clear: &[&Tensor]) -> Option<RowMap> {
        let m = matrix(steps, x, clear).unwrap();
        let from = Layout::new(x, held.0);
        let to = Layout::new(&crate::linear::output_shape(steps, x).unwrap(), held.1);
        RowMap::new(&m, &from, &to, &TOY)
    }

    proptest! {
        #[test]
        fn products_with_clear_matrices_are_row_maps(b in 1usize..3, r in 1usize..11, c in 1usize..7, k in 1usize..7, left: bool) {
            let w_shape = if left { vec![k, r] } else { vec![c, k] };
            let w = Tensor::new(w_shape.clone(), (0..w_shape.iter().product()).map(|i: usize| (i % 5) as f64 - 1.5).collect()).unwrap();
            let step = if left {
                LinearStep::MatMulLeft { weight: Operand(0), shape: w_shape }
            } else {
                LinearStep::MatMulRight { weight: Operand(0), shape: w_shape }
            };
            let x = vec![b, r, c];
            let m = matrix(std::slice::from_ref(&step), &x, &[&w]).unwrap();
            let from = Layout::new(&x, left);
            let to = Layout::new(&step.output_shape(&x).unwrap(), left);
            let map = RowMap::new(&m, &from, &to, &TOY).unwrap();
            let data: Vec<f64> = (0..b * r * c).map(|i| i as f64 + 1.0).collect();
            prop_assert_eq!(evaluate(&map, &place(&from, &data)), place(&to, &m.apply(&data)));
        }
    }

    #[test]
    fn inside_a_tile_there_is_no_key_switch() {
        let w = Tensor::full(&[4, 3], 0.5);
        let right = LinearStep::MatMulRight { weight: Operand(0), shape: vec![4, 3] };
        let map = map_of(std::slice::from_ref(&right), &[9, 4], (false, false), &[&w]).unwrap();
        assert_eq!((map.key_switches(), map.products(), map.keyed_shifts().len()), (0, 1, 0));
        let sum = map_of(&[LinearStep::Sum { axes: vec![1] }], &[3, 4], (false, true), &[]).unwrap();
        assert_eq!((sum.key_switches(), sum.products()), (0, 1));
        let batch = LinearStep::Slice { start: vec![1, 0, 0], step: vec![1; 3], count: vec![1, 3, 4] };
        assert_eq!(map_of(&[batch, right], &[2, 3, 4], (false, false), &[&w]).unwrap().key_switches(), 1);
    }

    #[test]
    fn maps_that_depend_on_the_row_are_none() {
        let rows = LinearStep::Slice { start: vec![1, 0], step: vec![1, 1], count: vec![2, 4] };
        assert_eq!(map_of(&[rows], &[4, 4], (false, false), &[]), None);
        assert_eq!(map_of(&[LinearStep::Sum { axes: vec![0] }], &[3, 4], (false, false), &[]), None);
    }
}
