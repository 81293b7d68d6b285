//! `check` blocks: assertions about the whole, with a data source of their own.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::Block;
use lang::syntax::body::{Body, BodySchema};
use terrane_protocol::schema::ResourceMode;

use super::by_name::{Duplicate, Named};
use super::condition::{self, Condition};
use super::labels;
use super::override_bodies::{have_same_labels, items};
use super::resource::{self, Resource};
use crate::addr;

static SCHEMA: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().block("data", &["type", "name"]).block("assert", &[]));

/// `check "name" {}`. Its data source stands among the module's resources.
#[derive(Clone, Debug)]
pub struct Check {
    pub name: Arc<str>,
    pub data: Option<addr::Resource>,
    pub asserts: Vec<Condition>,
    pub range: Range,
}

/// The block, and the data source inside it.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> (Check, Option<Resource>) {
    labels::check_label(block, 0, "Invalid check block name", diags);
    let content = diags.take(block.body.content(&SCHEMA));
    let mut check =
        Check { name: block.label(0).clone(), data: None, asserts: Vec::new(), range: block.header_range() };
    let mut scoped: Option<Resource> = None;
    for inner in content.blocks_of("data") {
        if let Some(first) = &scoped {
            let detail = format!("This check block already has a data resource defined at {}.", first.range);
            diags.push(Diagnostic::error("Multiple data resource blocks", detail).at(inner.header_range()));
            continue;
        }
        let mut problems = Diagnostics::new();
        refuse_meta_arguments(inner, &mut problems);
        let decoded = resource::decode(inner, ResourceMode::Data, &mut problems);
        // One with errors does not count as the one that a check may have.
        if !problems.has_errors() {
            check.data = Some(decoded.addr.clone());
            scoped = Some(decoded);
        }
        diags.extend(problems);
    }
    let mut found = false;
    for inner in content.blocks_of("assert") {
        let mut problems = Diagnostics::new();
        let assert = condition::decode(inner, &mut problems);
        found |= !problems.has_errors();
        diags.extend(problems);
        check.asserts.extend(assert);
    }
    if !found || check.asserts.is_empty() {
        let detail = "Check blocks must have at least one assert block.";
        diags.push(Diagnostic::error("Zero assert blocks", detail).at(block.header_range()));
    }
    (check, scoped)
}

/// A scoped data source is read once, as part of its check.
fn refuse_meta_arguments(block: &Block, diags: &mut Diagnostics) {
    let probe = BodySchema::new().attribute("count").attribute("for_each").block("lifecycle", &[]);
    let (content, _, _) = block.body.partial_content(&probe);
    for name in ["count", "for_each"] {
        if let Some(attribute) = content.attribute(name) {
            let detail = "The \"count\" and \"for_each\" meta-arguments are not supported within nested data blocks.";
            diags.push(Diagnostic::error(format!("Invalid \"{name}\" attribute"), detail).at(attribute.name_range()));
        }
    }
    for lifecycle in content.blocks_of("lifecycle") {
        let detail = "Nested data blocks do not support \"lifecycle\" blocks as the lifecycle is managed by the \
                      containing block.";
        diags.push(Diagnostic::error("Invalid lifecycle block", detail).at(lifecycle.header_range()));
    }
}

impl Named for Check {
    const DUPLICATE: Duplicate = Duplicate {
        summary: "Duplicate check NAME configuration",
        what: "A check block",
        verb: "declared",
        rule: "Check blocks must be unique within each module.",
    };

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn range(&self) -> &Range {
        &self.range
    }
}

/// The error of a `check` block in an override file.
pub const NOT_OVERRIDABLE: (&str, &str) =
    ("Can't override check blocks", "Override files cannot override check blocks.");

/// Overrides a data source that a `check` block has for itself. False if there is none.
pub fn override_data(files: &mut [Vec<Block>], over: &Block) -> bool {
    for check in files.iter_mut().flatten().filter(|block| block.kind.as_str() == "check") {
        if let Some(body) = with_override(check, over) {
            check.body = body;
            return true;
        }
    }
    false
}

/// The body of a `check` block whose data source is overridden. None if it has no such data source.
fn with_override(check: &Block, over: &Block) -> Option<Body> {
    let schema = BodySchema::new().block("data", &["type", "name"]);
    let (content, rest, _) = check.body.partial_content(&schema);
    let mut blocks = content.blocks;
    let base = blocks.iter_mut().find(|block| have_same_labels(block, over))?;
    base.body = resource::DATA_OVERRIDE.merged(&base.body, &over.body);
    Some(Body::joined(rest, items(check, Vec::new(), blocks)))
}
