//! `fhec compile`: a program to a plan.

use crate::args::{CompileArgs, Emit};
use crate::console::Console;
use crate::failure::Failure;
use crate::program;
use crate::report::{plan_json, plan_text};
use compiler::explain::{dot, page};
use runtime::files;
use serde_json::json;
use std::time::Instant;

pub fn run(args: &CompileArgs, console: &Console) -> Result<(), Failure> {
    let start = Instant::now();
    let (sources, compiled) = program::compile(&args.file, &args.plan, console)?;
    let seconds = start.elapsed().as_secs_f64();
    let plan = &compiled.planned.plan;
    if let Some(path) = &args.out {
        files::write_plan(path, plan)?;
    }
    match args.emit {
        Some(Emit::Plan) => console.result(&plan.to_string()),
        Some(Emit::Json) => console.result(&plan.to_json()),
        Some(Emit::Ir) => console.result(&compiled.arithmetic.graph.to_string()),
        Some(Emit::Dot) => console.result(&dot(plan)),
        Some(Emit::Html) => console.result(&page(&compiled)),
        None => console.say(&plan_text(plan)),
    }
    if plan.params.insecure {
        console.warn("INSECURE toy ring: nothing is protected");
    }
    if let Some(path) = args.out.as_ref().filter(|_| args.emit.is_none()) {
        console.say(&format!("written    {}", path.display()));
    }
    let mut object = plan_json(plan);
    object["seconds"] = json!({"compile": seconds});
    object["path"] = json!(args.out);
    object["warnings"] = compiled.warnings.to_json(&sources);
    match args.emit {
        Some(Emit::Plan) => object["text"] = json!(plan.to_string()),
        Some(Emit::Ir) => object["text"] = json!(compiled.arithmetic.graph.to_string()),
        Some(Emit::Json) => object["plan_json"] = json!(plan),
        Some(Emit::Dot) => object["dot"] = json!(dot(plan)),
        Some(Emit::Html) => object["html"] = json!(page(&compiled)),
        None => {}
    }
    console.object(&object);
    Ok(())
}
