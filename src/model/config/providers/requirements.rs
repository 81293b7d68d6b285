//! `required_providers`: which providers a module uses, under which names, in which versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{Attribute, Block, Expression};

use crate::addr;
use crate::addr::provider::parse_part;
use crate::config::blocks::{labels, references};
use crate::config::constants::{constant, version_constraint};
use crate::deps::Constraints;
use crate::model_errors::INVALID_VERSION_CONSTRAINT;
use crate::opentofu;

/// One entry of `required_providers`, or what the use of a provider implies.
#[derive(Clone, Debug)]
pub struct ProviderRequirement {
    pub local_name: Arc<str>,
    pub source: addr::Provider,
    /// Constraints as written, each with its place.
    pub versions: Vec<(String, Range)>,
    /// Source and version that depend on variables and local values, until these are known.
    pub unevaluated: UnevaluatedRequirement,
    /// `configuration_aliases`.
    pub aliases: Vec<addr::LocalProviderConfig>,
    /// False if nothing but a use implies it.
    pub explicit: bool,
    pub range: Range,
}

/// The arguments of a requirement that are more than constants, as since Terraform 1.17.
#[derive(Clone, Debug, Default)]
pub struct UnevaluatedRequirement {
    pub source: Option<Expression>,
    pub version: Option<Expression>,
}

const INVALID_ENTRY: &str = "Invalid required_providers object";

/// The requirements of a module, by local name.
pub type RequiredProviders = BTreeMap<Arc<str>, ProviderRequirement>;

/// One `required_providers` block; none if it is more than a list of arguments.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<RequiredProviders> {
    let (attributes, problems) = block.body.just_attributes();
    let broken = problems.has_errors();
    diags.extend(problems);
    if broken {
        return None;
    }
    let mut requirements = BTreeMap::new();
    for (name, attribute) in attributes {
        if let Some(requirement) = decode_entry(&name, &attribute, diags) {
            requirements.insert(name, requirement);
        }
    }
    Some(requirements)
}

fn decode_entry(name: &Arc<str>, attribute: &Attribute, diags: &mut Diagnostics) -> Option<ProviderRequirement> {
    let mut requirement = ProviderRequirement {
        local_name: name.clone(),
        source: addr::Provider::default_for(name),
        versions: Vec::new(),
        unevaluated: UnevaluatedRequirement::default(),
        aliases: Vec::new(),
        explicit: true,
        range: attribute.expr.range(),
    };
    // The old short form: nothing but a version.
    let (value, problems) = constant::value(&attribute.expr);
    if !problems.has_errors() && value.ty().is_primitive() {
        requirement.versions.extend(version_constraint::decode(attribute, diags));
        return with_implied_source(requirement, attribute, diags);
    }
    if let Some(problem) = labels::check_provider_name(name, &attribute.expr.range()) {
        diags.push(problem);
        return None;
    }
    let Some(pairs) = attribute.expr.as_static_map() else {
        diags.push(
            Diagnostic::error(INVALID_ENTRY, "required_providers entries must be strings or objects.")
                .at(attribute.expr.range()),
        );
        return None;
    };
    let mut found = Diagnostics::new();
    let mut has_source = false;
    for (key, value) in pairs {
        let key_text = key.as_keyword().map(Arc::from).or_else(|| key.as_literal_string());
        match key_text.as_deref() {
            Some("version") if is_evaluated_later(&value) => requirement.unevaluated.version = Some(value),
            Some("source") if is_evaluated_later(&value) => {
                has_source = true;
                requirement.unevaluated.source = Some(value);
            }
            Some("version") => requirement.versions.extend(decode_version(attribute, &value, &mut found)),
            Some("source") => {
                has_source = true;
                if let Some(source) = decode_source(&value, &mut found) {
                    requirement.source = source;
                }
            }
            Some("configuration_aliases") => requirement.aliases = decode_aliases(name, &value, &mut found),
            _ => found.push(
                Diagnostic::error(
                    INVALID_ENTRY,
                    "required_providers objects can only contain \"version\", \"source\" and \"configuration_aliases\" \
                     attributes. To configure a provider, use a \"provider\" block.",
                )
                .at(key.range()),
            ),
        }
    }
    let broken = found.has_errors();
    diags.extend(found);
    match (broken, has_source) {
        (true, _) => None,
        (false, true) => Some(requirement),
        (false, false) => with_implied_source(requirement, attribute, diags),
    }
}

/// Whether an argument has to wait for variables and local values.
fn is_evaluated_later(value: &Expression) -> bool {
    opentofu::evaluates_requirements(value.file.dialect()) && !constant::is_constant(value)
}

fn with_implied_source(
    mut requirement: ProviderRequirement,
    attribute: &Attribute,
    diags: &mut Diagnostics,
) -> Option<ProviderRequirement> {
    match parse_part(&requirement.local_name) {
        Ok(kind) => {
            requirement.source = addr::Provider::default_for(&kind);
            Some(requirement)
        }
        Err(problem) => {
            diags.push(Diagnostic::error("Invalid provider name", problem).at(attribute.expr.range()));
            None
        }
    }
}

fn decode_version(attribute: &Attribute, value: &Expression, diags: &mut Diagnostics) -> Option<(String, Range)> {
    let (constant, problems) = constant::value(value);
    let invalid = |detail: &str| Diagnostic::error(INVALID_VERSION_CONSTRAINT, detail).at(value.range());
    let Some(text) = constant.as_str().filter(|_| !problems.has_errors()) else {
        diags.push(invalid("Version must be specified as a string."));
        return None;
    };
    Some((parsed_version(text.to_owned(), value, diags)?, attribute.range()))
}

/// The text if it is a version constraint; anything else is reported.
pub fn parsed_version(text: String, value: &Expression, diags: &mut Diagnostics) -> Option<String> {
    if Constraints::parse(&text).is_err() {
        let detail = "This string does not use correct version constraint syntax.";
        diags.push(Diagnostic::error(INVALID_VERSION_CONSTRAINT, detail).at(value.range()));
        return None;
    }
    Some(text)
}

fn decode_source(value: &Expression, diags: &mut Diagnostics) -> Option<addr::Provider> {
    provider_source(value, "Invalid source", diags)
}

/// The address of a provider in an expression; `not_text` is the summary of the error if that is no text.
pub fn provider_source(value: &Expression, not_text: &str, diags: &mut Diagnostics) -> Option<addr::Provider> {
    let (constant, problems) = constant::value(value);
    let Some(text) = constant.as_str().filter(|_| !problems.has_errors()) else {
        diags.push(Diagnostic::error(not_text, "Source must be specified as a string.").at(value.range()));
        return None;
    };
    parsed_source(text, value, diags)
}

/// The provider that a source address names; anything else is reported.
pub fn parsed_source(text: &str, value: &Expression, diags: &mut Diagnostics) -> Option<addr::Provider> {
    match addr::Provider::parse_source(text) {
        Ok(provider) => Some(provider),
        Err(problem) => {
            diags.push(problem.at(value.range()));
            None
        }
    }
}

fn decode_aliases(name: &str, value: &Expression, diags: &mut Diagnostics) -> Vec<addr::LocalProviderConfig> {
    let mut aliases = Vec::new();
    for item in references::static_list(value, diags) {
        let invalid =
            |detail: String| Diagnostic::error("Invalid configuration_aliases value", detail).at(value.range());
        let Some(traversal) = references::static_traversal(&references::named_by_word(item), diags) else { continue };
        let (local_name, alias) = (traversal.root.name.clone(), traversal.attr(0));
        // Steps after an alias are ignored, as in the reference.
        if alias.is_none() && !traversal.steps.is_empty() {
            diags.push(invalid(
                "Configuration aliases can only contain references to local provider configuration names in the format \
                 of provider.alias"
                    .to_owned(),
            ));
            continue;
        }
        if &*local_name != name {
            diags.push(invalid(format!(
                "Configuration aliases must be prefixed with the provider name. Expected {name:?}, but found {:?}.",
                &*local_name
            )));
            continue;
        }
        aliases.push(addr::LocalProviderConfig { local_name, alias: alias.map(Into::into) });
    }
    aliases
}

/// The use of a local name is a requirement, if nothing states one.
pub fn imply(requirements: &mut RequiredProviders, local_name: &Arc<str>, range: &Range) {
    if requirements.contains_key(local_name) {
        return;
    }
    let requirement = ProviderRequirement {
        local_name: local_name.clone(),
        source: addr::Provider::default_for(local_name),
        versions: Vec::new(),
        unevaluated: UnevaluatedRequirement::default(),
        aliases: Vec::new(),
        explicit: false,
        range: range.clone(),
    };
    requirements.insert(local_name.clone(), requirement);
}

/// The provider that a local name stands for.
pub fn provider_for(requirements: &RequiredProviders, local_name: &str) -> addr::Provider {
    match requirements.get(local_name) {
        Some(requirement) => requirement.source.clone(),
        None => addr::Provider::default_for(local_name),
    }
}
