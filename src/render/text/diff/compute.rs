//! Comparing two values: by a block's schema, by type, or by what they happen to be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::lang::value::{Type, Value};
use crate::model::plan::Action;
use crate::model::schema::{Attribute, Block, NestedBlock, Nesting, ObjectShape};

use super::change::{Change, join};
use super::slices::{Pairs, pair_lists, pair_sets};
use super::{Blocks, Diff, Kind};

pub(super) fn block(schema: &Block, change: Change<'_>) -> Diff {
    let compute = |change: &Change<'_>| known_block(schema, change);
    if let Some(diff) = sensitive(&change, &compute).or_else(|| unknown(&change, &compute)) {
        return match diff.kind {
            Kind::Sensitive { inner, before, after } => {
                Diff { kind: Kind::SensitiveBlock { before, after, inner: inner.action }, ..diff }
            }
            _ => diff,
        };
    }
    known_block(schema, &change)
}

fn known_block(schema: &Block, change: &Change<'_>) -> Diff {
    let mut action = change.collection_action();
    let mut attributes = BTreeMap::new();
    for (name, attribute) in &schema.attributes {
        if attribute.write_only {
            // There is never a value to compare; that it may be written is said where an object is made.
            let made = match change.collection_action() {
                Action::Create => Action::Create,
                Action::Delete => Action::Delete,
                _ => Action::NoOp,
            };
            let diff = Diff { kind: Kind::WriteOnly, action: made, replace: change.replaces() };
            attributes.insert(name.clone(), diff);
            continue;
        }
        let mut child = change.attribute(name, &attribute.implied_type());
        // The older SDK cannot tell null from empty strings; neither does the reference in blocks.
        child.before = empty_as_null(child.before);
        child.after = empty_as_null(child.after);
        let both_null = child.both_null();
        let diff = self::attribute(attribute, child);
        if diff.action == Action::NoOp && both_null {
            continue;
        }
        action = join(action, diff.action);
        attributes.insert(name.clone(), diff);
    }
    let mut blocks = BTreeMap::new();
    for (name, nested) in &schema.blocks {
        let child = change.attribute(name, &nested.implied_type());
        let (found, found_action, both_null) = nested_blocks(nested, child);
        if found_action == Action::NoOp && both_null {
            continue;
        }
        action = join(action, found_action);
        blocks.insert(name.clone(), found);
    }
    Diff { kind: Kind::Block { attributes, blocks }, action, replace: change.replaces() }
}

fn empty_as_null(value: Value) -> Value {
    if value.as_str() == Some("") { Value::null(Type::String).mark(value.marks()) } else { value }
}

fn nested_blocks(schema: &NestedBlock, change: Change<'_>) -> (Blocks, Action, bool) {
    let (before_sensitive, after_sensitive) = change.sensitive();
    let replace = change.replaces();
    let both_null = change.both_null();
    let inner = change.without_sensitive();
    let mut action = inner.collection_action();
    let mut found = Vec::new();
    match schema.nesting {
        Nesting::Single | Nesting::Group => {
            let diff = block(&schema.block, inner);
            action = diff.action;
            if !(action == Action::NoOp && both_null) {
                found.push((None, diff));
            }
        }
        _ if !inner.after.is_known() => {
            // The number of blocks is not known yet; one stands for them all.
            let before = inner.only_before();
            let diff = if before.before.is_null() {
                Diff { kind: Kind::Unknown(None), action: Action::Create, replace }
            } else {
                let inner = Diff {
                    kind: Kind::Block { attributes: BTreeMap::new(), blocks: BTreeMap::new() },
                    action: Action::Delete,
                    replace,
                };
                Diff { kind: Kind::Unknown(Some(Box::new(inner))), action: Action::Update, replace }
            };
            action = diff.action;
            found.push((None, diff));
        }
        Nesting::Map => {
            for key in keys(&inner) {
                let diff = block(&schema.block, inner.entry(&key));
                action = join(action, diff.action);
                found.push((Some(key), diff));
            }
        }
        Nesting::List | Nesting::Set => {
            let pairs = match schema.nesting {
                Nesting::Set => pair_sets(inner.before.elements(), inner.after.elements()),
                _ => by_index(inner.before.len(), inner.after.len()),
            };
            for (b, a) in pairs {
                let diff = block(&schema.block, inner.element(b, a));
                action = join(action, diff.action);
                found.push((None, diff));
            }
        }
    }
    (Blocks { blocks: found, replace, before_sensitive, after_sensitive }, action, both_null)
}

fn by_index(before: usize, after: usize) -> Pairs {
    (0..before.max(after)).map(|i| ((i < before).then_some(i), (i < after).then_some(i))).collect()
}

fn keys(change: &Change<'_>) -> BTreeSet<Arc<str>> {
    change.before.entries().keys().chain(change.after.entries().keys()).cloned().collect()
}

fn attribute(schema: &Attribute, change: Change<'_>) -> Diff {
    match schema.nested() {
        Some(object) => nested_attribute(object, change),
        None => by_type(&schema.implied_type(), change),
    }
}

fn nested_attribute(schema: &ObjectShape, change: Change<'_>) -> Diff {
    let compute = |change: &Change<'_>| known_nested(schema, change);
    sensitive(&change, &compute).or_else(|| unknown(&change, &compute)).unwrap_or_else(|| known_nested(schema, &change))
}

fn known_nested(schema: &ObjectShape, change: &Change<'_>) -> Diff {
    let one = |change: Change<'_>| {
        let compute = |change: &Change<'_>| nested_object(schema, change);
        sensitive(&change, &compute)
            .or_else(|| unknown(&change, &compute))
            .unwrap_or_else(|| nested_object(schema, &change))
    };
    match schema.nesting {
        Nesting::Single | Nesting::Group => nested_object(schema, change),
        Nesting::List => {
            let pairs = by_index(change.before.len(), change.after.len());
            sequence(change, pairs, one, |elements| Kind::List { elements, context: false })
        }
        Nesting::Set => {
            let pairs = pair_sets(change.before.elements(), change.after.elements());
            sequence(change, pairs, one, Kind::Set)
        }
        Nesting::Map => mapping(change, one, false),
    }
}

fn nested_object(schema: &ObjectShape, change: &Change<'_>) -> Diff {
    let parts = schema.attributes.iter().map(|(name, a)| (name.clone(), a.implied_type()));
    object(change, parts, true, |name, child| match schema.attributes.get(name) {
        Some(schema) => attribute(schema, child),
        None => dynamic(child),
    })
}

fn by_type(ty: &Type, change: Change<'_>) -> Diff {
    if ty.is_dynamic() {
        // The reference does not say of these that they force replacement.
        return dynamic(Change { replace: Vec::new(), ..change });
    }
    let compute = |change: &Change<'_>| known_by_type(ty, change);
    sensitive(&change, &compute).or_else(|| unknown(&change, &compute)).unwrap_or_else(|| known_by_type(ty, &change))
}

fn known_by_type(ty: &Type, change: &Change<'_>) -> Diff {
    match ty {
        Type::Dynamic => dynamic(change.clone()),
        Type::Bool | Type::Number | Type::String => primitive(change),
        Type::List(element) => {
            let pairs = pair_lists(change.before.elements(), change.after.elements(), |_| element.is_object());
            sequence(change, pairs, |c| by_type(element, c), |elements| Kind::List { elements, context: true })
        }
        Type::Set(element) => {
            let pairs = pair_sets(change.before.elements(), change.after.elements());
            sequence(change, pairs, |c| by_type(element, c), Kind::Set)
        }
        Type::Map(element) => mapping(change, |c| by_type(element, c), true),
        Type::Tuple(types) => {
            let pairs = by_index(types.len(), types.len());
            let mut index = 0;
            let one = |c: Change<'_>| {
                index += 1;
                by_type(&types[index - 1], c)
            };
            sequence(change, pairs, one, |elements| Kind::List { elements, context: true })
        }
        Type::Object(shape) => {
            let parts = shape.attributes.iter().map(|(n, t)| (n.clone(), t.clone()));
            object(change, parts, false, |name, child| {
                by_type(shape.attributes.get(name).unwrap_or(&Type::Dynamic), child)
            })
        }
    }
}

/// Compares by what the values are: the way of outputs, dynamic attributes and JSON texts.
pub(super) fn dynamic(change: Change<'_>) -> Diff {
    let compute = |change: &Change<'_>| known_dynamic(change);
    sensitive(&change, &compute).or_else(|| unknown(&change, &compute)).unwrap_or_else(|| known_dynamic(&change))
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Form {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

fn form(value: &Value) -> Form {
    match value.ty() {
        _ if value.is_null() || !value.is_known() => Form::Null,
        Type::Bool => Form::Bool,
        Type::Number => Form::Number,
        Type::String => Form::String,
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => Form::Array,
        _ => Form::Object,
    }
}

fn known_dynamic(change: &Change<'_>) -> Diff {
    let (before, after) = (form(&change.before), form(&change.after));
    let deleted = after == Form::Null && !change.after_explicit;
    let created = before == Form::Null && !change.before_explicit;
    if before != after && !created && !deleted {
        let old = dynamic_of(before, &change.only_before());
        let new = dynamic_of(after, &change.only_after());
        let kind = Kind::TypeChange(Box::new(old), Box::new(new));
        return Diff { kind, action: Action::Update, replace: change.replaces() };
    }
    dynamic_of(if before == Form::Null { after } else { before }, change)
}

fn dynamic_of(form: Form, change: &Change<'_>) -> Diff {
    match form {
        Form::Array => {
            let is_object = |v: &Value| self::form(v) == Form::Object;
            let (before, after) = (change.before.elements(), change.after.elements());
            let pairs = match before.len() == after.len() {
                true => by_index(before.len(), after.len()),
                false => pair_lists(before, after, is_object),
            };
            sequence(change, pairs, dynamic, |elements| Kind::List { elements, context: true })
        }
        Form::Object => {
            let mut action = change.collection_action();
            let mut attributes = BTreeMap::new();
            for key in keys(change) {
                let diff = dynamic(change.entry(&key));
                action = join(action, diff.action);
                attributes.insert(key, diff);
            }
            Diff { kind: Kind::Object { attributes, nested: false }, action, replace: change.replaces() }
        }
        _ => primitive(change),
    }
}

fn primitive(change: &Change<'_>) -> Diff {
    let kind = Kind::Primitive { before: change.before.clone(), after: change.after.clone() };
    Diff { kind, action: change.action(), replace: change.replaces() }
}

fn sequence<'p>(
    change: &Change<'p>,
    pairs: Pairs,
    mut one: impl FnMut(Change<'p>) -> Diff,
    kind: impl FnOnce(Vec<Diff>) -> Kind,
) -> Diff {
    let elements: Vec<Diff> = pairs.into_iter().map(|(b, a)| one(change.element(b, a))).collect();
    let action = elements.iter().fold(change.collection_action(), |action, e| join(action, e.action));
    Diff { kind: kind(elements), action, replace: change.replaces() }
}

fn mapping<'p>(change: &Change<'p>, mut one: impl FnMut(Change<'p>) -> Diff, align: bool) -> Diff {
    let elements: BTreeMap<Arc<str>, Diff> =
        keys(change).into_iter().map(|key| (key.clone(), one(change.entry(&key)))).collect();
    let action = elements.values().fold(change.collection_action(), |action, e| join(action, e.action));
    Diff { kind: Kind::Map { elements, align }, action, replace: change.replaces() }
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
        let both_null = child.both_null();
        let diff = one(&name, child);
        if diff.action == Action::NoOp && both_null {
            continue;
        }
        action = join(action, diff.action);
        attributes.insert(name, diff);
    }
    Diff { kind: Kind::Object { attributes, nested }, action, replace: change.replaces() }
}

fn sensitive(change: &Change<'_>, compute: &dyn Fn(&Change<'_>) -> Diff) -> Option<Diff> {
    let (before, after) = change.sensitive();
    if !before && !after {
        return None;
    }
    let plain = change.without_sensitive();
    let inner = unknown(&plain, compute).unwrap_or_else(|| compute(&plain));
    let null_no_op = !change.has_before() && !change.has_after();
    let changed_marks = inner.action == Action::NoOp && before != after && !null_no_op;
    let action = if changed_marks { Action::Update } else { inner.action };
    let kind = Kind::Sensitive { inner: Box::new(inner), before, after };
    Some(Diff { kind, action, replace: change.replaces() })
}

fn unknown(change: &Change<'_>, compute: &dyn Fn(&Change<'_>) -> Diff) -> Option<Diff> {
    if change.after.is_known() {
        return None;
    }
    let replace = change.replaces();
    if !change.has_before() {
        return Some(Diff { kind: Kind::Unknown(None), action: Action::Create, replace });
    }
    let before = compute(&change.only_before());
    Some(Diff { kind: Kind::Unknown(Some(Box::new(before))), action: Action::Update, replace })
}
