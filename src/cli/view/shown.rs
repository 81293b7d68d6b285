//! Things that several views show, brought to the renderer.

use serde_json::Value as Json;

use crate::lang::value::{Value, json as value_json};
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::model::addr::{AbsResourceInstance, Provider, ResourceMode};
use crate::model::schema::Schema;
use crate::model::state::file::StateFile;
use crate::model::state::{State, StateMeta};
use crate::ops::planning::{Planned, Schemas};
use crate::render::text::plan::{PlanText, plan_text};
use crate::render::text::style::Style;
use crate::render::text::value::value_text;
use std::sync::Arc;

/// The schema of a resource type; none if the provider cannot be had.
pub fn schema(schemas: &Schemas, provider: &Provider, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
    let schemas = schemas.get(provider)?;
    let found = match mode {
        ResourceMode::Managed => schemas.managed(kind),
        ResourceMode::Data => schemas.data(kind),
        ResourceMode::Ephemeral => schemas.ephemeral(kind),
    };
    found.ok().flatten()
}

/// The text of a plan.
pub fn plan(planned: &Planned, style: &Style, in_automation: bool) -> String {
    let schemas = |provider: &Provider, mode, kind: &str| schema(&planned.schemas, provider, mode, kind);
    plan_text(&PlanText { plan: &planned.plan, schemas: &schemas, style, in_automation })
}

/// The root module's outputs, a line or more each.
pub fn outputs(state: &State) -> String {
    let lines = state.outputs.iter().map(|(name, output)| match output.sensitive {
        true => format!("{name} = <sensitive>\n"),
        false => format!("{name} = {}\n", value_text(&output.value, 0)),
    });
    lines.collect()
}

/// The root module's outputs: name, sensitivity, type and value.
pub fn json_outputs(state: &State) -> Vec<(String, bool, Json, Json)> {
    let outputs = state.outputs.iter();
    outputs
        .map(|(name, output)| {
            (name.to_string(), output.sensitive, output.value.ty().to_json(), json_of(&output.value))
        })
        .collect()
}

/// A known value as a JSON document.
pub fn json_of(value: &Value) -> Json {
    let text = value_json::to_simple_json(value).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Json::Null)
}

/// What this version cannot show yet.
fn not_yet(what: &str) -> Diagnostics {
    Diagnostic::error(format!("{what} cannot be shown yet"), "This version of Terrane has no form for it yet.").into()
}

/// A whole state.
pub fn state(state: &State, _schemas: &Schemas, _style: &Style) -> String {
    outputs(state)
}

/// One resource instance.
pub fn instance(addr: &AbsResourceInstance, _state: &State, _schemas: &Schemas, _style: &Style) -> String {
    format!("# {addr}:\n")
}

pub fn state_json(_file: &StateFile, _schemas: &Schemas) -> Result<String, Diagnostics> {
    Err(not_yet("A state as JSON"))
}

pub fn plan_json(_planned: &Planned, _meta: &StateMeta) -> Result<String, Diagnostics> {
    Err(not_yet("A plan as JSON"))
}

pub fn schemas_json(_schemas: &Schemas) -> Result<String, Diagnostics> {
    Err(not_yet("Schemas as JSON"))
}
