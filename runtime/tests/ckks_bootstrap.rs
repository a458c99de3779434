//! Plans with bootstraps, written by hand: in clear, in their books, encrypted, and through key files.

use plan::bootstrap::{BootstrapSet, SETS, SLOTS_TO_COEFFS, toy_set};
use plan::plan::{Constant, Estimate, FORMAT, Input, Optimality, Output};
use plan::verify::verify;
use plan::{Bytes, Form, Geometry, KeyKind, Level, Node, NodeId, Op, Plan, Secrecy, Tensor};
use runtime::exec::ckks::CkksScheme;
use runtime::exec::clear::simulate;
use runtime::exec::client::{decrypt_outputs, encrypt_inputs};
use runtime::exec::scheme::generate_keys;
use runtime::exec::{EncryptionKey, Required, Scheme, check_inputs, execute};
use runtime::files;
use runtime::math::sampler::Sampler;
use runtime::rlwe::{EvaluationKeys, SecretKey};

const ELEMENTS: usize = 6;
const CONSTANT: f64 = -0.7;

/// x <- x^2 + c, `steps` times, bootstrapped whenever only the levels that a bootstrap takes are left.
fn iterated_squares(set: &BootstrapSet, levels: u32, steps: usize) -> Plan {
    let params = set.params(levels, 128).expect("levels of the set");
    let (top, slots, keys) = (params.top(), params.ring.degree() / 2, params.bootstrap_keys());
    let input = Input {
        name: "x".into(),
        secrecy: Secrecy::Cipher,
        shape: vec![ELEMENTS],
        low: -1.0,
        high: 1.0,
        line: 1,
    };
    let estimate = Estimate {
        key_switches: 0,
        key_bytes: Bytes(0),
        peak_bytes: Bytes(0),
        levels_used: top.0,
        optimality: Optimality::default(),
    };
    let mut plan = Plan {
        format: FORMAT,
        program: "iterated".into(),
        params,
        geometry: Geometry { scheme: plan::Scheme::Ckks, lanes: slots / 8, rows: 1, cols: 8 },
        inputs: vec![input],
        constants: vec![Constant { name: "c".into(), value: Tensor::full(&[ELEMENTS], CONSTANT) }],
        nodes: vec![],
        outputs: vec![],
        keys,
        assumptions: vec![],
        estimate,
    };
    let mut push = |op, args: &[NodeId], level: Option<Level>| {
        let form = level.map_or(Form::Clear, |level| Form::Cipher { level, transposed: false, noise: 1e-5 });
        plan.nodes.push(Node {
            op,
            args: args.to_vec(),
            shape: vec![ELEMENTS],
            form,
            placement: None,
            line: 1,
        });
        NodeId(plan.nodes.len() as u32 - 1)
    };
    let c = push(Op::Constant(0), &[], None);
    let mut level = top;
    let mut x = push(Op::Input(0), &[], Some(level));
    for _ in 0..steps {
        if level.0 == SLOTS_TO_COEFFS {
            level = top;
            x = push(Op::Bootstrap { log_bound: 0 }, &[x], Some(level));
        }
        level = level.after_rescales(1).expect("above the levels of a bootstrap");
        let square = push(Op::Mul, &[x, x], Some(level));
        x = push(Op::AddClear, &[square, c], Some(level));
    }
    plan.outputs.push(Output {
        name: "y".into(),
        node: x,
        precision: 1e-3,
        predicted_error: 1e-3,
        expected_error: 1e-4,
        approximation_error: 0.0,
        max_abs: 1.0,
    });
    plan
}

fn start() -> Tensor {
    Tensor::new(vec![ELEMENTS], vec![0.9, -0.3, 0.0, 1.0, -1.0, 0.5]).expect("six elements")
}

fn expected(steps: usize) -> Vec<f64> {
    let step = |x: f64| (0..steps).fold(x, |x, _| x * x + CONSTANT);
    start().data().iter().map(|&x| step(x)).collect()
}

fn assert_close(found: &[Tensor], steps: usize, tolerance: f64) {
    for (found, expected) in found[0].data().iter().zip(expected(steps)) {
        assert!((found - expected).abs() < tolerance, "{found}, expected {expected}");
    }
}

/// Runs a plan encrypted; the keys go through `store`.
fn encrypted(plan: &Plan, store: impl Fn(&CkksScheme, EvaluationKeys) -> EvaluationKeys) -> Vec<Tensor> {
    let client = CkksScheme::new(plan, EvaluationKeys::new()).expect("parameters of a set");
    let mut sampler = Sampler::from_seed([4; 32]);
    let secret = SecretKey::generate(client.chain(), &mut sampler);
    let keys = generate_keys(&client, plan, &secret, &mut sampler, &mut |_, _| {}).expect("levels at hand");
    let data = [("x".to_string(), start())].into();
    let inputs = check_inputs(plan, &data, Required::All).expect("values in range");
    let key = EncryptionKey::Secret(&secret);
    let inputs = encrypt_inputs(&client, plan, &inputs, &key, &mut sampler).expect("small values");
    let server = CkksScheme::new(plan, store(&client, keys)).expect("keys of the plan");
    let run = execute(plan, &server, &inputs, &mut |_| {}).expect("a verified plan");
    decrypt_outputs(&client, plan, &secret, run.outputs).expect("outputs of the plan")
}

#[test]
fn iterated_squares_run_in_clear_and_encrypted() {
    let (set, steps) = (toy_set(9), 11);
    let plan = iterated_squares(&set, 4, steps);
    assert_eq!(plan.bootstraps(), 2);
    assert!(plan.to_string().contains("bootstraps 2 ; failure 2^-139"), "{plan}");
    verify(&plan).expect("a right plan");
    let data = [("x".to_string(), start())].into();
    let inputs = check_inputs(&plan, &data, Required::All).expect("values in range");
    let clear = simulate(&plan, &inputs, None, &mut |_| {}).expect("a right plan");
    assert_close(&clear, steps, 1e-12);
    assert_close(&encrypted(&plan, |_, keys| keys), steps, 1e-4);
}

#[test]
fn keys_of_a_bootstrap_go_through_files() {
    let plan = iterated_squares(&toy_set(8), 1, 2);
    let folder = std::env::temp_dir().join(format!("fhec-bootstrap-keys-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("eval.key");
    let found = encrypted(&plan, |client, keys| {
        files::write_evaluation(&path, &plan, client.chain().ring_spec().degree(), &keys).expect("written");
        files::read_evaluation(&path, &plan, client).expect("read back")
    });
    assert_close(&found, 2, 1e-4);
    // a plan that lists no such keys does not take the file
    let mut other = plan.clone();
    other.keys.retain(|key| !matches!(key.kind, KeyKind::Encapsulate | KeyKind::Raise));
    let client = CkksScheme::new(&other, EvaluationKeys::new()).expect("the same parameters");
    assert!(files::read_evaluation(&path, &other, &client).is_err());
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn wrong_plans_are_refused() {
    let right = iterated_squares(&toy_set(8), 2, 3);
    verify(&right).expect("a right plan");
    let refused = |change: &dyn Fn(&mut Plan), what: &str| {
        let mut plan = right.clone();
        change(&mut plan);
        let error = verify(&plan).expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    };
    let at = right.nodes.iter().position(|n| matches!(n.op, Op::Bootstrap { .. })).expect("there is one");
    let form = |level| Form::Cipher { level: Level(level), transposed: false, noise: 0.0 };
    refused(&|p| p.params.bootstrap = None, "no primes to bootstrap");
    refused(&|p| p.nodes[at].form = form(3), "not above");
    refused(&|p| p.nodes[at].op = Op::Bootstrap { log_bound: 60 }, "at most 2^20");
    refused(&|p| p.nodes[at].args = vec![NodeId(1)], "operand level");
    refused(&|p| p.keys.retain(|k| k.kind != KeyKind::Conjugate), "Conjugate");
    refused(&|p| p.keys.retain(|k| k.kind != KeyKind::Raise), "Raise");
    refused(&|p| p.params.insecure = false, "above the bound");
    refused(&|p| p.params.bootstrap.iter_mut().for_each(|b| b.eval_mod.truncate(8)), "9 primes for eval-mod");
}

/// Several minutes and up to 6 GB: `cargo test --release -- --ignored`.
#[test]
#[ignore = "real parameters"]
fn iterated_squares_at_real_parameters() {
    for (set, levels, steps) in [(&SETS[0], 3, 8), (&SETS[1], 8, 17)] {
        let plan = iterated_squares(set, levels, steps);
        verify(&plan).expect("a right plan");
        assert_close(&encrypted(&plan, |_, keys| keys), steps, 1e-3);
    }
}
