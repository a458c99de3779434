//! The `fhec` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    fhec_cli::main()
}
