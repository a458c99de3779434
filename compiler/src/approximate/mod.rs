//! Functions by polynomials on an interval, and polynomials by few products.
//!
//! [`remez`] finds the best polynomial of a degree, [`fit`] the degree that a function needs, [`scheme`] the products and
//! linear combinations that evaluate it with the smallest depth.

pub mod composite;
pub mod fit;
pub mod interpolate;
pub mod piecewise;
pub mod remez;
pub mod scheme;
