//! Expected values of attributes and outputs.
//!
//! A text, number, flag or [`serde_json::Value`] is expected exactly. The functions of this module expect parts of a value, a size,
//! or anything for which a function returns true. Sets are JSON arrays in the order of the program.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;
use terrane_value::Number;

use super::error::CheckResult;

/// What a value should be.
///
/// ```
/// use terrane_sdk_acceptance::expect::{self, Expected};
/// let title: Expected = "Buy milk".into();
/// assert_eq!(title.to_string(), r#""Buy milk""#);
/// assert_eq!(expect::size(2).to_string(), "2 elements");
/// ```
#[derive(Clone)]
pub struct Expected(Rule);

#[derive(Clone)]
enum Rule {
    Exact(Json),
    Null,
    NotNull,
    List(Vec<Expected>),
    Set { elements: Vec<Expected>, exactly: bool },
    Object { attributes: BTreeMap<String, Expected>, exactly: bool },
    PartialList(BTreeMap<usize, Expected>),
    Size(usize),
    Predicate { description: String, holds: Arc<dyn Fn(&Json) -> bool + Send + Sync> },
}

/// Null, or an attribute that does not exist.
///
/// ```
/// # use terrane_sdk_acceptance::{expect, state};
/// let check = state::value("todo_note.milk", "body", expect::null());
/// ```
pub fn null() -> Expected {
    Expected(Rule::Null)
}

/// Any value but null.
///
/// ```
/// # use terrane_sdk_acceptance::{expect, state};
/// let check = state::value("todo_note.milk", "id", expect::not_null());
/// ```
pub fn not_null() -> Expected {
    Expected(Rule::NotNull)
}

/// A list with these elements in this order.
///
/// ```
/// # use terrane_sdk_acceptance::expect;
/// let titles = expect::list(["Buy milk".into(), expect::not_null()]);
/// assert_eq!(titles.to_string(), r#"["Buy milk", any value but null]"#);
/// ```
pub fn list(elements: impl IntoIterator<Item = impl Into<Expected>>) -> Expected {
    Expected(Rule::List(elements.into_iter().map(Into::into).collect()))
}

/// A list with these elements at these indexes, and any others.
///
/// ```
/// # use terrane_sdk_acceptance::expect;
/// let second = expect::partial_list([(1, "b")]);
/// assert_eq!(second.to_string(), r#"a list with [1] = "b""#);
/// ```
pub fn partial_list(elements: impl IntoIterator<Item = (usize, impl Into<Expected>)>) -> Expected {
    Expected(Rule::PartialList(elements.into_iter().map(|(index, element)| (index, element.into())).collect()))
}

/// A set with these elements.
///
/// ```
/// # use terrane_sdk_acceptance::expect;
/// assert_eq!(expect::set(["a", "b"]).to_string(), r#"the set of "a", "b""#);
/// ```
pub fn set(elements: impl IntoIterator<Item = impl Into<Expected>>) -> Expected {
    Expected(Rule::Set { elements: elements.into_iter().map(Into::into).collect(), exactly: true })
}

/// A set with these elements and any others.
///
/// ```
/// # use terrane_sdk_acceptance::expect;
/// assert_eq!(expect::partial_set(["a"]).to_string(), r#"a set with "a""#);
/// ```
pub fn partial_set(elements: impl IntoIterator<Item = impl Into<Expected>>) -> Expected {
    Expected(Rule::Set { elements: elements.into_iter().map(Into::into).collect(), exactly: false })
}

/// An object or map with these attributes and no others, except for null ones.
///
/// ```
/// # use terrane_sdk_acceptance::expect;
/// let reminder = expect::object([("at", expect::not_null()), ("channel", "mail".into())]);
/// assert_eq!(reminder.to_string(), r#"{at = any value but null, channel = "mail"}"#);
/// ```
pub fn object(attributes: impl IntoIterator<Item = (impl Into<String>, impl Into<Expected>)>) -> Expected {
    let attributes = attributes.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    Expected(Rule::Object { attributes, exactly: true })
}

/// An object or map with these attributes and any others.
///
/// ```
/// # use terrane_sdk_acceptance::expect;
/// assert_eq!(expect::partial_object([("a", 1)]).to_string(), "an object with {a = 1}");
/// ```
pub fn partial_object(attributes: impl IntoIterator<Item = (impl Into<String>, impl Into<Expected>)>) -> Expected {
    let attributes = attributes.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    Expected(Rule::Object { attributes, exactly: false })
}

/// A list, set, map or object with so many elements. Null attributes of objects count.
///
/// ```
/// # use terrane_sdk_acceptance::{expect, state};
/// let check = state::value("todo_note.milk", "tags", expect::size(2));
/// ```
pub fn size(elements: usize) -> Expected {
    Expected(Rule::Size(elements))
}

/// Any value but null for which the function returns true. `description` is for the message.
///
/// ```
/// # use terrane_sdk_acceptance::expect;
/// let even = expect::value("an even number", |value| value.as_i64().is_some_and(|n| n % 2 == 0));
/// assert_eq!(even.to_string(), "an even number");
/// ```
pub fn value(description: impl Into<String>, holds: impl Fn(&Json) -> bool + Send + Sync + 'static) -> Expected {
    Expected(Rule::Predicate { description: description.into(), holds: Arc::new(holds) })
}

/// A text for which the function returns true: for example `is_match` of a regular expression.
///
/// ```
/// # use terrane_sdk_acceptance::{expect, state};
/// let utc = expect::text("a time in UTC", |text| text.ends_with('Z'));
/// let check = state::value("todo_note.milk", "created_at", utc);
/// ```
pub fn text(description: impl Into<String>, holds: impl Fn(&str) -> bool + Send + Sync + 'static) -> Expected {
    value(description, move |value| value.as_str().is_some_and(&holds))
}

impl Expected {
    /// Compares a value; none is a value that does not exist. The error names the part that differs, what was expected
    /// and what was found.
    pub(super) fn check(&self, value: Option<&Json>) -> CheckResult {
        match self.difference(value.unwrap_or(&Json::Null)) {
            None => Ok(()),
            Some((path, _)) if value.is_none() => Err(format!("{path}expected {self}, but there is no such value")),
            Some((path, difference)) => Err(format!("{path}{difference}")),
        }
    }

    /// The path of the first part that differs, with a colon and a space behind it, and how.
    fn difference(&self, value: &Json) -> Option<(String, String)> {
        let here = |holds: bool| (!holds).then(|| (String::new(), format!("expected {self}, found {value}")));
        match (&self.0, value) {
            (Rule::Exact(expected), value) => here(is_equal(expected, value)),
            (Rule::Null, value) => here(value.is_null()),
            (Rule::NotNull, value) => here(!value.is_null()),
            (Rule::List(expected), Json::Array(elements)) if expected.len() == elements.len() => {
                let pairs = expected.iter().zip(elements).enumerate();
                pairs.into_iter().find_map(|(at, (expected, element))| within(at, expected.difference(element)))
            }
            (Rule::PartialList(expected), Json::Array(elements)) => expected.iter().find_map(|(at, expected)| {
                let element = elements.get(*at).map_or_else(|| here(false), |element| expected.difference(element));
                within(*at, element)
            }),
            (Rule::Set { elements, exactly }, Json::Array(found)) => here(is_matching(elements, found, *exactly)),
            (Rule::Object { attributes, exactly }, Json::Object(found)) => {
                let surplus = found.iter().find(|(name, value)| !value.is_null() && !attributes.contains_key(*name));
                let differs = |(name, expected): (&String, &Expected)| {
                    within(name, expected.difference(found.get(name).unwrap_or(&Json::Null)))
                };
                attributes.iter().find_map(differs).or_else(|| here(!exactly || surplus.is_none()))
            }
            (Rule::Size(size), Json::Array(elements)) => here(*size == elements.len()),
            (Rule::Size(size), Json::Object(attributes)) => here(*size == attributes.len()),
            (Rule::Predicate { holds, .. }, value) => here(!value.is_null() && holds(value)),
            _ => here(false),
        }
    }
}

fn within(step: impl fmt::Display, difference: Option<(String, String)>) -> Option<(String, String)> {
    difference.map(|(path, text)| (format!("{step}: {path}"), text))
}

/// Whether each expectation has a separate element. Greedy: enough for expectations that are exact.
fn is_matching(expected: &[Expected], found: &[Json], exactly: bool) -> bool {
    let mut left: Vec<&Json> = found.iter().collect();
    let all = expected.iter().all(|expected| {
        let at = left.iter().position(|element| expected.difference(element).is_none());
        at.map(|at| left.remove(at)).is_some()
    });
    all && (!exactly || left.is_empty())
}

/// Equal JSON values, numbers by their value: `1` and `1.0` are equal.
pub(super) fn is_equal(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            one == other || Number::parse(&one.to_string()) == Number::parse(&other.to_string())
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_equal(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let has = |(name, value): (&String, &Json)| other.get(name).is_some_and(|other| is_equal(value, other));
            one.len() == other.len() && one.iter().all(has)
        }
        (one, other) => one == other,
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |elements: &[Expected]| elements.iter().map(Expected::to_string).collect::<Vec<_>>().join(", ");
        match &self.0 {
            Rule::Exact(value) => value.fmt(f),
            Rule::Null => f.write_str("null"),
            Rule::NotNull => f.write_str("any value but null"),
            Rule::List(elements) => write!(f, "[{}]", joined(elements)),
            Rule::Set { elements, exactly: true } if elements.is_empty() => f.write_str("an empty set"),
            Rule::Set { elements, exactly } => {
                write!(f, "{} {}", if *exactly { "the set of" } else { "a set with" }, joined(elements))
            }
            Rule::Object { attributes, exactly } => {
                let attributes: Vec<_> = attributes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                write!(f, "{}{{{}}}", if *exactly { "" } else { "an object with " }, attributes.join(", "))
            }
            Rule::PartialList(elements) => {
                let elements: Vec<_> = elements.iter().map(|(at, value)| format!("[{at}] = {value}")).collect();
                write!(f, "a list with {}", elements.join(", "))
            }
            Rule::Size(1) => f.write_str("1 element"),
            Rule::Size(size) => write!(f, "{size} elements"),
            Rule::Predicate { description, .. } => f.write_str(description),
        }
    }
}

impl fmt::Debug for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expected({self})")
    }
}

macro_rules! exact {
    ($($type:ty),*) => {
        $(
            /// Exactly this value.
            impl From<$type> for Expected {
                fn from(value: $type) -> Expected {
                    Expected(Rule::Exact(Json::from(value)))
                }
            }
        )*
    };
}

exact!(&str, String, bool, i32, i64, f64, Json);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn expectations_accept_and_refuse() {
        let milk = json!({ "title": "Milk", "tags": ["a", "b"], "size": 1.0, "body": null });
        let accepted: Vec<(&str, Expected)> = vec![
            ("title", "Milk".into()),
            ("size", 1.into()),
            ("body", null()),
            ("absent", null()),
            ("title", not_null()),
            ("tags", json!(["a", "b"]).into()),
            ("tags", list(["a", "b"])),
            ("tags", set(["b", "a"])),
            ("tags", partial_set(["b"])),
            ("tags", partial_list([(1, "b")])),
            ("tags", size(2)),
            ("title", text("M...", |text| text.starts_with('M'))),
            ("size", value("positive", |value| value.as_f64().is_some_and(|n| n > 0.0))),
        ];
        for (name, expected) in accepted {
            assert_eq!(expected.check(milk.get(name)), Ok(()), "{name} {expected}");
        }
        let refused: Vec<(&str, Expected, &str)> = vec![
            ("title", "Bread".into(), r#"expected "Bread", found "Milk""#),
            ("size", "1".into(), r#"expected "1", found 1.0"#),
            ("title", null(), r#"expected null, found "Milk""#),
            ("body", not_null(), "expected any value but null, found null"),
            ("absent", "x".into(), r#"expected "x", but there is no such value"#),
            ("tags", list(["b", "a"]), r#"0: expected "b", found "a""#),
            ("tags", list(["a"]), r#"expected ["a"], found ["a","b"]"#),
            ("tags", set(["a"]), r#"expected the set of "a", found ["a","b"]"#),
            ("tags", partial_set(["a", "a"]), r#"expected a set with "a", "a", found ["a","b"]"#),
            ("tags", partial_list([(2, "b")]), r#"2: expected a list with [2] = "b", found ["a","b"]"#),
            ("tags", size(1), r#"expected 1 element, found ["a","b"]"#),
            ("title", size(4), r#"expected 4 elements, found "Milk""#),
            ("size", text("a text", |_| true), "expected a text, found 1.0"),
            ("body", value("anything", |_| true), "expected anything, found null"),
        ];
        for (name, expected, message) in refused {
            assert_eq!(expected.check(milk.get(name)).unwrap_err(), message, "{name} {expected}");
        }
    }

    #[test]
    fn objects_are_compared_by_attribute() {
        let found = json!({ "at": "now", "by": { "mail": true }, "note": null });
        let by = || object([("mail", true)]);
        assert_eq!(object([("at", Expected::from("now")), ("by", by())]).check(Some(&found)), Ok(()));
        assert_eq!(partial_object([("by", by())]).check(Some(&found)), Ok(()));
        let cases = [
            (object([("at", "now")]), r#"expected {at = "now"}, found "#),
            (partial_object([("by", object([("mail", false)]))]), "by: mail: expected false, found true"),
            (partial_object([("to", "x")]), r#"to: expected "x", found null"#),
        ];
        for (expected, message) in cases {
            let error = expected.check(Some(&found)).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
