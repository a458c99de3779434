//! The corpus and how its programs run: the only code of the tests that touches the API.
//!
//! A program is judged by its interpreter, which is itself held against outputs computed with numpy. Its plan must compute the
//! same in clear up to the error of its approximations, and under encryption up to the error it predicts.

mod corpus;
mod job;

pub use corpus::{Case, corpus_folder, load_cases};
pub use job::{Job, Refusal, encrypted, slow};
