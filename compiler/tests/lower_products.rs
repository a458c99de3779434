//! Products of matrices: flips, levels, frames.

mod lower_common;

use compiler::lower::Target;
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
fn a_gram_matrix_both_ways_is_of_an_input_encrypted_both_ways() {
    let mut p = Program::new();
    let x = p.input(&[10, 4]);
    let xt = p.transpose(x);
    let small = p.op(TensorOp::MatMul, &[xt, x]);
    let large = p.op(TensorOp::MatMul, &[x, xt]);
    p.output(small, 1e-3);
    p.output(large, 1e-3);
    let plan = p.planned(Scheme::Gl);
    assert_eq!((plan.estimate.levels_used, flips(&plan)), (1, 0), "{plan}");
    assert_eq!(count(&plan, |o| *o == Op::Input(0)), 2, "{plan}");
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
fn products_larger_than_a_tile_take_one_level_in_gl() {
    for (a, b) in [([150, 4], [4, 3]), ([10, 180], [180, 8]), ([75, 65], [65, 125])] {
        let mut p = Program::new();
        let (x, y) = (p.input(&a), p.input(&b));
        let z = p.op(TensorOp::MatMul, &[x, y]);
        p.output(z, 1e-1);
        let target = Target { max_side: 16, ..Target::default() };
        let plan = p.plan(Scheme::Gl, &target).unwrap();
        assert_eq!((plan.estimate.levels_used, flips(&plan)), (1, 0), "{plan}");
        let moved = count(&plan, |o| matches!(o, Op::Linear { .. }));
        assert_eq!(moved, 0, "{plan}");
    }
}

#[test]
fn batches_of_inputs_broadcast_for_nothing() {
    let mut p = Program::new();
    let (a, b) = (p.input(&[3, 2, 4, 5]), p.input(&[2, 5, 3]));
    let spread = p.linear(vec![LinearStep::Broadcast { shape: vec![3, 2, 5, 3] }], &[b]);
    let y = p.op(TensorOp::MatMul, &[a, spread]);
    p.output(y, 1e-2);
    let plan = p.planned(Scheme::Gl);
    assert_eq!((plan.estimate.levels_used, kinds(&plan)), (1, vec![KeyKind::Product]), "{plan}");
}

#[test]
fn computed_values_broadcast_without_masks() {
    let mut p = Program::new();
    let (a, b) = (p.input(&[3, 4, 5]), p.input(&[5, 3]));
    let b = p.op(TensorOp::Mul, &[b, b]);
    let spread = p.linear(vec![LinearStep::Broadcast { shape: vec![3, 5, 3] }], &[b]);
    let y = p.op(TensorOp::MatMul, &[a, spread]);
    p.output(y, 1e-2);
    let plan = p.planned(Scheme::Gl);
    assert_eq!(plan.estimate.levels_used, 2, "{plan}");
}

#[test]
fn chains_of_large_products_need_no_map_between() {
    let mut p = Program::new();
    let (q, k, v) = (p.input(&[3, 32, 16]), p.input(&[3, 32, 16]), p.input(&[3, 32, 16]));
    let kt = p.transpose(k);
    let scores = p.op(TensorOp::MatMul, &[q, kt]);
    let mixed = p.op(TensorOp::MatMul, &[scores, v]);
    p.output(mixed, 1e-1);
    let target = Target { max_side: 16, ..Target::default() };
    let plan = p.plan(Scheme::Gl, &target).unwrap();
    assert_eq!((plan.estimate.levels_used, kinds(&plan)), (2, vec![KeyKind::Product]), "{plan}");
}

#[test]
fn wide_clear_matrices_need_no_key() {
    let mut p = Program::new();
    let x = p.input(&[100, 100]);
    let w = p.constant(&[100, 200]);
    let y = p.matmul_right(x, w);
    p.output(y, 1e-1);
    let target = Target { max_side: 32, ..Target::default() };
    let plan = p.plan(Scheme::Gl, &target).unwrap();
    assert_eq!((plan.estimate.levels_used, kinds(&plan)), (1, vec![]), "{plan}");
}

#[test]
fn element_wise_operations_stay_in_one_orientation() {
    let mut p = Program::new();
    let (a, b) = (p.input(&[8, 8]), p.input(&[8, 8]));
    let a = p.op(TensorOp::Mul, &[a, a]);
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
