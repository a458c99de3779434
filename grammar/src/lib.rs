//! The fhec language.
