//! The objects and the data sources that policies of a run can look up.

use std::collections::BTreeMap;
use std::sync::Arc;

use lang::functions::FunctionError;
use model::addr::AbsResourceInstance;
use model::plan::{Plan, ResourceChange};
use model::state::State;
use rustc_hash::FxHashSet;
use terrane_protocol::provider::{
    ClientCapabilities, Provider, ProviderDiagnostics, ReadDataRequest, Severity, no_provider_meta,
};
use terrane_protocol::schema::{Block, ResourceMode};
use terrane_value::convert::{ConvertError, convert};
use terrane_value::{Value, json};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::PolicyData;
use crate::ids::ProviderId;
use crate::run::Run;
use crate::run::object::{decode, mark, normalise};

/// What a run knows: of a plan, the objects as they will be; of an apply, as they are or will be; of a query, as they are stored.
pub struct RunData<'r> {
    pub run: &'r Run,
    /// None in an apply and in a query.
    pub plan: Option<&'r Plan>,
}

impl PolicyData for RunData<'_> {
    fn resources(&self, kind: &str) -> Option<Vec<Value>> {
        match self.plan {
            Some(plan) => {
                let is_of_kind = |addr: &AbsResourceInstance| is_managed(addr, kind);
                if plan.deferred.iter().any(|deferred| is_of_kind(&deferred.change.addr)) {
                    return None;
                }
                let mut found = ObjectsOfType::default();
                plan.changes.iter().for_each(|change| found.add_planned(change, kind));
                found.add_stored(self.run, &plan.prior_state, kind);
                Some(found.objects.into_values().collect())
            }
            None => {
                if self.run.inputs.deferred.has_kind(kind) {
                    return None;
                }
                let mut found = ObjectsOfType::default();
                {
                    let notes = self.run.results.policy_notes();
                    let open = self.run.schedule.tasks.iter().filter(|task| !notes.applied.contains(&task.change.addr));
                    open.for_each(|task| found.add_planned(&task.change, kind));
                }
                found.add_stored(self.run, &self.run.results.states().current, kind);
                Some(found.objects.into_values().collect())
            }
        }
    }

    fn data_source(&self, kind: &str, config: &Value) -> Result<Value, FunctionError> {
        let written = json::to_simple_json(config).map_err(|error| FunctionError::new(error.to_string()))?;
        let key = (kind.to_owned(), written);
        if let Some(known) = self.run.results.policy_notes().data.get(&key) {
            return known.clone();
        }
        let answer = self.read_data_source(kind, config);
        self.run.results.policy_notes().data.insert(key, answer.clone());
        answer
    }
}

impl RunData<'_> {
    fn read_data_source(&self, kind: &str, config: &Value) -> Result<Value, FunctionError> {
        let blocks = &self.run.blocks;
        let configs = &blocks.providers.configs;
        let candidate = |id: ProviderId| {
            let schema = blocks.schemas.kind(&configs.get(id).addr.provider, ResourceMode::Data, kind)?;
            Some((schema, self.run.results.provider(id)?))
        };
        let found = (0..configs.len()).map(ProviderId::new).find_map(candidate);
        let Some((schema, provider)) = found else {
            let detail = format!("no provider that the configuration uses has a data source {kind:?}");
            return Err(FunctionError::new(detail));
        };
        let config = as_configuration(&schema.block, config)?;
        let asked = match Handle::try_current() {
            Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
                tokio::task::block_in_place(|| handle.block_on(read(provider, kind.into(), config)))
            }
            // One thread cannot both wait for the provider and drive it.
            _ => Err(FunctionError::new("data sources cannot be read here")),
        };
        asked.map(|value| mark(&value, &[], &schema.block))
    }
}

async fn read(provider: Arc<dyn Provider>, kind: Arc<str>, config: Value) -> Result<Value, FunctionError> {
    first_error(&provider.validate_data_config(&kind, config.clone()).await)?;
    let client = ClientCapabilities { write_only_attributes_allowed: true, ..ClientCapabilities::default() };
    let (address, provider_meta) = (String::new(), no_provider_meta());
    let request = ReadDataRequest { kind, address, config, provider_meta, client };
    let response = provider.read_data_source(request).await;
    first_error(&response.diagnostics)?;
    Ok(response.state)
}

fn first_error(found: &ProviderDiagnostics) -> Result<(), FunctionError> {
    match found.iter().find(|one| one.severity == Severity::Error) {
        None => Ok(()),
        Some(error) if error.detail.is_empty() => Err(FunctionError::new(error.summary.clone())),
        Some(error) => Err(FunctionError::new(format!("{}: {}", error.summary, error.detail.trim_end_matches('.')))),
    }
}

/// An object of a policy as a configuration of the schema: what it does not have is null.
fn as_configuration(schema: &Block, given: &Value) -> Result<Value, FunctionError> {
    let implied = schema.implied_type();
    let Some(wanted) = implied.object_type() else {
        return Err(FunctionError::new("the data source takes no arguments"));
    };
    if let Some(name) = given.entries().keys().find(|name| !wanted.attributes.contains_key(*name)) {
        return Err(FunctionError::new(format!("the data source has no argument {:?}", &**name)));
    }
    let mut attributes = BTreeMap::new();
    for (name, ty) in &wanted.attributes {
        let value = match given.get(name) {
            Some(value) => {
                let invalid = |error: ConvertError| {
                    FunctionError::new(format!("the argument {:?} is not valid: {error}", &**name))
                };
                convert(value, ty).map_err(invalid)?
            }
            None => Value::null(ty.clone()),
        };
        attributes.insert(name.clone(), value);
    }
    Ok(normalise(schema, &Value::object(attributes)))
}

fn is_managed(addr: &AbsResourceInstance, kind: &str) -> bool {
    addr.mode() == ResourceMode::Managed && addr.kind() == kind
}

/// Objects of a type, in the order of their addresses.
#[derive(Default)]
struct ObjectsOfType {
    objects: BTreeMap<AbsResourceInstance, Value>,
    /// Also those that will be gone.
    seen: FxHashSet<AbsResourceInstance>,
}

impl ObjectsOfType {
    fn add_planned(&mut self, change: &ResourceChange, kind: &str) {
        if change.deposed.is_some() || !is_managed(&change.addr, kind) {
            return;
        }
        self.seen.insert(change.addr.clone());
        if !change.change.after.is_null() {
            self.objects.insert(change.addr.clone(), change.change.after.clone());
        }
    }

    /// Adds the objects of a state that no change is planned for.
    fn add_stored(&mut self, run: &Run, state: &State, kind: &str) {
        let of_kind = state
            .resources
            .iter()
            .filter(|(addr, _)| addr.resource.mode == ResourceMode::Managed && &*addr.resource.kind == kind);
        for (addr, resource) in of_kind {
            let Some(schema) = run.blocks.schemas.resource(&resource.provider.provider, &addr.resource) else {
                continue;
            };
            for (key, instance) in &resource.instances {
                let instance_addr = addr.instance(key.clone());
                let object = instance.current.as_ref().filter(|_| !self.seen.contains(&instance_addr));
                if let Some(stored) = object.and_then(|object| decode(object, &schema).ok()) {
                    self.objects.insert(instance_addr, stored.value);
                }
            }
        }
    }
}
