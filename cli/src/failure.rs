//! How a command fails: what is said, as text or JSON, and the exit code.

use crate::console::{Console, print_json};
use compiler::diag::{Diagnostics, Severity};
use compiler::interpret::BROKEN_GRAPH;
use compiler::lower::error::INTERNAL as INTERNAL_CODE;
use compiler::source::Sources;
use plan::load::LoadError;
use runtime::data::DataError;
use runtime::exec::memory::MemoryError;
use runtime::exec::{ExecError, InputError, OpError};
use runtime::files::{FileError, PlanFileError};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Exit code: the program or its data are wrong.
pub const WRONG: u8 = 1;
/// Exit code: the arguments are wrong.
pub const USAGE: u8 = 2;
/// Exit code: the machine cannot do it.
pub const MACHINE: u8 = 3;
/// Exit code: an error of fhec itself.
pub const INTERNAL: u8 = 70;

/// How to report an internal error.
pub const REPORT: &str = concat!(
    "This is a bug of fhec. Please report it, with the command and the program, at\n  ",
    env!("CARGO_PKG_REPOSITORY"),
    "/issues"
);

/// Why a command fails.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The program is wrong.
    #[error("the program is refused")]
    Program {
        /// its files
        sources: Box<Sources>,
        /// what is wrong
        diagnostics: Diagnostics,
    },
    /// The compiler broke its own rules.
    #[error("{0}")]
    Compiler(String),
    /// The program cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Data cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Data do not fit the program.
    #[error("the data do not fit the program")]
    Inputs {
        /// the program
        file: PathBuf,
        /// what is wrong
        errors: Vec<InputError>,
    },
    /// An argument that clap cannot judge is wrong.
    #[error("{0}")]
    Usage(String),
    /// A key or ciphertext file is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// A plan file is wrong.
    #[error(transparent)]
    PlanFile(#[from] PlanFileError),
    /// The plan does not execute.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// Keys, encryption or decryption fail.
    #[error(transparent)]
    Scheme(#[from] OpError),
    /// The plan does not fit the machine.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// No randomness, no folder: the system refuses.
    #[error("{what}: {source}")]
    System {
        /// what was tried
        what: String,
        /// what the system says
        source: std::io::Error,
    },
}

impl Failure {
    /// A program that is refused, or a compiler that broke a rule of its own.
    pub fn program(sources: Sources, diagnostics: Diagnostics) -> Failure {
        let broken = diagnostics.iter().find(|d| [INTERNAL_CODE, BROKEN_GRAPH].contains(&d.code));
        match broken.map(|d| d.message.clone()) {
            Some(message) => Failure::Compiler(message),
            None => Failure::Program { sources: Box::new(sources), diagnostics },
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => USAGE,
            Failure::Memory(_) | Failure::System { .. } => MACHINE,
            Failure::Compiler(_) | Failure::Exec(ExecError::Book { .. } | ExecError::Map { .. }) => INTERNAL,
            _ => WRONG,
        }
    }

    /// Prints the errors where the user wants them.
    pub fn show(&self, console: &Console) {
        if console.json() {
            print_json(&self.to_json());
            return;
        }
        match self {
            Failure::Program { sources, diagnostics } => {
                console.error(&diagnostics.render(sources, console.colour()));
                let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
                console.error(&format!("error: {errors} error{}", if errors == 1 { "" } else { "s" }));
            }
            Failure::Inputs { file, errors } => {
                for e in errors {
                    console.error(&format!("error: {e}\n  --> {}{}", file.display(), place(e.line())));
                }
            }
            other => console.error(&format!("error: {other}")),
        }
        if self.exit_code() == INTERNAL {
            console.error(REPORT);
        }
    }

    fn to_json(&self) -> Value {
        let errors = match self {
            Failure::Program { sources, diagnostics } => diagnostics.to_json(sources),
            Failure::Inputs { file, errors } => errors
                .iter()
                .map(|e| json!({"severity": "error", "message": e.to_string(), "file": file, "line": e.line()}))
                .collect(),
            other => json!([{"severity": "error", "message": other.to_string()}]),
        };
        json!({"exit": self.exit_code(), "errors": errors})
    }
}

fn place(line: Option<u32>) -> String {
    line.map(|l| format!(":{l}")).unwrap_or_default()
}

/// JSON of wrong arguments.
pub fn usage_json(message: &str) -> Value {
    json!({"exit": USAGE, "errors": [{"severity": "error", "message": message.trim_end()}]})
}

/// JSON of a panic.
pub fn internal_json() -> Value {
    let message = format!("internal error. {}", REPORT.replace('\n', ""));
    json!({"exit": INTERNAL, "errors": [{"severity": "error", "message": message}]})
}
