//! `plan_options` blocks.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::ast::Block;
use lang::syntax::body::BodySchema;

use super::run::PlanOptions;
use crate::config::blocks::references;
use crate::config::constants::constant;

static SCHEMA: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().attribute("mode").attribute("refresh").attribute("replace").attribute("target"));

pub fn decode(block: &Block, diags: &mut Diagnostics) -> PlanOptions {
    let content = diags.take(block.body.content(&SCHEMA));
    let mut options = PlanOptions::default();
    if let Some(attribute) = content.attribute("mode") {
        match attribute.expr.as_keyword() {
            Some("normal") => {}
            Some("refresh-only") => options.refresh_only = true,
            _ => {
                let detail = "The \"mode\" argument requires one of the following keywords without quotes: normal or \
                              refresh-only";
                diags.push(Diagnostic::error("Invalid \"mode\" keyword", detail).at(attribute.expr.range()));
            }
        }
    }
    let refresh = content.attribute("refresh");
    if let Some(value) = refresh.and_then(|a| constant::bool(a, diags)) {
        options.refresh = value;
    }
    let mut references = |name| content.attribute(name).map(|a| references::depends_on(a, diags)).unwrap_or_default();
    options.replace = references("replace");
    options.target = references("target");
    if let Some(attribute) = refresh.filter(|_| options.refresh_only && !options.refresh) {
        let detail = "The \"refresh\" option cannot be set to false when running a test in \"refresh-only\" mode.";
        diags.push(Diagnostic::error("Incompatible plan options", detail).at(attribute.range()));
    }
    options
}
