//! Maps that move nothing: transposes, reshapes of batch axes and broadcasts over them only change what ciphertexts are called.

use crate::layout::{Copies, Geometry, Layout, Placement};
use crate::linear::{LinearStep, output_shape};
use crate::params::Scheme;

/// A layout during the walk from the result back to the operand.
struct Held {
    transposed: bool,
    strides: Vec<usize>,
    copies: Vec<Copies>,
}

/// The layout of the operand, of shape `input`, whose ciphertexts are those of the result in layout `target`. None if the
/// map moves elements inside tiles, or no layout of the operand is like that. GL only, where tiles are square.
pub fn operand_layout(
    steps: &[LinearStep],
    input: &[usize],
    target: &Layout,
    g: &Geometry,
) -> Option<Layout> {
    if g.scheme != Scheme::Gl {
        return None;
    }
    let mut shapes = vec![input.to_vec()];
    for step in steps {
        shapes.push(output_shape(std::slice::from_ref(step), shapes.last()?).ok()?);
    }
    if *shapes.last()? != target.shape {
        return None;
    }
    let mut held = Held::new(target, g);
    for (step, shapes) in steps.iter().zip(shapes.windows(2)).rev() {
        held.back(step, &shapes[0], &shapes[1])?;
    }
    Some(held.layout(input, g))
}

/// The layout of the result that has the ciphertexts of the operand in layout `from`. None if there is none.
pub fn result_layout(steps: &[LinearStep], from: &Layout, g: &Geometry) -> Option<Layout> {
    let (mut held, mut shape) = (Held::new(from, g), from.shape.clone());
    for step in steps {
        let to = output_shape(std::slice::from_ref(step), &shape).ok()?;
        match step {
            LinearStep::Transpose { perm } => {
                let mut back = vec![0; perm.len()];
                perm.iter().enumerate().for_each(|(to, &from)| back[from] = to);
                held.transpose(&back)?;
            }
            LinearStep::Reshape { .. } => held.reshape(&to, &shape)?,
            LinearStep::Broadcast { .. } if to == shape => {}
            _ => return None,
        }
        shape = to;
    }
    let result = held.layout(&shape, g);
    (operand_layout(steps, &from.shape, &result, g).as_ref() == Some(from)).then_some(result)
}

impl Held {
    fn new(layout: &Layout, g: &Geometry) -> Held {
        let (strides, copies) = match &layout.placement {
            Some(p) => (p.strides.clone(), p.copies.clone()),
            None => (crate::tensor::strides(&g.grid(layout)), vec![]),
        };
        Held { transposed: layout.transposed, strides, copies }
    }

    fn layout(self, shape: &[usize], g: &Geometry) -> Layout {
        let placement = Some(Placement { strides: self.strides, copies: self.copies });
        g.normalized(Layout { shape: shape.to_vec(), transposed: self.transposed, placement })
    }

    /// From the result of a step, of shape `to`, to its operand, of shape `from`.
    fn back(&mut self, step: &LinearStep, from: &[usize], to: &[usize]) -> Option<()> {
        match step {
            LinearStep::Transpose { perm } => self.transpose(perm),
            LinearStep::Reshape { .. } => self.reshape(from, to),
            LinearStep::Broadcast { .. } => self.broadcast(from, to),
            _ => None,
        }
    }

    /// The last two axes change places, or stay.
    fn turn(&mut self) {
        let last = self.strides.len() - 1;
        self.strides.swap(last - 1, last);
        self.transposed = !self.transposed;
    }

    fn transpose(&mut self, perm: &[usize]) -> Option<()> {
        let Some(batch) = perm.len().checked_sub(2) else { return Some(()) };
        if perm[batch..].iter().any(|&axis| axis < batch) {
            return None;
        }
        let old = self.strides.clone();
        perm[..batch].iter().enumerate().for_each(|(to, &from)| self.strides[from] = old[to]);
        if perm[batch] != batch {
            self.turn();
        }
        Some(())
    }

    fn reshape(&mut self, from: &[usize], to: &[usize]) -> Option<()> {
        let (before, after) = (Geometry::matrix_of(from), Geometry::matrix_of(to));
        if before != after {
            // a row becomes a column, or a column a row
            let vector = before.0 == 1 || before.1 == 1;
            if !vector || before != (after.1, after.0) {
                return None;
            }
            self.turn();
        }
        let axes = |shape: &[usize]| shape[..shape.len().saturating_sub(2)].to_vec();
        let matrix = self.strides.split_off(self.strides.len() - 2);
        self.strides = regroup(&axes(to), &self.strides, &axes(from))?;
        self.strides.extend(matrix);
        Some(())
    }

    fn broadcast(&mut self, from: &[usize], to: &[usize]) -> Option<()> {
        if Geometry::matrix_of(from) != Geometry::matrix_of(to) {
            return None;
        }
        let (from, to) = (&from[..from.len().saturating_sub(2)], &to[..to.len().saturating_sub(2)]);
        let lead = to.len() - from.len();
        let matrix = self.strides.split_off(to.len());
        let mut strides = Vec::new();
        for (axis, &count) in to.iter().enumerate() {
            let own = axis.checked_sub(lead).map(|a| from[a]);
            if own != Some(count) && count > 1 {
                self.copies.push(Copies { count, stride: self.strides[axis] });
            }
            if own.is_some() {
                strides.push(self.strides[axis]);
            }
        }
        self.strides = [strides, matrix].concat();
        Some(())
    }
}

/// Strides of axes `to` that together count the same positions in the same order as axes `from` with their strides.
fn regroup(from: &[usize], strides: &[usize], to: &[usize]) -> Option<Vec<usize>> {
    // axes of `from` as (extent, stride), innermost last, axes of extent 1 left out
    let mut rest: Vec<(usize, usize)> =
        from.iter().copied().zip(strides.iter().copied()).filter(|a| a.0 != 1).collect();
    let mut found = Vec::with_capacity(to.len());
    for &extent in to.iter().rev() {
        if extent == 1 {
            found.push(0);
            continue;
        }
        let (mut have, stride) = rest.pop()?;
        while have < extent {
            let (next, outer) = rest.pop()?;
            if outer != have * stride {
                return None;
            }
            have *= next;
        }
        if have % extent != 0 {
            return None;
        }
        if have > extent {
            rest.push((have / extent, stride * extent));
        }
        found.push(stride);
    }
    found.reverse();
    rest.is_empty().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: Geometry = Geometry { scheme: Scheme::Gl, lanes: 12, rows: 4, cols: 4 };

    /// What a map does to the tile and element in every position, against its matrix.
    fn moves_nothing(steps: &[LinearStep], input: &[usize], target: &Layout) -> bool {
        let Some(from) = operand_layout(steps, input, target, &G) else { return false };
        let m = crate::linear::matrix(steps, input, &[]).unwrap();
        let (source, sink) = (G.addresses(&from), G.addresses(target));
        let copies = from.offsets();
        (0..m.rows()).all(|i| {
            let [(c, v)] = m.row(i) else { return false };
            *v == 1.0 && copies.iter().any(|&o| G.moved(source[*c as usize], o) == sink[i])
        })
    }

    #[test]
    fn transposes_reshapes_and_broadcasts_change_names_only() {
        let swap = LinearStep::Transpose { perm: vec![0, 2, 1] };
        let flat = LinearStep::Reshape { shape: vec![6, 9, 5] };
        let column = LinearStep::Reshape { shape: vec![5, 1] };
        let spread = LinearStep::Broadcast { shape: vec![3, 5, 6] };
        assert!(moves_nothing(std::slice::from_ref(&swap), &[2, 9, 5], &Layout::plain(&[2, 5, 9])));
        assert!(moves_nothing(&[flat], &[2, 3, 9, 5], &Layout::new(&[6, 9, 5], true)));
        assert!(moves_nothing(&[column], &[5], &Layout::plain(&[5, 1])));
        assert!(moves_nothing(&[spread, swap], &[5, 6], &Layout::plain(&[3, 6, 5])));
        let mixed = LinearStep::Reshape { shape: vec![10, 6] };
        assert!(!moves_nothing(&[mixed], &[5, 12], &Layout::plain(&[10, 6])));
        let parts = LinearStep::Transpose { perm: vec![1, 0, 2] };
        assert!(!moves_nothing(&[parts], &[2, 3, 4], &Layout::plain(&[3, 2, 4])));
    }

    #[test]
    fn batch_axes_regroup_where_their_strides_follow_each_other() {
        assert_eq!(regroup(&[6], &[5], &[2, 3]), Some(vec![15, 5]));
        assert_eq!(regroup(&[2, 3], &[15, 5], &[6]), Some(vec![5]));
        assert_eq!(regroup(&[2, 3], &[14, 5], &[6]), None);
        assert_eq!(regroup(&[2, 1, 3], &[9, 1, 2], &[2, 3]), Some(vec![9, 2]));
    }
}
