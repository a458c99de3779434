//! What is said about wrong programs: one message a mistake, on its line, with the words that help.

use grammar::ast::*;
use grammar::{SyntaxError, parse};

/// Everything an error says.
fn words(error: &SyntaxError) -> String {
    let labels = error.extra_labels.iter().map(|(_, label)| label.as_str());
    let parts = [error.message.as_str(), &error.label].into_iter().chain(labels).chain(error.help.as_deref());
    parts.collect::<Vec<_>>().join(" | ")
}

/// Exactly these errors, in this order, each on its line and with its words.
#[track_caller]
fn errors(source: &str, expected: &[(usize, &[&str])]) {
    let found = parse(source).1;
    let shown: Vec<String> =
        found.iter().map(|error| format!("{}: {}", error.span.line_column(source).0, words(error))).collect();
    assert_eq!(found.len(), expected.len(), "{shown:#?}");
    for ((error, shown), (line, words)) in found.iter().zip(&shown).zip(expected) {
        assert_eq!(error.span.line_column(source).0, *line, "{shown}");
        words.iter().for_each(|word| assert!(shown.contains(word), "{word} in {shown}"));
        assert!(
            error.code.starts_with("E01") && !error.message.is_empty() && !error.label.is_empty(),
            "{shown}"
        );
    }
}

/// One statement of a model, one error.
#[track_caller]
fn statement(statement: &str, words: &[&str]) {
    errors(&format!("model m {{\n{statement}\noutput y = x;\n}}"), &[(2, words)]);
}

#[test]
fn lexical_mistakes_do_not_stop_parsing() {
    errors(
        "model m {\n let a = x $ 2;\n let b = x # comment\n ;\n let c = ;\n}",
        &[(2, &["$"]), (3, &["#", "//"]), (5, &["an expression"])],
    );
    statement("let a = x && y;", &["&&", "logic"]);
    statement("let a = x × 2;", &["×", "`*`"]);
    statement("let a = x − 2;", &["−", "`-`"]);
    statement("let a = x?;", &["?"]);
}

#[test]
fn malformed_numbers() {
    statement("let a = x * 1.2.3;", &["1.2.3", "dot"]);
    statement("let b = x * 1e;", &["1e", "exponent"]);
    statement("let c = x * 0x1F;", &["0x1F", "decimal"]);
    statement("let d = x * 3kg;", &["3kg", "3 * kg"]);
    statement("let e = x * 5.;", &["5.", "5.0"]);
    statement("let f = x * .5;", &[".5", "0.5"]);
    statement("let g = 1__0;", &["1__0", "1_000"]);
    statement("let h = [0, 1e999];", &["1e999", "large"]);
    statement("let i = 1e-999;", &["1e-999", "small"]);
    statement("memory 16GiB;", &["16GiB", "16 GiB"]);
}

#[test]
fn strings_comments_names() {
    statement("const a = load(\"x.npy);", &["not closed"]);
    statement("const a = load('x.npy');", &["\"x.npy\""]);
    statement("let a = x /* why */ + 1;", &["/*", "//"]);
    statement("# why: because (", &["#", "//"]);
    statement("let a = sum(x, keepdims = True);", &["True", "true"]);
    let source = "model m {\n input größe : cipher f64 in [0, 1];\n output größe;\n output b = größe;\n}";
    errors(source, &[(2, &["größe", "ASCII", "here too"])]);
    assert_eq!(parse(source).1[0].extra_labels.len(), 2);
    assert_eq!(parse(source).0.model.map(|model| model.body.len()), Some(3), "the statements are read");
}

#[test]
fn missing_semicolon() {
    let source = "model m {\n let a = x + 1\n output y = a * 2;\n}";
    errors(source, &[(2, &[";"])]);
    let error = &parse(source).1[0];
    assert_eq!(error.span.start, source.find("\n output").expect("the second line"));
    assert_eq!(error.span.start, error.span.end);
    errors(
        "model m {\n let a = x let b = y\n b = a\n for i in 0..2 { b = a }\n output b\n}",
        &[(2, &[";"]), (2, &[";"]), (3, &[";"]), (4, &[";"]), (5, &[";"])],
    );
    errors("import \"a\"\nfn f(x) = x\nconst k = 1", &[(1, &[";"]), (2, &[";"]), (3, &[";"])]);
    errors("fn f(x) { let s = x }", &[(1, &[";"])]);
}

#[test]
fn missing_closing_brace() {
    let source = "model m {\n input x : cipher f64[3, 4] in [-1, 1];\n output y = x;\n";
    errors(source, &[(1, &["`{`", "`}`", "ends here"])]);
    assert_eq!(parse(source).1[0].span.start, source.find('{').expect("a brace"));
    let inner = "model m {\n  for i in 0..3 {\n    a = a;\n  output a;\n}\n";
    errors(inner, &[(2, &["`{`", "`}`"])]);
    assert_eq!(parse(inner).0.model.map(|model| model.body.len()), Some(2), "the output is behind the loop");
    errors("model m {\n  fn f(x) {\n    x\n\n", &[(1, &["`{`", "not closed either"])]);
    errors("model m {\n  output x;\n\nfn f(x) = x;\n", &[(1, &["`{`", "before the next line"])]);
}

#[test]
fn other_braces() {
    errors("model m {\n output x;\n}\n}", &[(4, &["`}`", "closes nothing"])]);
    errors("model m {\n  for i in 0..3 {\n    a = a;\n  }\n  }\n  output a;\n}", &[(5, &["closes nothing"])]);
    let unopened = "model m {\n  for i in 0..3\n    a = a;\n  }\n  output a;\n}";
    errors(unopened, &[(2, &["`{`"])]);
    assert_eq!(
        parse(unopened).0.to_string(),
        "model m {\n  for i in 0..3 {\n    a = a;\n  }\n  output a;\n}\n"
    );
    errors("model m { {\n  output x;\n}", &[(1, &["two `{`"])]);
    errors("model m {\n  for i in 0..2 w = w; }\n}", &[(2, &["`{`"])]);
    errors("model m:\n  output x;\n}", &[(1, &["`{`"])]);
}

#[test]
fn brackets() {
    statement("let a = sum(x, axis = 0;", &["`(`", "`)`"]);
    statement("let a = x[0;", &["`[`", "`]`"]);
    statement("let a = x + 1);", &["`)`"]);
    statement("let a = [x, 1);", &["`[`", "`)`", "`]`"]);
    statement("let a = f((x + 1)", &["`(`", "`)`"]);
    statement("let a = f(x; y);", &["`(`", "`)`"]);
}

#[test]
fn incomplete_statements() {
    statement("let a = ;", &["`;`", "an expression"]);
    statement("let a = x +;", &["`;`", "an expression"]);
    statement("let a =", &["not complete", "an expression"]);
    statement("let a = x * / 2;", &["`/`"]);
    statement("let a 3;", &["`3`", "`=`"]);
    statement("let = 3;", &["`=`", "a name"]);
    statement("let a = x y;", &["operator", "`x`", "`y`"]);
    statement("let in = 3;", &["`in`", "cannot be a name"]);
    statement("let a = x[];", &["`]`", "an expression"]);
    statement("let a = ();", &["`)`", "an expression"]);
    statement("let a = (x,);", &["tuple"]);
    statement("let a = f(x)(y);", &["`(`"]);
    statement("x + 1;", &["not used", "let"]);
    statement(";", &["`;`"]);
    statement("lett a = 3;", &["lett", "did you mean `let`"]);
    errors("import file;", &[(1, &["`file`", "string"])]);
    errors("let a", &[(1, &["not complete", "`=`"])]);
}

#[test]
fn inputs_and_ranges() {
    statement("input x : f64[3] in [-1, 1];", &["`f64`", "`cipher` or `plain`"]);
    statement("input x cipher f64[3] in [-1, 1];", &["`cipher`", "`:`"]);
    statement("input x : cipher [3] in [-1, 1];", &["element type", "f64"]);
    statement("input x : cipher float[3] in [-1, 1];", &["float", "f64"]);
    statement("input x : cipher f64[3] in -1;", &["`-`", "`[`"]);
    statement("input x : cipher f64[3] in [-1, 1, 2];", &["two bounds", "3 bounds", "]"]);
    statement("let a = x in [1];", &["two bounds", "1 bound"]);
    statement("const a = 1 in [0, 2];", &["constant", "range"]);
    statement("let a : f64 = x;", &["`let` takes no type"]);
    statement("let a := x;", &["`:=`", "`=`"]);
}

#[test]
fn settings() {
    statement("scheme ckss;", &["ckss", "ckks"]);
    statement("security 100;", &["100", "128"]);
    statement("bootstrap on;", &["on", "off"]);
    statement("memory 16 GB;", &["GB", "GiB"]);
    statement("memory 0 B;", &["0 B"]);
    errors("model m {\n scheme gl;\n scheme gl;\n}", &[(3, &["twice", "first"])]);
    errors("model m {\n output x;\n scheme gl;\n}", &[(3, &["open the model"])]);
    errors("scheme gl;\nmodel m { output x; }", &[(1, &["scheme", "model"])]);
}

#[test]
fn places() {
    errors(
        "input x : cipher f64 in [0, 1];\nmodel m { output x; }\nlet y = x;",
        &[(1, &["`input`", "model"]), (3, &["`let`", "model"])],
    );
    errors("input x : cipher f64 in [0, 1];\nlet y = x;\noutput y;", &[(1, &["`model NAME { .. }`"])]);
    errors("model a { output x; }\nmodel b { output y; }", &[(2, &["one model", "first"])]);
    errors("model a {\n model b { output y; }\n output x;\n}", &[(2, &["model", "another"])]);
    statement("import \"a.fhe\";", &["import", "outside"]);
    statement("output a, b = x;", &["one output"]);
    statement("let a = x precision 1e-3;", &["precision", "output"]);
    statement("output a = x precision 1e-3 in [0, 1];", &["`in`", "before `precision`"]);
}

#[test]
fn functions_and_loops() {
    statement("fn f(x: f64) = x;", &["parameters", "no type"]);
    statement("fn f(x, y = 2) = x;", &["default"]);
    statement("fn f(x) = { x };", &["`= ..;` or `{ .. }`"]);
    statement("fn f(x) { let s = x; }", &["no result"]);
    statement("fn f(x) { x * 2; }", &["not used", "without `;`"]);
    statement("fn f(x) { return x; }", &["return", "stands last"]);
    statement("fn f(x) { }", &["no result"]);
    errors("fn f(x) {\n let s = x; // s\n}", &[(3, &["no result"])]);
    errors("fn f(x) {\n let s = x // s\n}", &[(2, &["`;`"])]);
    statement("def f(x) { x }", &["def", "`fn f(x)"]);
    statement("for i in range(5) { a = a; }", &["0..n"]);
    statement("for i in 0:5 { a = a; }", &["0..n"]);
    statement("for (i in 0..3) { a = a; }", &["parentheses", "0..n"]);
    statement("for i = 0..3 { a = a; }", &["`=`", "`in`"]);
    statement("while x { a = b; }", &["while", "for i in"]);
    statement("if (x > 0) { let y = x; } else { let y = 1; }", &["if", "both sides"]);
    statement("let a = [x for t in range(3)];", &["0..n"]);
    statement("let a = sum(x[t] for t in 0..3);", &["brackets", "[f(x[t]) for"]);
    errors("model m {\n for i in range(5) {\n a = ;\n }\n}", &[(2, &["0..n"]), (3, &["an expression"])]);
}

#[test]
fn habits() {
    statement("let a = x.T;", &[".T", "transpose(x)"]);
    statement("let d = np.sum(x);", &["np", "sum(..)"]);
    statement("let d = np.linalg.norm(x, ord = 2);", &["np", "norm"]);
    statement("let a = x[0].sum();", &[".sum", "sum(x)"]);
    statement("let a = x.shape[0];", &[".shape", "size(x, k)"]);
    statement("let c = x ^ 2;", &["^", "**"]);
    statement("let d = x > 0;", &[">", "step", "sign"]);
    statement("let d = x[x <= 0];", &["<=", "masks"]);
    statement("let d = x == y;", &["=="]);
    statement("let d = x and y;", &["and", "a * b"]);
    statement("let d = x if y else z;", &["if", "both sides"]);
    statement("let d = +x;", &["sign `+`"]);
    statement("w += x;", &["+=", "w = w + .."]);
    statement("let i = sigmoid(x) within 1e-3;", &["within", "inside", "sigmoid(.., within = 1e-3)"]);
    statement("let i = f(g(x), [1]) on [0, 1];", &["on", "f(.., on"]);
    statement("let p = sum(x, axis = None);", &["None", "leave out"]);
    statement("let p = x[0...3];", &["...", "two dots"]);
}

#[test]
fn broken_statements_keep_their_names() {
    let (ast, found) = parse(
        "const k = $;\nfn f(x: f64) { x }\nmodel m {\n input a, b : cipher;\n let (c, d) = ;\n let mut e = ;\n for i in 3 { e = e; }\n}",
    );
    assert_eq!(found.len(), 6);
    let names =
        |broken: &Broken| broken.defines.iter().map(|name| name.text.clone()).collect::<Vec<_>>().join(" ");
    let items = ast.items.iter().map(|item| match item {
        Item::Error(broken) => names(broken),
        other => panic!("{other:?}"),
    });
    assert_eq!(items.collect::<Vec<_>>(), ["k", "f"]);
    let body = ast.model.expect("the model is read").body;
    let stmts = body.iter().map(|stmt| match stmt {
        Stmt::Error(broken) => names(broken),
        Stmt::For(For { var, lo, body, .. }) => format!("for {var} {lo} {}", body.len()),
        other => panic!("{other:?}"),
    });
    assert_eq!(stmts.collect::<Vec<_>>(), ["a b", "c d", "e", "for i <error> 1"]);
}
