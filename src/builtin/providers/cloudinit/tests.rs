//! Compares with the answers of cloudinit 2.4.0, recorded in `golden.jsonl`.

use serde_json::Value;

use super::{Config, Part, render, validate};

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

#[test]
fn documents_have_the_bytes_of_the_reference() {
    let mut cases = 0;
    for line in include_str!("golden.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let parts = case["part"].as_array().unwrap().iter().map(|part| Part {
            content: text(&part["content"]).unwrap(),
            content_type: text(&part["content_type"]),
            filename: text(&part["filename"]),
            merge_type: text(&part["merge_type"]),
        });
        let config = Config {
            gzip: case["gzip"].as_bool(),
            base64_encode: case["base64_encode"].as_bool(),
            boundary: text(&case["boundary"]),
            parts: parts.collect(),
        };
        let found = render(&config).unwrap();
        assert_eq!(Some(found.rendered), text(&case["rendered"]), "{line}");
        assert_eq!(Some(found.id), text(&case["id"]), "{line}");
        cases += 1;
    }
    assert!(cases > 10);
}

#[test]
fn defaults_are_part_of_the_document() {
    let part = Part { content_type: Some(String::new()), ..Part::default() };
    let found = render(&Config { parts: vec![part], ..Config::default() }).unwrap();
    assert!(found.gzip && found.base64_encode);
    assert_eq!(found.boundary, "MIMEBOUNDARY");
    assert_eq!(found.content_types, ["text/plain"]);
}

#[test]
fn boundaries_are_validated() {
    let long = "b".repeat(71);
    let cases = [
        ("==harbour==", None),
        ("a b", None),
        ("ab ", Some("mime: invalid boundary character")),
        ("a\"b", Some("mime: invalid boundary character")),
        ("é", Some("mime: invalid boundary character")),
        ("", Some("mime: invalid boundary length")),
        (&long, Some("mime: invalid boundary length")),
        (&long[1..], None),
    ];
    for (boundary, expected) in cases {
        let config = Config { boundary: Some(boundary.to_owned()), ..Config::default() };
        let found = render(&config).err();
        assert_eq!(found.as_ref().map(|failure| failure.detail.as_str()), expected, "{boundary:?}");
    }
}

#[test]
fn compressed_text_must_be_encoded() {
    for (gzip, base64_encode, is_valid) in [
        (None, None, true),
        (None, Some(false), false),
        (Some(true), Some(false), false),
        (Some(false), Some(false), true),
        (Some(true), Some(true), true),
    ] {
        assert_eq!(validate(gzip, base64_encode).is_ok(), is_valid, "{gzip:?} {base64_encode:?}");
    }
}
