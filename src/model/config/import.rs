//! `import` blocks: an existing object becomes managed.

use crate::model::addr::parse::INSTANCE_REQUIRED;
use crate::model::addr::parse::INVALID_ADDRESS;
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
    let provider_ref = content.attribute("provider").and_then(|a| {
        let found = names::provider_ref(&a.expr, "provider", diags)?;
        Some(ProviderRef { range: a.range(), ..found })
    });
    let id = content.attribute("id").map(|a| a.expr.clone());
    let to = &names::native_reference(content.attribute("to")?, diags)?;
    let resource = target(to, diags)?;
    let for_each = content.attribute("for_each").map(|a| a.expr.clone());
    Some(Import { resource, to: to.expr.clone(), id: id?, for_each, provider_ref, range: block.header_range() })
}

/// Mistakes among the imports of a module: only the root has them, and one for each address.
pub fn check(module: &super::Module, diags: &mut Diagnostics) {
    for (index, import) in module.imports.iter().enumerate() {
        if !module.path.is_root() {
            let detail = format!(
                "An import block was detected in {:?}. Import blocks are only allowed in the root module.",
                module.path.to_string()
            );
            diags.push(Diagnostic::error("Invalid import configuration", detail).at(import.range.clone()));
            continue;
        }
        let Some(addr) = static_address(import) else { continue };
        let first = module.imports[..index].iter().find(|other| static_address(other).as_ref() == Some(&addr));
        if let Some(first) = first {
            let detail = format!(
                "An import block for the resource {addr:?} was already declared at {}. A resource can have only one import \
                 block.",
                first.range
            );
            let summary = format!("Duplicate import configuration for {addr:?}");
            diags.push(Diagnostic::error(summary, detail).at(import.to.range()));
        }
        if let Some(reference) =
            import.provider_ref.as_ref().filter(|_| module.resources.contains_key(&import.resource.resource))
        {
            let detail = "The provider argument can only be specified in import blocks that will generate \
                          configuration.\n\nUse the provider argument in the target resource block to configure the provider for \
                          a resource with explicit provider configuration.";
            diags.push(Diagnostic::error("Invalid import provider argument", detail).at(reference.range.clone()));
        }
    }
}

/// The address of an import of one instance, known without evaluating anything.
fn static_address(import: &Import) -> Option<String> {
    match import.to.kind() {
        ExprKind::Variable(traversal) => parse_target_traversal(traversal, &import.to.file).ok().map(|t| t.to_string()),
        _ => None,
    }
}

/// The resource that `to` names, whatever its keys.
fn target(to: &Attribute, diags: &mut Diagnostics) -> Option<ConfigResource> {
    let only_managed =
        || Diagnostic::error("Invalid import address", "Only managed resources can be imported.").at(to.range());
    let mut steps = Vec::new();
    let Some((root, span)) = without_keys(&to.expr, &mut steps) else {
        names::static_traversal(&to.expr, diags);
        diags.push(only_managed());
        return None;
    };
    let traversal = Traversal { root, steps, span };
    match parse_target_traversal(&traversal, &to.expr.file) {
        Ok(Target::Resource(addr)) if addr.resource.mode == ResourceMode::Managed => Some(addr.config()),
        Ok(Target::ModuleInstance(_)) => {
            diags.push(Diagnostic::error(INVALID_ADDRESS, INSTANCE_REQUIRED).at(to.expr.range()));
            diags.push(only_managed());
            None
        }
        Ok(_) => {
            diags.push(only_managed());
            None
        }
        Err(error) => {
            diags.push(error);
            diags.push(only_managed());
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
