//! Versions 1 to 3, as Terraform up to 0.11 wrote them: read into what version 4 holds.
//!
//! Attributes stay flat until a provider upgrades them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use serde::Deserialize;
use serde_json::Value as Json;
use terrane_protocol::schema::ResourceMode;
use terrane_value::json::untyped;
use terrane_value::{Type, Value};

use super::address::legacy_provider;
use super::{StateFile, conformity};
use crate::addr::{AbsProviderConfig, AbsResource, InstanceKey, Module, ModuleInstance, ModuleStep, Resource};
use crate::state::{Attributes, DeposedKey, Instance, Object, ObjectStatus, OutputValue, State, StateMeta};

#[derive(Deserialize)]
struct File {
    version: u64,
    #[serde(default)]
    terraform_version: Option<String>,
    #[serde(default)]
    serial: u64,
    #[serde(default)]
    lineage: Option<String>,
    #[serde(default)]
    modules: Vec<ModuleEntry>,
}

#[derive(Deserialize)]
struct ModuleEntry {
    #[serde(default)]
    path: Vec<String>,
    /// Version 3: objects with type and value; before: plain texts.
    #[serde(default)]
    outputs: BTreeMap<String, Json>,
    #[serde(default)]
    resources: BTreeMap<String, ResourceEntry>,
}

#[derive(Deserialize)]
struct ResourceEntry {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    primary: Option<ObjectEntry>,
    #[serde(default)]
    deposed: Option<Vec<ObjectEntry>>,
}

impl ResourceEntry {
    fn objects(&mut self) -> impl Iterator<Item = &mut ObjectEntry> {
        self.primary.iter_mut().chain(self.deposed.iter_mut().flatten())
    }
}

#[derive(Deserialize)]
struct ObjectEntry {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    attributes: Option<BTreeMap<String, String>>,
    #[serde(default)]
    meta: BTreeMap<String, Json>,
    #[serde(default)]
    tainted: bool,
}

/// Reads a whole file of version 1, 2 or 3.
pub(super) fn read(content: &[u8]) -> Result<StateFile, Diagnostics> {
    let file: File = serde_json::from_slice(content).map_err(|e| conformity(&e.to_string()))?;
    let mut state = State::default();
    for module in file.modules {
        let addr = module_address(&module.path);
        if addr.is_root() {
            state.outputs = module.outputs.into_iter().filter_map(output).collect();
        }
        for (key, mut entry) in module.resources {
            if file.version < 3 {
                entry.objects().for_each(|object| tell_maps_from_lists(&mut object.attributes));
            }
            add_resource(&addr, &key, entry, &mut state)?;
        }
    }
    let meta = StateMeta {
        terraform_version: file.terraform_version.unwrap_or_default(),
        serial: file.serial,
        lineage: file.lineage.unwrap_or_default(),
    };
    Ok(StateFile { meta, state })
}

/// The path begins with "root"; module calls had no instances then.
fn module_address(path: &[String]) -> ModuleInstance {
    let steps = path.iter().skip(1).map(|name| ModuleStep { name: name.as_str().into(), key: InstanceKey::None });
    ModuleInstance(steps.collect())
}

fn output((name, entry): (String, Json)) -> Option<(Arc<str>, OutputValue)> {
    let (value, sensitive) = match &entry {
        Json::Object(fields) => {
            (value_of(fields.get("value")?), fields.get("sensitive").and_then(Json::as_bool).unwrap_or(false))
        }
        other => (value_of(other), false),
    };
    Some((name.into(), OutputValue::new(value, sensitive)))
}

/// Strings, and lists and maps of them, were all there was; anything else has the type that it looks like.
fn value_of(json: &Json) -> Value {
    match json {
        Json::Array(list) if list.iter().all(Json::is_string) => {
            Value::list(Type::String, list.iter().map(untyped).collect())
        }
        Json::Object(map) if map.values().all(Json::is_string) => {
            Value::map(Type::String, map.iter().map(|(k, v)| (k.as_str(), untyped(v))))
        }
        other => untyped(other),
    }
}

fn add_resource(
    module: &ModuleInstance,
    key: &str,
    entry: ResourceEntry,
    state: &mut State,
) -> Result<(), Diagnostics> {
    let Some((resource, index)) = resource_key(key) else {
        let detail = format!("State contains the resource key {key:?}, which is not correctly formatted.");
        return Err(Diagnostic::error("Invalid resource key in state", detail).into());
    };
    let provider = provider_of(module, &entry, &resource);
    let mut instance = Instance { current: entry.primary.map(object), deposed: BTreeMap::new() };
    for (i, deposed) in entry.deposed.unwrap_or_default().into_iter().enumerate() {
        // They had no names; any that differ will do, and the same ones each time the file is read.
        instance.deposed.insert(DeposedKey(format!("{:08x}", i + 1).into()), object(deposed));
    }
    if instance.current.is_none() && instance.deposed.is_empty() {
        return Ok(());
    }
    let addr = AbsResource { module: module.clone(), resource };
    state.resource_mut(addr, &provider).instances.insert(index, Arc::new(instance));
    Ok(())
}

/// `aws_x.y`, `aws_x.y.0`, `data.aws_x.y`.
fn resource_key(key: &str) -> Option<(Resource, InstanceKey)> {
    let (mode, rest) = match key.strip_prefix("data.") {
        Some(rest) => (ResourceMode::Data, rest),
        None => (ResourceMode::Managed, key),
    };
    let mut parts = rest.splitn(3, '.');
    let (kind, name) = (parts.next()?, parts.next()?);
    let index = match parts.next() {
        None => InstanceKey::None,
        Some(number) => InstanceKey::Int(number.parse().ok()?),
    };
    Some((Resource { mode, kind: kind.into(), name: name.into() }, index))
}

/// `provider.aws.west`, `module.a.provider.aws`, `aws` or nothing: the type's own, in the module or above it.
fn provider_of(module: &ModuleInstance, entry: &ResourceEntry, resource: &Resource) -> AbsProviderConfig {
    let text = entry.provider.as_deref().unwrap_or_default();
    if let Ok(addr) = super::address::provider_config(text) {
        return addr;
    }
    let (kind, alias) = match text.split_once('.') {
        Some((kind, alias)) => (kind.trim_ascii(), Some(Arc::from(alias.trim_ascii()))),
        None if text.is_empty() => {
            (if entry.kind.is_empty() { resource.implied_provider() } else { implied(&entry.kind) }, None)
        }
        None => (text, None),
    };
    let module = if alias.is_some() { module.module() } else { Module::root() };
    AbsProviderConfig::new(module, legacy_provider(kind), alias)
}

fn implied(kind: &str) -> &str {
    kind.split_once('_').map_or(kind, |(provider, _)| provider)
}

fn object(entry: ObjectEntry) -> Object {
    let schema_version = match entry.meta.get("schema_version") {
        Some(Json::String(text)) => text.parse().unwrap_or(0),
        Some(Json::Number(n)) => n.as_i64().unwrap_or(0),
        _ => 0,
    };
    let private: BTreeMap<&String, &Json> = entry.meta.iter().filter(|(name, _)| *name != "schema_version").collect();
    let private = if private.is_empty() { Vec::new() } else { serde_json::to_vec(&private).unwrap_or_default() };
    let mut attributes = entry.attributes.unwrap_or_default();
    if let Some(id) = entry.id.filter(|id| !id.is_empty()) {
        attributes.entry("id".into()).or_insert(id);
    }
    Object {
        status: if entry.tainted { ObjectStatus::Tainted } else { ObjectStatus::Ready },
        schema_version,
        attributes: Attributes::Flat(attributes.into_iter().collect()),
        sensitive: Arc::from([]),
        identity: None,
        private: private.into(),
        dependencies: Arc::from([]),
        create_before_destroy: false,
        keep: false,
        provider_key: None,
    }
}

/// Versions 1 and 2 count the elements of maps under `#` too, where version 3 has `%`. A collection without elements could be
/// either, so its count goes, and the provider sets it anew.
fn tell_maps_from_lists(attributes: &mut Option<BTreeMap<String, String>>) {
    let Some(attributes) = attributes else { return };
    let counts: Vec<String> = attributes.keys().filter(|key| key.ends_with(".#")).cloned().collect();
    for count in counts {
        let prefix = &count[..count.len() - 1];
        let below = attributes.range(prefix.to_owned()..).map_while(|(key, _)| key.strip_prefix(prefix));
        let steps = below.filter(|rest| *rest != "#").map(|rest| rest.split('.').next().unwrap_or_default());
        let (mut any, mut numbers) = (false, true);
        for step in steps {
            any = true;
            numbers &= step.parse::<i64>().is_ok();
        }
        if any && numbers {
            continue;
        }
        let value = attributes.remove(&count);
        if let Some(value) = value.filter(|_| any) {
            attributes.insert(format!("{}%", &count[..count.len() - 1]), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::compatible_version;

    /// A state with every part of the format, and what the reference made of it with `state pull`.
    #[test]
    fn version_3_is_upgraded_as_by_the_reference() {
        let old = include_str!("fixtures/version3.tfstate");
        let new = include_str!("fixtures/version3.upgraded.tfstate").replace("1.11.4", compatible_version());
        let file = read(old.as_bytes()).unwrap();
        let ours = String::from_utf8(super::super::write(&file.meta, &file.state).unwrap()).unwrap();
        for (i, (ours, theirs)) in ours.lines().zip(new.lines()).enumerate() {
            assert_eq!(ours, theirs, "line {}", i + 1);
        }
    }

    #[test]
    fn versions_1_and_2_are_read_too() {
        let text = r#"{"version":1,"serial":7,"modules":[{"path":["root"],"outputs":{"o":"x"},"resources":{
            "null_resource.a":{"type":"null_resource","primary":{"id":"5","tainted":true}}}}]}"#;
        let file = read(text.as_bytes()).unwrap();
        let (addr, provider, instance) = file.state.instances().next().unwrap();
        assert_eq!(format!("{addr} {provider}"), "null_resource.a provider[\"registry.terraform.io/-/null\"]");
        assert_eq!(instance.current.as_ref().unwrap().status, ObjectStatus::Tainted);
        assert_eq!(file.state.outputs["o"].value, Value::string("x"));
    }

    /// Seen in `state pull` of the reference.
    #[test]
    fn maps_and_lists_of_version_1() {
        let before = [
            ("map.#", "1"),
            ("map.a", "b"),
            ("list.#", "2"),
            ("list.0", "a"),
            ("list.1", "b"),
            ("set.#", "1"),
            ("set.123.a", "x"),
            ("set.123.m.#", "1"),
            ("set.123.m.k", "v"),
            ("empty.#", "0"),
            ("none.#", ""),
            ("mixed.#", "2"),
            ("mixed.0", "a"),
            ("mixed.b", "c"),
            ("negative.#", "1"),
            ("negative.-1", "x"),
        ];
        let texts = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let mut attributes = Some(BTreeMap::from(before.map(texts)));
        tell_maps_from_lists(&mut attributes);
        let counts: Vec<_> = attributes.unwrap().into_keys().filter(|key| key.ends_with(['#', '%'])).collect();
        assert_eq!(counts, ["list.#", "map.%", "mixed.%", "negative.#", "set.#", "set.123.m.%"]);
    }
}
