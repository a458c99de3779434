//! Corpus runner.
