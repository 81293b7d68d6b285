//! A module on its own as JSON: what it declares, without expressions and without the modules that it calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::config::{Config, Module, ModuleCall, Output, Resource};
use serde_json::{Map, Value as Json};
use terrane_protocol::schema::ResourceMode;

use super::config::{add_variable_details, resource_head, variables_json};
use super::provider_configs::ProviderConfigs;
use super::shape::{put, set};

/// The document of `show -module`.
pub fn module_json(module: &Module) -> Json {
    let config = Config { root: Arc::new(module.clone()) };
    let providers = ProviderConfigs::collect(&config, &|_| None);
    let mut root = Map::new();
    let outputs: BTreeMap<_, _> = module.outputs.iter().collect();
    put(&mut root, "outputs", entries(outputs.into_iter().map(|(name, output)| (&**name, output_json(output)))));
    let mut resources = Vec::new();
    for mode in [ResourceMode::Managed, ResourceMode::Data, ResourceMode::Ephemeral] {
        let mut of_mode: Vec<&Resource> = module.resources.values().filter(|r| r.addr.mode == mode).collect();
        of_mode.sort_by_cached_key(|resource| resource.addr.to_string());
        resources.extend(of_mode.into_iter().map(|resource| Json::Object(resource_head(resource, module, &providers))));
    }
    put(&mut root, "resources", resources);
    let calls: BTreeMap<_, _> = module.calls.iter().collect();
    put(&mut root, "module_calls", entries(calls.into_iter().map(|(name, call)| (&**name, call_json(call)))));
    put(&mut root, "variables", variables_json(module));
    let mut out = Map::new();
    put(&mut out, "provider_config", providers.json());
    set(&mut out, "root_module", root);
    let mut json = Json::Object(out);
    add_variable_details(&mut json, &config);
    json
}

fn entries<'n>(all: impl Iterator<Item = (&'n str, Json)>) -> Map<String, Json> {
    all.map(|(name, json)| (name.to_owned(), json)).collect()
}

fn output_json(output: &Output) -> Json {
    let mut out = Map::new();
    if output.sensitive {
        set(&mut out, "sensitive", true);
    }
    put(&mut out, "deprecated", output.deprecated.as_ref().map_or("", |deprecation| &*deprecation.message));
    put(&mut out, "description", output.description.clone().unwrap_or_default());
    Json::Object(out)
}

fn call_json(call: &ModuleCall) -> Json {
    let mut out = Map::new();
    set(&mut out, "source", call.source.as_str());
    put(&mut out, "version_constraint", call.version.as_ref().map(|(text, _)| text.clone()).unwrap_or_default());
    Json::Object(out)
}
