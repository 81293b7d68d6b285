//! Expressions of a configuration as JSON: their constant value, and what they refer to.

use std::collections::BTreeMap;

use base::diag::Diagnostics;
use lang::eval;
use lang::eval::scope::Constant;
use lang::syntax::ast::{ExprKind, Expression, Traversal};
use lang::syntax::body::{Body, BodySchema};
use model::addr::parse::parse_reference;
use model::addr::{InstanceKey, Subject};
use model::schema::as_blocks::written_as_blocks;
use model::schema::decode::{body_schema, decode_body, references_in_body};
use serde_json::{Map, Value as Json};
use terrane_protocol::schema::{Block, Nesting};
use terrane_value::Value;

use super::shape::{known_json, put, set};

/// The expressions of a body: attributes as expressions, blocks as objects or lists of them.
pub(super) fn expressions_json(body: &Body, schema: &Block) -> Json {
    let (content, _, _) = body.partial_content(&body_schema(schema));
    let mut out: BTreeMap<String, Json> = BTreeMap::new();
    for (name, nested) in written_as_blocks(body, schema) {
        let (content, _, _) = body.partial_content(&BodySchema::new().block(&name, &[]));
        let bodies: Vec<&Body> = content.blocks.iter().map(|block| &block.body).collect();
        // Nothing is shown of `dynamic` blocks.
        if !bodies.is_empty() {
            out.insert(name.to_string(), attribute_blocks_json(&bodies, &nested.block));
        }
    }
    for (name, attribute) in &content.attributes {
        out.insert(name.to_string(), expression_json(&attribute.expr));
    }
    for block in &content.blocks {
        let Some(nested) = schema.blocks.get(&block.kind.name) else { continue };
        let inner = expressions_json(&block.body, &nested.block);
        let kind = block.kind.name.to_string();
        match nested.nesting {
            Nesting::Single | Nesting::Group => {
                out.insert(kind, inner);
            }
            Nesting::List | Nesting::Set => {
                if let Json::Array(list) = out.entry(kind).or_insert_with(|| Json::Array(Vec::new())) {
                    list.push(inner);
                }
            }
            Nesting::Map => {
                let key = block.labels.first().map(|l| l.text.to_string()).unwrap_or_default();
                if let Json::Object(map) = out.entry(kind).or_insert_with(|| Json::Object(Map::new())) {
                    map.insert(key, inner);
                }
            }
        }
    }
    Json::Object(out.into_iter().collect())
}

/// An attribute that is written as blocks, as the expression that it stands for.
fn attribute_blocks_json(bodies: &[&Body], schema: &Block) -> Json {
    let found: Vec<(Traversal, Expression)> = bodies.iter().flat_map(|body| references_in_body(body, schema)).collect();
    let references: Vec<String> = found.iter().flat_map(|(t, expr)| references_of(t, expr)).collect();
    let mut out = Map::new();
    let decoded: Vec<(Value, Diagnostics)> = bodies.iter().map(|body| decode_body(body, schema, &Constant)).collect();
    if decoded.iter().all(|(value, found)| !found.has_errors() && value.is_wholly_known()) {
        set(&mut out, "constant_value", decoded.iter().map(|(value, _)| known_json(value)).collect::<Vec<_>>());
    }
    put(&mut out, "references", references);
    Json::Object(out)
}

/// A reference with all its shorter forms, longest first.
fn references_of(traversal: &Traversal, expression: &Expression) -> Vec<String> {
    let Ok(reference) = parse_reference(traversal, &expression.file) else { return Vec::new() };
    let subject = reference.subject.to_string();
    let mut references = Vec::new();
    for end in (1..=reference.remaining.len()).rev() {
        let steps: String = reference.remaining[..end].iter().map(ToString::to_string).collect();
        references.push(format!("{subject}{steps}"));
    }
    references.push(subject);
    references.extend(containing(&reference.subject));
    references
}

/// `constant_value` for what has a value without a scope, and `references`: each with all its shorter forms.
pub(super) fn expression_json(expression: &Expression) -> Json {
    let mut out = Map::new();
    let references: Vec<String> =
        expression.variables().into_iter().flat_map(|traversal| references_of(traversal, expression)).collect();
    if !references.is_empty() {
        // The text of JSON strings is shown beside what it refers to.
        if matches!(expression.kind(), ExprKind::JsonString(_) | ExprKind::JsonObject { .. })
            || (expression.is_json() && matches!(expression.kind(), ExprKind::Tuple { .. }))
        {
            set(&mut out, "constant_value", known_json(&eval::constant(expression).0));
            set(&mut out, "references", references);
            return Json::Object(out);
        }
    }
    // An expression can have references and still not need them: `true ? "x" : local.y`. Their errors do not count.
    let (value, _) = eval::constant(expression);
    if value.is_wholly_known() {
        set(&mut out, "constant_value", known_json(&value));
    }
    put(&mut out, "references", references);
    Json::Object(out)
}

/// What contains the subject and is referred to with it.
fn containing(subject: &Subject) -> Option<String> {
    match subject {
        Subject::ResourceInstance(instance) => Some(instance.resource.to_string()),
        Subject::ModuleInstance(name, key) if !key.is_none() => Some(format!("module.{name}")),
        Subject::ModuleOutput(name, key, _) => Some(Subject::ModuleInstance(name.clone(), key.clone()).to_string())
            .filter(|_| *key != InstanceKey::None)
            .or_else(|| Some(format!("module.{name}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;
    use lang::syntax::parse_file;
    use terrane_protocol::schema::Attribute;
    use terrane_value::Type;

    use super::*;

    /// Recorded from the reference, 1.11.4; with functions as in 1.17.
    #[test]
    fn expressions_that_need_no_names_have_a_constant_value() {
        let cases = [
            ("true ? \"y\" : var.v", r#"{"constant_value":"y","references":["var.v"]}"#),
            ("\"%{ if true }y%{ else }${var.v}%{ endif }\"", r#"{"constant_value":"y","references":["var.v"]}"#),
            ("{ a = true ? 1 : var.v }", r#"{"constant_value":{"a":1},"references":["var.v"]}"#),
            ("false && var.v == \"y\"", r#"{"references":["var.v"]}"#),
            ("false && length([]) > 1", r#"{"constant_value":false}"#),
            ("false ? upper(\"y\") : \"n\"", r#"{"constant_value":"n"}"#),
            ("[for s in [\"a\"] : s if s != var.v]", r#"{"references":["var.v"]}"#),
        ];
        for (text, expected) in cases {
            let (body, problems) = parse_file(SourceFile::new("t", format!("a = {text}")));
            assert!(problems.is_empty(), "{problems:?}");
            let attributes = body.just_attributes().0;
            assert_eq!(expression_json(&attributes["a"].expr).to_string(), expected, "{text}");
        }
    }

    /// Recorded from the reference, 1.11.4: such blocks are shown as the attribute that they stand for.
    #[test]
    fn blocks_in_place_of_attributes_are_expressions() {
        let objects = Type::list(Type::object([("a", Type::String), ("b", Type::String)]));
        let attribute = Attribute { optional: true, ..Attribute::new(objects) };
        let schema = Block { attributes: [("li".into(), attribute)].into(), ..Block::default() };
        let cases = [
            ("li {\n a = \"x\"\n}\nli {}", r#"{"li":{"constant_value":[{"a":"x","b":null},{"a":null,"b":null}]}}"#),
            ("li {\n a = one.two.three\n}", r#"{"li":{"references":["one.two.three","one.two"]}}"#),
            ("dynamic \"li\" {\n for_each = [1]\n content {}\n}", "{}"),
            ("li = []", r#"{"li":{"constant_value":[]}}"#),
        ];
        for (text, expected) in cases {
            let (body, problems) = parse_file(SourceFile::new("t", text));
            assert!(problems.is_empty(), "{problems:?}");
            assert_eq!(expressions_json(&body, &schema).to_string(), expected, "{text}");
        }
    }
}
