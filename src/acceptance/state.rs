//! The state after a step, and checks of it.
//!
//! Each function returns a check for [`Step::check`](super::Step::check). A closure of a [`State`] is a check too. Paths of attributes
//! have the form `reminder[0].at`; the empty path is the whole object.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;

use super::error::{CheckResult, Error};
use super::expect::{Expected, is_equal};
use super::value_path::ValuePath;

/// The resources, data sources and outputs of a state.
///
/// ```
/// use terrane_sdk_acceptance::{State, Step};
/// let step = Step::new("").check(|state: &State| match state.text("todo_note.milk", "id") {
///     Some(id) if id.len() < 10 => Ok(()),
///     id => Err(format!("expected a short id, found {id:?}")),
/// });
/// ```
#[derive(Clone, Debug, Default)]
pub struct State {
    resources: BTreeMap<String, Json>,
    outputs: Json,
}

impl State {
    /// Reads what `show -json` prints.
    pub(super) fn parse(text: &str) -> Result<State, Error> {
        let json: Json =
            serde_json::from_str(text).map_err(|error| Error::new(format!("the state is not JSON: {error}")))?;
        let mut resources = BTreeMap::new();
        collect(&json["values"]["root_module"], &mut resources);
        Ok(State { resources, outputs: json["values"]["outputs"].clone() })
    }

    /// The addresses of all resource instances, such as `todo_note.milk`, `data.todo_notes.all` and `module.a.todo_note.b["c"]`.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::State;
    /// assert_eq!(State::default().addresses().count(), 0);
    /// ```
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.resources.keys().map(String::as_str)
    }

    /// The attributes of a resource instance, as JSON; none if the state does not have it.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::State;
    /// assert!(State::default().attributes("todo_note.milk").is_none());
    /// ```
    pub fn attributes(&self, address: &str) -> Option<&Json> {
        self.resources.get(address).map(|resource| &resource["values"])
    }

    /// An attribute that is a text; none if there is no such text.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::State;
    /// assert!(State::default().text("todo_note.milk", "id").is_none());
    /// ```
    pub fn text(&self, address: &str, path: &str) -> Option<&str> {
        ValuePath::parse(path).ok()?.find(self.attributes(address)?)?.as_str()
    }

    /// The identity of a resource instance; none if the program does not show identities: Terraform before 1.12.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::State;
    /// assert!(State::default().identity("todo_note.milk").is_none());
    /// ```
    pub fn identity(&self, address: &str) -> Option<&Json> {
        self.resources.get(address)?.get("identity").filter(|identity| !identity.is_null())
    }

    /// The value of an output; none if the state does not have it.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::State;
    /// assert!(State::default().output("slug").is_none());
    /// ```
    pub fn output(&self, name: &str) -> Option<&Json> {
        self.outputs.get(name).map(|output| &output["value"])
    }

    /// A value with its place, for messages.
    fn find(&self, address: &str, path: &str) -> Result<Option<&Json>, String> {
        ValuePath::parse(path).map(|path| path.find(&self.resource(address).ok()?["values"]))
    }

    fn resource(&self, address: &str) -> Result<&Json, String> {
        self.resources.get(address).ok_or_else(|| missing(address, self.addresses()))
    }
}

/// The resources of a module and of those within it.
fn collect(module: &Json, into: &mut BTreeMap<String, Json>) {
    for resource in module["resources"].as_array().into_iter().flatten() {
        // A deposed object has the address of the current one.
        if resource.get("deposed_key").is_none() {
            into.insert(resource["address"].as_str().unwrap_or_default().to_owned(), resource.clone());
        }
    }
    module["child_modules"].as_array().into_iter().flatten().for_each(|child| collect(child, into));
}

/// The message for an address that is not there.
pub(super) fn missing<'a>(address: &str, others: impl Iterator<Item = &'a str>) -> String {
    let others: Vec<&str> = others.collect();
    match others.is_empty() {
        true => format!("expected {address}, found no resources"),
        false => format!("expected {address}, found only {}", others.join(", ")),
    }
}

/// The place of an attribute: `todo_note.milk: reminder[0].at`.
pub(super) fn place(address: &str, path: &str) -> String {
    if path.is_empty() { address.to_owned() } else { format!("{address}: {path}") }
}

/// An attribute has a value.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, expect, state};
/// let step = Step::new("")
///     .check(state::value("todo_note.milk", "title", "Buy milk"))
///     .check(state::value("todo_note.milk", "tags", expect::set(["food", "home"])))
///     .check(state::value("todo_note.milk", "reminder[0].channel", "mail"));
/// ```
pub fn value(
    address: impl Into<String>,
    path: impl Into<String>,
    expected: impl Into<Expected>,
) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    let (address, path, expected) = (address.into(), path.into(), expected.into());
    move |state| {
        state.resource(&address)?;
        expected.check(state.find(&address, &path)?).map_err(|error| format!("{}: {error}", place(&address, &path)))
    }
}

/// The state has a resource instance.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, state};
/// let step = Step::new("").check(state::exists("todo_note.milk"));
/// ```
pub fn exists(address: impl Into<String>) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    let address = address.into();
    move |state| state.resource(&address).map(drop)
}

/// The state does not have a resource instance.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, state};
/// let step = Step::new("").check(state::absent("todo_note.milk"));
/// ```
pub fn absent(address: impl Into<String>) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    let address = address.into();
    move |state| match state.attributes(&address) {
        None => Ok(()),
        Some(_) => Err(format!("expected no {address}, found it in the state")),
    }
}

/// An attribute, or all of its parts, are sensitive.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, state};
/// let step = Step::new("").check(state::sensitive("todo_note.milk", "secret"));
/// ```
pub fn sensitive(
    address: impl Into<String>,
    path: impl Into<String>,
) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    let (address, path) = (address.into(), path.into());
    move |state| {
        let resource = state.resource(&address)?;
        match ValuePath::parse(&path)?.is_flagged(&resource["sensitive_values"]) {
            true => Ok(()),
            false => Err(format!("{}: expected a sensitive value, found one that is not", place(&address, &path))),
        }
    }
}

/// The identity of an object has a value. Needs a program that shows identities: for Terraform, use
/// [`Step::skip_below`](super::Step::skip_below) with version 1.12.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, expect, state};
/// let step = Step::new("").check(state::identity("todo_note.milk", expect::object([("id", "1")]))).skip_below("1.12");
/// ```
pub fn identity(
    address: impl Into<String>,
    expected: impl Into<Expected>,
) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    let (address, expected) = (address.into(), expected.into());
    move |state| {
        state.resource(&address)?;
        expected.check(state.identity(&address)).map_err(|error| format!("{address}: identity: {error}"))
    }
}

/// Each attribute of the identity equals the attribute of the object that has its name.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, state};
/// let step = Step::new("").check(state::identity_in_attributes("todo_note.milk")).skip_below("1.12");
/// ```
pub fn identity_in_attributes(address: impl Into<String>) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    let address = address.into();
    move |state| {
        let values = &state.resource(&address)?["values"];
        let identity = state.identity(&address).and_then(Json::as_object);
        let identity = identity.ok_or_else(|| format!("{address}: expected an identity, found none"))?;
        let differs = identity.iter().find(|(name, value)| !is_equal(value, &values[name.as_str()]));
        match differs {
            None => Ok(()),
            Some((name, value)) => {
                Err(format!("{address}: identity: {name}: expected {}, found {value}", values[name.as_str()]))
            }
        }
    }
}

/// An output has a value.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, state};
/// let step = Step::new("").check(state::output("slug", "buy-milk"));
/// ```
pub fn output(
    name: impl Into<String>,
    expected: impl Into<Expected>,
) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    let (name, expected) = (name.into(), expected.into());
    move |state| expected.check(state.output(&name)).map_err(|error| format!("output {name}: {error}"))
}

/// Two attributes, each an address and a path, are equal.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, state};
/// let step = Step::new("").check(state::same(("todo_note.milk", "id"), ("data.todo_note.milk", "id")));
/// ```
pub fn same(one: (&str, &str), other: (&str, &str)) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    compare(one, other, "the value of", is_equal)
}

/// Two attributes, each an address and a path, differ.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, state};
/// let step = Step::new("").check(state::different(("todo_note.milk", "id"), ("todo_note.bread", "id")));
/// ```
pub fn different(one: (&str, &str), other: (&str, &str)) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    compare(one, other, "another value than", |one, other| !is_equal(one, other))
}

/// A list, set or map has an element that equals another attribute; each is an address and a path.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, state};
/// let step = Step::new("").check(state::contains(("data.todo_notes.all", "ids"), ("todo_note.milk", "id")));
/// ```
pub fn contains(collection: (&str, &str), element: (&str, &str)) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    compare(collection, element, "an element equal to", |collection, element| match collection {
        Json::Array(elements) => elements.iter().any(|found| is_equal(found, element)),
        Json::Object(elements) => elements.values().any(|found| is_equal(found, element)),
        _ => false,
    })
}

fn compare(
    one: (&str, &str),
    other: (&str, &str),
    expected: &'static str,
    holds: fn(&Json, &Json) -> bool,
) -> impl FnMut(&State) -> CheckResult + Send + 'static {
    let own = |(address, path): (&str, &str)| (address.to_owned(), path.to_owned());
    let (one, other) = (own(one), own(other));
    move |state| {
        let value = |(address, path): &(String, String)| {
            state.resource(address)?;
            let found = state.find(address, path)?.cloned();
            found.ok_or_else(|| format!("{}: expected a value, but there is none", place(address, path)))
        };
        let (found, second) = (value(&one)?, value(&other)?);
        if holds(&found, &second) {
            return Ok(());
        }
        let (place, other) = (place(&one.0, &one.1), self::place(&other.0, &other.1));
        Err(format!("{place}: expected {expected} {other}, {second}, found {found}"))
    }
}

/// A value that is compared between steps. Clones share the values that were seen.
///
/// ```
/// use terrane_sdk_acceptance::{Step, Test, state::Tracked};
/// let id = Tracked::new();
/// let test = Test::new()
///     .step(Step::new(r#"resource "todo_note" "a" { title = "A" }"#).check(id.start("todo_note.a", "id")))
///     .step(Step::new(r#"resource "todo_note" "a" { title = "B" }"#).check(id.same("todo_note.a", "id")));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tracked {
    last: Arc<Mutex<Option<Json>>>,
}

impl Tracked {
    /// No value yet.
    ///
    /// ```
    /// let id = terrane_sdk_acceptance::state::Tracked::new();
    /// ```
    pub fn new() -> Tracked {
        Tracked::default()
    }

    /// Keeps the value.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Step, state::Tracked};
    /// let step = Step::new("").check(Tracked::new().start("todo_note.a", "id"));
    /// ```
    pub fn start(&self, address: &str, path: &str) -> impl FnMut(&State) -> CheckResult + Send + 'static {
        self.compared(address, path, |_, _| Ok(()))
    }

    /// Fails unless the value equals the last one, and keeps it.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Step, state::Tracked};
    /// let step = Step::new("").check(Tracked::new().same("todo_note.a", "id"));
    /// ```
    pub fn same(&self, address: &str, path: &str) -> impl FnMut(&State) -> CheckResult + Send + 'static {
        self.compared(address, path, |last, value| match last {
            Some(last) if is_equal(last, value) => Ok(()),
            Some(last) => Err(format!("expected {last} as before, found {value}")),
            None => Err("expected a value in an earlier step, but none was kept".to_owned()),
        })
    }

    /// Fails unless the value differs from the last one, and keeps it.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Step, state::Tracked};
    /// let step = Step::new("").check(Tracked::new().different("todo_note.a", "id"));
    /// ```
    pub fn different(&self, address: &str, path: &str) -> impl FnMut(&State) -> CheckResult + Send + 'static {
        self.compared(address, path, |last, value| match last {
            Some(last) if !is_equal(last, value) => Ok(()),
            Some(last) => Err(format!("expected another value than {last}, found the same")),
            None => Err("expected a value in an earlier step, but none was kept".to_owned()),
        })
    }

    fn compared(
        &self,
        address: &str,
        path: &str,
        compare: fn(Option<&Json>, &Json) -> CheckResult,
    ) -> impl FnMut(&State) -> CheckResult + Send + 'static {
        let (tracked, address, path) = (self.clone(), address.to_owned(), path.to_owned());
        move |state| {
            state.resource(&address)?;
            let value = state.find(&address, &path)?.cloned().unwrap_or(Json::Null);
            let mut last = tracked.last.lock().unwrap_or_else(PoisonError::into_inner);
            compare(last.as_ref(), &value).map_err(|error| format!("{}: {error}", place(&address, &path)))?;
            *last = Some(value);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::expect;
    use super::*;

    fn sample() -> State {
        let note = |address: &str, id: &str| {
            json!({ "address": address, "mode": "managed", "values": { "id": id, "tags": ["x", "y"], "body": null },
                "sensitive_values": { "tags": [true, false], "secret": true }, "identity": { "id": id } })
        };
        let json = json!({ "format_version": "1.0", "values": {
            "outputs": { "slug": { "value": "a-b", "sensitive": false } },
            "root_module": {
                "resources": [note("todo_note.a", "x"), { "address": "todo_note.a", "deposed_key": "1", "values": {} }],
                "child_modules": [{ "resources": [note("module.m.todo_note.b[0]", "2")] }],
            },
        } });
        State::parse(&json.to_string()).unwrap()
    }

    type Check = Box<dyn FnMut(&State) -> CheckResult>;

    #[test]
    fn states_have_resources_of_all_modules() {
        let state = sample();
        assert_eq!(state.addresses().collect::<Vec<_>>(), ["module.m.todo_note.b[0]", "todo_note.a"]);
        assert_eq!((state.text("todo_note.a", "id"), state.text("todo_note.a", "body")), (Some("x"), None));
        assert_eq!(state.output("slug"), Some(&json!("a-b")));
        assert_eq!(State::parse(r#"{"format_version":"1.0"}"#).unwrap().addresses().count(), 0);
    }

    #[test]
    fn checks_accept_what_the_state_has() {
        let accepted: Vec<Check> = vec![
            Box::new(value("todo_note.a", "tags[1]", "y")),
            Box::new(value("module.m.todo_note.b[0]", "", expect::size(3))),
            Box::new(value("todo_note.a", "body", expect::null())),
            Box::new(exists("todo_note.a")),
            Box::new(absent("todo_note.b")),
            Box::new(sensitive("todo_note.a", "secret")),
            Box::new(sensitive("todo_note.a", "tags[0]")),
            Box::new(identity("todo_note.a", expect::object([("id", "x")]))),
            Box::new(identity_in_attributes("todo_note.a")),
            Box::new(output("slug", "a-b")),
            Box::new(same(("todo_note.a", "tags"), ("module.m.todo_note.b[0]", "tags"))),
            Box::new(different(("todo_note.a", "id"), ("module.m.todo_note.b[0]", "id"))),
            Box::new(contains(("module.m.todo_note.b[0]", "tags"), ("todo_note.a", "id"))),
        ];
        for (number, mut check) in accepted.into_iter().enumerate() {
            assert_eq!(check(&sample()), Ok(()), "{number}");
        }
    }

    #[test]
    fn checks_say_what_they_expected_and_what_there_is() {
        let b = "module.m.todo_note.b[0]";
        let refused: Vec<(Check, &str)> = vec![
            (Box::new(value("todo_note.a", "id", "z")), r#"todo_note.a: id: expected "z", found "x""#),
            (Box::new(value("c.d", "id", "z")), "expected c.d, found only module.m.todo_note.b[0], todo_note.a"),
            (Box::new(absent("todo_note.a")), "expected no todo_note.a, found it in the state"),
            (
                Box::new(sensitive("todo_note.a", "id")),
                "todo_note.a: id: expected a sensitive value, found one that is not",
            ),
            (Box::new(output("x", 1)), "output x: expected 1, but there is no such value"),
            (
                Box::new(same(("todo_note.a", "id"), (b, "id"))),
                r#"todo_note.a: id: expected the value of module.m.todo_note.b[0]: id, "2", found "x""#,
            ),
            (Box::new(contains((b, "tags"), (b, "id"))), "module.m.todo_note.b[0]: tags: expected an element equal to"),
        ];
        for (mut check, message) in refused {
            let error = check(&sample()).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn tracked_values_are_compared_with_the_last_one() {
        let state = sample();
        let id = Tracked::new();
        assert!(id.same("todo_note.a", "id")(&state).is_err());
        id.start("todo_note.a", "id")(&state).unwrap();
        id.same("todo_note.a", "id")(&state).unwrap();
        assert!(id.different("todo_note.a", "id")(&state).is_err());
        id.different("module.m.todo_note.b[0]", "id")(&state).unwrap();
        assert!(id.same("todo_note.a", "id")(&state).unwrap_err().contains("expected \"2\" as before, found \"x\""));
    }
}
