//! The fhec compiler: from a syntax tree to a plan. No cryptography and no input or output happen here.

pub mod diag;
pub mod ir;
pub mod passes;
pub mod source;
