//! A body of the configuration and a schema to a value.
//!
//! Knows `dynamic` blocks through the language; never knows what the value is for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use lang::eval::dynamic::{self, BlockShape, ExpandedBlock, ExpandedContent, Iterators, Variable};
use lang::eval::evaluate_attribute;
use lang::eval::scope::{Bindings, Scope};
use lang::syntax::ast::{Expression, Traversal};
use lang::syntax::body::{Body, BodySchema};
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting};
use terrane_value::{Marks, Path, PathStep, Value};

use super::as_blocks::{self, written_as_blocks};

/// A schema as the shape that `dynamic` blocks need.
struct Shape<'s>(Cow<'s, Block>);

impl BlockShape for Shape<'_> {
    fn body_schema(&self) -> BodySchema {
        body_schema(&self.0)
    }

    fn nested(&self, kind: &str) -> Option<Box<dyn BlockShape + '_>> {
        let nested = self.0.blocks.get(kind)?;
        Some(Box::new(Shape(Cow::Borrowed(&nested.block))))
    }

    fn of_body(&self, body: &Body) -> Option<Box<dyn BlockShape>> {
        Some(Box::new(Shape(Cow::Owned(as_blocks::with_blocks(body, &self.0)?))))
    }
}

/// The attributes and blocks that a body of this schema may have.
pub fn body_schema(block: &Block) -> BodySchema {
    let mut schema = BodySchema::new();
    for (name, attribute) in &block.attributes {
        // What may be written as blocks is never missing: no blocks are a null.
        schema = if attribute.required && as_blocks::element(attribute).is_none() {
            schema.required(name)
        } else {
            schema.attribute(name)
        };
    }
    for kind in block.blocks.iter() {
        let labels: &[&str] = if kind.1.nesting == Nesting::Map { &["key"] } else { &[] };
        schema = schema.block(kind.0, labels);
    }
    schema
}

/// The traversals that a body of this schema reads, without those that iterators of `dynamic` blocks bind.
pub fn body_variables(body: &Body, schema: &Block) -> Vec<Variable> {
    dynamic::variables(body, &Shape(Cow::Borrowed(schema)))
}

/// The value of a body: an object of the type that the schema implies. With errors, the parts at fault are unknown.
pub fn decode_body(body: &Body, schema: &Block, scope: &dyn Scope) -> (Value, Diagnostics) {
    if scope.checks_generated() {
        let mistakes = generated_references::mistakes_in_generated(body, schema, scope);
        if mistakes.has_errors() {
            return (Value::unknown(schema.implied_type()), mistakes);
        }
    }
    let mut diagnostics = Diagnostics::new();
    let value = decode(body, schema, scope, &Inherited::default(), &mut diagnostics);
    if diagnostics.has_errors() && scope.names_first() {
        return generated_references::names_first(body, schema, scope, (value, diagnostics));
    }
    if scope.checks_generated() {
        diagnostics.extend(generated_references::mistakes_in_nested_generators(body, schema, scope));
    }
    (value, diagnostics)
}

/// The summary where a block of a kind stands once too often.
pub fn duplicate_block(kind: &str) -> String {
    format!("Duplicate {kind} block")
}

/// The references that a body makes, each with the expression that it stands in.
pub fn references_in_body(body: &Body, schema: &Block) -> Vec<(Traversal, Expression)> {
    body_variables(body, schema).into_iter().map(|found| (found.traversal, found.expr)).collect()
}

/// What a block has from the `dynamic` blocks around it.
#[derive(Default)]
struct Inherited {
    iterators: Iterators,
    /// Marks for every written argument.
    marks: Marks,
    /// One of them generates an unknown number of blocks.
    unknown: bool,
}

fn decode(
    body: &Body,
    schema: &Block,
    scope: &dyn Scope,
    inherited: &Inherited,
    diagnostics: &mut Diagnostics,
) -> Value {
    let as_blocks = written_as_blocks(body, schema);
    let content = diagnostics.take(expand(body, schema, &as_blocks, scope, &inherited.iterators));
    let bound = Bindings { names: &inherited.iterators, outer: scope };
    let mut by_kind: BTreeMap<&str, Vec<&ExpandedBlock>> = BTreeMap::new();
    for block in &content.blocks {
        by_kind.entry(&*block.block.kind.name).or_default().push(block);
    }
    let mut entries: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    for (name, attribute) in &schema.attributes {
        let value = match (content.attributes.get(name), as_blocks.get(name)) {
            (Some(found), _) => {
                let ty = attribute.config_type();
                diagnostics.take(evaluate_attribute(&found.expr, name, &ty, &bound)).mark(inherited.marks)
            }
            (None, Some(nested)) => {
                let blocks = by_kind.remove(&**name).unwrap_or_default();
                decode_attribute_blocks(nested, &blocks, scope, inherited, diagnostics)
            }
            (None, None) => Value::null(attribute.implied_type()),
        };
        entries.insert(name.clone(), value);
    }
    for (kind, nested) in &schema.blocks {
        let blocks = by_kind.remove(&**kind).unwrap_or_default();
        let value = decode_nested(kind, nested, &blocks, body, (scope, inherited), diagnostics);
        entries.insert(kind.clone(), value);
    }
    Value::object(entries)
}

/// The content of a body with `dynamic` blocks expanded; `as_blocks`: its attributes that are written as blocks.
fn expand(
    body: &Body,
    schema: &Block,
    as_blocks: &BTreeMap<Arc<str>, NestedBlock>,
    scope: &dyn Scope,
    iterators: &Iterators,
) -> (ExpandedContent, Diagnostics) {
    let mut shape = body_schema(schema);
    if !as_blocks.is_empty() {
        shape.attributes.retain(|attribute| !as_blocks.contains_key(&attribute.name));
        shape = as_blocks.keys().fold(shape, |shape, name| shape.block(name, &[]));
    }
    dynamic::expand(body, &shape, scope, iterators)
}

/// The value of an attribute that is written as blocks: null without any. An unknown number of blocks counts as one
/// whose arguments are unknown.
fn decode_attribute_blocks(
    schema: &NestedBlock,
    blocks: &[&ExpandedBlock],
    scope: &dyn Scope,
    inherited: &Inherited,
    diagnostics: &mut Diagnostics,
) -> Value {
    if blocks.is_empty() {
        return Value::null(schema.implied_type());
    }
    let values = blocks.iter().map(|block| decode_block(block, &schema.block, scope, inherited, diagnostics)).collect();
    match schema.nesting {
        Nesting::Set => Value::set(schema.block.implied_type(), values),
        _ => Value::list(schema.block.implied_type(), values),
    }
}

/// Decodes the blocks of one kind into the value that their nesting makes of them.
fn decode_nested(
    kind: &str,
    schema: &NestedBlock,
    blocks: &[&ExpandedBlock],
    body: &Body,
    (scope, inherited): (&dyn Scope, &Inherited),
    diagnostics: &mut Diagnostics,
) -> Value {
    let is_unknown = |block: &&&ExpandedBlock| inherited.unknown || block.unknown;
    let some_unknown = blocks.iter().any(|block| is_unknown(&block));
    let unknown_marks =
        blocks.iter().filter(is_unknown).fold(Marks::NONE, |all, block| all | block.marks | inherited.marks);
    let mut one = |block: &&ExpandedBlock| decode_block(block, &schema.block, scope, inherited, diagnostics);
    match schema.nesting {
        Nesting::Single | Nesting::Group => {
            let value = blocks.first().map_or_else(|| schema.empty_value(), one);
            check_single(kind, schema, blocks, body, diagnostics);
            value
        }
        Nesting::List | Nesting::Set | Nesting::Map => {
            let element = schema.block.implied_type();
            let values: Vec<Value> = blocks.iter().map(&mut one).collect();
            let value = match schema.nesting {
                _ if some_unknown => Value::unknown(schema.implied_type()),
                Nesting::List if element.has_dynamic() => Value::tuple(values),
                Nesting::List => Value::list(element, values),
                Nesting::Set => Value::set(element, values),
                _ => {
                    let entries = keyed(kind, blocks, values, diagnostics);
                    if element.has_dynamic() { Value::object(entries) } else { Value::map(element, entries) }
                }
            };
            if !some_unknown {
                check_count(kind, schema, blocks, body, diagnostics);
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
    around: &Inherited,
    diagnostics: &mut Diagnostics,
) -> Value {
    let inherited = Inherited {
        iterators: block.iterators.clone(),
        marks: around.marks | block.marks,
        unknown: around.unknown || block.unknown,
    };
    decode(&block.block.body, schema, scope, &inherited, diagnostics)
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
                format!(
                    "Only one block of type {kind:?} is allowed. Previous definition was at {}.",
                    first.block.header_range()
                ),
            )
            .at(second.block.header_range()),
        );
    }
    if blocks.is_empty() && schema.min_items > 0 && schema.nesting == Nesting::Single {
        diagnostics.push(
            Diagnostic::error(format!("Missing {kind} block"), format!("A block of type \"{kind}\" is required here."))
                .at(body.missing_item_range()),
        );
    }
}

fn check_count(
    kind: &str,
    schema: &NestedBlock,
    blocks: &[&ExpandedBlock],
    body: &Body,
    diagnostics: &mut Diagnostics,
) {
    let (least, most) = (schema.min_items, schema.max_items);
    if (blocks.len() as u64) < least {
        let detail = format!("At least {least} \"{kind}\" blocks are required.");
        let error = Diagnostic::error(format!("Insufficient {kind} blocks"), detail);
        diagnostics.push(error.at(body.missing_item_range()));
    } else if let Some(extra) = blocks.get(most as usize).filter(|_| most > 0) {
        let detail = format!("No more than {most} \"{kind}\" blocks are allowed");
        let error = Diagnostic::error(format!("Too many {kind} blocks"), detail);
        diagnostics.push(error.at(extra.block.body.missing_item_range()));
    }
}

/// The paths of a value of this shape that are sensitive by the schema, within known parts of the value.
pub fn sensitive_paths(schema: &Block, value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    if schema.has_sensitive() {
        sensitive_in_block(schema, value, &mut Path::new(), &mut found);
    }
    found
}

/// The reference names the sensitive attributes inside of an attribute that is sensitive itself, but not deeper ones.
fn sensitive_in_block(schema: &Block, value: &Value, path: &mut Path, found: &mut Vec<Path>) {
    sensitive_attributes(&schema.attributes, value, true, path, found);
    for (name, nested) in &schema.blocks {
        if !nested.block.has_sensitive() {
            continue;
        }
        let Some(inner) = value.get(name) else { continue };
        path.push(PathStep::Attr(name.clone()));
        each_object(nested.nesting, inner, path, &mut |object, path| {
            sensitive_in_block(&nested.block, object, path, found);
        });
        path.pop();
    }
}

fn sensitive_attributes(
    attributes: &BTreeMap<Arc<str>, Attribute>,
    value: &Value,
    in_block: bool,
    path: &mut Path,
    found: &mut Vec<Path>,
) {
    for (name, attribute) in attributes {
        let Some(inner) = value.get(name) else { continue };
        path.push(PathStep::Attr(name.clone()));
        if attribute.sensitive {
            found.push(path.clone());
        }
        if let Some(shape) = attribute.nested().filter(|_| in_block || !attribute.sensitive) {
            each_object(shape.nesting, inner, path, &mut |object, path| {
                sensitive_attributes(&shape.attributes, object, false, path, found);
            });
        }
        path.pop();
    }
}

/// Visits the objects of a nested block or attribute with their paths; a null or unknown one has no parts.
pub fn each_object(nesting: Nesting, value: &Value, path: &mut Path, visit: &mut dyn FnMut(&Value, &mut Path)) {
    if matches!(nesting, Nesting::Single | Nesting::Group) {
        return visit(value, path);
    }
    for (step, element) in value.children() {
        path.push(step);
        visit(element, path);
        path.pop();
    }
}

mod generated_references;
#[cfg(test)]
mod tests;
