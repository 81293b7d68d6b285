//! `dynamic` blocks: the blocks of a body with the generated ones in their places.
//!
//! Knows the shape of a `dynamic` block and what it may generate; never knows what the blocks mean.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::suggest;
use indexmap::IndexMap;
use terrane_value::convert::convert;
use terrane_value::{Marks, Type, Value};

use super::describe::with_values;
use super::evaluate;
use super::scope::{Bindings, Scope};
use crate::syntax::ast::{Attribute, Block, Expression, Ident, Label, Traversal};
use crate::syntax::body::{Body, BodySchema, Content};
use crate::syntax::syntax_errors::{UNSUPPORTED_BLOCK, not_a_list, not_a_reference};

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
    /// Marks of the `for_each` that generated it, carried by every argument that is written inside.
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
            Some(false) => diagnostics.push(unsupported(&block, schema)),
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
    if has_own { schema.clone() } else { schema.clone().block("dynamic", &["type"]) }
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

fn unsupported(block: &Block, schema: &BodySchema) -> Diagnostic {
    let kind = block.labels.first().map_or("", |l| &*l.text);
    Diagnostic::error(UNSUPPORTED_BLOCK, format!("Blocks of type \"{kind}\" are not expected here."))
        .at(block.label_range(0))
        .with_tip(suggest::question(kind, schema.blocks.iter().map(|known| &*known.kind)))
}

/// The parts of a `dynamic` block.
struct Spec {
    kind: Label,
    for_each: Expression,
    iterator: Arc<str>,
    labels: Vec<Expression>,
    content: Body,
}

/// Takes a `dynamic` block apart; `label_names` are those of the blocks that it generates.
fn read_spec(block: &Block, label_names: usize, diagnostics: &mut Diagnostics) -> Option<Spec> {
    let content = read_parts(block, label_names, diagnostics)?;
    let for_each = content.attribute("for_each")?.expr.clone();
    let kind = block.labels.first()?.clone();
    let iterator = match content.attribute("iterator") {
        None => kind.text.clone(),
        Some(attribute) => iterator_name(&attribute.expr).map_err(|d| diagnostics.push(d)).ok()?,
    };
    let labels = match content.attribute("labels") {
        None => Vec::new(),
        Some(attribute) => {
            label_expressions(&attribute.expr, &kind.text, label_names).map_err(|d| diagnostics.push(d)).ok()?
        }
    };
    let mut bodies = content.blocks_of("content");
    let Some(first) = bodies.next() else {
        let detail = "A dynamic block must have a nested block of type \"content\" to describe the body of each generated block.";
        diagnostics
            .push(Diagnostic::error("Missing dynamic content block", detail).at(block.body.missing_item_range()));
        return None;
    };
    if let Some(second) = bodies.next() {
        let detail = "Only one nested content block is allowed for each dynamic block.";
        diagnostics.push(Diagnostic::error("Extraneous dynamic content block", detail).at(second.header_range()));
        return None;
    }
    let content = first.body.clone();
    Some(Spec { kind, for_each, iterator, labels, content })
}

fn read_parts(block: &Block, label_names: usize, diagnostics: &mut Diagnostics) -> Option<Content> {
    let mut schema = BodySchema::new().required("for_each").attribute("iterator").block("content", &[]);
    if label_names > 0 {
        schema = schema.attribute("labels");
    }
    let (content, problems) = block.body.content(&schema);
    let usable = !problems.has_errors();
    diagnostics.extend(problems);
    usable.then_some(content)
}

fn iterator_name(expr: &Expression) -> Result<Arc<str>, Diagnostic> {
    match expr.as_traversal() {
        Some(Traversal { root, steps, .. }) if steps.is_empty() => Ok(root.name.clone()),
        Some(_) => {
            let detail = "Dynamic iterator must be a single variable name.";
            Err(Diagnostic::error("Invalid dynamic iterator name", detail).at(expr.range()))
        }
        None => Err(not_a_reference(expr.range())),
    }
}

fn label_expressions(expr: &Expression, kind: &str, wanted: usize) -> Result<Vec<Expression>, Diagnostic> {
    let Some(labels) = expr.as_static_list() else {
        return Err(not_a_list(expr.range()));
    };
    let detail = format!("Blocks of type {kind:?} require {wanted} label(s).");
    match labels.get(wanted) {
        Some(extra) => Err(Diagnostic::error("Extraneous dynamic block label", detail).at(extra.range())),
        None if labels.len() < wanted => {
            Err(Diagnostic::error("Insufficient dynamic block labels", detail).at(expr.range()))
        }
        None => Ok(labels),
    }
}

fn expand_one(
    block: &Block,
    schema: &BodySchema,
    scope: &dyn Scope,
    iterators: &Iterators,
) -> (Vec<ExpandedBlock>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let kind = block.labels.first().map_or("", |l| &*l.text);
    let label_names = schema.blocks.iter().find(|b| &*b.kind == kind).map_or(0, |b| b.label_names.len());
    let bound = Bindings { names: iterators, outer: scope };
    // What is wrong with the collection is said before what is wrong with the rest of the block.
    let for_each = match read_parts(block, label_names, &mut diagnostics) {
        Some(parts) => parts.attribute("for_each").map(|a| a.expr.clone()),
        None => return (Vec::new(), diagnostics),
    };
    let collection = for_each.and_then(|expr| iterable(&expr, &bound, &mut diagnostics));
    let spec = collection.as_ref().and_then(|_| read_spec(block, label_names, &mut diagnostics));
    let (Some(collection), Some(spec)) = (collection, spec) else { return (Vec::new(), diagnostics) };

    let mut generator = Generator { block, spec: &spec, scope, iterators, marks: collection.marks(), diagnostics };
    let blocks = if !collection.is_known() {
        let generated = generator.generate(Value::dynamic(), Value::dynamic());
        generated.map(|b| without_expressions(b, &spec.content)).into_iter().collect()
    } else {
        let pairs: Vec<(Value, Value)> = match collection.ty() {
            Type::Set(_) => collection.elements().iter().map(|v| (v.clone(), v.clone())).collect(),
            Type::Map(_) | Type::Object(_) => {
                collection.entries().iter().map(|(k, v)| (Value::shared_string(k.clone()), v.clone())).collect()
            }
            _ => collection.elements().iter().enumerate().map(|(i, v)| (Value::int(i as i64), v.clone())).collect(),
        };
        if let Some(recorder) = scope.recorder() {
            recorder.record_repetition(spec.for_each.range(), pairs.is_empty());
        }
        pairs.into_iter().filter_map(|(key, value)| generator.generate(key, value)).collect()
    };
    (blocks, generator.diagnostics)
}

/// The value of `for_each`, if blocks can be generated from it.
fn iterable(expr: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Value> {
    let (collection, problems) = evaluate(expr, scope);
    let failed = problems.has_errors();
    diagnostics.extend(problems);
    if failed {
        return None;
    }
    let detail = if collection.ty().is_primitive() {
        let name = collection.ty().friendly_name();
        format!("Cannot use a {name} value in for_each. An iterable collection is required.")
    } else if collection.is_null() {
        "Cannot use a null value in for_each.".to_string()
    } else {
        return Some(collection);
    };
    let diagnostic = Diagnostic::error("Invalid dynamic for_each value", detail).at(expr.range());
    diagnostics.push(with_values(diagnostic, expr, scope));
    None
}

/// An unknown number of blocks, whose expressions are not looked at but taken as unknown.
fn without_expressions(generated: ExpandedBlock, content: &Body) -> ExpandedBlock {
    let block = Block { body: content.with_unknown_expressions(), ..generated.block };
    ExpandedBlock { block, unknown: true, ..generated }
}

struct Generator<'g> {
    block: &'g Block,
    spec: &'g Spec,
    scope: &'g dyn Scope,
    iterators: &'g Iterators,
    marks: Marks,
    diagnostics: Diagnostics,
}

impl Generator<'_> {
    fn generate(&mut self, key: Value, value: Value) -> Option<ExpandedBlock> {
        let mut names = BTreeMap::clone(self.iterators);
        let item = Value::object([("key", key.mark(self.marks)), ("value", value.mark(self.marks))]);
        names.insert(self.spec.iterator.clone(), item);
        let iterators = Arc::new(names);
        let bound = Bindings { names: &iterators, outer: self.scope };
        let labels: Option<Vec<Label>> =
            self.spec.labels.iter().map(|l| label(l, &bound, &mut self.diagnostics)).collect();
        // Declared where the `dynamic` block is.
        let span = self.block.kind.span.to(self.spec.kind.span);
        let kind = Ident { name: self.spec.kind.text.clone(), span };
        let Block { open, close, .. } = *self.block;
        let block = Block { kind, labels: labels?, body: self.spec.content.clone(), open, close };
        Some(ExpandedBlock { block, iterators, unknown: false, marks: self.marks })
    }
}

fn label(expr: &Expression, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Option<Label> {
    let (value, problems) = evaluate(expr, scope);
    let failed = problems.has_errors();
    diagnostics.extend(problems);
    if failed {
        return None;
    }
    let detail = match convert(&value, &Type::String) {
        Err(error) => format!("Cannot use this value as a dynamic block label: {error}."),
        Ok(value) if value.is_null() => "Cannot use a null value as a dynamic block label.".into(),
        Ok(value) => match value.as_arc_str() {
            Some(text) => return Some(Label { text, span: expr.node.span }),
            None => "This value is not yet known. Dynamic block labels must be immediately-known values.".into(),
        },
    };
    let diagnostic = Diagnostic::error("Invalid dynamic block label", detail).at(expr.range());
    diagnostics.push(with_values(diagnostic, expr, scope));
    None
}

/// The shape of a block as far as reading needs it: the names within, and the shapes of nested blocks.
pub trait BlockShape {
    fn body_schema(&self) -> BodySchema;
    fn nested(&self, kind: &str) -> Option<Box<dyn BlockShape + '_>>;
    /// The shape as one body uses it, if that differs.
    fn of_body(&self, body: &Body) -> Option<Box<dyn BlockShape>>;
}

/// Where in a body a traversal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In an argument that is evaluated once.
    Argument,
    /// In `for_each` or `labels` of a `dynamic` block: what generates blocks.
    Generator,
    /// As `Generator`, in the content of another `dynamic` block, which may generate nothing.
    NestedGenerator,
    /// In the content of a `dynamic` block, which is evaluated once per generated block.
    Generated,
}

/// A traversal that a body reads.
#[derive(Clone, Debug)]
pub struct Variable {
    pub traversal: Traversal,
    /// The expression that it stands in.
    pub expr: Expression,
    pub place: Place,
}

/// The traversals that a body reads where it may hold `dynamic` blocks, without those that iterators bind.
pub fn variables(body: &Body, shape: &dyn BlockShape) -> Vec<Variable> {
    let mut found = Vec::new();
    collect(body, shape, &[], Place::Argument, &mut found);
    found
}

fn take(expr: &Expression, bound: &[Arc<str>], place: Place, found: &mut Vec<Variable>) {
    let free = expr.variables().into_iter().filter(|t| !bound.contains(&t.root.name));
    found.extend(free.map(|t| Variable { traversal: t.clone(), expr: expr.clone(), place }));
}

fn collect(body: &Body, shape: &dyn BlockShape, bound: &[Arc<str>], place: Place, found: &mut Vec<Variable>) {
    let changed = shape.of_body(body);
    let shape = changed.as_deref().unwrap_or(shape);
    let schema = shape.body_schema();
    // Errors in the body are reported where it is decoded.
    let (content, _, _) = body.partial_content(&with_dynamic(&schema));
    for attribute in content.attributes.values() {
        take(&attribute.expr, bound, place, found);
    }
    for block in &content.blocks {
        if dynamic_label(block, &schema).is_none() {
            if let Some(inner) = shape.nested(&block.kind.name) {
                collect(&block.body, &*inner, bound, place, found);
            }
            continue;
        }
        let label_names = schema.blocks.iter().find(|b| b.kind == *block.label(0)).map_or(0, |b| b.label_names.len());
        // Errors are reported where the block is expanded.
        let Some(spec) = read_spec(block, label_names, &mut Diagnostics::new()) else { continue };
        let generator = if place == Place::Generated { Place::NestedGenerator } else { Place::Generator };
        take(&spec.for_each, bound, generator, found);
        let mut inside = bound.to_vec();
        inside.push(spec.iterator.clone());
        for label in &spec.labels {
            take(label, &inside, generator, found);
        }
        if let Some(inner) = shape.nested(&spec.kind.text) {
            collect(&spec.content, &*inner, &inside, Place::Generated, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;

    use super::*;
    use crate::eval::scope::{Constant, Resolved};
    use crate::syntax::parse_file;

    /// Knows `unknown`, `secret` and nothing else.
    struct Fixture;

    impl Scope for Fixture {
        fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
            match traversal.root_name() {
                "unknown" => Resolved::value(Value::dynamic(), 0),
                "secret" => Resolved::value(Value::strings(["x"]).mark(Marks::SENSITIVE), 0),
                _ => Constant.resolve(traversal, file),
            }
        }
    }

    fn run(text: &str) -> (Vec<ExpandedBlock>, Vec<String>) {
        let (body, problems) = parse_file(SourceFile::new("t", text));
        assert!(problems.is_empty(), "{problems:?}");
        let schema = BodySchema::new().block("b", &[]).block("l", &["name"]);
        let (content, diagnostics) = expand(&body, &schema, &Fixture, &Iterators::default());
        let show = |d: &Diagnostic| format!("{}: {} @ {}", d.summary, d.detail, d.subject.as_ref().unwrap().text());
        (content.blocks, diagnostics.iter().map(show).collect())
    }

    #[test]
    fn blocks_are_generated_in_place() {
        let (blocks, problems) = run(
            "b {\n}\ndynamic \"b\" {\n  for_each = { x = 1, y = 2 }\n  iterator = it\n  content {\n    v = it.value\n  }\n}\nb {\n}\n",
        );
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(blocks.len(), 4);
        let keys: Vec<_> =
            blocks[1..3].iter().map(|b| b.iterators["it"].get("key").unwrap().as_str().unwrap()).collect();
        assert_eq!(keys, ["x", "y"]);
    }

    #[test]
    fn misspelt_kinds_of_blocks_are_named() {
        let (body, _) = parse_file(SourceFile::new("t", "dynamic \"prt\" {\n}\n"));
        let schema = BodySchema::new().block("part", &[]).block("other", &[]);
        let (_, problems) = expand(&body, &schema, &Fixture, &Iterators::default());
        let tips: Vec<_> =
            problems.iter().filter_map(|found| found.tip.as_ref()).map(|tip| tip.text.as_str()).collect();
        assert_eq!(tips, ["Did you mean \"part\"?"]);
    }

    #[test]
    fn unknown_and_marked_collections() {
        let (blocks, problems) = run("dynamic \"b\" {\n  for_each = unknown\n  content {\n    v = nope\n  }\n}\n");
        assert!(problems.is_empty() && blocks[0].unknown);
        let expr = &blocks[0].block.body.attributes()[0].expr;
        assert_eq!(evaluate(expr, &Fixture), (Value::dynamic(), Diagnostics::new()));
        let (blocks, _) = run("dynamic \"b\" {\n  for_each = secret\n  content {}\n}\n");
        assert_eq!(blocks[0].marks, Marks::SENSITIVE);
    }

    #[test]
    fn labels_are_evaluated() {
        let (blocks, problems) = run("dynamic \"l\" {\n  for_each = [1]\n  labels = [l.value]\n  content {}\n}\n");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(&**blocks[0].block.label(0), "1");
    }

    #[test]
    fn invalid_dynamic_blocks_are_errors() {
        let cases = [
            (
                "for_each = 1\ncontent {}",
                "Invalid dynamic for_each value: Cannot use a number value in for_each. An iterable collection is required. @ 1",
            ),
            (
                "for_each = null\ncontent {}",
                "Invalid dynamic for_each value: Cannot use a null value in for_each. @ null",
            ),
            (
                "for_each = []",
                "Missing dynamic content block: A dynamic block must have a nested block of type \"content\" to describe the body of each generated block. @ ",
            ),
            (
                "for_each = []\ncontent {}\ncontent {}",
                "Extraneous dynamic content block: Only one nested content block is allowed for each dynamic block. @ content",
            ),
            (
                "content {}",
                "Missing required argument: The argument \"for_each\" is required, but no definition was found. @ ",
            ),
            (
                "for_each = []\niterator = a.b\ncontent {}",
                "Invalid dynamic iterator name: Dynamic iterator must be a single variable name. @ a.b",
            ),
            (
                "for_each = []\nlabels = []\ncontent {}",
                "Unsupported argument: An argument named \"labels\" is not expected here. @ labels",
            ),
        ];
        for (inner, expected) in cases {
            let (_, problems) = run(&format!("dynamic \"b\" {{\n{inner}\n}}\n"));
            assert_eq!(problems, [expected], "{inner}");
        }
        let (_, problems) = run("dynamic \"nope\" {\n  for_each = []\n  content {}\n}\n");
        assert_eq!(problems, ["Unsupported block type: Blocks of type \"nope\" are not expected here. @ \"nope\""]);
    }
}
