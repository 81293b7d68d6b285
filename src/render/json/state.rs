//! The JSON document of a state: format 1.0.

use model::state::{CheckResult, State};
use model::version::compatible_version;
use serde_json::{Map, Value as Json};
use terrane_protocol::schema::ResourceMode;

use super::checks::checks_json;
use super::resources::{RenderedObject, module_tree, output_json};
use super::shape::{put, set};
use crate::objects::{ObjectError, object_value};
use crate::schemas::SchemaLookup;

/// The whole document; only the format version if there is no state or an empty one.
///
/// Fails if an object cannot be shown.
pub fn state_json(state: Option<&State>, schemas: &SchemaLookup<'_>) -> Result<Json, ObjectError> {
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

fn values_json(state: &State, schemas: &SchemaLookup<'_>) -> Result<Json, ObjectError> {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::addr::{AbsProviderConfig, InstanceKey, ModuleInstance, Provider, Resource};
    use terrane_protocol::schema::{Attribute, Block, Schema};
    use terrane_value::Type;

    use super::*;
    use crate::objects::tests::object;

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
}
