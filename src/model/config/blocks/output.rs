//! `output` blocks.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::eval::type_expression::Defaults;
use lang::syntax::ast::{Block, Expression, Traversal};
use lang::syntax::body::BodySchema;
use terrane_value::{Marks, Type};

use super::by_name::{Duplicate, Named};
use super::condition::{self, Condition};
use super::deprecation::{self, Deprecation};
use super::override_rule::{OverrideRule, missing_base};
use super::{labels, override_bodies, references, variable};
use crate::config::constants::constant;

/// `output "name" {}`.
#[derive(Clone, Debug)]
pub struct Output {
    pub name: Arc<str>,
    pub description: Option<String>,
    /// What the value is converted to, with defaults of optional attributes; none: it stays as it is.
    pub ty: Option<(Type, Option<Arc<Defaults>>)>,
    pub value: Expression,
    pub sensitive: bool,
    pub ephemeral: bool,
    /// For callers that refer to it.
    pub deprecated: Option<Deprecation>,
    pub depends_on: Vec<Traversal>,
    pub preconditions: Vec<Condition>,
    pub range: Range,
}

impl Output {
    /// The marks that the block adds to the output's value.
    pub fn marks(&self) -> Marks {
        Marks::SENSITIVE.when(self.sensitive) | Marks::EPHEMERAL.when(self.ephemeral)
    }
}

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .attribute("description")
        .required("value")
        .attribute("depends_on")
        .attribute("sensitive")
        .attribute("ephemeral")
        .attribute("type")
        .attribute("deprecated")
        .block("precondition", &[])
        .block("postcondition", &[])
});

/// None if it has no value.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<Output> {
    let content = diags.take(block.body.content(&SCHEMA));
    labels::check_label(block, 0, "Invalid output name", diags);
    let description = content.attribute("description").and_then(|a| constant::string(a, diags));
    let sensitive = content.attribute("sensitive").and_then(|a| constant::bool(a, diags)).unwrap_or(false);
    let ephemeral = content.attribute("ephemeral").and_then(|a| constant::bool(a, diags)).unwrap_or(false);
    let depends_on = content.attribute("depends_on").map(|a| references::depends_on(a, diags)).unwrap_or_default();
    let ty = content.attribute("type").map(|a| variable::decode_plain_type(&a.expr, diags));
    let deprecated = content.attribute("deprecated").and_then(|a| deprecation::decode(a, "output value", diags));
    let mut preconditions = Vec::new();
    for block in &content.blocks {
        if block.kind.as_str() == "precondition" {
            preconditions.extend(condition::decode(block, diags));
        } else {
            diags.push(
                Diagnostic::error(
                    "Postconditions are not allowed",
                    "Output values can only have preconditions, not postconditions.",
                )
                .at(block.kind_range()),
            );
        }
    }
    Some(Output {
        name: block.label(0).clone(),
        description,
        ty,
        value: content.attribute("value")?.expr.clone(),
        sensitive,
        ephemeral,
        deprecated,
        depends_on,
        preconditions,
        range: block.header_range(),
    })
}

impl Named for Output {
    const DUPLICATE: Duplicate = Duplicate {
        summary: "Duplicate output definition",
        what: "An output",
        verb: "defined",
        rule: "Output names must be unique within a module.",
    };

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn range(&self) -> &Range {
        &self.range
    }
}

/// The effect of a block in an override file.
pub const OVERRIDE: OverrideRule = OverrideRule {
    allowed: |body, diags| override_bodies::refuse(body, &["precondition", "postcondition"], diags),
    required: Some("value"),
    ..OverrideRule::new(missing)
};

fn missing(over: &Block) -> Diagnostic {
    let subject = format!("output named {:?}", &**over.label(0));
    missing_base(over, "Missing base output definition to override", &subject, "an output that was already defined")
}
