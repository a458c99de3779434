//! The language, piece by piece: small programs in the interpreter against values written down by hand or by loops.

mod front_files;

use compiler::analysis::range::overflows;
use compiler::diag::{Diagnostics, Severity};
use compiler::from_ast::{Program, build};
use compiler::interpret::{OutOfRange, interpret};
use compiler::ir::Op;
use compiler::source::{MemoryLoader, Sources};
use front_files::{FileLoader, corpus};
use plan::{LinearStep, Tensor, TensorOp};
use std::collections::BTreeMap;

fn read(files: &[(&str, &str)]) -> (Sources, Result<Program, Diagnostics>) {
    let mut loader = MemoryLoader::default();
    loader.sources.extend(files.iter().map(|(p, t)| (p.to_string(), t.to_string())));
    let arrays = [("w", tensor(&[2], &[1.0, 2.0])), ("v", tensor(&[2], &[3.0, 4.0]))];
    let arrays = arrays.map(|(k, t)| (k.to_string(), t));
    loader.tensors.insert("two.npz".into(), BTreeMap::from(arrays.clone()));
    loader.tensors.insert("one.npy".into(), BTreeMap::from([(String::new(), arrays[0].1.clone())]));
    let (sources, found) = Sources::read(files[0].0, &loader).unwrap();
    let program = build(&sources, found, &loader);
    (sources, program)
}

fn tensor(shape: &[usize], data: &[f64]) -> Tensor {
    Tensor::new(shape.to_vec(), data.to_vec()).unwrap()
}

/// Values in (-1, 1) that follow no pattern.
fn noise(shape: &[usize], seed: u64) -> Tensor {
    let n: usize = shape.iter().product();
    let at = |i: usize| ((i as f64 + 1.0) * (seed as f64 + 0.618_033_988_749)).sin() * 0.99;
    tensor(shape, &(0..n).map(at).collect::<Vec<_>>())
}

/// A model with that body.
fn model(body: &str) -> String {
    format!("model m {{\n{body}\n}}")
}

fn program(body: &str) -> Program {
    let (sources, program) = read(&[("m.fhe", &model(body))]);
    program.unwrap_or_else(|found| panic!("{}", found.render(&sources, false)))
}

/// The outputs of a model with noise for inputs, with the inputs.
fn run(body: &str) -> (Vec<Tensor>, Vec<Tensor>) {
    let program = program(body);
    let inputs: Vec<Tensor> = program
        .graph
        .inputs
        .iter()
        .enumerate()
        .map(|(i, d)| {
            noise(&d.shape, i as u64 + 1).map(|v| (d.low + d.high) / 2.0 + v * (d.high - d.low) / 2.0)
        })
        .collect();
    let named = program.graph.inputs.iter().zip(&inputs).map(|(d, t)| (d.name.clone(), t.clone())).collect();
    let run = interpret(&program.graph, &named, OutOfRange::Refuse).unwrap();
    for (o, value) in program.graph.outputs.iter().zip(&run.values) {
        let range = program.ranges[o.node];
        let slack = 1e-9 * (1.0 + range.max_abs());
        let inside = value.data().iter().all(|&x| x >= range.low - slack && x <= range.high + slack);
        assert!(inside, "{} leaves {range}", o.name);
    }
    (inputs, run.values)
}

fn close(a: &Tensor, b: &Tensor) {
    assert_eq!(a.shape(), b.shape());
    let difference = a.zip(b, |x, y| x - y).max_abs();
    assert!(difference < 1e-12 * (1.0 + b.max_abs()), "{a:?}\n{b:?}");
}

/// Codes and lines of all messages of a program that is refused.
fn refused(files: &[(&str, &str)]) -> Vec<(String, usize)> {
    let (sources, program) = read(files);
    let found = program.err().unwrap_or_default();
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| (d.code.to_string(), sources.line(d.primary.file, d.primary.span))).collect()
}

/// Codes of the errors of a model with one encrypted input x [3, 4] in [-1, 1].
fn codes(body: &str) -> Vec<String> {
    let text = model(&format!("input x : cipher f64[3, 4] in [-1, 1];\n{body}\noutput last = x;"));
    refused(&[("m.fhe", &text)]).into_iter().map(|e| e.0).collect()
}

// Values

#[test]
fn an_encrypted_kernel_convolves_like_a_known_one() {
    let shapes = "input x : cipher f64[2, 4, 6, 5] in [-1, 1];";
    let call = "conv2d(x, w, bias = b, stride = [2, 1], padding = [1, 2], dilation = [2, 1], groups = 2)";
    let body = |secrecy: &str| {
        format!(
            "{shapes}\ninput w : {secrecy} f64[6, 2, 2, 3] in [-1, 1];\ninput b : {secrecy} f64[6] in [-1, 1];\noutput y = {call};"
        )
    };
    let (_, hidden) = run(&body("cipher"));
    let (_, known) = run(&body("plain"));
    assert_eq!(hidden[0].shape(), [2, 6, 3, 7]);
    close(&hidden[0], &known[0]);
}

#[test]
fn largest_and_smallest_of_any_number() {
    for n in [1, 2, 3, 5, 7, 8] {
        let (x, y) = run(&format!(
            "input x : cipher f64[2, {n}] in [-1, 1];\noutput a = max(x, axis = 1);\noutput b = min(x, keepdims = true);\n\
             output c = maximum(x, -x);\noutput d = max([1, 3, 2]) * x;"
        ));
        let rows: Vec<f64> =
            x[0].data().chunks(n).map(|r| r.iter().copied().fold(f64::MIN, f64::max)).collect();
        close(&y[0], &tensor(&[2], &rows));
        let least = x[0].data().iter().copied().fold(f64::MAX, f64::min);
        close(&y[1], &tensor(&[1, 1], &[least]));
        close(&y[2], &x[0].map(f64::abs));
        close(&y[3], &x[0].map(|v| 3.0 * v));
    }
}

#[test]
fn norms_follow_their_definitions() {
    let (v, y) = run("input x : cipher f64[3, 4] in [-1, 1];
        input g, b, m : cipher f64[4] in [-1, 1];
        input s : plain f64[4] in [0.5, 2];
        output r = rms_norm(x, gamma = g, var_on = [0, 1], within = 1e-4);
        output l = layer_norm(x, g, b, eps = 0.5);
        output n = batch_norm(x, gamma = g, beta = b, mean = m, var = s);
        output k = batch_norm(x, mean = 0, var = 1, eps = 0);");
    let at = |t: usize, j: usize| v[t].data()[j];
    let mut expect = [vec![], vec![], vec![]];
    for row in v[0].data().chunks(4) {
        let (mean, square) = (row.iter().sum::<f64>() / 4.0, row.iter().map(|x| x * x).sum::<f64>() / 4.0);
        for (j, x) in row.iter().enumerate() {
            expect[0].push(x / (square + 1e-5).sqrt() * at(1, j));
            expect[1].push((x - mean) / (square - mean * mean + 0.5).sqrt() * at(1, j) + at(2, j));
            expect[2].push((x - at(3, j)) / (at(4, j) + 1e-5).sqrt() * at(1, j) + at(2, j));
        }
    }
    (0..3).for_each(|i| close(&y[i], &tensor(&[3, 4], &expect[i])));
    close(&y[3], &v[0]);
}

#[test]
fn softmax_is_its_definition_on_any_interval() {
    let (x, y) =
        run("input x : cipher f64[3, 2] in [10, 14];\noutput y = softmax(x, axis = 0, on = [9, 15]);");
    let e: Vec<f64> = x[0].data().iter().map(|v| v.exp()).collect();
    let expect: Vec<f64> = (0..6).map(|i| e[i] / (e[i % 2] + e[2 + i % 2] + e[4 + i % 2])).collect();
    close(&y[0], &tensor(&[3, 2], &expect));
}

#[test]
fn clear_operands_on_either_side() {
    let (v, y) = run("input x : cipher f64[2, 3] in [-1, 1];
        input p : plain f64[3] in [1, 2];
        input q : plain f64[3, 2] in [-1, 1];
        output a = x / p + p * x - x * p;
        output b = q @ x;
        output c = x @ q;
        output d = x @ p;
        output e = p @ q * x[0, 0];
        output f = [(x[0] + 2) ** -2 ** 0, p] * 2;
        output g = p ** 2 / (1 + p) * x[0];");
    let (x, p, q) = (v[0].data(), v[1].data(), v[2].data());
    close(&y[0], &tensor(&[2, 3], &(0..6).map(|i| x[i] / p[i % 3]).collect::<Vec<_>>()));
    let qx = |i: usize, j: usize| (0..2).map(|k| q[i * 2 + k] * x[k * 3 + j]).sum::<f64>();
    close(&y[1], &tensor(&[3, 3], &(0..9).map(|i| qx(i / 3, i % 3)).collect::<Vec<_>>()));
    let xq = |i: usize, j: usize| (0..3).map(|k| x[i * 3 + k] * q[k * 2 + j]).sum::<f64>();
    close(&y[2], &tensor(&[2, 2], &(0..4).map(|i| xq(i / 2, i % 2)).collect::<Vec<_>>()));
    close(
        &y[3],
        &tensor(&[2], &(0..2).map(|i| (0..3).map(|k| x[i * 3 + k] * p[k]).sum()).collect::<Vec<_>>()),
    );
    close(
        &y[4],
        &tensor(
            &[2],
            &(0..2).map(|j| (0..3).map(|k| p[k] * q[k * 2 + j]).sum::<f64>() * x[0]).collect::<Vec<_>>(),
        ),
    );
    close(
        &y[5],
        &tensor(
            &[2, 3],
            &[2.0 / (x[0] + 2.0), 2.0 / (x[1] + 2.0), 2.0 / (x[2] + 2.0), 2.0 * p[0], 2.0 * p[1], 2.0 * p[2]],
        ),
    );
    close(&y[6], &tensor(&[3], &(0..3).map(|i| p[i] * p[i] / (1.0 + p[i]) * x[i]).collect::<Vec<_>>()));
}

#[test]
fn functions_see_their_definition_and_return_tuples() {
    let (x, y) = run("input x : cipher f64[2] in [-1, 1];
        const k = 2;
        fn both(a) { let k = k + 1; (twice(a) * k, a) }
        fn twice(a) = a * k;
        for i in 0..1 { let k = 100; output_free(i); }
        let (p, q) = both(x);
        let mut w = zeros([2]);
        for i in 1..4 { fn scaled(a) = a * i; w = w + scaled(x); }
        output y = p + q + w;
        let mean = mean(y);
        output z = mean;
        fn output_free(i) = i;"
        .replace("output_free(i);", "let _unused = output_free(i);")
        .as_str());
    close(&y[0], &x[0].map(|v| (6.0 + 1.0 + 6.0) * v));
    close(&y[1], &Tensor::scalar(13.0 * x[0].data().iter().sum::<f64>() / 2.0));
}

#[test]
fn ranges_are_stated_at_every_place() {
    let (x, y) = run("input x : cipher f64[2] in [-1, 1];
        let a = 3 * x in [-3, 3];
        let mut b = a;
        b = b * b in [0, 9];
        output c = b + 1 in [1, 10] precision 1e-4;
        output a in [-3, 3];
        output d = cheb(x * 2, [0, 0, 1], on = [-2, 2]) + poly(x, [0, 0, 2]);");
    close(&y[0], &x[0].map(|v| 9.0 * v * v + 1.0));
    close(&y[1], &x[0].map(|v| 3.0 * v));
    close(&y[2], &x[0].map(|v| 2.0 * v * v - 1.0 + 2.0 * v * v));
    let p = program("input x : cipher f64[2] in [-1, 1];\noutput y = x ** 40000000000;");
    assert_eq!(p.ranges[p.graph.outputs[0].node].high, 1.0);
}

#[test]
fn joining_padding_and_picking_with_values_and_constants() {
    let (x, y) = run("input x : cipher f64[2] in [-1, 1];
        output a = concat([x, [5], x[1:]], axis = 0);
        output b = pad(x[None], [[0, 1], [1, 0]], value = 7);
        output c = stack([x[i] for i in 0..2], axis = -1);
        output d = [[x[0], 1], [2, x[1]]];
        output e = transpose(reshape(concat([x, 0 * x], axis = 0), [2, 1, 2]), [2, 0, 1])[..., -1];
        output f = broadcast(x, [2, 2]) * eye(2) + outer(x, ones([2]));");
    let v = x[0].data();
    close(&y[0], &tensor(&[4], &[v[0], v[1], 5.0, v[1]]));
    close(&y[1], &tensor(&[2, 3], &[7.0, v[0], v[1], 7.0, 7.0, 7.0]));
    close(&y[2], &x[0]);
    close(&y[3], &tensor(&[2, 2], &[v[0], 1.0, 2.0, v[1]]));
    close(&y[4], &tensor(&[2, 2], &[v[0], 0.0, v[1], 0.0]));
    close(&y[5], &tensor(&[2, 2], &[2.0 * v[0], v[0], v[1], 2.0 * v[1]]));
}

#[test]
fn files_give_tensors_under_their_default_keys() {
    let (x, y) = run("input x : cipher f64[2] in [-1, 1];
        const w = load(\"two.npz\") * 2;
        const one = load(\"one.npy\");
        const three : f64[2] = load(\"two.npz\", \"v\");
        output y = x * w + three * x + one;");
    let v = x[0].data();
    close(&y[0], &tensor(&[2], &[5.0 * v[0] + 1.0, 8.0 * v[1] + 2.0]));
    assert_eq!(codes("let a = load(\"two.npz\")[0] * [load(\"two.npz\")];"), ["E0407", "E0407"]);
    assert_eq!(codes("let a = load(\"one.npy\", \"k\"); let b = load(3);"), ["E0407", "E0501"]);
}

// The graph

#[test]
fn products_with_clear_operands_are_linear() {
    let p = program(
        "input x : cipher f64[5, 2, 3] in [-1, 1];
        input w : plain f64[3, 3] in [-1, 1];
        output y = 2 * (x @ w) * [1, 2, 3] / 4;",
    );
    for id in p.graph.ids().filter(|&id| p.graph.is_cipher(id)) {
        let op = &p.graph.node(id).op;
        assert!(matches!(op, Op::Input(_) | Op::Tensor(TensorOp::Linear { .. })), "{op:?}");
    }
    let spread = p.graph.ids().any(|id| match &p.graph.node(id).op {
        Op::Tensor(TensorOp::Linear { steps }) => {
            steps.iter().any(|s| matches!(s, LinearStep::MatMulRight { shape, .. } if shape.len() > 2))
        }
        _ => false,
    });
    assert!(!spread, "weights without batch axes stay without");
}

#[test]
fn equal_constants_are_one_node_and_squares_are_not_negative() {
    let p = program(
        "input x : cipher f64[3] in [-2, 1];
        let mut y = x;
        for i in 0..9 { y = y + [1, 2, 3]; }
        output y;
        output z = sqrt(x * x);
        output v = sqrt(var(x));",
    );
    assert_eq!(p.graph.constants.len(), 1);
    assert_eq!(p.ranges[p.graph.outputs[1].node].low, 0.0);
}

// Messages

#[test]
fn warnings_name_what_they_mean() {
    let warnings = |body: &str| -> Vec<String> {
        program(body).warnings.iter().map(|d| format!("{} {}", d.code, d.message)).collect()
    };
    let found = warnings(
        "input x : cipher f64[3] in [-1, 1];\nlet a = exp(x, within = 1e-2);\noutput y = 2 * a precision 1e-3;\nlet b = a;\nlet _c = a;",
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("0.01") && found[0].contains("0.001") && found[0].contains("`y`"));
    assert!(found[1].starts_with("W0301") && found[1].contains("`b`"));
    assert!(
        warnings("input x : cipher f64[3] in [-1, 1];\noutput y = exp(x, within = 1e-4) precision 1e-3;")
            .is_empty()
    );
}

#[test]
fn recursion_is_an_error_even_if_unused() {
    let text = "fn f(x) = g(x);\nfn g(x) = f(x) + g(x);\nfn h(x) = f(x);\nmodel m {\ninput x : cipher f64 in [0, 1];\noutput y = h(x);\n}";
    assert_eq!(refused(&[("m", text)]), [("E0306".into(), 1)]);
    let text = "fn f(x) = f(x);\nmodel m {\ninput x : cipher f64 in [0, 1];\noutput y = x;\n}";
    assert_eq!(refused(&[("m", text)]), [("E0306".into(), 1)]);
}

#[test]
fn imports_bring_functions_and_constants_only() {
    let main = "import \"lib\";\nmodel m {\ninput x : cipher f64[2] in [-1, 1];\noutput y = double(x) * k + inner;\n}";
    let lib = "const hidden = 3;\nconst k = hidden + 1;\nfn double(x) = x * 2 + 0 * hidden;\nmodel other { input inner : cipher f64 in [0, 1]; output inner; }";
    assert_eq!(refused(&[("m", main), ("lib", lib)]), [("E0301".into(), 4)]);
    let clash = format!("fn double(x) = x;\n{main}").replace(" + inner", "");
    assert_eq!(refused(&[("m", &clash), ("lib", lib)]), [("E0303".into(), 1)]);
    let (sources, wrong) = read(&[
        ("m", "import \"lib\";\nmodel m {\ninput x : cipher f64[2] in [-1, 1];\noutput y = bad(x);\n}"),
        ("lib", "fn bad(x) = x + [1, 2, 3];\n"),
    ]);
    let text = wrong.unwrap_err().render(&sources, false);
    assert!(
        text.contains("lib:1:13") && text.contains("m:4:12") && text.contains("in this call of `bad`"),
        "{text}"
    );
}

#[test]
fn a_mistake_is_said_once_and_nothing_follows_from_it() {
    let once = "let a = x + [1, 2, 3]; let b = sum(a) @ a; fn f(t) = t + [1, 2]; let mut w = x;
        for i in 0..5 { w = w * f(x); let c = w + b; }
        let (d, e) = f(x);";
    assert_eq!(codes(once), ["E0510", "E0510"]);
}

#[test]
fn every_mistake_has_its_code() {
    let cases = [
        ("let a = x[5];", "E0520"),
        ("let a = x[2:1];", "E0520"),
        ("let a = x[..., 0, ...];", "E0520"),
        ("let a = x @ x;", "E0511"),
        ("let a = transpose(x[0]);", "E0512"),
        ("let a = transpose(x, [0, 0]);", "E0522"),
        ("let a = reshape(x, [0, 4]);", "E0521"),
        ("let a = broadcast(x, [4, 3]);", "E0521"),
        ("let a = concat([x, x[0]], axis = 0);", "E0523"),
        ("let a = concat(x, axis = 0);", "E0501"),
        ("let a = pad(x, [[1, 1]]);", "E0521"),
        ("let a = pad(x, [[1, 1], [0, -1]]);", "E0503"),
        ("let a = roll(x, 1, axis = 2);", "E0522"),
        ("let a = [x, x[0]];", "E0505"),
        ("let a = [];", "E0505"),
        ("let a = zeros([10000, 10000]);", "E0409"),
        ("let a = x / [1, 0, 1, 1];", "E0604"),
        ("let a = 1 / x;", "E0602"),
        ("let a = x ** -1;", "E0602"),
        ("let a = x ** x;", "E0502"),
        ("const a = x * 2;", "E0502"),
        ("const a : f64[3] = [1, 2];", "E0402"),
        ("let (a, b) = x;", "E0405"),
        ("let (a, b) = (x, x, x);", "E0405"),
        ("let a = (x, x) + 1;", "E0501"),
        ("let a = \"x\" * 2;", "E0501"),
        ("let a = sum(x, keepdims = 1);", "E0501"),
        ("let a = clip(x, 1, 0);", "E0703"),
        ("let a = exp(x, degree = 0);", "E0703"),
        ("let a = exp(x, degree = 2, within = 1e-6);", "E0605"),
        ("let a = exp();", "E0702"),
        ("let a = exp(x, x = x);", "E0701"),
        ("let a = x(1);", "E0307"),
        ("let a = exp * 2;", "E0307"),
        ("let a = matmul(x, x);", "E0302"),
        ("fn f(a, b) = a; let a = f(x);", "E0504"),
        ("fn f(a) = a; let a = f(a = x);", "E0504"),
        ("let mut m = x; fn f(a) = a + m;", "E0304"),
        ("fn f(a) { output b = a; a }", "E0305"),
        ("fn f(a) = a + later; let later = x;", "E0301"),
        ("output z = x precision 0;", "E0406"),
        ("output x; output x;", "E0303"),
        ("let a = 2 in [3, 4];", "E0401"),
        ("input b : cipher u8[3] in [0, 1];", "E0410"),
        ("for i in 0..x { let a = x; }", "E0502"),
        ("let a = layer_norm(x, gamma = [1, 2]);", "E0521"),
        ("let a = batch_norm(x, gamma = ones([4]));", "E0702"),
        ("let a = avg_pool2d(x[None, None]);", "E0702"),
        ("let a = conv2d(x[None, None], ones([1, 1, 2, 2]), bias = [1, 2]);", "E0524"),
        ("let a = poly(x, x);", "E0502"),
        ("let a = diag(x[None]);", "E0512"),
        ("let a = sum(x, axis = [0, 0]);", "E0703"),
        ("let a = size(x, 2);", "E0522"),
    ];
    for (body, code) in cases {
        assert_eq!(codes(body), [code], "{body}");
    }
}

#[test]
fn a_program_needs_a_model_and_an_output() {
    assert_eq!(refused(&[("m", "const a = 1;\n")]), [("E0408".into(), 2)]);
    assert_eq!(refused(&[("m", "model m {\ninput x : cipher f64 in [0, 1];\n}")]), [("E0408".into(), 1)]);
}

#[test]
fn limits_stop_programs_that_grow_without_end() {
    assert_eq!(codes("let mut w = 1; for i in 0..1000000000000 { w = w + 1; }"), ["E0409"]);
    assert_eq!(codes("let mut w = x; for i in 0..3000 { for j in 0..3000 { w = w + x; } }"), ["E0409"]);
    let mut functions = String::from("fn f0(a) = a;\n");
    for i in 1..2000 {
        functions += &format!("fn f{i}(a) = -(f{}(-a));\n", i - 1);
    }
    assert_eq!(codes(&format!("{functions} let a = f1999(x);")), ["E0409"]);
}

#[test]
fn values_that_grow_without_bound_are_found() {
    let p = program(
        "input x : cipher f64[2] in [-4, 4];\nlet y = x ** 40 in [0, 1];\noutput z = (y + x) ** 30;\noutput w = z * z;",
    );
    let found = overflows(&p.graph, &p.ranges);
    assert_eq!(found.iter().map(|d| d.message.contains("overflow")).collect::<Vec<_>>(), [true]);
}

#[test]
fn the_examples_are_right() {
    let folder = corpus().join("../../examples");
    for name in ["attention", "digits", "distance", "regression", "sobel"] {
        let path = folder.join(name).join("model.fhe");
        let (sources, found) = Sources::read(&path.to_string_lossy(), &FileLoader).unwrap();
        let program = build(&sources, found, &FileLoader);
        let program = program.unwrap_or_else(|found| panic!("{}", found.render(&sources, false)));
        assert!(program.warnings.is_empty(), "{}", program.warnings.render(&sources, false));
        assert!(overflows(&program.graph, &program.ranges).is_empty());
    }
}

/// The outputs when every approximated function errs by all it may, up or down as the sign of a noise says.
fn run_with_errors(program: &Program, inputs: &[Tensor], seed: u64) -> Vec<Tensor> {
    let mut values: Vec<Tensor> = Vec::new();
    for id in program.graph.ids() {
        let args = program.graph.args(id);
        let args: Vec<&Tensor> = args.iter().map(|a| &values[a.index()]).collect();
        let op = &program.graph.node(id).op;
        let mut value = match op {
            Op::Input(i) => inputs[*i].clone(),
            Op::Constant(c) => program.graph.constants[*c].value.clone(),
            op => op.eval(&args).unwrap(),
        };
        if let Op::Function { wish, .. } = op {
            let within = wish.within.expect("every part has its share");
            let signs = noise(value.shape(), seed + u64::from(id.0)).map(f64::signum);
            value = value.zip(&signs, |v, s| v + s * within);
        }
        values.push(value);
    }
    program.graph.outputs.iter().map(|o| values[o.node.index()].clone()).collect()
}

#[test]
fn parts_of_a_function_share_its_error() {
    let within = 1e-3;
    let body = "input x : cipher f64[4, 5] in [-2, 1.5];
        input y : cipher f64[4, 5] in [-1, 1];
        output s = softmax(x, axis = -1, within = 1e-3);
        output t = softmax(x, axis = 0, on = [-3, 2], within = 1e-3);
        output l = layer_norm(x, gamma = [1, 2, 0.5, -3, 1], var_on = [0.1, 4], within = 1e-3);
        output r = rms_norm(x, eps = 0.1, within = 1e-3);
        output m = max(x, axis = 1, within = 1e-3);
        output n = maximum(x, y, within = 1e-3);";
    let (inputs, exact) = run(body);
    let program = program(body);
    for seed in 0..20 {
        for (noisy, exact) in run_with_errors(&program, &inputs, seed).iter().zip(&exact) {
            let error = noisy.zip(exact, |a, b| a - b).max_abs();
            assert!(error <= within * (1.0 + 1e-6) && error > 1e-6, "{error}");
        }
    }
}
