//! Facts about graphs: analyses decide, passes apply.

pub mod degree;
pub mod depth;
pub mod interval;
pub mod level;
pub mod level_cost;
pub mod magnitude;
pub mod noise;
pub mod range;
pub mod sensitivity;
pub mod tolerance;
