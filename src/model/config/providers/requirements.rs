//! `required_providers`: which providers a module uses, under which names, in which versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name;
use base::source::Range;
use lang::syntax::ast::{Attribute, Block, Expression};
use terrane_value::{Type, convert};

use crate::addr;
use crate::addr::provider::parse_part;
use crate::config::blocks::references;
use crate::config::constants::constant;
use crate::config::constants::static_context::Early;
use crate::config::files::merge;
use crate::config::module::{EarlyRequirement, Module, ProviderRequirement};
use crate::deps::Constraints;
use crate::model_errors::INVALID_VERSION_CONSTRAINT;

const INVALID_ENTRY: &str = "Invalid required_providers object";

/// The text of a version constraint and where it stands; none if it is not one, which is reported, or null.
pub fn constraint_text(attribute: &Attribute, diags: &mut Diagnostics) -> Option<(String, Range)> {
    let value = diags.take(constant::value(&attribute.expr));
    let Ok(value) = convert::convert(&value, &Type::String) else {
        let detail = format!("A string value is required for {}.", attribute.name.as_str());
        diags.push(invalid_constraint(detail, attribute));
        return None;
    };
    if !value.is_known() {
        return None;
    }
    check_constraint(value.as_str()?.to_owned(), attribute, diags)
}

/// The text if it is a version constraint; anything else is reported.
pub fn check_constraint(text: String, attribute: &Attribute, diags: &mut Diagnostics) -> Option<(String, Range)> {
    if Constraints::parse(&text).is_err() {
        let detail = "This string does not use correct version constraint syntax.".to_owned();
        diags.push(invalid_constraint(detail, attribute));
        return None;
    }
    Some((text, attribute.range()))
}

fn invalid_constraint(detail: String, attribute: &Attribute) -> Diagnostic {
    Diagnostic::error(INVALID_VERSION_CONSTRAINT, detail).at(attribute.expr.range())
}

/// One `required_providers` block; none if it is more than a list of arguments.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<BTreeMap<Arc<str>, ProviderRequirement>> {
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
        early: EarlyRequirement::default(),
        aliases: Vec::new(),
        explicit: true,
        range: attribute.expr.range(),
    };
    // The old short form: nothing but a version.
    let (value, problems) = constant::value(&attribute.expr);
    if !problems.has_errors() && value.ty().is_primitive() {
        requirement.versions.extend(constraint_text(attribute, diags));
        return with_implied_source(requirement, attribute, diags);
    }
    if let Some(problem) = references::check_provider_name(name, &attribute.expr.range()) {
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
            Some("version") if is_early(&value) => requirement.early.version = Some(value),
            Some("source") if is_early(&value) => {
                has_source = true;
                requirement.early.source = Some(value);
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

/// Whether an argument has to wait for variables and local values. OpenTofu does not let it.
fn is_early(value: &Expression) -> bool {
    !name::is_opentofu() && !constant::is_constant(value)
}

/// Evaluates what waited in the requirements of a module, and gives its resources the providers that follow.
pub fn evaluate_requirements(module: &mut Module, early: &Early, diags: &mut Diagnostics) {
    let mut has_new_source = false;
    for (name, requirement) in &mut module.requirements {
        let EarlyRequirement { source, version } = std::mem::take(&mut requirement.early);
        if let Some(expr) = source {
            let text = diags.take(early.text(&format!("required_providers.{name}.source"), &expr));
            if let Some(provider) = text.and_then(|text| parsed_source(&text, &expr, diags)) {
                (requirement.source, has_new_source) = (provider, true);
            }
        }
        if let Some(expr) = version {
            let text = diags.take(early.text(&format!("required_providers.{name}.version"), &expr));
            let text = text.and_then(|text| parsed_version(text, &expr, diags));
            requirement.versions.extend(text.map(|text| (text, expr.range())));
        }
    }
    if has_new_source {
        merge::assign_providers(module);
    }
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

fn parsed_version(text: String, value: &Expression, diags: &mut Diagnostics) -> Option<String> {
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

fn parsed_source(text: &str, value: &Expression, diags: &mut Diagnostics) -> Option<addr::Provider> {
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
