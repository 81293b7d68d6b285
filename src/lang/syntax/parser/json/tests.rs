//! Tables of JSON texts: the tree, the messages, and the places of both. Messages were observed on the reference.

use super::*;
use crate::syntax::body::BodySchema;

fn problems(text: &str) -> Vec<String> {
    let (_, problems) = parse_file(SourceFile::new("t.json", text));
    problems.iter().map(|d| format!("{} @{:?}", d.summary, d.subject.as_ref().unwrap())).collect()
}

#[test]
fn invalid_json_is_reported() {
    let cases: &[(&str, &[&str])] = &[
        ("{}", &[]),
        ("[]", &[]),
        ("", &["Missing value @t.json:1,1-1", "Root value must be object @t.json:1,1-1"]),
        ("12", &["Root value must be object @t.json:1,1-3"]),
        ("{} {}", &["Extraneous data after value @t.json:1,4-5"]),
        ("{\"a\": 1,}", &["Trailing comma in object @t.json:1,8-9", "Root value must be object @t.json:1,1-2"]),
        (
            "{\"a\": [1,]}",
            &["Trailing comma in array @t.json:1,9-10", "Missing attribute seperator comma @t.json:1,12-12"],
        ),
        ("{\"a\" = 1}", &["Missing property value colon @t.json:1,6-7", "Root value must be object @t.json:1,1-2"]),
        ("{\"a\"}", &["Missing object value @t.json:1,5-6", "Root value must be object @t.json:1,1-2"]),
        ("{\"a\": tru, \"b\": NaN}", &["Invalid JSON keyword @t.json:1,7-10", "Invalid JSON keyword @t.json:1,17-20"]),
        ("{\"a\": 01}", &["Invalid JSON number @t.json:1,7-9"]),
        ("{\"a\": \"\\q\"}", &["Invalid JSON string @t.json:1,10-11"]),
        ("{1: 2}", &["Invalid object property name @t.json:1,2-3", "Root value must be object @t.json:1,1-2"]),
    ];
    for (text, expected) in cases {
        let found = problems(text);
        // Nothing but the first error is certain where reading had to be resumed.
        assert_eq!(found.first().map(String::as_str), expected.first().copied(), "{text}: {found:?}");
        assert_eq!(found.is_empty(), expected.is_empty(), "{text}");
    }
}

#[test]
fn deep_nesting_ends_in_one_message() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        for text in [open.repeat(10_000), format!("{}1{}", open.repeat(10_000), close.repeat(10_000))] {
            let found = problems(&text);
            assert!(found[0].starts_with("Nesting too deep"), "{found:?}");
            assert!(found.len() <= 2, "{found:?}");
        }
    }
}

#[test]
fn blocks_and_arguments_by_schema() {
    let text = r#"{
        "//": "remark",
        "one": {"x": 1},
        "many": [{"x": 1}, {"x": 2}],
        "labelled": {"a": {"b": {"x": 1}, "c": [{"x": 2}, {"x": 3}]}},
        "none": null,
        "arg": "${v}"
    }"#;
    let (body, problems) = parse_file(SourceFile::new("t.json", text));
    assert!(problems.is_empty());
    let schema = BodySchema::new().attribute("arg").block("one", &[]).block("many", &[]).block("none", &[]);
    let schema = schema.block("labelled", &["k", "n"]);
    let (content, problems) = body.content(&schema);
    assert!(problems.is_empty(), "{problems:?}");
    let show = |b: &crate::syntax::ast::Block| {
        let labels: Vec<&str> = b.labels.iter().map(|l| &*l.text).collect();
        let x = b.body.just_attributes().0["x"].expr.range().text().to_owned();
        format!("{} {} {x}", b.kind.name, labels.join("."))
    };
    let found: Vec<String> = content.blocks.iter().map(show).collect();
    assert_eq!(found, ["one  1", "many  1", "many  2", "labelled a.b 1", "labelled a.c 2", "labelled a.c 3"]);
    assert_eq!(content.attribute("arg").unwrap().expr.variables()[0].root_name(), "v");
    // What one schema took, the next does not see.
    let (_, rest, _) = body.partial_content(&schema);
    assert!(rest.content(&BodySchema::new()).1.is_empty());
    let (_, rest, _) = body.partial_content(&BodySchema::new().block("one", &[]));
    assert_eq!(rest.just_attributes().0.keys().map(|k| &**k).collect::<Vec<_>>(), ["many", "labelled", "none", "arg"]);
}

#[test]
fn strings_as_expressions() {
    let text = r#"["a.b[0].c", "list(string)", "é\n${x.y}", "$${no}", "a b", "all"]"#;
    let file = SourceFile::new("t.json", format!("{{\"a\": {text}}}"));
    let (body, _) = parse_file(file);
    let list = body.just_attributes().0["a"].expr.as_static_list().unwrap();
    let [reference, call, template, escaped, words, keyword] = list.as_slice() else { panic!() };
    assert_eq!(reference.as_traversal().unwrap().to_string(), "a.b[0].c");
    assert_eq!(reference.as_keyword(), None);
    let called = call.as_call().unwrap();
    assert_eq!((&*called.name, called.args.len()), ("list", 1));
    let found = template.variables();
    assert_eq!(template.range_of(found[0].span).text(), "x.y");
    assert!(escaped.variables().is_empty() && escaped.as_literal_string().as_deref() == Some("$${no}"));
    assert!(words.as_traversal().is_none() && words.as_call().is_none());
    assert_eq!(keyword.as_keyword(), Some("all"));
}

#[test]
fn broken_templates_have_no_variables() {
    let (body, problems) = parse_file(SourceFile::new("t.json", r#"{"a": "${x", "b": "\u00e9 ${1 +}"}"#));
    assert!(problems.is_empty());
    let found = body.just_attributes().0;
    assert!(found["a"].expr.variables().is_empty());
    let ExprKind::JsonString(string) = found["b"].expr.kind() else { panic!() };
    let crate::syntax::json::JsonTemplate::Broken(problems) = &string.template else { panic!() };
    assert_eq!(problems.iter().next().unwrap().subject.as_ref().unwrap().text(), "}");
}

/// Reads a text in every way there is; spans must lie in it, and nothing may panic.
fn check_everything(text: &str) {
    use crate::syntax::ast::{Expr, Expression};
    let file = SourceFile::new("t.json", text);
    let len = text.len() as u32;
    let check = |span: Span| {
        assert!(span.start <= span.end && span.end <= len, "{span:?} of {len} in {text:?}");
        assert!(text.is_char_boundary(span.start as usize) && text.is_char_boundary(span.end as usize), "{text:?}");
    };
    fn walk(expr: &Expression, check: &dyn Fn(Span)) {
        fn spans(e: &Expr, check: &dyn Fn(Span)) {
            check(e.span);
            // One byte of an opening bracket: places that are one character to the left may end inside that character.
            check(Span { end: e.start_span().start, ..e.start_span() });
            crate::syntax::visit::each_child(&e.kind, &mut |child| spans(child, check));
        }
        spans(&expr.node, check);
        expr.as_traversal().into_iter().for_each(|t| check(t.span));
        expr.as_call().into_iter().for_each(|c| check(c.open));
        if let ExprKind::JsonString(string) = expr.kind() {
            let (native, problems) = string.native(&expr.file);
            spans(&native.node, check);
            problems.iter().flat_map(|d| d.subject.iter().chain(&d.context)).for_each(|r| check(r.span));
        }
        for inner in expr.as_static_list().into_iter().flatten() {
            walk(&inner, check);
        }
        for (key, value) in expr.as_static_map().into_iter().flatten() {
            walk(&key, check);
            walk(&value, check);
        }
    }
    let (body, mut diagnostics) = parse_file(file.clone());
    let schema = BodySchema::new().attribute("a").required("z").block("b", &[]).block("l", &["k", "n"]);
    let (content, problems) = body.content(&schema);
    diagnostics.extend(problems);
    content.blocks.iter().for_each(|block| {
        check(block.header_range().span);
        check(block.range().span);
        diagnostics.extend(block.body.content(&schema).1);
    });
    let (attributes, problems) = body.just_attributes();
    diagnostics.extend(problems);
    for attribute in attributes.values().chain(content.attributes.values()) {
        walk(&attribute.expr, &check);
        attribute.expr.variables().iter().for_each(|t| check(t.span));
    }
    diagnostics.iter().flat_map(|d| d.subject.iter().chain(&d.context)).for_each(|r| check(r.span));
    let (tree, _) = parse_tree(&file);
    for byte in [0, text.len() / 2, text.len()] {
        crate::syntax::json::context(&tree, byte);
    }
}

const SEED: &str = r#"{"//": 1, "a": ["x.y[0]", "${a.b}\n\u00e9${upper("c")}", -1.5e3, true, null], "b": [{"a": "%{ if x }y%{ endif }"}, {"z": {"${k}": "list(string)"}}], "l": {"p": {"q": {"a": 1}, "r": [{}]}}, "é😀": "\ud83d\ude00 ${z"}"#;

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in "(\\PC|\n){0,60}") {
        check_everything(&text);
    }

    #[test]
    fn token_soup_is_read(words in proptest::collection::vec(proptest::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "=", "\"", "\\", "\\u00e9", "\\ud83d", "\"a\"", "\"b\":", "\"l\":", "${", "%{", "x.y", "1",
        "-", ".", "e", "true", "nul", "null", " ", "\n", "\r\n", "é", "😀", "\u{feff}", "//", "/*", "\"${a[\\\"k\\\"]}\"", "\\n",
    ]), 0..40)) {
        check_everything(&words.concat());
    }

    #[test]
    fn damaged_configuration_is_read(cut in 0..SEED.len(), drop in 0usize..12, insert in "[\\[\\](){}\"$%,:\\\\u0é\n]{0,3}") {
        let mut text = SEED.to_string();
        let start = text.floor_char_boundary(cut);
        let end = text.floor_char_boundary((cut + drop).min(SEED.len()));
        text.replace_range(start..end, &insert);
        check_everything(&text);
    }
}
