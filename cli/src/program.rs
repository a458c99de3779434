//! A program or a compiled plan, as `run` and `explain` take either.

use crate::args::{BootstrapArg, PlanArgs, PolicyArg, SchemeArg};
use crate::console::Console;
use crate::failure::Failure;
use crate::loader::FileLoader;
use compiler::cost::machine::Machine;
use compiler::diag::Diagnostics;
use compiler::driver::{self, Compiled, Options};
use compiler::interpret::{OutOfRange, check_inputs, interpret};
use compiler::placement::Policy;
use compiler::source::Sources;
use grammar::ast::{BootstrapChoice, SchemeChoice};
use plan::{Plan, Tensor};
use runtime::exec::clear::simulate;
use runtime::files;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A plan with the program it came from, if that is at hand.
pub struct Program {
    pub plan: Plan,
    pub source: Option<(Sources, Compiled)>,
    /// seconds it took to compile
    pub seconds: f64,
    file: PathBuf,
}

/// Reads a program and the files it imports.
pub fn read(file: &Path) -> Result<(Sources, Diagnostics), Failure> {
    Ok(Sources::read(&file.to_string_lossy(), &FileLoader)?)
}

/// Compiles a program; warnings go to standard error.
pub fn compile(file: &Path, args: &PlanArgs, console: &Console) -> Result<(Sources, Compiled), Failure> {
    let (sources, found) = read(file)?;
    match driver::compile(&sources, found, &FileLoader, &options(args)?) {
        Ok(compiled) => {
            console.diagnostics(&compiled.warnings, &sources);
            Ok((sources, compiled))
        }
        Err(diagnostics) => Err(Failure::program(sources, diagnostics)),
    }
}

fn options(args: &PlanArgs) -> Result<Options, Failure> {
    let scheme = args.scheme.map(|s| match s {
        SchemeArg::Auto => SchemeChoice::Auto,
        SchemeArg::Ckks => SchemeChoice::Ckks,
        SchemeArg::Gl => SchemeChoice::Gl,
    });
    let PlanArgs { security, precision, memory, toy, .. } = *args;
    let rates = args.machine.as_deref().map(machine).transpose()?.map(|m| m.rates);
    let bootstrap = args.bootstrap.map(|b| match b {
        BootstrapArg::Auto => BootstrapChoice::Auto,
        BootstrapArg::Off => BootstrapChoice::Off,
    });
    let policy = match args.policy {
        PolicyArg::Exact => Policy::Exact,
        PolicyArg::Greedy => Policy::Greedy,
    };
    Ok(Options { scheme, security, precision, memory, toy, bootstrap, policy, rates })
}

/// Reads the description of a machine.
fn machine(path: &Path) -> Result<Machine, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
    Machine::from_json(&text).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
}

impl Program {
    /// Reads a plan, or compiles a program.
    pub fn open(file: &Path, args: &PlanArgs, console: &Console) -> Result<Program, Failure> {
        if files::is_container(file) {
            if let Some(option) = args.given() {
                let message = format!("{option} has no effect on a compiled plan: give it to `fhec compile`");
                return Err(Failure::Usage(message));
            }
            let plan = files::read_plan(file)?;
            return Ok(Program { plan, source: None, seconds: 0.0, file: file.to_path_buf() });
        }
        let start = Instant::now();
        let (sources, compiled) = compile(file, args, console)?;
        Ok(Program {
            plan: compiled.planned.plan.clone(),
            source: Some((sources, compiled)),
            seconds: start.elapsed().as_secs_f64(),
            file: file.to_path_buf(),
        })
    }

    /// The folder of the program, where its data may be.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// What the clear run is.
    pub fn reference(&self) -> &'static str {
        match self.source {
            Some(_) => "the program in f64 with exact functions",
            None => "the plan in f64, approximations included: a plan has no program to compare with",
        }
    }

    /// Holds data against the declarations of the program, if there is one.
    pub fn check_data(&self, data: &BTreeMap<String, Tensor>) -> Result<(), Failure> {
        let Some((sources, compiled)) = &self.source else { return Ok(()) };
        let found = check_inputs(&compiled.program.graph, data, OutOfRange::Refuse);
        if found.has_errors() { Err(Failure::program(sources.clone(), found)) } else { Ok(()) }
    }

    /// The outputs in clear, of the program, or of the plan where there is no program.
    pub fn clear(
        &self,
        data: &[Option<Tensor>],
        allow_out_of_range: bool,
        console: &Console,
    ) -> Result<Vec<Tensor>, Failure> {
        let Some((sources, compiled)) = &self.source else {
            return Ok(simulate(&self.plan, data, None, &mut |_| {})?);
        };
        let given = self.plan.inputs.iter().zip(data);
        let given: BTreeMap<String, Tensor> =
            given.filter_map(|(input, t)| Some((input.name.clone(), t.clone()?))).collect();
        let policy = if allow_out_of_range { OutOfRange::Warn } else { OutOfRange::Refuse };
        match interpret(&compiled.program.graph, &given, policy) {
            Ok(run) => {
                console.diagnostics(&run.warnings, sources);
                Ok(run.values)
            }
            Err(diagnostics) => Err(Failure::program(sources.clone(), diagnostics)),
        }
    }
}
