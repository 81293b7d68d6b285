//! Provider configurations as the JSON of a configuration lists them: those of child modules that are handed down are
//! replaced by the one they come from.

use std::collections::BTreeMap;

use model::addr::{self, LocalProviderConfig};
use model::config::{Config, Module};
use model::deps::requirement::Requirements;
use serde_json::{Map, Value as Json};

use super::expressions::{expression_json, expressions_json};
use super::shape::{put, set};
use crate::opentofu;
use crate::schemas::ProviderSchemaLookup;

#[derive(Default)]
struct Entry {
    name: String,
    full_name: String,
    alias: String,
    version_constraint: String,
    module_address: String,
    expressions: Option<Json>,
    for_each: Option<Json>,
    parent: Option<String>,
}

/// All configurations by key: the local name, behind the module's address and a colon in child modules.
#[derive(Default)]
pub(super) struct ProviderConfigs {
    entries: BTreeMap<String, Entry>,
}

pub(super) fn key_of(local: &str, module: &addr::Module) -> String {
    if module.is_root() { local.to_owned() } else { format!("{module}:{local}") }
}

impl ProviderConfigs {
    pub fn collect(config: &Config, schemas: &ProviderSchemaLookup<'_>) -> ProviderConfigs {
        let mut all = ProviderConfigs::default();
        all.add_module(&config.root, None, schemas);
        all
    }

    /// The key of the configuration that one stands for.
    pub fn effective(&self, key: &str) -> String {
        let parent = self.entries.get(key).and_then(|entry| entry.parent.clone());
        parent.unwrap_or_else(|| key.to_owned())
    }

    pub fn json(&self) -> Json {
        let shown = self.entries.iter().filter(|(_, entry)| entry.parent.is_none());
        Json::Object(shown.map(|(key, entry)| (key.clone(), entry_json(entry))).collect())
    }

    fn source_of(&self, start: &str, full_name: &str) -> Option<String> {
        let mut found = None;
        let mut key = Some(start.to_owned());
        while let Some(current) = key {
            let Some(entry) = self.entries.get(&current).filter(|entry| entry.full_name == full_name) else { break };
            key = entry.parent.clone();
            found = Some(current);
        }
        found
    }

    fn add_module(&mut self, module: &Module, parent: Option<&Module>, schemas: &ProviderSchemaLookup<'_>) {
        let path = &module.path;
        let shows_for_each = opentofu::documents_shared_arguments(module.dialect);
        // What is wrong with a constraint is reported when the configuration is loaded.
        let (requirements, _) = Requirements::of_module(module);
        let constraint =
            |provider: &addr::Provider| requirements.0.get(provider).map(ToString::to_string).unwrap_or_default();
        for (local, block) in &module.providers {
            let provider = module.provider_for_local_name(&block.name);
            let expressions = schemas(&provider).map(|schema| expressions_json(&block.body, &schema.block));
            let entry = Entry {
                name: block.name.to_string(),
                full_name: provider.to_string(),
                alias: block.alias.as_deref().unwrap_or_default().to_owned(),
                version_constraint: constraint(&provider),
                module_address: path.to_string(),
                expressions,
                for_each: block.for_each.as_ref().filter(|_| shows_for_each).map(expression_json),
                parent: None,
            };
            self.entries.insert(key_of(&local.to_string(), path), entry);
        }
        for (name, requirement) in &module.requirements {
            let aliased = requirement.aliases.iter().map(LocalProviderConfig::to_string);
            for local in aliased.chain([name.to_string()]) {
                let key = key_of(&local, path);
                if self.entries.contains_key(&key) {
                    continue;
                }
                let full_name = requirement.source.to_string();
                let inherited = parent
                    .filter(|_| local == **name)
                    .and_then(|parent| self.source_of(&key_of(name, &parent.path), &full_name));
                let entry = Entry {
                    name: name.to_string(),
                    version_constraint: constraint(&requirement.source),
                    full_name,
                    module_address: path.to_string(),
                    parent: inherited,
                    ..Entry::default()
                };
                self.entries.insert(key, entry);
            }
        }
        for (name, child) in &module.children {
            for passing in module.calls.get(name).into_iter().flat_map(|call| &call.providers) {
                let in_child = &passing.in_child.addr;
                let full_name = child.provider_for_local_name(&in_child.local_name).to_string();
                let parent_key = key_of(&passing.in_parent.addr.to_string(), path);
                let entry = Entry {
                    name: in_child.to_string(),
                    module_address: child.path.to_string(),
                    parent: self.source_of(&parent_key, &full_name),
                    full_name,
                    ..Entry::default()
                };
                self.entries.insert(key_of(&in_child.to_string(), &child.path), entry);
            }
            self.add_module(child, Some(module), schemas);
        }
    }
}

fn entry_json(entry: &Entry) -> Json {
    let mut out = Map::new();
    set(&mut out, "name", entry.name.as_str());
    set(&mut out, "full_name", entry.full_name.as_str());
    put(&mut out, "alias", entry.alias.as_str());
    put(&mut out, "version_constraint", entry.version_constraint.as_str());
    put(&mut out, "module_address", entry.module_address.as_str());
    put(&mut out, "expressions", entry.expressions.clone().unwrap_or_default());
    put(&mut out, "for_each_expression", entry.for_each.clone().unwrap_or_default());
    Json::Object(out)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use base::files::Memory;
    use model::config::{ModuleRequest, NoInputs, load};

    use super::*;

    #[test]
    fn version_constraints_are_canonical_and_include_those_of_provider_blocks() {
        let text = r#"
            terraform {
              required_providers {
                one = { source = "example.com/a/one", version = ">= 5.46, < 6" }
                two = { source = "example.com/a/two", version = "1" }
              }
            }
            provider "one" { version = "~> 5.0" }"#;
        let files = Memory::of([("main.tf", text)]);
        let no_modules = |request: &ModuleRequest<'_>| panic!("{} is called", request.call.source);
        let (config, _) = load(Path::new(""), &files, &no_modules, Arc::new(NoInputs));
        let json = ProviderConfigs::collect(&config.unwrap(), &|_: &addr::Provider| None).json();
        assert_eq!(json["one"]["version_constraint"], "~> 5.0, >= 5.46.0, < 6.0.0");
        assert_eq!(json["two"]["version_constraint"], "1.0.0");
    }
}
