//! Write-only attributes in responses of providers: they must be null, because plans and states would store them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use model::addr::AbsResourceInstance;
use model::schema::decode::each_object;
use terrane_protocol::schema::{Attribute, Block};
use terrane_value::{Path, PathStep, Value};

/// The paths of write-only attributes that have a value, in the known parts of an object.
pub fn non_null_paths(schema: &Block, object: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    if schema.has_write_only() {
        in_block(schema, object, &mut Path::new(), &mut found);
    }
    found
}

/// An error for each path of [`non_null_paths`]. `what` is the first sentence, about the quoted address of the attribute.
pub fn errors(
    schema: &Block,
    object: &Value,
    addr: &AbsResourceInstance,
    summary: &str,
    what: &dyn Fn(&str) -> String,
) -> Diagnostics {
    let error = |path: Path| {
        let detail = format!(
            "{} Write-only attributes cannot be read back from the provider. This is a bug in the provider, which should be \
             reported in the provider's own issue tracker.",
            what(&format!("\"{addr}{path}\""))
        );
        Diagnostic::error(summary, detail)
    };
    non_null_paths(schema, object).into_iter().map(error).collect()
}

/// The object with null for all write-only attributes.
pub fn without_values(schema: &Block, object: &Value) -> Value {
    let paths = non_null_paths(schema, object);
    let cleared = object.transform::<()>(&mut |path, value| {
        let is_listed = paths.iter().any(|listed| listed.steps() == path.steps());
        Ok(if is_listed { Value::null(value.ty().clone()) } else { value })
    });
    // The transformation cannot fail.
    cleared.unwrap_or_else(|()| Value::null(object.ty().clone()))
}

fn in_block(schema: &Block, value: &Value, path: &mut Path, found: &mut Vec<Path>) {
    in_attributes(&schema.attributes, value, path, found);
    for (name, nested) in &schema.blocks {
        let Some(inner) = value.get(name) else { continue };
        path.push(PathStep::Attr(name.clone()));
        each_object(nested.nesting, inner, path, &mut |value, path| in_block(&nested.block, value, path, found));
        path.pop();
    }
}

fn in_attributes(attributes: &BTreeMap<Arc<str>, Attribute>, value: &Value, path: &mut Path, found: &mut Vec<Path>) {
    for (name, attribute) in attributes {
        let Some(inner) = value.get(name) else { continue };
        path.push(PathStep::Attr(name.clone()));
        if attribute.write_only {
            if !inner.is_null() {
                found.push(path.clone());
            }
        } else if let Some(object) = attribute.nested() {
            each_object(object.nesting, inner, path, &mut |value, path| {
                in_attributes(&object.attributes, value, path, found)
            });
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use terrane_protocol::schema::{AttributeShape, NestedBlock, Nesting, ObjectShape};
    use terrane_value::Type;

    use super::*;

    fn schema() -> Block {
        let secret = || Attribute { optional: true, write_only: true, ..Attribute::new(Type::String) };
        let attributes = || BTreeMap::from([(Arc::from("w"), secret())]);
        let nested = |nesting| {
            let shape = AttributeShape::Nested(ObjectShape { attributes: attributes(), nesting });
            Attribute { shape, optional: true, ..Attribute::new(Type::String) }
        };
        let block = |nesting| NestedBlock {
            block: Block { attributes: attributes(), ..Block::default() },
            nesting,
            min_items: 0,
            max_items: 0,
        };
        let mut all = attributes();
        all.insert("n".into(), nested(Nesting::Map));
        let blocks = [("s", Nesting::Single), ("l", Nesting::List), ("m", Nesting::Map)];
        let blocks = blocks.map(|(name, nesting)| (Arc::from(name), block(nesting)));
        Block { attributes: all, blocks: blocks.into(), ..Block::default() }
    }

    #[test]
    fn finds_and_clears_values_at_every_depth() {
        let w = |value: Value| Value::object([("w", value)]);
        let (text, null) = (|| w(Value::string("x")), || w(Value::null(Type::String)));
        let ty = || w(Value::null(Type::String)).ty().clone();
        let object = |top: Value, s: Value, l: Vec<Value>, m: Vec<(&'static str, Value)>, n: Value| {
            let (l, m) = (Value::list(ty(), l), Value::map(ty(), m));
            Value::object([("w", top), ("s", s), ("l", l), ("m", m), ("n", n)])
        };
        let none = || Value::null(Type::String);
        let cases = [
            (object(none(), null(), vec![null()], vec![("k", null())], Value::null(Type::map(ty()))), vec![]),
            (object(none(), Value::unknown(ty()), vec![], vec![], Value::unknown(Type::map(ty()))), vec![]),
            (
                object(
                    Value::string("x"),
                    text(),
                    vec![null(), text()],
                    vec![("k", text())],
                    Value::map(ty(), [("a", text())]),
                ),
                vec![".w", ".l[1].w", ".m[\"k\"].w", ".n[\"a\"].w", ".s.w"],
            ),
            (
                object(
                    Value::unknown(Type::String),
                    w(Value::unknown(Type::String)),
                    vec![],
                    vec![],
                    Value::map(ty(), [("a", null())]),
                ),
                vec![".w", ".s.w"],
            ),
        ];
        let schema = schema();
        for (object, expected) in cases {
            let mut found: Vec<String> = non_null_paths(&schema, &object).iter().map(ToString::to_string).collect();
            let mut expected: Vec<String> = expected.into_iter().map(String::from).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected);
            assert_eq!(non_null_paths(&schema, &without_values(&schema, &object)), Vec::new());
        }
    }
}
