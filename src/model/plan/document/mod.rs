//! Plans from the JSON document with which HCP Terraform describes them: for showing them, not for applying them.
//!
//! Owns the format of the document: that of `show -json`, without secrets, and with the schemas of the providers. Never knows the service.

mod error;
mod invocations;
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use error::PlanDocumentError;
use serde_json::Value as Json;
use terrane_protocol::schema::{ProviderSchemas, ResourceMode, Schema, StaticSchemas};
use terrane_value::Type;

use super::{Action, ActionReason, Importing, OutputChange, Plan, ResourceChange};
use crate::addr::parse::parse_abs_instance;
use crate::addr::{AbsProviderConfig, AbsResourceInstance, Provider};
use crate::opentofu::EITHER;
use crate::schema::document;
use crate::state::DeposedKey;

/// The newest versions of the formats of plans and of schemas that are known here.
const KNOWN_FORMATS: (f64, f64) = (1.2, 1.0);

/// A plan with the schemas of what it changes.
pub struct DescribedPlan {
    pub plan: Plan,
    pub schemas: BTreeMap<Provider, Arc<dyn ProviderSchemas>>,
    /// The document has a newer format, so something may be missing.
    pub is_newer: bool,
}

/// Reads a document.
pub fn read(text: &[u8]) -> Result<DescribedPlan, PlanDocumentError> {
    let document: Json = serde_json::from_slice(text).map_err(|e| PlanDocumentError::Json(e.to_string()))?;
    let mut schemas = BTreeMap::new();
    for (name, found) in document["provider_schemas"].as_object().into_iter().flatten() {
        schemas.insert(provider(name)?, document::read_provider(found).map_err(PlanDocumentError::Schemas)?);
    }
    let changes = |name: &str| -> Result<Vec<ResourceChange>, PlanDocumentError> {
        elements(&document[name]).iter().map(|found| resource_change(found, &schemas)).collect()
    };
    let invocations = elements(&document["action_invocations"]);
    let invocations = invocations.iter().filter_map(|found| invocations::invocation(found, &schemas).transpose());
    let outputs = document["output_changes"].as_object().into_iter().flatten();
    let plan = Plan {
        changes: changes("resource_changes")?,
        invocations: invocations.map(|found| found.map(Arc::new)).collect::<Result<_, _>>()?,
        drift: changes("resource_drift")?,
        outputs: outputs.map(|(name, found)| output_change(name, found)).collect::<Result<_, _>>()?,
        relevant_attributes: relevant_attributes(&document, &schemas)?,
        errored: document["errored"].as_bool().unwrap_or_default(),
        ..Plan::default()
    };
    let is_newer = |name: &str, known: f64| {
        document[name].as_str().and_then(|version| version.parse::<f64>().ok()).is_some_and(|version| version > known)
    };
    let is_newer =
        is_newer("plan_format_version", KNOWN_FORMATS.0) || is_newer("provider_format_version", KNOWN_FORMATS.1);
    let schemas = schemas.into_iter().map(|(name, found)| (name, Arc::new(found) as Arc<dyn ProviderSchemas>));
    Ok(DescribedPlan { plan, schemas: schemas.collect(), is_newer })
}

type Schemas = BTreeMap<Provider, StaticSchemas>;

fn elements(document: &Json) -> &[Json] {
    document.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn provider(name: &str) -> Result<Provider, PlanDocumentError> {
    Provider::parse_source(name).map_err(|_| PlanDocumentError::Provider(name.to_owned()))
}

fn address(text: &Json) -> Result<AbsResourceInstance, PlanDocumentError> {
    let text = text.as_str().unwrap_or_default();
    parse_abs_instance(text).map_err(|_| PlanDocumentError::Address(text.to_owned()))
}

fn schema<'s>(schemas: &'s Schemas, provider: &Provider, address: &AbsResourceInstance) -> Option<&'s Schema> {
    let schemas = schemas.get(provider)?;
    let types = match address.mode() {
        ResourceMode::Managed => &schemas.managed,
        ResourceMode::Data => &schemas.data,
        ResourceMode::Ephemeral => &schemas.ephemeral,
        ResourceMode::List => &schemas.list_resources,
    };
    types.get(address.kind()).map(|schema| &**schema)
}

fn resource_change(document: &Json, schemas: &Schemas) -> Result<ResourceChange, PlanDocumentError> {
    let addr = address(&document["address"])?;
    let previous_addr = match &document["previous_address"] {
        Json::Null => addr.clone(),
        previous => address(previous)?,
    };
    let provider = provider(document["provider_name"].as_str().unwrap_or_default())?;
    let change = &document["change"];
    let schema = schema(schemas, &provider, &addr);
    let ty = schema.map_or(&Type::Dynamic, Schema::implied_type);
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let importing = change["importing"].as_object().map(|importing| Importing {
        id: importing.get("id").and_then(text),
        identity: importing.get("identity").map(Json::to_string),
    });
    Ok(ResourceChange {
        action: action(&change["actions"])?,
        reason: reason(document["action_reason"].as_str().unwrap_or_default()),
        change: values::change(change, ty).map_err(|error| PlanDocumentError::value(&addr, error))?,
        required_replace: elements(&change["replace_paths"]).iter().map(|path| values::path(path, ty)).collect(),
        deposed: document["deposed"].as_str().map(|key| DeposedKey(key.into())),
        provider: AbsProviderConfig::root(provider),
        private: Arc::default(),
        importing,
        identity: Default::default(),
        generated_config: text(&change["generated_config"]),
        previous_addr,
        addr,
    })
}

fn output_change(name: &str, document: &Json) -> Result<OutputChange, PlanDocumentError> {
    let is_sensitive = |name: &str| document[name] == true;
    Ok(OutputChange {
        name: name.into(),
        action: action(&document["actions"])?,
        change: values::change(document, &Type::Dynamic)
            .map_err(|error| PlanDocumentError::value(&format!("output {name}"), error))?,
        sensitive: is_sensitive("before_sensitive") || is_sensitive("after_sensitive"),
    })
}

fn relevant_attributes(
    document: &Json,
    schemas: &Schemas,
) -> Result<Vec<(AbsResourceInstance, terrane_value::Path)>, PlanDocumentError> {
    let providers: BTreeMap<&str, &str> = ["resource_changes", "resource_drift"]
        .iter()
        .flat_map(|name| elements(&document[*name]))
        .filter_map(|change| Some((change["address"].as_str()?, change["provider_name"].as_str()?)))
        .collect();
    let read = |found: &Json| {
        let addr = address(&found["resource"])?;
        let provider = providers.get(found["resource"].as_str().unwrap_or_default());
        let provider = provider.map(|name| self::provider(name)).transpose()?;
        let schema = provider.and_then(|provider| schema(schemas, &provider, &addr));
        let ty = schema.map_or(&Type::Dynamic, Schema::implied_type);
        Ok((addr, values::path(&found["attribute"], ty)))
    };
    elements(&document["relevant_attributes"]).iter().map(read).collect()
}

fn action(names: &Json) -> Result<Action, PlanDocumentError> {
    const ALL: [Action; 9] = [
        Action::NoOp,
        Action::Create,
        Action::Read,
        Action::Update,
        Action::Delete,
        Action::DeleteThenCreate,
        Action::CreateThenDelete,
        Action::Forget,
        Action::CreateThenForget,
    ];
    let written = |action: &Action| EITHER.map(|order| action.json_names(order));
    let is = |action: &Action| written(action).iter().any(|written| elements(names).iter().eq(*written));
    ALL.into_iter().find(is).ok_or_else(|| PlanDocumentError::Actions(names.to_string()))
}

/// Reasons that are not known here are left out.
fn reason(name: &str) -> ActionReason {
    const ALL: [ActionReason; 16] = [
        ActionReason::ReplaceBecauseCannotUpdate,
        ActionReason::ReplaceBecauseTainted,
        ActionReason::ReplaceByRequest,
        ActionReason::ReplaceByTriggers,
        ActionReason::DeleteBecauseNoResourceConfig,
        ActionReason::DeleteBecauseWrongRepetition,
        ActionReason::DeleteBecauseCountIndex,
        ActionReason::DeleteBecauseEachKey,
        ActionReason::DeleteBecauseNoModule,
        ActionReason::DeleteBecauseNoMoveTarget,
        ActionReason::DeleteBecauseNotEnabled,
        ActionReason::ForgetBecauseOfConfig,
        ActionReason::ForgetBecauseOfState,
        ActionReason::ReadBecauseConfigUnknown,
        ActionReason::ReadBecauseDependencyPending,
        ActionReason::ReadBecauseCheckNested,
    ];
    ALL.into_iter().find(|reason| reason.json_name() == Some(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
