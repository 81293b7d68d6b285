//! Things that several views show, brought to the renderer.

use std::sync::Arc;

use model::addr::{AbsResourceInstance, Provider};
use model::config::Config;
use model::plan::Plan;
use model::plan::document::DescribedPlan;
use model::state::State;
use model::state::file::StateFile;
use ops::interface::planning::{Planned, Schemas};
use render::json::config::{add_variable_details, config_json as render_config_json};
use render::json::go;
use render::json::plan::{PlanDocument, plan_json as render_plan_json};
use render::json::state::state_json as render_state_json;
use render::json::summary::{plan_summary, state_summary as state_summary_json};
use render::json::test_documents::{self, TestDocumentError};
use render::objects::{ObjectError, object_value};
use render::plan_filter::PlanFilter;
use render::state_summary::StateSummary;
use render::summary::Summary;
use render::text::outputs::outputs_text;
use render::text::plan::{PlanText, plan_text};
use render::text::state::{instance_text, state_text};
use render::text::state_summary::state_summary_text;
use render::text::style::Style;
use render::text::summary::summary_text;
use terrane_protocol::schema::{ResourceMode, Schema};

use crate::args::plan_view::{PlanView, SummaryForm};

/// The schema of a resource type; None if the provider is not available.
pub fn schema(schemas: &Schemas, provider: &Provider, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
    let schemas = schemas.get(provider)?;
    let found = match mode {
        ResourceMode::Managed => schemas.managed(kind),
        ResourceMode::Data => schemas.data(kind),
        ResourceMode::Ephemeral => schemas.ephemeral(kind),
        ResourceMode::List => schemas.list_resource(kind),
    };
    found.ok().flatten()
}

/// The schema of an action's configuration; None if the provider is not available.
pub fn action_schema(schemas: &Schemas, provider: &Provider, kind: &str) -> Option<Arc<Schema>> {
    schemas.get(provider)?.action(kind).ok().flatten()
}

/// A plan in the form that the user chose.
pub fn plan(planned: &Planned, style: &Style, in_automation: bool, view: &PlanView) -> String {
    let schemas = |provider: &Provider, mode, kind: &str| schema(&planned.schemas, provider, mode, kind);
    let actions = |provider: &Provider, kind: &str| action_schema(&planned.schemas, provider, kind);
    let (plan, filter) = (&*planned.plan, &view.filter);
    let text = PlanText { plan, schemas: &schemas, actions: &actions, style, in_automation, filter };
    plan_in_form(&text, Some(&planned.config), view)
}

/// As [`plan`], for a plan that a service describes: it has no configuration.
pub fn described_plan(described: &DescribedPlan, style: &Style, in_automation: bool, view: &PlanView) -> String {
    let schemas = |provider: &Provider, mode, kind: &str| schema(&described.schemas, provider, mode, kind);
    let actions = |provider: &Provider, kind: &str| action_schema(&described.schemas, provider, kind);
    let (plan, filter) = (&described.plan, &view.filter);
    let text = PlanText { plan, schemas: &schemas, actions: &actions, style, in_automation, filter };
    plan_in_form(&text, None, view)
}

fn plan_in_form(text: &PlanText<'_>, config: Option<&Config>, view: &PlanView) -> String {
    let Some(form) = view.summary_form else { return plan_text(text) };
    let whole = Summary::of_plan(text.plan, config);
    match form {
        SummaryForm::Table if view.for_approval => {
            let all = PlanFilter::default();
            let PlanText { plan, schemas, actions, style, in_automation, .. } = *text;
            let unfiltered = PlanText { plan, schemas, actions, style, in_automation, filter: &all };
            let summary = summary_text(&unfiltered, &whole);
            let differences = if view.filter.is_empty() { String::new() } else { plan_text(text) };
            summary + &differences
        }
        SummaryForm::Table => summary_text(text, &whole.filtered(&view.filter)),
        SummaryForm::Json => {
            let shown = whole.clone().filtered(&view.filter);
            format!("{}\n", go::compact(&plan_summary(text.plan, &whole, &shown, text.style.dialect)))
        }
    }
}

/// The summary of a state; None: there is no state.
pub fn state_summary(state: Option<&State>, style: &Style, form: SummaryForm, view: &PlanView) -> String {
    let summary =
        state.map_or_else(StateSummary::default, |state| StateSummary::of_state(state, &view.filter.matching));
    match (form, state) {
        (SummaryForm::Table, None) => "No state.\n".to_owned(),
        (SummaryForm::Table, Some(_)) => state_summary_text(&summary, style),
        (SummaryForm::Json, _) => format!("{}\n", go::compact(&state_summary_json(&summary))),
    }
}

/// The root module's outputs, a line or more each.
pub fn outputs(state: &State, style: &Style) -> String {
    outputs_text(state.outputs.iter().map(|(name, output)| (&**name, output)), style.reveal)
}

/// A whole state.
pub fn state(state: &State, schemas: &Schemas, style: &Style) -> Result<String, ObjectError> {
    let lookup = |provider: &Provider, mode, kind: &str| schema(schemas, provider, mode, kind);
    state_text(state, &lookup, style)
}

/// One resource instance, which is all that the state holds.
pub fn instance(
    addr: &AbsResourceInstance,
    state: &State,
    schemas: &Schemas,
    style: &Style,
) -> Result<String, ObjectError> {
    let Some(resource) = state.resources.get(&addr.containing_resource()) else { return Ok(String::new()) };
    let provider = &resource.provider.provider;
    let schema = schema(schemas, provider, addr.mode(), addr.kind());
    let current = resource.instances.get(addr.key()).and_then(|instance| instance.current.as_ref());
    let mut objects = Vec::new();
    if let Some(object) = current {
        objects.push((None, object, object_value(addr, provider, object, schema.as_deref())?));
    }
    Ok(instance_text(addr, &objects, schema.as_deref(), style))
}

/// The document of a whole state.
pub fn state_json(file: &StateFile, schemas: &Schemas) -> Result<String, ObjectError> {
    let lookup = |provider: &Provider, mode, kind: &str| schema(schemas, provider, mode, kind);
    Ok(format!("{}\n", go::compact(&render_state_json(Some(&file.state), &lookup)?)))
}

/// The whole configuration, with what OpenTofu shows of variables.
pub fn config_json(config: &Config, schemas: &Schemas) -> String {
    let lookup = |provider: &Provider, mode, kind: &str| schema(schemas, provider, mode, kind);
    let provider_schemas = |provider: &Provider| schemas.get(provider)?.provider().ok();
    let mut json = render_config_json(config, &lookup, &provider_schemas);
    add_variable_details(&mut json, config);
    format!("{}\n", go::compact(&json))
}

/// The document of what a test run planned, for a log.
pub fn test_plan(plan: &Plan, config: &Config, schemas: &Schemas) -> Result<String, TestDocumentError> {
    let lookup = |provider: &Provider, mode, kind: &str| schema(schemas, provider, mode, kind);
    let provider_schemas = |provider: &Provider| schemas.get(provider)?.provider().ok();
    let document = PlanDocument {
        plan,
        config,
        schemas: &lookup,
        provider_schemas: &provider_schemas,
        actions: &|provider: &Provider, kind: &str| action_schema(schemas, provider, kind),
    };
    test_documents::plan(&document, schemas)
}

/// The document of the state that a test run left, for a log.
pub fn test_state(state: &State, schemas: &Schemas) -> Result<String, TestDocumentError> {
    let lookup = |provider: &Provider, mode, kind: &str| schema(schemas, provider, mode, kind);
    test_documents::state(state, &lookup, schemas)
}

/// The document of a plan.
pub fn plan_json(planned: &Planned) -> Result<String, ObjectError> {
    let schemas = |provider: &Provider, mode, kind: &str| schema(&planned.schemas, provider, mode, kind);
    let provider_schemas = |provider: &Provider| planned.schemas.get(provider)?.provider().ok();
    let document = PlanDocument {
        plan: &planned.plan,
        config: &planned.config,
        schemas: &schemas,
        provider_schemas: &provider_schemas,
        actions: &|provider: &Provider, kind: &str| action_schema(&planned.schemas, provider, kind),
    };
    Ok(format!("{}\n", go::compact(&render_plan_json(&document)?)))
}
