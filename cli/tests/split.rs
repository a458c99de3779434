//! Client and server in separate processes and folders: the server has the plan, eval.key and ciphertexts, and no secret.

mod support;

use std::path::Path;
use support::{code, example, fhec, json, repository, run, stderr, text};

fn ok(arguments: &[&str], folder: &Path) -> serde_json::Value {
    let output = fhec(arguments).arg("--json").current_dir(folder).output().expect("it runs");
    assert_eq!(code(&output), 0, "{arguments:?}: {}{}", json(&output), stderr(&output));
    json(&output)
}

/// The largest absolute difference of two .npy files of f64.
fn difference(a: &Path, b: &Path) -> f64 {
    let read = |p: &Path| runtime::data::read_npy(p).expect("a tensor");
    read(a).zip(&read(b), |x, y| (x - y).abs()).max_abs()
}

fn job(scheme: &str, key: &str) {
    let root = tempfile::tempdir().expect("a folder");
    let (client, server) = (root.path().join("client"), root.path().join("server"));
    [&client, &server].iter().for_each(|d| std::fs::create_dir(d).expect("a folder"));
    let data = repository().join("examples/distance/x.npy");
    let input = format!("x={}", text(&data));

    ok(&["compile", &example("distance"), "--toy", "--scheme", scheme, "-o", "d.plan"], &client);
    ok(&["keygen", "d.plan", "-o", "keys"], &client);
    ok(&["encrypt", "d.plan", "--key", key, "--input", &input, "-o", "in.ct"], &client);
    for file in ["d.plan", "in.ct", "keys/eval.key"] {
        let name = Path::new(file).file_name().expect("a name");
        std::fs::copy(client.join(file), server.join(name)).expect("copied");
    }
    ok(&["eval", "d.plan", "--keys", "eval.key", "in.ct", "-o", "out.ct"], &server);
    let names: Vec<_> =
        std::fs::read_dir(&server).expect("listed").map(|e| e.expect("read").file_name()).collect();
    assert!(names.len() == 4 && names.iter().all(|n| n != "secret.key"), "{names:?}");
    std::fs::copy(server.join("out.ct"), client.join("out.ct")).expect("copied");
    ok(&["decrypt", "d.plan", "--key", "keys/secret.key", "out.ct", "-o", "answer"], &client);
    ok(&["decrypt", "d.plan", "--key", "keys/secret.key", "out.ct", "-o", "shared", "--flood"], &client);

    ok(&["run", &example("distance"), "--mode", "clear", "--out", "clear"], &client);
    let [answer, shared, clear] = ["answer", "shared", "clear"].map(|d| client.join(d).join("closeness.npy"));
    assert!(difference(&answer, &clear) < 1e-4);
    let flooded = difference(&shared, &answer);
    assert!(flooded > 1e-6 && difference(&shared, &clear) < 10.0, "{flooded}");
}

#[test]
fn ckks_with_a_public_key() {
    job("ckks", "keys/public.key");
}

#[test]
fn gl_with_the_secret_key() {
    job("gl", "keys/secret.key");
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path();
    let message = |arguments: &[&str]| {
        let output = fhec(arguments).current_dir(folder).output().expect("it runs");
        assert_eq!(code(&output), 1, "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    };
    ok(&["compile", &example("distance"), "--toy", "-o", "a.plan"], folder);
    ok(&["compile", &example("sobel"), "--toy", "-o", "b.plan"], folder);
    ok(&["keygen", "a.plan", "-o", "a"], folder);
    let plan_of = message(&["eval", "b.plan", "--keys", "a/eval.key", "in.ct", "-o", "out.ct"]);
    assert!(plan_of.contains("belongs to the plan"), "{plan_of}");
    let kind = message(&["eval", "a.plan", "--keys", "a/secret.key", "in.ct", "-o", "out.ct"]);
    assert!(kind.contains("holds a secret key, expected evaluation keys"), "{kind}");
    let missing = message(&["encrypt", "a.plan", "--key", "a/public.key", "-o", "in.ct"]);
    assert!(missing.contains("no data for the input `x`, [75, 4] (line 3)"), "{missing}");
    let not_ours = message(&["keygen", &example("distance"), "-o", "a"]);
    assert!(not_ours.contains("is no file of fhec"), "{not_ours}");
    assert!(!folder.join("out.ct").exists() && !folder.join("in.ct").exists());
    let bytes = std::fs::read(folder.join("a/eval.key")).expect("read");
    std::fs::write(folder.join("a/eval.key"), &bytes[..bytes.len() / 2]).expect("written");
    let cut = message(&["eval", "a.plan", "--keys", "a/eval.key", "in.ct", "-o", "out.ct"]);
    assert!(cut.contains("incomplete or damaged"), "{cut}");
    #[cfg(unix)]
    {
        let info = std::fs::metadata(folder.join("a/secret.key")).expect("there");
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&info.permissions()) & 0o777, 0o600);
    }
}

#[test]
fn a_plan_runs_without_its_program() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = root.path().join("d.plan");
    assert_eq!(code(&run(&["compile", &example("distance"), "--toy", "-o", text(&plan)])), 0);
    let output = run(&["run", text(&plan), "--input", "x=random:3", "--json"]);
    let report = json(&output);
    assert_eq!(
        report["reference"].as_str().map(|r| r.starts_with("the plan in f64")),
        Some(true),
        "{report}"
    );
    let option = run(&["run", text(&plan), "--toy"]);
    assert_eq!(code(&option), 2, "{}", stderr(&option));
    assert_eq!(code(&run(&["explain", text(&plan)])), 0);
}
