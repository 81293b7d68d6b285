//! Checks of a configuration, with the messages that users of the real providers know.

use crate::lang::value::{Path, Value};
use crate::model::provider::{ProviderDiagnostic, ProviderDiagnostics};

use super::attribute::{Attr, Shape};
use super::convert::{bool_of, int_of};

/// What holds for every shape: required and read-only attributes, whole numbers, deprecations.
pub fn check_shape(shape: &Shape, config: &Value, found: &mut ProviderDiagnostics) {
    if !shape.checked {
        return;
    }
    for attr in &shape.attributes {
        let Some(value) = config.get(attr.name) else { continue };
        check_attribute(attr, value, found);
    }
    if let Some(message) = shape.deprecation {
        found.push(ProviderDiagnostic::warning("Deprecated", message));
    }
}

fn check_attribute(attr: &Attr, value: &Value, found: &mut ProviderDiagnostics) {
    let path = Path::new().attr(attr.name);
    let shape = &attr.attribute;
    if shape.required && value.is_null() {
        found.push(
            ProviderDiagnostic::error(
                "Missing Configuration for Required Attribute",
                format!(
                    "Must set a configuration value for the {} attribute as the provider has marked it as required.\n\n\
                     Refer to the provider documentation or contact the provider developers for additional information \
                     about configurable attributes that are required.",
                    attr.name
                ),
            )
            .at(path.clone()),
        );
    }
    if shape.computed && !shape.optional && !value.is_null() {
        found.push(
            ProviderDiagnostic::error(
                "Invalid Configuration for Read-Only Attribute",
                "Cannot set value for this attribute as the provider has marked it as read-only. Remove the \
                 configuration line setting the value.\n\n\
                 Refer to the provider documentation or contact the provider developers for additional information \
                 about configurable and read-only attributes that are supported.",
            )
            .at(path.clone()),
        );
    }
    if attr.whole && value.as_number().is_some_and(|number| !number.is_integer()) {
        let shown = value.as_number().map(|number| number.as_f64()).unwrap_or_default();
        found.push(
            ProviderDiagnostic::error(
                "Int64 Type Validation Error",
                format!(
                    "An unexpected error was encountered trying to validate an attribute value. This is always an \
                     error in the provider. Please report the following to the provider developer:\n\n\
                     Value {shown} is not an integer."
                ),
            )
            .at(path.clone()),
        );
    }
    if let Some(message) = attr.deprecation
        && !value.is_null()
        && value.is_known()
    {
        found.push(ProviderDiagnostic::warning("Attribute Deprecated", message).at(path));
    }
}

/// An error about one number; `rule` is what it breaks: "value must be at least 1".
pub fn invalid_value(name: &str, rule: &str, got: i64) -> ProviderDiagnostic {
    ProviderDiagnostic::error("Invalid Attribute Value", format!("Attribute {name} {rule}, got: {got}"))
        .at(Path::new().attr(name))
}

fn invalid_combination(name: &str, detail: String) -> ProviderDiagnostic {
    ProviderDiagnostic::error("Invalid Attribute Combination", detail).at(Path::new().attr(name))
}

/// A whole number with a lower bound.
pub fn at_least(config: &Value, name: &str, minimum: i64, found: &mut ProviderDiagnostics) {
    if let Some(got) = int_of(config, name).filter(|got| *got < minimum) {
        found.push(invalid_value(name, &format!("value must be at least {minimum}"), got));
    }
}

/// A whole number that must not be less than others together; not checked while any is unknown.
pub fn at_least_sum_of(config: &Value, name: &str, parts: &[&str], found: &mut ProviderDiagnostics) {
    let Some(got) = int_of(config, name) else { return };
    let mut sum = 0_i64;
    for part in parts {
        match config.get(part) {
            Some(value) if !value.is_known() => return,
            _ => sum = sum.saturating_add(int_of(config, part).unwrap_or(0)),
        }
    }
    if got < sum {
        found.push(invalid_value(name, &format!("value must be at least sum of {}", parts.join(" + ")), got));
    }
}

/// `name` and `others` must not all be configured false.
pub fn one_true(config: &Value, name: &str, others: &[&str], found: &mut ProviderDiagnostics) {
    let all_false = |name: &&str| bool_of(config, name) == Some(false);
    if all_false(&name) && others.iter().all(all_false) {
        let list = [others, &[name]].concat().join(",");
        found.push(invalid_combination(
            name,
            format!("At least one attribute out of [{list}] must be specified as true"),
        ));
    }
}

/// Exactly one of `names` must be configured; each of them reports, as each checks the others.
pub fn exactly_one_of(config: &Value, names: &[&str], found: &mut ProviderDiagnostics) {
    let value = |name: &&str| config.get(name);
    if names.iter().filter_map(value).any(|value| !value.is_known()) {
        return;
    }
    let count = names.iter().filter_map(value).filter(|value| !value.is_null()).count();
    if count == 1 {
        return;
    }
    for name in names {
        let others: Vec<&str> = names.iter().copied().filter(|other| other != name).collect();
        let subject = if count == 0 { "No attribute".to_owned() } else { format!("{count} attributes") };
        found.push(invalid_combination(
            name,
            format!("{subject} specified when one (and only one) of [{}] is required", others.join(",")),
        ));
    }
}
