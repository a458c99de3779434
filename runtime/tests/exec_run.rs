//! One plan with every operation: tensors in f64 = the plan in clear = its books = both schemes.

mod exec_common;

use exec_common::{data, everything, expected};
use plan::{Plan, Scheme as SchemeName};
use runtime::exec::book::Books;
use runtime::exec::ckks::CkksScheme;
use runtime::exec::clear::simulate;
use runtime::exec::client::{decrypt_outputs, encrypt_inputs};
use runtime::exec::gl::GlScheme;
use runtime::exec::scheme::generate_keys;
use runtime::exec::{
    Encrypted, EncryptionKey, ExecError, InputError, OpError, Precision, Required, Scheme, check_inputs,
    execute,
};
use runtime::math::sampler::Sampler;
use runtime::rlwe::{EvaluationKeys, PublicKey, SecretKey};

fn assert_close(plan: &Plan, found: &[plan::Tensor], tolerance: f64) {
    let expected = expected(plan);
    assert_eq!(found.len(), plan.outputs.len());
    for (output, found) in plan.outputs.iter().zip(found) {
        let precision = Precision::of(found, &expected[output.name.as_str()]).expect("same shape");
        assert!(precision.max <= tolerance, "{}: {precision:?}", output.name);
    }
}

#[test]
fn in_clear_a_plan_means_its_tensors() {
    for scheme in [SchemeName::Ckks, SchemeName::Gl] {
        let plan = everything(scheme);
        let inputs = check_inputs(&plan, &data(&plan), Required::All).unwrap();
        let mut steps = 0;
        let outputs = simulate(&plan, &inputs, None, &mut |_| steps += 1).unwrap();
        assert_close(&plan, &outputs, 1e-11);
        assert_eq!(steps, plan.nodes.len());
        let noisy = simulate(&plan, &inputs, Some([1; 32]), &mut |_| {}).unwrap();
        assert_close(&plan, &noisy, 1e-8);
        assert_ne!(noisy, outputs);
    }
}

#[test]
fn books_agree_with_the_plan() {
    for scheme in [SchemeName::Ckks, SchemeName::Gl] {
        let plan = everything(scheme);
        let books = Books { params: &plan.params };
        let inputs = check_inputs(&plan, &data(&plan), Required::All).unwrap();
        let cipher = plan.nodes.iter().enumerate().filter_map(|(i, n)| {
            let level = n.level().filter(|_| matches!(n.op, plan::Op::Input(_)))?;
            let count = plan.geometry.ciphertexts(&n.layout());
            Some((plan::NodeId(i as u32), vec![books.fresh(level); count]))
        });
        let plain = [(2, inputs[2].clone().unwrap())].into();
        let inputs = Encrypted { cipher: cipher.collect(), plain };
        assert!(execute(&plan, &books, &inputs, &mut |_| {}).is_ok());
    }
}

fn encrypted_run<S: Scheme>(plan: &Plan, public: bool) -> Vec<plan::Tensor> {
    let client = S::new(plan, EvaluationKeys::new()).unwrap();
    let mut sampler = Sampler::from_seed([3; 32]);
    let secret = SecretKey::generate(client.chain(), &mut sampler);
    let keys = generate_keys(&client, plan, &secret, &mut sampler, &mut |_, _| {}).unwrap();
    let public_key = PublicKey::generate(client.chain(), &secret, &mut sampler);
    let key = if public { EncryptionKey::Public(&public_key) } else { EncryptionKey::Secret(&secret) };
    let inputs = check_inputs(plan, &data(plan), Required::All).unwrap();
    let encrypted = encrypt_inputs(&client, plan, &inputs, &key, &mut sampler).unwrap();
    let server = S::new(plan, keys).unwrap();
    let run = execute(plan, &server, &encrypted, &mut |_| {}).unwrap();
    decrypt_outputs(&client, plan, &secret, run.outputs).unwrap()
}

#[test]
fn schemes_agree_with_the_clear_plan() {
    for public in [false, true] {
        let plan = everything(SchemeName::Ckks);
        assert_close(&plan, &encrypted_run::<CkksScheme>(&plan, public), 1e-5);
        let plan = everything(SchemeName::Gl);
        assert_close(&plan, &encrypted_run::<GlScheme>(&plan, public), 1e-5);
    }
}

#[test]
fn wrong_levels_are_found() {
    let plan = everything(SchemeName::Ckks);
    let books = Books { params: &plan.params };
    let inputs = Encrypted { cipher: Default::default(), plain: Default::default() };
    let error = execute(&plan, &books, &inputs, &mut |_| {}).unwrap_err();
    assert!(matches!(error, ExecError::MissingInput { .. }), "{error}");
    let low = vec![books.fresh(plan::Level(1)); 2];
    let inputs = Encrypted { cipher: [(plan::NodeId(0), low)].into(), plain: Default::default() };
    let error = execute(&plan, &books, &inputs, &mut |_| {}).unwrap_err();
    assert!(matches!(error, ExecError::Book { .. }), "{error}");
}

#[test]
fn missing_keys_are_errors() {
    let plan = everything(SchemeName::Ckks);
    let scheme = CkksScheme::new(&plan, EvaluationKeys::new()).unwrap();
    let mut sampler = Sampler::from_seed([3; 32]);
    let secret = SecretKey::generate(scheme.chain(), &mut sampler);
    let inputs = check_inputs(&plan, &data(&plan), Required::All).unwrap();
    let key = EncryptionKey::Secret(&secret);
    let encrypted = encrypt_inputs(&scheme, &plan, &inputs, &key, &mut sampler).unwrap();
    let error = execute(&plan, &scheme, &encrypted, &mut |_| {}).unwrap_err();
    let ExecError::Operation { source: OpError::Ckks(e), .. } = error else { panic!("{error}") };
    assert!(e.to_string().contains("no evaluation key"), "{e}");
}

#[test]
fn inputs_are_checked_by_name_index_and_value() {
    let plan = everything(SchemeName::Ckks);
    let mut wrong = data(&plan);
    wrong.remove("y");
    wrong.insert("z".into(), plan::Tensor::scalar(0.0));
    let mut values = wrong["x"].data().to_vec();
    values[7] = f64::NAN;
    wrong.insert("x".into(), plan::Tensor::new(vec![3, 6, 5], values).unwrap());
    wrong.insert("s".into(), plan::Tensor::scalar(0.0));
    let errors = check_inputs(&plan, &wrong, Required::All).unwrap_err();
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        [
            "the program has no input `z`; its inputs are x, y, s",
            "input `x` at [0, 1, 2] is NaN, outside its range [-1, 1] (line 1)",
            "no data for the input `y`, [3, 5, 4] (line 1): give `--input y=PATH`, or put `y.npy` beside the program",
            "input `s` has shape [], the program declares [3, 6, 4] (line 1)",
        ]
    );
    assert!(matches!(errors[1], InputError::Range { .. }));
    let run = simulate(&plan, &[], None, &mut |_| {});
    assert!(matches!(run, Err(ExecError::MissingInput { .. })));
}

#[test]
fn forged_splits_are_refused() {
    let mut plan = everything(SchemeName::Ckks);
    let linear = plan.nodes.iter_mut().find_map(|n| match &mut n.op {
        plan::Op::Linear { split, .. } => Some(split),
        _ => None,
    });
    *linear.expect("the plan has linear maps") = plan::Split::Slots { baby: 0 };
    let error = plan::verify::verify(&plan).unwrap_err();
    assert!(error.to_string().contains("baby"), "{error}");
}
