//! Kernels for x86-64 with AVX2 and FMA.

mod butterflies;
mod cyclic;
mod field;
mod negacyclic;
mod products;
mod tiles;

pub(crate) use cyclic::{COLUMNS, CyclicTables};
pub(crate) use negacyclic::NegacyclicTables;
pub(crate) use products::{Products, sum_of_fractions};
pub(crate) use tiles::TileProducts;

/// The proof that this machine has AVX2 and FMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(crate) fn detect() -> Option<Avx2> {
        let found = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        found.then_some(Avx2(()))
    }
}
