//! Walks the attributes of a planned object beside its configuration and its prior state.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_protocol::schema::Nesting;
use terrane_value::{Path, PathStep, Type, Value};

use super::attribute::Attribute;
use super::schema::{Block, NestedBlock, Shape};

/// The same place in the configuration and the prior state.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    pub config: &'a Value,
    pub prior: &'a Value,
    /// False inside of an object that is not configured: all of it comes from the provider.
    pub in_configured_object: bool,
}

impl<'a> Beside<'a> {
    pub fn of(config: &'a Value, prior: &'a Value) -> Beside<'a> {
        Beside { config, prior, in_configured_object: true }
    }
}

/// An attribute or a nested block.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Attribute(&'a Attribute),
    Block(&'a NestedBlock),
}

impl Item<'_> {
    fn name(&self) -> &str {
        match self {
            Item::Attribute(attribute) => &attribute.name,
            Item::Block(block) => &block.name,
        }
    }

    fn ty(&self) -> Type {
        match self {
            Item::Attribute(attribute) => attribute.ty(),
            Item::Block(block) => Block { blocks: vec![(*block).clone()], ..Block::default() }
                .ty()
                .attribute(&block.name)
                .cloned()
                .unwrap_or(Type::Dynamic),
        }
    }

    fn nested(&self) -> Option<(Nesting, &Block)> {
        match self {
            Item::Attribute(Attribute { shape: Shape::Nested(nesting, block), .. }) => Some((*nesting, block)),
            Item::Attribute(_) => None,
            Item::Block(nested) => Some((nested.nesting, &nested.block)),
        }
    }
}

/// Replaces the value of an item; called for an item before what is nested in it.
pub(super) type Rewrite<'f> = dyn FnMut(Item<'_>, &Path, Beside<'_>, Value) -> Value + 'f;

/// The planned object with each attribute and block replaced by what `rewrite` returns for it.
pub(super) fn rewrite_object(
    block: &Block,
    path: &mut Path,
    beside: Beside<'_>,
    planned: &Value,
    rewrite: &mut Rewrite<'_>,
) -> Value {
    if planned.is_null() || !planned.is_known() {
        return planned.clone();
    }
    let mut values = planned.entries().to_map();
    let attributes = block.attributes.iter().map(Item::Attribute);
    for item in attributes.chain(block.blocks.iter().map(Item::Block)) {
        let Some(value) = values.get(item.name()).cloned() else { continue };
        let null = Value::null(item.ty());
        let here = Beside {
            config: beside.config.get(item.name()).unwrap_or(&null),
            prior: beside.prior.get(item.name()).unwrap_or(&null),
            in_configured_object: !beside.config.is_null(),
        };
        path.push(PathStep::Attr(Arc::from(item.name())));
        let mut value = rewrite(item, path, here, value);
        if let Some((nesting, block)) = item.nested() {
            value = rewrite_nested(nesting, block, path, here, &value, rewrite);
        }
        path.pop();
        values.insert(Arc::from(item.name()), value);
    }
    Value::object(values)
}

fn rewrite_nested(
    nesting: Nesting,
    block: &Block,
    path: &mut Path,
    beside: Beside<'_>,
    planned: &Value,
    rewrite: &mut Rewrite<'_>,
) -> Value {
    if planned.is_null() || !planned.is_known() {
        return planned.clone();
    }
    let null = Value::null_dynamic();
    let mut element = |step: Option<PathStep>, config: &Value, prior: &Value, value: &Value| {
        let deeper = step.is_some();
        if let Some(step) = step {
            path.push(step);
        }
        let value = rewrite_object(block, path, Beside::of(config, prior), value, rewrite);
        if deeper {
            path.pop();
        }
        value
    };
    match nesting {
        Nesting::Single | Nesting::Group => element(None, beside.config, beside.prior, planned),
        Nesting::Map => {
            let rewritten = planned.entries().iter().map(|(key, value)| {
                let step = Some(PathStep::Index(Value::string(key)));
                let config = beside.config.entries().get(key).unwrap_or(&null);
                let prior = beside.prior.entries().get(key).unwrap_or(&null);
                (key.clone(), element(step, config, prior, value))
            });
            let rewritten: BTreeMap<Arc<str>, Value> = rewritten.collect();
            match planned.ty() {
                Type::Map(ty) => Value::map((**ty).clone(), rewritten),
                _ => Value::object(rewritten),
            }
        }
        Nesting::List => {
            let rewritten = planned.elements().iter().enumerate().map(|(index, value)| {
                let step = Some(PathStep::Index(Value::int(i64::try_from(index).unwrap_or(i64::MAX))));
                element(step, beside.config.at(index).unwrap_or(&null), beside.prior.at(index).unwrap_or(&null), value)
            });
            let rewritten: Vec<Value> = rewritten.collect();
            match planned.ty() {
                Type::List(ty) => Value::list((**ty).clone(), rewritten),
                _ => Value::tuple(rewritten),
            }
        }
        Nesting::Set => {
            let mut configured = Pairing::new(beside.config);
            let mut before = Pairing::new(beside.prior);
            let rewritten = planned.elements().iter().map(|value| {
                let config = configured.take(value).unwrap_or(&null);
                let prior = before.take(if config.is_null() { value } else { config }).unwrap_or(&null);
                element(Some(PathStep::Index(value.clone())), config, prior, value)
            });
            let rewritten: Vec<Value> = rewritten.collect();
            let ty = planned.ty().element_type().cloned().unwrap_or(Type::Dynamic);
            Value::set(ty, rewritten)
        }
    }
}

/// Elements of a set that belong to those of another: elements have no keys, so the parts that both of them know decide.
struct Pairing<'a> {
    left: Vec<&'a Value>,
}

impl<'a> Pairing<'a> {
    fn new(set: &'a Value) -> Pairing<'a> {
        Pairing { left: set.elements().iter().collect() }
    }

    /// The first element that agrees, which is then taken.
    fn take(&mut self, element: &Value) -> Option<&'a Value> {
        let exact = self.left.iter().position(|other| *other == element);
        let index = exact.or_else(|| self.left.iter().position(|other| agree(other, element)))?;
        Some(self.left.remove(index))
    }
}

/// True if two values are equal where both are known and set.
fn agree(one: &Value, other: &Value) -> bool {
    if one.is_null() || other.is_null() || !one.is_known() || !other.is_known() {
        return true;
    }
    match one.ty() {
        Type::Object(_) => one.entries().iter().all(|(name, value)| other.get(name).is_none_or(|o| agree(value, o))),
        Type::List(_) | Type::Tuple(_) | Type::Set(_) => {
            one.len() == other.len() && one.elements().iter().zip(other.elements()).all(|(a, b)| agree(a, b))
        }
        Type::Map(_) => {
            let same = |(key, value): (&Arc<str>, &Value)| other.entries().get(key).is_some_and(|o| agree(value, o));
            one.len() == other.len() && one.entries().iter().all(same)
        }
        _ => one == other,
    }
}
