//! The JSON document of a state: format 1.0.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::lang::value::Value;
use crate::model::addr::{Provider, ResourceMode};
use crate::model::schema::Schema;
use crate::model::state::{Attributes, CheckResult, Object, State};
use crate::model::version::language_version;
use crate::render::text::plan::with_schema_marks;

use super::checks::checks_json;
use super::resources::{Shown, module_tree, output_json};
use super::shape::{put, set};

/// Finds a schema, as for plans.
pub type SchemaLookup<'a> = dyn Fn(&Provider, ResourceMode, &str) -> Option<Arc<Schema>> + 'a;

/// The whole document; only the format version if there is no state or an empty one.
pub fn state_json(state: Option<&State>, schemas: &SchemaLookup<'_>) -> Json {
    let mut out = Map::new();
    set(&mut out, "format_version", "1.0");
    if let Some(state) = state.filter(|state| !state.is_empty()) {
        set(&mut out, "terraform_version", language_version());
        set(&mut out, "values", values_json(state, schemas));
        put(&mut out, "checks", state.checks.as_deref().map_or(Json::Null, checks_of));
    }
    Json::Object(out)
}

fn checks_of(checks: &[CheckResult]) -> Json {
    checks_json(checks)
}

fn values_json(state: &State, schemas: &SchemaLookup<'_>) -> Json {
    let mut out = Map::new();
    let outputs: Map<String, Json> =
        state.outputs.iter().map(|(name, o)| (name.to_string(), output_json(&o.value, o.sensitive))).collect();
    put(&mut out, "outputs", outputs);
    let addrs: Vec<_> = state.instances().collect();
    let mut shown = Vec::new();
    for (addr, provider, instance) in &addrs {
        let schema = schemas(&provider.provider, addr.mode(), addr.kind());
        let objects = instance.current.iter().map(|o| (None, o));
        for (deposed, object) in objects.chain(instance.deposed.iter().map(|(key, o)| (Some(key), o))) {
            shown.push(Shown {
                addr,
                deposed,
                provider: provider.provider.to_string(),
                schema_version: object.schema_version,
                value: object_value(object, schema.as_deref()),
                object: Some(object),
            });
        }
    }
    set(&mut out, "root_module", module_tree(&shown));
    Json::Object(out)
}

/// A stored object's value with everything marked that is sensitive; by its JSON alone if there is no schema.
pub fn object_value(object: &Object, schema: Option<&Schema>) -> Value {
    let value = match &object.attributes {
        Attributes::Value { value, .. } => value.clone(),
        Attributes::Json(text) => {
            let typed = schema
                .filter(|schema| schema.version == object.schema_version)
                .and_then(|schema| crate::lang::value::json::from_json(text.as_bytes(), schema.implied_type()).ok());
            typed
                .or_else(|| crate::lang::value::json::from_untyped_json(text.as_bytes()).ok())
                .unwrap_or_else(Value::null_dynamic)
        }
        Attributes::Flat(pairs) => {
            Value::object(pairs.iter().map(|(key, text)| (key.as_str(), Value::string(text))).collect::<Vec<_>>())
        }
    };
    let value = value.mark_at_paths(&object.sensitive);
    match schema {
        Some(schema) => with_schema_marks(&value, &schema.block),
        None => value,
    }
}
