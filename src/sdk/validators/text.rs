//! Texts: length, choices, patterns.

use super::super::validator::{ConfiguredAttribute, Validator, attribute_name};

const INVALID_LENGTH: &str = "Invalid Attribute Value Length";
const INVALID_MATCH: &str = "Invalid Attribute Value Match";

/// Checks the length of a known text.
fn length(
    rule: String,
    measure: fn(&str) -> usize,
    is_valid: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> impl Validator {
    move |attribute: &mut ConfiguredAttribute<'_>| {
        let Some(length) = attribute.value.as_str().map(measure) else { return };
        if !is_valid(length) {
            let name = attribute_name(attribute.path);
            attribute.error(INVALID_LENGTH, format!("Attribute {name} {rule}, got: {length}"));
        }
    }
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

/// The text has at least so many bytes of UTF-8.
///
/// ```
/// # use terrane_sdk::{Model, validators::length_at_least};
/// #[derive(Model)]
/// struct Note {
///     #[attribute(required, validators(length_at_least(1)))]
///     title: String,
/// }
/// ```
pub fn length_at_least(minimum: usize) -> impl Validator {
    length(format!("string length must be at least {minimum}"), str::len, move |length| length >= minimum)
}

/// The text has at most so many bytes of UTF-8.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::length_at_most};
/// let host = Attribute::string("host").required().validator(length_at_most(253));
/// ```
pub fn length_at_most(maximum: usize) -> impl Validator {
    length(format!("string length must be at most {maximum}"), str::len, move |length| length <= maximum)
}

/// The number of bytes of UTF-8 is in the range, ends included.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::length_between};
/// let bucket = Attribute::string("bucket").required().validator(length_between(3, 63));
/// ```
pub fn length_between(minimum: usize, maximum: usize) -> impl Validator {
    let rule = format!("string length must be between {minimum} and {maximum}");
    length(rule, str::len, move |length| (minimum..=maximum).contains(&length))
}

/// The text has at least so many characters.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::characters_at_least};
/// let name = Attribute::string("name").required().validator(characters_at_least(2));
/// ```
pub fn characters_at_least(minimum: usize) -> impl Validator {
    length(format!("UTF-8 character count must be at least {minimum}"), characters, move |length| length >= minimum)
}

/// The text has at most so many characters.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::characters_at_most};
/// let title = Attribute::string("title").required().validator(characters_at_most(80));
/// ```
pub fn characters_at_most(maximum: usize) -> impl Validator {
    length(format!("UTF-8 character count must be at most {maximum}"), characters, move |length| length <= maximum)
}

/// The number of characters is in the range, ends included.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::characters_between};
/// let nickname = Attribute::string("nickname").optional().validator(characters_between(2, 20));
/// ```
pub fn characters_between(minimum: usize, maximum: usize) -> impl Validator {
    let rule = format!("UTF-8 character count must be between {minimum} and {maximum}");
    length(rule, characters, move |length| (minimum..=maximum).contains(&length))
}

/// Checks a known text; `rule` is what it must be.
fn choice(rule: String, is_valid: impl Fn(&str) -> bool + Send + Sync + 'static) -> impl Validator {
    move |attribute: &mut ConfiguredAttribute<'_>| {
        let Some(text) = attribute.value.as_str().map(str::to_owned) else { return };
        if !is_valid(&text) {
            let name = attribute_name(attribute.path);
            attribute.error(INVALID_MATCH, format!("Attribute {name} {rule}, got: {text:?}"));
        }
    }
}

fn list(choices: &[String]) -> String {
    let texts: Vec<String> = choices.iter().map(|choice| format!("{choice:?}")).collect();
    format!("[{}]", texts.join(" "))
}

fn owned<'a>(choices: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    choices.into_iter().map(str::to_owned).collect()
}

/// The text is one of these.
///
/// ```
/// # use terrane_sdk::{Model, validators::one_of};
/// #[derive(Model)]
/// struct Reminder {
///     #[attribute(default = "mail", validators(one_of(["mail", "phone"])))]
///     channel: String,
/// }
/// ```
pub fn one_of<'a>(choices: impl IntoIterator<Item = &'a str>) -> impl Validator {
    let choices = owned(choices);
    choice(format!("value must be one of: {}", list(&choices)), move |text| choices.iter().any(|one| one == text))
}

/// The text is one of these; the case of its letters does not matter.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::one_of_ignoring_case};
/// let method = Attribute::string("method").required().validator(one_of_ignoring_case(["GET", "POST"]));
/// ```
pub fn one_of_ignoring_case<'a>(choices: impl IntoIterator<Item = &'a str>) -> impl Validator {
    let choices = owned(choices);
    choice(format!("value must be one of: {}", list(&choices)), move |text| {
        choices.iter().any(|one| one.to_lowercase() == text.to_lowercase())
    })
}

/// The text is none of these.
///
/// ```
/// # use terrane_sdk::{Attribute, validators::none_of};
/// let user = Attribute::string("user").required().validator(none_of(["root", "admin"]));
/// ```
pub fn none_of<'a>(choices: impl IntoIterator<Item = &'a str>) -> impl Validator {
    let choices = owned(choices);
    choice(format!("value must be none of: {}", list(&choices)), move |text| choices.iter().all(|one| one != text))
}

/// The text has a form; `rule` says which: "value must be a date".
///
/// ```
/// # use terrane_sdk::{Attribute, validators::matches};
/// let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
/// let zip = Attribute::string("zip").required().validator(matches("value must have only digits", is_number));
/// ```
pub fn matches(rule: &str, is_valid: impl Fn(&str) -> bool + Send + Sync + 'static) -> impl Validator {
    let rule = rule.to_owned();
    move |attribute: &mut ConfiguredAttribute<'_>| {
        if attribute.value.as_str().is_some_and(|text| !is_valid(text)) {
            attribute.invalid(INVALID_MATCH, &rule);
        }
    }
}
