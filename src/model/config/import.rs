//! `import` blocks: an existing object becomes managed.

use std::sync::LazyLock;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::source::Range;
use crate::lang::syntax::ast::{Attribute, Block, ExprKind, Expression, Traversal, TraversalStep};
use crate::lang::syntax::body::BodySchema;
use crate::model::addr::parse::parse_target_traversal;
use crate::model::addr::{ConfigResource, ResourceMode, Target};

use super::block::ProviderRef;
use super::names;

static SCHEMA: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().attribute("provider").attribute("for_each").required("id").required("to"));

/// `import {}` of the root module.
#[derive(Clone, Debug)]
pub struct Import {
    /// The block that the object will belong to.
    pub resource: ConfigResource,
    /// The address as written: keys may be expressions.
    pub to: Expression,
    pub id: Expression,
    pub for_each: Option<Expression>,
    pub provider_ref: Option<ProviderRef>,
    pub range: Range,
}

pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<Import> {
    let content = diags.take(block.body.content(&SCHEMA));
    let provider_ref = content.attribute("provider").and_then(|a| names::provider_ref(&a.expr, "provider", diags));
    let id = content.attribute("id").map(|a| a.expr.clone());
    let to = content.attribute("to")?;
    let resource = target(to, diags)?;
    let for_each = content.attribute("for_each").map(|a| a.expr.clone());
    Some(Import { resource, to: to.expr.clone(), id: id?, for_each, provider_ref, range: block.header_range() })
}

/// The resource that `to` names, whatever its keys.
fn target(to: &Attribute, diags: &mut Diagnostics) -> Option<ConfigResource> {
    let mut steps = Vec::new();
    let Some((root, span)) = without_keys(&to.expr, &mut steps) else {
        let detail = "Invalid import address expression; only a resource address, with instance keys that may be expressions, \
                      is allowed.";
        diags.push(Diagnostic::error("Invalid 'to' expression", detail).at(to.expr.range()));
        return None;
    };
    let traversal = Traversal { root, steps, span };
    let only_managed = || Diagnostic::error("Invalid import address", "Only managed resources can be imported.").at(to.range());
    match parse_target_traversal(&traversal, &to.expr.file) {
        Ok(Target::Resource(addr)) if addr.resource.mode == ResourceMode::Managed => Some(addr.config()),
        Ok(Target::ModuleInstance(_)) => {
            let detail = "A resource instance address is required here. The module path must be followed by a resource \
                          instance specification.";
            diags.push(Diagnostic::error("Invalid address", detail).at(to.expr.range()));
            diags.push(only_managed());
            None
        }
        Ok(_) => {
            diags.push(only_managed());
            None
        }
        Err(error) => {
            diags.push(error);
            None
        }
    }
}

/// The attribute steps of an address without its keys.
fn without_keys(
    expr: &Expression,
    steps: &mut Vec<TraversalStep>,
) -> Option<(crate::lang::syntax::ast::Ident, crate::base::source::Span)> {
    let attributes = |from: &[TraversalStep], steps: &mut Vec<TraversalStep>| {
        steps.extend(from.iter().filter(|s| matches!(s, TraversalStep::Attr { .. })).cloned());
    };
    match expr.kind() {
        ExprKind::Variable(traversal) => {
            attributes(&traversal.steps, steps);
            Some((traversal.root.clone(), traversal.span))
        }
        ExprKind::Index { collection, .. } => without_keys(&expr.part(collection), steps),
        ExprKind::RelativeTraversal { source, steps: more } => {
            let found = without_keys(&expr.part(source), steps)?;
            attributes(more, steps);
            Some(found)
        }
        _ => None,
    }
}
