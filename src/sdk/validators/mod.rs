//! The usual validators. All of them accept null and unknown values.
//!
//! Messages are those of the library of the public providers.
//!
//! A validator never changes a value.

mod collection;
mod combination;
mod number;
mod text;

use std::sync::Arc;

pub use collection::{
    is_required, keys, no_null_values, size_at_least, size_at_most, size_between, unique_values, values,
};
pub use combination::{also_requires, at_least_one_of, conflicts_with, exactly_one_of, prefer_write_only};
pub use number::{
    at_least, at_least_sum_of, at_most, at_most_sum_of, between, equal_to_product_of, equal_to_sum_of, none_of_numbers,
    one_of_numbers,
};
use terrane_value::{Path, PathStep, Value};
pub use text::{
    characters_at_least, characters_at_most, characters_between, length_at_least, length_at_most, length_between,
    matches, none_of, one_of, one_of_ignoring_case,
};

use super::validator::{ConfiguredAttribute, Validator};

/// The summary of errors about one value.
///
/// ```
/// # use terrane_sdk::{Attribute, ConfiguredAttribute, validators::INVALID_VALUE};
/// fn is_even(attribute: &mut ConfiguredAttribute<'_>) {
///     if attribute.value.as_i64().is_some_and(|number| number % 2 != 0) {
///         attribute.invalid(INVALID_VALUE, "value must be even");
///     }
/// }
/// let replicas = Attribute::int("replicas").required().validator(is_even);
/// ```
pub const INVALID_VALUE: &str = "Invalid Attribute Value";
/// The summary of errors about several attributes together.
///
/// ```
/// # use terrane_sdk::{Attribute, ConfiguredAttribute, Value, validators::INVALID_COMBINATION};
/// fn is_large_enough(cache: &mut ConfiguredAttribute<'_>) {
///     if cache.config.get("fast") == Some(&Value::bool(true)) && cache.value.as_i64().is_some_and(|size| size < 8) {
///         cache.error(INVALID_COMBINATION, "Attribute \"cache\" must be at least 8 when \"fast\" is true");
///     }
/// }
/// let cache = Attribute::int("cache").optional().validator(is_large_enough);
/// ```
pub const INVALID_COMBINATION: &str = "Invalid Attribute Combination";

/// All of these must accept the value; each reports what it finds.
///
/// ```
/// # use std::sync::Arc;
/// # use terrane_sdk::{Attribute, Validator, validators::{all, length_at_most, none_of}};
/// fn name() -> impl Validator {
///     all(vec![Arc::new(length_at_most(63)), Arc::new(none_of(["admin", "root"]))])
/// }
/// let user = Attribute::string("user").required().validator(name());
/// ```
pub fn all(validators: Vec<Arc<dyn Validator>>) -> impl Validator {
    move |attribute: &mut ConfiguredAttribute<'_>| {
        for validator in &validators {
            validator.validate(attribute);
        }
    }
}

/// One of these must accept the value; if none does, all report what they found.
///
/// ```
/// # use std::sync::Arc;
/// # use terrane_sdk::{Attribute, validators::{any, between, one_of_numbers}};
/// let port = any(vec![Arc::new(one_of_numbers([80, 443])), Arc::new(between(8000, 8999))]);
/// let port = Attribute::int("port").required().validator(port);
/// ```
pub fn any(validators: Vec<Arc<dyn Validator>>) -> impl Validator {
    move |attribute: &mut ConfiguredAttribute<'_>| {
        let mut all = Vec::new();
        for validator in &validators {
            let mut found = Vec::new();
            validator.validate(&mut ConfiguredAttribute {
                path: attribute.path,
                value: attribute.value,
                config: attribute.config,
                found: &mut found,
            });
            if !terrane_protocol::provider::has_errors(&found) {
                attribute.found.extend(found);
                return;
            }
            all.extend(found);
        }
        attribute.found.extend(all);
    }
}

/// The value of another attribute of the same object, if there is one of that name.
fn sibling<'a>(attribute: &ConfiguredAttribute<'a>, name: &str) -> Option<&'a Value> {
    let mut path = attribute.path.clone();
    path.pop();
    path.push(PathStep::Attr(Arc::from(name)));
    path.apply(attribute.config)
}

fn sibling_path(attribute: &ConfiguredAttribute<'_>, name: &str) -> Path {
    let mut path = attribute.path.clone();
    path.pop();
    path.attr(name)
}

#[cfg(test)]
mod tests;
