//! Shared by compiler and runtime.
