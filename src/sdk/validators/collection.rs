//! Lists, sets, maps and blocks: their size and their elements.

use std::sync::Arc;

use terrane_value::{Type, Value};

use super::super::validator::{ConfiguredAttribute, Validator, attribute_name};
use super::INVALID_VALUE;

/// "list", "set" or "map".
fn kind(value: &Value) -> &'static str {
    match value.ty() {
        Type::Set(_) => "set",
        Type::Map(_) | Type::Object(_) => "map",
        _ => "list",
    }
}

fn is_set(value: &Value) -> bool {
    value.is_known() && !value.is_null()
}

fn size(rule: String, is_valid: impl Fn(usize) -> bool + Send + Sync + 'static) -> impl Validator {
    move |attribute: &mut ConfiguredAttribute<'_>| {
        if is_set(attribute.value) && !is_valid(attribute.value.len()) {
            let rule = format!("{} must contain {rule} elements", kind(attribute.value));
            attribute.invalid(INVALID_VALUE, &rule);
        }
    }
}

/// There are at least so many elements.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::size_at_least};
/// let zones = Attribute::string_list("zones").required().validator(size_at_least(2));
/// ```
pub fn size_at_least(minimum: usize) -> impl Validator {
    size(format!("at least {minimum}"), move |size| size >= minimum)
}

/// There are at most so many elements.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::size_at_most};
/// let labels = Attribute::string_map("labels").optional().validator(size_at_most(64));
/// ```
pub fn size_at_most(maximum: usize) -> impl Validator {
    size(format!("at most {maximum}"), move |size| size <= maximum)
}

/// The number of elements is in the range, ends included.
///
/// ```
/// # use terrane_sdk::{Model, Set, validators::size_between};
/// #[derive(Model)]
/// struct Network {
///     #[attribute(required, validators(size_between(1, 4)))]
///     dns: Set<String>,
/// }
/// ```
pub fn size_between(minimum: usize, maximum: usize) -> impl Validator {
    let rule = format!("at least {minimum} elements and at most {maximum}");
    size(rule, move |size| (minimum..=maximum).contains(&size))
}

/// The block is required: schemas cannot express this.
///
/// ```
/// # use terrane_sdk::{Model, validators::is_required};
/// # #[derive(Model)] struct Disk { #[attribute(required)] size: i64 }
/// #[derive(Model)]
/// struct Machine {
///     #[block(validators(is_required()))]
///     disk: Vec<Disk>,
/// }
/// ```
pub fn is_required() -> impl Validator {
    |attribute: &mut ConfiguredAttribute<'_>| {
        let value = attribute.value;
        if value.is_null() || (value.is_known() && value.ty().is_collection() && value.is_empty()) {
            let name = attribute_name(attribute.path);
            let detail =
                format!("Block {name} must have a configuration value as the provider has marked it as required");
            attribute.error("Invalid Block", detail);
        }
    }
}

/// No element is null.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::no_null_values};
/// let names = Attribute::string_list("names").required().validator(no_null_values());
/// ```
pub fn no_null_values() -> impl Validator {
    |attribute: &mut ConfiguredAttribute<'_>| {
        let is_null = |(_, element): &(_, &Value)| element.is_null();
        if is_set(attribute.value) && attribute.value.children().iter().any(is_null) {
            let summary = format!("Null {} Value", capitalized(kind(attribute.value)));
            attribute.error(summary, "This attribute contains a null value.");
        }
    }
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

/// No two elements of the list are equal.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::unique_values};
/// let servers = Attribute::string_list("servers").required().validator(unique_values());
/// ```
pub fn unique_values() -> impl Validator {
    |attribute: &mut ConfiguredAttribute<'_>| {
        let elements = attribute.value.elements();
        let twice =
            elements.iter().enumerate().find(|(index, one)| one.is_wholly_known() && elements[..*index].contains(one));
        if let Some((_, element)) = twice {
            let shown = element.as_str().map_or_else(|| format!("{element:?}"), |text| format!("{text:?}"));
            let detail = format!("This attribute contains duplicate values of: {shown}");
            attribute.error("Duplicate List Value", detail);
        }
    }
}

/// Checks every element.
///
/// ```
/// # use std::sync::Arc;
/// # use terrane_sdk::{Attribute, validators::{length_at_least, values}};
/// let names = Attribute::string_list("names").required().validator(values(vec![Arc::new(length_at_least(1))]));
/// ```
pub fn values(validators: Vec<Arc<dyn Validator>>) -> impl Validator {
    move |attribute: &mut ConfiguredAttribute<'_>| {
        if !is_set(attribute.value) {
            return;
        }
        for (step, value) in attribute.value.children() {
            let mut path = attribute.path.clone();
            path.push(step);
            run(&validators, attribute, &path, value);
        }
    }
}

/// Checks every key of a map, as a text.
///
/// ```
/// # use std::sync::Arc;
/// # use terrane_sdk::{Attribute, validators::{keys, length_at_most}};
/// let labels = Attribute::string_map("labels").optional().validator(keys(vec![Arc::new(length_at_most(63))]));
/// ```
pub fn keys(validators: Vec<Arc<dyn Validator>>) -> impl Validator {
    move |attribute: &mut ConfiguredAttribute<'_>| {
        if !is_set(attribute.value) {
            return;
        }
        for key in attribute.value.entries().keys() {
            let path = attribute.path.clone().index_str(key);
            run(&validators, attribute, &path, &Value::string(key));
        }
    }
}

fn run(
    validators: &[Arc<dyn Validator>],
    attribute: &mut ConfiguredAttribute<'_>,
    path: &terrane_value::Path,
    value: &Value,
) {
    for validator in validators {
        let (config, found) = (attribute.config, &mut *attribute.found);
        validator.validate(&mut ConfiguredAttribute { path, value, config, found });
    }
}
