//! Attributes that depend on others of the same object.

use terrane_protocol::provider::ProviderDiagnostic;

use super::super::validator::{ConfiguredAttribute, Validator, attribute_name};
use super::{INVALID_COMBINATION, sibling, sibling_path};

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn is_configured(attribute: &ConfiguredAttribute<'_>, name: &str) -> bool {
    sibling(attribute, name).is_some_and(|value| !value.is_null())
}

/// If this attribute is set, the others must be set too.
///
/// ```
/// # use terrane_sdk::{Model, validators::also_requires};
/// #[derive(Model)]
/// struct Config {
///     #[attribute(optional, validators(also_requires(&["password"])))]
///     user: Option<String>,
///     #[attribute(optional, sensitive)]
///     password: Option<String>,
/// }
/// ```
pub fn also_requires(names: &[&str]) -> impl Validator {
    let names = owned(names);
    move |attribute: &mut ConfiguredAttribute<'_>| {
        if attribute.value.is_null() {
            return;
        }
        for name in &names {
            if !is_configured(attribute, name) {
                let other = attribute_name(&sibling_path(attribute, name));
                let own = attribute_name(attribute.path);
                let detail = format!("Attribute {other:?} must be specified when {own:?} is specified");
                attribute.error(INVALID_COMBINATION, detail);
            }
        }
    }
}

/// If this attribute is set, the others must not be set.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::conflicts_with};
/// let path = Attribute::string("path").optional().validator(conflicts_with(&["url"]));
/// ```
pub fn conflicts_with(names: &[&str]) -> impl Validator {
    let names = owned(names);
    move |attribute: &mut ConfiguredAttribute<'_>| {
        if attribute.value.is_null() {
            return;
        }
        for name in &names {
            // An unknown value may turn out to be null.
            if is_configured(attribute, name) && sibling(attribute, name).is_some_and(|value| value.is_known()) {
                let other = attribute_name(&sibling_path(attribute, name));
                let own = attribute_name(attribute.path);
                let detail = format!("Attribute {other:?} cannot be specified when {own:?} is specified");
                attribute.error(INVALID_COMBINATION, detail);
            }
        }
    }
}

/// The full names of the attributes.
fn full_names(attribute: &ConfiguredAttribute<'_>, names: &[String]) -> Vec<String> {
    names.iter().map(|name| attribute_name(&sibling_path(attribute, name))).collect()
}

/// The number of set attributes among this one and the others; none while any of them is unknown.
fn configured(attribute: &ConfiguredAttribute<'_>, names: &[String]) -> Option<usize> {
    if !attribute.value.is_known() {
        return None;
    }
    let own = sibling_own_name(attribute);
    let mut count = usize::from(!attribute.value.is_null());
    for name in names.iter().filter(|name| Some(&***name) != own.as_deref()) {
        match sibling(attribute, name) {
            Some(value) if !value.is_known() => return None,
            Some(value) if !value.is_null() => count += 1,
            Some(_) | None => {}
        }
    }
    Some(count)
}

fn sibling_own_name(attribute: &ConfiguredAttribute<'_>) -> Option<String> {
    match attribute.path.steps().last() {
        Some(terrane_value::PathStep::Attr(name)) => Some(name.to_string()),
        _ => None,
    }
}

/// This attribute or one of the others must be set.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::at_least_one_of};
/// let mail = Attribute::string("mail").optional().validator(at_least_one_of(&["phone"]));
/// ```
pub fn at_least_one_of(names: &[&str]) -> impl Validator {
    let names = owned(names);
    move |attribute: &mut ConfiguredAttribute<'_>| {
        if configured(attribute, &names) == Some(0) {
            let own = attribute_name(attribute.path);
            let mut list = full_names(attribute, &names);
            list.retain(|name| *name != own);
            list.push(own);
            let detail = format!("At least one attribute out of [{}] must be specified", list.join(","));
            attribute.error(INVALID_COMBINATION, detail);
        }
    }
}

/// Of this attribute and the others, one must be set and no other. The names may include this attribute: the same list
/// serves all of them.
///
/// ```
/// # use terrane_sdk::{Schema, Attribute, validators::exactly_one_of};
/// let sources = ["path", "url", "text"];
/// let schema = Schema::new(sources.map(|name| Attribute::string(name).optional().validator(exactly_one_of(&sources))));
/// assert_eq!(schema.block.attributes.len(), 3);
/// ```
pub fn exactly_one_of(names: &[&str]) -> impl Validator {
    let names = owned(names);
    move |attribute: &mut ConfiguredAttribute<'_>| {
        let subject = match configured(attribute, &names) {
            None | Some(1) => return,
            Some(0) => "No attribute".to_owned(),
            Some(count) => format!("{count} attributes"),
        };
        let list = full_names(attribute, &names).join(",");
        let detail = format!("{subject} specified when one (and only one) of [{list}] is required");
        attribute.error(INVALID_COMBINATION, detail);
    }
}

/// Warns if this attribute is set, and names the write-only one that can be used instead of it.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::prefer_write_only};
/// let password = Attribute::string("password").optional().sensitive().validator(prefer_write_only("password_wo"));
/// let password_wo = Attribute::string("password_wo").optional().write_only();
/// ```
pub fn prefer_write_only(name: &str) -> impl Validator {
    let name = name.to_owned();
    move |attribute: &mut ConfiguredAttribute<'_>| {
        if attribute.value.is_null() || is_configured(attribute, &name) {
            return;
        }
        let (path, other) = (attribute.path.clone(), attribute_name(&sibling_path(attribute, &name)));
        let detail = format!(
            "The attribute {} has a write-only alternative {other} available. Use the write-only alternative of the \
             attribute when possible.",
            attribute_name(&path)
        );
        attribute
            .found
            .push(ProviderDiagnostic::warning("Available Write-only Attribute Alternative", detail).at(path));
    }
}
