//! The plan of a step, and checks of it.
//!
//! Each function returns a check for [`Step::check_plan`](super::Step::check_plan) and its variants. A closure of a [`Plan`] is a
//! check too. Paths of attributes have the form `reminder[0].at`; the empty path is the whole object.

use std::fmt;

use serde_json::Value as Json;

use super::error::{CheckResult, Error};
use super::expect::Expected;
use super::state::{missing, place};
use super::value_path::ValuePath;

/// What a plan does with a resource instance or an output.
///
/// ```
/// use terrane_sdk_acceptance::Action;
/// assert_eq!(Action::Replace.to_string(), "replace");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Nothing.
    NoOp,
    /// A new object.
    Create,
    /// A change in place.
    Update,
    /// Destroys the object.
    Delete,
    /// Destroys the object and creates another, in either order.
    Replace,
    /// As [`Action::Replace`], in this order.
    DeleteThenCreate,
    /// As [`Action::Replace`], in this order: `create_before_destroy`.
    CreateThenDelete,
    /// Reads a data source during apply.
    Read,
    /// Removes the object from the state only.
    Forget,
}

impl Action {
    fn matches(self, actions: &[&str]) -> bool {
        match self {
            Action::NoOp => actions == ["no-op"],
            Action::Create => actions == ["create"],
            Action::Update => actions == ["update"],
            Action::Delete => actions == ["delete"],
            Action::Replace => Action::DeleteThenCreate.matches(actions) || Action::CreateThenDelete.matches(actions),
            Action::DeleteThenCreate => actions == ["delete", "create"],
            Action::CreateThenDelete => actions == ["create", "delete"],
            Action::Read => actions == ["read"],
            Action::Forget => actions == ["forget"],
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::NoOp => "no-op",
            Action::Create => "create",
            Action::Update => "update",
            Action::Delete => "delete",
            Action::Replace => "replace",
            Action::DeleteThenCreate => "delete, create",
            Action::CreateThenDelete => "create, delete",
            Action::Read => "read",
            Action::Forget => "forget",
        })
    }
}

/// A plan: changes of resource instances and outputs.
///
/// ```
/// use terrane_sdk_acceptance::{Plan, Step};
/// let step = Step::new("").check_plan(|plan: &Plan| match plan.addresses().count() {
///     1 => Ok(()),
///     count => Err(format!("expected 1 resource, found {count}")),
/// });
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    json: Json,
}

impl Plan {
    /// Reads what `show -json` prints for a saved plan.
    pub(super) fn parse(text: &str) -> Result<Plan, Error> {
        let json = serde_json::from_str(text).map_err(|error| Error::new(format!("the plan is not JSON: {error}")))?;
        Ok(Plan { json })
    }

    /// The addresses of the resource instances in the plan, also those that do not change.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Plan;
    /// fn has_notes(plan: &Plan) -> bool {
    ///     plan.addresses().any(|address| address.starts_with("todo_note."))
    /// }
    /// ```
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.resources().filter_map(|resource| resource["address"].as_str())
    }

    /// The change of a resource instance, with `actions`, `before`, `after`, `after_unknown` and others, as `show -json` prints it.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Plan;
    /// fn is_imported(plan: &Plan) -> bool {
    ///     plan.change("todo_note.milk").is_some_and(|change| change.get("importing").is_some())
    /// }
    /// ```
    pub fn change(&self, address: &str) -> Option<&Json> {
        self.resources().find(|resource| resource["address"] == address).map(|resource| &resource["change"])
    }

    fn resources(&self) -> impl Iterator<Item = &Json> {
        let all = self.json["resource_changes"].as_array().into_iter().flatten();
        all.filter(|resource| resource.get("deposed").is_none())
    }

    fn required_change(&self, address: &str) -> Result<&Json, String> {
        self.change(address).ok_or_else(|| missing(address, self.addresses()))
    }

    fn output(&self, name: &str) -> Result<&Json, String> {
        self.json["output_changes"].get(name).ok_or_else(|| format!("expected output {name}, but the plan has none"))
    }

    /// What changes: addresses and outputs with their actions.
    fn changes(&self) -> Vec<String> {
        let changes =
            |change: &Json| !Action::NoOp.matches(&actions(change)) && !Action::Read.matches(&actions(change));
        let all = self.json["resource_changes"].as_array().into_iter().flatten();
        let resources = all.filter(|resource| changes(&resource["change"])).map(|resource| {
            let address = resource["address"].as_str().unwrap_or_default();
            format!("{address} ({})", actions(&resource["change"]).join(", "))
        });
        let outputs = self.json["output_changes"].as_object().into_iter().flatten();
        let outputs = outputs.filter(|(_, change)| changes(change));
        let outputs = outputs.map(|(name, change)| format!("output {name} ({})", actions(change).join(", ")));
        resources.chain(outputs).collect()
    }
}

fn actions(change: &Json) -> Vec<&str> {
    change["actions"].as_array().into_iter().flatten().filter_map(Json::as_str).collect()
}

fn check_action(place: &str, change: &Json, action: Action) -> CheckResult {
    match actions(change) {
        found if action.matches(&found) => Ok(()),
        found => Err(format!("{place}: expected the action {action}, found {}", found.join(", "))),
    }
}

/// The plan changes nothing.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, plan};
/// let step = Step::new("").check_plan(plan::empty());
/// ```
pub fn empty() -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    |plan| match plan.changes() {
        changes if changes.is_empty() => Ok(()),
        changes => Err(format!("expected an empty plan, found changes of {}", changes.join(", "))),
    }
}

/// The plan changes something.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, plan};
/// let step = Step::new("").check_plan(plan::not_empty());
/// ```
pub fn not_empty() -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    |plan| match plan.changes().is_empty() {
        false => Ok(()),
        true => Err("expected a plan with changes, found an empty one".to_owned()),
    }
}

/// What the plan does with a resource instance.
///
/// ```
/// # use terrane_sdk_acceptance::{Action, Step, plan};
/// let step = Step::new("").check_plan(plan::action("todo_note.milk", Action::Replace));
/// ```
pub fn action(address: impl Into<String>, action: Action) -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    let address = address.into();
    move |plan| check_action(&address, plan.required_change(&address)?, action)
}

/// A planned attribute has a value.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, plan};
/// let step = Step::new("").check_plan(plan::value("todo_note.milk", "list", "inbox"));
/// ```
pub fn value(
    address: impl Into<String>,
    path: impl Into<String>,
    expected: impl Into<Expected>,
) -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    let (address, path, expected) = (address.into(), path.into(), expected.into());
    move |plan| {
        let change = plan.required_change(&address)?;
        check_value(&place(&address, &path), change, &ValuePath::parse(&path)?, &expected)
    }
}

fn check_value(place: &str, change: &Json, path: &ValuePath, expected: &Expected) -> CheckResult {
    if path.is_flagged(&change["after_unknown"]) {
        return Err(format!("{place}: expected {expected}, found an unknown value"));
    }
    expected.check(path.find(&change["after"])).map_err(|error| format!("{place}: {error}"))
}

/// A planned attribute is known only after apply.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, plan};
/// let step = Step::new("").check_plan(plan::unknown("todo_note.milk", "id"));
/// ```
pub fn unknown(
    address: impl Into<String>,
    path: impl Into<String>,
) -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    let (address, path) = (address.into(), path.into());
    move |plan| {
        let change = plan.required_change(&address)?;
        check_unknown(&place(&address, &path), change, &ValuePath::parse(&path)?)
    }
}

fn check_unknown(place: &str, change: &Json, path: &ValuePath) -> CheckResult {
    match path.is_flagged(&change["after_unknown"]) {
        true => Ok(()),
        false => {
            let found = path.find(&change["after"]).unwrap_or(&Json::Null);
            Err(format!("{place}: expected an unknown value, found {found}"))
        }
    }
}

/// A planned attribute is sensitive.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, plan};
/// let step = Step::new("").check_plan(plan::sensitive("todo_note.milk", "secret"));
/// ```
pub fn sensitive(
    address: impl Into<String>,
    path: impl Into<String>,
) -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    let (address, path) = (address.into(), path.into());
    move |plan| {
        let change = plan.required_change(&address)?;
        match ValuePath::parse(&path)?.is_flagged(&change["after_sensitive"]) {
            true => Ok(()),
            false => Err(format!("{}: expected a sensitive value, found one that is not", place(&address, &path))),
        }
    }
}

/// A planned output has a value.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, plan};
/// let step = Step::new("").check_plan(plan::output("slug", "buy-milk"));
/// ```
pub fn output(
    name: impl Into<String>,
    expected: impl Into<Expected>,
) -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    let (name, expected) = (name.into(), expected.into());
    move |plan| check_value(&format!("output {name}"), plan.output(&name)?, &ValuePath::parse("")?, &expected)
}

/// A planned output is known only after apply.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, plan};
/// let step = Step::new("").check_plan(plan::output_unknown("id"));
/// ```
pub fn output_unknown(name: impl Into<String>) -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    let name = name.into();
    move |plan| check_unknown(&format!("output {name}"), plan.output(&name)?, &ValuePath::parse("")?)
}

/// What the plan does with an output.
///
/// ```
/// # use terrane_sdk_acceptance::{Action, Step, plan};
/// let step = Step::new("").check_plan(plan::output_action("slug", Action::Update));
/// ```
pub fn output_action(name: impl Into<String>, action: Action) -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    let name = name.into();
    move |plan| check_action(&format!("output {name}"), plan.output(&name)?, action)
}

/// The change of a resource instance is deferred to another run, for a reason such as `provider_config_unknown`.
/// See [`Step::plan_argument`](super::Step::plan_argument).
///
/// ```
/// # use terrane_sdk_acceptance::{Step, plan};
/// let step = Step::new("")
///     .plan_argument("-allow-deferral")
///     .check_plan(plan::deferred("todo_note.milk", "provider_config_unknown"));
/// ```
pub fn deferred(
    address: impl Into<String>,
    reason: impl Into<String>,
) -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    let (address, reason) = (address.into(), reason.into());
    move |plan| {
        let all = || plan.json["deferred_changes"].as_array().into_iter().flatten();
        let change = all().find(|deferred| deferred["resource_change"]["address"] == address.as_str());
        match change {
            Some(deferred) if deferred["reason"] == reason.as_str() => Ok(()),
            Some(deferred) => Err(format!("{address}: expected a deferral for {reason}, found {}", deferred["reason"])),
            None => {
                let others = all().filter_map(|deferred| deferred["resource_change"]["address"].as_str());
                Err(format!("{address}: expected a deferral for {reason}: {}", missing(&address, others)))
            }
        }
    }
}

/// The plan defers nothing.
///
/// ```
/// # use terrane_sdk_acceptance::{Step, plan};
/// let step = Step::new("").check_plan(plan::nothing_deferred());
/// ```
pub fn nothing_deferred() -> impl FnMut(&Plan) -> CheckResult + Send + 'static {
    |plan| match plan.json["deferred_changes"].as_array().map_or(0, Vec::len) {
        0 => Ok(()),
        count => Err(format!("expected no deferred changes, found {count}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::expect;
    use super::*;

    fn sample() -> Plan {
        let json = json!({
            "resource_changes": [
                { "address": "todo_note.a", "change": {
                    "actions": ["delete", "create"], "before": {}, "after": { "title": "A", "tags": ["x"] },
                    "after_unknown": { "id": true, "tags": [false], "x": {} }, "after_sensitive": { "secret": true } } },
                { "address": "todo_note.b", "change": { "actions": ["no-op"], "after": { "title": "B" }, "after_unknown": {} } },
            ],
            "output_changes": {
                "slug": { "actions": ["update"], "after": "a", "after_unknown": false },
                "id": { "actions": ["create"], "after_unknown": true },
                "old": { "actions": ["no-op"], "after": 1, "after_unknown": false },
            },
            "deferred_changes": [
                { "reason": "provider_config_unknown", "resource_change": { "address": "todo_note.c" } },
            ],
        });
        Plan::parse(&json.to_string()).unwrap()
    }

    type Check = Box<dyn FnMut(&Plan) -> CheckResult>;

    #[test]
    fn checks_accept_what_is_planned() {
        let accepted: Vec<Check> = vec![
            Box::new(not_empty()),
            Box::new(action("todo_note.a", Action::Replace)),
            Box::new(action("todo_note.a", Action::DeleteThenCreate)),
            Box::new(action("todo_note.b", Action::NoOp)),
            Box::new(value("todo_note.a", "tags", expect::size(1))),
            Box::new(unknown("todo_note.a", "id")),
            Box::new(sensitive("todo_note.a", "secret")),
            Box::new(output("slug", "a")),
            Box::new(output_unknown("id")),
            Box::new(output_action("slug", Action::Update)),
            Box::new(deferred("todo_note.c", "provider_config_unknown")),
        ];
        for (number, mut check) in accepted.into_iter().enumerate() {
            assert_eq!(check(&sample()), Ok(()), "{number}");
        }
        let nothing = Plan::parse(r#"{"output_changes":{"a":{"actions":["no-op"]}}}"#).unwrap();
        assert_eq!(empty()(&nothing).and(nothing_deferred()(&nothing)), Ok(()));
    }

    #[test]
    fn checks_say_what_they_expected_and_what_is_planned() {
        let refused: Vec<(Check, &str)> = vec![
            (
                Box::new(empty()),
                "expected an empty plan, found changes of todo_note.a (delete, create), output slug (update), output id (create)",
            ),
            (
                Box::new(action("todo_note.a", Action::CreateThenDelete)),
                "todo_note.a: expected the action create, delete, found delete, create",
            ),
            (
                Box::new(action("todo_note.z", Action::Create)),
                "expected todo_note.z, found only todo_note.a, todo_note.b",
            ),
            (Box::new(value("todo_note.a", "id", "x")), r#"todo_note.a: id: expected "x", found an unknown value"#),
            (Box::new(value("todo_note.a", "title", "x")), r#"todo_note.a: title: expected "x", found "A""#),
            (Box::new(unknown("todo_note.a", "title")), r#"todo_note.a: title: expected an unknown value, found "A""#),
            (
                Box::new(sensitive("todo_note.a", "id")),
                "todo_note.a: id: expected a sensitive value, found one that is not",
            ),
            (Box::new(output_unknown("slug")), r#"output slug: expected an unknown value, found "a""#),
            (Box::new(output("none", 1)), "expected output none, but the plan has none"),
            (Box::new(nothing_deferred()), "expected no deferred changes, found 1"),
            (
                Box::new(deferred("todo_note.a", "x")),
                "todo_note.a: expected a deferral for x: expected todo_note.a, found only todo_note.c",
            ),
        ];
        for (mut check, message) in refused {
            assert_eq!(check(&sample()).unwrap_err(), message);
        }
    }
}
