//! `fhec check`: all that is wrong with a program.

use crate::args::CheckArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::loader::FileLoader;
use crate::program;
use compiler::driver;
use serde_json::json;

pub fn run(args: &CheckArgs, console: &Console) -> Result<(), Failure> {
    let (sources, found) = program::read(&args.file)?;
    let checked = match driver::check(&sources, found, &FileLoader) {
        Ok(program) => program,
        Err(diagnostics) => return Err(Failure::program(sources, diagnostics)),
    };
    console.diagnostics(&checked.warnings, &sources);
    let (graph, warnings) = (&checked.graph, checked.warnings.len());
    let plural = if warnings == 1 { "" } else { "s" };
    console.say(&format!(
        "{}: the model `{}` is right: {} inputs, {} outputs, {warnings} warning{plural}",
        args.file.display(),
        graph.name,
        graph.inputs.len(),
        graph.outputs.len(),
    ));
    console.object(&json!({
        "program": graph.name,
        "inputs": graph.inputs.iter().map(|i| json!({
            "name": i.name, "shape": i.shape, "low": i.low, "high": i.high, "secrecy": i.secrecy,
        })).collect::<Vec<_>>(),
        "outputs": graph.outputs.iter().map(|o| json!({
            "name": o.name, "shape": graph.shape(o.node), "precision": o.precision,
        })).collect::<Vec<_>>(),
        "warnings": checked.warnings.to_json(&sources),
    }));
    Ok(())
}
