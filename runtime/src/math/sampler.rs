//! Randomness: small secrets and errors from a generator seeded by the operating system, and public uniform residues
//! expanded from a 32-byte seed.
//!
//! Secrets and errors are drawn without branches or table look-ups that depend on their values. The expansion of a seed
//! is part of the file formats: the residues of (seed, domain, index, limb, q) are the same on every machine.
//!
//! References: ChaCha20 (RFC 8439) and its variant of 12 rounds, BLAKE3 in keyed mode; rounded Gaussian of parameter
//! 3.2 as in the guidelines of Bossuat et al. (ePrint 2024/463).

use crate::math::modulus::Modulus;
use rand::rngs::{ChaCha12Rng, ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng};
use zeroize::Zeroize;

/// Standard deviation of the Gaussian whose rounding gives the errors.
pub const SIGMA: f64 = 3.2;

/// A seed from which public uniform polynomials are expanded.
pub type Seed = [u8; 32];

/// Entry k: 2^63 P(|e| > k) for the rounded Gaussian e of parameter 3.2, rounded; the next entry would be 0.
const GAUSSIAN_TAIL: [u64; 29] = [
    8078160961212425786,
    5896025291747714834,
    4008989120172442027,
    2527800124044552989,
    1472510438498913415,
    790073157743829255,
    389499686563256434,
    176083054962035277,
    72878486338388688,
    27579151440399667,
    9532179459766656,
    3006382110180886,
    864594560053455,
    226581798959191,
    54081886254720,
    11751611704331,
    2323777600212,
    418022101571,
    68389095857,
    10172998071,
    1375595295,
    169055244,
    18879446,
    1915610,
    176573,
    14784,
    1124,
    78,
    5,
];

/// A source of secret randomness. It does not implement `Debug`, and its state is ChaCha20's.
pub struct Sampler {
    rng: ChaCha20Rng,
}

impl Sampler {
    /// A sampler seeded by the operating system.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn from_system() -> Result<Sampler, rand::rngs::SysError> {
        Ok(Sampler { rng: ChaCha20Rng::try_from_rng(&mut SysRng)? })
    }

    /// A reproducible sampler, for tests and published vectors: everything drawn from it is as public as the seed.
    pub fn from_seed(mut seed: Seed) -> Sampler {
        let rng = ChaCha20Rng::from_seed(seed);
        seed.zeroize();
        Sampler { rng }
    }

    /// `n` independent uniform elements of {-1, 0, 1} (bias below 2^-62).
    pub fn ternary(&mut self, n: usize) -> Vec<i64> {
        (0..n).map(|_| ((u128::from(self.rng.next_u64()) * 3) >> 64) as i64 - 1).collect()
    }

    /// `n` elements of {-1, 0, 1}, `weight` <= n of them not 0: uniform among these vectors (bias below 2^-40).
    ///
    /// A selection by increasing index: with k places left to fill among the last m, the next is filled with probability k / m.
    /// Every index takes the same time.
    pub fn sparse_ternary(&mut self, n: usize, weight: usize) -> Vec<i64> {
        let mut left = weight.min(n) as u64;
        let mut draw = |i: usize| {
            let (place, sign) = (self.rng.next_u64(), (self.rng.next_u64() & 1) as i64);
            let index = ((u128::from(place) * (n - i) as u128) >> 64) as u64;
            let filled = u64::from(index < left);
            left -= filled;
            filled as i64 * (1 - 2 * sign)
        };
        (0..n).map(&mut draw).collect()
    }

    /// `n` independent rounded Gaussians of parameter [`SIGMA`] (statistical distance below 2^-57 each).
    pub fn gaussian(&mut self, n: usize) -> Vec<i64> {
        (0..n)
            .map(|_| {
                let draw = self.rng.next_u64();
                let (uniform, sign) = (draw >> 1, (draw & 1) as i64);
                let magnitude: i64 = GAUSSIAN_TAIL.iter().map(|&tail| i64::from(uniform < tail)).sum();
                (magnitude ^ -sign) + sign
            })
            .collect()
    }

    /// A fresh public seed.
    pub fn seed(&mut self) -> Seed {
        let mut seed = [0; 32];
        self.rng.fill_bytes(&mut seed);
        seed
    }
}

/// Fills `out` with independent uniform residues mod q, a function of (`seed`, `domain`, `index`, `limb`, q) alone.
///
/// BLAKE3 keyed by the seed makes a ChaCha12 key of the other arguments. A word x of its stream stands for the residue
/// floor(x q / 2^64); the few x whose fraction is below 2^64 mod q are skipped, so that all residues are equally likely
/// (Lemire, "Fast random integer generation in an interval", 2019).
pub fn expand_uniform(seed: &Seed, domain: &str, index: u64, limb: u64, modulus: &Modulus, out: &mut [u64]) {
    let mut hasher = blake3::Hasher::new_keyed(seed);
    hasher.update(&index.to_le_bytes()).update(&limb.to_le_bytes()).update(domain.as_bytes());
    let mut stream = ChaCha12Rng::from_seed(hasher.finalize().into());
    let q = modulus.value();
    let skipped = q.wrapping_neg() % q;
    let mut buffer = [0u8; 4096];
    let mut rest = out;
    while !rest.is_empty() {
        stream.fill_bytes(&mut buffer);
        let mut filled = 0;
        for bytes in buffer.as_chunks::<8>().0 {
            let product = u128::from(u64::from_le_bytes(*bytes)) * u128::from(q);
            if filled < rest.len() && product as u64 >= skipped {
                rest[filled] = (product >> 64) as u64;
                filled += 1;
            }
        }
        rest = &mut rest[filled..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: usize = 1 << 18;

    fn moments(values: &[i64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<i64>() as f64 / n;
        (mean, values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / n)
    }

    /// P(|G| > a) for a Gaussian of parameter SIGMA, by Simpson's rule.
    fn two_sided_tail(a: f64) -> f64 {
        let (steps, width) = (40_000, 12.0 * SIGMA);
        let density = |x: f64| (-x * x / (2.0 * SIGMA * SIGMA)).exp();
        let h = width / steps as f64;
        let weight = |i: usize| if i == 0 || i == steps { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
        let sum: f64 = (0..=steps).map(|i| weight(i) * density(a + i as f64 * h)).sum();
        2.0 * sum * h / 3.0 / (SIGMA * std::f64::consts::TAU.sqrt())
    }

    #[test]
    fn gaussian_table_is_that_of_the_rounded_gaussian() {
        for (k, &tail) in GAUSSIAN_TAIL.iter().enumerate() {
            let expected = two_sided_tail(k as f64 + 0.5) * 2f64.powi(63);
            assert!((tail as f64 - expected).abs() <= 0.5 + 1e-10 * expected, "{k}: {tail} {expected}");
        }
    }

    #[test]
    fn moments_of_secrets_and_errors() {
        let mut sampler = Sampler::from_seed([7; 32]);
        let (mean, variance) = moments(&sampler.ternary(SAMPLES));
        assert!(mean.abs() < 0.01 && (variance - 2.0 / 3.0).abs() < 0.01, "{mean} {variance}");
        let (mean, variance) = moments(&sampler.gaussian(SAMPLES));
        let expected = SIGMA * SIGMA + 1.0 / 12.0;
        assert!(mean.abs() < 0.05 && (variance / expected - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn sparse_secrets_have_their_weight_anywhere() {
        let (n, weight) = (256, 32);
        let mut counts = vec![0; n];
        let mut sampler = Sampler::from_seed([9; 32]);
        for _ in 0..2000 {
            let secret = sampler.sparse_ternary(n, weight);
            assert_eq!(secret.iter().filter(|&&c| c != 0).count(), weight);
            counts.iter_mut().zip(&secret).for_each(|(count, c)| *count += i32::from(*c == 1));
        }
        // each place is 1 with probability 1/16: 125 times, deviation 10.8
        assert!(counts.iter().all(|&count| (125 - 65..125 + 65).contains(&count)), "{counts:?}");
        assert_eq!(sampler.sparse_ternary(4, 9).iter().map(|c| c.abs()).sum::<i64>(), 4);
    }

    #[test]
    fn samplers_follow_their_seed() {
        let draw = |seed| Sampler::from_seed([seed; 32]).gaussian(64);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let system = |()| Sampler::from_system().map(|mut s| s.seed());
        assert_ne!(system(()).ok(), system(()).ok());
    }

    #[test]
    fn expansion_is_uniform_and_separated() {
        let m = Modulus::new((1 << 40) - 87).expect("odd");
        let expand = |domain, index, limb, len| {
            let mut out = vec![0; len];
            expand_uniform(&[3; 32], domain, index, limb, &m, &mut out);
            out
        };
        let a = expand("a", 0, 0, 1 << 14);
        assert!(a.iter().all(|&x| x < m.value()));
        let mean = a.iter().map(|&x| x as f64).sum::<f64>() / a.len() as f64 / m.value() as f64;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert_eq!(a[..100], expand("a", 0, 0, 100), "a prefix is a prefix");
        for other in [expand("b", 0, 0, 100), expand("a", 1, 0, 100), expand("a", 0, 1, 100)] {
            assert_ne!(a[..100], other);
        }
    }
}
