//! Golden cases, and what holds for every file: formatting again changes nothing, and blanks mean nothing.
//!
//! `cases/NAME.out.txt` is the reference's answer to `cases/NAME.in.txt`: `tests/record_fmt.sh` asks it again.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::super::lexer::{self, Start};
use super::super::parser::parse_file;
use super::super::token::TokenKind;
use super::*;

fn formatted(text: &str) -> String {
    let file = SourceFile::new("t.tf", text);
    format(&file).unwrap_or_else(|found| panic!("{found:?}\n{text}")).unwrap_or_else(|| text.to_string())
}

#[test]
fn golden_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("syntax/fmt/cases");
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(case) = name.strip_suffix(".in.txt") else { continue };
        let read = |end: &str| fs::read_to_string(folder.join(format!("{case}{end}"))).unwrap();
        assert_eq!(formatted(&read(".in.txt")), read(".out.txt"), "{case}");
        count += 1;
    }
    assert!(count > 10);
}

#[test]
fn nothing_is_lost_where_the_reference_loses_it() {
    let cases = [
        ("a \"$${x}\" b {}\n", "a \"$${x}\" \"b\" {}\n"),
        ("a=x[true].y[null]\n", "a = x[true].y[null]\n"),
        ("a=\"${ # c\nx}\"\n", "a = \"${ # c\nx}\"\n"),
        ("a=\"${<<E\nx\nE\n}\" # c\n", "a = \"${<<E\nx\nE\n}\" # c\n"),
        ("a=\"${(x)\n+(y)}\"\n", "a = \"${(x)\n+ (y)}\"\n"),
    ];
    for (text, expected) in cases {
        assert_eq!(formatted(text), expected);
        assert_eq!(formatted(expected), expected);
    }
}

#[test]
fn a_file_with_errors_is_not_formatted() {
    assert!(format(&SourceFile::new("t.tf", "a=1\nb={\n")).is_err());
    assert!(format(&SourceFile::new("t.tf", "a = 1\n")).unwrap().is_none());
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = format!("a = {}1{}\n", "[".repeat(10_000), "]".repeat(10_000));
    assert!(format(&SourceFile::new("t.tf", deep)).is_err());
}

/// Tokens but blanks and what stands for the end.
fn content(text: &str) -> Vec<(TokenKind, String)> {
    let tokens = lexer::scan(text, Start::Normal);
    tokens.iter().map(|t| (t.kind, text[t.start as usize..t.end as usize].to_string())).collect()
}

/// The tree without positions.
fn tree(text: &str) -> String {
    let (body, diagnostics) = parse_file(SourceFile::new("t.tf", text));
    assert!(!diagnostics.has_errors(), "{diagnostics:?}\n{text}");
    let mut out = String::new();
    describe(&body, &mut out);
    out
}

fn describe(body: &super::super::Body, out: &mut String) {
    for attribute in body.attributes() {
        out.push_str(&format!("{} = {}\n", attribute.name.name, without_spans(&format!("{:?}", attribute.expr.node))));
    }
    for block in body.blocks() {
        let labels: Vec<_> = block.labels.iter().map(|label| &label.text).collect();
        out.push_str(&format!("{} {labels:?} {{\n", block.kind.name));
        describe(&block.body, out);
        out.push_str("}\n");
    }
}

/// A debug form with its `Span { .. }` left out.
fn without_spans(debug: &str) -> String {
    let mut pieces = debug.split("Span {");
    let first = pieces.next().unwrap_or("").to_string();
    pieces.fold(first, |out, piece| out + piece.split_once('}').map_or("", |(_, rest)| rest))
}

fn blanks() -> BoxedStrategy<String> {
    prop_oneof![4 => Just(""), 4 => Just(" "), 1 => Just("\t"), 1 => Just("   "), 1 => Just(" /* c */ ")]
        .prop_map(String::from)
        .boxed()
}

/// Blanks that may hold newlines, for between brackets.
fn open_blanks() -> BoxedStrategy<String> {
    prop_oneof![8 => blanks(), 1 => Just("\n".to_string()), 1 => Just(" # é\n  ".to_string())].boxed()
}

fn name() -> BoxedStrategy<String> {
    prop_oneof![Just("a"), Just("long_name"), Just("x-y"), Just("é"), Just("each"), Just("in")]
        .prop_map(String::from)
        .boxed()
}

/// What may stand in quotes beside interpolations.
fn literal() -> BoxedStrategy<String> {
    prop_oneof![Just("x  y"), Just("é漢"), Just("\\n"), Just("$${"), Just("{ = #"), Just("$ %")]
        .prop_map(String::from)
        .boxed()
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_string()),
        Just("-0.5".to_string()),
        Just("\"\"".to_string()),
        name(),
        (name(), name()).prop_map(|(a, b)| format!("{a}.{b}[0]")),
        literal().prop_map(|text| format!("\"{text}\"")),
        literal().prop_map(|text| format!("[<<-E\n   {text}\n\tE\n]")),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let operator = prop_oneof![Just("+"), Just("-"), Just("*"), Just("=="), Just("&&"), Just("<=")];
        let pair = (inner.clone(), open_blanks(), inner.clone());
        prop_oneof![
            (inner.clone(), open_blanks(), operator, open_blanks(), inner.clone())
                .prop_map(|(a, x, op, y, b)| format!("({a}{x} {op}{y}{b})")),
            (inner.clone(), blanks(), pair.clone()).prop_map(|(c, x, (a, y, b))| format!("({c}{x}?{a}{y}:{b})")),
            (blanks(), inner.clone()).prop_map(|(x, a)| format!("!{x}{a}")),
            (open_blanks(), proptest::collection::vec((inner.clone(), open_blanks()), 0..4)).prop_map(|(x, items)| {
                let items: Vec<_> = items.into_iter().map(|(item, after)| item + &after).collect();
                format!("[{x}{}]", items.join(","))
            }),
            (blanks(), proptest::collection::vec((name(), blanks(), inner.clone(), blanks()), 0..4)).prop_map(
                |(x, items)| {
                    let items: Vec<_> = items.into_iter().map(|(k, a, v, b)| format!("({k}){a}={b}{v}\n")).collect();
                    format!("{{{x}\n{}}}", items.join(&x))
                }
            ),
            (name(), blanks(), pair.clone()).prop_map(|(f, x, (a, y, b))| format!("{f}{x}({a}{y},{b})")),
            (literal(), open_blanks(), inner.clone()).prop_map(|(text, x, a)| format!("\"{text}${{{x}{a}}}\"")),
            pair.prop_map(|(a, x, b)| format!("[for v in {a}{x}:{b}{x} if v]")),
            (inner.clone(), blanks()).prop_map(|(a, x)| format!("{{for k , v in{x} {a}:k{x}=>v...}}")),
        ]
    })
}

fn item() -> impl Strategy<Value = String> {
    let end = prop_oneof![4 => Just("\n"), 1 => Just(" # end\n"), 1 => Just("// x\n\n"), 1 => Just("\n# alone\n"), 1 => Just("\r\n")];
    let attribute = (blanks(), name(), blanks(), expression(), end.clone())
        .prop_map(|(x, n, y, e, end)| (x, n, format!("{y}={e}{end}")));
    let wrapped =
        (blanks(), name(), expression(), end).prop_map(|(x, n, e, end)| (x, n, format!("=\"${{{e}}}\"{end}")));
    prop_oneof![4 => attribute, 1 => wrapped].prop_map(|(before, name, rest)| format!("{before}{name}@{rest}"))
}

/// A file: attributes with names of their own, in blocks and beside them.
fn file() -> impl Strategy<Value = String> {
    let body = proptest::collection::vec(item(), 0..6)
        .prop_map(|items| {
            let number = |(i, item): (usize, String)| item.replacen('@', &i.to_string(), 1);
            items.into_iter().enumerate().map(number).collect::<String>()
        })
        .boxed();
    let block = (body.clone(), blanks(), body.clone()).prop_map(|(a, x, b)| format!("{a}b \"l\"{x}{{\n{b}{x}}}{x}\n"));
    prop_oneof![body, block]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blanks_are_all_that_changes(text in file()) {
        let after = format_blanks(&text);
        prop_assert_eq!(content(&after), content(&text));
        prop_assert_eq!(tree(&after), tree(&text));
        prop_assert_eq!(format_blanks(&after), after);
    }

    #[test]
    fn formatting_again_changes_nothing(text in file()) {
        let mut once = formatted(&text);
        // Templates within templates are taken apart one level at a time, as by the reference.
        for _ in 0..4 {
            if once.contains("= \"${\"") {
                once = formatted(&once);
            }
        }
        prop_assert_eq!(formatted(&once), once);
    }
}
