//! Gaussian noise on tensors: what a simulated run adds, and what protects a result that leaves the client.

use plan::Tensor;
use rand::Rng;

/// How much wider than the noise of a ciphertext the noise of [`add_noise`] must be so that a result may be shown to
/// others: `sqrt(12) 2^(30/2)`, for 30 bits of statistical security and one decryption of each ciphertext. The adversary who
/// knows the exact result then learns next to nothing about the noise of the ciphertext, which depends on the secret.
///
/// Li, Micciancio, Schultz, Sorrell, "Securing approximate homomorphic encryption using differential privacy", 2022/816.
pub const FLOOD_FACTOR: f64 = 113_511.681_724_789;

/// The tensor with independent Gaussian noise of a standard deviation added to every element (Box-Muller).
pub fn add_noise(tensor: &Tensor, deviation: f64, rng: &mut impl Rng) -> Tensor {
    let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    let mut normal = || {
        let (radius, angle) = ((-2.0 * libm::log(uniform())).sqrt(), std::f64::consts::TAU * uniform());
        radius * libm::cos(angle)
    };
    let data = tensor.data().iter().map(|x| x + deviation * normal()).collect();
    Tensor::new(tensor.shape().to_vec(), data).expect("the shape stays")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn deviation_is_as_asked() {
        let mut rng = rand::rngs::ChaCha20Rng::from_seed([7; 32]);
        let noisy = add_noise(&Tensor::full(&[20_000], 3.0), 0.5, &mut rng);
        let mean = noisy.data().iter().sum::<f64>() / 20_000.0;
        let variance = noisy.data().iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 20_000.0;
        assert!((mean - 3.0).abs() < 0.02 && (variance.sqrt() - 0.5).abs() < 0.01, "{mean} {variance}");
        assert!((FLOOD_FACTOR - 12f64.sqrt() * 2f64.powi(15)).abs() < 1e-6);
    }
}
