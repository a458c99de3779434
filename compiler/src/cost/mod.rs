//! What operations cost, in nanoseconds on a machine: amounts of arithmetic by the formulas here, times the rates of
//! [`machine`]. Compares schemes, rings, kernels and placements.
//!
//! * A key switch at l limbs with digits of alpha primes and k special primes, beta = ceil(l / alpha): (beta + 2)(l + k)
//!   transforms, 2 beta (l + k) N multiply-adds with the key, beta alpha (l + k) N and 2 k l N for the changes of basis (Han,
//!   Ki 2019).
//! * A rescale at l limbs: 2 l transforms for both components.
//! * GL: every ciphertext is n base-ring ciphertexts; an encrypted product is 4 n^2 N l multiply-adds and 2 n key switches, a
//!   product with a clear matrix 2 n^2 N l multiply-adds.
//! * CKKS: a masked product of inner extent K is K (log2 rows + log2 cols) key switches and 3 K products.

pub mod machine;

use crate::lower::draft::Draft;
use crate::lower::linear::Kernel;
use machine::{Rates, SchemeRates, Work};
use plan::{Geometry, Level, Op, Params, Scheme};

/// Sizes that set the cost of operations, and the rates of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostModel {
    /// ring dimension
    pub degree: f64,
    /// base-ring ciphertexts in one ciphertext: n in GL, 1 in CKKS
    pub slices: f64,
    /// special primes
    pub special: f64,
    /// primes in a digit
    pub digit: f64,
    /// limbs at which kernels are compared
    pub typical_limbs: f64,
    /// nanoseconds of arithmetic
    pub rates: Rates,
}

/// Limbs at which kernels are compared before levels are known.
const TYPICAL_LIMBS: f64 = 4.0;
/// A level costs about as much as a fifth of everything at the typical limbs; as many transforms per slice:
const LEVEL_TRANSFORMS: f64 = 400.0;

impl CostModel {
    /// The model of a geometry before parameters are known.
    pub fn new(geometry: &Geometry, rates: &SchemeRates) -> CostModel {
        let (slices, rates) = match geometry.scheme {
            Scheme::Gl => (geometry.rows as f64, rates.gl),
            Scheme::Ckks => (1.0, rates.ckks),
        };
        let degree = 2.0 * geometry.slots() as f64 / slices;
        CostModel { degree, slices, special: 2.0, digit: 1.0, typical_limbs: TYPICAL_LIMBS, rates }
    }

    /// The model of a geometry on the default machine.
    pub fn of(geometry: &Geometry) -> CostModel {
        CostModel::new(geometry, &SchemeRates::default())
    }

    /// The model of parameters.
    pub fn with(self, params: &Params) -> CostModel {
        CostModel { special: params.special.len() as f64, digit: params.digit as f64, ..self }
    }

    /// N log2 N of one transform.
    fn transform(&self) -> f64 {
        self.degree * libm::log2(self.degree)
    }

    fn transforms(&self, count: f64) -> Work {
        Work { transforms: count * self.transform(), ..Work::default() }
    }

    fn pointwise(&self, limbs: f64) -> Work {
        Work { pointwise: limbs * self.degree, ..Work::default() }
    }

    /// One key switch of a base-ring ciphertext, in nanoseconds.
    pub fn key_switch(&self, limbs: f64) -> f64 {
        self.switch(limbs).time(&self.rates)
    }

    /// One key switch of a base-ring ciphertext.
    pub fn switch(&self, limbs: f64) -> Work {
        let digits = (limbs / self.digit).ceil();
        let width = limbs + self.special;
        let bases = digits * self.digit.min(limbs) * width + 2.0 * self.special * limbs;
        self.transforms((digits + 2.0) * width) + self.pointwise(2.0 * digits * width + bases)
    }

    /// Rescale of one base-ring ciphertext.
    fn rescale(&self, limbs: f64) -> Work {
        self.transforms(2.0 * limbs)
    }

    /// An encoded plaintext of some limbs, and its product with both components of a ciphertext.
    pub fn mask(&self, limbs: f64) -> Work {
        let encoded = Work { encodes: self.transform(), ..self.transforms(limbs) };
        encoded + self.pointwise(2.0 * limbs)
    }

    /// One evaluation of a linear map at the limbs of its operand, without key switches and the rescale.
    fn map(&self, kernel: &Kernel, limbs: f64) -> Work {
        let products = kernel.products as f64 + 2.0 * kernel.pairs as f64;
        self.mask(limbs) * kernel.plaintexts as f64 + self.matrices(limbs) * products
    }

    /// The matrix products of a GL ciphertext with a clear one.
    fn matrices(&self, limbs: f64) -> Work {
        Work { products: 2.0 * self.slices * self.slices * self.degree * limbs, ..Work::default() }
    }

    /// A product of two GL ciphertexts, without the rescale.
    pub fn product(&self, limbs: f64) -> Work {
        self.switch(limbs) * (2.0 * self.slices) + self.matrices(limbs) * 2.0
    }

    /// A product of a GL ciphertext with a clear one that is to be encoded, without the rescale.
    pub fn clear_product(&self, limbs: f64) -> Work {
        self.mask(limbs) * self.slices + self.matrices(limbs)
    }

    /// A linear map for comparison with others: at typical limbs, with a charge for its level.
    pub fn kernel(&self, kernel: &Kernel) -> f64 {
        let limbs = self.typical_limbs;
        let level = self.transforms(f64::from(kernel.levels()) * LEVEL_TRANSFORMS * self.slices);
        let switches = self.switch(limbs) * kernel.key_switches as f64;
        (switches + self.map(kernel, limbs) + level).time(&self.rates)
    }

    /// A transpose of one GL ciphertext, for comparison with kernels.
    pub fn flip(&self) -> f64 {
        self.slices * self.key_switch(self.typical_limbs)
    }

    /// One GL ciphertext encrypted once more, for comparison with kernels: two components, in and out of the transform.
    pub fn encryption(&self) -> f64 {
        self.transforms(self.slices * 4.0 * self.typical_limbs).time(&self.rates)
    }

    /// Key switches of base-ring ciphertexts of an operation; `inner` is the contraction of a product.
    pub fn key_switches(
        &self,
        op: &Op,
        kernel: Option<&Kernel>,
        cts: usize,
        g: &Geometry,
        inner: usize,
    ) -> u64 {
        let slices = (cts as f64 * self.slices) as u64;
        match op {
            Op::Mul | Op::Flip => slices,
            Op::MaskedMatMul => {
                let spread = g.rows.trailing_zeros() + g.cols.trailing_zeros();
                cts as u64 * (inner as u64 * u64::from(spread) + 1)
            }
            _ => kernel.map_or(0, |k| k.key_switches),
        }
    }

    /// A node of a draft whose operand has `limbs`, in nanoseconds.
    pub fn node(&self, draft: &Draft, i: usize, limbs: f64) -> f64 {
        let node = &draft.nodes[i];
        let kernel = node.kernel.as_deref();
        let work =
            self.operation(&node.op, kernel, draft.ciphertexts(i), limbs, &draft.geometry, draft.inner(i));
        work.time(&self.rates)
    }

    /// A copy of one ciphertext, made at `limbs` and one limb less, in nanoseconds.
    pub fn adjust(&self, limbs: f64) -> f64 {
        ((self.rescale(limbs) + self.pointwise(2.0 * limbs)) * self.slices).time(&self.rates)
    }

    /// A bootstrap of one ciphertext to a level, in nanoseconds: its key switches.
    pub fn bootstrap(&self, params: &Params, target: Level) -> f64 {
        let switches = params.bootstrap_switches(target).into_iter();
        switches.map(|(limbs, count)| count as f64 * self.key_switch(limbs as f64)).sum()
    }

    /// One operation on `cts` ciphertexts whose operand has `limbs`.
    pub fn operation(
        &self,
        op: &Op,
        kernel: Option<&Kernel>,
        cts: usize,
        limbs: f64,
        g: &Geometry,
        inner: usize,
    ) -> Work {
        let slices = cts as f64 * self.slices;
        let switches = self.switch(limbs) * self.key_switches(op, kernel, cts, g, inner) as f64;
        let rescale = self.rescale(limbs) * (f64::from(op.level_cost().unwrap_or(1)) * slices);
        let work = match op {
            Op::Mul => self.pointwise(5.0 * limbs) * slices,
            Op::MaskedMatMul => {
                let one = self.pointwise(3.0 * limbs) + self.transforms(2.0 * limbs);
                one * (slices * inner as f64)
            }
            Op::Combine { coefficients, .. } => {
                self.pointwise(2.0 * limbs) * (slices * coefficients.len() as f64)
            }
            Op::AddClear => (self.mask(limbs) + self.pointwise(limbs)) * slices,
            _ => self.pointwise(2.0 * limbs) * slices,
        };
        switches + rescale + work + kernel.map_or(Work::default(), |k| self.map(k, limbs))
    }
}

/// A cost as a time.
pub fn show(nanoseconds: f64) -> String {
    match nanoseconds {
        t if t < 1e6 => format!("{:.1} us", t / 1e3),
        t if t < 1e9 => format!("{:.1} ms", t / 1e6),
        t => format!("{:.2} s", t / 1e9),
    }
}
