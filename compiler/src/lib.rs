//! The fhec compiler: from a syntax tree to a plan. No cryptography and no input or output happen here.

pub mod analysis;
pub mod approximate;
pub mod cost;
pub mod diag;
pub mod driver;
pub mod explain;
pub mod from_ast;
pub mod interpret;
pub mod ir;
pub mod lower;
pub mod params;
pub mod passes;
pub mod placement;
pub mod source;
