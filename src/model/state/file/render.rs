//! Writing version 4: a state kept as the pieces of its file, so that a change costs the instance that changed.

mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base64::Engine as _;
use gotext::json::push_string;
use terrane_value::json::{self, JsonError};
use terrane_value::{Path, PathStep, Type};

use super::json_text::{self, indent, new_line};
use super::stores_provider_of_objects;
use crate::addr::{AbsProviderConfig, AbsResource, AbsResourceInstance, InstanceKey, Resource};
use crate::state::{Attributes, CheckResult, CheckStatus, Instance, Object, ObjectStatus, OutputValue, State};

/// Nesting of the lines of one instance object within the file.
const OBJECT_DEPTH: usize = 4;

/// A state as text in pieces. Two are equal if their files are, serial and lineage aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Bytes of all instances.
    size: usize,
    /// By the text of the module instance: the order of the file.
    resources: BTreeMap<(Arc<str>, Resource), RenderedResource>,
    outputs: BTreeMap<Arc<str>, Arc<[u8]>>,
    /// The value of "check_results".
    checks: Arc<[u8]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct RenderedResource {
    addr: AbsResource,
    provider: AbsProviderConfig,
    instances: BTreeMap<InstanceKey, Objects>,
    /// The instances that name their provider themselves.
    keyed: BTreeSet<InstanceKey>,
}

/// The objects of one instance, without the space that lays them out: that is two thirds of the file.
#[derive(Clone, Debug)]
struct Objects {
    compact: Arc<str>,
    /// Bytes in the file.
    size: usize,
    /// The minor release of Terraform that first knew all of it; 0: any.
    needs: u8,
}

impl Objects {
    fn of(rendered: Vec<u8>, needs: u8) -> Objects {
        let mut objects = Objects { compact: json_text::compact(&text_of(rendered)).into(), size: 0, needs };
        let mut laid_out = Vec::new();
        objects.lay_out(&mut laid_out);
        objects.size = laid_out.len();
        objects
    }

    /// Appends them as they are in the file.
    fn lay_out(&self, out: &mut Vec<u8>) {
        json_text::indent(&self.compact, OBJECT_DEPTH, out);
    }
}

/// The text decides about the size.
impl PartialEq for Objects {
    fn eq(&self, other: &Objects) -> bool {
        Arc::ptr_eq(&self.compact, &other.compact) || self.compact == other.compact
    }
}

impl Eq for Objects {}

impl RenderedResource {
    /// The address of the provider for an entry with these instances, unless each of them has it.
    fn provider_of<'k>(&self, mut keys: impl Iterator<Item = &'k InstanceKey>) -> Option<&AbsProviderConfig> {
        keys.any(|key| !self.keyed.contains(key)).then_some(&self.provider)
    }
}

/// A separately encoded part that differs between two states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateChange {
    /// A resource entry of the file that holds one instance only.
    Instance(AbsResourceInstance, String),
    GoneInstance(AbsResourceInstance),
    Output(Arc<str>, String),
    GoneOutput(Arc<str>),
    Checks(String),
}

impl Rendered {
    /// Errors: values that no file can hold, unknown ones for example.
    pub fn of(state: &State) -> Result<Rendered, Diagnostics> {
        Rendered::sharing(state, &Rendered::default())
    }

    /// As `of`, with the other's text where it is the same, so that both together take the memory of one.
    pub fn sharing(state: &State, other: &Rendered) -> Result<Rendered, Diagnostics> {
        let mut rendered = Rendered { checks: render_checks(state.checks.as_deref()), ..Rendered::default() };
        for (addr, resource) in &state.resources {
            let place = (Arc::from(addr.module.to_string()), addr.resource.clone());
            let theirs = other.resources.get(&place);
            for (key, instance) in &resource.instances {
                rendered.set(addr, key, &resource.provider, instance)?;
                let own = rendered.resources.get_mut(&place).and_then(|own| own.instances.get_mut(key));
                let same = theirs.and_then(|theirs| theirs.instances.get(key));
                if let (Some(own), Some(same)) = (own, same)
                    && own == same
                {
                    *own = same.clone();
                }
            }
        }
        for (name, output) in &state.outputs {
            rendered.set_output(name, Some(output))?;
        }
        Ok(rendered)
    }

    /// Replaces one instance; without objects it goes.
    pub fn set_instance(
        &mut self,
        addr: &AbsResourceInstance,
        provider: &AbsProviderConfig,
        instance: &Instance,
    ) -> Result<(), Diagnostics> {
        self.set(&addr.containing_resource(), addr.key(), provider, instance)
    }

    fn set(
        &mut self,
        addr: &AbsResource,
        key: &InstanceKey,
        provider: &AbsProviderConfig,
        instance: &Instance,
    ) -> Result<(), Diagnostics> {
        let place = (Arc::from(addr.module.to_string()), addr.resource.clone());
        if instance.current.is_none() && instance.deposed.is_empty() {
            if let Some(resource) = self.resources.get_mut(&place) {
                self.size -= resource.instances.remove(key).map_or(0, |old| old.size);
                resource.keyed.remove(key);
                if resource.instances.is_empty() {
                    self.resources.remove(&place);
                }
            }
            return Ok(());
        }
        let objects = render_instance(key, provider, instance);
        let objects =
            objects.map(|objects| Objects::of(objects, whole::needs(addr, provider, instance))).map_err(|why| {
                let detail = format!("Instance {} cannot be written to the state: {why}.", addr.instance(key.clone()));
                Diagnostics::from(Diagnostic::error("Failed to serialize resource instance in state", detail))
            })?;
        let resource = self.resources.entry(place).or_insert_with(|| RenderedResource {
            addr: addr.clone(),
            provider: provider.whole(),
            instances: BTreeMap::new(),
            keyed: BTreeSet::new(),
        });
        resource.provider = provider.whole();
        match stores_provider_of_objects() && instance.objects().all(|object| object.provider_key.is_some()) {
            true => _ = resource.keyed.insert(key.clone()),
            false => _ = resource.keyed.remove(key),
        }
        self.size += objects.size;
        let old = resource.instances.insert(key.clone(), objects);
        self.size -= old.map_or(0, |old| old.size);
        Ok(())
    }

    /// Replaces one output of the root module, or removes it.
    pub fn set_output(&mut self, name: &str, output: Option<&OutputValue>) -> Result<(), Diagnostics> {
        let Some(output) = output else {
            self.outputs.remove(name);
            return Ok(());
        };
        let entry = render_output(output).map_err(|why| {
            let detail = format!("An error occured while serializing output value {name:?}: {why}.");
            Diagnostics::from(Diagnostic::error("Failed to serialize output value in state", detail))
        })?;
        self.outputs.insert(name.into(), entry.into());
        Ok(())
    }

    pub fn set_checks(&mut self, checks: Option<&[CheckResult]>) {
        self.checks = render_checks(checks);
    }

    /// One instance as a separate resource entry; None if it does not exist.
    pub fn instance_entry(&self, addr: &AbsResourceInstance) -> Option<String> {
        let module: Arc<str> = addr.module.to_string().into();
        let resource = self.resources.get(&(module.clone(), addr.resource.resource.clone()))?;
        let objects = resource.instances.get(addr.key())?;
        let mut out = Vec::new();
        let provider = resource.provider_of([addr.key()].into_iter());
        render_resource(&module, &addr.resource.resource, provider, [objects].into_iter(), &mut out, in_journal);
        Some(text_of(out))
    }

    /// What has to be done to `base` to get this: in the order of the file.
    pub fn changes_since(&self, base: &Rendered) -> Vec<StateChange> {
        let mut pieces = Vec::new();
        for (place, resource) in &self.resources {
            let old = base.resources.get(place);
            let same_provider = old.is_some_and(|old| old.provider == resource.provider);
            for (key, objects) in &resource.instances {
                if same_provider && old.and_then(|old| old.instances.get(key)) == Some(objects) {
                    continue;
                }
                let mut out = Vec::new();
                let provider = resource.provider_of([key].into_iter());
                render_resource(&place.0, &place.1, provider, [objects].into_iter(), &mut out, in_journal);
                pieces.push(StateChange::Instance(resource.addr.instance(key.clone()), text_of(out)));
            }
        }
        for (place, old) in &base.resources {
            let here = self.resources.get(place);
            let gone = old.instances.keys().filter(|key| here.is_none_or(|r| !r.instances.contains_key(*key)));
            pieces.extend(gone.map(|key| StateChange::GoneInstance(old.addr.instance(key.clone()))));
        }
        for (name, output) in &self.outputs {
            if base.outputs.get(name) != Some(output) {
                pieces.push(StateChange::Output(name.clone(), text_of(output.to_vec())));
            }
        }
        let gone = base.outputs.keys().filter(|name| !self.outputs.contains_key(*name));
        pieces.extend(gone.map(|name| StateChange::GoneOutput(name.clone())));
        if self.checks != base.checks {
            pieces.push(StateChange::Checks(text_of(self.checks.to_vec())));
        }
        pieces
    }

    /// The text of an output's entry; nothing if it is not there.
    pub fn output_entry(&self, name: &str) -> Option<String> {
        self.outputs.get(name).map(|bytes| text_of(bytes.to_vec()))
    }

    /// About how many bytes the file has.
    pub fn size(&self) -> usize {
        self.size + 400 * self.resources.len() + 1024
    }
}

fn in_journal(out: &mut Vec<u8>, objects: &Objects) {
    out.extend_from_slice(objects.compact.as_bytes());
}

/// What was rendered from text and ASCII is text.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

fn separate(index: usize, depth: usize, out: &mut Vec<u8>) {
    if index > 0 {
        out.push(b',');
    }
    new_line(depth, out);
}

fn close(empty: bool, bracket: &[u8], depth: usize, out: &mut Vec<u8>) {
    if !empty {
        new_line(depth, out);
    }
    out.extend_from_slice(bracket);
}

fn field(name: &str, depth: usize, out: &mut Vec<u8>) {
    new_line(depth, out);
    push_string(name, out);
    out.extend_from_slice(b": ");
}

/// A field that is not the first one.
fn next_field(name: &str, depth: usize, out: &mut Vec<u8>) {
    out.push(b',');
    field(name, depth, out);
}

fn render_resource<'a>(
    module: &str,
    resource: &Resource,
    provider: Option<&AbsProviderConfig>,
    instances: impl Iterator<Item = &'a Objects>,
    out: &mut Vec<u8>,
    mut add: impl FnMut(&mut Vec<u8>, &'a Objects),
) {
    let fields = [
        ("module", module),
        ("mode", resource.mode.state_name()),
        ("type", &*resource.kind),
        ("name", &*resource.name),
        ("provider", &provider.map(AbsProviderConfig::to_string).unwrap_or_default()),
    ];
    out.push(b'{');
    let is_optional = |name: &str| matches!(name, "module" | "provider");
    for (name, value) in fields.into_iter().filter(|(name, value)| !is_optional(name) || !value.is_empty()) {
        field(name, 3, out);
        push_string(value, out);
        out.push(b',');
    }
    field("instances", 3, out);
    out.push(b'[');
    for (i, objects) in instances.enumerate() {
        separate(i, OBJECT_DEPTH, out);
        add(out, objects);
    }
    new_line(3, out);
    out.push(b']');
    new_line(2, out);
    out.push(b'}');
}

/// The objects of an instance: the current one, then the deposed ones by their keys.
fn render_instance(key: &InstanceKey, provider: &AbsProviderConfig, instance: &Instance) -> Result<Vec<u8>, JsonError> {
    let mut out = Vec::new();
    let current = instance.current.iter().map(|object| ("", object));
    let deposed = instance.deposed.iter().map(|(key, object)| (&*key.0, object));
    for (i, (deposed, object)) in current.chain(deposed).enumerate() {
        if i > 0 {
            separate(i, OBJECT_DEPTH, &mut out);
        }
        let provider = object.provider_key.clone().map(|key| provider.with_key(Some(key)));
        render_object((key, deposed), provider.as_ref(), object, &mut out)?;
    }
    Ok(out)
}

/// `provider`: the instance of a provider configuration that the object belongs to, if that has instances.
fn render_object(
    (key, deposed): (&InstanceKey, &str),
    provider: Option<&AbsProviderConfig>,
    object: &Object,
    out: &mut Vec<u8>,
) -> Result<(), JsonError> {
    let depth = OBJECT_DEPTH + 1;
    out.push(b'{');
    match key {
        // A state has no wildcards.
        InstanceKey::None | InstanceKey::Wildcard => {}
        InstanceKey::Int(n) => {
            field("index_key", depth, out);
            out.extend_from_slice(format!("{n},").as_bytes());
        }
        InstanceKey::Str(text) => text_field("index_key", text, depth, out),
    }
    if object.status == ObjectStatus::Tainted {
        text_field("status", "tainted", depth, out);
    }
    if !deposed.is_empty() {
        text_field("deposed", deposed, depth, out);
    }
    if let Some(provider) = provider.filter(|_| stores_provider_of_objects()) {
        text_field("provider", &provider.to_string(), depth, out);
    }
    field("schema_version", depth, out);
    out.extend_from_slice(object.schema_version.to_string().as_bytes());
    out.push(b',');
    render_attributes(&object.attributes, depth, out)?;
    field("sensitive_attributes", depth, out);
    render_paths(object.sensitive.iter().map(|(path, _)| path), depth, out)?;
    // From Terraform 1.12; 1.11 ignores it.
    if let Some(identity) = &object.identity {
        next_field("identity_schema_version", depth, out);
        out.extend_from_slice(format!("{},", identity.schema_version).as_bytes());
        field("identity", depth, out);
        indent(&identity.json, depth, out);
    }
    if !object.private.is_empty() {
        next_field("private", depth, out);
        push_string(&base64::engine::general_purpose::STANDARD.encode(&object.private), out);
    }
    if !object.dependencies.is_empty() {
        next_field("dependencies", depth, out);
        out.push(b'[');
        for (i, dependency) in object.dependencies.iter().enumerate() {
            separate(i, depth + 1, out);
            push_string(&dependency.to_string(), out);
        }
        close(false, b"]", depth, out);
    }
    if object.create_before_destroy {
        next_field("create_before_destroy", depth, out);
        out.extend_from_slice(b"true");
    }
    // Unknown to the reference, which ignores it.
    if object.keep {
        next_field("skip_destroy", depth, out);
        out.extend_from_slice(b"true");
    }
    if let Some(key) = object.provider_key.as_ref().filter(|_| !stores_provider_of_objects()) {
        next_field("provider_instance", depth, out);
        push_string(key, out);
    }
    new_line(OBJECT_DEPTH, out);
    out.push(b'}');
    Ok(())
}

fn text_field(name: &str, value: &str, depth: usize, out: &mut Vec<u8>) {
    field(name, depth, out);
    push_string(value, out);
    out.push(b',');
}

fn render_attributes(attributes: &Attributes, depth: usize, out: &mut Vec<u8>) -> Result<(), JsonError> {
    match attributes {
        Attributes::Json(text) => {
            field("attributes", depth, out);
            indent(text, depth, out);
        }
        Attributes::Value { value, ty } => {
            field("attributes", depth, out);
            indent(&json::to_json(value, ty)?, depth, out);
        }
        Attributes::Flat(pairs) => {
            let sorted: BTreeMap<&str, &str> = pairs.iter().map(|(k, v)| (&**k, &**v)).collect();
            // Go leaves an empty map out.
            if sorted.is_empty() {
                return Ok(());
            }
            field("attributes_flat", depth, out);
            out.push(b'{');
            for (i, (name, value)) in sorted.into_iter().enumerate() {
                separate(i, depth + 1, out);
                push_string(name, out);
                out.extend_from_slice(b": ");
                push_string(value, out);
            }
            close(false, b"}", depth, out);
        }
    }
    out.push(b',');
    Ok(())
}

fn render_paths<'a>(paths: impl Iterator<Item = &'a Path>, depth: usize, out: &mut Vec<u8>) -> Result<(), JsonError> {
    let mut compact = Vec::new();
    compact.push(b'[');
    for (i, path) in paths.enumerate() {
        if i > 0 {
            compact.push(b',');
        }
        compact.push(b'[');
        for (j, step) in path.steps().iter().enumerate() {
            if j > 0 {
                compact.push(b',');
            }
            render_step(step, &mut compact)?;
        }
        compact.push(b']');
    }
    compact.push(b']');
    indent(&text_of(compact), depth, out);
    Ok(())
}

fn render_step(step: &PathStep, out: &mut Vec<u8>) -> Result<(), JsonError> {
    match step {
        PathStep::Attr(name) => {
            out.extend_from_slice(b"{\"type\":\"get_attr\",\"value\":");
            push_string(name, out);
        }
        PathStep::Index(key) => {
            out.extend_from_slice(b"{\"type\":\"index\",\"value\":");
            out.extend_from_slice(json::to_json(key, &Type::Dynamic)?.as_bytes());
        }
    }
    out.push(b'}');
    Ok(())
}

fn render_output(output: &OutputValue) -> Result<Vec<u8>, JsonError> {
    let ty = output.value.ty();
    let mut out = vec![b'{'];
    field("value", 3, &mut out);
    indent(&json::to_json(&output.value, ty)?, 3, &mut out);
    next_field("type", 3, &mut out);
    indent(&ty.to_json().to_string(), 3, &mut out);
    if output.sensitive {
        next_field("sensitive", 3, &mut out);
        out.extend_from_slice(b"true");
    }
    if let Some(message) = &output.deprecated {
        next_field("deprecated", 3, &mut out);
        push_string(message, &mut out);
    }
    new_line(2, &mut out);
    out.push(b'}');
    Ok(out)
}

fn render_checks(checks: Option<&[CheckResult]>) -> Arc<[u8]> {
    let Some(checks) = checks.filter(|list| !list.is_empty()) else { return Arc::from(&b"null"[..]) };
    let status = |status: CheckStatus| match status {
        CheckStatus::Unknown => "unknown",
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
    };
    let mut sorted: Vec<&CheckResult> = checks.iter().collect();
    sorted.sort_by(|a, b| a.config_addr.cmp(&b.config_addr));
    let list: Vec<serde_json::Value> = sorted
        .into_iter()
        .map(|check| {
            let kind = if &*check.kind == "output_value" { "output" } else { &*check.kind };
            let objects: Vec<serde_json::Value> = check
                .objects
                .iter()
                .map(|(addr, result, messages)| {
                    let mut object = serde_json::json!({"object_addr": addr, "status": status(*result)});
                    if !messages.is_empty() {
                        object["failure_messages"] = messages.as_slice().into();
                    }
                    object
                })
                .collect();
            // Go writes no list as null.
            let objects = if objects.is_empty() { serde_json::Value::Null } else { objects.into() };
            serde_json::json!({"object_kind": kind, "config_addr": check.config_addr, "status": status(check.status), "objects": objects})
        })
        .collect();
    let mut out = Vec::new();
    indent(&serde_json::Value::from(list).to_string(), 1, &mut out);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::state::StateMeta;
    use crate::version::compatible_version;

    /// Written by the reference: data source, count, for_each, modules, sensitive paths, a tainted object, checks.
    const WIDE: &str = include_str!("fixtures/wide.tfstate");

    #[test]
    fn what_the_reference_wrote_is_written_again_byte_for_byte() {
        let file = read(WIDE.as_bytes()).unwrap().unwrap();
        let text = String::from_utf8(super::super::write(&file.meta, &file.state).unwrap()).unwrap();
        for (i, (ours, theirs)) in text.lines().zip(WIDE.lines()).enumerate() {
            assert_eq!(ours, theirs, "line {}", i + 1);
        }
        assert_eq!(text.len(), WIDE.len());
    }

    #[test]
    fn identities_stay() {
        let (end, identity) = ("\"sensitive_attributes\": []", "\"identity_schema_version\": 3");
        let more = format!(
            "{end},\n          {identity},\n          \"identity\": {{\n            \"n\": \"x\"\n          }}"
        );
        let with = WIDE.replacen(end, &more, 1).replacen("1.11.4", compatible_version(), 1);
        let file = read(with.as_bytes()).unwrap().unwrap();
        let text = String::from_utf8(super::super::write(&file.meta, &file.state).unwrap()).unwrap();
        assert!(text == with && text.contains(identity), "{text}");
    }

    #[test]
    fn an_empty_state_has_its_empty_lists() {
        let language = compatible_version();
        let meta = StateMeta { terraform_version: String::new(), serial: 1, lineage: "l".into() };
        let text = String::from_utf8(super::super::write(&meta, &State::default()).unwrap()).unwrap();
        let lines = format!(
            "{{\n  \"version\": 4,\n  \"terraform_version\": \"{language}\",\n  \"serial\": 1,\n  \"lineage\": \"l\",\n  \"outputs\": {{}},\n  \"resources\": [],\n  \"check_results\": null\n}}\n"
        );
        assert_eq!(text, lines);
    }

    #[test]
    fn changes_are_pieces_of_the_file() {
        let before = read(WIDE.as_bytes()).unwrap().unwrap().state;
        let mut after = before.clone();
        let (addr, provider, instance) =
            before.instances().find(|(a, ..)| a.to_string() == "terraform_data.c").unwrap();
        let (provider, mut instance) = (provider.clone(), instance.clone());
        instance.current.as_mut().unwrap().status = ObjectStatus::Ready;
        *after.instance_mut(&addr, &provider) = instance.clone();
        after.outputs.remove("n");
        after.checks = None;
        let base = Rendered::of(&before).unwrap();
        let pieces = Rendered::of(&after).unwrap().changes_since(&base);
        assert_eq!(pieces.len(), 3, "{pieces:?}");
        assert!(matches!(&pieces[0], StateChange::Instance(a, text) if *a == addr && !text.contains("tainted")));
        assert_eq!(pieces[1], StateChange::GoneOutput("n".into()));
        assert_eq!(pieces[2], StateChange::Checks("null".into()));
        let mut incremental = base.clone();
        incremental.set_instance(&addr, &provider, &instance).unwrap();
        incremental.set_output("n", None).unwrap();
        incremental.set_checks(None);
        assert!(incremental == Rendered::of(&after).unwrap());
        incremental.set_instance(&addr, &provider, &Instance::default()).unwrap();
        assert_eq!(incremental.instance_entry(&addr), None);
    }
}
