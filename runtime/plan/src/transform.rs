//! A linear map between laid-out tensors as masked rotations with baby and giant steps.
//!
//! `out = sum_g rot_g( sum_b rot_{-g}(mask_{g+b}) o rot_b(x) )`: one level for the masks. When every rotation takes all
//! elements of its ciphertext with one integer factor there is nothing to mask, and the map costs no level at all.
//! (Halevi, Shoup, "Faster homomorphic linear transformations in HElib", 2018, baby-step giant-step.)

use crate::layout::{Address, Geometry, Layout, Shift, Split};
use crate::linear::Sparse;
use crate::params::Scheme;
use std::collections::{BTreeMap, BTreeSet};

/// Coefficients of one rotation between two ciphertexts: `(output slot, coefficient)`, by increasing slot.
pub type Diagonal = Vec<(u32, f64)>;

/// A linear map between two layouts, by output and input ciphertext and rotation.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    /// `(output ciphertext, input ciphertext)` to its rotations
    pub blocks: BTreeMap<(usize, usize), BTreeMap<Shift, Diagonal>>,
    /// number of output ciphertexts
    pub outputs: usize,
    /// number of input ciphertexts
    pub inputs: usize,
    /// when nothing needs a mask: the integer factor of every rotation of every block
    pub integers: Option<BTreeMap<(usize, usize), BTreeMap<Shift, i64>>>,
}

/// Largest integer factor that a map without masks may have: beyond it a mask is better for the range.
const MAX_INTEGER: f64 = 1024.0;

impl Transform {
    /// Lays out the matrix `m` of a map from layout `from` to layout `to`.
    pub fn new(m: &Sparse, from: &Layout, to: &Layout, geometry: &Geometry) -> Transform {
        let (source, target) = (geometry.addresses(from), geometry.addresses(to));
        let (held, copies) = (from.offsets(), to.offsets());
        let mut entries: Vec<(usize, usize, Shift, u32, f64)> = Vec::with_capacity(m.len() * copies.len());
        for (i, &first) in target.iter().enumerate() {
            for out in copies.iter().map(|&o| geometry.moved(first, o)) {
                for &(c, v) in m.row(i) {
                    let all = held.iter().map(|&o| geometry.moved(source[c as usize], o));
                    let near = |x: &Address| (geometry.shift(x.slot, out.slot), x.ct);
                    let Some((shift, ct)) = all.map(|x| near(&x)).min() else { continue };
                    entries.push((out.ct, ct, shift, out.slot as u32, v));
                }
            }
        }
        entries.sort_unstable_by_key(|&(out, input, shift, slot, _)| (out, input, shift, slot));
        let mut blocks: BTreeMap<(usize, usize), BTreeMap<Shift, Diagonal>> = BTreeMap::new();
        for run in entries.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2)) {
            let diagonal = run.iter().map(|e| (e.3, e.4)).collect();
            blocks.entry((run[0].0, run[0].1)).or_default().insert(run[0].2, diagonal);
        }
        let integers = unmasked(&blocks, &source, &held, geometry);
        Transform { blocks, outputs: geometry.ciphertexts(to), inputs: geometry.ciphertexts(from), integers }
    }

    /// Levels the map costs: 0 without masks, else 1.
    pub fn level_cost(&self) -> u32 {
        u32::from(self.integers.is_none())
    }

    /// All rotations of all blocks.
    pub fn shifts(&self) -> BTreeSet<Shift> {
        self.blocks.values().flat_map(|b| b.keys().copied()).collect()
    }

    /// Rotations that need a key under a split, without repetition: what the key set must have.
    pub fn keyed_shifts(&self, geometry: &Geometry, split: Split) -> BTreeSet<Shift> {
        let parts = self.shifts().into_iter().flat_map(|s| {
            let (giant, baby) = geometry.split(s, split);
            [giant.keyed(), baby.keyed()]
        });
        parts.filter(|s| !s.is_free()).collect()
    }

    /// Key switches of one evaluation under a split, per ciphertext of the scheme.
    pub fn key_switches(&self, geometry: &Geometry, split: Split) -> usize {
        key_switches(&self.keyed(), geometry, split)
    }

    /// The parts of all rotations that need keys: `(output ciphertext, input ciphertext, shift)`, each once.
    fn keyed(&self) -> Vec<(usize, usize, Shift)> {
        let of_block = |(&(out, input), block): (&(usize, usize), &BTreeMap<Shift, Diagonal>)| {
            let mut shifts: Vec<Shift> = block.keys().map(|s| s.keyed()).collect();
            shifts.dedup();
            shifts.into_iter().map(move |s| (out, input, s)).collect::<Vec<_>>()
        };
        self.blocks.iter().flat_map(of_block).collect()
    }

    /// The split with the fewest key switches; ties go to the smaller baby step, so the choice is the same everywhere. Maps with
    /// very many rotations, which are hopeless anyway, get steps of equal size.
    pub fn best_split(&self, geometry: &Geometry) -> Split {
        let powers = |limit: usize| (0..).map(|e| 1usize << e).take_while(move |&b| b <= limit);
        let mut candidates: Vec<Split> = match geometry.scheme {
            Scheme::Ckks => powers(geometry.slots()).map(|baby| Split::Slots { baby }).collect(),
            Scheme::Gl => {
                let rows = powers(geometry.rows).map(|baby| Split::Rows { baby });
                rows.chain(powers(geometry.lanes).map(|baby| Split::Lanes { baby })).collect()
            }
        };
        let keyed = self.keyed();
        if keyed.len() > MANY_SHIFTS {
            candidates = vec![candidates[candidates.len() / 2]];
        }
        let cost = |s: &Split| key_switches(&keyed, geometry, *s);
        candidates.into_iter().min_by_key(cost).unwrap_or(Split::Slots { baby: 1 })
    }
}

/// Rotations beyond which splits are not compared.
const MANY_SHIFTS: usize = 1 << 13;

fn key_switches(keyed: &[(usize, usize, Shift)], geometry: &Geometry, split: Split) -> usize {
    let (mut babies, mut giants) = (Vec::new(), Vec::new());
    for &(out, input, shift) in keyed {
        let (giant, baby) = geometry.split(shift, split);
        if !baby.is_free() {
            babies.push((input, baby));
        }
        if !giant.is_free() {
            giants.push((out, giant));
        }
    }
    let distinct = |mut steps: Vec<(usize, Shift)>| {
        steps.sort_unstable();
        steps.dedup();
        steps.len()
    };
    distinct(babies) + distinct(giants)
}

/// The integer factors of a map that needs no masks, if it is one: each rotation of a block applies to every element its
/// input ciphertext holds, copies included, with one integer factor.
fn unmasked(
    blocks: &BTreeMap<(usize, usize), BTreeMap<Shift, Diagonal>>,
    source: &[Address],
    copies: &[usize],
    geometry: &Geometry,
) -> Option<BTreeMap<(usize, usize), BTreeMap<Shift, i64>>> {
    let mut held: BTreeMap<usize, usize> = BTreeMap::new();
    for (a, &o) in source.iter().flat_map(|a| copies.iter().map(move |o| (*a, o))) {
        *held.entry(geometry.moved(a, o).ct).or_default() += 1;
    }
    let integer = |d: &Diagonal| {
        let v = d[0].1;
        (v.fract() == 0.0 && v.abs() <= MAX_INTEGER && d.iter().all(|e| e.1 == v)).then_some(v as i64)
    };
    blocks
        .iter()
        .map(|(&at, block)| {
            let factors = block
                .iter()
                .map(|(&s, d)| (d.len() == held[&at.1]).then(|| integer(d)).flatten().map(|v| (s, v)));
            factors.collect::<Option<BTreeMap<_, _>>>().map(|f| (at, f))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LinearStep, Operand, matrix};
    use crate::tensor::Tensor;
    use proptest::prelude::*;

    fn place(g: &Geometry, l: &Layout, data: &[f64]) -> Vec<Vec<f64>> {
        let mut cts = vec![vec![0.0; g.slots()]; g.ciphertexts(l)];
        g.addresses(l).iter().zip(data).for_each(|(a, v)| cts[a.ct][a.slot] = *v);
        cts
    }

    /// Evaluates as an executor does, with baby and giant steps.
    fn evaluate(t: &Transform, g: &Geometry, split: Split, x: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let rotate = |v: &[f64], s: Shift| (0..v.len()).map(|i| v[g.source(i, s)]).collect::<Vec<f64>>();
        let mut out = vec![vec![0.0; g.slots()]; t.outputs];
        for (&(o, i), block) in &t.blocks {
            for (&s, d) in block {
                let (giant, baby) = g.split(s, split);
                let turned = rotate(&x[i], baby);
                let mut inner = vec![0.0; g.slots()];
                d.iter().for_each(|&(slot, v)| {
                    let at = g.source(slot as usize, giant);
                    inner[at] += v * turned[at];
                });
                rotate(&inner, giant).iter().enumerate().for_each(|(k, v)| out[o][k] += v);
            }
        }
        out
    }

    proptest! {
        #[test]
        fn laid_out_maps_equal_their_matrices(r in 1usize..7, c in 1usize..7, k in 1usize..7, gl: bool, ta: bool, tb: bool) {
            let scheme = if gl { Scheme::Gl } else { Scheme::Ckks };
            let g = Geometry { scheme, lanes: 2, rows: 4, cols: 4 };
            let w = Tensor::new(vec![c, k], (0..c * k).map(|i| (i % 5) as f64 - 2.0).collect()).unwrap();
            let steps = [LinearStep::MatMulRight { weight: Operand(0), shape: vec![c, k] }];
            let m = matrix(&steps, &[r, c], &[&w]).unwrap();
            let from = Layout::new(&[r, c], ta);
            let to = Layout::new(&[r, k], tb);
            let t = Transform::new(&m, &from, &to, &g);
            let x: Vec<f64> = (0..r * c).map(|i| i as f64 + 1.0).collect();
            let split = t.best_split(&g);
            prop_assert_eq!(evaluate(&t, &g, split, &place(&g, &from, &x)), place(&g, &to, &m.apply(&x)));
        }
    }

    #[test]
    fn broadcasting_and_padding_need_no_mask() {
        let g = Geometry { scheme: Scheme::Ckks, lanes: 1, rows: 4, cols: 8 };
        let cost = |step: LinearStep, x: &[usize]| {
            let to = Layout::plain(&step.output_shape(x).unwrap());
            Transform::new(&matrix(&[step], x, &[]).unwrap(), &Layout::plain(x), &to, &g).level_cost()
        };
        assert_eq!(cost(LinearStep::Broadcast { shape: vec![3, 5] }, &[5]), 0);
        assert_eq!(cost(LinearStep::Pad { before: vec![1, 1], after: vec![0, 2] }, &[3, 4]), 0);
        assert_eq!(cost(LinearStep::Reshape { shape: vec![5] }, &[1, 5]), 0);
        assert_eq!(cost(LinearStep::Sum { axes: vec![1] }, &[3, 4]), 1);
        assert_eq!(cost(LinearStep::Slice { start: vec![0], step: vec![1], count: vec![2] }, &[3]), 1);
    }
}
