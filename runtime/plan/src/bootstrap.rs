//! Bootstrapping as plans see it: sets of parameters, what a bootstrap takes and gives, and the keys it needs.
//!
//! A bootstrap takes a value of [`SLOTS_TO_COEFFS`] levels and gives it back at a level of choice. It spends the levels it is
//! given on moving slots to coefficients, switches at level 0 to an encapsulated sparse secret, raises the modulus, and comes
//! down through [`COEFFS_TO_SLOTS`] primes for moving coefficients to slots and [`EVAL_MOD`] primes for removing multiples of
//! q_0. These primes lie above the levels of values: [`Bootstrapping`] has them. Primes of levels between the target and the
//! highest one are left out of the raised modulus, so a lower target costs less.
//!
//! References: Cheon et al. 2018/153; Bossuat et al. 2020/1203 (double hoisting, factored transforms); Bossuat,
//! Troncoso-Pastoriza, Hubaux 2022/024 (encapsulation of a sparse secret).

use crate::layout::Shift;
use crate::params::{Params, ParamsError};
use crate::plan::{Key, KeyKind};
use crate::prime::nearest_prime;
use crate::ring::RingSpec;
use crate::security::{self, SecurityLevel};
use crate::units::Level;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Levels a bootstrap spends before the modulus is raised; its operand has exactly so many.
pub const SLOTS_TO_COEFFS: u32 = 3;
/// Primes that moving coefficients to slots spends.
pub const COEFFS_TO_SLOTS: usize = 3;
/// Primes that removing multiples of q_0 spends: a polynomial of degree [`DEGREE`], squarings, one product.
pub const EVAL_MOD: usize = 5 + DOUBLINGS + 1;
/// After raising, coefficients are below `RANGE` q_0 but with probability [`failure_log2`].
pub const RANGE: u32 = 16;
/// Degree of the Chebyshev series of exp(2 pi i RANGE x / 2^DOUBLINGS) on [-1, 1].
pub const DEGREE: usize = 31;
/// Squarings after the series.
pub const DOUBLINGS: usize = 3;
/// Nonzero coefficients of the encapsulated secret.
pub const SPARSE_WEIGHT: u32 = 32;
/// Largest log2 of a bound on bootstrapped values.
pub const MAX_LOG_BOUND: u32 = 20;
/// Baby steps of the linear transforms.
pub const BABY_STEPS: i64 = 8;

/// Largest log2 of the modulus under which the encapsulated secret of weight 32 hides anything, at 128 bits and dimension 2^15 or
/// more: 121 bits in 2022/024 and its implementation; the hybrid attack (meet in the middle, MATZOV costs) takes 2^147
/// operations at dimension 2^15 there by the lattice estimator.
pub const MAX_SPARSE_LOG_PQ: f64 = 121.0;

/// Least log2 of q_0 over the largest coefficient before raising: what is left of the sine is then below 2^-14.
pub const MIN_LOG_RATIO: f64 = 5.0;

/// The primes of a bootstrap above those of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bootstrapping {
    /// name of the [`BootstrapSet`]
    pub set: String,
    /// primes of eval-mod, the last one to be divided away first
    pub eval_mod: Vec<u64>,
    /// primes of coeffs-to-slots, the last one to be divided away first
    pub coeffs_to_slots: Vec<u64>,
}

/// A set of parameters: how the modulus is divided, for any number of levels that the security table allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapSet {
    /// its name, which says ring and scale
    pub name: &'static str,
    /// log2 of the ring dimension
    pub log_n: u32,
    /// bits of q_0
    pub base_bits: f64,
    /// bits of the scale and of the primes of values, those spent by slots-to-coeffs included
    pub scale_bits: f64,
    /// bits of the primes of eval-mod
    pub eval_mod_bits: f64,
    /// bits of the two of them divided away last, larger so that the scale comes down to that of values
    pub last_bits: f64,
    /// bits of the primes of coeffs-to-slots
    pub coeffs_to_slots_bits: f64,
    /// bits of the special primes
    pub special_bits: f64,
    /// root mean square error of a bootstrapped slot, for values up to 1
    pub error: f64,
    /// rings made for tests: nothing is protected
    pub insecure: bool,
}

/// All sets. Of two that fit, the first is the cheaper one.
///
/// * `n15-scale38`: 868 bits. 41 (q_0) + 3 x 38 (slots-to-coeffs) + 3 x 38 (levels) + 7 x 42 + 2 x 43.3 (eval-mod) + 3 x 41
///   (coeffs-to-slots) + 2 x 46 (special) = 864.5: at most L = 3 levels above the 3 that a bootstrap takes.
/// * `n16-scale40`: 1747 bits. 43 + 3 x 40 + L x 40 + 7 x 46 + 2 x 47.8 + 3 x 46 + special primes of 48 bits: with L = 8 levels
///   and 12 special primes 1614.7, with 16 levels and 8 special primes 1742.7, at most L = 23.
pub static SETS: [BootstrapSet; 2] = [
    BootstrapSet {
        name: "n15-scale38",
        log_n: 15,
        base_bits: 41.0,
        scale_bits: 38.0,
        eval_mod_bits: 42.0,
        last_bits: 43.27,
        coeffs_to_slots_bits: 41.0,
        special_bits: 46.0,
        error: 1.0 / (1u64 << 17) as f64,
        insecure: false,
    },
    BootstrapSet {
        name: "n16-scale40",
        log_n: 16,
        base_bits: 43.0,
        scale_bits: 40.0,
        eval_mod_bits: 46.0,
        last_bits: 47.83,
        coeffs_to_slots_bits: 46.0,
        special_bits: 48.0,
        error: 1.0 / (1u64 << 20) as f64,
        insecure: false,
    },
];

/// A set for tests: the primes of `n16-scale40` in a ring that protects nothing.
pub const fn toy_set(log_n: u32) -> BootstrapSet {
    BootstrapSet { name: "TOY_SET", log_n, insecure: true, ..SETS[1] }
}

/// Why a set gives no parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SetError {
    /// The table of secure moduli does not allow so many levels.
    #[error(
        "the set {set} has no room for {levels} levels at {bits} bits of security, at most for {available}"
    )]
    Levels {
        /// name of the set
        set: &'static str,
        /// levels asked for
        levels: u32,
        /// most levels
        available: u32,
        /// bits of security asked for
        bits: u32,
    },
    /// The ring has too few primes of the sizes needed.
    #[error("the set {set} finds no prime of {bits} bits that is left")]
    Primes {
        /// name of the set
        set: &'static str,
        /// bits of the prime
        bits: f64,
    },
    /// The parameters break a rule.
    #[error(transparent)]
    Params(#[from] ParamsError),
}

impl BootstrapSet {
    /// The set with a name.
    pub fn named(name: &str) -> Option<&'static BootstrapSet> {
        SETS.iter().find(|s| s.name == name)
    }

    /// Most levels above the operand's that a bootstrap can give back at a security level; 0 if there is no room for one.
    pub fn max_levels(&self, bits: u32) -> u32 {
        (1..=60).take_while(|&levels| self.gadget(levels, bits).is_some()).last().unwrap_or(0)
    }

    /// Moduli whose highest level is `levels` above the operand's.
    ///
    /// # Errors
    /// When the set has no room for so many levels or too few primes.
    pub fn params(&self, levels: u32, bits: u32) -> Result<Params, SetError> {
        let (digit, special) = self.gadget(levels, bits).ok_or_else(|| SetError::Levels {
            set: self.name,
            levels,
            available: self.max_levels(bits),
            bits,
        })?;
        let ring = RingSpec::PowerOfTwo { log_n: self.log_n };
        let mut search = Search { set: self, step: ring.modulus_step(), taken: Vec::new() };
        let top = libm::exp2(self.scale_bits);
        let mut q = search.steady(self.scale_bits, (SLOTS_TO_COEFFS + levels) as usize)?;
        q.push(search.near(self.base_bits)?);
        q.reverse();
        let mut eval_mod = search.steady(self.eval_mod_bits, EVAL_MOD - 2)?;
        eval_mod.extend([search.near(self.last_bits)?, search.near(self.last_bits)?]);
        eval_mod.reverse();
        let mut several =
            |bits, count| (0..count).map(|_| search.near(bits)).collect::<Result<Vec<u64>, _>>();
        let coeffs_to_slots = several(self.coeffs_to_slots_bits, COEFFS_TO_SLOTS)?;
        let special = several(self.special_bits, special)?;
        let bootstrap = Some(Bootstrapping { set: self.name.into(), eval_mod, coeffs_to_slots });
        let (scale, security) = (Params::canonical_scales(&q, top), SecurityLevel { bits });
        let params = Params { ring, q, special, digit, scale, security, insecure: self.insecure, bootstrap };
        params.check()?;
        Ok(params)
    }

    /// Primes in a digit and special primes: of those the security table allows, the ones with the fewest transforms in a key
    /// switch. The special primes exceed the largest digit by 4 bits.
    fn gadget(&self, levels: u32, bits: u32) -> Option<(usize, usize)> {
        let sizes = self.sizes(levels);
        let room = security::max_log_pq(1 << self.log_n, bits).unwrap_or(0.0) - sizes.iter().sum::<f64>();
        let choice = |alpha: usize| {
            let digit = sizes.chunks(alpha).map(|d| d.iter().sum::<f64>()).fold(0.0, f64::max);
            let special = libm::ceil((digit + 4.0) / self.special_bits) as usize;
            // primes are not exactly powers of two
            let fits = self.insecure || special as f64 * self.special_bits + 0.01 <= room;
            let transforms = (sizes.len().div_ceil(alpha) + 2) * (sizes.len() + special);
            fits.then_some((transforms, alpha, special))
        };
        (1..=sizes.len()).filter_map(choice).min().map(|(_, alpha, special)| (alpha, special))
    }

    /// Bits of all ciphertext primes, q_0 first.
    fn sizes(&self, levels: u32) -> Vec<f64> {
        let mut sizes = vec![self.base_bits];
        sizes.extend(vec![self.scale_bits; (SLOTS_TO_COEFFS + levels) as usize]);
        sizes.extend([self.last_bits; 2]);
        sizes.extend([self.eval_mod_bits; EVAL_MOD - 2]);
        sizes.extend([self.coeffs_to_slots_bits; COEFFS_TO_SLOTS]);
        sizes
    }
}

struct Search<'a> {
    set: &'a BootstrapSet,
    step: u64,
    taken: Vec<u64>,
}

impl Search<'_> {
    fn near(&mut self, bits: f64) -> Result<u64, SetError> {
        let prime = nearest_prime(libm::exp2(bits) as u64, self.step, 1 << 61, &self.taken)
            .filter(|&p| libm::fabs(libm::log2(p as f64) - bits) < 0.5)
            .ok_or(SetError::Primes { set: self.set.name, bits })?;
        self.taken.push(prime);
        Ok(prime)
    }

    /// Primes near 2^bits, first to last divided away, that bring the scale 2^bits back to itself.
    fn steady(&mut self, bits: f64, count: usize) -> Result<Vec<u64>, SetError> {
        let target = libm::exp2(bits);
        let mut scale = target;
        let next = |_| {
            let prime = self.near(libm::log2(scale * scale / target))?;
            scale = scale * scale / prime as f64;
            Ok(prime)
        };
        (0..count).map(next).collect()
    }
}

/// log2 of the probability that some coefficient of one of `bootstraps` ciphertexts leaves the range, by the union bound.
///
/// After raising, a coefficient over q_0 is x = a s + b with |b| <= 1/2 and a s a sum of [`SPARSE_WEIGHT`] independent uniform numbers
/// in [-1/2, 1/2]; P(|a s| > RANGE - 1/2) = 2 sum_k (-1)^k C(h, k) (u - k)^h / h! over k <= u = (h + 1) / 2 - RANGE
/// (the distribution of Irwin and Hall).
pub fn failure_log2(log_n: u32, bootstraps: u64) -> f64 {
    tail_log2(SPARSE_WEIGHT, f64::from(RANGE) - 0.5) + f64::from(log_n) + libm::log2(bootstraps.max(1) as f64)
}

/// log2 P(|x| > bound) for the sum x of `terms` independent uniform numbers in [-1/2, 1/2].
pub fn tail_log2(terms: u32, bound: f64) -> f64 {
    let (h, u) = (f64::from(terms), f64::from(terms) / 2.0 - bound);
    if u <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let (mut binomial, mut sum) = (1.0, 0.0);
    for k in 0..=libm::floor(u) as u32 {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        sum += sign * binomial * libm::pow((u - f64::from(k)) / u, h);
        binomial *= (h - f64::from(k)) / (f64::from(k) + 1.0);
    }
    1.0 + libm::log2(sum) + h * libm::log2(u) - libm::lgamma(h + 1.0) / std::f64::consts::LN_2
}

/// Consecutive butterfly stages of the transform between coefficients and slots, merged into one level: a matrix with diagonals at
/// multiples of 2^`log_stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageGroup {
    /// log2 of the distance of neighbouring diagonals, and number of the first stage
    pub log_stride: u32,
    /// stages merged
    pub stages: u32,
    /// whether its diagonals wrap around, so that half of them coincide with the others
    pub last: bool,
}

impl StageGroup {
    /// The groups of a transform of 2^`log_slots` slots, from the stage with neighbouring slots on.
    pub fn all(log_slots: u32) -> [StageGroup; 3] {
        let (base, extra) = (log_slots / 3, log_slots % 3);
        let mut log_stride = 0;
        [0, 1, 2].map(|i| {
            let stages = base + u32::from(i < extra);
            let group = StageGroup { log_stride, stages, last: i == 2 };
            log_stride += stages;
            group
        })
    }

    /// Baby and giant step of the diagonal at `multiple` times the stride, both in strides.
    pub fn split(&self, multiple: i64) -> (i64, i64) {
        let multiple = if self.last { multiple.rem_euclid(1 << self.stages) } else { multiple };
        let baby = multiple.rem_euclid(BABY_STEPS);
        (baby, multiple - baby)
    }

    /// Multiples of the stride at which there are diagonals.
    pub fn multiples(&self) -> std::ops::Range<i64> {
        let count = 1 << self.stages;
        if self.last { 0..count } else { 1 - count..count }
    }

    /// The rotations that need a key, in [1, 2^log_slots).
    pub fn rotations(&self, log_slots: u32) -> BTreeSet<usize> {
        let slot = |steps: i64| (steps << self.log_stride).rem_euclid(1 << log_slots) as usize;
        let both =
            self.multiples().map(|m| self.split(m)).flat_map(|(baby, giant)| [slot(baby), slot(giant)]);
        both.filter(|&s| s != 0).collect()
    }
}

impl Params {
    /// The level of the keys of a bootstrap: that of the raised modulus. Without bootstrapping the highest level.
    pub fn raised(&self) -> Level {
        let above = self.bootstrap.as_ref().map_or(0, |b| b.eval_mod.len() + b.coeffs_to_slots.len());
        Level(self.top().0 + above as u32)
    }

    /// Primes of bootstrapping above those of values, from the last one to be divided away.
    pub fn raised_primes(&self) -> impl Iterator<Item = u64> {
        self.bootstrap.iter().flat_map(|b| b.eval_mod.iter().chain(&b.coeffs_to_slots).copied())
    }

    /// The scale of every level up to the raised one: those of values, and of eval-mod, which is spent by squares. Levels of
    /// coeffs-to-slots have the first scale of eval-mod.
    pub fn raised_scales(&self) -> Vec<f64> {
        let mut scales = self.scale.clone();
        let Some(b) = &self.bootstrap else { return scales };
        let mut scale = b.first_scale();
        let mut eval_mod: Vec<f64> = b.eval_mod.iter().map(|_| 0.0).collect();
        for (place, &q) in eval_mod.iter_mut().zip(&b.eval_mod).rev() {
            *place = scale;
            scale = scale * scale / q as f64;
        }
        scales.extend(eval_mod);
        scales.extend(b.coeffs_to_slots.iter().map(|_| b.first_scale()));
        scales
    }

    /// log2 of the modulus under which the encapsulated secret hides its key.
    pub fn sparse_log_pq(&self) -> f64 {
        libm::log2(self.q[0] as f64) + libm::log2(self.special[0] as f64)
    }

    /// Keys of a bootstrap, none without one.
    pub fn bootstrap_keys(&self) -> Vec<Key> {
        let RingSpec::PowerOfTwo { log_n } = self.ring else { return vec![] };
        if self.bootstrap.is_none() {
            return vec![];
        }
        let rotations: BTreeSet<usize> =
            StageGroup::all(log_n - 1).iter().flat_map(|g| g.rotations(log_n - 1)).collect();
        let mut kinds = vec![KeyKind::Relinearize, KeyKind::Conjugate, KeyKind::Raise];
        kinds.extend(rotations.into_iter().map(|s| KeyKind::Rotate(Shift::Slots(s))));
        let raised = kinds.into_iter().map(|kind| Key { kind, level: self.raised() });
        raised.chain([Key { kind: KeyKind::Encapsulate, level: Level(0) }]).collect()
    }

    /// Key switches of a bootstrap to `target`, by the limbs of the ciphertext that is switched.
    pub fn bootstrap_switches(&self, target: Level) -> Vec<(usize, u64)> {
        let RingSpec::PowerOfTwo { log_n } = self.ring else { return vec![] };
        let groups = StageGroup::all(log_n - 1);
        let switches = |g: &StageGroup| g.rotations(log_n - 1).len() as u64;
        let raised = target.limbs() + EVAL_MOD + COEFFS_TO_SLOTS;
        let down = groups.iter().enumerate().map(|(i, g)| (SLOTS_TO_COEFFS as usize + 1 - i, switches(g)));
        let up = groups.iter().rev().enumerate().map(|(i, g)| (raised - i, switches(g)));
        // the powers and products of the series take two thirds of its levels on average
        let series = raised - COEFFS_TO_SLOTS - 2;
        down.chain(up).chain([(series, 12), (target.limbs() + 3, 6)]).collect()
    }

    /// Verifies what a bootstrap needs of the parameters.
    pub(crate) fn check_bootstrap(&self) -> Result<(), ParamsError> {
        let Some(b) = &self.bootstrap else { return Ok(()) };
        let malformed = |reason| Err(ParamsError::Malformed(reason));
        if !matches!(self.ring, RingSpec::PowerOfTwo { log_n: 5.. }) {
            return malformed("bootstrapping needs a ring X^N + 1 with N of at least 2^5");
        }
        if b.eval_mod.len() != EVAL_MOD || b.coeffs_to_slots.len() != COEFFS_TO_SLOTS {
            return malformed("bootstrapping needs 9 primes for eval-mod and 3 for coeffs-to-slots");
        }
        if self.top().0 <= SLOTS_TO_COEFFS {
            return malformed("bootstrapping needs a level above the 3 that it takes");
        }
        if self.bootstrap_ratio_log2(self.top()) < MIN_LOG_RATIO {
            return malformed(
                "q_0 is less than 2^5 times the coefficients to which bootstrapping brings a value",
            );
        }
        let (found, degree) = (self.sparse_log_pq(), self.ring.degree());
        if !self.insecure && (found > MAX_SPARSE_LOG_PQ || degree < 1 << 15) {
            return Err(ParamsError::Sparse { log_pq: found, bound: MAX_SPARSE_LOG_PQ, degree });
        }
        Ok(())
    }

    /// log2 of q_0 over a coefficient that stands for 1 when the modulus is raised. The output scale S of a bootstrap follows from
    /// that of eval-mod, S_em: a value z at scale S_0 = q_0 / 2^ratio comes out as 24 pi S_em / 2^ratio z.
    pub fn bootstrap_ratio_log2(&self, target: Level) -> f64 {
        let eval_mod = self.bootstrap.as_ref().map_or(1.0, Bootstrapping::final_scale);
        libm::log2(24.0 * std::f64::consts::PI * eval_mod / self.scale_at(target))
    }
}

impl Bootstrapping {
    /// Scale of values when eval-mod begins: its first prime.
    pub fn first_scale(&self) -> f64 {
        self.eval_mod.last().map_or(1.0, |&q| q as f64)
    }

    /// Scale after every prime of eval-mod, each a square over a prime.
    pub fn final_scale(&self) -> f64 {
        self.eval_mod.iter().rev().fold(self.first_scale(), |scale, &q| scale * scale / q as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_secure_and_have_the_levels_they_say() {
        assert_eq!(SETS.map(|s| s.max_levels(128)), [3, 23]);
        for (set, levels, log_pq) in [(0, 3, 864.5), (1, 8, 1614.7), (1, 16, 1742.7)] {
            let params = SETS[set].params(levels, 128).unwrap();
            assert!((params.log_pq() - log_pq).abs() < 0.1, "{}", params.log_pq());
            assert_eq!(params.top(), Level(SLOTS_TO_COEFFS + levels));
            assert!(params.sparse_log_pq() <= MAX_SPARSE_LOG_PQ);
            for target in [SLOTS_TO_COEFFS + 1, params.top().0] {
                let ratio = params.bootstrap_ratio_log2(Level(target));
                assert!((6.4..6.8).contains(&ratio), "{ratio}");
            }
        }
        let more = SETS[0].params(4, 128);
        assert!(matches!(more, Err(SetError::Levels { available: 3, .. })), "{more:?}");
        assert!(SETS[0].params(1, 192).is_err());
    }

    #[test]
    fn failure_is_that_of_the_sum_of_uniform_numbers() {
        // two terms: P(|x| > b) = (1 - b)^2; 12 terms are nearly Gaussian of deviation 1
        assert!((tail_log2(2, 0.75) + 4.0).abs() < 1e-12);
        assert!((tail_log2(12, 1.0) - 0.3173_f64.log2()).abs() < 0.02, "{}", tail_log2(12, 1.0));
        assert!((tail_log2(32, 15.5) + 148.66).abs() < 0.01, "{}", tail_log2(32, 15.5));
        assert!(failure_log2(16, 1 << 20) < -100.0);
    }

    #[test]
    fn groups_cover_all_stages_and_few_rotations_are_needed() {
        for log_slots in [4, 7, 14, 15] {
            let groups = StageGroup::all(log_slots);
            assert_eq!(groups.iter().map(|g| g.stages).sum::<u32>(), log_slots);
            assert_eq!(groups[2].log_stride + groups[2].stages, log_slots);
        }
        let switches = StageGroup::all(15).map(|g| g.rotations(15).len());
        assert_eq!(switches, [14, 14, 10]);
        let params = SETS[1].params(8, 128).unwrap();
        assert_eq!(params.bootstrap_keys().len(), 38 + 4);
        let work = |target| params.bootstrap_switches(Level(target)).iter().map(|(l, n)| *l as u64 * n).sum();
        let (low, high): (u64, u64) = (work(4), work(11));
        assert!(low < high);
    }
}
