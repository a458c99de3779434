//! The fhec runtime.
