//! The usual validators. All of them accept null and unknown values.
//!
//! Messages are those of the library of the public providers.
//!
//! A validator never changes a value.

mod collection;
mod combination;
mod number;
mod text;

pub use collection::{
    is_required, keys, no_null_values, size_at_least, size_at_most, size_between, unique_values, values,
};
pub use combination::{also_requires, at_least_one_of, conflicts_with, exactly_one_of, prefer_write_only};
pub use number::{
    at_least, at_least_sum_of, at_most, at_most_sum_of, between, equal_to_product_of, equal_to_sum_of, none_of_numbers,
    one_of_numbers,
};
pub use text::{
    characters_at_least, characters_at_most, characters_between, length_at_least, length_at_most, length_between,
    matches, none_of, one_of, one_of_ignoring_case,
};

use std::sync::Arc;

use super::validator::{ConfiguredAttribute, Validator};
use crate::lang::value::{Path, PathStep, Value};

/// The summary of errors about one value.
pub const INVALID_VALUE: &str = "Invalid Attribute Value";
/// The summary of errors about several attributes together.
pub const INVALID_COMBINATION: &str = "Invalid Attribute Combination";

/// All of these must accept the value; each reports what it finds.
pub fn all(validators: Vec<Arc<dyn Validator>>) -> impl Validator {
    move |attribute: &mut ConfiguredAttribute<'_>| {
        for validator in &validators {
            validator.validate(attribute);
        }
    }
}

/// One of these must accept the value; if none does, all report what they found.
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
            if !crate::model::provider::has_errors(&found) {
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
