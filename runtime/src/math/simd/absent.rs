//! Stands for the kernels of x86-64 on other machines: the proof [`Avx2`] cannot be had, nor what needs it.

use crate::math::modulus::{Modulus, Shoup};
use crate::math::products::{Start, Terms};

pub(crate) const COLUMNS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Avx2 {}

impl Avx2 {
    pub(crate) fn detect() -> Option<Avx2> {
        None
    }
}

#[derive(Clone, Debug)]
pub(crate) struct NegacyclicTables(Avx2);

impl NegacyclicTables {
    pub(crate) fn new(proof: Avx2, _: Modulus, _: &[Shoup], _: &[Shoup]) -> Option<NegacyclicTables> {
        match proof {}
    }

    pub(crate) fn forward(&self, _: &mut [u64]) {
        match self.0 {}
    }

    pub(crate) fn inverse(&self, _: &mut [u64], _: Shoup) {
        match self.0 {}
    }
}

#[derive(Clone, Debug)]
pub(crate) struct CyclicTables(Avx2);

impl CyclicTables {
    pub(crate) fn new(proof: Avx2, _: Modulus, _: &[(usize, &[Shoup])]) -> Option<CyclicTables> {
        match proof {}
    }

    pub(crate) fn correlate(&self, _: &mut [u64], _: &[Shoup]) {
        match self.0 {}
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Products(Avx2);

impl Products {
    pub(crate) fn new(proof: Avx2, _: Modulus) -> Option<Products> {
        match proof {}
    }

    pub(crate) fn add_assign(&self, _: &mut [u64], _: &[u64]) -> usize {
        match self.0 {}
    }

    pub(crate) fn sub_assign(&self, _: &mut [u64], _: &[u64]) -> usize {
        match self.0 {}
    }

    pub(crate) fn neg_assign(&self, _: &mut [u64]) -> usize {
        match self.0 {}
    }

    pub(crate) fn scale_add_assign(&self, _: &mut [u64], _: &[u64], _: Shoup) -> usize {
        match self.0 {}
    }

    pub(crate) fn mul_assign(&self, _: &mut [u64], _: &[u64]) -> usize {
        match self.0 {}
    }

    pub(crate) fn mul_add_assign(&self, _: &mut [u64], _: &[u64], _: &[u64]) -> usize {
        match self.0 {}
    }

    pub(crate) fn scale(&self, _: &mut [u64], _: Shoup) -> usize {
        match self.0 {}
    }

    pub(crate) fn scale_difference(&self, _: &mut [u64], _: &[u64], _: Shoup) -> usize {
        match self.0 {}
    }

    pub(crate) fn sums_of_products<const C: usize>(
        &self,
        _: [Start; C],
        _: &Terms<C>,
        _: [&mut [u64]; C],
    ) -> usize {
        match self.0 {}
    }

    pub(crate) fn combination(&self, _: &[(&[u64], u64)], _: u32, _: &mut [u64]) -> usize {
        match self.0 {}
    }
}

pub(crate) fn sum_of_fractions(proof: Avx2, _: &[(&[u64], f64)], _: u32, _: &mut [u64]) -> usize {
    match proof {}
}

#[derive(Clone, Debug)]
pub(crate) struct TileProducts<const A: usize, const B: usize>(Avx2);

impl<const A: usize, const B: usize> TileProducts<A, B> {
    pub(crate) fn new(proof: Avx2, _: Modulus, _: usize) -> Option<TileProducts<A, B>> {
        match proof {}
    }

    pub(crate) fn load_left(&mut self, _: usize, _: usize, _: &[u64]) {
        match self.0 {}
    }

    pub(crate) fn load_right(&mut self, _: usize, _: usize, _: &[u64]) {
        match self.0 {}
    }

    pub(crate) fn multiply(&mut self) {
        match self.0 {}
    }

    pub(crate) fn finish(&mut self, _: &mut [u64], _: usize) {
        match self.0 {}
    }
}
