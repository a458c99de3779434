//! Tensors to slots and back.

use plan::{Geometry, Layout, Tensor};

/// The slots of every ciphertext of a value, all copies of its tiles included; zero outside the tensor.
pub fn place(tensor: &Tensor, layout: &Layout, geometry: &Geometry) -> Vec<Vec<f64>> {
    let mut slots = vec![vec![0.0; geometry.slots()]; geometry.ciphertexts(layout)];
    let copies = layout.offsets();
    for (&address, &value) in geometry.addresses(layout).iter().zip(tensor.data()) {
        for copy in copies.iter().map(|&offset| geometry.moved(address, offset)) {
            slots[copy.ct][copy.slot] = value;
        }
    }
    slots
}

/// The tensor in the slots of a value.
///
/// # Panics
/// If there are fewer ciphertexts or slots than the layout takes.
pub fn gather(slots: &[Vec<f64>], layout: &Layout, geometry: &Geometry) -> Tensor {
    let data = geometry.addresses(layout).iter().map(|a| slots[a.ct][a.slot]).collect();
    Tensor::new(layout.shape.clone(), data).expect("a layout has one address per element")
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Scheme;

    #[test]
    fn gathering_undoes_placing() {
        let geometry = Geometry { scheme: Scheme::Gl, lanes: 3, rows: 4, cols: 4 };
        let tensor = Tensor::new(vec![2, 5, 3], (0..30).map(f64::from).collect()).unwrap();
        for transposed in [false, true] {
            let layout = Layout::new(&[2, 5, 3], transposed);
            let slots = place(&tensor, &layout, &geometry);
            assert_eq!(slots.len(), 2);
            assert_eq!(gather(&slots, &layout, &geometry), tensor);
            assert_eq!(slots.concat().iter().filter(|&&x| x == 0.0).count(), 2 * 48 - 29);
        }
    }
}
