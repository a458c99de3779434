//! The `fhec` command: reads arguments, runs one command, turns its end into text or JSON and an exit code. A library so
//! that tests across crates read files as the command does.

mod accuracy;
mod args;
mod bench;
mod commands;
mod console;
mod failure;
mod inputs;
mod loader;
mod program;
mod report;
mod usage;

pub use loader::FileLoader;

use args::{Cli, Command};
use clap::Parser;
use console::Console;
use failure::{Failure, INTERNAL, USAGE};
use std::process::ExitCode;

/// Stack of the thread that runs the command: deep programs are legal, and the memory is only taken when it is used.
const STACK_BYTES: usize = 256 << 20;

/// The command, from the arguments of the process to its exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage_error(&error),
    };
    let console = Console::new(&cli.global);
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
        let payload = info.payload();
        let message = payload.downcast_ref::<String>().map(String::as_str);
        let message = message.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        eprintln!("internal error{place}: {message}\n{}", failure::REPORT);
    }));
    let run = move || ExitCode::from(execute(&cli, &console));
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => {
            if json_asked() {
                console::print_json(&failure::internal_json());
            }
            ExitCode::from(INTERNAL)
        }
        Err(error) => {
            eprintln!("error: the system gives no thread: {error}");
            ExitCode::from(failure::MACHINE)
        }
    }
}

fn execute(cli: &Cli, console: &Console) -> u8 {
    if let Some(threads) = cli.global.threads {
        // fails only when a pool exists already, and there is none before this line
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global();
    }
    match dispatch(&cli.command, console) {
        Ok(()) => 0,
        Err(failure) => {
            failure.show(console);
            failure.exit_code()
        }
    }
}

fn dispatch(command: &Command, console: &Console) -> Result<(), Failure> {
    match command {
        Command::Check(args) => commands::check::run(args, console),
        Command::Compile(args) => commands::compile::run(args, console),
        Command::Explain(args) => commands::explain::run(args, console),
        Command::Run(args) => commands::run::run(args, console),
        Command::Keygen(args) => commands::keygen::run(args, console),
        Command::Encrypt(args) => commands::encrypt::run(args, console),
        Command::Eval(args) => commands::eval::run(args, console),
        Command::Decrypt(args) => commands::decrypt::run(args, console),
        Command::Bench(args) => bench::run(args, console),
        Command::Dump(args) => commands::dump::run(args, console),
    }
}

/// What clap says: help and version are no errors.
fn usage_error(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && json_asked() {
        console::print_json(&failure::usage_json(&error.to_string()));
    } else {
        let _ = error.print();
    }
    ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
}

/// Whether the arguments ask for JSON, however wrong they are otherwise.
fn json_asked() -> bool {
    std::env::args().any(|a| a == "--json")
}
