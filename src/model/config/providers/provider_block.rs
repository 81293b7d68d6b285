//! `provider` blocks.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::Range;
use indexmap::IndexMap;
use lang::syntax::ast::{Attribute, Block, Expression};
use lang::syntax::body::{Body, BodySchema};
use terrane_value::Value;
use terrane_value::identifier::is_identifier;

use super::requirements::{RequiredProviders, imply};
use crate::addr;
use crate::config::blocks::labels::{BAD_IDENTIFIER, check_provider_name};
use crate::config::blocks::override_bodies::{argument, have_same_labels};
use crate::config::blocks::override_rule::{OverrideRule, missing_base};
use crate::config::blocks::reserved_blocks;
use crate::config::constants::{constant, version_constraint};

/// `provider "name" {}`.
#[derive(Clone, Debug)]
pub struct ProviderBlock {
    pub name: Arc<str>,
    pub name_range: Range,
    pub alias: Option<Arc<str>>,
    /// One configuration per element, told apart by its key.
    pub for_each: Option<Expression>,
    /// The elements, sorted by key; none: one configuration without a key.
    pub instances: Option<Arc<[(Arc<str>, Value)]>>,
    /// The deprecated `version` argument.
    pub version: Option<Expression>,
    /// What is left for the provider's schema.
    pub body: Body,
    pub range: Range,
}

/// The provider configurations of a module, by local name and alias.
pub type ProviderBlocks = IndexMap<addr::LocalProviderConfig, ProviderBlock>;

const RESERVED: [&str; 3] = ["count", "depends_on", "source"];

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    let schema = BodySchema::new().attribute("alias").attribute("version").attribute("for_each");
    let schema = RESERVED.iter().fold(schema, |schema, name| schema.attribute(name));
    schema.block("_", &[]).block("lifecycle", &[]).block("locals", &[])
});

/// None if the name cannot be a provider's local name.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<ProviderBlock> {
    decode_block(block, false, diags)
}

/// The same in a test file, where no version may be given.
pub fn decode_in_test(block: &Block, diags: &mut Diagnostics) -> Option<ProviderBlock> {
    decode_block(block, true, diags)
}

/// An alias; none if it is no constant or empty.
pub fn alias(attribute: &Attribute, diags: &mut Diagnostics) -> Option<Arc<str>> {
    let text = constant::string(attribute, diags).unwrap_or_default();
    if !is_identifier(&text) {
        let detail = format!("An alias must be a valid name. {BAD_IDENTIFIER}");
        diags.push(Diagnostic::error("Invalid provider configuration alias", detail));
    }
    Some(text.into()).filter(|text: &Arc<str>| !text.is_empty())
}

fn decode_block(block: &Block, in_test: bool, diags: &mut Diagnostics) -> Option<ProviderBlock> {
    let (content, rest, problems) = block.body.partial_content(&SCHEMA);
    diags.extend(problems);
    let name = block.label(0).clone();
    if let Some(problem) = check_provider_name(&name, &block.header_range()) {
        diags.push(problem);
        return None;
    }
    let alias = content.attribute("alias").and_then(|a| alias(a, diags));
    let for_each = content.attribute("for_each");
    if let Some(attribute) = for_each.filter(|_| alias.is_none()) {
        diags.push(alias_required(attribute));
    }
    let version = content.attribute("version");
    if let Some(attribute) = version.filter(|_| in_test) {
        diags.push(version_in_test(attribute));
    }
    if let Some(attribute) = version.filter(|_| !in_test) {
        diags.push(
            Diagnostic::warning(
                "Version constraints inside provider configuration blocks are deprecated",
                format!("Terraform 0.13 and earlier allowed provider version constraints inside the provider configuration \
                 block, but that is now deprecated and will be removed in a future version of {PROGRAM}. To silence this \
                 warning, move the provider version constraint into the required_providers block."),
            )
            .at(attribute.expr.range()),
        );
        version_constraint::decode(attribute, diags);
    }
    for attribute in RESERVED.iter().filter_map(|name| content.attribute(name)) {
        diags.push(
            Diagnostic::error(
                "Reserved argument name in provider block",
                format!(
                    "The provider argument name {:?} is reserved for use by {PROGRAM} in a future version.",
                    attribute.name.as_str()
                ),
            )
            .at(attribute.name_range()),
        );
    }
    let body = reserved_blocks::check(&content, rest, "provider", "provider-specific", diags);
    Some(ProviderBlock {
        name,
        name_range: block.label_range(0),
        alias,
        for_each: for_each.map(|a| a.expr.clone()),
        instances: None,
        version: version.map(|a| a.expr.clone()),
        body,
        range: block.header_range(),
    })
}

/// The error about a `for_each` without an alias.
pub fn alias_required(for_each: &Attribute) -> Diagnostic {
    let detail = "The \"for_each\" argument needs an \"alias\" beside it: the configurations are told apart by its keys, which only \
                  stand behind an alias, as in \"aws.by_region[each.key]\".";
    Diagnostic::error("Alias required when using \"for_each\"", detail).at(for_each.name_range())
}

fn version_in_test(attribute: &Attribute) -> Diagnostic {
    Diagnostic::error(
        "Version constraints are not allowed in test files",
        "Version constraints inside provider configuration blocks are not allowed in test files. To silence this error, move \
         the provider version constraint into the required_providers block of the configuration that uses this provider.",
    )
    .at(attribute.expr.range())
}

/// The effect of a block in an override file.
pub const OVERRIDE: OverrideRule = OverrideRule {
    is_base: |base, over| have_same_labels(base, over) && written_alias(base) == written_alias(over),
    allows_depends_on: true,
    without_base: add_default,
    ..OverrideRule::new(missing)
};

fn missing(over: &Block) -> Diagnostic {
    let alias = written_alias(over);
    let subject =
        format!("{} provider configuration with the alias {:?}", over.label(0), alias.as_deref().unwrap_or_default());
    let base = "an aliased provider configuration that was already defined";
    missing_base(over, "Missing base provider configuration for override", &subject, base)
}

/// A provider without a block has an empty configuration, which may be overridden.
fn add_default(files: &mut [Vec<Block>], over: &Block) -> bool {
    let is_default = written_alias(over).is_none();
    if let Some(first) = files.first_mut().filter(|_| is_default) {
        first.push(over.clone());
    }
    is_default
}

fn written_alias(block: &Block) -> Option<Arc<str>> {
    argument(&block.body, "alias")?.expr.as_literal_string()
}

/// Adds a configuration to those of its module.
pub fn add(
    block: ProviderBlock,
    providers: &mut ProviderBlocks,
    requirements: &mut RequiredProviders,
    diags: &mut Diagnostics,
) {
    let key = addr::LocalProviderConfig { local_name: block.name.clone(), alias: block.alias.clone() };
    if let Some(existing) = providers.get(&key) {
        let name = &*block.name;
        let detail = match &block.alias {
            None => format!(
                "A default (non-aliased) provider configuration for {name:?} was already given at {}. If multiple \
                 configurations are required, set the \"alias\" argument for alternative configurations.",
                existing.range
            ),
            Some(alias) => format!(
                "A provider configuration for {name:?} with alias {:?} was already given at {}. Each configuration for \
                 the same provider must have a distinct alias.",
                &**alias, existing.range
            ),
        };
        diags.push(Diagnostic::error("Duplicate provider configuration", detail).at(block.range.clone()));
        return;
    }
    imply(requirements, &block.name, &block.range);
    providers.insert(key, block);
}
