//! Products of matrices: flips, levels, frames.

mod lower_common;

use compiler::lower::Target;
use compiler::lower::error::PlanError;
use lower_common::{Program, count, kinds};
use plan::{KeyKind, LinearStep, Op, Scheme, TensorOp};

fn flips(plan: &plan::Plan) -> usize {
    count(plan, |o| *o == Op::Flip)
}

#[test]
fn two_products_take_two_levels_in_gl_and_four_in_ckks() {
    for (scheme, levels) in [(Scheme::Gl, 2), (Scheme::Ckks, 4)] {
        for left in [true, false] {
            let mut p = Program::new();
            let (a, b, c) = (p.input(&[4, 4]), p.input(&[4, 4]), p.input(&[4, 4]));
            let y = if left {
                let ab = p.op(TensorOp::MatMul, &[a, b]);
                p.op(TensorOp::MatMul, &[ab, c])
            } else {
                let bc = p.op(TensorOp::MatMul, &[b, c]);
                p.op(TensorOp::MatMul, &[a, bc])
            };
            p.output(y, 5e-4);
            let plan = p.planned(scheme);
            assert_eq!((plan.estimate.levels_used, flips(&plan)), (levels, 0), "{plan}");
            if scheme == Scheme::Gl {
                assert_eq!(kinds(&plan), [KeyKind::Product]);
            }
        }
    }
}

#[test]
fn attention_scores_need_no_transpose() {
    let mut p = Program::new();
    let (q, k, v) = (p.input(&[3, 8, 8]), p.input(&[3, 8, 8]), p.input(&[3, 8, 8]));
    let kt = p.transpose(k);
    let scores = p.op(TensorOp::MatMul, &[q, kt]);
    let mixed = p.op(TensorOp::MatMul, &[scores, v]);
    p.output(scores, 1e-2);
    p.output(mixed, 1e-2);
    let plan = p.planned(Scheme::Gl);
    assert_eq!((plan.estimate.levels_used, flips(&plan)), (2, 0), "{plan}");
    assert_eq!(kinds(&plan), [KeyKind::Product]);
}

#[test]
fn a_gram_matrix_both_ways_flips_once() {
    let mut p = Program::new();
    let x = p.input(&[10, 4]);
    let xt = p.transpose(x);
    let small = p.op(TensorOp::MatMul, &[xt, x]);
    let large = p.op(TensorOp::MatMul, &[x, xt]);
    p.output(small, 1e-3);
    p.output(large, 1e-3);
    let plan = p.planned(Scheme::Gl);
    assert_eq!((plan.estimate.levels_used, flips(&plan)), (1, 1), "{plan}");
}

#[test]
fn dense_layers_need_no_rotations_in_gl() {
    let mut p = Program::new();
    let x = p.input(&[40, 16]);
    let (w1, w2) = (p.constant(&[16, 8]), p.constant(&[8, 10]));
    let h = p.matmul_right(x, w1);
    let h = p.op(TensorOp::Mul, &[h, h]);
    let y = p.matmul_right(h, w2);
    p.output(y, 1e-2);
    let gl = p.planned(Scheme::Gl);
    assert_eq!((gl.estimate.levels_used, kinds(&gl)), (3, vec![KeyKind::Relinearize]));
    assert_eq!(count(&gl, |o| *o == Op::MatMulClear), 2);
}

#[test]
fn clear_factors_on_the_left_are_row_maps_of_the_transposed() {
    let mut p = Program::new();
    let x = p.input(&[16, 5]);
    let w = p.constant(&[12, 16]);
    let y = p.matmul_left(w, x);
    p.output(y, 1e-2);
    let plan = p.planned(Scheme::Gl);
    assert_eq!((plan.estimate.levels_used, plan.keys.len(), flips(&plan)), (1, 0, 0), "{plan}");
    assert_eq!(count(&plan, |o| matches!(o, Op::LinearRows { .. })), 1);
}

#[test]
fn vectors_need_no_masked_product() {
    let mut p = Program::new();
    let (x, v) = (p.input(&[12, 6]), p.input(&[6]));
    let column = p.linear(vec![LinearStep::Reshape { shape: vec![6, 1] }], &[v]);
    let y = p.op(TensorOp::MatMul, &[x, column]);
    let y = p.linear(vec![LinearStep::Reshape { shape: vec![12] }], &[y]);
    p.output(y, 1e-3);
    let plan = p.planned(Scheme::Ckks);
    assert_eq!((plan.estimate.levels_used, count(&plan, |o| *o == Op::MaskedMatMul)), (2, 0), "{plan}");
    let mut p = Program::new();
    let (x, v) = (p.input(&[12, 6]), p.input(&[6]));
    let column = p.linear(vec![LinearStep::Reshape { shape: vec![6, 1] }], &[v]);
    let y = p.op(TensorOp::MatMul, &[x, column]);
    let y = p.linear(vec![LinearStep::Reshape { shape: vec![12] }], &[y]);
    p.output(y, 1e-3);
    let plan = p.planned(Scheme::Gl);
    assert_eq!((plan.estimate.levels_used, kinds(&plan)), (1, vec![KeyKind::Product]), "{plan}");
}

#[test]
fn products_beyond_a_frame_are_refused() {
    let mut p = Program::new();
    let (a, b) = (p.input(&[600, 4]), p.input(&[4, 3]));
    let y = p.op(TensorOp::MatMul, &[a, b]);
    p.output(y, 1e-2);
    let error = p.plan(Scheme::Gl, &Target::default()).unwrap_err();
    assert!(matches!(error, PlanError::TooWide { rows: 600, limit: 512, .. }), "{error}");
}

#[test]
fn element_wise_operations_stay_in_one_orientation() {
    let mut p = Program::new();
    let (a, b) = (p.input(&[8, 8]), p.input(&[8, 8]));
    let sum = p.op(TensorOp::Add, &[a, b]);
    let square = p.op(TensorOp::Mul, &[sum, sum]);
    let y = p.op(TensorOp::MatMul, &[a, square]);
    p.output(y, 1e-2);
    let plan = p.planned(Scheme::Gl);
    assert_eq!(flips(&plan), 1, "{plan}");
}

#[test]
fn factors_go_into_clear_matrices() {
    let mut p = Program::new();
    let x = p.input(&[6, 4]);
    let w = p.constant(&[4, 3]);
    let steps = vec![
        LinearStep::MatMulRight { weight: plan::Operand(0), shape: vec![4, 3] },
        LinearStep::ScaleBy { factor: 0.5 },
    ];
    let y = p.linear(steps, &[x, w]);
    p.output(y, 1e-3);
    let plan = p.planned(Scheme::Gl);
    assert_eq!((plan.estimate.levels_used, count(&plan, |o| *o == Op::MatMulClear)), (1, 1));
}

#[test]
fn sums_and_spreads_stay_in_one_orientation_in_ckks() {
    let mut p = Program::new();
    let x = p.input(&[12, 6]);
    let sum = p.linear(vec![LinearStep::Sum { axes: vec![1] }], &[x]);
    let square = p.op(TensorOp::Mul, &[sum, sum]);
    let steps =
        vec![LinearStep::Reshape { shape: vec![12, 1] }, LinearStep::Broadcast { shape: vec![12, 6] }];
    let spread = p.linear(steps, &[square]);
    let y = p.op(TensorOp::Mul, &[x, spread]);
    p.output(y, 1e-2);
    let plan = p.planned(Scheme::Ckks);
    assert_eq!(plan.estimate.levels_used, 3, "{plan}");
    // the sum and the spread by shifts of one direction: without a column in one of them it takes all twelve rows apart
    assert!(plan.nodes.iter().any(|n| n.layout().transposed) && plan.estimate.key_switches < 12, "{plan}");
}
