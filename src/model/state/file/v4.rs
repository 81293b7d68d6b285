//! Reading version 4.
//!
//! Attributes stay text (without the space between tokens) until they are decoded with a schema; addresses and lists
//! of dependencies that are written alike are shared.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base64::Engine as _;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use terrane_protocol::provider::Identity;
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Marks, Path, PathStep, Type, Value, json};

use super::{StateFile, address, conformity, json_text, stores_deprecations};
use crate::addr::{AbsProviderConfig, AbsResource, ConfigResource, InstanceKey, ModuleInstance, Resource};
use crate::state::{
    Attributes, CheckResult, CheckStatus, DeposedKey, Object, ObjectStatus, OutputValue, ResourceState, State,
    StateMeta,
};

#[derive(Deserialize)]
pub(super) struct File<'a> {
    #[serde(borrow)]
    version: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "or_default")]
    terraform_version: String,
    #[serde(default, deserialize_with = "or_default")]
    serial: u64,
    #[serde(default, deserialize_with = "or_default")]
    lineage: String,
    #[serde(borrow, default, deserialize_with = "or_default")]
    outputs: BTreeMap<Cow<'a, str>, Output<'a>>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    resources: Vec<ResourceEntry<'a>>,
    #[serde(default)]
    check_results: Option<Vec<Check>>,
}

#[derive(Deserialize)]
pub(super) struct Output<'a> {
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    ty: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "or_default")]
    sensitive: bool,
    /// A text, if OpenTofu wrote it.
    #[serde(borrow)]
    deprecated: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct ResourceEntry<'a> {
    #[serde(borrow, default, deserialize_with = "or_default")]
    module: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    mode: Cow<'a, str>,
    #[serde(borrow, rename = "type", default, deserialize_with = "or_default")]
    kind: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    name: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    provider: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    instances: Vec<InstanceEntry<'a>>,
}

#[derive(Deserialize)]
struct InstanceEntry<'a> {
    #[serde(borrow)]
    index_key: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    status: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    deposed: Cow<'a, str>,
    #[serde(default, deserialize_with = "or_default")]
    schema_version: u64,
    #[serde(borrow)]
    attributes: Option<&'a RawValue>,
    #[serde(default)]
    attributes_flat: Option<BTreeMap<String, String>>,
    #[serde(borrow)]
    sensitive_attributes: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "or_default")]
    identity_schema_version: u64,
    #[serde(borrow)]
    identity: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    private: Cow<'a, str>,
    #[serde(borrow)]
    dependencies: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "or_default")]
    create_before_destroy: bool,
    #[serde(default, deserialize_with = "or_default")]
    skip_destroy: bool,
    #[serde(borrow)]
    provider_instance: Option<Cow<'a, str>>,
    /// OpenTofu's form: the whole address, with the key.
    #[serde(borrow, default, deserialize_with = "or_default")]
    provider: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Step<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    value: &'a RawValue,
}

#[derive(Deserialize)]
pub(super) struct Check {
    object_kind: String,
    config_addr: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    objects: Option<Vec<CheckObject>>,
}

#[derive(Deserialize)]
struct CheckObject {
    object_addr: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    failure_messages: Option<Vec<String>>,
}

/// Null counts as absent, as it does for Go.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// The file's structure, if the file is valid: one pass over the text.
pub(super) fn parse(content: &[u8]) -> Option<File<'_>> {
    let file: File<'_> = serde_json::from_str(std::str::from_utf8(content).ok()?).ok()?;
    file.version.is_some_and(|version| version.get() == "4").then_some(file)
}

/// Reads a whole file of version 4 that did not parse, to say why.
pub(super) fn read(content: &[u8]) -> Result<StateFile, Diagnostics> {
    state_of(serde_json::from_slice(content).map_err(|e| conformity(&e.to_string()))?)
}

pub(super) fn state_of(file: File<'_>) -> Result<StateFile, Diagnostics> {
    let version = &file.terraform_version;
    if !version.is_empty() && semver::Version::parse(version).is_err() {
        let detail = format!(
            "State file claims to have been written by Terraform version {version:?}, which is not a valid version string.",
        );
        return Err(Diagnostic::error("Invalid Terraform version string", detail).into());
    }
    let mut diagnostics = Diagnostics::new();
    let mut state = State::default();
    let mut reader = EntryReader::default();
    for resource in file.resources {
        if let Err(found) = reader.resource(resource, &mut state) {
            diagnostics.extend(found);
        }
    }
    for (name, output) in file.outputs {
        match read_output(&name, &output) {
            Ok(value) => _ = state.outputs.insert(name.into(), value),
            Err(found) => diagnostics.push(found),
        }
    }
    state.checks = file.check_results.map(read_checks);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let meta = StateMeta { terraform_version: file.terraform_version, serial: file.serial, lineage: file.lineage };
    Ok(StateFile { meta, state })
}

/// Adds one resource entry, as text, to a state: the instances that the entry has replace those of the same key.
pub(in crate::state) fn merge_resource(entry: &str, state: &mut State) -> Result<(), Diagnostics> {
    let entry: ResourceEntry<'_> = serde_json::from_str(entry).map_err(|e| conformity(&e.to_string()))?;
    let mut fresh = State::default();
    EntryReader::default().resource(entry, &mut fresh)?;
    for (addr, resource) in fresh.resources {
        let resource = Arc::unwrap_or_clone(resource);
        let target = state.resource_mut(addr, &resource.provider);
        target.provider = resource.provider;
        target.instances.extend(resource.instances);
    }
    Ok(())
}

/// Reads one entry of "outputs" on its own.
pub(in crate::state) fn merge_output(name: &str, entry: &str) -> Result<OutputValue, Diagnostics> {
    let entry: Output<'_> = serde_json::from_str(entry).map_err(|e| conformity(&e.to_string()))?;
    read_output(name, &entry).map_err(Diagnostics::from)
}

/// Reads the value of "check_results" on its own.
pub(in crate::state) fn merge_checks(entry: &str) -> Result<Option<Vec<CheckResult>>, Diagnostics> {
    let entry: Option<Vec<Check>> = serde_json::from_str(entry).map_err(|e| conformity(&e.to_string()))?;
    Ok(entry.map(read_checks))
}

/// What is shared between the objects of one file.
#[derive(Default)]
struct EntryReader {
    names: FxHashMap<String, Arc<str>>,
    modules: FxHashMap<String, ModuleInstance>,
    providers: FxHashMap<String, AbsProviderConfig>,
    resources: FxHashMap<String, ConfigResource>,
    dependencies: FxHashMap<String, Arc<[ConfigResource]>>,
}

impl EntryReader {
    fn resource(&mut self, entry: ResourceEntry<'_>, state: &mut State) -> Result<(), Diagnostics> {
        let mode = match &*entry.mode {
            "managed" => ResourceMode::Managed,
            "data" => ResourceMode::Data,
            other => {
                let detail = format!(
                    "State contains a resource with mode {other:?} ({:?} {:?}) which is not supported.",
                    entry.kind, entry.name,
                );
                return Err(Diagnostic::error("Invalid resource mode in state", detail).into());
            }
        };
        let module = match &*entry.module {
            "" => ModuleInstance::root(),
            text => shared(&mut self.modules, text, address::module_instance)?,
        };
        // OpenTofu leaves it to the instances if any of them has a key.
        let of_instances = entry.instances.iter().map(|instance| &*instance.provider).find(|text| !text.is_empty());
        let text = match (&*entry.provider, of_instances) {
            ("", Some(text)) => text,
            (text, _) => text,
        };
        let provider = shared(&mut self.providers, text, address::provider_config)?;
        let key = if entry.provider.is_empty() { &None } else { &provider.key };
        let resource = Resource { mode, kind: self.name(&entry.kind), name: self.name(&entry.name) };
        let addr = AbsResource { module, resource };
        let target = state.resource_mut(addr.clone(), &provider);
        target.provider = provider.whole();
        for instance in entry.instances {
            self.instance(&addr, instance, key, target)?;
        }
        if target.instances.is_empty() {
            state.resources.remove(&addr);
        }
        Ok(())
    }

    fn name(&mut self, text: &str) -> Arc<str> {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name: Arc<str> = text.into();
        self.names.insert(text.to_string(), name.clone());
        name
    }

    fn instance(
        &mut self,
        addr: &AbsResource,
        entry: InstanceEntry<'_>,
        provider_key: &Option<Arc<str>>,
        target: &mut ResourceState,
    ) -> Result<(), Diagnostics> {
        let key = instance_key(addr, entry.index_key)?;
        let here = || addr.instance(key.clone());
        let status = match &*entry.status {
            "" => ObjectStatus::Ready,
            "tainted" => ObjectStatus::Tainted,
            other => return Err(bad_instance(format!("Instance {} has invalid status {other:?}.", here()))),
        };
        let provider_key = match (entry.provider_instance, &*entry.provider) {
            (Some(key), _) => Some(self.name(&key)),
            (None, "") => provider_key.clone(),
            (None, text) => shared(&mut self.providers, text, address::provider_config)?.key,
        };
        let private = base64::engine::general_purpose::STANDARD.decode(entry.private.as_bytes());
        let object = Object {
            status,
            schema_version: i64::try_from(entry.schema_version).unwrap_or(i64::MAX),
            attributes: attributes(entry.attributes, entry.attributes_flat),
            sensitive: sensitive_paths(entry.sensitive_attributes)?,
            identity: identity(entry.identity, entry.identity_schema_version),
            private: private.map_err(|e| conformity(&format!("illegal base64 data: {e}")))?.into(),
            dependencies: self.dependencies(entry.dependencies)?,
            create_before_destroy: entry.create_before_destroy,
            keep: entry.skip_destroy,
            provider_key,
        };
        let instance = Arc::make_mut(target.instances.entry(key.clone()).or_default());
        let taken = if entry.deposed.is_empty() {
            instance.current.replace(object).is_some()
        } else {
            if entry.deposed.len() != 8 || !entry.deposed.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(bad_instance(format!(
                    "Instance {} has an object with deposed key {:?}, which is not correctly formatted.",
                    here(),
                    entry.deposed,
                )));
            }
            instance.deposed.insert(DeposedKey(Arc::from(&*entry.deposed)), object).is_some()
        };
        if taken {
            let detail = match &*entry.deposed {
                "" => format!("Instance {} appears multiple times in the state file.", here()),
                deposed => {
                    format!("Instance {} deposed object {deposed:?} appears multiple times in the state file.", here())
                }
            };
            return Err(Diagnostic::error("Duplicate resource instance in state", detail).into());
        }
        Ok(())
    }

    fn dependencies(&mut self, raw: Option<&RawValue>) -> Result<Arc<[ConfigResource]>, Diagnostics> {
        let Some(raw) = raw.map(RawValue::get) else { return Ok(Arc::from([])) };
        if let Some(known) = self.dependencies.get(raw) {
            return Ok(known.clone());
        }
        let texts: Vec<String> = serde_json::from_str(raw).map_err(|e| conformity(&e.to_string()))?;
        let list: Arc<[ConfigResource]> = texts
            .iter()
            .map(|text| shared(&mut self.resources, text, address::config_resource))
            .collect::<Result<_, _>>()?;
        self.dependencies.insert(raw.to_string(), list.clone());
        Ok(list)
    }
}

fn shared<T: Clone>(
    known: &mut FxHashMap<String, T>,
    text: &str,
    read: impl Fn(&str) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostics> {
    match known.get(text) {
        Some(value) => Ok(value.clone()),
        None => {
            let value = read(text)?;
            if let Entry::Vacant(place) = known.entry(text.to_string()) {
                place.insert(value.clone());
            }
            Ok(value)
        }
    }
}

fn instance_key(addr: &AbsResource, raw: Option<&RawValue>) -> Result<InstanceKey, Diagnostics> {
    let Some(text) = raw.map(RawValue::get) else { return Ok(InstanceKey::None) };
    let key = match text.bytes().next() {
        Some(b'"') => serde_json::from_str::<String>(text).ok().map(|key| InstanceKey::Str(key.into())),
        // Go reads any number as a float and drops its fraction.
        Some(b'-' | b'0'..=b'9') => {
            text.parse::<i64>().or_else(|_| text.parse::<f64>().map(|float| float as i64)).ok().map(InstanceKey::Int)
        }
        _ => None,
    };
    key.ok_or_else(|| bad_instance(format!("Resource {addr} has an instance with the invalid instance key {text}.")))
}

fn bad_instance(detail: String) -> Diagnostics {
    Diagnostic::error("Invalid resource instance metadata in state", detail).into()
}

fn attributes(raw: Option<&RawValue>, flat: Option<BTreeMap<String, String>>) -> Attributes {
    match (raw.map(RawValue::get), flat) {
        (Some(text), _) => Attributes::Json(json_text::compact(text).into()),
        (None, Some(flat)) => Attributes::Flat(flat.into_iter().collect()),
        // Written by hand: an object without attributes.
        (None, None) => Attributes::Json("{}".into()),
    }
}

fn identity(raw: Option<&RawValue>, version: u64) -> Option<Identity> {
    let text = raw.map(RawValue::get).filter(|text| *text != "null")?;
    let schema_version = i64::try_from(version).unwrap_or(i64::MAX);
    Some(Identity { schema_version, json: json_text::compact(text).into() })
}

fn sensitive_paths(raw: Option<&RawValue>) -> Result<Arc<[(Path, Marks)]>, Diagnostics> {
    let Some(text) = raw.map(RawValue::get).filter(|text| *text != "[]") else { return Ok(Arc::from([])) };
    let paths: Vec<Vec<Step<'_>>> = serde_json::from_str(text)
        .map_err(|e| Diagnostics::from(Diagnostic::error("Error unmarshaling cty paths", e.to_string())))?;
    let path = |steps: Vec<Step<'_>>| {
        let steps = steps.iter().map(path_step).collect::<Result<Vec<_>, Diagnostics>>()?;
        Ok((Path(steps), Marks::SENSITIVE))
    };
    paths.into_iter().map(path).collect()
}

fn path_step(step: &Step<'_>) -> Result<PathStep, Diagnostics> {
    match step.kind.as_str() {
        "get_attr" => {
            let name: String = serde_json::from_str(step.value.get())
                .map_err(|e| Diagnostics::from(Diagnostic::error("Error unmarshaling get attr step", e.to_string())))?;
            Ok(PathStep::Attr(name.into()))
        }
        "index" => {
            let key = json::from_json(step.value.get().as_bytes(), &Type::Dynamic)
                .map_err(|e| Diagnostics::from(Diagnostic::error("Error unmarshaling path step", e.to_string())))?;
            Ok(PathStep::Index(key))
        }
        other => {
            Err(Diagnostic::error("Unsupported path step", format!("Unsupported path step type {other:?}")).into())
        }
    }
}

fn read_output(name: &str, output: &Output<'_>) -> Result<OutputValue, Diagnostic> {
    let ty = match output.ty.map(RawValue::get) {
        Some(text) => Type::from_json_bytes(text.as_bytes()).map_err(|error| error.to_string()),
        None => Err("EOF".to_string()),
    };
    let ty = ty.map_err(|why| {
        let detail = format!("The state file has an invalid type specification for output {name:?}: {why}.");
        Diagnostic::error("Invalid output value type in state", detail)
    })?;
    let value = match output.value.map(RawValue::get) {
        None => Ok(Value::null(ty)),
        Some(text) => json::from_json(text.as_bytes(), &ty),
    };
    let value = value.map_err(|why| {
        let detail = format!("The state file has an invalid value for output {name:?}: {why}.");
        Diagnostic::error("Invalid output value saved in state", detail)
    })?;
    let deprecated = output.deprecated.filter(|_| stores_deprecations());
    let deprecated = deprecated.and_then(|text| serde_json::from_str(text.get()).ok());
    Ok(OutputValue { deprecated, ..OutputValue::new(value, output.sensitive) })
}

/// Results of kinds that this version does not know are dropped: the next run finds them anew.
fn read_checks(entries: Vec<Check>) -> Vec<CheckResult> {
    let status = |text: &str| match text {
        "pass" => CheckStatus::Pass,
        "fail" => CheckStatus::Fail,
        "error" => CheckStatus::Error,
        _ => CheckStatus::Unknown,
    };
    let check = |entry: Check| {
        let kind = match entry.object_kind.as_str() {
            known @ ("resource" | "check" | "var") => known,
            "output" => "output_value",
            _ => return None,
        };
        let objects = entry.objects.unwrap_or_default().into_iter();
        let objects =
            objects.map(|o| (o.object_addr, status(&o.status), o.failure_messages.unwrap_or_default())).collect();
        Some(CheckResult { kind: kind.into(), config_addr: entry.config_addr, status: status(&entry.status), objects })
    };
    entries.into_iter().filter_map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{problems_text, read};

    fn problem(content: &str) -> String {
        read(content.as_bytes()).map_or_else(|problems| problems_text(&problems), |_| "none".into())
    }

    fn with_resource(fields: &str) -> String {
        let base = r#""mode":"managed","type":"t","name":"n","provider":"provider[\"registry.terraform.io/hashicorp/null\"]","instances":[{"attributes":{}}]"#;
        // Each given field replaces the same field of a plain resource.
        let mut resource: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&format!("{{{base}}}")).unwrap();
        resource.extend(serde_json::from_str::<serde_json::Map<_, _>>(&format!("{{{fields}}}")).unwrap());
        format!("{{\"version\":4,\"resources\":[{}]}}", serde_json::Value::Object(resource))
    }

    /// Recorded from the reference with `state list -state=FILE`.
    #[test]
    fn what_a_state_must_not_hold_is_explained() {
        let cases = [
            ("", "none"),
            (
                r#""mode":"x""#,
                "Invalid resource mode in state: State contains a resource with mode \"x\" (\"t\" \"n\") which is not supported.",
            ),
            (
                r#""module":"x.y""#,
                "Invalid module instance address: A module instance address must begin with \"module.\".",
            ),
            (r#""instances":[{"index_key":1.5}]"#, "none"),
            (
                r#""instances":[{"index_key":true}]"#,
                "Invalid resource instance metadata in state: Resource t.n has an instance with the invalid instance key true.",
            ),
            (
                r#""instances":[{"status":"x"}]"#,
                "Invalid resource instance metadata in state: Instance t.n has invalid status \"x\".",
            ),
            (
                r#""instances":[{"dependencies":["x"]}]"#,
                "Invalid address: Resource specification must include a resource type and name.",
            ),
            (
                r#""instances":[{},{}]"#,
                "Duplicate resource instance in state: Instance t.n appears multiple times in the state file.",
            ),
            (
                r#""instances":[{"deposed":"zz"}]"#,
                "Invalid resource instance metadata in state: Instance t.n has an object with deposed key \"zz\", which is not correctly formatted.",
            ),
            (
                r#""instances":[{"sensitive_attributes":[[{"type":"q","value":1}]]}]"#,
                "Unsupported path step: Unsupported path step type \"q\"",
            ),
        ];
        for (fields, expected) in cases {
            assert_eq!(problem(&with_resource(fields)), expected, "{fields}");
        }
    }

    #[test]
    fn bad_outputs_and_versions_are_explained() {
        let output = |entry: &str| problem(&format!("{{\"version\":4,\"outputs\":{{\"a\":{entry}}}}}"));
        let cases = [
            (
                r#"{"value":1,"type":"strin"}"#,
                "Invalid output value type in state: The state file has an invalid type specification for output \"a\": invalid primitive type name \"strin\".",
            ),
            (
                r#"{"value":"x","type":"number"}"#,
                "Invalid output value saved in state: The state file has an invalid value for output \"a\": a number is required.",
            ),
            (
                "{}",
                "Invalid output value type in state: The state file has an invalid type specification for output \"a\": EOF.",
            ),
            (r#"{"value":1,"type":"number"}"#, "none"),
        ];
        for (entry, expected) in cases {
            assert_eq!(output(entry), expected);
        }
        assert_eq!(
            problem(r#"{"version":4,"terraform_version":"x"}"#),
            "Invalid Terraform version string: State file claims to have been written by Terraform version \"x\", which is not a valid version string.",
        );
        assert_eq!(problem(r#"{"version":4,"terraform_version":"99.0.0","outputs":null,"resources":null}"#), "none");
    }

    /// As OpenTofu writes the objects of a provider configuration with instances.
    #[test]
    fn instances_may_name_their_provider() {
        let content = r#"{"version":4,"resources":[{"mode":"managed","type":"t","name":"n","instances":[
            {"index_key":"a","provider":"provider[\"registry.opentofu.org/hashicorp/null\"].by[\"eu\"]","attributes":{}}]}]}"#;
        let file = read(content.as_bytes()).unwrap().unwrap();
        let (_, provider, instance) = file.state.instances().next().unwrap();
        assert_eq!(provider.to_string(), "provider[\"registry.opentofu.org/hashicorp/null\"].by");
        assert_eq!(instance.provider_key().as_deref(), Some("eu"));
    }

    #[test]
    fn a_file_cut_short_is_an_error_and_no_panic() {
        let whole = include_str!("fixtures/wide.tfstate").trim_end();
        for cut in (1..whole.len()).filter(|cut| whole.is_char_boundary(*cut)).step_by(13) {
            assert!(read(&whole.as_bytes()[..cut]).is_err(), "cut at {cut}");
        }
    }
}
