//! Lists: the provider is asked for the objects that exist.
//!
//! Owns the blocks of query files, from their arguments to their results. Never changes a state, and never imports.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use base::diag::{Diagnostic, Diagnostics};
use base::stop::Stop;
use lang::eval::evaluate_to;
use lang::syntax::ast::Expression;
use model::addr::parse::NO_WHOLE_NUMBER;
use model::addr::{AbsResourceInstance, InstanceKey, LocalProviderConfig, Resource};
use model::config::{ListArguments, write};
use model::plan::{GeneratedImport, ListResults, ListedObject};
use model::provider_diagnostics::about_body;
use model::schema::list_block::{CONFIG, DATA};
use terrane_protocol::provider::{
    IdentitySchema, ListRequest, ListResult, ListSink, ProviderDiagnostics, ValidateListRequest, has_errors,
    no_identity_schema,
};
use terrane_protocol::schema::{Block, ResourceMode, Schema};
use terrane_value::{Marks, Path, PathStep, Type, Value};

use crate::engine_errors::halted;
use crate::event::Event;
use crate::run::object::mark;
use crate::run::scope::ModuleScope;
use crate::step::resource::Instance;
use crate::step::resource::read::identity;

/// The most results of a block that does not say how many.
const DEFAULT_LIMIT: u64 = 100;

/// Asks the provider for the objects of an instance. Returns what references see; none with errors. `position`: of the
/// instance among those of its block.
pub async fn run(instance: &Instance<'_>, position: usize) -> (Option<Value>, Diagnostics) {
    let (listing, diagnostics) = request(instance, position).await;
    let Some(Listing { config, results, types }) = listing else { return (None, diagnostics) };
    let run = instance.run;
    let data = results.objects.iter().map(|object| types.value(object)).collect();
    let results = Arc::new(results);
    run.ports.observer.event(Event::ListFinished(results.clone()));
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
    let arguments = diagnostics.take(arguments(instance));
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

fn settings_block(schema: &Schema) -> Option<&Block> {
    schema.block.blocks.get(CONFIG).map(|nested| &nested.block)
}

/// The settings in the value of a block, without marks; without a `config` block nothing is set.
pub fn settings(block: &Value, schema: &Schema) -> Value {
    match (block.get(CONFIG), settings_block(schema)) {
        (Some(config), Some(schema)) if config.is_null() => schema.empty_value(),
        (Some(config), _) => config.clone(),
        (None, Some(schema)) => Value::unknown(schema.implied_type()),
        (None, None) => Value::dynamic(),
    }
}

/// `limit` and `include_resource` without marks; null if they are not set.
pub struct Arguments {
    pub limit: Value,
    pub include: Value,
}

fn arguments(instance: &Instance<'_>) -> (Option<Arguments>, Diagnostics) {
    match (instance.config, &instance.module) {
        (Some(config), Some(module)) => evaluated(&config.list, &ModuleScope::new(instance.run, module), false),
        _ => (None, Diagnostics::new()),
    }
}

/// The arguments of a block. None with errors.
pub fn evaluated(
    list: &ListArguments,
    scope: &ModuleScope<'_>,
    allow_unknown: bool,
) -> (Option<Arguments>, Diagnostics) {
    let one = |name: &str, expr: &Option<Expression>, ty: Type| match expr {
        Some(expr) => argument(name, expr, ty, scope, allow_unknown),
        None => (Some(Value::null(ty)), Diagnostics::new()),
    };
    let (limit, mut diagnostics) = one("limit", &list.limit, Type::Number);
    if let (Some(expr), Some(limit)) = (&list.limit, &limit) {
        diagnostics.extend(check_limit(expr, limit));
    }
    // As in the peer, the other argument is looked at only if this one is sound.
    let Some(limit) = limit.filter(|_| !diagnostics.has_errors()) else { return (None, diagnostics) };
    let include = diagnostics.take(one("include_resource", &list.include_resource, Type::Bool));
    (include.map(|include| Arguments { limit, include }), diagnostics)
}

fn argument(
    name: &str,
    expr: &Expression,
    ty: Type,
    scope: &ModuleScope<'_>,
    allow_unknown: bool,
) -> (Option<Value>, Diagnostics) {
    let (value, mut diagnostics) = evaluate_to(expr, &ty, scope);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let value = value.unmark_deep().0;
    let kind = ty.friendly_name();
    let wrong = match (value.is_null(), value.is_known()) {
        (true, _) => format!("is null. A {kind} is required."),
        (_, false) if !allow_unknown => format!("is unknown. A known {kind} is required."),
        _ => return (Some(value), diagnostics),
    };
    let detail = format!("The given {name:?} argument value {wrong}");
    diagnostics.push(Diagnostic::error(format!("Invalid {name:?} argument"), detail).at(expr.range()));
    (None, diagnostics)
}

fn check_limit(expr: &Expression, limit: &Value) -> Option<Diagnostic> {
    limit.as_number()?;
    let unsuitable = |why: &str| format!("The given \"limit\" argument value is unsuitable: {why}");
    let (summary, detail) = match limit.as_i64() {
        None => ("Invalid \"limit\" argument", unsuitable(NO_WHOLE_NUMBER)),
        Some(..0) => ("Invalid limit argument", unsuitable("must be greater than or equal to zero.")),
        Some(_) => return None,
    };
    Some(Diagnostic::error(summary, detail).at(expr.range()))
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

/// Writes blocks for all objects.
async fn generate_all(
    instance: &Instance<'_>,
    types: &Types,
    position: usize,
    objects: &mut [ListedObject],
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let provider = LocalProviderConfig {
        local_name: instance.provider_addr.provider.kind.clone(),
        alias: instance.provider_addr.alias.clone(),
    };
    for (index, object) in objects.iter_mut().enumerate() {
        let addr = generated_addr(&instance.addr, position, index);
        let state = object.state.clone().unwrap_or_else(|| Value::null(types.managed.implied_type().clone()));
        let Some((value, source)) = diagnostics.take(configuration(instance, state).await) else { break };
        let resource = write::listed(&addr, &provider, &types.managed.block, &value, source);
        let import = write::import(&addr, &provider, &types.identity, &object.identity);
        object.generated = Some(GeneratedImport { resource, import });
    }
    diagnostics
}

/// The address that the object at an index gets.
fn generated_addr(list: &AbsResourceInstance, position: usize, index: usize) -> Resource {
    let name = &list.resource.resource.name;
    Resource::managed(
        list.kind(),
        &match list.key() {
            InstanceKey::None => format!("{name}_{index}"),
            _ => format!("{name}_{position}_{index}"),
        },
    )
}

/// The configuration of an object: by the provider, if it can. None with errors.
async fn configuration(instance: &Instance<'_>, state: Value) -> (Option<(Value, write::ValueOrigin)>, Diagnostics) {
    let schemas = instance.run.blocks.schemas.provider(&instance.provider_addr.provider);
    if !schemas.is_some_and(|schemas| schemas.capabilities().generate_resource_config) {
        return (Some((state, write::ValueOrigin::State)), Diagnostics::new());
    }
    let asked = instance.provider.generate_resource_config(instance.addr.kind(), state);
    let (value, found) = instance.answered("GenerateResourceConfig", asked).await;
    let failed = has_errors(&found);
    let value = Some((value, write::ValueOrigin::Provider)).filter(|_| !failed);
    (value, about_body(found, None, None))
}
