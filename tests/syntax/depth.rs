//! Deep nesting ends in a result or a diagnostic, on the stack that threads have by default.

use base::source::SourceFile;
use lang::eval::evaluate;
use lang::eval::scope::Constant;
use lang::syntax::parse_expression;

use super::invariants::check;

/// What is put around an operand again and again: before it, behind it, at the very inside.
const SHAPES: &[(&str, &str, &str)] = &[
    ("(", ")", "1"),
    ("[", "]", "1"),
    ("{a=", "}", "1"),
    ("{(", ")=1}", "a"),
    ("-", "", "1"),
    ("!", "", "true"),
    ("upper(", ")", "1"),
    ("tolist([", "])", "1"),
    ("\"${", "}\"", "1"),
    ("\"x${", "}\"", "1"),
    ("\"%{if true}${", "}%{endif}\"", "1"),
    ("\"%{for x in [1]}${", "}%{endfor}\"", "1"),
    ("true?1:", "", "1"),
    ("true?", ":1", "1"),
    ("x[", "]", "0"),
    ("x[*][", "]", "0"),
    ("[for x in ", ":x]", "[]"),
    ("[for x in [1]:", "]", "x"),
    ("{for k,v in {a=1}:k=>", "}", "v"),
    ("1+(", ")", "1"),
    ("<<E\n${", "}\nE\n", "1"),
    ("(<<-E\n${", "}\nE\n)", "1"),
    ("b {\n", "}\n", ""),
    ("b {\na=[", "]\n}\n", "1"),
    ("b \"l\" {\n", "\n}\n", "a=1"),
    ("%{if true}", "%{endif}", "x"),
    ("%{for x in [1]}", "%{endfor}", "x"),
    ("\"%{if true}", "%{endif}\"", "x"),
    ("/*", "*/", ""),
    ("(-[{a=\"${", "}\"}])", "1"),
];

/// What follows an operand again and again.
const CHAINS: &[&str] = &[
    "+1", "-x", "*2", "/2", "%2", "&&true", "||x", "==1", "<1", ".a", ".0", "[0]", "[\"a\"]", "[x]", "[*]", ".*",
    "[*].a", ".*.a", "?1:2", ".*[0]", "::a", "(1)",
];

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    // Unoptimised frames are large.
    let stack = if cfg!(debug_assertions) { 16 << 20 } else { 2 << 20 };
    std::thread::Builder::new().stack_size(stack).spawn(work).unwrap().join().unwrap();
}

fn nested(shape: &(&str, &str, &str), depth: usize) -> String {
    let (open, close, inside) = shape;
    format!("{}{inside}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn nesting_ends_in_a_result_or_a_diagnostic() {
    for depth in [100, 499, 10_000] {
        for shape in SHAPES {
            let texts = [nested(shape, depth), format!("a = {}\n", nested(shape, depth)), shape.0.repeat(depth)];
            texts.into_iter().for_each(|text| on_a_small_stack(move || check(&text)));
        }
        for chain in CHAINS {
            let text = format!("x{}", chain.repeat(depth));
            on_a_small_stack(move || check(&text));
        }
    }
}

#[test]
fn a_million_levels_are_refused() {
    for shape in SHAPES {
        on_a_small_stack(move || {
            let text = shape.0.repeat(1_000_000);
            let (_, said) = parse_expression(SourceFile::new("t", text));
            assert!(said.has_errors());
        });
    }
}

#[test]
fn chains_of_operators_have_no_limit() {
    on_a_small_stack(|| {
        let of = |text: String| {
            let (expression, said) = parse_expression(SourceFile::new("t", text));
            assert!(said.is_empty(), "{:?}", said.iter().next());
            assert!(expression.variables().is_empty() && expression.functions().is_empty());
            evaluate(&expression, &Constant).0
        };
        assert_eq!(of(format!("0{}", "+1".repeat(100_000))).as_number().unwrap().as_u64(), Some(100_000));
        assert!(of(format!("true{}", " && true".repeat(100_000))).is_true());
        assert!(of(format!("1 == 2{}", " || 1 == 1".repeat(100_000))).is_true());
    });
}

#[test]
fn real_nesting_is_accepted() {
    for shape in SHAPES.iter().filter(|s| !s.0.starts_with(['b', '/', '%'])) {
        let text = nested(shape, 90);
        let (_, said) = parse_expression(SourceFile::new("t", text));
        assert!(said.iter().all(|d| d.summary != "Nesting too deep"), "{shape:?}");
    }
}
