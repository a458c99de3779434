//! The `fhec` command.

fn main() {}
