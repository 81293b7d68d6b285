//! `dynamic` blocks: the blocks of a body with the generated ones in their places.
//!
//! Knows the shape of a `dynamic` block and what it may generate; never knows what the blocks mean.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::lang::syntax::ast::{Attribute, Block, Expression, Label, Traversal};
use crate::lang::syntax::body::{Body, BodySchema};
use crate::lang::value::{Marks, Type, Value};

use super::evaluate;
use super::scope::{Bindings, Scope};

/// The value of each iterator in force, by name: an object with `key` and `value`.
pub type Iterators = Arc<BTreeMap<Arc<str>, Value>>;

/// A block as written, or one that a `dynamic` block generated.
#[derive(Clone, Debug)]
pub struct ExpandedBlock {
    pub block: Block,
    /// What its expressions can name beside the scope.
    pub iterators: Iterators,
    /// It stands for any number of blocks, none of whose values is known.
    pub unknown: bool,
    /// Marks of the `for_each` that generated it, carried by everything inside.
    pub marks: Marks,
}

/// A body's content with `dynamic` blocks expanded.
#[derive(Clone, Debug, Default)]
pub struct ExpandedContent {
    pub attributes: IndexMap<Arc<str>, Attribute>,
    pub blocks: Vec<ExpandedBlock>,
}

/// Everything that the schema names, with `dynamic` blocks expanded in place.
pub fn expand(
    body: &Body,
    schema: &BodySchema,
    scope: &dyn Scope,
    iterators: &Iterators,
) -> (ExpandedContent, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let content = diagnostics.take(body.content(&with_dynamic(schema)));
    let mut blocks = Vec::with_capacity(content.blocks.len());
    for block in content.blocks {
        let generates = dynamic_label(&block, schema);
        match generates {
            Some(true) => blocks.extend(diagnostics.take(expand_one(&block, schema, scope, iterators))),
            Some(false) => diagnostics.push(unsupported(&block)),
            None => {
                blocks.push(ExpandedBlock { block, iterators: iterators.clone(), unknown: false, marks: Marks::NONE })
            }
        }
    }
    (ExpandedContent { attributes: content.attributes, blocks }, diagnostics)
}

/// The schema with `dynamic` blocks allowed beside the blocks that it names.
fn with_dynamic(schema: &BodySchema) -> BodySchema {
    let has_own = schema.blocks.iter().any(|b| &*b.kind == "dynamic");
    if schema.blocks.is_empty() || has_own { schema.clone() } else { schema.clone().block("dynamic", &["type"]) }
}

/// None: an ordinary block. Some(true): a `dynamic` block of a kind that the schema names.
fn dynamic_label(block: &Block, schema: &BodySchema) -> Option<bool> {
    let own = schema.blocks.iter().any(|b| &*b.kind == "dynamic");
    if own || &*block.kind.name != "dynamic" {
        return None;
    }
    let label = block.labels.first()?;
    Some(schema.blocks.iter().any(|b| b.kind == label.text))
}

fn unsupported(block: &Block) -> Diagnostic {
    let kind = block.labels.first().map_or("", |l| &*l.text);
    Diagnostic::error("Unsupported block type", format!("Blocks of type \"{kind}\" are not expected here."))
        .at(block.label_range(0))
}

/// The parts of a `dynamic` block.
struct Spec {
    kind: Label,
    for_each: Expression,
    iterator: Arc<str>,
    labels: Vec<Expression>,
    content: Body,
}

fn read_spec(block: &Block) -> (Option<Spec>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let schema = BodySchema::new().required("for_each").attribute("iterator").attribute("labels").block("content", &[]);
    let content = diagnostics.take(block.body.content(&schema));
    let Some(kind) = block.labels.first().cloned() else { return (None, diagnostics) };
    let mut iterator = kind.text.clone();
    if let Some(attribute) = content.attribute("iterator") {
        match attribute.expr.as_traversal() {
            Some(Traversal { root, steps, .. }) if steps.is_empty() => iterator = root.name.clone(),
            Some(_) => diagnostics.push(
                Diagnostic::error("Invalid dynamic iterator name", "Dynamic iterator must be a single variable name.")
                    .at(attribute.expr.range()),
            ),
            None => diagnostics.push(
                Diagnostic::error("Invalid expression", "A single static variable reference is required: only attribute access and indexing with constant keys. No calculations, function calls, template expressions, etc are allowed here.")
                    .at(attribute.expr.range()),
            ),
        }
    }
    let labels = content.attribute("labels").and_then(|a| a.expr.as_static_list()).unwrap_or_default();
    let mut bodies = content.blocks_of("content");
    let first = bodies.next().cloned();
    if let Some(second) = bodies.next() {
        diagnostics.push(
            Diagnostic::error(
                "Extraneous dynamic content block",
                "Only one nested content block is allowed for each dynamic block.",
            )
            .at(second.kind_range()),
        );
    }
    let Some(first) = first else {
        diagnostics.push(
            Diagnostic::error(
                "Missing dynamic content block",
                "A dynamic block must have a nested block of type \"content\" to describe the body of each generated block.",
            )
            .at(block.body.missing_item_range()),
        );
        return (None, diagnostics);
    };
    let Some(for_each) = content.attribute("for_each") else { return (None, diagnostics) };
    let spec = Spec { kind, for_each: for_each.expr.clone(), iterator, labels, content: first.body.clone() };
    (Some(spec).filter(|_| !diagnostics.has_errors()), diagnostics)
}

fn expand_one(
    block: &Block,
    schema: &BodySchema,
    scope: &dyn Scope,
    iterators: &Iterators,
) -> (Vec<ExpandedBlock>, Diagnostics) {
    let (spec, mut diagnostics) = read_spec(block);
    let Some(spec) = spec else { return (Vec::new(), diagnostics) };
    let bound = Bindings { names: iterators, outer: scope };
    let (collection, marks) = diagnostics.take(evaluate(&spec.for_each, &bound)).unmark();
    if diagnostics.has_errors() {
        return (Vec::new(), diagnostics);
    }
    let fail = |mut diagnostics: Diagnostics, detail: &str| {
        diagnostics.push(Diagnostic::error("Invalid dynamic for_each value", detail).at(spec.for_each.range()));
        (Vec::new(), diagnostics)
    };
    if marks.contains(Marks::EPHEMERAL) {
        return fail(
            diagnostics,
            "Cannot use an ephemeral value in for_each: it would be lost between plan and apply.",
        );
    }
    if !collection.is_known() {
        let (key, value) = (Value::dynamic().mark(marks), Value::dynamic().mark(marks));
        let generated = generate(block, &spec, schema, scope, iterators, (key, value), marks, &mut diagnostics);
        return (generated.map(|b| ExpandedBlock { unknown: true, ..b }).into_iter().collect(), diagnostics);
    }
    if collection.is_null() {
        return fail(diagnostics, "Cannot use a null value in for_each.");
    }
    let ty = collection.ty();
    let pairs: Vec<(Value, Value)> = match ty {
        Type::Set(_) => collection.elements().iter().map(|v| (v.clone(), v.clone())).collect(),
        Type::List(_) | Type::Tuple(_) => {
            collection.elements().iter().enumerate().map(|(i, v)| (Value::int(i as i64), v.clone())).collect()
        }
        Type::Map(_) | Type::Object(_) => {
            collection.entries().iter().map(|(k, v)| (Value::shared_string(k.clone()), v.clone())).collect()
        }
        other => {
            let detail = format!(
                "Cannot use a {} value in for_each. An iterable collection is required.",
                other.friendly_name()
            );
            return fail(diagnostics, &detail);
        }
    };
    let mut blocks = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        let pair = (key.mark(marks), value.mark(marks));
        blocks.extend(generate(block, &spec, schema, scope, iterators, pair, marks, &mut diagnostics));
    }
    (blocks, diagnostics)
}

#[allow(clippy::too_many_arguments)]
fn generate(
    block: &Block,
    spec: &Spec,
    schema: &BodySchema,
    scope: &dyn Scope,
    iterators: &Iterators,
    (key, value): (Value, Value),
    marks: Marks,
    diagnostics: &mut Diagnostics,
) -> Option<ExpandedBlock> {
    let mut names = BTreeMap::clone(iterators);
    names.insert(spec.iterator.clone(), Value::object([("key", key), ("value", value)]));
    let iterators = Arc::new(names);
    let wanted = schema.blocks.iter().find(|b| b.kind == spec.kind.text).map_or(0, |b| b.label_names.len());
    if spec.labels.len() != wanted {
        let (summary, detail) = if spec.labels.len() > wanted {
            (
                "Extraneous dynamic block label",
                format!("Blocks of type {:?} require {wanted} label(s).", &*spec.kind.text),
            )
        } else {
            (
                "Insufficient dynamic block labels",
                format!("Blocks of type {:?} require {wanted} label(s).", &*spec.kind.text),
            )
        };
        diagnostics.push(Diagnostic::error(summary, detail).at(block.label_range(0)));
        return None;
    }
    let bound = Bindings { names: &iterators, outer: scope };
    let mut labels = Vec::with_capacity(wanted);
    for label in &spec.labels {
        let value = diagnostics.take(evaluate(label, &bound));
        match value.as_arc_str() {
            Some(text) => labels.push(Label { text, span: label.node.span }),
            None => {
                let detail = "Cannot use this value as a dynamic block label. It must be a known string.";
                diagnostics.push(Diagnostic::error("Invalid dynamic block label", detail).at(label.range()));
                return None;
            }
        }
    }
    let mut kind = block.kind.clone();
    kind.name = spec.kind.text.clone();
    kind.span = spec.kind.span;
    let block = Block { kind, labels, body: spec.content.clone(), open: block.open, close: block.close };
    Some(ExpandedBlock { block, iterators, unknown: false, marks })
}

/// The shape of a block as far as reading needs it: the names within, and the shapes of nested blocks.
pub trait BlockShape {
    fn body_schema(&self) -> BodySchema;
    fn nested(&self, kind: &str) -> Option<&dyn BlockShape>;
}

/// The traversals that a body reads where it may hold `dynamic` blocks, each with the expression that it stands in,
/// without those that iterators bind.
pub fn variables(body: &Body, shape: &dyn BlockShape) -> Vec<(Traversal, Expression)> {
    let mut found = Vec::new();
    collect(body, shape, &[], &mut found);
    found
}

fn take(expr: &Expression, bound: &[Arc<str>], found: &mut Vec<(Traversal, Expression)>) {
    let free = expr.variables().into_iter().filter(|t| !bound.contains(&t.root.name));
    found.extend(free.map(|t| (t.clone(), expr.clone())));
}

fn collect(body: &Body, shape: &dyn BlockShape, bound: &[Arc<str>], found: &mut Vec<(Traversal, Expression)>) {
    let schema = shape.body_schema();
    // Mistakes in the body are reported where it is decoded.
    let (content, _, _) = body.partial_content(&with_dynamic(&schema));
    for attribute in content.attributes.values() {
        take(&attribute.expr, bound, found);
    }
    for block in &content.blocks {
        if dynamic_label(block, &schema).is_none() {
            if let Some(inner) = shape.nested(&block.kind.name) {
                collect(&block.body, inner, bound, found);
            }
            continue;
        }
        let (Some(spec), _) = read_spec(block) else { continue };
        take(&spec.for_each, bound, found);
        let mut inside = bound.to_vec();
        inside.push(spec.iterator.clone());
        for label in &spec.labels {
            take(label, &inside, found);
        }
        if let Some(inner) = shape.nested(&spec.kind.text) {
            collect(&spec.content, inner, &inside, found);
        }
    }
}
