//! Differences as the reference draws them: `cases.txt`, recorded from Terraform 1.11.4 with a provider of our own.
//!
//! A case is its name, a line of JSON (schema, values, paths) and what stands behind `resource "..." "..."` in the plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::dialect::Dialect;
use model::plan::Action;
use serde_json::Value as Json;
use terrane_protocol::schema::{Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape};
use terrane_value::{Marks, Path, Type, Value, json};

use super::{block_diff, draw, value_diff};
use crate::schemas::with_schema_marks;
use crate::text::style::Style;

#[test]
fn differences_are_drawn_as_the_reference_draws_them() {
    let cases = include_str!("cases.txt");
    let mut count = 0;
    for case in cases.split("\n# ") {
        let mut parts = case.trim_end().splitn(3, '\n');
        let (name, input, expected) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        assert_eq!(drawn(&serde_json::from_str(input).unwrap()), expected, "{name}");
        count += 1;
    }
    assert!(count > 70, "only {count} cases");
}

/// A sensitive output that is or was an empty string looks like one that is created or removed.
#[test]
fn empty_sensitive_outputs_count_as_absent() {
    let text = |text: &str| Value::string(text).mark(Marks::SENSITIVE);
    let cases = [
        (text(""), text("x"), Action::Create),
        (text("x"), text(""), Action::Delete),
        (text("x"), text("y"), Action::Update),
        (Value::string(""), Value::string("x"), Action::Update),
    ];
    for (before, after, action) in cases {
        assert_eq!(value_diff(&before, &after, Dialect::default()).action, action, "{before:?} {after:?}");
    }
}

/// Formatting to a width panics beyond 65,535 characters.
#[test]
fn names_of_any_length_are_drawn() {
    let long = "k".repeat(70_000);
    let spaces = " ".repeat(long.len() - 1);
    let object = Value::object([(long.as_str(), Value::string("v")), ("a", Value::string("w"))]);
    let output = draw(&value_diff(&Value::null_dynamic(), &object, Dialect::default()), 0, &Style::plain());
    assert!(output.contains(&format!("a{spaces} = \"w\"")));
    let mut case: Json = serde_json::from_str(
        r#"{"schema": {"attributes": {"m": {"type": ["map", "string"]}}}, "before": null, "after": {"m": {"a": "w"}}}"#,
    )
    .unwrap();
    case["after"]["m"][&long] = "v".into();
    assert!(drawn(&case).contains(&format!("\"a\"{spaces} = \"w\"")));
}

fn drawn(case: &Json) -> String {
    let schema = block(&case["schema"]);
    let ty = schema.implied_type();
    let side = |name: &str| with_schema_marks(&value(&case[name], &ty), &schema);
    let paths = |name: &str| -> Option<Vec<Path>> { Some(case[name].as_array()?.iter().map(path).collect()) };
    let replace = paths("replace").unwrap_or_default();
    let relevant = paths("relevant");
    let relevant: Option<Vec<&Path>> = relevant.as_ref().map(|paths| paths.iter().collect());
    let diff = block_diff(&schema, &side("before"), &side("after"), &replace, relevant.as_deref(), Dialect::default());
    if diff.action == Action::NoOp { "no change".into() } else { draw(&diff, 0, &Style::plain()) }
}

fn path(json: &Json) -> Path {
    json.as_array().unwrap().iter().fold(Path::new(), |path, step| match step {
        Json::String(name) => path.attr(name.as_str()),
        Json::Number(index) => path.index_int(index.as_u64().unwrap() as usize),
        key => path.index_str(key["key"].as_str().unwrap()),
    })
}

fn nesting(json: &Json) -> Nesting {
    match json["nesting"].as_str().unwrap() {
        "single" => Nesting::Single,
        "group" => Nesting::Group,
        "list" => Nesting::List,
        "set" => Nesting::Set,
        _ => Nesting::Map,
    }
}

fn members<T>(json: &Json, make: impl Fn(&Json) -> T) -> BTreeMap<Arc<str>, T> {
    json.as_object().into_iter().flatten().map(|(name, part)| (name.as_str().into(), make(part))).collect()
}

fn block(json: &Json) -> Block {
    let nested = |part: &Json| NestedBlock { block: block(part), nesting: nesting(part), min_items: 0, max_items: 0 };
    Block {
        attributes: members(&json["attributes"], attribute),
        blocks: members(&json["blocks"], nested),
        ..Block::default()
    }
}

fn attribute(json: &Json) -> Attribute {
    let shape = match json.get("type") {
        Some(ty) => AttributeShape::Plain(Type::from_json(ty).unwrap()),
        None => {
            let attributes = members(&json["attributes"], attribute);
            AttributeShape::Nested(ObjectShape { attributes, nesting: nesting(json) })
        }
    };
    Attribute {
        shape,
        description: String::new(),
        markdown: false,
        required: false,
        optional: true,
        computed: true,
        sensitive: json["sensitive"] == true,
        deprecated: false,
        deprecation_message: String::new(),
        write_only: json["write_only"] == true,
    }
}

/// A value of the type, unknown where it is written `{"unknown": true}`.
fn value(json: &Json, ty: &Type) -> Value {
    if json["unknown"] == true {
        return Value::unknown(ty.clone());
    }
    let all = |element: &Type| json.as_array().unwrap().iter().map(|part| value(part, element)).collect();
    match ty {
        _ if json.is_null() => Value::null(ty.clone()),
        Type::List(element) => Value::list((**element).clone(), all(element)),
        Type::Set(element) => Value::set((**element).clone(), all(element)),
        Type::Map(element) => Value::map((**element).clone(), members(json, |part| value(part, element))),
        Type::Object(shape) => {
            let attribute = |(name, ty): (&Arc<str>, &Type)| (name.clone(), value(&json[&**name], ty));
            Value::object(shape.attributes.iter().map(attribute))
        }
        _ => json::from_json_value(json, ty).unwrap(),
    }
}
