//! Reading bodies by schema: the one way other areas read the attributes and blocks that people wrote.
//!
//! A [`Body`] is cheap to clone; what a partial read took is hidden from the remaining body, never removed.

use std::fmt;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile, Span};
use base::suggest;
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::ast::{Attribute, Block, Expr, ExprKind, Expression};
use super::body_json::JsonBody;
use super::json::Node;
use crate::syntax::syntax_errors::{DUPLICATE_ARGUMENT, UNSUPPORTED_BLOCK, argument_not_set, missing_argument};

/// The attributes and kinds of blocks that a body may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodySchema {
    pub attributes: Vec<AttributeSchema>,
    pub blocks: Vec<BlockSchema>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeSchema {
    pub name: Arc<str>,
    pub required: bool,
}

/// `label_names` are what messages call the labels: `type`, `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSchema {
    pub kind: Arc<str>,
    pub label_names: Vec<Arc<str>>,
}

impl BodySchema {
    pub fn new() -> BodySchema {
        BodySchema::default()
    }

    pub fn attribute(mut self, name: &str) -> BodySchema {
        self.attributes.push(AttributeSchema { name: name.into(), required: false });
        self
    }

    pub fn required(mut self, name: &str) -> BodySchema {
        self.attributes.push(AttributeSchema { name: name.into(), required: true });
        self
    }

    pub fn block(mut self, kind: &str, label_names: &[&str]) -> BodySchema {
        self.blocks
            .push(BlockSchema { kind: kind.into(), label_names: label_names.iter().map(|l| Arc::from(*l)).collect() });
        self
    }
}

/// What a schema found in a body; attributes and blocks in source order.
#[derive(Clone, Debug, Default)]
pub struct Content {
    pub attributes: IndexMap<Arc<str>, Attribute>,
    pub blocks: Vec<Block>,
}

impl Content {
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.get(name)
    }

    pub fn blocks_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Block> + 'a {
        self.blocks.iter().filter(move |b| &*b.kind.name == kind)
    }
}

/// What stands between two braces, or in a whole file.
#[derive(Clone)]
pub struct Body {
    source: Source,
    hidden: Option<Arc<Hidden>>,
}

#[derive(Clone)]
enum Source {
    Native(Arc<NativeBody>),
    Json(JsonBody),
    Merged(Arc<MergedBody>),
}

/// A body in native syntax: its items in source order. `end` is an empty span behind the last token.
#[derive(Debug)]
pub struct NativeBody {
    pub file: Arc<SourceFile>,
    pub attributes: Vec<Attribute>,
    pub blocks: Vec<Block>,
    pub span: Span,
    pub end: Span,
}

/// A body and one that adds to it: from an override file, which wins, or from an escaping block, which may only say what the
/// body does not.
struct MergedBody {
    base: Body,
    over: Body,
    wins: bool,
}

/// What earlier partial reads took.
#[derive(Clone, Debug, Default)]
pub(super) struct Hidden {
    attributes: FxHashSet<Arc<str>>,
    blocks: FxHashSet<Arc<str>>,
}

impl Hidden {
    /// True if any read took the name, be it as an argument or as a kind of block.
    pub(super) fn has(&self, name: &str) -> bool {
        self.attributes.contains(name) || self.blocks.contains(name)
    }
}

impl Body {
    pub fn native(body: NativeBody) -> Body {
        Body { source: Source::Native(Arc::new(body)), hidden: None }
    }

    /// A body in JSON syntax: an object or an array of objects, or any other value, which reading will report.
    pub(super) fn json(file: Arc<SourceFile>, value: Arc<Node>) -> Body {
        Body::of_json(JsonBody::new(file, value))
    }

    pub(super) fn of_json(body: JsonBody) -> Body {
        Body { source: Source::Json(body), hidden: None }
    }

    pub fn is_json(&self) -> bool {
        match &self.source {
            Source::Native(_) => false,
            Source::Json(_) => true,
            Source::Merged(merged) => merged.base.is_json(),
        }
    }

    /// A body without items at the start of a file.
    pub fn empty(file: &Arc<SourceFile>) -> Body {
        Body::native(NativeBody {
            file: file.clone(),
            attributes: Vec::new(),
            blocks: Vec::new(),
            span: Span::default(),
            end: Span::default(),
        })
    }

    /// `base` with what `over`, from an override file, says otherwise: its arguments replace those of the same name, its
    /// blocks replace all blocks of the same kind.
    pub fn merged(base: Body, over: Body) -> Body {
        Body { source: Source::Merged(Arc::new(MergedBody { base, over, wins: true })), hidden: None }
    }

    /// `base` with what a block inside of it adds. An argument in both is an error.
    pub fn joined(base: Body, more: Body) -> Body {
        Body { source: Source::Merged(Arc::new(MergedBody { base, over: more, wins: false })), hidden: None }
    }

    pub fn file(&self) -> &Arc<SourceFile> {
        match &self.source {
            Source::Native(body) => &body.file,
            Source::Json(body) => &body.file,
            Source::Merged(merged) => merged.base.file(),
        }
    }

    pub fn range(&self) -> Range {
        match &self.source {
            Source::Native(body) => body.span.in_file(&body.file),
            Source::Json(body) => body.value.span.in_file(&body.file),
            Source::Merged(merged) => merged.base.range(),
        }
    }

    /// Where messages about missing items point to: the opening brace, or the start of the file. In JSON: the closing
    /// brace.
    pub fn missing_item_range(&self) -> Range {
        match &self.source {
            Source::Native(body) => Span { start: body.span.start, end: body.span.start }.in_file(&body.file),
            Source::Json(body) => body.missing_item_range(),
            Source::Merged(merged) => merged.base.missing_item_range(),
        }
    }

    /// The same items with expressions that evaluate to unknown values. The `for_each` of `dynamic` blocks stays.
    pub fn with_unknown_expressions(&self) -> Body {
        let body = match &self.source {
            Source::Native(body) => body,
            Source::Json(body) => return Body { source: Source::Json(body.unknown()), hidden: self.hidden.clone() },
            Source::Merged(merged) => {
                return merged.map(Body::with_unknown_expressions);
            }
        };
        let unknown = |attribute: &Attribute| {
            let node = Arc::new(Expr::new(attribute.expr.node.span, ExprKind::Error));
            Attribute { expr: Expression { file: attribute.expr.file.clone(), node }, ..attribute.clone() }
        };
        let nested = |block: &Block| Block { body: block.body.with_unknown_expressions(), ..block.clone() };
        let generator = |block: &Block| {
            let Source::Native(inner) = &block.body.source else { return block.clone() };
            let blocks = inner.blocks.iter().map(nested).collect();
            let inner =
                NativeBody { file: inner.file.clone(), attributes: inner.attributes.clone(), blocks, ..**inner };
            Block { body: Body::native(inner), ..block.clone() }
        };
        let is_generator = |block: &Block| &*block.kind.name == "dynamic";
        let blocks = body.blocks.iter().map(|b| if is_generator(b) { generator(b) } else { nested(b) }).collect();
        let attributes = body.attributes.iter().map(unknown).collect();
        let source = NativeBody { file: body.file.clone(), attributes, blocks, ..**body };
        Body { source: Source::Native(Arc::new(source)), hidden: self.hidden.clone() }
    }

    /// The same items with other expressions, where `change` gives some: it is called with each argument and the kinds of the
    /// blocks around it. In JSON only the outermost arguments are visited.
    pub fn with_expressions(&self, change: &mut dyn FnMut(&[Arc<str>], &Attribute) -> Option<Expression>) -> Body {
        self.changed(&mut Vec::new(), change)
    }

    fn changed(
        &self,
        within: &mut Vec<Arc<str>>,
        change: &mut dyn FnMut(&[Arc<str>], &Attribute) -> Option<Expression>,
    ) -> Body {
        let mut replaced = |attribute: &Attribute, within: &[Arc<str>]| {
            Some(Attribute { expr: change(within, attribute)?, ..attribute.clone() })
        };
        match &self.source {
            Source::Native(body) => {
                let attributes =
                    body.attributes.iter().map(|a| replaced(a, within).unwrap_or_else(|| a.clone())).collect();
                let mut blocks = Vec::with_capacity(body.blocks.len());
                for block in &body.blocks {
                    within.push(block.kind.name.clone());
                    blocks.push(Block { body: block.body.changed(within, change), ..block.clone() });
                    within.pop();
                }
                let native = NativeBody { file: body.file.clone(), attributes, blocks, ..**body };
                Body { source: Source::Native(Arc::new(native)), hidden: self.hidden.clone() }
            }
            Source::Json(json) => {
                let (attributes, _) = json.just_attributes(self.hidden.as_deref());
                let attributes: Vec<_> = attributes.values().filter_map(|a| replaced(a, within)).collect();
                if attributes.is_empty() {
                    return self.clone();
                }
                let span = self.range().span;
                let over = NativeBody { file: self.file().clone(), attributes, blocks: Vec::new(), span, end: span };
                Body::merged(self.clone(), Body::native(over))
            }
            Source::Merged(merged) => {
                let (base, over) = (merged.base.changed(within, change), merged.over.changed(within, change));
                let merged = MergedBody { base, over, wins: merged.wins };
                Body { source: Source::Merged(Arc::new(merged)), hidden: self.hidden.clone() }
            }
        }
    }

    /// Everything that the schema names; what it does not name is an error.
    pub fn content(&self, schema: &BodySchema) -> (Content, Diagnostics) {
        let (content, mut diagnostics) = self.select(schema);
        self.report_rest(schema, &content, &mut diagnostics);
        (content, diagnostics)
    }

    fn report_rest(&self, schema: &BodySchema, content: &Content, diagnostics: &mut Diagnostics) {
        match &self.source {
            Source::Native(body) => self.report_unsupported(body, schema, content, diagnostics),
            Source::Json(body) => body.report_unsupported(schema, self.hidden.as_deref(), content, diagnostics),
            // What neither schema nor override names stays unreported, as in the reference.
            Source::Merged(merged) if merged.wins => {}
            Source::Merged(merged) => {
                merged.base.report_rest(schema, content, diagnostics);
                merged.over.report_rest(schema, content, diagnostics);
            }
        }
    }

    /// Everything that the schema names, and a body with the rest.
    pub fn partial_content(&self, schema: &BodySchema) -> (Content, Body, Diagnostics) {
        let (content, diagnostics) = self.select(schema);
        (content, self.without(schema), diagnostics)
    }

    /// The body without what the schema names.
    fn without(&self, schema: &BodySchema) -> Body {
        if let Source::Merged(merged) = &self.source {
            return merged.map(|body| body.without(schema));
        }
        let mut hidden = self.hidden.as_deref().cloned().unwrap_or_default();
        hidden.attributes.extend(schema.attributes.iter().map(|a| a.name.clone()));
        hidden.blocks.extend(schema.blocks.iter().map(|b| b.kind.clone()));
        Body { source: self.source.clone(), hidden: Some(Arc::new(hidden)) }
    }

    /// The whole body as attributes; blocks are an error.
    pub fn just_attributes(&self) -> (IndexMap<Arc<str>, Attribute>, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        match &self.source {
            Source::Native(body) => {
                if let Some(block) = self.visible_blocks(body).next() {
                    let summary = format!("Unexpected {:?} block", block.kind.name);
                    diagnostics.push(Diagnostic::error(summary, "Blocks are not allowed here.").at(block.kind_range()));
                }
                let attributes = self.visible_attributes(body).map(|a| (a.name.name.clone(), a.clone())).collect();
                (attributes, diagnostics)
            }
            Source::Json(body) => body.just_attributes(self.hidden.as_deref()),
            Source::Merged(merged) => {
                let mut attributes = diagnostics.take(merged.base.just_attributes());
                attributes.extend(diagnostics.take(merged.over.just_attributes()));
                (attributes, diagnostics)
            }
        }
    }

    /// All blocks of native syntax, for uses before the schema is known. In JSON, blocks need a schema.
    pub fn blocks(&self) -> Vec<&Block> {
        match &self.source {
            Source::Native(body) => self.visible_blocks(body).collect(),
            Source::Json(_) => Vec::new(),
            Source::Merged(merged) => {
                let mut blocks = merged.base.blocks();
                blocks.extend(merged.over.blocks());
                blocks
            }
        }
    }

    /// All attributes of native syntax, for a look ahead of a schema. In JSON only a schema can tell.
    pub fn attributes(&self) -> Vec<&Attribute> {
        match &self.source {
            Source::Native(body) => self.visible_attributes(body).collect(),
            Source::Json(_) => Vec::new(),
            Source::Merged(merged) => {
                let mut attributes = merged.base.attributes();
                attributes.extend(merged.over.attributes());
                attributes
            }
        }
    }

    fn visible_attributes<'a>(&'a self, body: &'a NativeBody) -> impl Iterator<Item = &'a Attribute> {
        let hidden = self.hidden.as_deref();
        body.attributes.iter().filter(move |a| hidden.is_none_or(|h| !h.attributes.contains(&a.name.name)))
    }

    fn visible_blocks<'a>(&'a self, body: &'a NativeBody) -> impl Iterator<Item = &'a Block> {
        let hidden = self.hidden.as_deref();
        body.blocks.iter().filter(move |b| hidden.is_none_or(|h| !h.blocks.contains(&b.kind.name)))
    }

    fn select(&self, schema: &BodySchema) -> (Content, Diagnostics) {
        match &self.source {
            Source::Native(body) => self.select_native(body, schema),
            Source::Json(body) => body.select(schema, self.hidden.as_deref()),
            Source::Merged(merged) => merged.select(schema),
        }
    }

    fn select_native(&self, body: &NativeBody, schema: &BodySchema) -> (Content, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let written: FxHashMap<&str, usize> = match body.attributes.is_empty() {
            true => FxHashMap::default(),
            false => body.attributes.iter().enumerate().map(|(i, a)| (&*a.name.name, i)).collect(),
        };
        let mut found = Vec::new();
        for wanted in &schema.attributes {
            let hidden = self.hidden.as_ref().is_some_and(|h| h.attributes.contains(&wanted.name));
            match written.get(&*wanted.name) {
                Some(i) if !hidden => found.push(*i),
                _ if wanted.required => {
                    diagnostics.push(missing_argument(&wanted.name, self.missing_item_range()));
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        let attributes = found.into_iter().map(|i| &body.attributes[i]);
        let mut content =
            Content { attributes: attributes.map(|a| (a.name.name.clone(), a.clone())).collect(), blocks: Vec::new() };
        for block in self.visible_blocks(body) {
            let Some(wanted) = schema.blocks.iter().find(|b| b.kind == block.kind.name) else { continue };
            match label_mistake(block, wanted) {
                Some(mistake) => diagnostics.push(mistake),
                None => content.blocks.push(block.clone()),
            }
        }
        (content, diagnostics)
    }

    fn report_unsupported(
        &self,
        body: &NativeBody,
        schema: &BodySchema,
        content: &Content,
        diagnostics: &mut Diagnostics,
    ) {
        for attribute in self.visible_attributes(body) {
            let name = &*attribute.name.name;
            if content.attributes.contains_key(name) {
                continue;
            }
            let unused = schema.attributes.iter().map(|a| &*a.name).filter(|a| !content.attributes.contains_key(*a));
            let hint = match suggest::name(name, unused) {
                Some(other) => format!(" Did you mean {other:?}?"),
                None if schema.blocks.iter().any(|b| &*b.kind == name) => {
                    format!(" Did you mean to define a block of type {name:?}?")
                }
                None => String::new(),
            };
            let detail = format!("An argument named {name:?} is not expected here.{hint}");
            diagnostics.push(Diagnostic::error("Unsupported argument", detail).at(attribute.name_range()));
        }
        for block in self.visible_blocks(body) {
            let kind = &*block.kind.name;
            if schema.blocks.iter().any(|b| &*b.kind == kind) {
                continue;
            }
            let hint = match suggest::name(kind, schema.blocks.iter().map(|b| &*b.kind)) {
                Some(other) => format!(" Did you mean {other:?}?"),
                None if schema.attributes.iter().any(|a| &*a.name == kind) => format!(
                    " Did you mean to define argument {kind:?}? If so, use the equals sign to assign it a value."
                ),
                None => String::new(),
            };
            let detail = format!("Blocks of type {kind:?} are not expected here.{hint}");
            diagnostics.push(Diagnostic::error(UNSUPPORTED_BLOCK, detail).at(block.kind_range()));
        }
    }
}

impl MergedBody {
    /// The same of what `change` makes of both.
    fn map(&self, change: impl Fn(&Body) -> Body) -> Body {
        let merged = MergedBody { base: change(&self.base), over: change(&self.over), wins: self.wins };
        Body { source: Source::Merged(Arc::new(merged)), hidden: None }
    }

    fn select(&self, schema: &BodySchema) -> (Content, Diagnostics) {
        if self.wins { self.select_winning(schema) } else { self.select_joined(schema) }
    }

    /// Both bodies by the schema, either with what the other has not.
    fn select_joined(&self, schema: &BodySchema) -> (Content, Diagnostics) {
        let mut lenient = schema.clone();
        lenient.attributes.iter_mut().for_each(|a| a.required = false);
        let mut diagnostics = Diagnostics::new();
        let mut content = diagnostics.take(self.base.select(&lenient));
        let more = diagnostics.take(self.over.select(&lenient));
        for (name, attribute) in more.attributes {
            if let Some(first) = content.attributes.get(&name) {
                let detail = format!("Argument {:?} was already set at {}", &*name, first.name_range());
                diagnostics.push(Diagnostic::error(DUPLICATE_ARGUMENT, detail).at(attribute.name_range()));
                continue;
            }
            content.attributes.insert(name, attribute);
        }
        content.blocks.extend(more.blocks);
        let missing = schema.attributes.iter().filter(|a| a.required && !content.attributes.contains_key(&a.name));
        diagnostics.extend(missing.map(|a| argument_not_set(&a.name)).collect::<Diagnostics>());
        (content, diagnostics)
    }

    /// Both bodies by the schema; what the override has wins.
    fn select_winning(&self, schema: &BodySchema) -> (Content, Diagnostics) {
        let mut base_schema = schema.clone();
        let wants_dynamic = schema.blocks.iter().any(|b| &*b.kind == "dynamic");
        if !wants_dynamic {
            base_schema = base_schema.block("dynamic", &["type"]);
        }
        let mut over_schema = base_schema.clone();
        over_schema.attributes.iter_mut().for_each(|a| a.required = false);
        let mut diagnostics = Diagnostics::new();
        let mut content = diagnostics.take(self.base.select(&base_schema));
        let over = diagnostics.take(self.over.select(&over_schema));
        content.attributes.extend(over.attributes);
        let replaced: FxHashSet<Arc<str>> = over.blocks.iter().map(|b| produced_kind(b).clone()).collect();
        content.blocks.retain(|b| !replaced.contains(produced_kind(b)));
        content.blocks.extend(over.blocks);
        if !wants_dynamic {
            content.blocks.retain(|b| &*b.kind.name != "dynamic");
        }
        (content, diagnostics)
    }
}

/// The kind of block that a block stands for: a `dynamic` block for those it generates.
fn produced_kind(block: &Block) -> &Arc<str> {
    match &*block.kind.name {
        "dynamic" if !block.labels.is_empty() => block.label(0),
        _ => &block.kind.name,
    }
}

fn label_mistake(block: &Block, wanted: &BlockSchema) -> Option<Diagnostic> {
    let (kind, given, names) = (&block.kind.name, block.labels.len(), &wanted.label_names);
    let header = block.kind.span.to(block.open).in_file(block.file());
    if given > names.len() {
        let detail = match names.len() {
            0 => format!("No labels are expected for {kind} blocks."),
            n => format!("Only {n} labels ({}) are expected for {kind} blocks.", names.join(", ")),
        };
        let subject = block.label_range(names.len());
        return Some(Diagnostic::error(format!("Extraneous label for {kind}"), detail).at(subject).within(header));
    }
    let missing = names.get(given)?;
    let detail = format!("All {kind} blocks must have {} labels ({}).", names.len(), names.join(", "));
    let subject = block.open.in_file(block.file());
    Some(Diagnostic::error(format!("Missing {missing} for {kind}"), detail).at(subject).within(header))
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({:?})", self.range())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parser::parse_file;

    fn body(text: &str) -> Body {
        parse_file(SourceFile::new("t.tf", text)).0
    }

    fn texts(diagnostics: &Diagnostics) -> Vec<&str> {
        diagnostics.iter().map(|d| d.detail.as_str()).collect()
    }

    /// A `dynamic` block counts as those that it generates; only those who ask for it get it.
    #[test]
    fn overrides_replace_dynamic_blocks() {
        let base = body("a {}\ndynamic \"b\" {\n}\ndynamic \"c\" {\n}\nlifecycle {\n}\n");
        let merged = Body::merged(base, body("b {}\ndynamic \"a\" {\n}\n"));
        let kinds = |schema: BodySchema| {
            let (content, rest, found) = merged.partial_content(&schema);
            assert!(found.is_empty(), "{found:?}");
            let kind =
                |b: &Block| [&*b.kind.name, b.labels.first().map_or("", |l| &*l.text)].join(" ").trim_end().to_string();
            (content.blocks.iter().map(kind).collect::<Vec<_>>(), rest)
        };
        let (found, rest) = kinds(BodySchema::new().block("lifecycle", &[]));
        assert_eq!(found, ["lifecycle"]);
        let all = ["a", "b", "c"].into_iter().fold(BodySchema::new(), |schema, kind| schema.block(kind, &[]));
        assert_eq!(kinds(all.clone()).0, ["b"]);
        let (content, found) = rest.content(&all.block("dynamic", &["type"]));
        assert!(found.is_empty(), "{found:?}");
        let kinds: Vec<&str> = content.blocks.iter().map(|b| &*b.kind.name).collect();
        assert_eq!(kinds, ["dynamic", "b", "dynamic"]);
    }

    /// As the reference reads the escaping block of a module call.
    #[test]
    fn joined_bodies_are_read_together() {
        let schema = BodySchema::new().required("a").attribute("b").required("c");
        let (content, found) = Body::joined(body("b = 1\n"), body("a = 2\nc = 3\n")).content(&schema);
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(content.attributes.keys().map(|name| &**name).collect::<Vec<_>>(), ["b", "a", "c"]);
        let (_, found) =
            Body::joined(body("b = 1\nunknown = 1\n"), body("a = 2\nb = 3\nstrange = 1\n")).content(&schema);
        assert_eq!(
            texts(&found),
            [
                "Argument \"b\" was already set at t.tf:1,1-2",
                "The argument \"c\" is required, but was not set.",
                "An argument named \"unknown\" is not expected here.",
                "An argument named \"strange\" is not expected here.",
            ]
        );
    }
}
