//! `module` blocks: calls of other modules.

use crate::lang::syntax::mistakes::INVALID_EXPRESSION;
use std::sync::LazyLock;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::lang::syntax::ast::Expression;
use crate::lang::syntax::ast::{Attribute, Block};
use crate::lang::syntax::body::{Body, BodySchema, Content};

use super::block::{ModuleCall, ProviderPassing};
use super::module_source::{self, SourceError};
use super::{constant, names, requirements};

const INVALID_SOURCE: &str = "Invalid module source address";

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .required("source")
        .attribute("version")
        .attribute("count")
        .attribute("for_each")
        .attribute("depends_on")
        .attribute("providers")
        .block("_", &[])
        .block("lifecycle", &[])
        .block("locals", &[])
        .block("provider", &["type"])
});

/// True for names that mean something in a module block itself, so that no variable may have them.
pub fn is_reserved_name(name: &str) -> bool {
    SCHEMA.attributes.iter().any(|a| &*a.name == name) || SCHEMA.blocks.iter().any(|b| &*b.kind == name)
}

/// None if there is no usable source.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<ModuleCall> {
    let (content, rest, problems) = block.body.partial_content(&SCHEMA);
    diags.extend(problems);
    names::check_label(block, 0, "Invalid module instance name", diags);
    let version = content.attribute("version").and_then(|a| requirements::constraint_text(a, diags));
    let source =
        content.attribute("source").and_then(|a| decode_source(a, content.attribute("version").is_some(), diags));
    let (count, for_each) = repetition(&content, diags);
    let depends_on = content.attribute("depends_on").map(|a| names::depends_on(a, diags)).unwrap_or_default();
    let providers = content.attribute("providers").map(|a| decode_providers(a, diags)).unwrap_or_default();
    let body = check_blocks(&content, rest, "module", "module input variables", diags);
    let source_range = content.attribute("source")?.expr.range();
    Some(ModuleCall {
        name: block.label(0).clone(),
        source: source?,
        source_range,
        version,
        count,
        for_each,
        depends_on,
        providers,
        body,
        range: block.header_range(),
    })
}

fn decode_source(attribute: &Attribute, has_version: bool, diags: &mut Diagnostics) -> Option<String> {
    let source = constant::string(attribute, diags)?;
    let problem = match has_version {
        true => module_source::parse_registry(&source).err(),
        false => module_source::parse(&source).err(),
    };
    let diagnostic = match problem {
        None => return Some(source),
        Some(SourceError::MaybeRelative) => {
            let package = module_source::without_folder(&source);
            Diagnostic::error(
                INVALID_SOURCE,
                format!(
                    "Terrane failed to determine your intended installation method for remote module package \
                     {package:?}.\n\nIf you intended this as a path relative to the current module, use \"./{package}\" \
                     instead. The \"./\" prefix indicates that the address is a relative filesystem path."
                ),
            )
        }
        Some(SourceError::Invalid(e)) if has_version => Diagnostic::error(
            "Invalid registry module source address",
            format!(
                "Failed to parse module registry address: {e}.\n\nTerrane assumed that you intended a module registry \
                 source address because you also set the argument \"version\", which applies only to registry modules."
            ),
        ),
        Some(SourceError::Invalid(e)) => {
            Diagnostic::error(INVALID_SOURCE, format!("Failed to parse module source address: {e}."))
        }
    };
    diags.push(diagnostic.at(attribute.expr.range()));
    None
}

/// `count` and `for_each`, of which only one may be set.
pub(super) fn repetition(content: &Content, diags: &mut Diagnostics) -> (Option<Expression>, Option<Expression>) {
    let count = content.attribute("count").map(|a| a.expr.clone());
    let for_each = content.attribute("for_each");
    if let Some(attribute) = for_each
        && count.is_some()
    {
        diags.push(
            Diagnostic::error(
                "Invalid combination of \"count\" and \"for_each\"",
                "The \"count\" and \"for_each\" meta-arguments are mutually-exclusive, only one should be used to be \
                 explicit about the number of resources to be created.",
            )
            .at(attribute.name_range()),
        );
    }
    (count, for_each.map(|a| a.expr.clone()))
}

/// Reports reserved blocks. Comes back with the body and what its escaping block `_` adds to it: arguments that have the
/// names of meta-arguments and are none.
pub(super) fn check_blocks(
    content: &Content,
    body: Body,
    context: &str,
    escaped: &str,
    diags: &mut Diagnostics,
) -> Body {
    let mut escaping: Option<&Block> = None;
    for block in &content.blocks {
        match (block.kind.as_str(), escaping) {
            ("_", Some(first)) => diags.push(
                Diagnostic::error(
                    "Duplicate escaping block",
                    format!(
                        "The special block type \"_\" can be used to force particular arguments to be interpreted as \
                         {escaped} rather than as meta-arguments, but each {context} block can have only one such \
                         block. The first escaping block was at {}.",
                        first.header_range()
                    ),
                )
                .at(block.header_range()),
            ),
            ("_", None) => escaping = Some(block),
            ("lifecycle" | "connection" | "provisioner", _) if context == "resource" || context == "data" => {}
            ("connection", _) if context == "provisioner" => {}
            _ => diags.push(names::reserved_block(block, context)),
        }
    }
    match escaping {
        Some(block) => Body::merged(body, block.body.clone()),
        None => body,
    }
}

fn decode_providers(attribute: &Attribute, diags: &mut Diagnostics) -> Vec<ProviderPassing> {
    let Some(pairs) = attribute.expr.as_static_map() else {
        diags.push(
            Diagnostic::error(INVALID_EXPRESSION, "A static map expression is required.")
                .at(constant::start_range(&attribute.expr)),
        );
        return Vec::new();
    };
    let mut passings: Vec<ProviderPassing> = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        let in_child = names::provider_ref(&key, "providers", diags);
        let in_parent = names::provider_ref(&value, "providers", diags);
        let (Some(in_child), Some(in_parent)) = (in_child, in_parent) else { continue };
        if let Some(previous) = passings.iter().find(|p| p.in_child.addr == in_child.addr) {
            diags.push(
                Diagnostic::error(
                    "Duplicate provider address",
                    format!(
                        "A provider configuration was already passed to {} at {}. Each child provider configuration \
                         can be assigned only once.",
                        in_child.addr,
                        previous.in_child.range.to(&previous.in_parent.range)
                    ),
                )
                .at(value.range()),
            );
            continue;
        }
        passings.push(ProviderPassing { in_child, in_parent });
    }
    passings
}
