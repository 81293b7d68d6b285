//! Compares the rules with the reference: several hundred small cases, recorded from release 1.11.4.
//!
//! `recorded/cases.jsonl` has one case per line: a schema (a line of `recorded/schemas.jsonl`, from 0), the input
//! values, and the result. `{"$unknown": true}` is an unknown value, or one with refinements in place of `true`.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_protocol::schema::{Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape};
use terrane_value::{Number, Refinement, Type, Value, json};

use super::Breach;
use super::compatible::object_compatible;
use super::plan_valid::plan_valid;
use super::proposed::proposed_new;

const SCHEMAS: &str = include_str!("recorded/schemas.jsonl");
const CASES: &str = include_str!("recorded/cases.jsonl");

#[test]
fn rules_give_what_was_recorded() {
    let schemas: Vec<Block> = SCHEMAS.lines().map(|line| block(&raw(line))).collect();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in CASES.lines() {
        let case = raw(line);
        let schema = &schemas[case.get("schema").unwrap().as_i64().unwrap() as usize];
        let ty = schema.implied_type();
        let given = |name: &str| -> Option<Vec<Value>> {
            Some(case.get(name)?.elements().iter().map(|value| typed(value, &ty)).collect())
        };
        let expected = case.get("expect").unwrap();
        let (found, expected) = match (given("propose"), given("plan"), given("apply")) {
            (Some(v), _, _) => {
                (format!("{:?}", proposed_new(schema, &v[0], &v[1])), format!("{:?}", typed(expected, &ty)))
            }
            (_, Some(v), _) => (texts(plan_valid(schema, &v[0], &v[1], &v[2])), listed(expected)),
            (_, _, Some(v)) => (texts(object_compatible(schema, &v[0], &v[1])), listed(expected)),
            _ => panic!("{line}"),
        };
        if found != expected {
            wrong.push(format!(
                "{}\n  expected {expected}\n  found    {found}",
                case.get("name").unwrap().as_str().unwrap()
            ));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

fn raw(line: &str) -> Value {
    json::from_untyped_json(line.as_bytes()).unwrap()
}

fn texts(breaches: Vec<Breach>) -> String {
    let mut texts: Vec<String> = breaches
        .into_iter()
        .map(|(path, text)| if path.is_empty() { text } else { format!("{path}: {text}") })
        .collect();
    texts.sort();
    texts.join("\n")
}

fn listed(expected: &Value) -> String {
    let texts: Vec<&str> = expected.elements().iter().map(|text| text.as_str().unwrap()).collect();
    // An error about the whole object begins so where it is reported.
    let texts = texts.into_iter().map(|text| text.trim_start_matches("Root object ").trim_start_matches(": "));
    texts.collect::<Vec<_>>().join("\n")
}

/// A value of the type from its notation.
fn typed(raw: &Value, ty: &Type) -> Value {
    if raw.is_null() {
        return Value::null(ty.clone());
    }
    if let Some(facts) = raw.get("$unknown") {
        return Value::unknown_refined(ty.clone(), refinement(facts));
    }
    let elements = |element: &Type| raw.elements().iter().map(|v| typed(v, element)).collect::<Vec<_>>();
    match ty {
        Type::List(element) => Value::list((**element).clone(), elements(element)),
        Type::Set(element) => Value::set((**element).clone(), elements(element)),
        Type::Map(element) => {
            Value::map((**element).clone(), raw.entries().iter().map(|(key, v)| (key.clone(), typed(v, element))))
        }
        Type::Object(object) => {
            let null = Value::null_dynamic();
            let part = |(name, ty): (&Arc<str>, &Type)| (name.clone(), typed(raw.get(name).unwrap_or(&null), ty));
            Value::object(object.attributes.iter().map(part))
        }
        _ => raw.clone(),
    }
}

fn refinement(facts: &Value) -> Refinement {
    let bound = |name: &str| {
        let bound = facts.get(name)?;
        Some((bound.at(0)?.as_number().cloned().unwrap_or(Number::zero()), bound.at(1)?.is_true()))
    };
    let length = |name: &str| facts.get(name).and_then(|n| n.as_number()?.as_u64());
    Refinement {
        not_null: facts.get("null").is_some_and(|null| !null.is_true()),
        string_prefix: facts.get("prefix").and_then(Value::as_arc_str),
        number_min: bound("min"),
        number_max: bound("max"),
        length_min: length("len_min").unwrap_or(0),
        length_max: length("len_max"),
    }
}

fn block(raw: &Value) -> Block {
    let blocks = raw.get("blocks").unwrap().entries().iter().map(|(name, nested)| {
        let nesting = nesting(nested.get("nesting").unwrap());
        (name.clone(), NestedBlock { block: block(nested.get("block").unwrap()), nesting, min_items: 0, max_items: 0 })
    });
    Block { attributes: attributes(raw.get("attrs").unwrap()), blocks: blocks.collect(), ..Block::default() }
}

fn attributes(raw: &Value) -> BTreeMap<Arc<str>, Attribute> {
    let attribute = |raw: &Value| {
        let flag = |name: &str| raw.get(name).is_some();
        let shape = match (raw.get("nested"), raw.get("t")) {
            (Some(nested), _) => AttributeShape::Nested(ObjectShape {
                attributes: attributes(nested.get("attrs").unwrap()),
                nesting: nesting(nested.get("mode").unwrap()),
            }),
            (_, ty) => AttributeShape::Plain(
                Type::from_json_bytes(json::to_simple_json(ty.unwrap()).unwrap().as_bytes()).unwrap(),
            ),
        };
        Attribute {
            shape,
            optional: flag("o"),
            computed: flag("c"),
            sensitive: flag("s"),
            ..Attribute::new(Type::Dynamic)
        }
    };
    raw.entries().iter().map(|(name, raw)| (name.clone(), attribute(raw))).collect()
}

fn nesting(raw: &Value) -> Nesting {
    match raw.as_str().unwrap() {
        "SINGLE" => Nesting::Single,
        "GROUP" => Nesting::Group,
        "LIST" => Nesting::List,
        "SET" => Nesting::Set,
        _ => Nesting::Map,
    }
}
