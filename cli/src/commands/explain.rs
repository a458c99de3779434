//! `fhec explain`: why a plan is as it is.

use crate::args::{ExplainArgs, ExplainForm};
use crate::console::Console;
use crate::failure::Failure;
use crate::program::Program;
use crate::report::plan_json;
use compiler::analysis::level::deepest_path;
use compiler::driver::Compiled;
use compiler::explain::{dot, explain, explain_plan, html, page};
use compiler::source::{FileId, Sources};
use plan::{NodeId, Plan};
use serde_json::{Value, json};

pub fn run(args: &ExplainArgs, console: &Console) -> Result<(), Failure> {
    let program = Program::open(&args.file, &args.plan, console)?;
    let plan = &program.plan;
    let text = match &program.source {
        Some((_, compiled)) => explain(compiled),
        None => explain_plan(plan),
    };
    let source = program.source.as_ref().map(|(_, compiled)| compiled);
    match args.emit {
        ExplainForm::Text => console.result(&text),
        ExplainForm::Dot => console.result(&dot(plan)),
        ExplainForm::Html => console.result(&source.map_or_else(|| html(plan, &text, None), page)),
    }
    if console.verbose() && args.emit == ExplainForm::Text {
        console.say(&format!("\n{plan}"));
    }
    let mut object = plan_json(plan);
    object["path"] = deepest_path(plan).into_iter().map(|id| step(plan, id)).collect();
    object["text"] = json!(text);
    if let Some((sources, compiled)) = &program.source {
        object["cost"] = json!(compiled.planned.cost);
        object["approximations"] = approximations(compiled, sources);
        object["rejected"] = rejected(compiled);
    }
    console.object(&object);
    Ok(())
}

fn step(plan: &Plan, id: NodeId) -> Value {
    let node = plan.node(id);
    json!({
        "node": id, "operation": plan::text::operation(&node.op), "level": node.level().map(|l| l.0),
        "line": node.line, "shape": node.shape,
    })
}

fn approximations(compiled: &Compiled, sources: &Sources) -> Value {
    let list = compiled.arithmetic.approximations.iter();
    list.map(|a| {
        json!({
            "function": a.function.name(), "interval": [a.interval.0, a.interval.1], "gap": a.gap,
            "degree": a.degree, "depth": a.depth, "error_bound": a.error_bound,
            "line": a.span.map(|s| sources.line(FileId::MAIN, s)),
        })
    })
    .collect()
}

fn rejected(compiled: &Compiled) -> Value {
    let list = compiled.rejected.iter();
    list.map(|(scheme, other)| match other {
        Ok(p) => json!({"scheme": scheme.name(), "cost": p.cost, "levels": p.plan.estimate.levels_used}),
        Err(e) => json!({"scheme": scheme.name(), "error": e.to_string()}),
    })
    .collect()
}
