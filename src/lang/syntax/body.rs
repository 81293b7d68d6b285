//! Reading bodies by schema: the one way other areas read the attributes and blocks that people wrote.
//!
//! A [`Body`] is cheap to clone; what a partial read took is hidden from the remaining body, never removed.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use super::ast::{Attribute, Block};
use crate::base::diag::Diagnostics;
use crate::base::source::{Range, SourceFile, Span};

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
    source: Arc<NativeBody>,
    hidden: Option<Arc<Hidden>>,
}

/// A body in native syntax: its items in source order. `end` is an empty span behind the last token: where a missing
/// item would stand.
#[derive(Debug)]
pub struct NativeBody {
    pub file: Arc<SourceFile>,
    pub attributes: Vec<Attribute>,
    pub blocks: Vec<Block>,
    pub span: Span,
    pub end: Span,
}

#[derive(Clone, Debug, Default)]
struct Hidden {
    attributes: FxHashSet<Arc<str>>,
    blocks: FxHashSet<Arc<str>>,
}

impl Body {
    pub fn native(body: NativeBody) -> Body {
        Body { source: Arc::new(body), hidden: None }
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

    pub fn file(&self) -> &Arc<SourceFile> {
        &self.source.file
    }

    pub fn range(&self) -> Range {
        self.source.span.in_file(&self.source.file)
    }

    /// Where a missing item would stand.
    pub fn missing_item_range(&self) -> Range {
        self.source.end.in_file(&self.source.file)
    }

    /// Everything that the schema names; what it does not name is an error.
    pub fn content(&self, _schema: &BodySchema) -> (Content, Diagnostics) {
        (Content::default(), Diagnostics::new())
    }

    /// Everything that the schema names, and a body with the rest.
    pub fn partial_content(&self, _schema: &BodySchema) -> (Content, Body, Diagnostics) {
        (Content::default(), self.clone(), Diagnostics::new())
    }

    /// The whole body as attributes; blocks are an error.
    pub fn just_attributes(&self) -> (IndexMap<Arc<str>, Attribute>, Diagnostics) {
        (IndexMap::new(), Diagnostics::new())
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({:?})", self.range())
    }
}
