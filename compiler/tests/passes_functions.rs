//! Functions of programs: what becomes of their wishes, and what is said where they cannot be met.

mod support;

use compiler::diag::Diagnostic;
use compiler::ir::{Graph, parse};
use compiler::passes::{ArithmeticGraph, arithmetic};
use support::{Random, difference, inputs, outputs};

fn program(range: &str, body: &str, precision: f64) -> Graph {
    let text = format!(
        "circuit @t(%x: cipher f64[64] in {range}) {{\n n0 = input %x\n {body}\n return \"y\" = n1 {{ precision {precision} }}\n}}"
    );
    parse(&text).unwrap()
}

fn compiled(g: &Graph) -> ArithmeticGraph {
    compiled_with_gain(g, 1.0)
}

/// The arithmetic form, whose outputs miss by no more than the errors said times a factor.
fn compiled_with_gain(g: &Graph, gain: f64) -> ArithmeticGraph {
    let a = arithmetic(g).unwrap_or_else(|e| panic!("{e:?}"));
    let mut random = Random(3);
    for _ in 0..20 {
        let x = inputs(g, &mut random);
        let d = difference(&outputs(g, &x), &outputs(&a.graph, &x));
        let allowed = a.approximations.iter().map(|r| r.error_bound * gain).fold(1e-9, f64::max);
        assert!(a.approximations.iter().any(|r| r.gap > 0.0) || d <= allowed, "off by {d}, not {allowed}");
    }
    a
}

fn refused(g: &Graph) -> Diagnostic {
    let found = arithmetic(g).unwrap_err();
    assert_eq!(found.len(), 1);
    found.iter().next().unwrap().clone()
}

#[test]
fn wishes_are_met() {
    let a = compiled(&program("[-3, 3]", "n1 = sigmoid n0 { within 1e-5 }", 1e-3));
    assert!(a.approximations[0].error_bound <= 1e-5);
    let a = compiled(&program("[-1, 1]", "n1 = exp n0 { degree 3 }", 1e-3));
    assert_eq!((a.approximations[0].degree, a.approximations[0].depth), (3, 2));
    let a = compiled(&program("[-0.4, 0.4]", "n1 = exp n0 { on [-0.5, 2.0], within 1e-3 }", 1e-3));
    assert_eq!(a.approximations[0].interval, (-0.5, 2.0));
    let a = compiled(&program("[-2, 2]", "n1 = sign n0 { within 1e-2, gap 0.2 }", 1e-1));
    assert!((a.approximations[0].gap - 0.2).abs() < 1e-12);
}

#[test]
fn the_error_follows_from_the_precision() {
    let within = |body: &str, precision: f64| {
        let text = format!(
            "circuit @t(%x: cipher f64[64] in [-1, 1]) {{ n0 = input %x\n {body} {{ precision {precision} }} }}"
        );
        compiled_with_gain(&parse(&text).unwrap(), 8.0).approximations[0].error_bound
    };
    let plain = within("n1 = exp n0\n return \"y\" = n1", 1e-2);
    assert!(plain <= 5e-3);
    assert!(within("n1 = exp n0\n return \"y\" = n1", 1e-5) <= 5e-6);
    let magnified = within("n1 = exp n0\n n2 = linear (scale_by 8) n1\n return \"y\" = n2", 1e-2);
    assert!(magnified <= 5e-3 / 8.0, "{magnified}");
}

#[test]
fn bends_out_of_reach_of_one_polynomial_are_composed() {
    for body in ["n1 = relu n0", "n1 = abs n0 { within 1e-4 }", "n1 = clip [-1, 2] n0 { within 2e-4 }"] {
        let a = compiled(&program("[-6, 8]", body, 1e-3));
        assert!(a.approximations[0].degree > 255 && a.approximations[0].error_bound <= 5e-4, "{body}");
    }
}

#[test]
fn errors_reach_the_nodes_that_carry_them() {
    let body = "n2 = tanh n0 { within 1e-3 }\n n3 = linear (scale_by -0.25) n2\n n1 = exp n3 { within 1e-4 }";
    let text =
        format!("circuit @t(%x: cipher f64[64] in [-2, 2]) {{ n0 = input %x\n {} }}", renumbered(body));
    let a = compiled(&parse(&text).unwrap());
    let errors: Vec<f64> = a.errors.values().copied().collect();
    assert_eq!(errors.len(), 2);
    assert!((errors[0] - a.approximations[0].error_bound * 0.25).abs() < 1e-12, "scaled with its polynomial");
    assert_eq!(errors[1], a.approximations[1].error_bound);
}

/// The body above with its nodes in order, and a return.
fn renumbered(body: &str) -> String {
    let body = body.replace("n2", "na").replace("n1", "nc").replace("n3", "nb");
    body.replace("na", "n1").replace("nb", "n2").replace("nc", "n3")
        + "\n return \"y\" = n3 { precision 0.01 }"
}

#[test]
fn wishes_that_cannot_be_met_are_refused() {
    let d = refused(&program("[-1, 1]", "n1 = exp n0 { within 1e-9, degree 1 }", 1e-3));
    assert_eq!(
        (d.code.0, d.message.as_str()),
        ("E0710", "`exp` with degree 1 cannot be within 1e-9 on [-1, 1]")
    );
    assert!(
        d.primary.text.contains("misses by 0.27") && d.help[0].starts_with("degree 9 is enough"),
        "{d:?}"
    );
    let d = refused(&program("[1e-9, 1000]", "n1 = inv n0 { within 1e-3 }", 1e-3));
    assert_eq!(d.code.0, "E0711");
    assert!(d.primary.text.contains("degree 255") && d.help[0].contains("on = [low, high]"), "{d:?}");
    let d = refused(&program("[-1000, 1000]", "n1 = step n0 { within 1e-6, gap 1e-6 }", 1e-3));
    assert!(d.help[0].contains("`gap`"), "{d:?}");
}
