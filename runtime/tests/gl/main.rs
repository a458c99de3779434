//! The Gentry-Lee scheme with real noise on toy rings, against matrix algebra in f64.

mod noise;
mod operations;
mod refusals;
mod toy;
