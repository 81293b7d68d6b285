//! Compares made-up values and errors with the reference: cases recorded from `terraform test` 1.11.4.
//!
//! `recorded/cases.jsonl` has one case per line: a type of `recorded/schemas.jsonl`, its configuration, the given values, and what the plan
//! and the apply had. In results, `{"$unknown": true}` is an unknown value, and `"*"` is made-up text. Of cases with given values only the
//! attributes are kept that are configured or given. `mock`: the values are defaults of a mock; otherwise they are those of an override.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::name::PROGRAM;
use base::source::{Range, SourceFile, Span};
use terrane_protocol::provider::ProviderDiagnostics;
use terrane_protocol::schema::{Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape};
use terrane_value::{Type, Value, json};

use super::computed::{Computed, GivenValues};
use super::fill::Rules;
use super::generate::Maker;
use crate::change::proposed::proposed_new;
use crate::change::write_only;

const SCHEMAS: &str = include_str!("recorded/schemas.jsonl");
const CASES: &str = include_str!("recorded/cases.jsonl");

const RULES: Rules = Rules { collections: false, indexes_in_paths: false };

/// The schemas by type.
pub fn schemas() -> BTreeMap<String, Block> {
    let schema = |line: &str| {
        let raw = raw(line);
        (text(&raw, "kind").to_owned(), block(&raw))
    };
    SCHEMAS.lines().map(schema).collect()
}

/// A place of values; messages show it as `t.tftest.hcl:1,1-7`.
pub fn place() -> Range {
    Span::new(0, 6).in_file(&SourceFile::new("t.tftest.hcl", "values = {}"))
}

#[test]
fn values_and_errors_are_those_of_the_reference() {
    let schemas = schemas();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in CASES.lines() {
        let case = raw(line);
        let found = outcome(&schemas[text(&case, "kind")], &case);
        for (what, found) in found {
            let expected = case.get(what).map(|expected| match what {
                "errors" => listed(expected),
                _ => shown(expected),
            });
            let expected = expected.or_else(|| (what == "errors").then(String::new));
            if let Some(expected) = expected.filter(|expected| *expected != found) {
                let name = format!("{} during {}: {what}", text(&case, "name"), text(&case, "during"));
                wrong.push(format!("{name}\n  expected {expected}\n  found    {found}"));
            }
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} wrong, of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// What a case gives: the plan, the apply and the errors, as far as it gets.
fn outcome(schema: &Block, case: &Value) -> Vec<(&'static str, String)> {
    let (config, given) = (configured(schema, case.get("config").unwrap()), case.get("values"));
    let range = place();
    let is_mock = case.get("mock").is_some();
    let made = text(case, "during") == "plan" && given.is_some();
    let given = GivenValues { values: given, range: Some(&range), checked_in_plan: !is_mock, ..Default::default() };
    let computed = Computed { schema, given, maker: Maker::of_seed(1), rules: RULES };
    let kept = |value: &Value, what: &str| {
        let expected = case.get(what);
        let is_kept = |name: &str| expected.is_none_or(|expected| expected.get(name).is_some());
        let entries = value.entries().iter().filter(|(name, _)| is_kept(name));
        shown(&Value::object(entries.map(|(name, value)| (name.clone(), value.clone()))))
    };
    if text(case, "mode") == "data" {
        let (read, errors) = computed.read(&config);
        return vec![("apply", kept(&read, "apply")), ("errors", texts(errors, &range))];
    }
    let proposed = proposed_new(schema, &Value::null(schema.implied_type()), &config);
    let (planned, errors) = computed.plan(&proposed, made);
    let planned = write_only::without_values(schema, &planned);
    let plan = ("plan", kept(&planned, "plan"));
    if case.get("at").is_some_and(|at| at.as_str() == Some("plan")) {
        return vec![plan, ("errors", texts(errors, &range))];
    }
    assert_eq!(errors, Vec::new(), "{}", text(case, "name"));
    let (applied, errors) = computed.apply(&planned);
    assert!(applied.is_wholly_known(), "{}", text(case, "name"));
    vec![plan, ("apply", kept(&applied, "apply")), ("errors", texts(errors, &range))]
}

fn texts(errors: ProviderDiagnostics, range: &Range) -> String {
    let text = |detail: String| detail.replace(&PROGRAM.to_string(), "Terraform").replace(&range.to_string(), "<R>");
    let mut texts: Vec<String> = errors.into_iter().map(|e| format!("{}: {}", e.summary, text(e.detail))).collect();
    texts.sort();
    texts.join("\n")
}

fn listed(expected: &Value) -> String {
    let texts: Vec<&str> = expected.elements().iter().filter_map(Value::as_str).collect();
    texts.join("\n")
}

/// One notation for values of the schema's types and for recorded ones.
pub fn shown(value: &Value) -> String {
    if !value.is_known() {
        return "{\"$unknown\":true}".to_owned();
    }
    if let Some(text) = value.as_str() {
        let is_made = text.len() == 8 && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        return format!("{:?}", if is_made { "*" } else { text });
    }
    let is_mapping = matches!(value.ty(), Type::Object(_) | Type::Map(_));
    match value.ty() {
        _ if value.is_null() => "null".to_owned(),
        Type::Bool | Type::Number | Type::Dynamic => json::to_simple_json(value).unwrap(),
        _ if is_mapping => {
            let parts = value.entries().iter().map(|(name, part)| format!("{name:?}:{}", shown(part)));
            format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
        }
        _ => format!("[{}]", value.elements().iter().map(shown).collect::<Vec<_>>().join(",")),
    }
}

fn raw(line: &str) -> Value {
    json::from_untyped_json(line.as_bytes()).unwrap()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap()
}

/// The value of a configuration, from its notation.
pub fn configured(block: &Block, raw: &Value) -> Value {
    let attributes = block.attributes.iter().map(|(name, attribute)| {
        let ty = attribute.implied_type();
        (name.clone(), raw.get(name).map_or_else(|| Value::null(ty.clone()), |raw| typed(raw, &ty)))
    });
    let blocks = block.blocks.iter().map(|(name, nested)| {
        let value = raw.get(name).map_or_else(|| nested.empty_value(), |raw| configured_blocks(nested, raw));
        (name.clone(), value)
    });
    Value::object(attributes.chain(blocks))
}

fn configured_blocks(nested: &NestedBlock, raw: &Value) -> Value {
    let element = nested.block.implied_type();
    let elements = || raw.elements().iter().map(|raw| configured(&nested.block, raw)).collect::<Vec<_>>();
    match nested.nesting {
        Nesting::Single | Nesting::Group => configured(&nested.block, raw),
        Nesting::List if element.has_dynamic() => Value::tuple(elements()),
        Nesting::List => Value::list(element, elements()),
        Nesting::Set => Value::set(element, elements()),
        Nesting::Map => {
            Value::map(element, raw.entries().iter().map(|(key, raw)| (key.clone(), configured(&nested.block, raw))))
        }
    }
}

/// A value of a type, from its notation. Attributes that are left out are null.
fn typed(raw: &Value, ty: &Type) -> Value {
    if raw.is_null() {
        return Value::null(ty.clone());
    }
    let elements = |element: &Type| raw.elements().iter().map(|raw| typed(raw, element)).collect::<Vec<_>>();
    match ty {
        Type::List(element) => Value::list((**element).clone(), elements(element)),
        Type::Set(element) => Value::set((**element).clone(), elements(element)),
        Type::Map(element) => {
            Value::map((**element).clone(), raw.entries().iter().map(|(key, raw)| (key.clone(), typed(raw, element))))
        }
        Type::Object(object) => {
            let null = Value::null_dynamic();
            let part = |(name, ty): (&Arc<str>, &Type)| (name.clone(), typed(raw.get(name).unwrap_or(&null), ty));
            Value::object(object.attributes.iter().map(part))
        }
        _ => raw.clone(),
    }
}

fn block(raw: &Value) -> Block {
    let blocks = raw.get("blocks").unwrap().entries().iter().map(|(name, nested)| {
        let (nesting, block) = (nesting(text(nested, "nesting")), block(nested.get("block").unwrap()));
        (name.clone(), NestedBlock { block, nesting, min_items: 0, max_items: 0 })
    });
    Block { attributes: attributes(raw.get("attrs").unwrap()), blocks: blocks.collect(), ..Block::default() }
}

fn attributes(raw: &Value) -> BTreeMap<Arc<str>, Attribute> {
    let attribute = |raw: &Value| {
        let flag = |name: &str| raw.get(name).is_some();
        let shape = match raw.get("nested") {
            Some(nested) => AttributeShape::Nested(ObjectShape {
                attributes: attributes(nested.get("attrs").unwrap()),
                nesting: nesting(text(nested, "mode")),
            }),
            None => {
                let ty = json::to_simple_json(raw.get("t").unwrap()).unwrap();
                AttributeShape::Plain(Type::from_json_bytes(ty.as_bytes()).unwrap())
            }
        };
        Attribute {
            shape,
            required: flag("r"),
            optional: flag("o"),
            computed: flag("c"),
            sensitive: flag("s"),
            write_only: flag("w"),
            ..Attribute::new(Type::Dynamic)
        }
    };
    raw.entries().iter().map(|(name, raw)| (name.clone(), attribute(raw))).collect()
}

fn nesting(text: &str) -> Nesting {
    match text {
        "SINGLE" => Nesting::Single,
        "GROUP" => Nesting::Group,
        "LIST" => Nesting::List,
        "SET" => Nesting::Set,
        _ => Nesting::Map,
    }
}
