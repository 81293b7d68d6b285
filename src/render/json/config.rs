//! The configuration as JSON: the "configuration" of a plan's document.

use std::collections::BTreeMap;

use lang::syntax::ast::Traversal;
use model::config::{Config, Deprecation, Module, ModuleCall, Resource};
use serde_json::{Map, Value as Json};
use terrane_protocol::schema::ResourceMode;

use super::actions;
use super::expressions::{expression_json, expressions_json};
use super::provider_configs::{ProviderConfigs, key_of};
use super::shape::{known_json, put, set};
use crate::opentofu;
use crate::schemas::{ProviderSchemaLookup, SchemaLookup};

pub fn config_json(config: &Config, schemas: &SchemaLookup<'_>, provider_schemas: &ProviderSchemaLookup<'_>) -> Json {
    let providers = ProviderConfigs::collect(config, provider_schemas);
    let mut out = Map::new();
    put(&mut out, "provider_config", providers.json());
    set(&mut out, "root_module", module_json(&config.root, schemas, &providers));
    Json::Object(out)
}

fn module_json(module: &Module, schemas: &SchemaLookup<'_>, providers: &ProviderConfigs) -> Json {
    let mut out = Map::new();
    let outputs: BTreeMap<_, _> = module.outputs.iter().collect();
    let outputs: Map<String, Json> = outputs
        .into_iter()
        .map(|(name, output)| {
            let mut entry = Map::new();
            if output.sensitive {
                set(&mut entry, "sensitive", true);
            }
            put(&mut entry, "deprecated", deprecation(module, output.deprecated.as_ref()));
            set(&mut entry, "expression", expression_json(&output.value));
            put(&mut entry, "depends_on", depends_on(&output.depends_on));
            put(&mut entry, "description", output.description.clone().unwrap_or_default());
            (name.to_string(), Json::Object(entry))
        })
        .collect();
    put(&mut out, "outputs", outputs);
    let mut resources = Vec::new();
    for mode in [ResourceMode::Managed, ResourceMode::Data] {
        let mut of_mode: Vec<&Resource> = module.resources.values().filter(|r| r.addr.mode == mode).collect();
        of_mode.sort_by_cached_key(|r| r.addr.to_string());
        resources.extend(of_mode.into_iter().map(|r| resource_json(r, module, schemas, providers)));
    }
    put(&mut out, "resources", resources);
    let actions = actions::config_json(module.actions.values(), &|action| {
        providers.effective(&key_of(&action.local_provider_config().to_string(), &module.path)).to_owned()
    });
    let calls: BTreeMap<_, _> = module.calls.iter().collect();
    let calls: Map<String, Json> =
        calls.into_iter().map(|(name, call)| (name.to_string(), call_json(call, module, schemas, providers))).collect();
    put(&mut out, "module_calls", calls);
    put(&mut out, "variables", variables_json(module));
    put(&mut out, "actions", actions);
    Json::Object(out)
}

/// Adds what only OpenTofu shows of variables: their types, and whether they are required or ephemeral.
pub fn add_variable_details(configuration: &mut Json, config: &Config) {
    if let Some(root) = configuration.get_mut("root_module") {
        add_details(root, &config.root);
    }
}

fn add_details(json: &mut Json, module: &Module) {
    for (name, variable) in &module.variables {
        let Some(Json::Object(entry)) = json.pointer_mut(&format!("/variables/{name}")) else { continue };
        for (key, holds) in [("required", variable.default.is_none()), ("ephemeral", variable.ephemeral)] {
            if holds {
                entry.insert(key.into(), true.into());
            }
        }
        if !variable.ty.is_dynamic() {
            entry.insert("type".into(), variable.ty.to_json());
        }
        let order = ["type", "default", "description", "required", "sensitive", "ephemeral"];
        let mut all = std::mem::take(entry);
        entry.extend(order.into_iter().filter_map(|key| all.shift_remove_entry(key)));
        entry.extend(all);
    }
    for (name, child) in &module.children {
        if let Some(json) = json.pointer_mut(&format!("/module_calls/{name}/module")) {
            add_details(json, child);
        }
    }
}

pub(super) fn variables_json(module: &Module) -> Json {
    let sorted: BTreeMap<_, _> = module.variables.iter().collect();
    let entries = sorted.into_iter().map(|(name, variable)| {
        let mut entry = Map::new();
        if let Some(default) = &variable.default {
            set(&mut entry, "default", known_json(default));
        }
        put(&mut entry, "description", variable.description.clone().unwrap_or_default());
        if variable.sensitive {
            set(&mut entry, "sensitive", true);
        }
        if variable.is_const && opentofu::documents_declarations(module.dialect) {
            set(&mut entry, "const", true);
        }
        put(&mut entry, "deprecated", deprecation(module, variable.deprecated.as_ref()));
        (name.to_string(), Json::Object(entry))
    });
    Json::Object(entries.collect())
}

/// The message of a deprecation, where it is written.
fn deprecation<'d>(module: &Module, found: Option<&'d Deprecation>) -> &'d str {
    let is_written = opentofu::documents_declarations(module.dialect);
    found.filter(|_| is_written).map_or("", |found| &found.message)
}

/// The fields that name a resource and its provider.
pub(super) fn resource_head(resource: &Resource, module: &Module, providers: &ProviderConfigs) -> Map<String, Json> {
    let mut out = Map::new();
    set(&mut out, "address", resource.addr.to_string());
    set(&mut out, "mode", resource.addr.mode.state_name());
    set(&mut out, "type", &*resource.addr.kind);
    set(&mut out, "name", &*resource.addr.name);
    let key = key_of(&resource.local_provider_config().to_string(), &module.path);
    set(&mut out, "provider_config_key", providers.effective(&key));
    out
}

fn resource_json(
    resource: &Resource,
    module: &Module,
    schemas: &SchemaLookup<'_>,
    providers: &ProviderConfigs,
) -> Json {
    let mut out = resource_head(resource, module, providers);
    let provisioners: Vec<Json> = resource
        .provisioners
        .iter()
        .map(|provisioner| {
            let mut entry = Map::new();
            set(&mut entry, "type", &*provisioner.kind);
            let (attributes, _) = provisioner.body.just_attributes();
            let sorted: BTreeMap<_, _> = attributes.iter().collect();
            let expressions: Map<String, Json> =
                sorted.into_iter().map(|(name, a)| (name.to_string(), expression_json(&a.expr))).collect();
            put(&mut entry, "expressions", expressions);
            Json::Object(entry)
        })
        .collect();
    put(&mut out, "provisioners", provisioners);
    let schema = schemas(&resource.provider, resource.addr.mode, &resource.addr.kind);
    if let Some(schema) = &schema {
        put(&mut out, "expressions", expressions_json(&resource.body, &schema.block));
    }
    set(&mut out, "schema_version", schema.map_or(0, |schema| schema.version_in(resource.addr.mode)));
    if let Some(count) = &resource.count {
        put(&mut out, "count_expression", expression_json(count));
    }
    if let Some(for_each) = &resource.for_each {
        put(&mut out, "for_each_expression", expression_json(for_each));
    }
    let shows_enabled = opentofu::documents_shared_arguments(module.dialect);
    if let Some(enabled) = resource.lifecycle.enabled.as_ref().filter(|_| shows_enabled) {
        set(&mut out, "enabled_expression", expression_json(enabled));
    }
    put(&mut out, "depends_on", depends_on(&resource.depends_on));
    Json::Object(out)
}

fn call_json(call: &ModuleCall, module: &Module, schemas: &SchemaLookup<'_>, providers: &ProviderConfigs) -> Json {
    let mut out = Map::new();
    set(&mut out, "source", call.source.as_str());
    let (attributes, _) = call.body.just_attributes();
    let sorted: BTreeMap<_, _> = attributes.iter().collect();
    let child = module.children.get(&call.name);
    let expressions: Map<String, Json> = sorted
        .into_iter()
        .filter(|(name, _)| child.is_none_or(|child| child.variables.contains_key(&***name)))
        .map(|(name, a)| (name.to_string(), expression_json(&a.expr)))
        .collect();
    put(&mut out, "expressions", expressions);
    if let Some(count) = &call.count {
        put(&mut out, "count_expression", expression_json(count));
    }
    if let Some(for_each) = &call.for_each {
        put(&mut out, "for_each_expression", expression_json(for_each));
    }
    let shows_enabled = opentofu::documents_shared_arguments(module.dialect);
    if let Some(enabled) = call.enabled.as_ref().filter(|_| shows_enabled) {
        set(&mut out, "enabled_expression", expression_json(enabled));
    }
    if let Some(child) = child {
        set(&mut out, "module", module_json(child, schemas, providers));
    }
    put(&mut out, "version_constraint", call.version.as_ref().map(|(text, _)| text.clone()).unwrap_or_default());
    put(&mut out, "depends_on", depends_on(&call.depends_on));
    Json::Object(out)
}

fn depends_on(list: &[Traversal]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}
