//! The fhec compiler.
