//! `output` blocks.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::ast::Block;
use lang::syntax::body::BodySchema;

use super::block::Output;
use super::{condition, references, variable};
use crate::config::constants::constant;

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
    references::check_label(block, 0, "Invalid output name", diags);
    let description = content.attribute("description").and_then(|a| constant::string(a, diags));
    let sensitive = content.attribute("sensitive").and_then(|a| constant::bool(a, diags)).unwrap_or(false);
    let ephemeral = content.attribute("ephemeral").and_then(|a| constant::bool(a, diags)).unwrap_or(false);
    let depends_on = content.attribute("depends_on").map(|a| references::depends_on(a, diags)).unwrap_or_default();
    let ty = content.attribute("type").map(|a| variable::decode_plain_type(&a.expr, diags));
    let deprecated =
        content.attribute("deprecated").and_then(|a| variable::decode_deprecated(a, "output value", diags));
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
