//! What `fhec run` and `fhec compile` report: numbers once, then as JSON or as text.

use crate::accuracy::Accuracy;
use crate::bench::seconds;
use comfy_table::{CellAlignment, Table, TableStyle};
use plan::security::{TABLE, max_log_pq};
use plan::{Bytes, Form, Op, Plan, RingSpec, Tensor};
use runtime::exec::Precision;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A result beside the one of the clear run.
pub struct OutputReport {
    pub name: String,
    pub result: Tensor,
    pub clear: Tensor,
    pub precision: Precision,
    pub predicted_error: f64,
    /// largest absolute error the plan expects on typical inputs
    pub expected_error: f64,
    pub wanted: f64,
    pub path: Option<PathBuf>,
}

/// A finished run.
pub struct RunReport<'a> {
    pub plan: &'a Plan,
    pub mode: &'static str,
    pub reference: &'static str,
    pub outputs: Vec<OutputReport>,
    pub accuracy: Option<Accuracy>,
    pub seconds: Times,
    pub bytes: Sizes,
}

/// Seconds of the parts of a run.
#[derive(Clone, Copy, Default)]
pub struct Times {
    pub compile: f64,
    pub keygen: f64,
    pub encrypt: f64,
    pub evaluate: f64,
    pub decrypt: f64,
    pub clear: f64,
}

/// Bytes of a run.
#[derive(Clone, Copy, Default)]
pub struct Sizes {
    pub keys: u64,
    pub input: u64,
    pub peak: Option<u64>,
}

/// Levels of a plan: of its freshest input, of its deepest output.
fn levels(plan: &Plan) -> (u32, u32) {
    let level = |form: &Form| match form {
        Form::Cipher { level, .. } => Some(level.0),
        Form::Clear => None,
    };
    let inputs = plan.nodes.iter().filter(|n| matches!(n.op, Op::Input(_))).filter_map(|n| level(&n.form));
    let outputs = plan.outputs.iter().filter_map(|o| level(&plan.node(o.node).form));
    (inputs.max().unwrap_or(0), outputs.min().unwrap_or(0))
}

/// Number of bootstraps of values.
fn bootstraps(plan: &Plan) -> usize {
    plan.nodes.iter().filter(|n| matches!(n.op, Op::Bootstrap { .. })).count()
}

/// `proved`, or the largest part of the cost that another placement of levels and bootstraps could save.
fn optimal(plan: &Plan) -> Value {
    let o = &plan.estimate.optimality;
    if o.proved() { json!("proved") } else { json!(o.gap()) }
}

/// What a plan is, in the fields that `run` and `compile` share.
pub fn plan_json(plan: &Plan) -> Value {
    let p = &plan.params;
    let (n, prime) = match p.ring {
        RingSpec::PowerOfTwo { log_n } => (1usize << log_n, None),
        RingSpec::Gl { n, p } => (n, Some(p)),
    };
    let (start, end) = levels(plan);
    json!({
        "program": plan.program,
        "plan": plan.hash(),
        "scheme": plan.geometry.scheme.name(),
        "security_bits": if p.insecure { 0 } else { p.security.bits },
        "insecure": p.insecure,
        "security_table": TABLE,
        "ring": {
            "dimension": p.ring.degree(), "log_qp": p.log_pq(), "n": n, "p": prime,
            "max_log_qp": max_log_pq(p.ring.degree(), p.security.bits),
        },
        "levels": {"start": start, "end": end, "used": plan.estimate.levels_used, "top": p.top().0},
        "bootstraps": bootstraps(plan),
        "optimal": optimal(plan),
        "cost": {
            "planned": plan.estimate.optimality.cost, "lower_bound": plan.estimate.optimality.lower_bound,
            "greedy": plan.estimate.optimality.greedy,
        },
        "keys": {
            "rotation": plan.keys.iter().filter(|k| matches!(k.kind, plan::KeyKind::Rotate(_))).count(),
            "relinearization": plan.keys.iter().filter(|k| k.kind == plan::KeyKind::Relinearize).count(),
            "total": plan.keys.len(),
        },
        "estimate": {
            "key_switches": plan.estimate.key_switches, "key_bytes": plan.estimate.key_bytes.0,
            "peak_bytes": plan.estimate.peak_bytes.0,
        },
        "assumptions": plan.assumptions,
    })
}

/// A plan on a few lines.
pub fn plan_text(plan: &Plan) -> String {
    let p = &plan.params;
    let (start, end) = levels(plan);
    let security = if p.insecure {
        format!("security   NONE: a toy ring for trials, log2(PQ) {:.0}", p.log_pq())
    } else {
        let bound = max_log_pq(p.ring.degree(), p.security.bits).unwrap_or(0.0);
        format!("security   {} bits: log2(PQ) {:.0} of {bound:.0}; {TABLE}", p.security.bits, p.log_pq())
    };
    let e = &plan.estimate;
    format!(
        "plan       {} in {}, ring {}, dimension {}\n{security}\n\
         levels     {} used, from {start} to {end}; {}\n\
         estimate   {} key switches, keys {}, peak memory {}",
        plan.program,
        plan.geometry.scheme.name(),
        p.ring,
        p.ring.degree(),
        e.levels_used,
        match bootstraps(plan) {
            0 => "no bootstrap".to_string(),
            1 => "1 bootstrap".to_string(),
            n => format!("{n} bootstraps"),
        },
        e.key_switches,
        e.key_bytes,
        e.peak_bytes
    )
}

impl RunReport<'_> {
    pub fn to_json(&self) -> Value {
        let mut object = plan_json(self.plan);
        let s = self.seconds;
        object["mode"] = json!(self.mode);
        object["reference"] = json!(self.reference);
        object["outputs"] = self.outputs.iter().map(output_json).collect();
        object["seconds"] = json!({
            "compile": s.compile, "keygen": s.keygen, "encrypt": s.encrypt, "evaluate": s.evaluate,
            "decrypt": s.decrypt, "clear": s.clear,
        });
        object["bytes"] =
            json!({"keys": self.bytes.keys, "input": self.bytes.input, "peak": self.bytes.peak});
        if let Some(accuracy) = &self.accuracy {
            object["accuracy"] = accuracy.to_json();
        }
        object
    }

    /// The table of outputs and what else there is to say.
    pub fn to_text(&self) -> String {
        let mut table = Table::new();
        table.load_style(TableStyle::new());
        let header =
            ["output", "shape", "bits", "expected", "at least", "max error", "mean error", "allowed"];
        table.set_header(header);
        for o in &self.outputs {
            table.add_row([
                o.name.clone(),
                plan::tensor::show(o.result.shape()),
                format!("{:.1}", Precision::bits(o.precision.max)),
                format!("{:.1}", Precision::bits(o.expected_error)),
                format!("{:.1}", Precision::bits(o.predicted_error)),
                format!("{:.2e}", o.precision.max),
                format!("{:.2e}", o.precision.mean),
                format!("{:e}", o.wanted),
            ]);
        }
        for column in table.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let mut text = format!("{table}\n");
        if let Some(a) = &self.accuracy {
            text += &accuracy_text(a, self.mode);
        } else {
            self.outputs.iter().for_each(|o| text += &values_text(o, self.mode));
        }
        text += &format!("errors are against {}\n", self.reference);
        let s = self.seconds;
        text += &match self.mode {
            "encrypted" => format!(
                "time       compile {}, keys {}, encrypt {}, evaluate {}, decrypt {}\n\
                 size       keys {}, inputs {}{}",
                seconds(s.compile),
                seconds(s.keygen),
                seconds(s.encrypt),
                seconds(s.evaluate),
                seconds(s.decrypt),
                Bytes(self.bytes.keys),
                Bytes(self.bytes.input),
                self.bytes.peak.map_or(String::new(), |b| format!(", peak memory {}", Bytes(b)))
            ),
            _ => format!("time       compile {}, evaluate {}", seconds(s.compile), seconds(s.evaluate)),
        };
        text
    }
}

fn output_json(o: &OutputReport) -> Value {
    let finite = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
    json!({
        "name": o.name, "shape": o.result.shape(),
        "precision_bits": finite(Precision::bits(o.precision.max)),
        "predicted_bits": finite(Precision::bits(o.expected_error)),
        "guaranteed_bits": finite(Precision::bits(o.predicted_error)),
        "max_abs_error": finite(o.precision.max), "mean_abs_error": finite(o.precision.mean),
        "median_abs_error": finite(o.precision.median), "predicted_error": o.predicted_error,
        "precision": o.wanted, "path": o.path,
    })
}

fn accuracy_text(a: &Accuracy, mode: &str) -> String {
    let list =
        |classes: &[usize]| classes.iter().take(10).map(usize::to_string).collect::<Vec<_>>().join(" ");
    format!(
        "classes    {} {:.2} %, clear {:.2} % of {} right; they agree on {:.2} %\n\
         first 10   {}   {mode}\n           {}   clear\n           {}   labels\n",
        mode,
        100.0 * a.result(),
        100.0 * a.clear(),
        a.labels.len(),
        100.0 * a.agreement(),
        list(&a.predicted),
        list(&a.clear),
        list(&a.labels),
    )
}

fn values_text(o: &OutputReport, mode: &str) -> String {
    let list =
        |t: &Tensor| t.data().iter().take(5).map(|x| format!("{x:>11.5}")).collect::<Vec<_>>().join(" ");
    let more = if o.result.len() > 5 { " .." } else { "" };
    let name = &o.name;
    format!("{name:<10} {}{more}   {mode}\n{:10} {}{more}   clear\n", list(&o.result), "", list(&o.clear))
}
