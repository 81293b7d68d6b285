//! The JSON document of a plan: format 1.2.

use std::sync::Arc;

use base::dialect::Dialect;
use model::addr::{AbsResourceInstance, InstanceKey};
use model::config::Config;
use model::plan::{Action, OutputChange, Plan, ResourceChange};
use model::version::{at_least, compatible_version};
use serde_json::{Map, Value as Json};
use terrane_protocol::schema::{ResourceMode, Schema};
use terrane_value::{Path, Type, Value};

use super::actions::{deferred_json, invocations_json};
use super::checks::checks_json;
use super::config::{add_variable_details, config_json};
use super::resources::{RenderedObject, key_json, module_tree, put_identity};
use super::shape::{known_json, path_json, put, sensitive_json, set, type_json, unknown_json};
use super::state::state_json;
use crate::objects::ObjectError;
use crate::opentofu;
use crate::schemas::{ActionLookup, ProviderSchemaLookup, SchemaLookup, with_schema_marks};

/// What the document is made from.
pub struct PlanDocument<'a> {
    pub plan: &'a Plan,
    pub config: &'a Config,
    pub schemas: &'a SchemaLookup<'a>,
    pub provider_schemas: &'a ProviderSchemaLookup<'a>,
    pub actions: &'a ActionLookup<'a>,
}

/// Fails if an object of the prior state cannot be shown.
pub fn plan_json(document: &PlanDocument<'_>) -> Result<Json, ObjectError> {
    let (plan, dialect) = (document.plan, document.config.dialect());
    let mut out = Map::new();
    set(&mut out, "format_version", "1.2");
    set(&mut out, "terraform_version", compatible_version());
    put(&mut out, "variables", variables_json(document));
    set(&mut out, "planned_values", planned_values(document));
    put(&mut out, "resource_drift", changes_json(&plan.drift, document));
    put(&mut out, "resource_changes", changes_json(&plan.changes, document));
    let deferred = plan.deferred.iter().map(|deferred| {
        let change = change_json(&deferred.change, document);
        serde_json::json!({ "reason": deferred.reason.json_name(), "resource_change": change })
    });
    put(&mut out, "deferred_changes", deferred.collect::<Vec<Json>>());
    put(&mut out, "deferred_action_invocations", deferred_json(&plan.deferred_invocations, document.actions));
    let invocations = invocations_json(&plan.invocations, document.actions);
    put(&mut out, "output_changes", output_changes_json(&plan.outputs, dialect));
    put(&mut out, "action_invocations", invocations);
    if !plan.prior_state.is_empty() {
        set(&mut out, "prior_state", state_json(Some(&plan.prior_state), document.schemas)?);
    }
    let mut configuration = config_json(document.config, document.schemas, document.provider_schemas);
    if plan.is_of_opentofu || opentofu::documents_declarations(dialect) {
        add_variable_details(&mut configuration, document.config);
    }
    set(&mut out, "configuration", configuration);
    put(&mut out, "relevant_attributes", relevant_attributes_json(plan));
    put(&mut out, "checks", checks_json(&plan.checks));
    set(&mut out, "timestamp", plan.timestamp.as_str());
    if opentofu::documents_applicability(dialect) {
        set(&mut out, "applyable", plan.applyable);
        set(&mut out, "complete", plan.complete);
    }
    set(&mut out, "errored", plan.errored);
    Ok(Json::Object(out))
}

/// What the document of a plan has as `resource_changes` and as `output_changes`.
pub fn changes_of(document: &PlanDocument<'_>) -> (Vec<Json>, Map<String, Json>) {
    let outputs = output_changes_json(&document.plan.outputs, document.config.dialect());
    (changes_json(&document.plan.changes, document), outputs)
}

/// Changes of resources.
pub(super) fn changes_json(list: &[ResourceChange], document: &PlanDocument<'_>) -> Vec<Json> {
    // That a data source goes from the state is nothing that people planned.
    let is_shown = |c: &&ResourceChange| c.addr.mode() != ResourceMode::Data || c.action != Action::Delete;
    list.iter().filter(is_shown).map(|c| change_json(c, document)).collect()
}

/// Changes of root outputs, by name.
pub(super) fn output_changes_json(outputs: &[OutputChange], dialect: Dialect) -> Map<String, Json> {
    outputs.iter().map(|output| (output.name.to_string(), output_change_json(output, dialect))).collect()
}

/// Attributes of resources that contributed to the plan.
pub(super) fn relevant_attributes_json(plan: &Plan) -> Vec<Json> {
    let one = |(addr, path): &(AbsResourceInstance, Path)| {
        let mut out = Map::new();
        set(&mut out, "resource", addr.to_string());
        set(&mut out, "attribute", path_json(path));
        Json::Object(out)
    };
    plan.relevant_attributes.iter().map(one).collect()
}

/// Values of root variables, defaults included.
fn variables_json(document: &PlanDocument<'_>) -> Json {
    let mut out = std::collections::BTreeMap::new();
    for (name, value) in &document.plan.variables {
        out.insert(name.clone(), known_json(value));
    }
    for (name, variable) in &document.config.root.variables {
        if let Some(default) = &variable.default {
            out.entry(name.clone()).or_insert_with(|| known_json(default));
        }
    }
    Json::Object(
        out.into_iter().map(|(name, value)| (name.to_string(), serde_json::json!({ "value": value }))).collect(),
    )
}

fn planned_values(document: &PlanDocument<'_>) -> Json {
    let mut out = Map::new();
    let outputs: Map<String, Json> = document
        .plan
        .outputs
        .iter()
        .filter(|output| output.action != Action::Delete)
        .map(|output| (output.name.to_string(), planned_output(output)))
        .collect();
    put(&mut out, "outputs", outputs);
    let mut shown = Vec::new();
    for change in &document.plan.changes {
        let after = &change.change.after;
        // What is forgotten was listed before Terraform 1.15, without values.
        if after.is_null() && (change.action != Action::Forget || at_least(15)) {
            continue;
        }
        if change.deposed.is_some() || change.action == Action::Delete {
            continue;
        }
        let schema = schema_of(change, document.schemas);
        shown.push(RenderedObject {
            addr: &change.addr,
            deposed: None,
            provider: change.provider.provider.to_string(),
            schema_version: schema.as_ref().map_or(0, |schema| schema.version_in(change.addr.mode())),
            value: marked(after, schema.as_deref()),
            object: None,
            identity: change.identity.after.as_ref(),
        });
    }
    // By the text of the address, unlike resources of a state.
    shown.sort_by_cached_key(|shown| shown.addr.to_string());
    set(&mut out, "root_module", module_tree(&shown));
    Json::Object(out)
}

fn schema_of(change: &ResourceChange, schemas: &SchemaLookup<'_>) -> Option<Arc<Schema>> {
    schemas(&change.provider.provider, change.addr.mode(), change.addr.kind())
}

fn marked(value: &Value, schema: Option<&Schema>) -> Value {
    schema.map_or_else(|| value.clone(), |schema| with_schema_marks(value, &schema.block))
}

fn planned_output(output: &OutputChange) -> Json {
    let after = &output.change.after;
    let mut out = Map::new();
    set(&mut out, "sensitive", output.sensitive);
    if after.is_wholly_known() {
        // An output that was null and stays so has no type.
        let has_type = output.action != Action::NoOp || !after.is_null();
        set(&mut out, "type", type_json(if has_type { after.ty() } else { &Type::Dynamic }));
        set(&mut out, "value", known_json(after));
    }
    Json::Object(out)
}

fn change_json(change: &ResourceChange, document: &PlanDocument<'_>) -> Json {
    let schema = schema_of(change, document.schemas);
    let (before, after) =
        (marked(&change.change.before, schema.as_deref()), marked(&change.change.after, schema.as_deref()));
    let mut out = Map::new();
    set(&mut out, "address", change.addr.to_string());
    if change.previous_addr != change.addr {
        set(&mut out, "previous_address", change.previous_addr.to_string());
    }
    put(&mut out, "module_address", change.addr.module.to_string());
    let resource = &change.addr.resource.resource;
    set(&mut out, "mode", resource.mode.state_name());
    set(&mut out, "type", &*resource.kind);
    set(&mut out, "name", &*resource.name);
    match change.addr.key() {
        InstanceKey::None => {}
        InstanceKey::Wildcard => set(&mut out, "index_unknown", true),
        key => set(&mut out, "index", key_json(key)),
    }
    set(&mut out, "provider_name", change.provider.provider.to_string());
    if let Some(key) = &change.deposed {
        set(&mut out, "deposed", key.to_string());
    }
    let mut inner = values_json(change.action.json_names(document.config.dialect()), &before, &after);
    let paths: Vec<Json> = change.required_replace.iter().map(path_json).collect();
    put(&mut inner, "replace_paths", paths);
    if let Some(importing) = &change.importing {
        let mut import = Map::new();
        match (&importing.id, &importing.identity) {
            (Some(id), _) => set(&mut import, "id", id.as_str()),
            (_, Some(identity)) => {
                set(&mut import, "identity", serde_json::from_str::<Json>(identity).unwrap_or_default());
            }
            (None, None) => set(&mut import, "unknown", true),
        }
        set(&mut inner, "importing", import);
    }
    put(&mut inner, "generated_config", change.generated_config.clone().unwrap_or_default());
    put_identity(&mut inner, "before_identity", change.identity.before.as_ref());
    put_identity(&mut inner, "after_identity", change.identity.after.as_ref());
    set(&mut out, "change", inner);
    put(&mut out, "action_reason", change.reason.json_name().unwrap_or_default());
    Json::Object(out)
}

/// The fields from actions to sensitivity.
fn values_json(actions: &[&str], before: &Value, after: &Value) -> Map<String, Json> {
    let mut out = Map::new();
    set(&mut out, "actions", actions.to_vec());
    set(&mut out, "before", known_json(before));
    if after.is_known() {
        set(&mut out, "after", known_json(after));
    }
    let unknown = if after.is_wholly_known() { Json::Object(Map::new()) } else { unknown_json(after) };
    set(&mut out, "after_unknown", unknown);
    set(&mut out, "before_sensitive", sensitive_json(before));
    set(&mut out, "after_sensitive", sensitive_json(after));
    out
}

fn output_change_json(output: &OutputChange, dialect: Dialect) -> Json {
    let (before, after) = (&output.change.before, &output.change.after);
    let mut out = Map::new();
    set(&mut out, "actions", output.action.json_names(dialect).to_vec());
    set(&mut out, "before", known_json(before));
    if after.is_known() {
        set(&mut out, "after", known_json(after));
    }
    let unknown = if after.is_wholly_known() { Json::Bool(false) } else { unknown_json(after) };
    set(&mut out, "after_unknown", unknown);
    set(&mut out, "before_sensitive", output.sensitive);
    set(&mut out, "after_sensitive", output.sensitive);
    Json::Object(out)
}
