//! The proposed new object: the configuration, with prior values of computed attributes where possible.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting, ObjectShape};
use terrane_value::{Type, Value};

use super::{Shape, attributes_key, part};

/// Joins the prior object and the configuration into the proposal that the provider plans from.
pub fn proposed_new(schema: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() && prior.is_null() {
        return prior.clone();
    }
    if prior.is_null() {
        return propose_block(schema, &schema.empty_value(), config);
    }
    propose_block(schema, prior, config)
}

/// The object of a data source that cannot be read yet: the configuration, with everything computed unknown.
pub fn planned_data_object(schema: &Block, config: &Value) -> Value {
    propose_block(schema, &Value::unknown(schema.implied_type()), config)
}

/// The configuration that the provider plans from: a computed block type without blocks is null, which tells the
/// provider that it may set some itself.
pub fn without_empty_computed_blocks(schema: &Block, config: &Value) -> Value {
    if !schema.has_computed_blocks() || config.is_null() || !config.is_known() {
        return config.clone();
    }
    let mut parts = config.entries().to_map();
    for (name, nested) in &schema.blocks {
        if let Some(value) = parts.get_mut(name) {
            *value = without_empty(nested, value);
        }
    }
    Value::object(parts)
}

fn without_empty(schema: &NestedBlock, value: &Value) -> Value {
    if value.is_null() || !value.is_known() {
        return value.clone();
    }
    let inner = |value: &Value| without_empty_computed_blocks(&schema.block, value);
    let entries = || value.entries().iter().map(|(key, value)| (key.clone(), inner(value)));
    let elements = || value.elements().iter().map(inner).collect();
    match schema.nesting {
        Nesting::Single | Nesting::Group => inner(value),
        Nesting::List | Nesting::Set | Nesting::Map if value.is_empty() => match schema.block.computed {
            true => Value::null(value.ty().clone()),
            false => value.clone(),
        },
        Nesting::List | Nesting::Set | Nesting::Map => match value.ty() {
            Type::List(ty) => Value::list((**ty).clone(), elements()),
            Type::Set(ty) => Value::set((**ty).clone(), elements()),
            Type::Map(ty) => Value::map((**ty).clone(), entries()),
            Type::Object(_) => Value::object(entries()),
            _ => Value::tuple(elements()),
        },
    }
}

fn propose_block(schema: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() || !config.is_known() {
        return prior.clone();
    }
    let mut attributes = propose_attributes(&schema.attributes, prior, config);
    for (name, nested) in &schema.blocks {
        let value = propose_nested_block(nested, &part(prior, name), &part(config, name));
        attributes.insert(name.clone(), value);
    }
    Value::object(attributes)
}

fn propose_attributes(
    schema: &BTreeMap<Arc<str>, Attribute>,
    prior: &Value,
    config: &Value,
) -> BTreeMap<Arc<str>, Value> {
    let propose = |(name, attribute): (&Arc<str>, &Attribute)| {
        let (prior, config) = (part(prior, name), part(config, name));
        let value = match attribute.nested() {
            _ if attribute.computed && config.is_null() => {
                // If the prior value holds something that only a configuration can have set, then the configuration
                // had a value and lost it: null is what is meant.
                if optional_not_computable(attribute, &prior) { config } else { prior }
            }
            Some(object) => propose_nested_attribute(object, &prior, &config),
            None => config,
        };
        (name.clone(), value)
    };
    schema.iter().map(propose).collect()
}

fn propose_nested_block(schema: &NestedBlock, prior: &Value, config: &Value) -> Value {
    if !config.is_known() {
        return config.clone();
    }
    let shape = Shape::Block(&schema.block);
    match schema.nesting {
        Nesting::Single if config.is_null() => config.clone(),
        Nesting::Single | Nesting::Group => propose_block(&schema.block, prior, config),
        Nesting::List => propose_list(shape, prior, config),
        Nesting::Map => propose_map(shape, prior, config),
        Nesting::Set => propose_set(shape, prior, config),
    }
}

fn propose_nested_attribute(schema: &ObjectShape, prior: &Value, config: &Value) -> Value {
    if config.is_null() || !config.is_known() {
        return config.clone();
    }
    let shape = Shape::Object(schema);
    match schema.nesting {
        Nesting::Single | Nesting::Group => Value::object(propose_attributes(&schema.attributes, prior, config)),
        Nesting::List => propose_list(shape, prior, config),
        Nesting::Map => propose_map(shape, prior, config),
        Nesting::Set => propose_set(shape, prior, config),
    }
}

fn propose_one(shape: Shape<'_>, prior: &Value, config: &Value) -> Value {
    match shape {
        Shape::Block(block) => propose_block(block, prior, config),
        Shape::Object(_) if config.is_null() || !config.is_known() => config.clone(),
        Shape::Object(object) => Value::object(propose_attributes(&object.attributes, prior, config)),
    }
}

/// Elements correspond by index.
fn propose_list(shape: Shape<'_>, prior: &Value, config: &Value) -> Value {
    if config.elements().is_empty() {
        return config.clone();
    }
    let unknown = element_of_unknown(prior, config);
    let element = |(i, config): (usize, &Value)| match prior.at(i).or(unknown.as_ref()) {
        Some(prior) => propose_one(shape, prior, config),
        None => config.clone(),
    };
    let elements: Vec<Value> = config.elements().iter().enumerate().map(element).collect();
    match config.ty() {
        Type::List(ty) => Value::list((**ty).clone(), elements),
        _ => Value::tuple(elements),
    }
}

/// Elements correspond by key. The reference takes them as configured where the prior map is unknown.
fn propose_map(shape: Shape<'_>, prior: &Value, config: &Value) -> Value {
    if config.entries().is_empty() {
        return config.clone();
    }
    let element = |(key, config): (&Arc<str>, &Value)| {
        let value = match prior.get(key) {
            Some(prior) => propose_one(shape, prior, config),
            None => config.clone(),
        };
        (key.clone(), value)
    };
    let entries: Vec<(Arc<str>, Value)> = config.entries().iter().map(element).collect();
    match config.ty() {
        Type::Map(ty) => Value::map((**ty).clone(), entries),
        _ => Value::object(entries),
    }
}

/// Elements have no identity: one corresponds to a prior element from which it differs only in what is computed.
fn propose_set(shape: Shape<'_>, prior: &Value, config: &Value) -> Value {
    let Type::Set(ty) = config.ty() else { return config.clone() };
    if config.elements().is_empty() {
        return config.clone();
    }
    // Only those are compared whose configured attributes are the same.
    let names = shape.configured_names();
    let mut candidates: FxHashMap<String, Vec<&Value>> = FxHashMap::default();
    for prior in prior.elements() {
        candidates.entry(attributes_key(prior, &names)).or_default().push(prior);
    }
    let mut elements = Vec::with_capacity(config.elements().len());
    for config in config.elements() {
        let mut prior = Value::null((**ty).clone());
        if let Some(candidates) = candidates.get_mut(&attributes_key(config, &names))
            && let Some(found) = candidates.iter().position(|prior| could_come_from(shape, prior, config))
        {
            prior = candidates.remove(found).clone();
        }
        elements.push(propose_one(shape, &prior, config));
    }
    Value::set((**ty).clone(), elements)
}

fn element_of_unknown(prior: &Value, config: &Value) -> Option<Value> {
    if prior.is_known() {
        return None;
    }
    let ty = prior.ty().element_type().or(config.ty().element_type()).cloned().unwrap_or(Type::Dynamic);
    Some(Value::unknown(ty))
}

/// True if a provider could have made `prior` of `config` by filling in computed attributes alone.
fn could_come_from(shape: Shape<'_>, prior: &Value, config: &Value) -> bool {
    let walked = prior.walk(&mut |path, prior| {
        let Some(config) = path.apply(config) else { return Err(()) };
        if config == prior {
            return Ok(false);
        }
        if config.ty().is_set() {
            return Err(());
        }
        match shape.attribute_at(path) {
            None => Ok(true),
            Some(attribute) if attribute.nested().is_some() => Ok(true),
            Some(attribute) if attribute.computed && config.is_null() => Ok(false),
            Some(_) => Err(()),
        }
    });
    walked.is_ok()
}

/// True if the value of an optional attribute holds something that is not computed, and so was configured.
fn optional_not_computable(attribute: &Attribute, value: &Value) -> bool {
    let Some(object) = attribute.nested().filter(|_| attribute.optional) else { return false };
    let walked = value.walk(&mut |path, value| {
        if value.is_null() {
            return Ok(true);
        }
        match Shape::Object(object).attribute_at(path) {
            Some(inner) if !inner.computed => Err(()),
            _ => Ok(true),
        }
    });
    walked.is_err()
}

#[cfg(test)]
mod tests {
    use terrane_protocol::schema::AttributeShape;

    use super::*;

    fn attribute(optional: bool, computed: bool) -> Attribute {
        Attribute { optional, computed, ..Attribute::new(Type::String) }
    }

    fn schema() -> Block {
        let attributes =
            [("id", attribute(false, true)), ("name", attribute(true, false)), ("zone", attribute(true, true))];
        Block { attributes: attributes.map(|(n, a)| (Arc::from(n), a)).into(), ..Block::default() }
    }

    fn object(id: Option<&str>, name: Option<&str>, zone: Option<&str>) -> Value {
        let text = |v: Option<&str>| v.map_or(Value::null(Type::String), Value::string);
        Value::object([("id", text(id)), ("name", text(name)), ("zone", text(zone))])
    }

    #[test]
    fn computed_values_survive_and_configured_ones_win() {
        let cases = [
            (
                object(Some("1"), Some("a"), Some("x")),
                object(None, Some("b"), None),
                object(Some("1"), Some("b"), Some("x")),
            ),
            (
                object(Some("1"), Some("a"), Some("x")),
                object(None, None, Some("y")),
                object(Some("1"), None, Some("y")),
            ),
            (Value::null(schema().implied_type()), object(None, Some("b"), None), object(None, Some("b"), None)),
        ];
        for (prior, config, expected) in cases {
            assert_eq!(proposed_new(&schema(), &prior, &config), expected, "{prior:?} {config:?}");
        }
    }

    #[test]
    fn set_elements_correspond_by_what_is_configured() {
        let nested = NestedBlock { block: schema(), nesting: Nesting::Set, min_items: 0, max_items: 0 };
        let block = Block { blocks: [(Arc::from("b"), nested)].into(), ..Block::default() };
        let set = |elements: Vec<Value>| Value::object([("b", Value::set(schema().implied_type(), elements))]);
        let prior = set(vec![object(Some("1"), Some("a"), Some("x")), object(Some("2"), Some("b"), Some("y"))]);
        let config = set(vec![object(None, Some("b"), None), object(None, Some("c"), None)]);
        let expected = set(vec![object(Some("2"), Some("b"), Some("y")), object(None, Some("c"), None)]);
        assert_eq!(proposed_new(&block, &prior, &config), expected);
    }

    /// Observed on the reference: an object that is not computed counts, even if all in it is.
    #[test]
    fn a_computed_object_with_configured_parts_is_not_kept() {
        let nested = |name: &str, inner: Attribute, nesting, computed| {
            let shape = ObjectShape { attributes: [(Arc::from(name), inner)].into(), nesting };
            Attribute { shape: AttributeShape::Nested(shape), ..attribute(true, computed) }
        };
        for (object_computed, kept) in [(true, true), (false, false)] {
            let object = nested("id", attribute(false, true), Nesting::Single, object_computed);
            let attribute = nested("o", object, Nesting::List, true);
            let ty = attribute.implied_type();
            let block = Block { attributes: [("n".into(), attribute)].into(), ..Block::default() };
            let element = Value::object([("o", Value::object([("id", Value::string("1"))]))]);
            let of = |v: Value| Value::object([("n", v)]);
            let prior = of(Value::list(element.ty().clone(), vec![element]));
            let config = of(Value::null(ty));
            assert_eq!(proposed_new(&block, &prior, &config), if kept { prior } else { config }, "{object_computed}");
        }
    }

    #[test]
    fn a_computed_block_type_without_blocks_is_null() {
        let inner = |computed| Block { computed, ..schema() };
        let ty = schema().implied_type();
        let nested = |block, nesting| (Arc::from("b"), NestedBlock { block, nesting, min_items: 0, max_items: 0 });
        let element = || object(None, Some("a"), None);
        let of = |value: Value| Value::object([("b", value)]);
        let cases = [
            (true, Nesting::List, Value::list(ty.clone(), vec![]), Value::null(Type::list(ty.clone()))),
            (true, Nesting::Set, Value::set(ty.clone(), vec![]), Value::null(Type::set(ty.clone()))),
            (false, Nesting::List, Value::list(ty.clone(), vec![]), Value::list(ty.clone(), vec![])),
            (true, Nesting::List, Value::list(ty.clone(), vec![element()]), Value::list(ty.clone(), vec![element()])),
            (true, Nesting::Single, Value::null(ty.clone()), Value::null(ty.clone())),
        ];
        for (computed, nesting, config, expected) in cases {
            let block = Block { blocks: [nested(inner(computed), nesting)].into(), ..Block::default() };
            assert_eq!(without_empty_computed_blocks(&block, &of(config)), of(expected), "{computed} {nesting:?}");
        }
    }

    #[test]
    fn a_deferred_data_source_has_unknown_computed_attributes() {
        let planned = planned_data_object(&schema(), &object(None, Some("a"), None));
        assert!(!planned.get("id").unwrap().is_known());
        assert!(!planned.get("zone").unwrap().is_known());
        assert_eq!(planned.get("name").unwrap(), &Value::string("a"));
        // Observed on the reference: what is computed in the elements of maps stays null, in those of lists it does not.
        for (nesting, known) in [(Nesting::Map, true), (Nesting::List, false)] {
            let nested = NestedBlock { block: schema(), nesting, min_items: 0, max_items: 0 };
            let block = Block { blocks: [(Arc::from("b"), nested)].into(), ..Block::default() };
            let element = object(None, Some("a"), None);
            let ty = element.ty().clone();
            let config = match nesting {
                Nesting::Map => Value::map(ty, [("k", element)]),
                _ => Value::list(ty, vec![element]),
            };
            let planned = planned_data_object(&block, &Value::object([("b", config)]));
            assert_eq!(planned.is_wholly_known(), known);
        }
    }
}
