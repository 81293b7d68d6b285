//! `plan.resources` and `plan.outputs`: the changes of a run's plan as assertions see them.
//!
//! They are the objects of `show -json`: `resource_changes` and `output_changes`. Values that are sensitive there are marked.

use std::sync::Arc;

use model::addr::Provider;
use model::config::Config;
use model::config::test_file::TestRun;
use model::plan::Plan;
use render::json::plan::{PlanDocument, changes_of};
use serde_json::Value as Json;
use terrane_protocol::schema::{ResourceMode, Schema};
use terrane_value::{Marks, Value, json};

use crate::interface::planning::Schemas;

/// The name that stands for the plan.
const ROOT: &str = "plan";

/// Whether an assertion or a snapshot of a run refers to the plan.
pub fn are_referenced(run: &TestRun) -> bool {
    let asserts = run.asserts.iter().flat_map(|assert| [&assert.condition, &assert.error_message]);
    let mut all = asserts.chain(run.snapshots.iter().map(|snapshot| &snapshot.value));
    all.any(|expr| expr.variables().into_iter().any(|traversal| traversal.root_name() == ROOT))
}

/// An object with `resources`, a tuple, and `outputs`, an object.
pub fn of_plan(plan: &Plan, config: &Config, schemas: &Schemas) -> Value {
    let lookup = |provider: &Provider, mode: ResourceMode, kind: &str| schema(schemas, provider, mode, kind);
    let document = PlanDocument {
        plan,
        config,
        schemas: &lookup,
        provider_schemas: &|provider: &Provider| schemas.get(provider)?.provider().ok(),
        actions: &|provider: &Provider, kind: &str| schemas.get(provider)?.action(kind).ok().flatten(),
    };
    let (resources, outputs) = changes_of(&document);
    let resources = resources.iter().map(resource_change).collect();
    let outputs = outputs.iter().map(|(name, change)| (name.as_str(), change_value(change)));
    Value::object([("resources", Value::tuple(resources)), ("outputs", Value::object(outputs.collect::<Vec<_>>()))])
}

fn schema(schemas: &Schemas, provider: &Provider, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
    let schemas = schemas.get(provider)?;
    match mode {
        ResourceMode::Managed => schemas.managed(kind),
        ResourceMode::Data => schemas.data(kind),
        ResourceMode::Ephemeral => schemas.ephemeral(kind),
        ResourceMode::List => schemas.list_resource(kind),
    }
    .ok()
    .flatten()
}

/// A change of a resource; its values are in its `change`.
fn resource_change(change: &Json) -> Value {
    let Json::Object(fields) = change else { return json::untyped(change) };
    let field = |(name, value): (&String, &Json)| {
        let value = if name == "change" { change_value(value) } else { json::untyped(value) };
        (name.as_str().to_owned(), value)
    };
    Value::object(fields.iter().map(field).collect::<Vec<_>>())
}

/// The values before and after a change, with what is sensitive marked.
fn change_value(change: &Json) -> Value {
    let Json::Object(fields) = change else { return json::untyped(change) };
    let field = |(name, value): (&String, &Json)| {
        let value = match name.as_str() {
            "before" => marked(value, &change["before_sensitive"]),
            "after" => marked(value, &change["after_sensitive"]),
            _ => json::untyped(value),
        };
        (name.as_str().to_owned(), value)
    };
    Value::object(fields.iter().map(field).collect::<Vec<_>>())
}

/// A value, sensitive where its shadow is true.
fn marked(value: &Json, sensitive: &Json) -> Value {
    match (value, sensitive) {
        (_, Json::Bool(true)) => json::untyped(value).mark(Marks::SENSITIVE),
        (Json::Array(elements), Json::Array(shadows)) => {
            let shadow = |index: usize| shadows.get(index).unwrap_or(&Json::Null);
            Value::tuple(elements.iter().enumerate().map(|(index, element)| marked(element, shadow(index))).collect())
        }
        (Json::Object(fields), Json::Object(shadows)) => {
            let field = |(name, value): (&String, &Json)| {
                (name.as_str().to_owned(), marked(value, shadows.get(name).unwrap_or(&Json::Null)))
            };
            Value::object(fields.iter().map(field).collect::<Vec<_>>())
        }
        _ => json::untyped(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as document;

    use super::*;

    #[test]
    fn sensitive_values_of_changes_are_marked() {
        let change = document!({
            "address": "a.b",
            "change": {
                "actions": ["create"],
                "before": null,
                "after": { "open": 1, "secret": "s", "list": ["x", "y"] },
                "before_sensitive": false,
                "after_sensitive": { "secret": true, "list": [false, true] },
            },
        });
        let value = resource_change(&change);
        let after = value.get("change").and_then(|change| change.get("after")).cloned().unwrap_or_else(Value::dynamic);
        let is_sensitive = |value: Option<&Value>| value.map(Value::is_sensitive);
        assert_eq!(value.get("address").and_then(Value::as_str), Some("a.b"));
        assert_eq!(is_sensitive(after.get("open")), Some(false));
        assert_eq!(is_sensitive(after.get("secret")), Some(true));
        let list = after.get("list").map(|list| list.elements().iter().map(Value::is_sensitive).collect::<Vec<_>>());
        assert_eq!(list, Some(vec![false, true]));
    }

    #[test]
    fn an_output_is_sensitive_as_a_whole() {
        let change = document!({ "after": { "a": 1 }, "after_sensitive": true, "actions": ["update"] });
        let value = change_value(&change);
        assert!(value.get("after").is_some_and(Value::is_sensitive));
        assert!(value.get("actions").is_some_and(|actions| !actions.has_marks_deep()));
    }
}
