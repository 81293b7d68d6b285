//! Comparing two values by the schema of a block or by type.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::plan::Action;
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting, ObjectShape};
use terrane_value::{Type, Value};

use super::change::{Change, Comparable, is_nil, join};
use super::dynamic::dynamic;
use super::parts::{elements, keys, sensitive};
use super::slices::{pair_indices, pair_lists, pair_sets, share_a_line};
use super::{Blocks, Diff, Kind};
use crate::opentofu;

pub(super) fn block(schema: &Block, change: Change<'_>) -> Diff {
    let again = |change| block(schema, change);
    if let Some(diff) = sensitive(&change, again) {
        return match diff.kind {
            Kind::Sensitive { inner, before, after } => {
                Diff { kind: Kind::SensitiveBlock { before, after, inner }, ..diff }
            }
            _ => diff,
        };
    }
    let parts = || schema.attributes.keys().cloned().collect();
    unknown(&change, parts, again).unwrap_or_else(|| known_block(schema, change))
}

fn known_block(schema: &Block, mut change: Change<'_>) -> Diff {
    change.strict_strings |= exceeds_older_sdk(schema);
    let mut action = change.collection_action();
    let mut attributes = BTreeMap::new();
    for (name, attribute) in schema.attributes.iter().filter(|(_, a)| !a.write_only) {
        let child = change.attribute(name, &attribute.implied_type());
        let both_nil = child.both_nil();
        let diff = self::attribute(attribute, child);
        if diff.action == Action::NoOp && both_nil {
            continue;
        }
        action = join(action, diff.action);
        attributes.insert(name.clone(), diff);
    }
    let mut blocks = BTreeMap::new();
    for (name, nested) in &schema.blocks {
        let child = change.entry(name);
        let known_nil = child.both_nil() && child.after.is_known();
        let (found, found_action) = nested_blocks(nested, child);
        if found_action == Action::NoOp && known_nil {
            continue;
        }
        action = join(action, found_action);
        blocks.insert(name.clone(), found);
    }
    for (name, _) in schema.attributes.iter().filter(|(_, a)| a.write_only) {
        attributes.insert(name.clone(), write_only(&change, action));
    }
    Diff { kind: Kind::Block { attributes, blocks }, action, replace: change.replaces() }
}

/// Whether a schema has something that the older SDK for providers cannot describe. That SDK cannot distinguish null from
/// an empty string, so neither does the text of a plan.
fn exceeds_older_sdk(schema: &Block) -> bool {
    let deep = |element: &Type| element_type(element).is_some_and(|inner| element_type(inner).is_some());
    let new_type = |ty: &Type| {
        ty.has_dynamic() || matches!(ty, Type::Tuple(_) | Type::Object(_)) || element_type(ty).is_some_and(deep)
    };
    let new_block = |nested: &NestedBlock| matches!(nested.nesting, Nesting::Map | Nesting::Group);
    schema.blocks.values().any(new_block)
        || schema.attributes.values().any(|a| a.nested().is_some() || new_type(&a.implied_type()))
}

fn element_type(ty: &Type) -> Option<&Type> {
    match ty {
        Type::List(element) | Type::Set(element) | Type::Map(element) => Some(element),
        _ => None,
    }
}

/// There is never a value to compare. It is shown like the whole that it belongs to, unless that is updated.
fn write_only(change: &Change<'_>, whole: Action) -> Diff {
    let (before, after) = change.sensitive();
    let action = if whole == Action::Update { Action::NoOp } else { whole };
    Diff { kind: Kind::WriteOnly { sensitive: before || after }, action, replace: change.replaces() }
}

fn nested_blocks(schema: &NestedBlock, change: Change<'_>) -> (Blocks, Action) {
    let (before_sensitive, after_sensitive) = change.sensitive();
    let (replace, unknown) = (change.replaces(), !change.after.is_known());
    if unknown && opentofu::joins_unknown_blocks(change.dialect) {
        let diff = unknown_block(&schema.block, &change);
        let action = diff.action;
        let blocks = vec![(None, diff)];
        return (Blocks { blocks, replace, before_sensitive, after_sensitive, unknown: false }, action);
    }
    let mut found = Vec::new();
    let mut action = change.collection_action();
    let group = Change { before: change.before.unmark().0, after: change.after.unmark().0, ..change.clone() };
    match schema.nesting {
        Nesting::Single | Nesting::Group => {
            let diff = block(&schema.block, change);
            action = diff.action;
            found.push((None, diff));
        }
        Nesting::Map => {
            for key in present_keys(&group) {
                found.push((Some(key.clone()), block(&schema.block, group.entry(&key))));
            }
        }
        Nesting::List => {
            for (b, a) in pair_indices(group.before.len(), group.after.len()) {
                found.push((None, block(&schema.block, group.element(b, a, true))));
            }
        }
        Nesting::Set => {
            for (b, a) in pair_sets(&group) {
                found.push((None, block(&schema.block, group.element(b, a, false))));
            }
        }
    }
    let single = matches!(schema.nesting, Nesting::Single | Nesting::Group);
    if !single {
        action = found.iter().fold(action, |action, (_, diff)| join(action, diff.action));
    }
    let unknown = unknown && !single;
    (Blocks { blocks: found, replace, before_sensitive, after_sensitive, unknown }, action)
}

/// Nested blocks of any number that become unknown, as one block.
fn unknown_block(schema: &Block, change: &Change<'_>) -> Diff {
    let bare = Change { before: change.before.unmark().0, after: change.after.unmark().0, ..change.clone() };
    let parts = || schema.attributes.keys().cloned().collect();
    let again = |change| block(schema, change);
    unknown(&bare, parts, again).unwrap_or_else(|| known_block(schema, bare.clone()))
}

/// The keys of entries that are known as a whole.
fn present_keys(change: &Change<'_>) -> BTreeSet<Arc<str>> {
    let after = change.after.entries().iter().filter(|(_, value)| value.is_known());
    change.before.entries().keys().chain(after.map(|(key, _)| key)).cloned().collect()
}

fn attribute(schema: &Attribute, change: Change<'_>) -> Diff {
    match schema.nested() {
        Some(object) => nested_attribute(object, object.nesting, change),
        None => by_type(&schema.implied_type(), change),
    }
}

fn nested_attribute(schema: &ObjectShape, nesting: Nesting, change: Change<'_>) -> Diff {
    let again = |change| nested_attribute(schema, nesting, change);
    let parts = || schema.attributes.keys().cloned().collect();
    sensitive(&change, again)
        .or_else(|| unknown(&change, parts, again))
        .unwrap_or_else(|| known_nested(schema, nesting, &change))
}

fn known_nested(schema: &ObjectShape, nesting: Nesting, change: &Change<'_>) -> Diff {
    let one = |change: Change<'_>| nested_attribute(schema, Nesting::Single, change);
    match nesting {
        Nesting::Single | Nesting::Group => nested_object(schema, change),
        Nesting::List => {
            let pairs = pair_indices(change.before.len(), change.after.len());
            let elements = pairs.into_iter().map(|(b, a)| one(change.element(b, a, true))).collect();
            collection(change, elements, |elements| Kind::List { elements, context: false })
        }
        Nesting::Set => {
            let elements = elements(change, pair_sets(change), one);
            collection(change, elements, |elements| Kind::Set { elements, nested: true })
        }
        Nesting::Map => mapping(change, present_keys(change), one, true),
    }
}

fn nested_object(schema: &ObjectShape, change: &Change<'_>) -> Diff {
    let shown = schema.attributes.iter().filter(|(_, a)| !a.write_only);
    let parts = shown.map(|(name, a)| (name.clone(), a.implied_type()));
    let mut diff = object(change, parts, true, |name, child| match schema.attributes.get(name) {
        Some(schema) => attribute(schema, child),
        None => dynamic(child),
    });
    if let Kind::Object { attributes, .. } = &mut diff.kind {
        for (name, a) in schema.attributes.iter().filter(|(_, a)| a.write_only) {
            let child = change.attribute(name, &a.implied_type());
            attributes.insert(name.clone(), write_only(&child, diff.action));
        }
    }
    diff
}

/// A value of an output. What is sensitive or becomes unknown is compared as an attribute of dynamic type is.
pub(super) fn output(change: Change<'_>) -> Diff {
    let again = |change| by_type(&Type::Dynamic, change);
    sensitive(&change, again).or_else(|| unknown(&change, Vec::new, again)).unwrap_or_else(|| dynamic(change))
}

/// Compares by the type that a schema or a stored output gives.
pub(super) fn by_type(ty: &Type, mut change: Change<'_>) -> Diff {
    if !change.strict_strings {
        change.before = empty_as_null(change.before);
        change.after = empty_as_null(change.after);
    }
    let again = |change| by_type(ty, change);
    sensitive(&change, again)
        .or_else(|| unknown(&change, Vec::new, again))
        .unwrap_or_else(|| known_by_type(ty, &change))
}

fn empty_as_null(value: Value) -> Value {
    if value.as_str() == Some("") { Value::null(Type::String).mark(value.marks()) } else { value }
}

fn known_by_type(ty: &Type, change: &Change<'_>) -> Diff {
    let list = |elements| Kind::List { elements, context: true };
    match ty {
        Type::Dynamic => dynamic(change.clone()),
        Type::Bool | Type::Number | Type::String => {
            let (before, after) = (change.before.clone(), change.after.clone());
            let kind = Kind::Primitive { before, after, text: *ty == Type::String };
            Diff { kind, action: change.action(), replace: change.replaces() }
        }
        Type::List(element) => {
            let pairs = pair_lists(
                change.dialect,
                change.before.elements(),
                change.after.elements(),
                Comparable,
                |before, after| element.is_object() || share_a_line(change.dialect, before, after),
            );
            collection(change, elements(change, pairs, |c| by_type(element, c)), list)
        }
        Type::Set(element) => {
            let elements = elements(change, pair_sets(change), |c| by_type(element, c));
            collection(change, elements, |elements| Kind::Set { elements, nested: false })
        }
        Type::Map(element) => mapping(change, keys(change), |c| by_type(element, c), false),
        Type::Tuple(types) => {
            let parts = types.iter().enumerate();
            let elements = parts.map(|(i, ty)| by_type(ty, change.element(Some(i), Some(i), true))).collect();
            collection(change, elements, list)
        }
        Type::Object(shape) => {
            let parts = shape.attributes.iter().map(|(n, t)| (n.clone(), t.clone()));
            object(change, parts, false, |name, child| {
                by_type(shape.attributes.get(name).unwrap_or(&Type::Dynamic), child)
            })
        }
    }
}

fn collection(change: &Change<'_>, elements: Vec<Diff>, kind: impl FnOnce(Vec<Diff>) -> Kind) -> Diff {
    let action = elements.iter().fold(change.collection_action(), |action, e| join(action, e.action));
    Diff { kind: kind(elements), action, replace: change.replaces() }
}

fn mapping<'p>(
    change: &Change<'p>,
    keys: BTreeSet<Arc<str>>,
    mut one: impl FnMut(Change<'p>) -> Diff,
    nested: bool,
) -> Diff {
    let elements: BTreeMap<Arc<str>, Diff> =
        keys.into_iter().map(|key| (key.clone(), one(change.entry(&key)))).collect();
    let action = elements.values().fold(change.collection_action(), |action, e| join(action, e.action));
    Diff { kind: Kind::Map { elements, nested }, action, replace: change.replaces() }
}

/// Attributes that are null on both sides are left out, not even counted.
fn object<'p>(
    change: &Change<'p>,
    parts: impl Iterator<Item = (Arc<str>, Type)>,
    nested: bool,
    mut one: impl FnMut(&str, Change<'p>) -> Diff,
) -> Diff {
    let mut action = change.collection_action();
    let mut attributes = BTreeMap::new();
    for (name, ty) in parts {
        let child = change.attribute(&name, &ty);
        let both_nil = child.both_nil();
        let diff = one(&name, child);
        if diff.action == Action::NoOp && both_nil {
            continue;
        }
        action = join(action, diff.action);
        attributes.insert(name, diff);
    }
    Diff { kind: Kind::Object { attributes, nested }, action, replace: change.replaces() }
}

/// The difference of a change to something unknown. `parts`: the attributes that are then unknown too; `again` compares
/// what was before with nothing.
fn unknown<'p>(
    change: &Change<'p>,
    parts: impl FnOnce() -> Vec<Arc<str>>,
    again: impl FnOnce(Change<'p>) -> Diff,
) -> Option<Diff> {
    if change.after.is_known() {
        return None;
    }
    let (action, replace) = (change.action(), change.replaces());
    if is_nil(&change.before) {
        return Some(Diff { kind: Kind::Unknown(None), action, replace });
    }
    let before = again(Change { unknown_parts: parts(), ..change.only_before() });
    Some(Diff { kind: Kind::Unknown(Some(Box::new(before))), action, replace })
}
