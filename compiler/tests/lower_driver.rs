//! From text to plan: schemes, memory, diagnostics, the explanation.

use compiler::diag::Diagnostics;
use compiler::driver::{Compiled, Options, check, compile};
use compiler::explain::{dot, explain, page};
use compiler::placement::Policy;
use compiler::source::{MemoryLoader, Sources};
use grammar::ast::SchemeChoice;
use plan::Scheme;

fn read(text: &str) -> (Sources, Diagnostics, MemoryLoader) {
    let mut loader = MemoryLoader::default();
    loader.sources.insert("m.fhe".into(), text.into());
    let (sources, found) = Sources::read("m.fhe", &loader).unwrap();
    (sources, found, loader)
}

fn compiled(text: &str, options: &Options) -> Result<Compiled, String> {
    let (sources, found, loader) = read(text);
    compile(&sources, found, &loader, options).map_err(|d| d.render(&sources, false))
}

const ATTENTION: &str = "model attention {
  input q, k, v : cipher f64[2, 8, 8] in [-1, 1];
  let p = softmax(q @ transpose(k) / 8, axis = -1, on = [-1, 1], within = 1e-3);
  output o = p @ v in [-1.1, 1.1] precision 1e-2;
}";

#[test]
fn a_program_becomes_the_same_plan_every_time() {
    let one = compiled(ATTENTION, &Options::default()).unwrap();
    let two = compiled(ATTENTION, &Options::default()).unwrap();
    assert_eq!(one.planned.plan.to_json(), two.planned.plan.to_json());
    plan::verify::verify(&one.planned.plan).unwrap();
    let names: Vec<&str> = one.planned.plan.assumptions.iter().map(|a| a.name.as_str()).collect();
    assert!(names.contains(&"exp") && names.contains(&"o"), "{names:?}");
    assert!(one.planned.plan.outputs[0].predicted_error < 1e-2);
}

#[test]
fn the_cheaper_scheme_is_taken_and_both_are_explained() {
    let program = |n: usize| {
        format!(
            "model m {{ input a, b : cipher f64[{n}, {n}] in [-1, 1]; output y = a @ b precision 1e-2; }}"
        )
    };
    let product = compiled(&program(16), &Options::default()).unwrap();
    assert_eq!(product.planned.plan.geometry.scheme, Scheme::Gl);
    let (rejected, other) = &product.rejected[0];
    assert_eq!((*rejected, other.as_ref().unwrap().cost > product.planned.cost), (Scheme::Ckks, true));
    let text = explain(&product);
    for words in [
        "the path that sets the depth",
        "matmul, line 1",
        "security  128 bits",
        "rejected  ckks",
        "1 product",
    ] {
        assert!(text.contains(words), "{words} not in\n{text}");
    }
    let ckks = Options { scheme: Some(SchemeChoice::Ckks), ..Options::default() };
    assert_eq!(compiled(&program(16), &ckks).unwrap().planned.plan.geometry.scheme, Scheme::Ckks);
}

#[test]
fn directives_hold_unless_options_say_otherwise() {
    let text = "model m { scheme gl; security 192; memory 1 KiB; input a : cipher f64[4] in [-1, 1]; output y = a * a; }";
    let error = compiled(text, &Options::default()).unwrap_err();
    assert!(error.contains("E0905") && error.contains("1.0 KiB"), "{error}");
    let more = Options { memory: Some(1 << 30), ..Options::default() };
    let plan = compiled(text, &more).unwrap().planned.plan;
    assert_eq!((plan.geometry.scheme, plan.params.security.bits), (Scheme::Gl, 192));
    let toy = Options { toy: true, ..more };
    assert!(compiled(text, &toy).unwrap().planned.plan.params.insecure);
}

#[test]
fn overflow_and_depth_come_in_one_run() {
    let text = "model m { bootstrap off;
  input x : cipher f64[4] in [-10, 10];
  input u : cipher f64[4] in [-1, 1];
  let mut a = x;
  for i in 0..12 { a = a * a; }
  let mut z = u;
  for i in 0..300 { z = z * u; z = z * z; }
  output y = a;
  output w = z;
}";
    let error = compiled(text, &Options::default()).unwrap_err();
    let lines = |code: &str| error.split("\n\n").filter(|m| m.contains(code)).count();
    assert_eq!((lines("E0601"), lines("E0901")), (1, 1), "{error}");
    assert!(["level", "bits", "bootstrap", ":7:"].iter().all(|w| error.contains(w)), "{error}");
    let (sources, found, loader) = read(text);
    assert!(check(&sources, found, &loader).unwrap_err().has_errors());
}

#[test]
fn imprecise_outputs_are_warned_of() {
    let text =
        "model m { input x : cipher f64[4] in [-1, 1]; output y = sigmoid(x, degree = 1) precision 1e-4; }";
    let coarse = compiled(text, &Options::default()).unwrap();
    assert!(coarse.warnings.iter().any(|w| w.message.contains("above its precision")));
    let precision = Options { precision: Some(0.5), ..Options::default() };
    let relaxed = compiled(text, &precision).unwrap();
    assert_eq!(relaxed.planned.plan.outputs[0].precision, 0.5);
}

#[test]
fn plans_are_drawn() {
    let compiled = compiled(ATTENTION, &Options::default()).unwrap();
    let plan = &compiled.planned.plan;
    let text = explain(&compiled);
    assert!(text.contains("proved") && text.contains("greedy"), "{text}");
    let graph = dot(plan);
    assert!(graph.starts_with("digraph") && graph.matches(" -> ").count() >= plan.nodes.len() - 3);
    let html = page(&compiled);
    for part in ["<svg", "Levels over time", "Memory", "Cost by operation", "Graph", "</html>"] {
        assert!(html.contains(part), "{part}");
    }
    assert!(
        !html.contains("http://")
            || html.matches("http://").count() == html.matches("http://www.w3.org").count()
    );
    assert!(!html.contains("<script") && !html.contains("src="));
}

#[test]
fn exact_levels_cost_no_more_than_greedy_ones() {
    let greedy = Options { policy: Policy::Greedy, ..Options::default() };
    let (exact, greedy) =
        (compiled(ATTENTION, &Options::default()).unwrap(), compiled(ATTENTION, &greedy).unwrap());
    let of = |c: &Compiled| c.planned.plan.estimate.optimality;
    assert!(of(&exact).proved());
    assert!(of(&exact).cost <= of(&greedy).cost && of(&greedy).greedy == Some(of(&greedy).cost));
}

#[test]
fn more_levels_than_can_be_placed_are_bootstrapped() {
    let text = "model m { input x : cipher f64[4] in [0, 0.5]; let mut z = x;
  for i in 0..100 { z = z - z * z in [0, 0.5]; } output z precision 1e-2; }";
    let plan =
        |text: &str| compiled(text, &Options { scheme: Some(SchemeChoice::Ckks), ..Options::default() });
    assert!(plan(text).unwrap().planned.plan.bootstraps() > 3);
    let error = plan(&text.replace("model m {", "model m { bootstrap off;")).unwrap_err();
    assert!(error.contains("E0901"), "{error}");
}
