//! `fhec dump`: the graph of a program as text after a pass.

use crate::args::DumpArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::loader::FileLoader;
use crate::program;
use compiler::driver;
use compiler::passes::TABLE;
use serde_json::json;

/// The graph before any pass.
const START: &str = "build";

pub fn run(args: &DumpArgs, console: &Console) -> Result<(), Failure> {
    let position = TABLE.iter().position(|p| p.name == args.after);
    if position.is_none() && args.after != START {
        let names: Vec<&str> = [START].into_iter().chain(TABLE.iter().map(|p| p.name)).collect();
        let message = format!("there is no pass `{}`; passes are {}", args.after, names.join(", "));
        return Err(Failure::Usage(message));
    }
    let (sources, found) = program::read(&args.file)?;
    let refused = |diagnostics| Failure::program(sources.clone(), diagnostics);
    let mut graph = driver::check(&sources, found, &FileLoader).map_err(refused)?.graph;
    // the last entry is all passes together: it starts from the program, as the first one does
    let passes = match position {
        None => &TABLE[..0],
        Some(last) if last + 1 == TABLE.len() => &TABLE[last..],
        Some(last) => &TABLE[..=last],
    };
    for pass in passes {
        graph = (pass.run)(&graph).map_err(refused)?;
    }
    console.result(&graph.to_string());
    console.object(
        &json!({"program": graph.name, "after": args.after, "nodes": graph.len(), "text": graph.to_string()}),
    );
    Ok(())
}
