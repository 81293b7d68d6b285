//! Numbers: limits, choices, and sums of other attributes.

use terrane_value::Number;

use super::super::validator::{ConfiguredAttribute, Validator};
use super::{INVALID_VALUE, sibling};

/// Checks a known number; `rule` is what it must be.
fn number(rule: String, is_valid: impl Fn(&Number) -> bool + Send + Sync + 'static) -> impl Validator {
    move |attribute: &mut ConfiguredAttribute<'_>| {
        if attribute.value.as_number().is_some_and(|number| !is_valid(number)) {
            attribute.invalid(INVALID_VALUE, &rule);
        }
    }
}

/// The value must not be less than `minimum`.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::at_least};
/// let size = Attribute::int("size").required().validator(at_least(1));
/// ```
pub fn at_least(minimum: impl Into<Number>) -> impl Validator {
    let minimum = minimum.into();
    number(format!("value must be at least {minimum}"), move |number| number.total_cmp(&minimum).is_ge())
}

/// The value must not be more than `maximum`.
///
/// ```
/// # use terrane_sdk::{Attribute, Number, Type, validators::at_most};
/// let third = Number::parse("0.33").unwrap();
/// let share = Attribute::plain("share", Type::Number).required().validator(at_most(third));
/// ```
pub fn at_most(maximum: impl Into<Number>) -> impl Validator {
    let maximum = maximum.into();
    number(format!("value must be at most {maximum}"), move |number| number.total_cmp(&maximum).is_le())
}

/// The value must be in the range, ends included.
///
/// ```
/// # use terrane_sdk::{Model, validators::between};
/// #[derive(Model)]
/// struct Listener {
///     #[attribute(required, validators(between(1, 65535)))]
///     port: i64,
/// }
/// ```
pub fn between(minimum: impl Into<Number>, maximum: impl Into<Number>) -> impl Validator {
    let (minimum, maximum) = (minimum.into(), maximum.into());
    number(format!("value must be between {minimum} and {maximum}"), move |number| {
        number.total_cmp(&minimum).is_ge() && number.total_cmp(&maximum).is_le()
    })
}

/// The value must be one of these.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::one_of_numbers};
/// let bits = Attribute::int("bits").required().validator(one_of_numbers([2048, 4096]));
/// ```
pub fn one_of_numbers(choices: impl IntoIterator<Item = i64>) -> impl Validator {
    let choices: Vec<i64> = choices.into_iter().collect();
    number(format!("value must be one of: {}", list(&choices)), move |number| {
        number.as_i64().is_some_and(|number| choices.contains(&number))
    })
}

/// The value must be none of these.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::none_of_numbers};
/// let port = Attribute::int("port").required().validator(none_of_numbers([22]));
/// ```
pub fn none_of_numbers(choices: impl IntoIterator<Item = i64>) -> impl Validator {
    let choices: Vec<i64> = choices.into_iter().collect();
    number(format!("value must be none of: {}", list(&choices)), move |number| {
        !number.as_i64().is_some_and(|number| choices.contains(&number))
    })
}

fn list(choices: &[i64]) -> String {
    let texts: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
    format!("[{}]", texts.join(" "))
}

/// Checks a whole number against one that is computed of other attributes of the object; not while any is unknown.
fn combined(
    words: &'static str,
    sign: &'static str,
    names: &[&str],
    combine: fn(i64, i64) -> i64,
    is_valid: fn(i64, i64) -> bool,
) -> impl Validator {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    move |attribute: &mut ConfiguredAttribute<'_>| {
        let Some(number) = attribute.value.as_i64() else { return };
        let mut total: Option<i64> = None;
        for name in &names {
            let Some(value) = sibling(attribute, name) else { continue };
            if !value.is_known() {
                return;
            }
            if let Some(part) = value.as_i64() {
                total = Some(total.map_or(part, |total| combine(total, part)));
            }
        }
        if !is_valid(number, total.unwrap_or(0)) {
            // Within an object or block, names are relative to it.
            let start = if attribute.path.steps().len() > 1 { "<." } else { "" };
            let others: Vec<String> = names.iter().map(|name| format!("{start}{name}")).collect();
            let rule = format!("value must be {words} of {}", others.join(sign));
            attribute.invalid(INVALID_VALUE, &rule);
        }
    }
}

/// The value must not be less than the other attributes of the object together.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::at_least_sum_of};
/// let disk = Attribute::int("disk").required().validator(at_least_sum_of(&["data", "log"]));
/// ```
pub fn at_least_sum_of(names: &[&str]) -> impl Validator {
    combined("at least sum", " + ", names, i64::saturating_add, |number, sum| number >= sum)
}

/// The value must not be more than the other attributes of the object together.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::at_most_sum_of};
/// let used = Attribute::int("used").required().validator(at_most_sum_of(&["memory", "swap"]));
/// ```
pub fn at_most_sum_of(names: &[&str]) -> impl Validator {
    combined("at most sum", " + ", names, i64::saturating_add, |number, sum| number <= sum)
}

/// The value must be the sum of the other attributes of the object.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::equal_to_sum_of};
/// let total = Attribute::int("total").required().validator(equal_to_sum_of(&["leaders", "workers"]));
/// ```
pub fn equal_to_sum_of(names: &[&str]) -> impl Validator {
    combined("equal to the sum", " + ", names, i64::saturating_add, |number, sum| number == sum)
}

/// The value must be the product of the other attributes of the object.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::equal_to_product_of};
/// let machines = Attribute::int("machines").required().validator(equal_to_product_of(&["zones", "replicas"]));
/// ```
pub fn equal_to_product_of(names: &[&str]) -> impl Validator {
    combined("equal to the product", " * ", names, i64::saturating_mul, |number, product| number == product)
}
