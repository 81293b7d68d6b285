//! Documents of plans, valid and invalid.

use serde_json::json;
use terrane_value::{Marks, Path, Value};

use super::*;

fn example() -> Json {
    json!({
        "plan_format_version": "1.2",
        "provider_format_version": "1.0",
        "provider_schemas": {"registry.terraform.io/acme/x": {"resource_schemas": {"x_y": {"version": 1, "block": {
            "attributes": {
                "id": {"type": "string", "computed": true},
                "tags": {"type": ["map", "string"], "optional": true},
                "secret": {"type": "number", "optional": true, "sensitive": true},
                "list": {"type": ["list", "string"], "optional": true},
            },
        }}}}},
        "resource_changes": [{
            "address": "module.m[\"a\"].x_y.z[0]",
            "previous_address": "x_y.z",
            "mode": "managed", "type": "x_y", "name": "z", "index": 0,
            "provider_name": "registry.terraform.io/acme/x",
            "action_reason": "replace_because_tainted",
            "deposed": "0123abcd",
            "change": {
                "actions": ["delete", "create"],
                "before": {"id": "1", "tags": {"k": "v"}, "secret": 5, "list": ["a"]},
                "after": {"tags": {"k": "w"}, "secret": "redacted", "list": ["a", null]},
                "after_unknown": {"id": true, "tags": {"n": true}, "list": [false, true]},
                "before_sensitive": {"secret": true},
                "after_sensitive": {"secret": true, "tags": {"k": true}},
                "replace_paths": [["tags", "k"], ["list", 0]],
                "importing": {"id": "i-1"},
                "generated_config": "resource {}",
            },
        }],
        "output_changes": {"o": {
            "actions": ["create"], "before": null, "after": {"a": [1, "two", null]}, "after_unknown": {"b": true},
            "before_sensitive": false, "after_sensitive": false,
        }},
        "relevant_attributes": [{"resource": "module.m[\"a\"].x_y.z[0]", "attribute": ["tags", "k"]}],
    })
}

fn plan(document: &Json) -> Result<DescribedPlan, PlanDocumentError> {
    read(document.to_string().as_bytes())
}

#[test]
fn changes_have_the_types_of_their_schemas() {
    let found = plan(&example()).unwrap();
    assert!(!found.is_newer && !found.plan.errored);
    let change = &found.plan.changes[0];
    assert_eq!(change.addr.to_string(), "module.m[\"a\"].x_y.z[0]");
    assert_eq!(change.previous_addr.to_string(), "x_y.z");
    assert_eq!((change.action, change.reason), (Action::DeleteThenCreate, ActionReason::ReplaceBecauseTainted));
    assert_eq!(change.deposed.as_ref().map(ToString::to_string).as_deref(), Some("0123abcd"));
    let strings = |values: [Value; 2]| Value::list(Type::String, values.to_vec());
    let after = Value::object([
        ("id", Value::unknown(Type::String)),
        (
            "tags",
            Value::map(
                Type::String,
                [("k", Value::string("w").mark(Marks::SENSITIVE)), ("n", Value::unknown(Type::String))],
            ),
        ),
        ("list", strings([Value::string("a"), Value::unknown(Type::String)])),
    ]);
    for (name, expected) in after.entries() {
        assert_eq!(&change.change.after.entries()[name], expected, "{name}");
    }
    assert!(change.change.after.entries()["secret"].marks().contains(Marks::SENSITIVE));
    assert_eq!(change.change.before.entries()["secret"], Value::int(5).mark(Marks::SENSITIVE));
    let tags = Path::new().attr("tags").index_str("k");
    assert_eq!(change.required_replace, [tags.clone(), Path::new().attr("list").index_int(0)]);
    assert_eq!(found.plan.relevant_attributes, [(change.addr.clone(), tags)]);
    assert_eq!(change.importing.as_ref().and_then(|importing| importing.id.as_deref()), Some("i-1"));
    assert_eq!(change.generated_config.as_deref(), Some("resource {}"));
}

#[test]
fn outputs_have_the_types_of_their_values() {
    let found = plan(&example()).unwrap();
    let output = &found.plan.outputs[0];
    assert_eq!((&*output.name, output.action, output.sensitive), ("o", Action::Create, false));
    let list = Value::tuple(vec![Value::int(1), Value::string("two"), Value::null_dynamic()]);
    let expected = Value::object([("a", list), ("b", Value::unknown(Type::Dynamic))]);
    assert_eq!(output.change.after, expected);
    assert!(output.change.before.is_null());
}

#[test]
fn actions_have_triggers() {
    let mut document = example();
    let action = |trigger: &str, of: Json| {
        json!({
            "address": "module.m.action.x_act.a[\"k\"]", "provider_name": "registry.terraform.io/acme/x",
            "config_values": {"text": "t"}, "config_unknown": {"id": true}, "config_sensitive": {"text": true}, trigger: of,
        })
    };
    let event = |name: &str| {
        json!({
            "triggering_resource_address": "x_y.z", "action_trigger_event": name, "action_trigger_block_index": 1,
            "actions_list_index": 2, "on_failure": "ActionOnFailureTaint",
        })
    };
    let invocations = [
        action("lifecycle_action_trigger", event("AfterUpdate")),
        action("lifecycle_action_trigger", event("SomeDay")),
        action("invoke_action_trigger", json!({"calling_resource_address": "x_y.z"})),
        action("invoke_action_trigger", json!({})),
    ];
    document["action_invocations"] = invocations.as_slice().into();
    let found = plan(&document).unwrap().plan.invocations;
    let callers: Vec<Option<String>> = found.iter().map(|i| i.caller().map(ToString::to_string)).collect();
    assert_eq!(callers, [Some("x_y.z".to_owned()), Some("x_y.z".to_owned()), None]);
    let trigger = found[0].lifecycle().unwrap();
    assert_eq!((trigger.event.json_name(), trigger.block, trigger.position), ("AfterUpdate", 1, 2));
    assert_eq!(found[0].addr.to_string(), "module.m.action.x_act.a[\"k\"]");
    assert!(found[0].config.get("text").unwrap().is_sensitive() && !found[0].config.get("id").unwrap().is_known());
}

#[test]
fn newer_formats_are_read_as_far_as_they_are_known() {
    let mut document = example();
    document["plan_format_version"] = json!("1.3");
    document["resource_changes"][0]["action_reason"] = json!("because_of_the_future");
    let found = plan(&document).unwrap();
    assert!(found.is_newer);
    assert_eq!(found.plan.changes[0].reason, ActionReason::None);
}

#[test]
fn changes_without_a_schema_are_read_by_their_values() {
    let mut document = example();
    document["provider_schemas"] = json!({});
    let found = plan(&document).unwrap();
    assert!(found.plan.changes[0].change.after.entries().contains_key("id"));
}

#[test]
fn invalid_documents_are_errors() {
    let broken = |change: fn(&mut Json)| {
        let mut document = example();
        change(&mut document);
        plan(&document).map(drop).unwrap_err().to_string()
    };
    assert_eq!(broken(|d| d["resource_changes"][0]["address"] = json!("?")), "invalid address \"?\"");
    assert_eq!(
        broken(|d| d["resource_changes"][0]["provider_name"] = json!("a/b/c/d")),
        "invalid provider \"a/b/c/d\""
    );
    let actions = broken(|d| d["resource_changes"][0]["change"]["actions"] = json!(["jump"]));
    assert_eq!(actions, "unknown actions [\"jump\"]");
    let value = broken(|d| d["resource_changes"][0]["change"]["before"]["list"] = json!(5));
    assert!(value.starts_with("module.m[\"a\"].x_y.z[0]: "), "{value}");
    assert!(read(b"{").is_err());
}
