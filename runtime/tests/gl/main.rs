//! The Gentry-Lee scheme with real noise on toy rings, against matrix algebra in f64.

mod full_size;
mod noise;
mod operations;
mod refusals;
mod shapes;
mod slices;
mod toy;
