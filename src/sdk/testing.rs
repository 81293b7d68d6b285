//! Tests of providers without a host: contexts, plans and changes as hosts would make them.
//!
//! The methods of [`Resource`], [`DataSource`](super::DataSource) and the others can then be called as any function.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::action::{Action, Progress};
use super::context::Context;
use super::erased::check;
use super::error::Error;
use super::list::{ListResource, Query, Results};
use super::model::{Model, Values};
use super::plan::{self, Proposal};
use super::provider::Provider;
use super::resource::{Creation, Plan, Resource, Stored, Update, Validation};
use super::schema::Block;
use super::walk::{Beside, Item, rewrite_object};
use crate::base::diag::Severity;
use crate::base::stop::Stop;
use crate::lang::value::{Path, Value};
use crate::model::provider::{ListResult, ListSink, ProviderDiagnostic, RawState};

/// The context of a call to a configured provider, without private data.
///
/// ```
/// let mut context = terrane::sdk::testing::context("the client");
/// assert_eq!(context.data().unwrap(), &"the client");
/// ```
pub fn context<D>(data: D) -> Context<D> {
    Context::new(Some(data.into()), Stop::new())
}

/// The warnings that calls with this context reported: summary and detail.
///
/// ```
/// use terrane::sdk::testing;
/// let mut context = testing::context(());
/// context.warn("Slow", "The service takes long.");
/// assert_eq!(testing::warnings(&context), ["Slow: The service takes long."]);
/// ```
pub fn warnings<D>(context: &Context<D>) -> Vec<String> {
    let text = |found: &ProviderDiagnostic| format!("{}: {}", found.summary, found.detail);
    context.diagnostics.iter().filter(|found| found.severity == Severity::Warning).map(text).collect()
}

/// Checks a provider configuration and configures the provider with it.
pub async fn configure<P: Provider>(provider: &P, config: P::Config) -> Result<P::Data, Error> {
    let config: Values<P::Config> = Values::of(config);
    let mut found = Vec::new();
    provider.validate(&mut Validation { config: config.clone(), found: &mut found });
    check(&provider.schema(), config.value(), true, &mut found);
    errors(found)?;
    provider.configure(&mut Context::new(None, Stop::new()), config).await
}

/// Checks the configuration of a resource: by its schema, and by its `validate`.
pub fn validate<R: Resource>(resource: &R, config: R::Model) -> Result<(), Error> {
    let config: Values<R::Model> = Values::of(config);
    let mut found = Vec::new();
    resource.validate(&mut Validation { config: config.clone(), found: &mut found });
    check(&resource.schema(), config.value(), true, &mut found);
    errors(found)
}

/// Plans a configuration: for a creation if `prior` is none, else for a change.
///
/// In `config`, fields of computed attributes that are not configured must be null.
pub async fn plan<R: Resource>(
    resource: &R,
    context: &mut Context<R::Data>,
    prior: Option<R::Model>,
    config: R::Model,
) -> Result<Plan<R::Model>, Error> {
    let mut plan = planned(resource, prior, config);
    resource.plan(context, &mut plan).await?;
    Ok(plan)
}

/// The creation that a configuration leads to by the schema, for [`Resource::create`].
pub fn creation<R: Resource>(resource: &R, config: R::Model) -> Creation<R::Model> {
    let plan = planned(resource, None, config);
    Creation { config: plan.config, planned: plan.planned, partial: None }
}

/// The change that a new configuration leads to by the schema, for [`Resource::update`].
pub fn update<R: Resource>(resource: &R, prior: R::Model, config: R::Model) -> Update<R::Model> {
    let plan = planned(resource, Some(prior), config);
    Update { config: plan.config, prior: plan.prior, planned: plan.planned, partial: None }
}

/// What [`Creation::store`] stored last.
pub fn stored_object<M: Model>(creation: &Creation<M>) -> Option<M> {
    creation.partial.as_ref().and_then(|value| M::from_value(value).ok())
}

/// An object that was stored with an earlier version of the schema, as JSON, for [`Resource::upgrade`].
pub fn stored<R: Resource>(resource: &R, version: i64, json: &str) -> Stored {
    let raw = RawState::Json(json.to_owned().into());
    Stored { version, raw, ty: resource.schema().block.ty() }
}

/// An object that a list resource found.
#[non_exhaustive]
pub struct Listed<M> {
    /// For people.
    pub display_name: String,
    /// The JSON text of the identity.
    pub identity: String,
    /// The object as the list returned it.
    pub object: Option<M>,
}

/// What a list resource finds for a configuration, with its objects; at most `limit` of them.
pub async fn list<L: ListResource, R: Resource<Data = L::Data>>(
    list: &L,
    resource: &R,
    context: &mut Context<L::Data>,
    config: L::Config,
    limit: Option<u64>,
) -> Result<Vec<Listed<R::Model>>, Error> {
    let sink = Sink::default();
    let mut results = Results { sink: &sink, identity: resource.identity_schema(), left: limit };
    let query = Query { config: Values::of(config), include_object: true, limit };
    list.list(context, query, &mut results).await?;
    let found = std::mem::take(&mut *sink.found.lock().unwrap_or_else(PoisonError::into_inner));
    let listed = |found: ListResult| {
        let object = found.object.as_ref().map(R::Model::from_value).transpose()?;
        Ok(Listed { display_name: found.display_name, identity: found.identity.json.to_string(), object })
    };
    found.into_iter().map(listed).collect()
}

/// Invokes an action and returns the lines that it reported.
pub async fn invoke<A: Action>(
    action: &A,
    context: &mut Context<A::Data>,
    config: A::Config,
) -> Result<Vec<String>, Error> {
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let shared = lines.clone();
    let output = move |line: &str| shared.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    action.invoke(context, Values::of(config), &Progress { output: Arc::new(output) }).await?;
    let lines = std::mem::take(&mut *lines.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(lines)
}

/// Keeps all results.
#[derive(Default)]
struct Sink {
    found: Mutex<Vec<ListResult>>,
}

#[async_trait]
impl ListSink for Sink {
    async fn add(&self, result: ListResult) -> ControlFlow<()> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        ControlFlow::Continue(())
    }
}

fn planned<R: Resource>(resource: &R, prior: Option<R::Model>, config: R::Model) -> Plan<R::Model> {
    let schema = resource.schema();
    let config = config.into_value();
    let prior = prior.map_or_else(|| Value::null(schema.block.ty()), Model::into_value);
    let proposed = proposed(&schema.block, &config, &prior);
    let planned = plan::plan(&Proposal { block: &schema.block, config: &config, prior: &prior, proposed: &proposed });
    Plan {
        config: Values::new(config),
        prior: Values::new(prior),
        planned: Values::new(planned.value),
        requires_replace: planned.requires_replace,
    }
}

/// As hosts propose it: the configuration, with the prior values of computed attributes that are not configured.
fn proposed(block: &Block, config: &Value, prior: &Value) -> Value {
    rewrite_object(
        block,
        &mut Path::new(),
        Beside { config, prior },
        config,
        &mut |item, _, beside, value| match item {
            Item::Attribute(attribute) if attribute.computed && value.is_null() && !beside.prior.is_null() => {
                beside.prior.clone()
            }
            Item::Attribute(_) | Item::Block(_) => value,
        },
    )
}

fn errors(found: Vec<ProviderDiagnostic>) -> Result<(), Error> {
    let errors: Vec<_> = found.into_iter().filter(|found| found.severity == Severity::Error).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}
