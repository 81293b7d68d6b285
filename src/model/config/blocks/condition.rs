//! Blocks that hold a condition: `validation`, `precondition`, `postcondition`, `assert`.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{Block, Expression, Traversal};
use lang::syntax::body::BodySchema;
use terrane_protocol::schema::ResourceMode;

use crate::addr;

/// `validation`, `precondition`, `postcondition` or `assert`: a condition and what to say when it is false.
#[derive(Clone, Debug)]
pub struct Condition {
    pub condition: Expression,
    pub error_message: Expression,
    pub range: Range,
}

static SCHEMA: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().required("condition").required("error_message"));

/// One block with a condition; none if an argument is missing.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<Condition> {
    let content = diags.take(block.body.content(&SCHEMA));
    let condition = content.attribute("condition")?;
    if condition.expr.variables().is_empty() {
        diags.push(
            Diagnostic::error(
                format!("Invalid {} expression", block.kind.name),
                "The condition expression must refer to at least one object from elsewhere in the configuration, or \
                 else its result would not be checking anything.",
            )
            .at(condition.expr.range()),
        );
    }
    let error_message = content.attribute("error_message")?;
    Some(Condition {
        condition: condition.expr.clone(),
        error_message: error_message.expr.clone(),
        range: block.header_range(),
    })
}

/// A `validation` block of a variable: its condition must refer to that variable.
pub fn decode_validation(variable: &str, block: &Block, diags: &mut Diagnostics) -> Option<Condition> {
    let rule = decode(block, diags)?;
    let refers = |expr: &lang::syntax::ast::Expression| {
        expr.variables().iter().any(|t| t.root_name() == "var" && t.attr(0) == Some(variable))
    };
    if !refers(&rule.condition) {
        diags.push(
            Diagnostic::error(
                "Invalid variable validation condition",
                format!("The condition for variable {variable:?} must refer to var.{variable} in order to test incoming values."),
            )
            .at(rule.condition.range()),
        );
    }
    Some(rule)
}

/// Reports references to the resource itself by name: conditions say `self`, and only where there is an object yet.
pub fn check_self_references(rule: &Condition, kind: &str, resource: &addr::Resource, diags: &mut Diagnostics) {
    for expr in [&rule.condition, &rule.error_message] {
        for traversal in expr.variables() {
            if names_resource(traversal, resource) {
                let detail = format!("Configuration for {resource} may not refer to itself.");
                let range = expr.range();
                diags.push(Diagnostic::error(format!("Invalid reference in {kind}"), detail).at(range));
            }
        }
    }
}

fn names_resource(traversal: &Traversal, resource: &addr::Resource) -> bool {
    let (kind, name) = match resource.mode {
        ResourceMode::Managed => (Some(traversal.root_name()), traversal.attr(0)),
        mode if traversal.root_name() == mode.keyword() => (traversal.attr(0), traversal.attr(1)),
        _ => return false,
    };
    kind == Some(&*resource.kind) && name == Some(&*resource.name)
}
