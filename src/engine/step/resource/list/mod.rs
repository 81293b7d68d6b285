//! Lists: the provider is asked for the objects that exist.
//!
//! Owns the blocks of query files, from their arguments to their results. Never changes a state, and never imports.

pub mod arguments;
mod generate;
mod policies;

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use arguments::{Arguments, settings, settings_block};
use async_trait::async_trait;
use base::diag::Diagnostics;
use base::stop::Stop;
use generate::generate_all;
use model::plan::{ListResults, ListedObject};
use model::provider_diagnostics::about_body;
use model::schema::list_block::{CONFIG, DATA};
use terrane_protocol::provider::{
    IdentitySchema, ListRequest, ListResult, ListSink, ProviderDiagnostics, ValidateListRequest, no_identity_schema,
};
use terrane_protocol::schema::{ResourceMode, Schema};
use terrane_value::{Marks, Path, PathStep, Value};

use crate::engine_errors::halted;
use crate::event::Event;
use crate::run::object::mark;
use crate::step::resource::Instance;
use crate::step::resource::read::identity;

/// The most results of a block that does not say how many.
const DEFAULT_LIMIT: u64 = 100;

/// Asks the provider for the objects of an instance. Returns what references see; none with errors. `position`: of the
/// instance among those of its block.
pub async fn run(instance: &Instance<'_>, position: usize) -> (Option<Value>, Diagnostics) {
    let (listing, mut diagnostics) = request(instance, position).await;
    let Some(Listing { config, results, types }) = listing else { return (None, diagnostics) };
    let run = instance.run;
    let data = results.objects.iter().map(|object| types.value(object)).collect();
    let results = Arc::new(results);
    run.ports.observer.event(Event::ListFinished(results.clone()));
    diagnostics.extend(policies::evaluate(instance, &types, position, &results.objects).await);
    if let Some(block) = instance.block {
        run.results.lists().insert((block.index(), position), results);
    }
    (Some(Value::object([(DATA, Value::tuple(data)), (CONFIG, config)])), diagnostics)
}

/// The results of a list with its settings.
struct Listing {
    config: Value,
    results: ListResults,
    types: Types,
}

/// The shapes of what a list gives.
struct Types {
    managed: Arc<Schema>,
    identity: IdentitySchema,
}

impl Types {
    /// A result as references see it.
    fn value(&self, object: &ListedObject) -> Value {
        let state = object.state.clone().unwrap_or_else(|| Value::null(self.managed.implied_type().clone()));
        let name = Value::string(&object.display_name);
        Value::object([("display_name", name), ("identity", object.identity.clone()), ("state", state)])
    }
}

async fn request(instance: &Instance<'_>, position: usize) -> (Option<Listing>, Diagnostics) {
    let (block, mut diagnostics) = instance.evaluate();
    let arguments = diagnostics.take(arguments::arguments(instance));
    let Some(Arguments { limit, include }) = arguments.filter(|_| !diagnostics.has_errors()) else {
        return (None, diagnostics);
    };
    if !block.is_wholly_known() {
        diagnostics.error("config is not known", "");
        return (None, diagnostics);
    }
    let Some(types) = diagnostics.take(types(instance).await) else { return (None, diagnostics) };
    started(instance, &block);
    let generate = instance.run.inputs.query.is_some_and(|query| query.generate);
    let include = if generate { Value::bool(true) } else { include };
    let request = ListRequest {
        kind: instance.addr.kind().into(),
        config: settings(&block.unmark_deep().0, &instance.schema),
        include_object: include.is_true(),
        limit: Some(limit.as_i64().and_then(|limit| u64::try_from(limit).ok()).unwrap_or(DEFAULT_LIMIT)),
    };
    let config = request.config.clone();
    let validation =
        ValidateListRequest { kind: request.kind.clone(), config: config.clone(), include_object: include, limit };
    let validated = instance.provider.validate_list_config(validation);
    let validated = instance.answered("ValidateListResourceConfig", validated).await;
    diagnostics.extend(instance.about(validated));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let mut objects = diagnostics.take(listed(instance, &types, request).await);
    if generate && !diagnostics.has_errors() {
        diagnostics.extend(generate_all(instance, &types, position, &mut objects).await);
    }
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let results = ListResults { addr: instance.addr.clone(), identity_version: types.identity.version, objects };
    (Some(Listing { config, results, types }), diagnostics)
}

/// Reports the settings with which the list begins.
fn started(instance: &Instance<'_>, block: &Value) {
    let config = block.get(CONFIG).filter(|config| !config.is_null());
    let sensitive = config.zip(settings_block(&instance.schema)).map_or_else(Vec::new, |(config, schema)| {
        let (bare, marks) = config.unmark_deep_with_paths();
        let (_, marks) = mark(&bare, &marks, schema).unmark_deep_with_paths();
        let sensitive = marks.into_iter().filter(|(_, marks)| marks.contains(Marks::SENSITIVE));
        let mut paths: Vec<String> = sensitive.map(|(path, _)| path.to_string()).collect();
        paths.sort();
        paths
    });
    let config = config.map(|config| config.unmark_deep().0);
    let addr = instance.addr.clone();
    instance.run.ports.observer.event(Event::ListStarted { addr, config, sensitive });
}

/// The shapes of objects and identities.
async fn types(instance: &Instance<'_>) -> (Option<Types>, Diagnostics) {
    let (kind, provider) = (instance.addr.kind(), &instance.provider_addr.provider);
    let identity = match identity::schema(instance).await {
        Ok(identity) => identity,
        Err(errors) => return (None, errors),
    };
    let managed = instance.run.blocks.schemas.kind(provider, ResourceMode::Managed, kind);
    match (managed, identity) {
        (Some(managed), Some(identity)) => (Some(Types { managed, identity }), Diagnostics::new()),
        _ => (None, about_body(vec![no_identity_schema(kind)], None, None)),
    }
}

/// Keeps the results of a list, until the run is interrupted.
struct Kept {
    results: Mutex<Vec<ListResult>>,
    stop: Stop,
}

#[async_trait]
impl ListSink for Kept {
    async fn add(&self, result: ListResult) -> ControlFlow<()> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        if self.stop.is_stopping() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

async fn listed(instance: &Instance<'_>, types: &Types, request: ListRequest) -> (Vec<ListedObject>, Diagnostics) {
    let kept = Kept { results: Mutex::default(), stop: instance.run.ports.stop.clone() };
    let about_all = instance.answered("ListResource", instance.provider.list_resources(request, &kept)).await;
    let mut diagnostics = Diagnostics::new();
    let mut objects = Vec::new();
    for result in kept.results.into_inner().unwrap_or_else(PoisonError::into_inner) {
        diagnostics.extend(about(instance, result.diagnostics));
        match result.identity.to_value(&types.identity) {
            Ok(identity) => objects.push(ListedObject {
                display_name: result.display_name,
                identity,
                state: result.object,
                generated: None,
            }),
            Err(why) => {
                let what =
                    format!("The provider listed an object of {} with an invalid identity: {why}.", instance.addr);
                diagnostics.push(instance.bug("Provider produced invalid identity", what));
            }
        }
    }
    diagnostics.extend(about(instance, about_all));
    // The objects that came before an interrupt are not the whole list.
    if instance.run.ports.stop.is_stopping() {
        diagnostics.push(halted());
    }
    (objects, diagnostics)
}

/// Diagnostics of a list: their paths begin in the settings.
fn about(instance: &Instance<'_>, mut found: ProviderDiagnostics) -> Diagnostics {
    for diagnostic in &mut found {
        diagnostic.attribute = diagnostic.attribute.take().map(|path| {
            let steps = [PathStep::Attr(CONFIG.into())].into_iter().chain(path.steps().iter().cloned());
            Path::from(steps.collect::<Vec<_>>())
        });
    }
    instance.about(found)
}
