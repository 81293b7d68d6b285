//! Bodies in JSON syntax, read by schema: which properties are arguments and which are blocks, with how many labels, is
//! known only from there.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile, Span};
use base::suggest;
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::ast::{Attribute, Block, Expr, ExprKind, Expression, Ident, Label};
use super::body::{Body, BodySchema, Content, Hidden};
use super::json::{Member, Node, NodeKind};
use crate::syntax::syntax_errors::{DUPLICATE_ARGUMENT, missing_argument};

/// Properties of this name are remarks, wherever a body is expected.
const COMMENT: &str = "//";
const WRONG_TYPE: &str = "Incorrect JSON value type";

/// A value where a body is expected.
#[derive(Clone)]
pub(super) struct JsonBody {
    pub file: Arc<SourceFile>,
    pub value: Arc<Node>,
    unknown: Unknown,
}

/// Which expressions are taken as unknown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    None,
    All,
    /// Those inside the nested blocks, as in a `dynamic` block.
    Nested,
}

impl JsonBody {
    pub fn new(file: Arc<SourceFile>, value: Arc<Node>) -> JsonBody {
        JsonBody { file, value, unknown: Unknown::None }
    }

    /// The same items with expressions that evaluate to unknown values. The `for_each` of `dynamic` blocks stays.
    pub fn unknown(&self) -> JsonBody {
        JsonBody { unknown: Unknown::All, ..self.clone() }
    }

    pub fn missing_item_range(&self) -> Range {
        let span = match &self.value.kind {
            NodeKind::Object(object) => object.close,
            _ => self.value.start_span(),
        };
        span.in_file(&self.file)
    }

    fn wrong_type(&self, at: &Node, detail: impl Into<String>) -> Diagnostic {
        Diagnostic::error(WRONG_TYPE, detail).at(at.start_span().in_file(&self.file))
    }

    /// The properties of an object, or of all objects of an array; `label` is what their names are for, if they are
    /// labels of a block.
    fn members<'n>(&self, value: &'n Node, label: Option<&str>, diagnostics: &mut Diagnostics) -> Vec<&'n Arc<Member>> {
        let purpose = || match label {
            Some(label) => format!("is required here, to specify {label} labels for this block."),
            None => "is required here, to define arguments and child blocks.".to_string(),
        };
        match &value.kind {
            NodeKind::Null => Vec::new(),
            NodeKind::Object(object) => object.members.iter().collect(),
            NodeKind::Array { items, .. } => {
                let mut found = Vec::new();
                for item in items {
                    match &item.kind {
                        NodeKind::Object(object) => found.extend(&object.members),
                        _ => diagnostics.push(self.wrong_type(item, format!("A JSON object {}", purpose()))),
                    }
                }
                found
            }
            _ => {
                let detail = format!("Either a JSON object or JSON array of objects {}", purpose());
                diagnostics.push(self.wrong_type(value, detail));
                Vec::new()
            }
        }
    }

    fn attribute(&self, member: &Arc<Member>) -> Attribute {
        let expr = match self.unknown {
            Unknown::All => {
                let node = Arc::new(Expr::new(member.value.span, ExprKind::Error));
                Expression { file: self.file.clone(), node }
            }
            _ => member.expression(&self.file),
        };
        Attribute {
            name: Ident { name: member.name.text.clone(), span: member.name_span },
            expr,
            equals: member.name_span,
            span: member.name_span.to(member.value.span),
        }
    }

    fn range(&self, span: Span) -> Range {
        span.in_file(&self.file)
    }

    pub fn select(&self, schema: &BodySchema, hidden: Option<&Hidden>) -> (Content, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let mut content = Content::default();
        let members = self.members(&self.value, None, &mut diagnostics);
        let arguments: FxHashSet<&str> = schema.attributes.iter().map(|a| &*a.name).collect();
        let blocks: FxHashMap<&str, &[Arc<str>]> =
            schema.blocks.iter().map(|b| (&*b.kind, b.label_names.as_slice())).collect();
        for member in members {
            let name = &member.name.text;
            if hidden.is_some_and(|h| h.has(name)) {
                continue;
            }
            if arguments.contains(&**name) {
                match content.attributes.get(name) {
                    None => {
                        content.attributes.insert(name.clone(), self.attribute(member));
                    }
                    Some(existing) => {
                        let detail = format!("The argument {name:?} was already set at {}.", existing.range());
                        let problem = Diagnostic::error(DUPLICATE_ARGUMENT, detail);
                        diagnostics.push(problem.at(self.range(member.name_span)));
                    }
                }
            } else if let Some(labels) = blocks.get(&**name) {
                let mut reader =
                    BlockReader { body: self, kind: member, labels: Vec::new(), blocks: &mut content.blocks };
                reader.read(&member.value, labels, &mut diagnostics);
            }
        }
        for wanted in schema.attributes.iter().filter(|a| a.required && !content.attributes.contains_key(&a.name)) {
            diagnostics.push(missing_argument(&wanted.name, self.missing_item_range()));
        }
        (content, diagnostics)
    }

    /// Reports the properties that neither the schema names nor an earlier read took.
    pub fn report_unsupported(
        &self,
        schema: &BodySchema,
        hidden: Option<&Hidden>,
        content: &Content,
        diagnostics: &mut Diagnostics,
    ) {
        // The second word on values of a wrong type is the reference's too.
        let members = self.members(&self.value, None, diagnostics);
        let known: FxHashSet<&str> =
            schema.attributes.iter().map(|a| &*a.name).chain(schema.blocks.iter().map(|b| &*b.kind)).collect();
        for member in members {
            let name = &*member.name.text;
            if name == COMMENT || known.contains(name) || hidden.is_some_and(|h| h.has(name)) {
                continue;
            }
            let arguments = schema.attributes.iter().map(|a| &*a.name).filter(|a| !content.attributes.contains_key(*a));
            let hint = suggest::name(name, arguments.chain(schema.blocks.iter().map(|b| &*b.kind)));
            let hint = hint.map(|other| format!(" Did you mean {other:?}?")).unwrap_or_default();
            let detail = format!("No argument or block type is named {name:?}.{hint}");
            let problem = Diagnostic::error("Extraneous JSON object property", detail);
            diagnostics.push(problem.at(self.range(member.name_span)));
        }
    }

    /// All properties as arguments.
    pub fn just_attributes(&self, hidden: Option<&Hidden>) -> (IndexMap<Arc<str>, Attribute>, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let mut attributes: IndexMap<Arc<str>, Attribute> = IndexMap::new();
        let NodeKind::Object(object) = &self.value.kind else {
            let detail = "A JSON object is required here, setting the arguments for this block.";
            diagnostics.push(self.wrong_type(&self.value, detail));
            return (attributes, diagnostics);
        };
        for member in &object.members {
            let name = &member.name.text;
            if &**name == COMMENT || hidden.is_some_and(|h| h.has(name)) {
                continue;
            }
            match attributes.get(name) {
                None => {
                    attributes.insert(name.clone(), self.attribute(member));
                }
                Some(existing) => {
                    let detail = format!("The argument {name:?} was already set at {}.", existing.range());
                    let problem = Diagnostic::error("Duplicate attribute definition", detail);
                    diagnostics.push(problem.at(self.range(member.name_span)));
                }
            }
        }
        (attributes, diagnostics)
    }
}

/// Takes the labels off the blocks of one kind, a level of objects each.
struct BlockReader<'b> {
    body: &'b JsonBody,
    kind: &'b Member,
    labels: Vec<Label>,
    blocks: &'b mut Vec<Block>,
}

impl BlockReader<'_> {
    fn read(&mut self, value: &Arc<Node>, labels: &[Arc<str>], diagnostics: &mut Diagnostics) {
        let Some((label, rest)) = labels.split_first() else {
            return self.read_bodies(value, diagnostics);
        };
        let members = self.body.members(value, Some(label), diagnostics);
        if members.is_empty() {
            let detail = format!(
                "At least one object property is required, whose name represents the {} block's {label}.",
                self.kind.name.text
            );
            let subject = self.body.range(value.start_span());
            diagnostics.push(Diagnostic::error("Missing block label", detail).at(subject));
        }
        for member in members {
            self.labels.push(Label { text: member.name.text.clone(), span: member.name_span });
            self.read(&member.value, rest, diagnostics);
            self.labels.pop();
        }
    }

    fn read_bodies(&mut self, value: &Arc<Node>, diagnostics: &mut Diagnostics) {
        match &value.kind {
            NodeKind::Null => {}
            NodeKind::Object(object) => self.add(value, object.open),
            NodeKind::Array { items, open } => items.iter().for_each(|item| self.add(item, *open)),
            _ => {
                let detail = format!(
                    "Either a JSON object or a JSON array is required, representing the contents of one or more {:?} blocks.",
                    self.kind.name.text
                );
                diagnostics.push(self.body.wrong_type(value, detail));
            }
        }
    }

    fn add(&mut self, value: &Arc<Node>, open: Span) {
        let unknown = match self.body.unknown {
            Unknown::None => Unknown::None,
            Unknown::Nested => Unknown::All,
            Unknown::All if &*self.kind.name.text == "dynamic" => Unknown::Nested,
            Unknown::All => Unknown::All,
        };
        let close = match &value.kind {
            NodeKind::Object(object) => object.close,
            _ => value.span,
        };
        self.blocks.push(Block {
            kind: Ident { name: self.kind.name.text.clone(), span: self.kind.name_span },
            labels: self.labels.clone(),
            body: Body::of_json(JsonBody { file: self.body.file.clone(), value: value.clone(), unknown }),
            open,
            close,
        });
    }
}
