//! Large and deep programs, on the small stack of a test thread.

use grammar::ast::*;
use grammar::{MAX_ERRORS, MAX_NESTING, code, parse};

/// Codes and lines of the errors of a model with these statements, one a line.
fn errors(statements: &[String]) -> Vec<(&'static str, usize)> {
    let source = format!("model m {{\n{}\n}}", statements.join("\n"));
    parse(&source).1.iter().map(|error| (error.code, error.span.line_column(&source).0)).collect()
}

#[test]
fn deep_nesting_is_refused() {
    const DEEP: usize = 50_000;
    let nest = |open: &str, close: &str| format!("output y = {}x{};", open.repeat(DEEP), close.repeat(DEEP));
    let statements = [
        nest("(", ")"),
        nest("-", ""),
        nest("[", "]"),
        nest("[", ""),
        nest("f(", ")"),
        nest("x[", "]"),
        nest("", "[0]"),
        nest("x ** ", ""),
        nest("-(", ")"),
        nest("[x + ", " for i in 0..1]"),
        format!("{}{}", "for i in 0..1 { ".repeat(DEEP), "}".repeat(DEEP)),
    ];
    let expected: Vec<_> = (0..statements.len()).map(|at| (code::NESTING, at + 2)).collect();
    assert_eq!(errors(&statements), expected);
}

#[test]
fn the_limit_is_named_and_exact() {
    // the braces of the model are one level
    let source = |depth: usize| {
        format!("model m {{ output y = {}x{}; }}", "(".repeat(depth - 1), ")".repeat(depth - 1))
    };
    assert!(parse(&source(MAX_NESTING)).1.is_empty());
    let (_, found) = parse(&source(MAX_NESTING + 1));
    assert_eq!(found.len(), 1);
    assert!(found[0].help.as_ref().is_some_and(|help| help.contains(&MAX_NESTING.to_string())));
}

#[test]
fn siblings_are_not_nesting() {
    let flat = ["f(x)", "-x", "x ** 2", "x[0][1]", "[x]", "(x)"]
        .map(|part| format!("let y = [{}] + g({});", [part; 1000].join(", "), [part; 1000].join(" + ")));
    assert_eq!(errors(&flat), []);
    let loops = vec!["for i in 0..1 { w = w; }".to_string(); 1000];
    assert_eq!(errors(&loops), []);
}

#[test]
fn long_chains_are_legal() {
    const LINKS: usize = 50_000;
    let source = format!("model m {{ output v = x{}; }}", " + x".repeat(LINKS));
    let (ast, found) = parse(&source);
    assert!(found.is_empty());
    let copy = ast.clone();
    assert_eq!(copy, ast);
    assert_eq!(format!("{ast:?}").matches("Add").count(), LINKS);
    let Some(Stmt::Output(Output { value: Some(value), .. })) =
        copy.model.and_then(|mut model| model.body.pop())
    else {
        panic!("an output");
    };
    assert!(matches!(value.kind, ExprKind::Chain { rest, .. } if rest.len() == LINKS));
}

#[test]
fn errors_are_limited() {
    let many = vec!["let a = ;".to_string(); 10 * MAX_ERRORS];
    let found = errors(&many);
    assert_eq!(found.len(), MAX_ERRORS + 1);
    assert_eq!(found.last().map(|last| last.0), Some(code::TOO_MANY));
    assert_eq!(errors(&many[..MAX_ERRORS]).len(), MAX_ERRORS);
}

#[test]
fn floods_end() {
    for part in [
        "(",
        "}",
        "{",
        "$",
        "fn f(",
        "for ",
        "let a = b ",
        ";",
        "x{",
        "\"",
        "model m ",
        ".",
        "#\n",
        "ö",
        "1.2.3 ",
    ] {
        for source in [part.repeat(20_000), format!("model m {{ {} }}", part.repeat(20_000))] {
            let errors = parse(&source).1;
            assert!(!errors.is_empty() && errors.len() <= MAX_ERRORS + 1, "{part}");
        }
    }
}
