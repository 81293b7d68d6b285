//! `import` blocks: an existing object becomes managed.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use indexmap::IndexMap;
use lang::syntax::ast::{Attribute, Block, ExprKind, Expression, Traversal, TraversalStep};
use lang::syntax::body::{BodySchema, Content};
use terrane_protocol::schema::ResourceMode;

use super::references;
use super::resource::Resource;
use crate::addr::parse::{INSTANCE_REQUIRED, INVALID_ADDRESS, parse_target_traversal};
use crate::addr::{self, ConfigResource, Target};
use crate::config::providers::provider_ref::{self, ProviderRef};
use crate::model_errors::INVALID_IMPORT_PROVIDER;
use crate::version::at_least;

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| common().required("id").required("to"));
/// Since Terraform 1.12 one of both is needed.
static EITHER: LazyLock<BodySchema> = LazyLock::new(|| common().attribute("id").required("to"));
static WITH_IDENTITY: LazyLock<BodySchema> =
    LazyLock::new(|| common().attribute("id").required("identity").required("to"));

fn common() -> BodySchema {
    BodySchema::new().attribute("provider").attribute("for_each")
}

/// How an import names the object that exists.
#[derive(Clone, Debug)]
pub enum ImportBy {
    Id(Expression),
    /// An object of the attributes that the provider says identify it.
    Identity(Expression),
}

impl ImportBy {
    pub fn expression(&self) -> &Expression {
        let (ImportBy::Id(expr) | ImportBy::Identity(expr)) = self;
        expr
    }
}

/// `import {}`. Addresses are relative to the module that the block stands in.
#[derive(Clone, Debug)]
pub struct Import {
    /// The block that the object will belong to.
    pub resource: ConfigResource,
    /// The address as written: keys may be expressions.
    pub to: Expression,
    pub by: ImportBy,
    pub for_each: Option<Expression>,
    pub provider_ref: Option<ProviderRef>,
    pub range: Range,
}

/// None if anything is wrong with it, which is reported.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<Import> {
    let mut found = Diagnostics::new();
    let import = decode_all(block, &mut found).filter(|_| !found.has_errors());
    diags.extend(found);
    import
}

fn decode_all(block: &Block, diags: &mut Diagnostics) -> Option<Import> {
    let probe = BodySchema::new().attribute("identity");
    let by_identity = block.body.partial_content(&probe).0.attribute("identity").is_some();
    let schema = match by_identity {
        true => &WITH_IDENTITY,
        false if at_least(12) => &EITHER,
        false => &SCHEMA,
    };
    let content = diags.take(block.body.content(schema));
    if at_least(12) && !by_identity && content.attribute("id").is_none() {
        let detail = "At least one of 'id' or 'identity' must be specified.";
        diags.push(Diagnostic::error("Invalid import block", detail).at(block.header_range()));
    }
    let provider_ref = content.attribute("provider").and_then(|a| {
        let found = provider_ref::decode(&a.expr, "provider", diags)?;
        Some(ProviderRef { range: a.range(), ..found })
    });
    let by = named(&content, diags);
    let to = &references::native_reference(content.attribute("to")?, diags)?;
    let resource = target(to, diags)?;
    let for_each = content.attribute("for_each").map(|a| a.expr.clone());
    Some(Import { resource, to: to.expr.clone(), by: by?, for_each, provider_ref, range: block.header_range() })
}

fn named(content: &Content, diags: &mut Diagnostics) -> Option<ImportBy> {
    let expr = |name: &str| content.attribute(name).map(|a| a.expr.clone());
    match (expr("id"), content.attribute("identity")) {
        (Some(_), Some(identity)) => {
            let detail =
                "The \"id\" and \"identity\" arguments are mutually-exclusive: an object is imported by one of them.";
            let error = Diagnostic::error("Invalid combination of \"id\" and \"identity\"", detail);
            diags.push(error.at(identity.name_range()));
            None
        }
        (id, None) => id.map(ImportBy::Id),
        (None, Some(identity)) => Some(ImportBy::Identity(identity.expr.clone())),
    }
}

/// Errors among the imports of a module: one for each address.
pub fn check(imports: &[Import], resources: &IndexMap<addr::Resource, Resource>, diags: &mut Diagnostics) {
    for (index, import) in imports.iter().enumerate() {
        let Some(addr) = static_address(import) else { continue };
        let first = imports[..index].iter().find(|other| static_address(other).as_ref() == Some(&addr));
        if let Some(first) = first {
            let addr = import.resource.to_string();
            let detail = format!(
                "An import block for the resource {addr:?} was already declared at {}. A resource can have only one import \
                 block.",
                first.range
            );
            let summary = format!("Duplicate import configuration for {addr:?}");
            diags.push(Diagnostic::error(summary, detail).at(import.to.range()));
        }
        diags.extend(import.provider_ref.as_ref().and_then(|reference| provider_error(import, resources, reference)));
    }
}

/// An import may choose a provider configuration if no block does. If the block of the resource chooses one too, it has to be the
/// same; only the key in the block counts, as in OpenTofu.
fn provider_error(
    import: &Import,
    resources: &IndexMap<addr::Resource, Resource>,
    reference: &ProviderRef,
) -> Option<Diagnostic> {
    let unneeded = |instead: &str| {
        let detail = format!(
            "The provider argument can only be specified in import blocks that will generate configuration.\n\n{instead}"
        );
        Some(Diagnostic::error(INVALID_IMPORT_PROVIDER, detail).at(reference.range.clone()))
    };
    if !import.resource.module.is_root() {
        return unneeded(
            "Use the providers argument within the module block to configure providers for all resources within a module, \
             including imported resources.",
        );
    }
    match (resources.get(&import.resource.resource), &reference.key) {
        (None, None) => None,
        (None, Some(key)) => {
            let detail = "Configuration is written for a single provider configuration: an instance key may only stand in the \
                          block of the resource itself.";
            Some(Diagnostic::error(provider_ref::INVALID_PROVIDER_REFERENCE, detail).at(key.range()))
        }
        (Some(block), _) if block.provider_ref.as_ref().is_some_and(|own| own.addr == reference.addr) => None,
        (Some(_), _) => unneeded(
            "Use the provider argument in the target resource block to configure the provider for a resource with explicit \
             provider configuration.",
        ),
    }
}

/// The address of an import of one instance, known without evaluating anything.
fn static_address(import: &Import) -> Option<String> {
    match import.to.kind() {
        ExprKind::Variable(traversal) => parse_target_traversal(traversal, &import.to.file).ok().map(|t| t.to_string()),
        _ => None,
    }
}

/// The resource in `to`, without keys.
fn target(to: &Attribute, diags: &mut Diagnostics) -> Option<ConfigResource> {
    let only_managed =
        || Diagnostic::error("Invalid import address", "Only managed resources can be imported.").at(to.range());
    let mut steps = Vec::new();
    let Some((root, span)) = without_keys(&to.expr, &mut steps) else {
        references::static_traversal(&to.expr, diags);
        diags.push(only_managed());
        return None;
    };
    let traversal = Traversal { root, steps, span };
    match parse_target_traversal(&traversal, &to.expr.file) {
        Ok(Target::Resource(addr)) if addr.resource.mode == ResourceMode::Managed => Some(addr.config()),
        Ok(Target::Module(_)) => {
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
) -> Option<(lang::syntax::ast::Ident, base::source::Span)> {
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

/// The error of an `import` block in an override file.
pub const NOT_OVERRIDABLE: (&str, &str) =
    ("Cannot override 'import' blocks", "Import blocks can appear only in normal files, not in override files.");

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::files::Memory;

    use crate::addr;
    use crate::config::load_module;

    /// The first line of advice for an import with a provider argument; empty if it is accepted.
    fn advice(to: &str, import: &str, resource: &str) -> String {
        let argument = |text: &str| if text.is_empty() { String::new() } else { format!("provider = {text}") };
        let text = format!(
            "resource \"r_x\" \"a\" {{\n{}\n}}\nimport {{\n  to = {to}\n  id = \"x\"\n  {}\n}}\n",
            argument(resource),
            argument(import)
        );
        let files = Memory::of([("main.tf", text.as_str())]);
        let (_, diags) = load_module(Path::new("."), addr::Module::root(), &files);
        let errors = diags.iter().filter(|d| d.is_error());
        errors
            .filter_map(|d| d.detail.lines().last().map(|l| l[..l.find(" to configure").unwrap_or(0)].to_string()))
            .collect()
    }

    #[test]
    fn import_and_resource_may_name_the_same_provider() {
        let block = "Use the provider argument in the target resource block";
        let call = "Use the providers argument within the module block";
        let cases = [
            ("", "", ""),
            ("", "r.west", ""),
            ("r.west", "r.west", ""),
            ("r.west", "\"r.west\"", ""),
            ("\"r.west\"", "r.west", ""),
            ("r", "r", ""),
            ("r.west", "", block),
            ("r.west", "r", block),
            ("r.west", "r.east", block),
            ("r", "r.west", block),
            ("r", "", block),
            ("s", "r", block),
        ];
        for (import, resource, expected) in cases {
            assert_eq!(advice("r_x.a", import, resource), expected, "{import:?} {resource:?}");
        }
        assert_eq!(advice("r_x.b", "r.west", "r"), "");
        assert_eq!(advice("module.m.r_x.a", "r.west", "r.west"), call);
        assert_eq!(advice("module.m.r_x.b", "r.west", "r.west"), call);
        assert_eq!(advice("module.m.r_x.a", "", "r.west"), "");
    }
}
