//! The documents of plans and states that `test -verbose -json` writes. Unlike those of `show -json`, they are part of a log: sensitive
//! and ephemeral values are null.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use model::addr::Provider;
use model::plan::{OutputChange, Plan};
use model::state::State;
use serde_json::{Map, Value as Json};
use terrane_protocol::schema::ProviderSchemas;
use terrane_value::Marks;

use super::actions::invocations_json;
use super::go;
use super::plan::{PlanDocument, changes_json, output_changes_json, relevant_attributes_json};
use super::provider_schemas::{DescriptionError, Identities, write};
use super::shape::{put, set};
use super::state::state_json;
use crate::objects::ObjectError;
use crate::schemas::SchemaLookup;

/// Schemas by provider.
pub type Providers = BTreeMap<Provider, Arc<dyn ProviderSchemas>>;

/// Why there is no document.
#[derive(Debug)]
pub enum TestDocumentError {
    Object(ObjectError),
    Provider(Provider, DescriptionError),
}

impl fmt::Display for TestDocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TestDocumentError::Object(error) => error.fmt(f),
            TestDocumentError::Provider(provider, error) => write!(f, "{provider}: {error}"),
        }
    }
}

/// The text of a plan's document.
pub fn plan(document: &PlanDocument<'_>, providers: &Providers) -> Result<String, TestDocumentError> {
    let plan = document.plan;
    let mut out = Map::new();
    set(&mut out, "plan_format_version", "1.2");
    let mut outputs = output_changes_json(&plan.outputs, document.config.dialect());
    hide_outputs(plan, &mut outputs);
    put(&mut out, "output_changes", outputs);
    for (name, list) in [("resource_changes", &plan.changes), ("resource_drift", &plan.drift)] {
        let mut changes = changes_json(list, document);
        let values = changes.iter_mut().filter_map(|change| change.get_mut("change"));
        values.for_each(hide_change);
        put(&mut out, name, changes);
    }
    put(&mut out, "relevant_attributes", relevant_attributes_json(plan));
    let mut invocations = invocations_json(&plan.invocations, document.actions);
    invocations.iter_mut().for_each(|invocation| hide(invocation, "config_values", "config_sensitive"));
    put(&mut out, "action_invocations", invocations);
    with_schemas(&Json::Object(out), providers)
}

/// The text of a state's document.
pub fn state(state: &State, schemas: &SchemaLookup<'_>, providers: &Providers) -> Result<String, TestDocumentError> {
    let mut shown = state_json(Some(state), schemas).map_err(TestDocumentError::Object)?;
    let mut values = shown.get_mut("values").map(Json::take).unwrap_or_default();
    let mut root = values.get_mut("root_module").map(Json::take).unwrap_or_else(|| Json::Object(Map::new()));
    hide_module(&mut root);
    let mut outputs = values.get_mut("outputs").map(Json::take).unwrap_or_default();
    for (name, output) in &state.outputs {
        let is_secret = output.sensitive || output.value.deep_marks().contains(Marks::EPHEMERAL);
        if let Some(shown) = outputs.get_mut(&**name).filter(|_| is_secret) {
            shown["value"] = Json::Null;
        }
    }
    let mut out = Map::new();
    set(&mut out, "state_format_version", "1.0");
    set(&mut out, "root_module", root);
    put(&mut out, "outputs", outputs);
    with_schemas(&Json::Object(out), providers)
}

/// The text of a document, which ends with the schemas.
fn with_schemas(document: &Json, providers: &Providers) -> Result<String, TestDocumentError> {
    let mut schemas = String::new();
    write(providers, &BTreeMap::<Provider, Identities>::new(), &mut |piece| schemas.push_str(piece))
        .map_err(|(provider, error)| TestDocumentError::Provider(provider, error))?;
    let text = go::compact(document);
    let text = text.strip_suffix('}').unwrap_or(&text);
    Ok(format!("{text},\"provider_{}", schemas.strip_prefix("{\"").unwrap_or(&schemas)))
}

fn hide_outputs(plan: &Plan, outputs: &mut Map<String, Json>) {
    let is_ephemeral = |output: &&OutputChange| {
        let change = &output.change;
        (change.before.deep_marks() | change.after.deep_marks()).contains(Marks::EPHEMERAL)
    };
    for output in plan.outputs.iter().filter(is_ephemeral) {
        let shown = outputs.get_mut(&*output.name).and_then(Json::as_object_mut);
        shown.into_iter().for_each(|change| {
            change.insert("before".into(), Json::Null);
            change.insert("after".into(), Json::Null);
        });
    }
    outputs.values_mut().for_each(hide_change);
}

fn hide_change(change: &mut Json) {
    hide(change, "before", "before_sensitive");
    hide(change, "after", "after_sensitive");
}

fn hide_module(module: &mut Json) {
    for resource in module.get_mut("resources").and_then(Json::as_array_mut).into_iter().flatten() {
        hide(resource, "values", "sensitive_values");
    }
    for child in module.get_mut("child_modules").and_then(Json::as_array_mut).into_iter().flatten() {
        hide_module(child);
    }
}

/// Hides in a member of an object what another member says is sensitive.
fn hide(object: &mut Json, values: &str, sensitive: &str) {
    let shadow = object.get(sensitive).cloned().unwrap_or_default();
    if let Some(value) = object.get_mut(values) {
        hide_value(value, &shadow);
    }
}

fn hide_value(value: &mut Json, sensitive: &Json) {
    match (value, sensitive) {
        (value, Json::Bool(true)) => *value = Json::Null,
        (Json::Object(members), Json::Object(sensitive)) => {
            for (name, sensitive) in sensitive {
                members.get_mut(name).into_iter().for_each(|member| hide_value(member, sensitive));
            }
        }
        (Json::Array(elements), Json::Array(sensitive)) => {
            elements.iter_mut().zip(sensitive).for_each(|(element, sensitive)| hide_value(element, sensitive));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use model::addr::{AbsProviderConfig, InstanceKey, ModuleInstance, Resource};
    use model::state::OutputValue;
    use serde_json::json;
    use terrane_protocol::schema::{Attribute, Block, Schema};
    use terrane_value::{Type, Value};

    use super::*;
    use crate::objects::tests::object;

    #[test]
    fn sensitive_values_are_null() {
        let mut change = json!({
            "before": {"a": "x", "l": [1, 2], "o": {"s": "x", "t": 1}}, "after": "x",
            "before_sensitive": {"a": true, "l": [false, true], "o": {"s": true}}, "after_sensitive": true,
        });
        hide_change(&mut change);
        assert_eq!(change["before"], json!({"a": null, "l": [1, null], "o": {"s": null, "t": 1}}));
        assert_eq!(change["after"], Json::Null);
        let mut module =
            json!({"child_modules": [{"resources": [{"values": {"a": 1}, "sensitive_values": {"a": true}}]}]});
        hide_module(&mut module);
        assert_eq!(module["child_modules"][0]["resources"][0]["values"], json!({"a": null}));
    }

    #[test]
    fn states_have_the_members_of_the_reference() {
        let addr = Resource::managed("x", "a").absolute(ModuleInstance::root()).instance(InstanceKey::None);
        let provider = Provider::builtin("test");
        let mut block = Block::default();
        block.attributes.insert("id".into(), Attribute { sensitive: true, ..Attribute::new(Type::String) });
        let schema = Arc::new(Schema::new(0, block));
        let mut state = State::default();
        state.instance_mut(&addr, &AbsProviderConfig::root(provider.clone())).current =
            Some(object(0, r#"{"id":"secret"}"#));
        state.outputs.insert("o".into(), OutputValue::new(Value::string("secret"), true));
        let text = super::state(&state, &|_, _, _| Some(schema.clone()), &Providers::new()).unwrap();
        let expected = concat!(
            r#"{"state_format_version":"1.0","root_module":{"resources":[{"address":"x.a","mode":"managed","type":"x","name":"a","#,
            r#""provider_name":"terraform.io/builtin/test","schema_version":0,"values":{"id":null},"sensitive_values":{"id":true}}]},"#,
            r#""outputs":{"o":{"sensitive":true,"value":null,"type":"string"}},"provider_format_version":"1.0"}"#,
        );
        assert_eq!(text, expected);
        let empty = super::state(&State::default(), &|_, _, _| None, &Providers::new()).unwrap();
        assert_eq!(empty, r#"{"state_format_version":"1.0","root_module":{},"provider_format_version":"1.0"}"#);
    }
}
