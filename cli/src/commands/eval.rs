//! `fhec eval`: a plan on encrypted inputs, by the server. It reads no secret.

use super::file_bytes;
use crate::args::EvalArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::{inputs, usage};
use plan::{Bytes, Plan, Scheme as SchemeName};
use runtime::exec::ckks::CkksScheme;
use runtime::exec::gl::GlScheme;
use runtime::exec::{Scheme, execute, memory};
use runtime::files;
use runtime::rlwe::EvaluationKeys;
use serde_json::json;
use std::time::Instant;

pub fn run(args: &EvalArgs, console: &Console) -> Result<(), Failure> {
    let plan = files::read_plan(&args.plan)?;
    memory::check(&plan)?;
    match plan.geometry.scheme {
        SchemeName::Ckks => eval::<CkksScheme>(args, &plan, console),
        SchemeName::Gl => eval::<GlScheme>(args, &plan, console),
    }
}

fn eval<S: Scheme>(args: &EvalArgs, plan: &Plan, console: &Console) -> Result<(), Failure> {
    let start = Instant::now();
    let frame = S::new(plan, EvaluationKeys::new())?;
    let keys = files::read_evaluation(&args.keys, plan, &frame)?;
    let scheme = S::new(plan, keys)?;
    let mut encrypted = files::read_inputs(&args.inputs, plan, &scheme)?;
    encrypted.plain.extend(inputs::load_plain(plan, &args.plain, &args.plan)?);
    let read = start.elapsed().as_secs_f64();
    let bar = console.bar(plan.nodes.len(), "evaluate");
    let start = Instant::now();
    let run = execute(plan, &scheme, &encrypted, &mut |step| {
        bar.step(step.node.index() + 1, &plan::text::operation(step.op));
    })?;
    drop(bar);
    let evaluate = start.elapsed().as_secs_f64();
    files::write_outputs::<S>(&args.out, plan, &run.outputs)?;
    let bytes = file_bytes(&args.out);
    console.say(&format!(
        "{}  {}, evaluated in {}",
        args.out.display(),
        Bytes(bytes),
        crate::bench::seconds(evaluate)
    ));
    console.object(&json!({
        "program": plan.program, "plan": plan.hash(), "path": args.out,
        "seconds": {"read": read, "evaluate": evaluate}, "bytes": {"output": bytes, "peak": usage::peak_bytes()},
    }));
    Ok(())
}
