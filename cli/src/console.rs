//! Where text goes: results to standard output (or one JSON object there), everything else to standard error.

use crate::args::Global;
use compiler::diag::Diagnostics;
use compiler::source::Sources;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// What the user wants to see.
#[derive(Clone, Copy)]
pub struct Console {
    json: bool,
    quiet: bool,
    verbose: bool,
    terminal: bool,
}

impl Console {
    pub fn new(global: &Global) -> Console {
        let Global { json, quiet, verbose, .. } = *global;
        Console { json, quiet, verbose, terminal: std::io::stderr().is_terminal() }
    }

    /// Whether errors may be coloured.
    pub fn colour(&self) -> bool {
        self.terminal && std::env::var_os("NO_COLOR").is_none()
    }

    pub fn json(&self) -> bool {
        self.json
    }

    pub fn verbose(&self) -> bool {
        self.verbose
    }

    /// A result: shown unless the result is JSON.
    pub fn result(&self, text: &str) {
        if !self.json {
            print(text);
        }
    }

    /// What explains a result: not shown by `--quiet`.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            self.result(text);
        }
    }

    /// The result as JSON, if that is asked for.
    pub fn object(&self, value: &Value) {
        if self.json {
            print_json(value);
        }
    }

    /// A warning.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            eprintln!("warning: {text}");
        }
    }

    /// Warnings about a program; with JSON they are part of the object.
    pub fn diagnostics(&self, diagnostics: &Diagnostics, sources: &Sources) {
        if !self.quiet && !self.json && !diagnostics.is_empty() {
            self.error(&diagnostics.render(sources, self.colour()));
        }
    }

    /// Lines for standard error.
    pub fn error(&self, text: &str) {
        eprintln!("{}", text.trim_end());
    }

    /// A bar that appears on a terminal after a second.
    pub fn bar(&self, steps: usize, what: &'static str) -> Bar {
        let bar = (self.terminal && !self.quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
            let style = ProgressStyle::with_template("{prefix:>10} [{bar:30}] {pos}/{len} {elapsed} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar.with_prefix(what)
        });
        Bar { bar, start: Instant::now() }
    }
}

/// Progress of something that may take long.
pub struct Bar {
    bar: Option<ProgressBar>,
    start: Instant,
}

impl Bar {
    /// So many steps are done, the last one of them this.
    pub fn step(&self, done: usize, what: &str) {
        let Some(bar) = &self.bar else { return };
        if bar.is_hidden() && self.start.elapsed() > Duration::from_secs(1) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_position(done as u64);
        bar.set_message(what.to_string());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Text on standard output; a reader that has gone away is no error.
fn print(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{}", text.trim_end());
}

/// A JSON object on one line.
pub fn print_json(value: &Value) {
    print(&value.to_string());
}
