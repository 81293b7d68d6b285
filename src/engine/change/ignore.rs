//! `ignore_changes`: the configuration with the prior values of ignored parts.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use terrane_protocol::schema::Block;
use terrane_value::{Path, PathStep, Value};

use super::Shape;

/// The configuration with the values at `paths` taken from the prior object. Where a path ends at a map element, only
/// that key is kept, removed or restored.
pub fn ignore_paths(prior: &Value, config: &Value, paths: &[Path]) -> Value {
    paths.iter().fold(config.clone(), |config, path| restore(prior, &config, path.steps()))
}

/// `ignore_changes = all`: the prior object as if it were configured: null for what only the provider sets.
pub fn ignore_all(schema: &Block, prior: &Value) -> Value {
    let keep = |path: &Path, value: Value| -> Result<Value, Infallible> {
        let is_computed = Shape::Block(schema).attribute_at(path).is_some_and(|a| a.computed && !a.optional);
        Ok(if is_computed { Value::null(value.ty().clone()) } else { value })
    };
    match prior.transform(&mut { keep }) {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

fn restore(prior: &Value, config: &Value, steps: &[PathStep]) -> Value {
    let Some((step, rest)) = steps.split_first() else { return prior.clone() };
    if !config.is_known() && !matches!(step, PathStep::Attr(_)) {
        return if rest.is_empty() { config.clone() } else { prior.clone() };
    }
    match step {
        PathStep::Attr(name) => match config.get(name) {
            Some(inner) => {
                let Some(before) = prior.get(name) else { return config.clone() };
                with_entry(config, name, Some(restore(before, inner, rest)))
            }
            None => config.clone(),
        },
        PathStep::Index(key) if key.as_str().is_some() => {
            let name = key.as_arc_str().unwrap_or_default();
            match (prior.get(&name), config.get(&name), rest.is_empty()) {
                (before, _, true) => with_entry(config, &name, before.cloned()),
                (Some(before), Some(inner), false) => with_entry(config, &name, Some(restore(before, inner, rest))),
                _ => config.clone(),
            }
        }
        PathStep::Index(key) => {
            let Some(i) = key.as_i64().and_then(|i| usize::try_from(i).ok()) else { return config.clone() };
            match (prior.at(i), config.at(i)) {
                (Some(before), Some(inner)) => {
                    let mut elements = config.elements().to_vec();
                    elements[i] = restore(before, inner, rest);
                    rebuilt(config, elements)
                }
                _ => config.clone(),
            }
        }
    }
}

fn rebuilt(like: &Value, elements: Vec<Value>) -> Value {
    use terrane_value::Type;
    let value = match like.ty() {
        Type::List(ty) => Value::list((**ty).clone(), elements),
        Type::Set(ty) => Value::set((**ty).clone(), elements),
        _ => Value::tuple(elements),
    };
    value.mark(like.marks())
}

fn with_entry(of: &Value, name: &Arc<str>, value: Option<Value>) -> Value {
    use terrane_value::Type;
    let mut entries: BTreeMap<Arc<str>, Value> = of.entries().to_map();
    match value {
        Some(value) => entries.insert(name.clone(), value),
        None => entries.remove(name),
    };
    let made = match of.ty() {
        Type::Map(ty) if of.is_null() && entries.is_empty() => Value::null(Type::map((**ty).clone())),
        Type::Map(ty) => Value::map((**ty).clone(), entries),
        _ => Value::object(entries),
    };
    made.mark(of.marks())
}

#[cfg(test)]
mod tests {
    use terrane_value::Type;

    use super::*;

    #[test]
    fn ignored_parts_stay_as_they_were() {
        let tags = |pairs: &[(&str, &str)]| Value::map(Type::String, pairs.iter().map(|(k, v)| (*k, Value::string(v))));
        let object = |name: &str, t: Value| Value::object([("name", Value::string(name)), ("tags", t)]);
        let prior = object("old", tags(&[("a", "1"), ("b", "2")]));
        let config = object("new", tags(&[("a", "9"), ("c", "3")]));
        let (name, tag) = (Path::new().attr("name"), |k: &str| Path::new().attr("tags").index_str(k));
        let cases = [
            (vec![name], object("old", tags(&[("a", "9"), ("c", "3")]))),
            (vec![tag("a")], object("new", tags(&[("a", "1"), ("c", "3")]))),
            (vec![tag("b")], object("new", tags(&[("a", "9"), ("b", "2"), ("c", "3")]))),
            (vec![tag("c")], object("new", tags(&[("a", "9")]))),
            (vec![Path::new().attr("nothing")], config.clone()),
        ];
        for (paths, expected) in cases {
            assert_eq!(ignore_paths(&prior, &config, &paths), expected);
        }
    }

    #[test]
    fn ignoring_all_keeps_everything_but_what_the_provider_sets() {
        use terrane_protocol::schema::{Attribute, AttributeShape, NestedBlock, Nesting, ObjectShape};
        let attribute = |optional, computed| Attribute { optional, computed, ..Attribute::new(Type::String) };
        let inner: BTreeMap<Arc<str>, Attribute> =
            [("c".into(), attribute(false, true)), ("oc".into(), attribute(true, true))].into();
        let shape = ObjectShape { attributes: inner.clone(), nesting: Nesting::List };
        let nested = Attribute { shape: AttributeShape::Nested(shape), ..attribute(true, false) };
        let block = Block { attributes: inner, ..Block::default() };
        let block = NestedBlock { block, nesting: Nesting::Map, min_items: 0, max_items: 0 };
        let schema = Block {
            attributes: [("id".into(), attribute(false, true)), ("n".into(), nested)].into(),
            blocks: [("b".into(), block)].into(),
            ..Block::default()
        };
        let text = |given: bool| if given { Value::string("x") } else { Value::null(Type::String) };
        let object = |computed: bool| {
            let element = Value::object([("c", text(computed)), ("oc", text(true))]);
            let ty = element.ty().clone();
            Value::object([
                ("id", text(computed)),
                ("n", Value::list(ty.clone(), vec![element.clone()])),
                ("b", Value::map(ty, [("k", element)])),
            ])
        };
        assert_eq!(ignore_all(&schema, &object(true)), object(false));
    }
}
