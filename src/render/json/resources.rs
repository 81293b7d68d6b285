//! Resources and outputs as trees of modules: the "values" of states and plans.

use std::collections::BTreeMap;

use model::addr::{AbsResourceInstance, InstanceKey, ModuleInstance};
use model::state::{DeposedKey, Object, ObjectStatus, OutputValue};
use serde_json::{Map, Value as Json};
use terrane_protocol::provider::Identity;
use terrane_value::Value;

use super::shape::{known_json, put, sensitive_json, set, type_json};

/// One object to be shown; the value carries its marks.
pub struct RenderedObject<'a> {
    pub addr: &'a AbsResourceInstance,
    pub deposed: Option<&'a DeposedKey>,
    pub provider: String,
    pub schema_version: i64,
    pub value: Value,
    /// Of the state; planned objects have none.
    pub object: Option<&'a Object>,
    pub identity: Option<&'a Identity>,
}

/// An instance key as JSON; null for none.
pub fn key_json(key: &InstanceKey) -> Json {
    match key {
        InstanceKey::None | InstanceKey::Wildcard => Json::Null,
        InstanceKey::Int(n) => Json::from(*n),
        InstanceKey::Str(text) => Json::from(&**text),
    }
}

/// The fields that name an object: address, mode, type, name, index.
pub fn put_names(out: &mut Map<String, Json>, addr: &AbsResourceInstance) {
    let resource = &addr.resource.resource;
    set(out, "mode", resource.mode.state_name());
    set(out, "type", &*resource.kind);
    set(out, "name", &*resource.name);
    put_key(out, addr.key());
}

fn put_key(out: &mut Map<String, Json>, key: &InstanceKey) {
    if !key.is_none() {
        set(out, "index", key_json(key));
    }
}

fn resource_json(shown: &RenderedObject<'_>) -> Json {
    let mut out = Map::new();
    set(&mut out, "address", shown.addr.to_string());
    put_names(&mut out, shown.addr);
    set(&mut out, "provider_name", shown.provider.as_str());
    set(&mut out, "schema_version", shown.schema_version);
    put(&mut out, "values", known_json(&shown.value));
    set(&mut out, "sensitive_values", sensitive_json(&shown.value));
    if let Some(object) = shown.object {
        let depends_on: Vec<String> = object.dependencies.iter().map(ToString::to_string).collect();
        put(&mut out, "depends_on", depends_on);
        if object.status == ObjectStatus::Tainted {
            set(&mut out, "tainted", true);
        }
    }
    if let Some(key) = shown.deposed {
        set(&mut out, "deposed_key", key.to_string());
    }
    if let Some(identity) = shown.identity {
        if shown.deposed.is_none() {
            set(&mut out, "identity_schema_version", identity.schema_version);
        }
        put_identity(&mut out, "identity", Some(identity));
    }
    Json::Object(out)
}

/// Adds an identity, if there is one.
pub fn put_identity(out: &mut Map<String, Json>, name: &str, identity: Option<&Identity>) {
    if let Some(identity) = identity {
        set(out, name, serde_json::from_str::<Json>(&identity.json).unwrap_or_default());
    }
}

/// A module with its resources and its children; the root has no address.
pub fn module_tree(resources: &[RenderedObject<'_>]) -> Json {
    let mut by_module: BTreeMap<&ModuleInstance, Vec<Json>> = BTreeMap::new();
    let mut children: Children = BTreeMap::new();
    for shown in resources {
        let module = &shown.addr.module;
        by_module.entry(module).or_default().push(resource_json(shown));
        let mut child = module.clone();
        while let Some(parent) = child.parent() {
            let siblings = children.entry(parent.clone()).or_default();
            if siblings.insert(child.to_string(), child).is_some() {
                break;
            }
            child = parent;
        }
    }
    module_json(&ModuleInstance::root(), &mut by_module, &children)
}

/// The children of modules, by the texts of their addresses.
type Children = BTreeMap<ModuleInstance, BTreeMap<String, ModuleInstance>>;

fn module_json(
    module: &ModuleInstance,
    by_module: &mut BTreeMap<&ModuleInstance, Vec<Json>>,
    children: &Children,
) -> Json {
    let mut out = Map::new();
    put(&mut out, "resources", by_module.remove(module).unwrap_or_default());
    if !module.is_root() {
        set(&mut out, "address", module.to_string());
    }
    let inner = children.get(module).into_iter().flat_map(BTreeMap::values);
    let inner: Vec<Json> = inner.map(|child| module_json(child, by_module, children)).collect();
    put(&mut out, "child_modules", inner);
    Json::Object(out)
}

/// An output of a state: sensitivity, value and type.
pub fn output_json(output: &OutputValue) -> Json {
    let mut out = Map::new();
    set(&mut out, "sensitive", output.sensitive);
    put(&mut out, "deprecated", output.deprecated.as_deref().unwrap_or_default());
    set(&mut out, "value", known_json(&output.value));
    set(&mut out, "type", type_json(output.value.ty()));
    Json::Object(out)
}
