//! Tests of providers without a host: contexts, plans and changes as hosts would make them.
//!
//! The methods of [`Resource`], [`DataSource`](super::DataSource) and the others can then be called as any function.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use terrane_protocol::provider::{ListResult, ListSink, ProviderDiagnostic, RawState, Severity};
use terrane_value::{Path, Value};

use super::action::{Action, Progress};
use super::context::Context;
use super::erased::check;
use super::error::Error;
use super::list::{ListResource, Query, Results};
use super::model::{Model, Values};
use super::plan::{self, Proposal};
use super::provider::Provider;
use super::request::{Creation, Plan, Stored, Update, Validation};
use super::resource::Resource;
use super::schema::Block;
use super::walk::{Beside, Item, rewrite_object};
use crate::stop::Stop;

/// The context of a call to a configured provider, without private data.
///
/// ```
/// let mut context = terrane_sdk::testing::context("the client");
/// assert_eq!(context.data().unwrap(), &"the client");
/// ```
pub fn context<D>(data: D) -> Context<D> {
    Context::new(Some(data.into()), Stop::new())
}

/// The warnings that calls with this context reported: summary and detail.
///
/// ```
/// use terrane_sdk::testing;
/// let mut context = testing::context(());
/// context.warn("Slow", "The service takes long.");
/// assert_eq!(testing::warnings(&context), ["Slow: The service takes long."]);
/// ```
pub fn warnings<D>(context: &Context<D>) -> Vec<String> {
    let text = |found: &ProviderDiagnostic| format!("{}: {}", found.summary, found.detail);
    context.diagnostics.iter().filter(|found| found.severity == Severity::Warning).map(text).collect()
}

/// Checks a provider configuration and configures the provider with it.
///
/// ```
/// # use terrane_sdk::{Context, Error, Model, Provider, Types, Values, testing};
/// # #[derive(Model)] struct Config { #[attribute(required)] address: String }
/// # struct Todo; impl Provider for Todo { type Config = Config; type Data = String;
/// # async fn configure(&self, _: &mut Context<()>, config: Values<Config>) -> Result<String, Error> { Ok(config.model()?.address) }
/// # fn types(&self, _: &mut Types<String>) {} }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// let config = Config { address: "http://localhost".to_owned() };
/// assert_eq!(testing::configure(&Todo, config).await?, "http://localhost");
/// # Ok(()) }
/// ```
pub async fn configure<P: Provider>(provider: &P, config: P::Config) -> Result<P::Data, Error> {
    let config: Values<P::Config> = Values::of(config);
    let mut found = Vec::new();
    provider.validate(&mut Validation { config: config.clone(), found: &mut found });
    check(&provider.schema(), config.value(), true, &mut found);
    errors(found)?;
    provider.configure(&mut Context::new(None, Stop::new()), config).await
}

/// Checks the configuration of a resource: by its schema, and by its `validate`.
///
/// ```
/// # use terrane_sdk::{Context, Creation, Error, Model, Resource, testing, validators::length_at_least};
/// # #[derive(Model)] struct Note { #[attribute(required, validators(length_at_least(1)))] title: String }
/// # struct NoteResource; impl Resource for NoteResource { type Data = (); type Model = Note;
/// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<Note>) -> Result<Note, Error> { new.planned.model() } }
/// let error = testing::validate(&NoteResource, Note { title: String::new() }).unwrap_err();
/// assert!(error.to_string().ends_with("Attribute title string length must be at least 1, got: 0"));
/// ```
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
///
/// ```
/// # use terrane_sdk::{Context, Creation, Error, Model, Resource, testing};
/// # #[derive(Model)] struct Note { #[attribute(required, replace)] list: String }
/// # struct NoteResource; impl Resource for NoteResource { type Data = (); type Model = Note;
/// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<Note>) -> Result<Note, Error> { new.planned.model() } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// let note = |list: &str| Note { list: list.to_owned() };
/// let plan = testing::plan(&NoteResource, &mut testing::context(()), Some(note("home")), note("work")).await?;
/// assert_eq!(plan.requires_replace, [Note::LIST.path()]);
/// # Ok(()) }
/// ```
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
///
/// ```
/// # use terrane_sdk::{Context, Creation, Error, Field, Model, Resource, testing};
/// # #[derive(Model)] struct Note { #[attribute(computed)] id: Field<String>, #[attribute(required)] title: String }
/// # struct NoteResource; impl Resource for NoteResource { type Data = (); type Model = Note;
/// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<Note>) -> Result<Note, Error> {
/// # Ok(Note { id: Field::known("7"), ..new.planned.model()? }) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// let config = Note { id: Field::Null, title: "Milk".to_owned() };
/// let mut creation = testing::creation(&NoteResource, config);
/// assert!(creation.planned.get(Note::ID)?.is_unknown());
/// let note = NoteResource.create(&mut testing::context(()), &mut creation).await?;
/// assert_eq!(note.id, Field::known("7"));
/// # Ok(()) }
/// ```
pub fn creation<R: Resource>(resource: &R, config: R::Model) -> Creation<R::Model> {
    let plan = planned(resource, None, config);
    Creation { config: plan.config, planned: plan.planned, partial: None }
}

/// The change that a new configuration leads to by the schema, for [`Resource::update`].
///
/// ```
/// # use terrane_sdk::{Context, Creation, Error, Field, Model, Resource, testing};
/// # #[derive(Model)] struct Note { #[attribute(computed, keep)] id: Field<String>, #[attribute(required)] title: String }
/// # struct NoteResource; impl Resource for NoteResource { type Data = (); type Model = Note;
/// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<Note>) -> Result<Note, Error> { new.planned.model() } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// let prior = Note { id: Field::known("7"), title: "Milk".to_owned() };
/// let config = Note { id: Field::Null, title: "Bread".to_owned() };
/// let mut update = testing::update(&NoteResource, prior, config);
/// let note = NoteResource.update(&mut testing::context(()), &mut update).await?;
/// assert_eq!((note.id, &*note.title), (Field::known("7"), "Bread"));
/// # Ok(()) }
/// ```
pub fn update<R: Resource>(resource: &R, prior: R::Model, config: R::Model) -> Update<R::Model> {
    let plan = planned(resource, Some(prior), config);
    Update { config: plan.config, prior: plan.prior, planned: plan.planned, partial: None }
}

/// What [`Creation::store`] stored last.
///
/// ```
/// # use terrane_sdk::{Context, Creation, Error, Model, Resource, testing};
/// # #[derive(Clone, Model)] struct Note { #[attribute(required)] title: String }
/// # struct NoteResource; impl Resource for NoteResource { type Data = (); type Model = Note;
/// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<Note>) -> Result<Note, Error> { new.planned.model() } }
/// let mut creation = testing::creation(&NoteResource, Note { title: "Milk".to_owned() });
/// assert!(testing::stored_object(&creation).is_none());
/// creation.store(Note { title: "Milk".to_owned() });
/// assert_eq!(testing::stored_object(&creation).unwrap().title, "Milk");
/// ```
pub fn stored_object<M: Model>(creation: &Creation<M>) -> Option<M> {
    creation.partial.as_ref().and_then(|value| M::from_value(value).ok())
}

/// An object that was stored with an earlier version of the schema, as JSON, for [`Resource::upgrade`].
///
/// ```
/// # use terrane_sdk::{Context, Creation, Error, Model, Resource, testing};
/// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
/// # struct NoteResource; impl Resource for NoteResource { type Data = (); type Model = Note;
/// # async fn create(&self, _: &mut Context<()>, new: &mut Creation<Note>) -> Result<Note, Error> { new.planned.model() } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// let stored = testing::stored(&NoteResource, 0, r#"{"title":"Milk","color":"red"}"#);
/// let note = NoteResource.upgrade(&mut testing::context(()), stored).await?;
/// assert_eq!(note.title, "Milk");
/// # Ok(()) }
/// ```
pub fn stored<R: Resource>(resource: &R, version: i64, json: &str) -> Stored {
    let raw = RawState::Json(json.to_owned().into());
    Stored { version, raw, ty: resource.schema().block.ty() }
}

/// An object that a list resource found.
///
/// ```
/// use terrane_sdk::testing::Listed;
/// fn names<M>(listed: &[Listed<M>]) -> Vec<&str> {
///     listed.iter().map(|found| found.display_name.as_str()).collect()
/// }
/// ```
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
///
/// ```
/// # use terrane_sdk::{Context, Creation, Error, IdentitySchema, ListResource, Query, Resource, Results, Type, Value};
/// # use terrane_sdk::{identity_schema, testing};
/// # struct Machine; impl Resource for Machine { type Data = (); type Model = ();
/// # async fn create(&self, _: &mut Context<()>, _: &mut Creation<()>) -> Result<(), Error> { Ok(()) }
/// # fn identity_schema(&self) -> Option<IdentitySchema> { Some(identity_schema([("name", Type::String)])) } }
/// # struct Machines; impl ListResource for Machines { type Data = (); type Config = ();
/// # async fn list(&self, _: &mut Context<()>, _: Query<()>, results: &mut Results<'_>) -> Result<(), Error> {
/// # for name in ["web", "mail"] {
/// # let identity = Value::object([("name", Value::string(name))]);
/// # if results.add(&identity, name, Some(())).await?.is_break() { break; } }
/// # Ok(()) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// let found = testing::list(&Machines, &Machine, &mut testing::context(()), (), Some(1)).await?;
/// assert_eq!((found.len(), &*found[0].identity), (1, r#"{"name":"web"}"#));
/// # Ok(()) }
/// ```
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
///
/// ```
/// # use terrane_sdk::{Action, Context, Error, Progress, Values, testing};
/// # struct Restart; impl Action for Restart { type Data = Vec<&'static str>; type Config = ();
/// # async fn invoke(&self, context: &mut Context<Vec<&'static str>>, _: Values<()>, progress: &Progress) -> Result<(), Error> {
/// # for name in context.data()? { progress.report(&format!("restarting {name}")); }
/// # Ok(()) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// let mut context = testing::context(vec!["web", "mail"]);
/// assert_eq!(testing::invoke(&Restart, &mut context, ()).await?, ["restarting web", "restarting mail"]);
/// # Ok(()) }
/// ```
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
    rewrite_object(block, &mut Path::new(), Beside::of(config, prior), config, &mut |item, _, beside, value| match item
    {
        Item::Attribute(attribute) if attribute.computed && value.is_null() && !beside.prior.is_null() => {
            beside.prior.clone()
        }
        Item::Attribute(_) | Item::Block(_) => value,
    })
}

fn errors(found: Vec<ProviderDiagnostic>) -> Result<(), Error> {
    let errors: Vec<_> = found.into_iter().filter(|found| found.severity == Severity::Error).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}
