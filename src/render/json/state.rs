//! The JSON document of a state: format 1.0.

use std::sync::Arc;

use model::addr::{AbsResourceInstance, Provider};
use model::state::{Attributes, CheckResult, Object, State};
use model::version::compatible_version;
use serde_json::{Map, Value as Json};
use terrane_protocol::schema::{ResourceMode, Schema};
use terrane_value::Value;
use terrane_value::json::from_json;

use super::checks::checks_json;
use super::resources::{RenderedObject, module_tree, output_json};
use super::shape::{put, set};
use crate::text::plan::with_schema_marks;

/// Finds a schema, as for plans.
pub type SchemaLookup<'a> = dyn Fn(&Provider, ResourceMode, &str) -> Option<Arc<Schema>> + 'a;

/// The whole document; only the format version if there is no state or an empty one.
///
/// Errors: as [`object_value`].
pub fn state_json(state: Option<&State>, schemas: &SchemaLookup<'_>) -> Result<Json, String> {
    let mut out = Map::new();
    set(&mut out, "format_version", "1.0");
    if let Some(state) = state.filter(|state| !state.is_empty()) {
        set(&mut out, "terraform_version", compatible_version());
        set(&mut out, "values", values_json(state, schemas)?);
        put(&mut out, "checks", state.checks.as_deref().map_or(Json::Null, checks_of));
    }
    Ok(Json::Object(out))
}

fn checks_of(checks: &[CheckResult]) -> Json {
    checks_json(checks)
}

fn values_json(state: &State, schemas: &SchemaLookup<'_>) -> Result<Json, String> {
    let mut out = Map::new();
    let outputs: Map<String, Json> = state.outputs.iter().map(|(name, o)| (name.to_string(), output_json(o))).collect();
    put(&mut out, "outputs", outputs);
    let addrs: Vec<_> = state.instances().collect();
    let mut shown = Vec::new();
    for (addr, provider, instance) in &addrs {
        let schema = schemas(&provider.provider, addr.mode(), addr.kind());
        let objects = instance.current.iter().map(|o| (None, o));
        for (deposed, object) in objects.chain(instance.deposed.iter().map(|(key, o)| (Some(key), o))) {
            // The reference does not say it of deposed objects.
            let is_versioned = deposed.is_none() && addr.mode() == ResourceMode::Managed;
            shown.push(RenderedObject {
                addr,
                deposed,
                provider: provider.provider.to_string(),
                schema_version: if is_versioned { object.schema_version } else { 0 },
                value: object_value(addr, &provider.provider, object, schema.as_deref())?,
                object: Some(object),
                identity: object.identity.as_ref(),
            });
        }
    }
    set(&mut out, "root_module", module_tree(&shown));
    Ok(Json::Object(out))
}

/// A stored object's value with everything marked that is sensitive.
///
/// Errors, worded as the reference's: the provider has no such type, or describes it in another version or with other
/// attributes than the object was stored with. What is sensitive in it would not be known.
pub fn object_value(
    addr: &AbsResourceInstance,
    provider: &Provider,
    object: &Object,
    schema: Option<&Schema>,
) -> Result<Value, String> {
    let resource = &addr.resource.resource;
    let schema = schema.ok_or_else(|| format!("no schema found for {resource} (in provider {provider})"))?;
    // Earlier versions of Terrane wrote the schema's version for data sources too.
    if resource.mode == ResourceMode::Managed && schema.version != object.schema_version {
        return Err(format!(
            "schema version {} for {resource} in state does not match version {} from the provider",
            object.schema_version, schema.version
        ));
    }
    let value = match &object.attributes {
        Attributes::Value { value, .. } => value.clone(),
        Attributes::Json(text) => from_json(text.as_bytes(), schema.implied_type()).map_err(|e| e.to_string())?,
        Attributes::Flat(pairs) => {
            Value::object(pairs.iter().map(|(key, text)| (key.as_str(), Value::string(text))).collect::<Vec<_>>())
        }
    };
    Ok(with_schema_marks(&value.mark_at_paths(&object.sensitive), &schema.block))
}

#[cfg(test)]
mod tests {
    use model::addr::{AbsProviderConfig, InstanceKey, ModuleInstance, Resource};
    use model::state::ObjectStatus;
    use terrane_protocol::schema::{Attribute, Block};
    use terrane_value::Type;

    use super::*;

    fn object(schema_version: i64, text: &str) -> Object {
        Object {
            status: ObjectStatus::Ready,
            schema_version,
            attributes: Attributes::Json(text.into()),
            sensitive: Arc::default(),
            identity: None,
            private: Arc::default(),
            dependencies: Arc::default(),
            create_before_destroy: false,
            keep: false,
            provider_key: None,
        }
    }

    /// The reference stores 0, and shows it, whatever the schema says.
    #[test]
    fn data_sources_have_no_version() {
        let addr = Resource { mode: ResourceMode::Data, ..Resource::managed("x", "a") }
            .absolute(ModuleInstance::root())
            .instance(InstanceKey::None);
        let provider = Provider::builtin("test");
        let mut block = Block::default();
        block.attributes.insert("id".into(), Attribute::new(Type::String));
        let schema = Arc::new(Schema::new(2, block));
        for stored in [0, 1, 2] {
            let mut state = State::default();
            state.instance_mut(&addr, &AbsProviderConfig::root(provider.clone())).current =
                Some(object(stored, r#"{"id":"1"}"#));
            let json = state_json(Some(&state), &|_, _, _| Some(schema.clone())).unwrap();
            let shown = &json["values"]["root_module"]["resources"][0];
            assert_eq!((shown["schema_version"].as_i64(), shown["values"]["id"].as_str()), (Some(0), Some("1")));
        }
    }

    /// What the reference says of the same objects.
    #[test]
    fn objects_must_fit_their_schema() {
        let addr = Resource::managed("x", "a").absolute(ModuleInstance::root()).instance(InstanceKey::Int(1));
        let provider = Provider::builtin("test");
        let mut block = Block::default();
        block.attributes.insert("id".into(), Attribute::new(Type::String));
        let schema = Schema::new(2, block);
        let cases = [
            (2, r#"{"id":"1"}"#, Some(&schema), ""),
            (2, "{}", None, "no schema found for x.a (in provider terraform.io/builtin/test)"),
            (1, "{}", Some(&schema), "schema version 1 for x.a in state does not match version 2 from the provider"),
            (2, r#"{"old":"1"}"#, Some(&schema), "unsupported attribute \"old\""),
        ];
        for (version, text, schema, expected) in cases {
            let found = object_value(&addr, &provider, &object(version, text), schema);
            assert_eq!(found.err().unwrap_or_default(), expected);
        }
    }
}
