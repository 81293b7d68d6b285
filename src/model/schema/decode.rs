//! A body of the configuration and a schema to a value.
//!
//! Knows `dynamic` blocks through the language; never knows what the value is for.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::lang::eval::dynamic::{self, BlockShape, ExpandedBlock, Iterators};
use crate::lang::eval::evaluate_attribute;
use crate::lang::eval::scope::{Bindings, Scope};
use crate::lang::syntax::ast::{Expression, Traversal};
use crate::lang::syntax::body::{Body, BodySchema};
use crate::lang::value::{Marks, Path, PathStep, Type, Value};

use super::{Attribute, Block, NestedBlock, Nesting};

impl BlockShape for Block {
    fn body_schema(&self) -> BodySchema {
        let mut schema = BodySchema::new();
        for (name, attribute) in &self.attributes {
            schema = if attribute.required { schema.required(name) } else { schema.attribute(name) };
        }
        for kind in self.blocks.iter() {
            let labels: &[&str] = if kind.1.nesting == Nesting::Map { &["key"] } else { &[] };
            schema = schema.block(kind.0, labels);
        }
        schema
    }

    fn nested(&self, kind: &str) -> Option<&dyn BlockShape> {
        self.blocks.get(kind).map(|nested| &nested.block as &dyn BlockShape)
    }
}

/// The value of a body: an object of the type that the schema implies. With errors, the parts at fault are unknown.
pub fn decode_body(body: &Body, schema: &Block, scope: &dyn Scope) -> (Value, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let value = decode(body, schema, scope, &Inherited::default(), &mut diagnostics);
    if diagnostics.has_errors() && scope.names_first() {
        let names = mistaken_names(body, schema, scope);
        if !names.is_empty() {
            return (Value::unknown(schema.implied_type()), names);
        }
    }
    (value, diagnostics)
}

/// What the scope says about the names in a body, each thing once.
#[cold]
fn mistaken_names(body: &Body, schema: &Block, scope: &dyn Scope) -> Diagnostics {
    let mut found: Vec<Diagnostic> = Vec::new();
    for (traversal, expr) in references_in_body(body, schema) {
        let said = scope.resolve(&traversal, &expr.file).diagnostics;
        for mistake in said.into_iter().filter(Diagnostic::is_error) {
            if !found.contains(&mistake) {
                found.push(mistake);
            }
        }
    }
    found.into()
}

/// The summary where a block of a kind stands once too often.
pub fn duplicate_block(kind: &str) -> String {
    format!("Duplicate {kind} block")
}

/// The references that a body makes, each with the expression that it stands in.
pub fn references_in_body(body: &Body, schema: &Block) -> Vec<(Traversal, Expression)> {
    dynamic::variables(body, schema)
}

/// What a block has from the `dynamic` blocks around it: their iterators, and marks for every written argument.
#[derive(Default)]
struct Inherited {
    iterators: Iterators,
    marks: Marks,
}

fn decode(
    body: &Body,
    schema: &Block,
    scope: &dyn Scope,
    inherited: &Inherited,
    diagnostics: &mut Diagnostics,
) -> Value {
    let iterators = &inherited.iterators;
    // An attribute may also be written as blocks where its type is a list or set of objects.
    let fixed = attributes_as_blocks(body, schema);
    let schema = fixed.as_ref().unwrap_or(schema);
    let content = diagnostics.take(dynamic::expand(body, &schema.body_schema(), scope, iterators));
    let bound = Bindings { names: iterators, outer: scope };
    let mut entries: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    for (name, attribute) in &schema.attributes {
        let ty = attribute.implied_type();
        let value = match content.attributes.get(name) {
            Some(found) => diagnostics.take(evaluate_attribute(&found.expr, name, &ty, &bound)).mark(inherited.marks),
            None => Value::null(ty),
        };
        entries.insert(name.clone(), value);
    }
    let mut by_kind: BTreeMap<&str, Vec<&ExpandedBlock>> = BTreeMap::new();
    for block in &content.blocks {
        by_kind.entry(&*block.block.kind.name).or_default().push(block);
    }
    for (kind, nested) in &schema.blocks {
        let blocks = by_kind.remove(&**kind).unwrap_or_default();
        let value = decode_nested(kind, nested, &blocks, body, (scope, inherited.marks), diagnostics);
        entries.insert(kind.clone(), value);
    }
    Value::object(entries)
}

/// Decodes the blocks of one kind into the value that their nesting makes of them.
fn decode_nested(
    kind: &str,
    schema: &NestedBlock,
    blocks: &[&ExpandedBlock],
    body: &Body,
    (scope, marks): (&dyn Scope, Marks),
    diagnostics: &mut Diagnostics,
) -> Value {
    let element = schema.block.implied_type();
    let some_unknown = blocks.iter().any(|block| block.unknown);
    let unknown_marks = blocks.iter().filter(|b| b.unknown).fold(Marks::NONE, |all, b| all | b.marks | marks);
    let mut one = |block: &&ExpandedBlock| decode_block(block, &schema.block, scope, marks, diagnostics);
    match schema.nesting {
        Nesting::Single | Nesting::Group => {
            let value = match blocks.first() {
                Some(block) => one(block),
                None if schema.nesting == Nesting::Group => empty_group(&schema.block, body, scope, diagnostics),
                None => Value::null(element),
            };
            check_single(kind, schema, blocks, body, diagnostics);
            value
        }
        Nesting::List | Nesting::Set | Nesting::Map => {
            let values: Vec<Value> = blocks.iter().map(&mut one).collect();
            let value = match schema.nesting {
                _ if some_unknown && !element.has_dynamic() => Value::unknown(schema.implied_type()),
                _ if some_unknown => Value::dynamic(),
                Nesting::List if element.has_dynamic() => Value::tuple(values),
                Nesting::List => Value::list(element, values),
                Nesting::Set => Value::set(element, values),
                _ => {
                    let entries = keyed(kind, blocks, values, diagnostics);
                    if element.has_dynamic() { Value::object(entries) } else { Value::map(element, entries) }
                }
            };
            if !some_unknown {
                check_count(kind, schema, blocks.len(), body, diagnostics);
            }
            // What is unknown as a whole has no arguments that could carry them.
            if some_unknown { value.mark(unknown_marks) } else { value }
        }
    }
}

fn decode_block(
    block: &ExpandedBlock,
    schema: &Block,
    scope: &dyn Scope,
    marks: Marks,
    diagnostics: &mut Diagnostics,
) -> Value {
    let inherited = Inherited { iterators: block.iterators.clone(), marks: marks | block.marks };
    let value = decode(&block.block.body, schema, scope, &inherited, diagnostics);
    if block.unknown { unknown_leaves(&value, schema) } else { value }
}

/// An object whose attributes are all unknown: what a block of an unknown `for_each` would hold.
fn unknown_leaves(value: &Value, schema: &Block) -> Value {
    let entries = value.entries().iter().map(|(name, inner)| {
        let unknown = match (schema.attributes.get(name), schema.blocks.get(name)) {
            (None, Some(nested)) if matches!(nested.nesting, Nesting::Single | Nesting::Group) && !inner.is_null() => {
                unknown_leaves(inner, &nested.block)
            }
            _ => Value::unknown(inner.ty().clone()).mark(inner.marks()),
        };
        (name.clone(), unknown)
    });
    Value::object(entries.collect::<Vec<_>>())
}

fn empty_group(schema: &Block, body: &Body, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Value {
    decode(&Body::empty(body.file()), schema, scope, &Inherited::default(), diagnostics)
}

fn keyed(
    kind: &str,
    blocks: &[&ExpandedBlock],
    values: Vec<Value>,
    diagnostics: &mut Diagnostics,
) -> BTreeMap<Arc<str>, Value> {
    let mut entries = BTreeMap::new();
    for (block, value) in blocks.iter().zip(values) {
        let key = block.block.labels.first().map(|l| l.text.clone()).unwrap_or_default();
        if entries.insert(key.clone(), value).is_some() {
            diagnostics.push(
                Diagnostic::error(
                    duplicate_block(kind),
                    format!("A block for {kind} \"{key}\" was already defined. The {kind} keys must be unique."),
                )
                .at(block.block.label_range(0)),
            );
        }
    }
    entries
}

fn check_single(
    kind: &str,
    schema: &NestedBlock,
    blocks: &[&ExpandedBlock],
    body: &Body,
    diagnostics: &mut Diagnostics,
) {
    if let [first, second, ..] = blocks {
        diagnostics.push(
            Diagnostic::error(
                duplicate_block(kind),
                format!("Only one {kind} block is allowed. Another was defined at {}.", first.block.header_range()),
            )
            .at(second.block.header_range()),
        );
    }
    if blocks.is_empty() && schema.min_items > 0 && schema.nesting == Nesting::Single {
        diagnostics.push(
            Diagnostic::error(format!("Missing {kind} block"), format!("A {kind} block is required."))
                .at(body.missing_item_range()),
        );
    }
}

fn check_count(kind: &str, schema: &NestedBlock, count: usize, body: &Body, diagnostics: &mut Diagnostics) {
    let count = count as u64;
    let mut fail = |summary: String, detail: String| {
        diagnostics.push(Diagnostic::error(summary, detail).at(body.missing_item_range()));
    };
    if count < schema.min_items {
        let least = schema.min_items;
        fail(format!("Insufficient {kind} blocks"), format!("At least {least} \"{kind}\" blocks are required."));
    } else if schema.max_items > 0 && count > schema.max_items {
        let most = schema.max_items;
        fail(format!("Too many {kind} blocks"), format!("No more than {most} \"{kind}\" blocks are allowed"));
    }
}

/// The schema with attributes of the type list or set of objects turned into blocks, where this body writes blocks;
/// none if nothing is to be changed.
fn attributes_as_blocks(body: &Body, schema: &Block) -> Option<Block> {
    let candidate = |attribute: &Attribute| match attribute.implied_type() {
        Type::List(element) | Type::Set(element) if attribute.nested().is_none() => element.is_object(),
        _ => false,
    };
    let names: Vec<&Arc<str>> = schema.attributes.iter().filter(|(_, a)| candidate(a)).map(|(n, _)| n).collect();
    if names.is_empty() {
        return None;
    }
    // What can be read as an argument is one: in JSON that is not to be told from a block.
    let arguments = names.iter().fold(BodySchema::new(), |probe, name| probe.attribute(name));
    let (written, _, _) = body.partial_content(&arguments);
    let names: Vec<&Arc<str>> = names.into_iter().filter(|name| written.attribute(name).is_none()).collect();
    let probe = BodySchema::new().block("dynamic", &["type"]);
    let probe = names.iter().fold(probe, |probe, name| probe.block(name, &[]));
    let (content, _, _) = body.partial_content(&probe);
    let used = |name: &str| {
        content.blocks.iter().any(|b| &*b.kind.name == name || b.labels.first().is_some_and(|l| &*l.text == name))
    };
    let used: Vec<&Arc<str>> = names.into_iter().filter(|name| used(name)).collect();
    if used.is_empty() {
        return None;
    }
    let mut fixed = schema.clone();
    for name in used {
        if let Some(attribute) = fixed.attributes.remove(name) {
            fixed.blocks.insert(name.clone(), block_of_attribute(&attribute));
        }
    }
    Some(fixed)
}

fn block_of_attribute(attribute: &Attribute) -> NestedBlock {
    let ty = attribute.implied_type();
    let nesting = if ty.is_set() { Nesting::Set } else { Nesting::List };
    let mut block = Block::default();
    if let Some(object) = ty.element_type().and_then(Type::object_type) {
        for (name, ty) in &object.attributes {
            let inner = Attribute { optional: true, computed: attribute.computed, ..Attribute::new(ty.clone()) };
            block.attributes.insert(name.clone(), inner);
        }
    }
    NestedBlock { block, nesting, min_items: 0, max_items: 0 }
}

/// The paths of a value of this shape that are sensitive by the schema, within known parts of the value.
pub fn sensitive_paths(schema: &Block, value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    if schema.has_sensitive() {
        sensitive_in_block(schema, value, &mut Path::new(), &mut found);
    }
    found
}

fn sensitive_in_block(schema: &Block, value: &Value, path: &mut Path, found: &mut Vec<Path>) {
    sensitive_attributes(&schema.attributes, value, path, found);
    for (name, nested) in &schema.blocks {
        if !nested.block.has_sensitive() {
            continue;
        }
        let Some(inner) = value.get(name) else { continue };
        path.push(PathStep::Attr(name.clone()));
        match nested.nesting {
            Nesting::Single | Nesting::Group => sensitive_in_block(&nested.block, inner, path, found),
            _ => {
                for (step, element) in inner.children() {
                    path.push(step);
                    sensitive_in_block(&nested.block, element, path, found);
                    path.pop();
                }
            }
        }
        path.pop();
    }
}

fn sensitive_attributes(
    attributes: &BTreeMap<Arc<str>, Attribute>,
    value: &Value,
    path: &mut Path,
    found: &mut Vec<Path>,
) {
    for (name, attribute) in attributes {
        path.push(PathStep::Attr(name.clone()));
        if attribute.sensitive {
            found.push(path.clone());
        } else if let (Some(object), Some(inner)) = (attribute.nested(), value.get(name)) {
            match object.nesting {
                Nesting::Single | Nesting::Group => sensitive_attributes(&object.attributes, inner, path, found),
                _ => {
                    for (step, element) in inner.children() {
                        path.push(step);
                        sensitive_attributes(&object.attributes, element, path, found);
                        path.pop();
                    }
                }
            }
        }
        path.pop();
    }
}
