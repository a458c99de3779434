//! Every form of the language, read and printed back in the one layout with no parentheses too many.

use grammar::ast::*;
use grammar::{Ast, parse};

fn read(source: &str) -> Ast {
    let (ast, errors) = parse(source);
    assert!(errors.is_empty(), "{source}\n{errors:#?}");
    let printed = ast.to_string();
    let (again, errors) = parse(&printed);
    assert!(errors.is_empty(), "{printed}\n{errors:#?}");
    assert_eq!(printed, again.to_string(), "printing and reading keeps the tree");
    ast
}

fn statements(source: &str) -> Vec<Stmt> {
    read(&format!("model m {{ {source} }}")).model.expect("a model").body
}

/// A statement and its printed form.
#[track_caller]
fn statement(source: &str, printed: &str) {
    let all = statements(source);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].to_string(), printed);
}

fn expression(source: &str) -> Expr {
    match statements(&format!("let y = {source};")).pop() {
        Some(Stmt::Let(Let { value, .. })) => value,
        other => panic!("{other:?}"),
    }
}

/// An expression and its printed form.
#[track_caller]
fn value(source: &str, printed: &str) {
    assert_eq!(expression(source).to_string(), printed);
}

#[test]
fn statements_of_every_kind() {
    statement("input x : cipher f64[3, n + 1] in [-1, 1];", "input x : cipher f64[3, n + 1] in [-1, 1];");
    statement("input q,k , v:plain f64 in[0,2*n,];", "input q, k, v : plain f64 in [0, 2 * n];");
    statement("input x : cipher f64[4];", "input x : cipher f64[4];");
    statement("const n = 64;", "const n = 64;");
    statement("const w : f64[3,] = load(\"w.npy\");", "const w : f64[3] = load(\"w.npy\");");
    statement("let x = y in [0, 1];", "let x = y in [0, 1];");
    statement("let mut w = zeros([9]);", "let mut w = zeros([9]);");
    statement("let (a, b,) = f(x);", "let (a, b) = f(x);");
    statement("w = w - 1 in [-2, 2];", "w = w - 1 in [-2, 2];");
    statement("fn f() = 1;", "fn f() = 1;");
    statement("fn f(x, y,) { x + y }", "fn f(x, y) = x + y;");
    statement("fn f(x) { let s = x; (s, -s) }", "fn f(x) {\n  let s = x;\n  (s, -s)\n}");
    statement("for i in 0..0 { }", "for i in 0..0 { }");
    statement(
        "for i in 0..n - 1 { for j in a[0]..2 { w = w; } }",
        "for i in 0..n - 1 {\n  for j in a[0]..2 {\n    w = w;\n  }\n}",
    );
    statement("output y;", "output y;");
    statement("output w, loss in [0, 1] precision 1e-2;", "output w, loss in [0, 1] precision 1e-2;");
    statement("output y = x @ w in [-8, 8] precision 2 * e;", "output y = x @ w in [-8, 8] precision 2 * e;");
}

#[test]
fn element_types() {
    for (name, elem) in ElemType::ALL {
        let all = statements(&format!("input x : cipher {name}[2] in [0, 1];"));
        assert!(matches!(&all[0], Stmt::Input(input) if input.ty.elem == elem), "{name}");
    }
}

#[test]
fn settings() {
    let source = "model m { scheme gl; security 192; bootstrap off; memory 1.5 GiB; output x; }";
    let model = read(source).model.expect("a model");
    let kinds: Vec<DirectiveKind> = model.directives.iter().map(|directive| directive.kind).collect();
    let expected = [
        DirectiveKind::Scheme(SchemeChoice::Gl),
        DirectiveKind::Security(192),
        DirectiveKind::Bootstrap(BootstrapChoice::Off),
        DirectiveKind::Memory(3 << 29),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(&source[model.directives[1].span.range()], "security 192;");
    read("model m { scheme auto; security 128; bootstrap auto; memory 512 B; }");
    read("model m { scheme ckks; security 256; memory 2_000 MiB; }");
}

#[test]
fn precedence() {
    value("-x ** 2", "-x ** 2");
    value("(-x) ** 2", "(-x) ** 2");
    value("x ** 2 ** 3", "x ** 2 ** 3");
    value("(x ** 2) ** 3", "(x ** 2) ** 3");
    value("x ** -2", "x ** -2");
    value("2 * x @ y / 3", "2 * x @ y / 3");
    value("2 * (x @ y)", "2 * (x @ y)");
    value("(2 * x) @ y", "(2 * x) @ y");
    value("a - b - c", "a - b - c");
    value("a - (b - c)", "a - (b - c)");
    value("((a + b)) * c", "(a + b) * c");
    value("-a * b", "-a * b");
    value("-(a * b)", "-(a * b)");
    value("- -y", "--y");
    value("s / -0.5 - -y", "s / -0.5 - -y");
    value("x[0] ** 2", "x[0] ** 2");
    value("(x ** 2)[0]", "(x ** 2)[0]");
    match expression("-x ** 2").kind {
        ExprKind::Neg(operand) => assert!(matches!(operand.kind, ExprKind::Pow { .. })),
        other => panic!("{other:?}"),
    }
    match expression("x ** 2 ** 3").kind {
        ExprKind::Pow { exponent, .. } => assert_eq!(exponent.to_string(), "2 ** 3"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn chains_are_flat_and_of_one_precedence() {
    let source = "a + b * c - d";
    let ExprKind::Chain { first, rest } = expression(source).kind else { panic!("not a chain") };
    assert_eq!(first.to_string(), "a");
    assert_eq!(rest.iter().map(|link| link.op).collect::<Vec<_>>(), [BinaryOp::Add, BinaryOp::Sub]);
    assert_eq!(rest[0].value.to_string(), "b * c");
}

#[test]
fn calls_and_arguments() {
    value("f()", "f()");
    value("softmax(x, axis = -1, on = [-4, 4],)", "softmax(x, axis = -1, on = [-4, 4])");
    value("sum(x, keepdims = true)", "sum(x, keepdims = true)");
    value("f(g(x))[0]", "f(g(x))[0]");
}

#[test]
fn indices() {
    value("x[1:4, :, ::2]", "x[1:4, :, ::2]");
    value("x[..., 0]", "x[..., 0]");
    value("x[:, None, -1:, :3, 1:2:3,]", "x[:, None, -1:, :3, 1:2:3]");
    value("x[8:2:-2]", "x[8:2:-2]");
    value("x[1:5][::2][i + 1]", "x[1:5][::2][i + 1]");
    value("x[1:2:]", "x[1:2]");
}

#[test]
fn lists_and_tuples() {
    value("[]", "[]");
    value("[1, 2,]", "[1, 2]");
    value("[[1, 2], [3, 4]]", "[[1, 2], [3, 4]]");
    value("[f(x[t]) for t in 0..n]", "[f(x[t]) for t in 0..n]");
    value("[[x[i, j] for j in 0..2] for i in a..b - 1]", "[[x[i, j] for j in 0..2] for i in a..b - 1]");
    value("(a, b,)", "(a, b)");
    value("(a, (b, c))", "(a, (b, c))");
}

#[test]
fn numbers() {
    let number = |text: &str| match expression(text).kind {
        ExprKind::Number { value, text, is_integer } => (value, text, is_integer),
        other => panic!("{other:?}"),
    };
    assert_eq!(number("0"), (0.0, "0".into(), true));
    assert_eq!(number("1_000"), (1000.0, "1_000".into(), true));
    assert_eq!(number("0.25"), (0.25, "0.25".into(), false));
    assert_eq!(number("1e-3"), (1e-3, "1e-3".into(), false));
    assert_eq!(number("2.5E+2"), (250.0, "2.5E+2".into(), false));
    assert_eq!(number("18446744073709551616"), (18446744073709551616.0, "18446744073709551616".into(), true));
    assert_eq!(number("0e0").0, 0.0);
    assert_eq!(number("4.9e-324").0, f64::from_bits(1));
    value("x[0:5]", "x[0:5]");
    statement("for i in 0..5 { }", "for i in 0..5 { }");
    statement("for i in 0 .. 5 { }", "for i in 0..5 { }");
}

#[test]
fn words_that_act_elsewhere_are_names() {
    let words = "scheme security bootstrap memory cipher plain precision auto gl ckks off on within degree gap axis f64 GiB";
    for word in words.split(' ') {
        let source = format!("let {word} = {word}({word}, {word} = {word}[0]) + {word};");
        statement(&source, &source);
        statement(&format!("{word} = 1;"), &format!("{word} = 1;"));
        statement(&format!("fn {word}({word}) {{ {word} }}"), &format!("fn {word}({word}) = {word};"));
        statement(&format!("output {word};"), &format!("output {word};"));
        statement(&format!("output a, {word} precision 1;"), &format!("output a, {word} precision 1;"));
        statement(
            &format!("output {word} = {word} precision {word};"),
            &format!("output {word} = {word} precision {word};"),
        );
    }
}

#[test]
fn files() {
    let ast = read(
        "import \"a.fhe\";\nimport \"ü/b.fhe\";\nconst k = 3;\nfn sq(x) = x * x;\nmodel m { output x; }\nfn g() = k;",
    );
    assert_eq!(
        ast.imports.iter().map(|import| import.path.as_str()).collect::<Vec<_>>(),
        ["a.fhe", "ü/b.fhe"]
    );
    assert_eq!(ast.items.len(), 3);
    assert_eq!(ast.model.map(|model| model.name.text).as_deref(), Some("m"));
    for empty in ["", " \n\t", "// nothing", "\u{feff}", "\u{feff}// ünï\r\n"] {
        assert_eq!(read(empty), Ast::default());
    }
}

#[test]
fn comments_and_spaces() {
    let plain = read("model m { let x = 1; }").to_string();
    assert_eq!(read("// héllo\r\nmodel m{// {\n\n let x\n=\n1// ;\n;}//").to_string(), plain);
}

#[test]
fn spans_are_those_of_the_text() {
    let source = "\u{feff}model m { let ab = (x + y) * f(z)[0:2]; }";
    let Some(Stmt::Let(stmt)) = read(source).model.and_then(|model| model.body.into_iter().next()) else {
        panic!()
    };
    let text = |span: grammar::Span| &source[span.range()];
    assert_eq!(text(stmt.span), "let ab = (x + y) * f(z)[0:2];");
    assert_eq!(text(stmt.value.span), "(x + y) * f(z)[0:2]");
    let ExprKind::Chain { first, rest } = stmt.value.kind else { panic!("not a chain") };
    assert_eq!(text(first.span), "(x + y)");
    assert_eq!(text(rest[0].op_span), "*");
    let ExprKind::Index { base, items } = &rest[0].value.kind else { panic!("not an index") };
    assert_eq!((text(base.span), text(items[0].span)), ("f(z)", "0:2"));
}
