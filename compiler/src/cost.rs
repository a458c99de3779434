//! The cost model that compares schemes, rings and kernels, in modular multiply-adds. The only place with its numbers.
//!
//! * A transform of dimension N has N/2 log2 N butterflies, each counted as two multiply-adds.
//! * A key switch at l limbs with digits of alpha primes and k special primes, beta = ceil(l / alpha): (beta + 2)(l + k)
//!   transforms and 2 beta (l + k) N multiply-adds (Han, Ki 2019).
//! * A rescale at l limbs: 2 l transforms for both components.
//! * GL: every ciphertext is n base-ring ciphertexts; an encrypted product is 4 n^2 N l multiply-adds and 2 n key switches, a
//!   product with a clear matrix 2 n^2 N l multiply-adds.
//! * CKKS: a masked product of inner extent K is K (log2 rows + log2 cols) key switches and 3 K products.

use crate::lower::linear::Kernel;
use plan::{Geometry, Op, Scheme};

/// Sizes that set the cost of operations.
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
}

/// Limbs at which kernels are compared before levels are known.
const TYPICAL_LIMBS: f64 = 4.0;
/// A level costs about as much as a fifth of everything at the typical limbs; as many transforms per slice:
const LEVEL_TRANSFORMS: f64 = 400.0;

impl CostModel {
    /// The model of a geometry before parameters are known.
    pub fn of(geometry: &Geometry) -> CostModel {
        let slices = if geometry.scheme == Scheme::Gl { geometry.rows as f64 } else { 1.0 };
        let degree = 2.0 * geometry.slots() as f64 / slices;
        CostModel { degree, slices, special: 2.0, digit: 1.0, typical_limbs: TYPICAL_LIMBS }
    }

    fn transform(&self) -> f64 {
        self.degree * libm::log2(self.degree)
    }

    /// One key switch of a base-ring ciphertext.
    pub fn key_switch(&self, limbs: f64) -> f64 {
        let digits = (limbs / self.digit).ceil();
        let width = limbs + self.special;
        (digits + 2.0) * width * self.transform() + 2.0 * digits * width * self.degree
    }

    /// Rescale of one base-ring ciphertext.
    pub fn rescale(&self, limbs: f64) -> f64 {
        2.0 * limbs * self.transform()
    }

    /// One evaluation of a linear map at the limbs of its operand, without the rescale.
    fn map(&self, kernel: &Kernel, limbs: f64) -> f64 {
        let masks = kernel.plaintexts as f64 * limbs * (2.0 * self.degree + self.transform());
        let products = (kernel.products as f64 * 2.0 + kernel.pairs as f64 * 4.0)
            * self.slices
            * self.slices
            * self.degree
            * limbs;
        kernel.key_switches as f64 * self.key_switch(limbs) + masks + products
    }

    /// A linear map for comparison with others: at typical limbs, with a charge for its level.
    pub fn kernel(&self, kernel: &Kernel) -> f64 {
        let level = f64::from(kernel.levels()) * LEVEL_TRANSFORMS * self.slices * self.transform();
        self.map(kernel, self.typical_limbs) + level
    }

    /// A transpose of one GL ciphertext, for comparison with kernels.
    pub fn flip(&self) -> f64 {
        self.slices * self.key_switch(self.typical_limbs)
    }

    /// One GL ciphertext encrypted once more, for comparison with kernels: two components, in and out of the transform.
    pub fn encryption(&self) -> f64 {
        self.slices * 4.0 * self.typical_limbs * self.transform()
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

    /// One operation on `cts` ciphertexts whose operand has `limbs`.
    pub fn operation(
        &self,
        op: &Op,
        kernel: Option<&Kernel>,
        cts: usize,
        limbs: f64,
        g: &Geometry,
        inner: usize,
    ) -> f64 {
        let slices = cts as f64 * self.slices;
        let switches = self.key_switches(op, kernel, cts, g, inner) as f64 * self.key_switch(limbs);
        let rescale = f64::from(op.level_cost().unwrap_or(1)) * slices * self.rescale(limbs);
        let work = match op {
            Op::Mul => slices * 5.0 * limbs * self.degree,
            Op::MaskedMatMul => slices * inner as f64 * limbs * (3.0 * self.degree + 2.0 * self.transform()),
            Op::Combine { coefficients, .. } => {
                slices * 2.0 * limbs * self.degree * coefficients.len() as f64
            }
            _ => slices * 2.0 * limbs * self.degree,
        };
        let map = kernel.map_or(0.0, |k| self.map(k, limbs) - k.key_switches as f64 * self.key_switch(limbs));
        switches + rescale + work + map
    }
}
