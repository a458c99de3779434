//! The text form of graphs: what is printed is read back as it was, and what is wrong is refused on its line.

mod support;

use compiler::ir::parse::Problem;
use compiler::ir::{parse, verify};
use support::{Programs, Random};

#[test]
fn random_programs_round_trip() {
    for functions in [false, true] {
        let mut programs = Programs { random: Random(7), functions };
        for _ in 0..100 {
            let g = programs.next();
            let text = g.to_string();
            let back = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(back, g, "{text}");
            assert_eq!(verify(&g), Ok(()));
        }
    }
}

const EVERYTHING: &str = r#"circuit @all(%x: cipher f64[1, 2, 4, 4] in [-1.0, 1.0] @ 3..9, %"odd name": plain f64[] in [0.0, 1e300]) {
  const c0 "k \"quoted\" \u{7f}" = f64[2, 2, 1, 1] [1.0, -0.5, 1e-300, -0.0]
  const c1 "" = f64[] [2.5]
  n0 = input %x : cipher [1, 2, 4, 4] @ 3..9
  n1 = input %"odd name" : plain []
  n2 = const c0 : plain [2, 2, 1, 1]
  n3 = const c1 : plain []
  n4 = linear (conv2d %0 [2, 2, 1, 1] stride [1, 1] padding [1, 0] dilation [1, 1] groups 1; avg_pool2d [2, 2] stride [1, 2] padding [0, 0]) n0, n2 : cipher [1, 2, 5, 2]
  n5 = linear (slice [0, 0, 4, 0] by [1, 1, -2, 1] of [1, 2, 3, 2]; reshape [6, 2]; sum [1]; diagonal_matrix; diagonal_of) n4 : cipher [6]
  n6 = clip [-0.5, 1] n5 { on [-1.0, 1.0], within 0.001, degree 7, gap 0.25 } : cipher [6]
  n7 = exp n6 : cipher [6] @ 10..20
  n8 = apply sqrt n1 : plain []
  n9 = div n3, n8 : plain []
  n10 = linear (broadcast [6]) n9 : plain [6]
  n11 = combine [0.5, -1.0] + 0.25 n7, n6 : cipher [6]
  n12 = approximated 0.001 in [-1.0, 2.0] n11 : cipher [6]
  n13 = assume "p" in [-1.0, 1.0] n12 : cipher [6]
  n14 = cheb [1.0, 0.0, 0.5] on [-1, 1] n13 : cipher [6]
  n15 = poly [1.0, 2.0] n14 : cipher [6]
  n16 = pow 5 n15 : cipher [6]
  n17 = mul n16, n10 : cipher [6]
  return "y" = n17 { precision 0.001 } @ 30..40
  return "again" = n17 { precision 1e-6 }
}
"#;

#[test]
fn every_construct_round_trips() {
    let g = parse(EVERYTHING).unwrap();
    assert_eq!(g.to_string(), EVERYTHING);
    assert_eq!(parse(&g.to_string()).unwrap(), g);
}

#[test]
fn mistakes_are_refused_on_their_line() {
    let head = "circuit @t(%x: cipher f64[2] in [-1, 1]) {\n  n0 = input %x ; a comment\n";
    let problem = |line: &str| {
        let e = parse(&format!("{head}  {line}\n}}\n")).unwrap_err();
        assert_eq!(e.line, 3, "{e}");
        e.problem
    };
    assert!(matches!(problem("n1 = add n0, n7"), Problem::Unknown(_)));
    assert!(matches!(problem("n5 = neg n0"), Problem::Number { expected: 1, found: 5 }));
    assert!(matches!(problem("n1 = add n0"), Problem::Operation(_)));
    assert!(matches!(problem("n1 = neg n0 : plain [2]"), Problem::Stated { .. }));
    assert!(matches!(problem("n1 = frobnicate n0"), Problem::Unknown(_)));
    assert!(matches!(problem("n1 = poly [1.0, x] n0"), Problem::Expected { .. }));
    for cut in (0..EVERYTHING.len()).filter(|&i| EVERYTHING.is_char_boundary(i)) {
        let _ = parse(&EVERYTHING[..cut]);
    }
}

#[test]
fn broken_rules_are_named() {
    let broken = |body: &str| {
        let text = format!("circuit @t(%x: cipher f64[2] in [-1, 1]) {{\n n0 = input %x\n {body}\n}}");
        verify(&parse(&text).unwrap()).unwrap_err().to_string()
    };
    assert!(broken("n1 = input %x").contains("n1: input 0 has a second node"));
    assert!(broken("n1 = div n0, n0").contains("only for clear"));
    assert!(broken("n1 = apply exp n0").contains("only for clear"));
    assert!(broken("n1 = linear (scale %0) n0, n0").contains("encrypted"));
    assert!(broken("n1 = poly [inf] n0").contains("finite"));
    assert!(broken("n1 = exp n0 { on [1.0, 0.0] }").contains("empty"));
}
