//! Every command: its JSON, its exit codes, what it prints where.

mod support;

use support::{code, corpus, example, fhec, json, repository, run, stderr, text};

#[test]
fn run_reports_what_the_contract_says() {
    let output = run(&["run", &example("distance"), "--json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report = json(&output);
    assert_eq!(report["program"], "distance");
    assert!(["ckks", "gl"].contains(&report["scheme"].as_str().expect("text")));
    assert_eq!((&report["security_bits"], &report["insecure"]), (&128.into(), &false.into()));
    let ring = &report["ring"];
    assert!(ring["log_qp"].as_f64().expect("number") <= ring["max_log_qp"].as_f64().expect("number"));
    assert!(ring["dimension"].is_u64() && ring["n"].is_u64() && (ring["p"].is_u64() || ring["p"].is_null()));
    let levels = &report["levels"];
    let level = |key: &str| levels[key].as_u64().expect("number");
    assert_eq!(level("start") - level("end"), level("used"));
    assert_eq!(report["bootstraps"], 0);
    let out = &report["outputs"][0];
    assert_eq!((&out["name"], &out["shape"]), (&"closeness".into(), &serde_json::json!([75, 3])));
    let number = |key: &str| out[key].as_f64().expect("number");
    assert!(number("max_abs_error") <= number("predicted_error"));
    assert!(number("precision_bits") > 10.0 && out["path"].is_null());
    for key in ["compile", "keygen", "encrypt", "evaluate", "decrypt"] {
        assert!(report["seconds"][key].as_f64().expect("number") > 0.0, "{key}");
    }
    for key in ["keys", "input"] {
        assert!(report["bytes"][key].as_u64().expect("number") > 0, "{key}");
    }
    let accuracy = &report["accuracy"];
    assert_eq!((&accuracy["result"], &accuracy["agreement"]), (&accuracy["clear"], &1.0.into()));
}

#[test]
fn run_prints_a_table_and_says_when_nothing_is_protected() {
    let output = run(&["run", &example("sobel"), "--toy"]);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
    assert_eq!(code(&output), 0, "{err}");
    assert!(err.contains("INSECURE") && out.contains("security   NONE"), "{out}{err}");
    for word in ["edges", "[30, 30]", "max error", "levels", "time", "size", "encrypted", "clear"] {
        assert!(out.contains(word), "{word}: {out}");
    }
    let secure = run(&["run", &example("sobel"), "--mode", "simulate"]);
    let out = String::from_utf8_lossy(&secure.stdout);
    assert!(
        out.contains("128 bits") && out.contains("eprint 2024/463") && !out.contains("INSECURE"),
        "{out}"
    );
    assert!(stderr(&secure).is_empty(), "{}", stderr(&secure));
}

#[test]
fn all_modes_agree() {
    let error = |mode: &str| {
        let report = json(&run(&["run", &example("sobel"), "--toy", "--mode", mode, "--json"]));
        assert_eq!(report["mode"], mode);
        report["outputs"][0]["max_abs_error"].as_f64().expect("number")
    };
    assert_eq!(error("clear"), 0.0);
    let (simulated, encrypted) = (error("simulate"), error("encrypted"));
    assert!(simulated > 0.0 && simulated < 1e-3 && encrypted > 0.0 && encrypted < 1e-3);
}

#[test]
fn outputs_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("new/answer");
    let output = run(&["run", &example("sobel"), "--mode", "clear", "--out", text(&out), "--json"]);
    let path = json(&output)["outputs"][0]["path"].as_str().expect("a path").to_string();
    assert_eq!(runtime::data::read_npy(path.as_ref()).expect("a tensor").shape(), [30, 30]);
}

#[test]
fn check_compile_and_dump() {
    let check = json(&run(&["check", &corpus("programs", "unused_passthrough.fhe"), "--json"]));
    assert_eq!(check["warnings"].as_array().map(Vec::len), Some(4));
    assert_eq!(check["inputs"][0]["name"], "x");
    let text_of = |arguments: &[&str]| String::from_utf8_lossy(&run(arguments).stdout).into_owned();
    let sobel = example("sobel");
    assert!(text_of(&["compile", &sobel, "--emit", "plan"]).starts_with("plan sobel ; format 1"));
    assert!(text_of(&["compile", &sobel, "--emit", "ir"]).contains("circuit @sobel"));
    let plan: serde_json::Value =
        serde_json::from_str(&text_of(&["compile", &sobel, "--emit", "json"])).expect("JSON");
    assert_eq!(plan["program"], "sobel");
    let compiled = json(&run(&["compile", &sobel, "--security", "192", "--scheme", "gl", "--json"]));
    assert_eq!((&compiled["security_bits"], &compiled["scheme"]), (&192.into(), &"gl".into()));
    let finer = json(&run(&["explain", &sobel, "--precision", "1e-6", "--json"]));
    assert!(finer["path"].as_array().is_some_and(|p| p.len() > 1) && finer["rejected"].is_array(), "{finer}");
    assert!(text_of(&["dump", "--after", "fuse_linear", &sobel]).contains("circuit @sobel"));
    let unknown = run(&["dump", "--after", "nothing", &sobel]);
    assert!(code(&unknown) == 2 && stderr(&unknown).contains("fuse_linear"), "{}", stderr(&unknown));
}

#[test]
fn a_small_bench_has_the_fields_of_the_contract() {
    for name in ["gl-matmul", "ckks-multiply", "ntt"] {
        let output = run(&["bench", name, "--shape", "4,8,8", "--level", "1", "--threads", "1", "--json"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let bench = json(&output);
        assert_eq!((&bench["name"], &bench["threads"]), (&name.into(), &1.into()));
        let number = |key: &str| bench[key].as_f64().expect("number");
        assert!(number("min_s") <= number("median_s") && number("median_s") <= number("max_s"));
        assert!(number("bytes") > 0.0 && bench["runs"].as_u64().expect("number") >= 3);
        assert_eq!(bench["parameters"]["security_bits"], 128);
        assert!(name == "ntt" || number("precision_bits") > 15.0, "{bench}");
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for arguments in [&["frobnicate"][..], &["run"], &["compile", "x.fhe", "--security", "100"]] {
        assert_eq!(code(&run(arguments)), 2, "{arguments:?}");
        let with_json: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let output = run(&with_json);
        assert_eq!((code(&output), json(&output)["exit"].clone()), (2, 2.into()));
    }
    let twice = run(&["run", &example("sobel"), "--input", "img=random:1", "--input", "img=random:2"]);
    assert!(code(&twice) == 2 && stderr(&twice).contains("given twice"), "{}", stderr(&twice));
    assert_eq!(code(&run(&["--help"])), 0);
    assert_eq!(code(&run(&["--version"])), 0);
}

#[test]
fn wrong_data_are_exit_code_1() {
    let message = |arguments: &[&str]| {
        let output = run(arguments);
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        stderr(&output)
    };
    let missing = message(&["check", "nothing.fhe"]);
    assert!(missing.contains("no file `nothing.fhe`"), "{missing}");
    let sobel = example("sobel");
    let shape = message(&["run", &sobel, "--input", "img=0.5"]);
    assert!(shape.contains("`img`") && shape.contains("[32, 32]") && shape.contains(":3"), "{shape}");
    let unknown = message(&["run", &sobel, "--input", "image=0.5"]);
    assert!(unknown.contains("no input `image`"), "{unknown}");
    let bad = repository().join("tests/corpus/programs/check.py");
    let format = message(&["run", &sobel, "--input", &format!("img={}", text(&bad))]);
    assert!(format.contains(".npy, .npz or .safetensors"), "{format}");
    let memory = message(&["compile", &sobel, "--memory", "1kB"]);
    assert!(memory.contains("memory"), "{memory}");
}

#[test]
fn a_range_that_is_left_can_be_a_warning() {
    let program = corpus("bad", "bad_45.fhe");
    let input = format!("x={}", corpus("bad", "bad_45.x.npy"));
    let arguments = ["run", &program, "--input", &input, "--toy"];
    assert_eq!(code(&run(&arguments)), 1);
    let allowed = fhec(&arguments).arg("--allow-out-of-range").output().expect("it runs");
    assert_eq!(code(&allowed), 0, "{}", stderr(&allowed));
    assert!(stderr(&allowed).contains("1.8"), "{}", stderr(&allowed));
}
