//! What compiler and runtime share: tensors and their operations, layouts, parameters, and plans.
//!
//! A [`Plan`] is all a server needs to evaluate a program and all a client needs to make keys, encrypt and decrypt.
//! Words run one way everywhere: [`units::Level`] counts the rescales that are left, scales are exact f64 values computed
//! by the same operations on every machine, a [`layout::Shift`] by `s` brings slot `i + s` to slot `i`.

pub mod bootstrap;
pub mod function;
pub mod layout;
pub mod linear;
pub mod load;
pub mod op;
pub mod params;
pub mod plan;
pub mod prime;
pub mod product;
pub mod relabel;
pub mod ring;
pub mod rows;
pub mod security;
pub mod tensor;
pub mod text;
pub mod transform;
pub mod units;
pub mod verify;

pub use bootstrap::{BootstrapSet, Bootstrapping};
pub use function::Function;
pub use layout::{Copies, Geometry, Layout, Placement, Shift, Split};
pub use linear::{LinearStep, Operand, Sparse};
pub use op::TensorOp;
pub use params::{Params, Scheme};
pub use plan::{Form, Input, Key, KeyKind, Node, Op, Output, Plan, Secrecy};
pub use product::Product;
pub use ring::RingSpec;
pub use rows::RowMap;
pub use tensor::Tensor;
pub use transform::Transform;
pub use units::{Bytes, Level, NodeId};
