//! The configuration as JSON: the "configuration" of a plan's document.

use crate::lang::syntax::mistakes::no_variables;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::base::source::SourceFile;
use crate::lang::eval::dynamic::BlockShape;
use crate::lang::eval::{self, Resolved, Scope};
use crate::lang::syntax::ast::{ExprKind, Expression, Traversal};
use crate::lang::syntax::body::Body;
use crate::model::addr::parse::parse_reference;
use crate::model::addr::{self, InstanceKey, ResourceMode, Subject};
use crate::model::config::{Config, Module, ModuleCall, Resource};
use crate::model::schema::decode::schema_of_body;
use crate::model::schema::{Block, Nesting, Schema};

use super::provider_configs::{ProviderConfigs, key_of};
use super::shape::{known_json, put, set};
use super::state::SchemaLookup;

/// Finds the schema of a provider's own configuration.
pub type ProviderSchemaLookup<'a> = dyn Fn(&addr::Provider) -> Option<Arc<Schema>> + 'a;

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
            put(&mut entry, "deprecated", output.deprecated.as_deref().unwrap_or_default());
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
    let calls: BTreeMap<_, _> = module.calls.iter().collect();
    let calls: Map<String, Json> =
        calls.into_iter().map(|(name, call)| (name.to_string(), call_json(call, module, schemas, providers))).collect();
    put(&mut out, "module_calls", calls);
    put(&mut out, "variables", variables_json(module));
    Json::Object(out)
}

fn variables_json(module: &Module) -> Json {
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
        if variable.is_const {
            set(&mut entry, "const", true);
        }
        put(&mut entry, "deprecated", variable.deprecated.as_deref().unwrap_or_default());
        (name.to_string(), Json::Object(entry))
    });
    Json::Object(entries.collect())
}

fn resource_json(
    resource: &Resource,
    module: &Module,
    schemas: &SchemaLookup<'_>,
    providers: &ProviderConfigs,
) -> Json {
    let mut out = Map::new();
    set(&mut out, "address", resource.addr.to_string());
    set(&mut out, "mode", resource.addr.mode.state_name());
    set(&mut out, "type", &*resource.addr.kind);
    set(&mut out, "name", &*resource.addr.name);
    let key = key_of(&resource.local_provider_config().to_string(), &module.path);
    set(&mut out, "provider_config_key", providers.effective(&key));
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
    set(&mut out, "schema_version", schema.map_or(0, |schema| schema.version));
    if let Some(count) = &resource.count {
        put(&mut out, "count_expression", expression_json(count));
    }
    if let Some(for_each) = &resource.for_each {
        put(&mut out, "for_each_expression", expression_json(for_each));
    }
    if let Some(enabled) = &resource.lifecycle.enabled {
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
    if let Some(enabled) = &call.enabled {
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

/// The expressions of a body: attributes as expressions, blocks as objects or lists of them.
pub(super) fn expressions_json(body: &Body, schema: &Block) -> Json {
    let schema = &*schema_of_body(body, schema);
    let (content, _, _) = body.partial_content(&schema.body_schema());
    let mut out: BTreeMap<String, Json> = BTreeMap::new();
    for (name, attribute) in &content.attributes {
        out.insert(name.to_string(), expression_json(&attribute.expr));
    }
    for block in &content.blocks {
        let Some(nested) = schema.blocks.get(&block.kind.name) else { continue };
        let inner = expressions_json(&block.body, &nested.block);
        let kind = block.kind.name.to_string();
        match nested.nesting {
            Nesting::Single | Nesting::Group => {
                out.insert(kind, inner);
            }
            Nesting::List | Nesting::Set => {
                if let Json::Array(list) = out.entry(kind).or_insert_with(|| Json::Array(Vec::new())) {
                    list.push(inner);
                }
            }
            Nesting::Map => {
                let key = block.labels.first().map(|l| l.text.to_string()).unwrap_or_default();
                if let Json::Object(map) = out.entry(kind).or_insert_with(|| Json::Object(Map::new())) {
                    map.insert(key, inner);
                }
            }
        }
    }
    Json::Object(out.into_iter().collect())
}

/// `constant_value` for what has a value without a scope, and `references`: each with all its shorter forms.
pub(super) fn expression_json(expression: &Expression) -> Json {
    let mut out = Map::new();
    let mut references = Vec::new();
    for traversal in expression.variables() {
        if let Ok(reference) = parse_reference(traversal, &expression.file) {
            let subject = reference.subject.to_string();
            for end in (1..=reference.remaining.len()).rev() {
                let steps: String = reference.remaining[..end].iter().map(ToString::to_string).collect();
                references.push(format!("{subject}{steps}"));
            }
            references.push(subject);
            references.extend(containing(&reference.subject));
        }
    }
    if !references.is_empty() {
        // The text of JSON strings is shown beside what it refers to.
        if matches!(expression.kind(), ExprKind::JsonString(_) | ExprKind::JsonObject { .. })
            || (expression.is_json() && matches!(expression.kind(), ExprKind::Tuple { .. }))
        {
            set(&mut out, "constant_value", known_json(&eval::evaluate(expression, &Nothing).0));
            set(&mut out, "references", references);
            return Json::Object(out);
        }
    }
    // An expression can have references and still not need them: `true ? "x" : local.y`.
    let (value, diagnostics) = eval::evaluate(expression, &Nothing);
    if !diagnostics.has_errors() && value.is_wholly_known() {
        set(&mut out, "constant_value", known_json(&value));
    }
    put(&mut out, "references", references);
    Json::Object(out)
}

/// What contains the subject and is referred to with it.
fn containing(subject: &Subject) -> Option<String> {
    match subject {
        Subject::ResourceInstance(instance) => Some(instance.resource.to_string()),
        Subject::ModuleInstance(name, key) if !key.is_none() => Some(format!("module.{name}")),
        Subject::ModuleOutput(name, key, _) => Some(Subject::ModuleInstance(name.clone(), key.clone()).to_string())
            .filter(|_| *key != InstanceKey::None)
            .or_else(|| Some(format!("module.{name}"))),
        _ => None,
    }
}

/// A scope in which nothing has a meaning.
struct Nothing;

impl Scope for Nothing {
    fn resolve(&self, _: &Traversal, _: &Arc<SourceFile>) -> Resolved {
        Resolved::error(no_variables())
    }

    fn templates(&self) -> bool {
        false
    }
}
