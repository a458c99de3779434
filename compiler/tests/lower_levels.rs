//! Levels, adjustments, keys and rejections in both schemes.

mod lower_common;

use compiler::ir::Op;
use compiler::lower::error::PlanError;
use compiler::lower::{Subject, Target, hopeless, plan_scheme};
use lower_common::{Program, count, kinds};
use plan::{KeyKind, LinearStep, Op as PlanOp, Scheme, Secrecy, TensorOp, security};
use std::time::Instant;

const BOTH: [Scheme; 2] = [Scheme::Ckks, Scheme::Gl];

#[test]
fn sums_need_no_level_and_no_key() {
    for scheme in BOTH {
        let mut p = Program::new();
        let (x, z) = (p.input(&[7]), p.input(&[7]));
        let sum = p.op(TensorOp::Add, &[x, z]);
        p.output(x, 1e-6);
        p.output(sum, 1e-6);
        let plan = p.planned(scheme);
        assert_eq!((plan.estimate.levels_used, plan.keys.len(), plan.nodes.len()), (0, 0, 3));
        assert!(plan.outputs.iter().all(|o| o.predicted_error <= o.precision));
    }
}

#[test]
fn operands_of_different_depth_are_adjusted_once_per_level() {
    for scheme in BOTH {
        let mut p = Program::new();
        let a = p.input(&[]);
        let square = p.op(TensorOp::Mul, &[a, a]);
        let cube = p.op(TensorOp::Mul, &[square, a]);
        let y = p.op(TensorOp::Add, &[cube, a]);
        let z = p.op(TensorOp::Sub, &[cube, a]);
        p.output(y, 1e-3);
        p.output(z, 1e-3);
        let plan = p.planned(scheme);
        assert_eq!(plan.estimate.levels_used, 2);
        assert_eq!(count(&plan, |o| *o == PlanOp::Adjust), 2, "{plan}");
        assert_eq!(kinds(&plan), [KeyKind::Relinearize]);
        assert!(plan.outputs.iter().all(|o| plan.node(o.node).level().unwrap().0 == 0));
        for s in &plan.params.scale {
            assert!((s.log2() - plan.params.scale[0].log2()).abs() < 0.5);
        }
        assert!(plan.params.log_pq() <= security::max_log_pq(plan.params.ring.degree(), 128).unwrap());
    }
}

#[test]
fn keys_are_those_of_the_maps() {
    for scheme in BOTH {
        let mut p = Program::new();
        let x = p.input(&[2, 6]);
        let rolled = p.linear(vec![LinearStep::Roll { axis: 1, shift: 2 }], &[x]);
        let same = p.linear(vec![LinearStep::Roll { axis: 1, shift: 0 }], &[x]);
        let y = p.op(TensorOp::Mul, &[rolled, same]);
        p.output(y, 1e-3);
        let plan = p.planned(scheme);
        let rotations: Vec<_> = kinds(&plan).into_iter().filter(|k| *k != KeyKind::Relinearize).collect();
        let geometry = plan.geometry;
        let node =
            plan.nodes.iter().find(|n| matches!(n.op, PlanOp::Linear { .. } | PlanOp::LinearRows { .. }));
        let node = node.unwrap();
        match &node.op {
            PlanOp::Linear { steps, split, .. } => {
                let m = plan::linear::matrix(steps, &[2, 6], &[]).unwrap();
                let from = plan.node(node.args[0]).layout();
                let t = plan::Transform::new(&m, &from, &node.layout(), &geometry);
                let needed: Vec<_> =
                    t.keyed_shifts(&geometry, *split).into_iter().map(KeyKind::Rotate).collect();
                assert_eq!(rotations, needed);
            }
            _ => assert!(rotations.is_empty()),
        }
        assert!(plan.keys.iter().all(|k| k.level.0 <= plan.estimate.levels_used));
        assert_eq!(count(&plan, |o| matches!(o, PlanOp::Linear { .. } | PlanOp::LinearRows { .. })), 1);
    }
}

#[test]
fn plain_inputs_keep_their_masks() {
    for scheme in BOTH {
        let mut p = Program::new();
        let x = p.input(&[3, 4]);
        let w = p.input_in(&[4, 2], Secrecy::Plain, 2.0);
        let y = p.matmul_right(x, w);
        let bias = p.input_in(&[3, 2], Secrecy::Plain, 1.0);
        let z = p.op(TensorOp::Sub, &[bias, y]);
        p.output(z, 1e-3);
        let plan = p.planned(scheme);
        assert_eq!(plan.estimate.levels_used, 1);
        assert_eq!(count(&plan, |o| *o == PlanOp::AddClear), 1);
        assert!(!plan.nodes.iter().any(|n| matches!(n.op, PlanOp::Linear { masks: false, .. })));
    }
}

#[test]
fn scaling_is_no_linear_map() {
    let mut p = Program::new();
    let x = p.input(&[5]);
    let half = p.linear(vec![LinearStep::ScaleBy { factor: 0.5 }], &[x]);
    let twice = p.linear(vec![LinearStep::ScaleBy { factor: 2.0 }], &[x]);
    let sum = p.add(Op::Combine { coefficients: vec![0.5, 0.25], constant: 1.0 }, &[half, twice]);
    p.output(sum, 1e-3);
    let plan = p.planned(Scheme::Ckks);
    assert_eq!(plan.estimate.levels_used, 2);
    assert_eq!(count(&plan, |o| matches!(o, PlanOp::Combine { .. })), 2);
    assert_eq!(count(&plan, |o| *o == PlanOp::MulInteger(2)), 1);
    assert!(plan.keys.is_empty());
}

#[test]
fn precision_and_range_set_the_scale() {
    let scale = |precision: f64, bound: f64| {
        let mut p = Program::new();
        let x = p.input_in(&[8], Secrecy::Cipher, bound);
        let y = p.op(TensorOp::Mul, &[x, x]);
        p.output(y, precision);
        p.planned(Scheme::Ckks).params
    };
    let log = |p: &plan::Params| p.scale[0].log2().round();
    assert_eq!(log(&scale(1e-2, 1.0)), 35.0);
    assert!(log(&scale(1e-7, 1.0)) > log(&scale(1e-5, 1.0)));
    let wide = scale(1.0, 1000.0);
    assert!((wide.q[0] as f64).log2() > wide.scale[0].log2() + 20.0);
}

fn chain(depth: usize) -> Program {
    let mut p = Program::new();
    let mut z = p.input_in(&[4], Secrecy::Cipher, 0.5);
    for _ in 0..depth {
        z = p.op(TensorOp::Mul, &[z, z]);
    }
    p.output(z, 1e-3);
    p
}

/// No bootstraps.
fn off() -> Target {
    Target { bootstrap: false, ..Target::default() }
}

#[test]
fn too_deep_is_rejected_at_once() {
    for scheme in BOTH {
        let start = Instant::now();
        let program = chain(500).arithmetic();
        let subject = Subject { program: &program, source: "" };
        let error = plan_scheme(subject, scheme, &off()).unwrap_err();
        let PlanError::TooDeep { needed_levels, available_levels, needed_bits, available_bits, .. } = error
        else {
            panic!("{error}")
        };
        assert_eq!(needed_levels, 500);
        assert!(available_levels < 60 && needed_bits > available_bits && available_bits == 1747.0);
        let text = error_text(&error);
        assert!(["500", "level", "bits", "bootstrap"].iter().all(|w| text.contains(w)), "{text}");
        assert!(start.elapsed().as_secs_f64() < 1.0);
    }
}

fn error_text(e: &PlanError) -> String {
    let d = e.diagnostic();
    format!("{} {:?} {:?} {:?}", d.message, d.primary, d.help, d.notes)
}

#[test]
fn overflow_and_depth_are_reported_together() {
    let mut p = chain(300);
    let x = p.input_in(&[4], Secrecy::Cipher, 10.0);
    let mut a = x;
    for _ in 0..12 {
        a = p.op(TensorOp::Mul, &[a, a]);
    }
    p.output(a, 1e-3);
    let program = p.arithmetic();
    let errors = hopeless(Subject { program: &program, source: "" }, Scheme::Ckks, &off());
    assert_eq!(errors.len(), 2);
    assert!(errors[0].to_string().contains("overflow"));
    assert!(matches!(errors[1], PlanError::TooDeep { needed_levels: 300, .. }));
}

#[test]
fn values_too_large_for_the_smallest_scale_overflow() {
    let mut p = Program::new();
    let x = p.input_in(&[4], Secrecy::Cipher, 6e14);
    let y = p.op(TensorOp::Add, &[x, x]);
    p.output(y, 1e12);
    let error = p.plan(Scheme::Ckks, &Target::default()).unwrap_err();
    assert!(error.to_string().contains("overflow"), "{error}");
}

#[test]
fn a_deep_chain_takes_a_larger_ring() {
    let degrees: Vec<usize> =
        [1, 6, 20, 35].iter().map(|&d| chain(d).planned(Scheme::Ckks).params.ring.degree()).collect();
    assert!(degrees.windows(2).all(|w| w[0] < w[1]), "{degrees:?}");
    let strong = Target { security: 256, ..Target::default() };
    assert!(chain(6).plan(Scheme::Ckks, &strong).unwrap().params.ring.degree() > degrees[1]);
}

#[test]
fn a_precision_out_of_reach_takes_the_largest_scale_that_fits() {
    let mut p = Program::new();
    let mut z = p.input(&[4]);
    for _ in 0..35 {
        z = p.op(TensorOp::Mul, &[z, z]);
    }
    p.output(z, 1e-3);
    let plan = p.planned(Scheme::Ckks);
    assert!(
        plan.outputs[0].predicted_error > plan.outputs[0].precision && plan.params.scale[0].log2() > 39.0
    );
}

#[test]
fn toy_rings_are_small_and_say_so() {
    for scheme in BOTH {
        let target = Target { toy: true, ..Target::default() };
        let plan = chain(3).plan(scheme, &target).unwrap();
        assert!(plan.params.insecure && plan.params.ring.degree() <= 4096);
        assert!(plan.to_string().contains("security NONE"));
    }
}

#[test]
fn deep_programs_are_bootstrapped_in_ckks() {
    let program = chain(60).arithmetic();
    let subject = Subject { program: &program, source: "" };
    let planned = plan_scheme(subject, Scheme::Ckks, &Target::default()).unwrap();
    let bootstraps = count(&planned.plan, |o| matches!(o, PlanOp::Bootstrap { .. }));
    let cost = planned.plan.estimate.optimality;
    assert!((2..=12).contains(&bootstraps), "{}", planned.plan);
    assert!(cost.greedy.is_none_or(|g| g >= cost.cost) && cost.lower_bound <= cost.cost);
    assert!(
        planned.plan.params.log_pq() <= security::max_log_pq(planned.plan.params.ring.degree(), 128).unwrap()
    );
    assert!(plan_scheme(subject, Scheme::Gl, &Target::default()).is_err());
}
