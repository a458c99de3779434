//! Programs and files with random damage: refused or accepted, never a panic, never a signal.

mod support;

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use support::{code, corpus, example, fhec, repository, stderr, text};

/// A change of one place of a text.
#[derive(Clone, Debug)]
enum Edit {
    Delete(prop::sample::Index, usize),
    Insert(prop::sample::Index, &'static str),
    Repeat(prop::sample::Index, usize),
    Swap(prop::sample::Index, prop::sample::Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let piece = prop::sample::select(vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ";",
        ",",
        "..",
        "-",
        "1",
        "0",
        "1e308",
        "4096",
        " @ ",
        " ** ",
        " / ",
        "x",
        "let ",
        "for i in 0..9 { ",
        "sum(",
        "transpose(",
        "reshape(",
        "None",
        ":",
        "\"",
        "//",
        "in [0, 0]",
        "precision 1e-30",
        "scheme gl;",
        "=",
        "\u{e9}",
        "\0",
    ]);
    prop_oneof![
        (any::<prop::sample::Index>(), 1usize..30).prop_map(|(i, n)| Edit::Delete(i, n)),
        (any::<prop::sample::Index>(), piece).prop_map(|(i, p)| Edit::Insert(i, p)),
        (any::<prop::sample::Index>(), 1usize..30).prop_map(|(i, n)| Edit::Repeat(i, n)),
        (any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(|(i, j)| Edit::Swap(i, j)),
    ]
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for edit in edits.iter().filter(|_| !text.is_empty()) {
        let n = chars.len().max(1);
        match edit {
            Edit::Delete(i, k) => {
                let at = i.index(n);
                chars.drain(at.min(chars.len())..(at + k).min(chars.len()));
            }
            Edit::Insert(i, piece) => {
                let at = i.index(n).min(chars.len());
                chars.splice(at..at, piece.chars());
            }
            Edit::Repeat(i, k) => {
                let at = i.index(n).min(chars.len());
                let piece: Vec<char> = chars[at..(at + k).min(chars.len())].to_vec();
                chars.splice(at..at, piece);
            }
            Edit::Swap(i, j) if !chars.is_empty() => {
                let (i, j) = (i.index(chars.len()), j.index(chars.len()));
                chars.swap(i, j);
            }
            Edit::Swap(..) => {}
        }
    }
    chars.into_iter().collect()
}

/// Programs small enough to be compiled many times.
const PROGRAMS: [&str; 8] = [
    "arith_corners",
    "powers",
    "slices",
    "pad_roll",
    "diag_trace_outer_dot",
    "loops",
    "fn_shadow",
    "functions_basic",
];

fn graceful(arguments: &[&str]) -> Result<(), TestCaseError> {
    let output = fhec(arguments).output().expect("it runs");
    let code = output.status.code();
    prop_assert!(matches!(code, Some(0..=3)), "{code:?} {arguments:?}\n{}", stderr(&output));
    Ok(())
}

/// Files of a job on a toy ring, made once.
fn job() -> &'static Path {
    static JOB: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = JOB.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let input = format!("x={}", text(&repository().join("examples/distance/x.npy")));
        for arguments in [
            &["compile", &example("distance"), "--toy", "-o", "d.plan"][..],
            &["keygen", "d.plan", "-o", "."],
            &["encrypt", "d.plan", "--key", "secret.key", "--input", &input, "-o", "in.ct"],
            &["eval", "d.plan", "--keys", "eval.key", "in.ct", "-o", "out.ct"],
        ] {
            let output = fhec(arguments).current_dir(folder.path()).output().expect("it runs");
            assert_eq!(code(&output), 0, "{}", stderr(&output));
        }
        folder
    });
    folder.path()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_programs(which in 0..PROGRAMS.len(), edits in prop::collection::vec(edit(), 1..6)) {
        let source = std::fs::read_to_string(corpus("programs", &format!("{}.fhe", PROGRAMS[which]))).expect("read");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("m.fhe");
        std::fs::write(&file, apply(&source, &edits)).expect("written");
        graceful(&["compile", text(&file), "--toy"])?;
    }

    #[test]
    fn damaged_files(
        which in 0usize..6,
        cut in 0.0..2.0f64,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let name = ["d.plan", "secret.key", "eval.key", "in.ct", "out.ct", "x.npy"][which];
        let x = repository().join("examples/distance/x.npy");
        let original: PathBuf = if name == "x.npy" { x.clone() } else { job().join(name) };
        let mut bytes = std::fs::read(original).expect("read");
        edits.iter().for_each(|(at, b)| { let i = at.index(bytes.len()); bytes[i] = *b; });
        if cut < 1.0 {
            bytes.truncate((cut * bytes.len() as f64) as usize);
        }
        let folder = tempfile::tempdir().expect("a folder");
        let broken = folder.path().join(name);
        std::fs::write(&broken, bytes).expect("written");
        let file = |wanted: &str| if wanted == name { broken.clone() } else if wanted == "x.npy" { x.clone() } else { job().join(wanted) };
        let out = folder.path().join("out");
        let input = format!("x={}", text(&file("x.npy")));
        let (plan, secret, eval, inputs, outputs) =
            (file("d.plan"), file("secret.key"), file("eval.key"), file("in.ct"), file("out.ct"));
        graceful(&["encrypt", text(&plan), "--key", text(&secret), "--input", &input, "-o", text(&out)])?;
        graceful(&["eval", text(&plan), "--keys", text(&eval), text(&inputs), "-o", text(&out)])?;
        graceful(&["decrypt", text(&plan), "--key", text(&secret), text(&outputs), "-o", text(&folder.path().join("d"))])?;
    }
}
