//! Random programs keep their meaning through every pass, reach the arithmetic form, and stay inside the ranges said.

mod support;

use compiler::analysis::depth::depths;
use compiler::ir::verify::{verify, verify_arithmetic};
use compiler::ir::{Graph, parse};
use compiler::passes::{TABLE, arithmetic};
use plan::Scheme;
use support::{Programs, Random, difference, inputs, outputs, values};

fn programs(seed: u64, functions: bool, count: usize) -> Vec<Graph> {
    let mut programs = Programs { random: Random(seed), functions };
    (0..count).map(|_| programs.next()).collect()
}

#[test]
fn every_pass_keeps_the_meaning() {
    let mut random = Random(99);
    for g in programs(1, false, 150) {
        let x = inputs(&g, &mut random);
        let expected = outputs(&g, &x);
        for pass in &TABLE {
            let after = (pass.run)(&g).unwrap();
            assert_eq!(verify(&after), Ok(()), "{}\n{after}", pass.name);
            let d = difference(&expected, &outputs(&after, &x));
            assert!(d < 1e-9, "{} changes the value by {d}:\n{g}\n{after}", pass.name);
            assert_eq!(parse(&after.to_string()).unwrap(), after, "{}", pass.name);
            assert_eq!((pass.run)(&g).unwrap(), after, "{} is not deterministic", pass.name);
        }
    }
}

#[test]
fn programs_reach_the_arithmetic_form() {
    let mut random = Random(5);
    for g in programs(2, true, 100) {
        let a = arithmetic(&g).unwrap_or_else(|e| panic!("{e:?}\n{g}"));
        assert_eq!(verify_arithmetic(&a.graph), Ok(()), "{g}\n{}", a.graph);
        assert_eq!(a.ranges.len(), a.graph.len());
        for _ in 0..3 {
            let x = inputs(&g, &mut random);
            let d = difference(&outputs(&g, &x), &outputs(&a.graph, &x));
            assert!(d <= 1e-2, "off by {d}\n{g}\n{}", a.graph);
            for (id, value) in a.graph.ids().zip(values(&a.graph, &x)) {
                let (low, high) = a.ranges[id.index()];
                let slack = 1e-9 * (1.0 + high - low);
                let inside = value.data().iter().all(|v| low - slack <= *v && *v <= high + slack);
                assert!(inside, "{id} leaves [{low}, {high}]: {:?}\n{g}\n{}", value.data(), a.graph);
            }
        }
    }
}

#[test]
fn the_arithmetic_form_is_not_deeper() {
    for g in programs(3, false, 100) {
        let a = arithmetic(&g).unwrap();
        let deepest = |g: &Graph| {
            let depths = depths(g, Scheme::Ckks);
            g.outputs.iter().map(|o| depths[o.node.index()]).max()
        };
        assert!(deepest(&a.graph) <= deepest(&g), "{g}\n{}", a.graph);
    }
}

#[test]
fn cleaning_twice_changes_nothing() {
    for g in programs(4, true, 50) {
        let once = compiler::passes::clean::clean(&g);
        assert_eq!(compiler::passes::clean::clean(&once), once);
    }
}
