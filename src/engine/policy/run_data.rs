//! The objects and the data sources that policies of a run can look up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base::stop::Stop;
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
use crate::run::policy_notes::PolicyNotes;
use crate::run::policy_objects::{CurrentObjects, ObjectList};

/// What a run knows: of a plan, the objects as they will be; of an apply, as they are or will be; of a query, as they are stored.
pub struct RunData<'r> {
    run: &'r Run,
    /// None in an apply and in a query.
    plan: Option<&'r Plan>,
    /// In a plan and in a query, where they stay as they are: the objects of the types that were looked up.
    lists: Mutex<BTreeMap<String, Option<Arc<ObjectList>>>>,
}

impl<'r> RunData<'r> {
    pub fn new(run: &'r Run, plan: Option<&'r Plan>) -> RunData<'r> {
        RunData { run, plan, lists: Mutex::default() }
    }
}

impl PolicyData for RunData<'_> {
    fn resources(&self, kind: &str) -> Option<Arc<ObjectList>> {
        if self.run.is_apply() {
            return objects_in_apply(self.run, kind);
        }
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        match lists.get(kind) {
            Some(known) => known.clone(),
            None => {
                let found = self.settled_objects(kind);
                lists.insert(kind.to_owned(), found.clone());
                found
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
    /// The objects of a plan or of a query.
    fn settled_objects(&self, kind: &str) -> Option<Arc<ObjectList>> {
        let run = self.run;
        let list = |changes: &[ResourceChange], state: &State| {
            objects_of(changes, state, kind).list(&FxHashSet::default(), |addr| stored(run, state, addr))
        };
        match self.plan {
            Some(plan) if plan.deferred.iter().any(|deferred| is_managed(&deferred.change.addr, kind)) => None,
            Some(plan) => Some(list(&plan.changes, &plan.prior_state)),
            None => Some(list(&[], &run.results.states().current)),
        }
    }

    /// Unknown if the run is interrupted before the provider answers.
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
        let answer = match Handle::try_current() {
            Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
                let asked = unless_stopped(&self.run.ports.stop, read(provider, kind.into(), config));
                tokio::task::block_in_place(|| handle.block_on(asked))?
            }
            // One thread cannot both wait for the provider and drive it.
            _ => return Err(FunctionError::new("data sources cannot be read here")),
        };
        Ok(answer.map_or_else(Value::dynamic, |value| mark(&value, &[], &schema.block)))
    }
}

/// The answer; none if the run is interrupted before. The run waits for it on one of its threads, and nothing else ends that wait.
async fn unless_stopped<T, E>(stop: &Stop, answer: impl Future<Output = Result<T, E>>) -> Result<Option<T>, E> {
    tokio::select! {
        biased;
        () = stop.stopping() => Ok(None),
        answer = answer => answer.map(Some),
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

/// The objects of an apply, which change in it.
fn objects_in_apply(run: &Run, kind: &str) -> Option<Arc<ObjectList>> {
    if run.inputs.deferred.has_kind(kind) {
        return None;
    }
    let mut notes = run.results.policy_notes();
    let PolicyNotes { objects, applied, .. } = &mut *notes;
    let states = run.results.states();
    let changes = run.schedule.tasks.iter().map(|task| &*task.change);
    let current = objects.entry(kind.to_owned()).or_insert_with(|| objects_of(changes, &states.current, kind));
    Some(current.list(applied, |addr| stored(run, &states.current, addr)))
}

/// The objects of planned changes and of a state.
fn objects_of<'c>(changes: impl IntoIterator<Item = &'c ResourceChange>, state: &State, kind: &str) -> CurrentObjects {
    let changes = changes.into_iter().filter(|change| change.deposed.is_none() && is_managed(&change.addr, kind));
    let planned = changes.map(|change| (change.addr.clone(), change.change.after.clone()));
    let of_kind = state
        .resources
        .iter()
        .filter(|(addr, _)| addr.resource.mode == ResourceMode::Managed && &*addr.resource.kind == kind);
    let stored =
        of_kind.flat_map(|(addr, resource)| resource.instances.keys().map(move |key| addr.instance(key.clone())));
    CurrentObjects::new(planned, stored)
}

/// The current object that a state has of an instance.
fn stored(run: &Run, state: &State, addr: &AbsResourceInstance) -> Option<Value> {
    let resource = state.resources.get(&addr.containing_resource())?;
    let schema = run.blocks.schemas.resource(&resource.provider.provider, &addr.resource.resource)?;
    let object = resource.instances.get(addr.key())?.current.as_ref()?;
    Some(decode(object, &schema).ok()?.value)
}
