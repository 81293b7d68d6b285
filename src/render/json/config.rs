//! The configuration as JSON: the "configuration" of a plan's document.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::Diagnostics;
use base::name;
use lang::eval;
use lang::eval::scope::Constant;
use lang::syntax::ast::{ExprKind, Expression, Traversal};
use lang::syntax::body::{Body, BodySchema};
use model::addr::parse::parse_reference;
use model::addr::{self, InstanceKey, Subject};
use model::config::{Config, Deprecation, Module, ModuleCall, Resource};
use model::schema::as_blocks::written_as_blocks;
use model::schema::decode::{body_schema, decode_body, references_in_body};
use serde_json::{Map, Value as Json};
use terrane_protocol::schema::{Block, Nesting, ResourceMode, Schema};
use terrane_value::Value;

use super::actions;
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
            put(&mut entry, "deprecated", deprecation(output.deprecated.as_ref()));
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
        if variable.is_const && is_written() {
            set(&mut entry, "const", true);
        }
        put(&mut entry, "deprecated", deprecation(variable.deprecated.as_ref()));
        (name.to_string(), Json::Object(entry))
    });
    Json::Object(entries.collect())
}

/// The message of a deprecation, where it is written.
fn deprecation(found: Option<&Deprecation>) -> &str {
    found.filter(|_| is_written()).map_or("", |found| &found.message)
}

/// Whether deprecations and constants are written: the documents of Terraform do not have them.
fn is_written() -> bool {
    name::is_opentofu()
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
    if let Some(enabled) = resource.lifecycle.enabled.as_ref().filter(|_| !name::is_opentofu()) {
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
    if let Some(enabled) = call.enabled.as_ref().filter(|_| !name::is_opentofu()) {
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
    let (content, _, _) = body.partial_content(&body_schema(schema));
    let mut out: BTreeMap<String, Json> = BTreeMap::new();
    for (name, nested) in written_as_blocks(body, schema) {
        let (content, _, _) = body.partial_content(&BodySchema::new().block(&name, &[]));
        let bodies: Vec<&Body> = content.blocks.iter().map(|block| &block.body).collect();
        // Nothing is shown of `dynamic` blocks.
        if !bodies.is_empty() {
            out.insert(name.to_string(), attribute_blocks_json(&bodies, &nested.block));
        }
    }
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

/// An attribute that is written as blocks, as the expression that it stands for.
fn attribute_blocks_json(bodies: &[&Body], schema: &Block) -> Json {
    let found: Vec<(Traversal, Expression)> = bodies.iter().flat_map(|body| references_in_body(body, schema)).collect();
    let references: Vec<String> = found.iter().flat_map(|(t, expr)| references_of(t, expr)).collect();
    let mut out = Map::new();
    let decoded: Vec<(Value, Diagnostics)> = bodies.iter().map(|body| decode_body(body, schema, &Constant)).collect();
    if decoded.iter().all(|(value, found)| !found.has_errors() && value.is_wholly_known()) {
        set(&mut out, "constant_value", decoded.iter().map(|(value, _)| known_json(value)).collect::<Vec<_>>());
    }
    put(&mut out, "references", references);
    Json::Object(out)
}

/// A reference with all its shorter forms, longest first.
fn references_of(traversal: &Traversal, expression: &Expression) -> Vec<String> {
    let Ok(reference) = parse_reference(traversal, &expression.file) else { return Vec::new() };
    let subject = reference.subject.to_string();
    let mut references = Vec::new();
    for end in (1..=reference.remaining.len()).rev() {
        let steps: String = reference.remaining[..end].iter().map(ToString::to_string).collect();
        references.push(format!("{subject}{steps}"));
    }
    references.push(subject);
    references.extend(containing(&reference.subject));
    references
}

/// `constant_value` for what has a value without a scope, and `references`: each with all its shorter forms.
pub(super) fn expression_json(expression: &Expression) -> Json {
    let mut out = Map::new();
    let references: Vec<String> =
        expression.variables().into_iter().flat_map(|traversal| references_of(traversal, expression)).collect();
    if !references.is_empty() {
        // The text of JSON strings is shown beside what it refers to.
        if matches!(expression.kind(), ExprKind::JsonString(_) | ExprKind::JsonObject { .. })
            || (expression.is_json() && matches!(expression.kind(), ExprKind::Tuple { .. }))
        {
            set(&mut out, "constant_value", known_json(&eval::constant(expression).0));
            set(&mut out, "references", references);
            return Json::Object(out);
        }
    }
    // An expression can have references and still not need them: `true ? "x" : local.y`. Their errors do not count.
    let (value, _) = eval::constant(expression);
    if value.is_wholly_known() {
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

#[cfg(test)]
mod tests {
    use base::source::SourceFile;
    use lang::syntax::parse_file;
    use terrane_protocol::schema::Attribute;
    use terrane_value::Type;

    use super::*;

    /// Recorded from the reference, 1.11.4; with functions as in 1.17.
    #[test]
    fn expressions_that_need_no_names_have_a_constant_value() {
        let cases = [
            ("true ? \"y\" : var.v", r#"{"constant_value":"y","references":["var.v"]}"#),
            ("\"%{ if true }y%{ else }${var.v}%{ endif }\"", r#"{"constant_value":"y","references":["var.v"]}"#),
            ("{ a = true ? 1 : var.v }", r#"{"constant_value":{"a":1},"references":["var.v"]}"#),
            ("false && var.v == \"y\"", r#"{"references":["var.v"]}"#),
            ("false && length([]) > 1", r#"{"constant_value":false}"#),
            ("false ? upper(\"y\") : \"n\"", r#"{"constant_value":"n"}"#),
            ("[for s in [\"a\"] : s if s != var.v]", r#"{"references":["var.v"]}"#),
        ];
        for (text, expected) in cases {
            let (body, problems) = parse_file(SourceFile::new("t", format!("a = {text}")));
            assert!(problems.is_empty(), "{problems:?}");
            let attributes = body.just_attributes().0;
            assert_eq!(expression_json(&attributes["a"].expr).to_string(), expected, "{text}");
        }
    }

    /// Recorded from the reference, 1.11.4: such blocks are shown as the attribute that they stand for.
    #[test]
    fn blocks_in_place_of_attributes_are_expressions() {
        let objects = Type::list(Type::object([("a", Type::String), ("b", Type::String)]));
        let attribute = Attribute { optional: true, ..Attribute::new(objects) };
        let schema = Block { attributes: [("li".into(), attribute)].into(), ..Block::default() };
        let cases = [
            ("li {\n a = \"x\"\n}\nli {}", r#"{"li":{"constant_value":[{"a":"x","b":null},{"a":null,"b":null}]}}"#),
            ("li {\n a = one.two.three\n}", r#"{"li":{"references":["one.two.three","one.two"]}}"#),
            ("dynamic \"li\" {\n for_each = [1]\n content {}\n}", "{}"),
            ("li = []", r#"{"li":{"constant_value":[]}}"#),
        ];
        for (text, expected) in cases {
            let (body, problems) = parse_file(SourceFile::new("t", text));
            assert!(problems.is_empty(), "{problems:?}");
            assert_eq!(expressions_json(&body, &schema).to_string(), expected, "{text}");
        }
    }
}
