//! Providers: their configuration, and the types that they offer.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use terrane_protocol::provider::StateStores;
use terrane_protocol::schema as wire;

use super::action::Action;
use super::context::Context;
use super::data_source::{DataSource, Ephemeral};
use super::erased::{AnyDataSource, AnyEphemeral, AnyFunction, AnyResource, Offered};
use super::erased_kinds::{AnyAction, AnyList};
use super::error::Error;
use super::function::Function;
use super::list::ListResource;
use super::log;
use super::model::{Model, Values};
use super::request::Validation;
use super::resource::Resource;
use super::schema::Schema;

/// A provider.
///
/// ```
/// # use terrane_sdk::{Context, Error, Model, Provider, Types, Values};
/// struct Todo;
///
/// #[derive(Model)]
/// struct Config {
///     /// The URL of the service.
///     #[attribute(required)]
///     address: String,
/// }
///
/// impl Provider for Todo {
///     type Config = Config;
///     type Data = String;
///
///     async fn configure(&self, _context: &mut Context<()>, config: Values<Config>) -> Result<String, Error> {
///         Ok(config.model()?.address)
///     }
///
///     fn types(&self, _types: &mut Types<String>) {}
/// }
///
/// # terrane_sdk::validate_implementation(Todo).unwrap();
/// ```
pub trait Provider: Send + Sync + 'static {
    /// The provider block; `()` if it has no arguments.
    type Config: Model;
    /// What resources and the others need of the configuration: a client, for example.
    type Data: Send + Sync + 'static;

    /// By default that of the model.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Error, Provider, Schema, Types, Values};
    /// # struct Todo; impl Provider for Todo { type Config = (); type Data = ();
    /// fn schema(&self) -> Schema {
    ///     Schema::of::<()>().description("Keeps notes in a to-do service.")
    /// }
    /// # async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) }
    /// # fn types(&self, _: &mut Types<()>) {} }
    /// ```
    fn schema(&self) -> Schema {
        Schema::of::<Self::Config>()
    }

    /// The arguments of `provider_meta` blocks; none: there are no such blocks.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Context, Error, Provider, Schema, Types, Values};
    /// # struct Todo; impl Provider for Todo { type Config = (); type Data = ();
    /// fn meta_schema(&self) -> Option<Schema> {
    ///     Some(Schema::new([Attribute::string("module_name").optional()]))
    /// }
    /// # async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) }
    /// # fn types(&self, _: &mut Types<()>) {} }
    /// ```
    fn meta_schema(&self) -> Option<Schema> {
        None
    }

    /// Checks of the configuration beyond those of the schema.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Error, Field, Model, Provider, Types, Validation, Values};
    /// # #[derive(Model)] struct Config { #[attribute(required)] address: String }
    /// # struct Todo; impl Provider for Todo { type Config = Config; type Data = ();
    /// fn validate(&self, validation: &mut Validation<'_, Config>) {
    ///     if let Ok(Field::Known(address)) = validation.config.get(Config::ADDRESS)
    ///         && address.starts_with("http:")
    ///     {
    ///         validation.warn(Config::ADDRESS.path(), "Unsafe address", "The connection is not encrypted. Use https.");
    ///     }
    /// }
    /// # async fn configure(&self, _: &mut Context<()>, _: Values<Config>) -> Result<(), Error> { Ok(()) }
    /// # fn types(&self, _: &mut Types<()>) {} }
    /// ```
    fn validate(&self, _validation: &mut Validation<'_, Self::Config>) {}

    /// Makes the data that the types need. The configuration may have unknown values during plan.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Error, Model, Provider, Types, Values};
    /// # #[derive(Model)] struct Config { #[attribute(optional)] address: Option<String> }
    /// # struct Client(String);
    /// # struct Todo; impl Provider for Todo { type Config = Config; type Data = Client;
    /// async fn configure(&self, context: &mut Context<()>, config: Values<Config>) -> Result<Client, Error> {
    ///     let Some(address) = config.model()?.address else {
    ///         return Err(Error::new("Missing address", "Set \"address\".").at(Config::ADDRESS.path()));
    ///     };
    ///     Ok(Client(address))
    /// }
    /// # fn types(&self, _: &mut Types<Client>) {} }
    /// ```
    fn configure(
        &self,
        context: &mut Context<()>,
        config: Values<Self::Config>,
    ) -> impl Future<Output = Result<Self::Data, Error>> + Send;

    /// Adds the types of the provider.
    ///
    /// ```
    /// # use terrane_sdk::{Context, DataSource, Error, Provider, Types, Values};
    /// # struct Time; impl DataSource for Time { type Data = (); type Model = ();
    /// # async fn read(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) } }
    /// # struct Todo; impl Provider for Todo { type Config = (); type Data = ();
    /// # async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) }
    /// fn types(&self, types: &mut Types<()>) {
    ///     types.data_source("todo_time", Time);
    /// }
    /// # }
    /// ```
    fn types(&self, types: &mut Types<Self::Data>);
}

/// The types that a provider offers, by name.
///
/// ```
/// # use terrane_sdk::{Context, DataSource, Error, Function, Resource, Types};
/// fn add_types(
///     types: &mut Types<()>,
///     note: impl Resource<Data = ()>,
///     notes: impl DataSource<Data = ()>,
///     slug: impl Function,
/// ) {
///     types.resource("todo_note", note).data_source("todo_notes", notes).function("slug", slug);
/// }
/// ```
pub struct Types<D> {
    pub(super) resources: BTreeMap<Arc<str>, Arc<dyn AnyResource<D>>>,
    pub(super) data_sources: BTreeMap<Arc<str>, Arc<dyn AnyDataSource<D>>>,
    pub(super) ephemeral: BTreeMap<Arc<str>, Arc<dyn AnyEphemeral<D>>>,
    pub(super) functions: BTreeMap<Arc<str>, Arc<dyn AnyFunction>>,
    pub(super) lists: BTreeMap<Arc<str>, Arc<dyn AnyList<D>>>,
    pub(super) actions: BTreeMap<Arc<str>, Arc<dyn AnyAction<D>>>,
    pub(super) state_stores: Option<(BTreeMap<Arc<str>, Arc<wire::Schema>>, Arc<dyn StateStores>)>,
    pub(super) plan_destroy: bool,
    /// Kind and name of types that were added twice.
    pub(super) duplicates: Vec<(&'static str, String)>,
}

impl<D> Default for Types<D> {
    fn default() -> Types<D> {
        Types {
            resources: BTreeMap::new(),
            data_sources: BTreeMap::new(),
            ephemeral: BTreeMap::new(),
            functions: BTreeMap::new(),
            lists: BTreeMap::new(),
            actions: BTreeMap::new(),
            state_stores: None,
            plan_destroy: true,
            duplicates: Vec::new(),
        }
    }
}

impl<D: Send + Sync + 'static> Types<D> {
    /// Adds a managed resource type by its full name: `todo_note`.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Creation, Error, Resource, Types};
    /// struct Lock;
    ///
    /// impl Resource for Lock {
    ///     type Data = ();
    ///     type Model = ();
    ///     async fn create(&self, _: &mut Context<()>, _: &mut Creation<()>) -> Result<(), Error> {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// Types::default().resource("todo_lock", Lock);
    /// ```
    pub fn resource(&mut self, name: &str, resource: impl Resource<Data = D>) -> &mut Self {
        log::add_crate_of(&resource);
        let offered = Arc::new(Offered::new(resource.schema(), resource));
        let twice = self.resources.insert(Arc::from(name), offered).is_some();
        self.note("Resource", name, twice)
    }

    /// Adds a data source by its full name.
    ///
    /// ```
    /// # use terrane_sdk::{Context, DataSource, Error, Types, Values};
    /// # struct Clock; impl DataSource for Clock { type Data = (); type Model = ();
    /// # async fn read(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) } }
    /// Types::default().data_source("todo_clock", Clock);
    /// ```
    pub fn data_source(&mut self, name: &str, source: impl DataSource<Data = D>) -> &mut Self {
        log::add_crate_of(&source);
        let offered = Arc::new(Offered::new(source.schema(), source));
        let twice = self.data_sources.insert(Arc::from(name), offered).is_some();
        self.note("Data Source", name, twice)
    }

    /// Adds an ephemeral resource type by its full name.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Ephemeral, Error, Opened, Types, Values};
    /// # struct Session; impl Ephemeral for Session { type Data = (); type Model = ();
    /// # async fn open(&self, _: &mut Context<()>, _: Values<()>) -> Result<Opened<()>, Error> { Ok(Opened::new(())) } }
    /// Types::default().ephemeral("todo_session", Session);
    /// ```
    pub fn ephemeral(&mut self, name: &str, ephemeral: impl Ephemeral<Data = D>) -> &mut Self {
        log::add_crate_of(&ephemeral);
        let offered = Arc::new(Offered::new(ephemeral.schema(), ephemeral));
        let twice = self.ephemeral.insert(Arc::from(name), offered).is_some();
        self.note("Ephemeral Resource", name, twice)
    }

    /// Adds a function by the name after `provider::NAME::`.
    ///
    /// ```
    /// # use terrane_sdk::{Function, FunctionError, Signature, Type, Types, Value, signature};
    /// # struct Pi; impl Function for Pi {
    /// # fn signature(&self) -> Signature { signature("Pi", vec![], Type::Number) }
    /// # async fn call(&self, _: Vec<Value>) -> Result<Value, FunctionError> { Ok(Value::int(3)) } }
    /// // provider::math::pi()
    /// Types::<()>::default().function("pi", Pi);
    /// ```
    pub fn function(&mut self, name: &str, function: impl Function) -> &mut Self {
        log::add_crate_of(&function);
        let twice = self.functions.insert(Arc::from(name), Arc::new(function)).is_some();
        self.note("Function", name, twice)
    }

    /// Adds a list resource by the name of the managed resource type whose objects it lists.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Error, ListResource, Query, Results, Types};
    /// # struct Notes; impl ListResource for Notes { type Data = (); type Config = ();
    /// # async fn list(&self, _: &mut Context<()>, _: Query<()>, _: &mut Results<'_>) -> Result<(), Error> { Ok(()) } }
    /// Types::default().list("todo_note", Notes);
    /// ```
    pub fn list(&mut self, name: &str, list: impl ListResource<Data = D>) -> &mut Self {
        log::add_crate_of(&list);
        let offered = Arc::new(Offered::new(list.schema(), list));
        let twice = self.lists.insert(Arc::from(name), offered).is_some();
        self.note("List Resource", name, twice)
    }

    /// Adds an action by its full name.
    ///
    /// ```
    /// # use terrane_sdk::{Action, Context, Error, Progress, Types, Values};
    /// # struct Archive; impl Action for Archive { type Data = (); type Config = ();
    /// # async fn invoke(&self, _: &mut Context<()>, _: Values<()>, _: &Progress) -> Result<(), Error> { Ok(()) } }
    /// Types::default().action("todo_archive", Archive);
    /// ```
    pub fn action(&mut self, name: &str, action: impl Action<Data = D>) -> &mut Self {
        log::add_crate_of(&action);
        let offered = Arc::new(Offered::new(action.schema(), action));
        let twice = self.actions.insert(Arc::from(name), offered).is_some();
        self.note("Action", name, twice)
    }

    /// No resource plans destructions by itself: hosts need not ask, which saves a call for each object.
    ///
    /// ```
    /// # use terrane_sdk::{Resource, Types};
    /// fn add_types(types: &mut Types<()>, note: impl Resource<Data = ()>) {
    ///     types.resource("todo_note", note).without_destroy_plans();
    /// }
    /// ```
    pub fn without_destroy_plans(&mut self) -> &mut Self {
        self.plan_destroy = false;
        self
    }

    /// The state stores of this provider, with their schemas.
    #[doc(hidden)]
    pub fn state_stores(
        &mut self,
        schemas: BTreeMap<Arc<str>, Arc<wire::Schema>>,
        stores: Arc<dyn StateStores>,
    ) -> &mut Self {
        self.state_stores = Some((schemas, stores));
        self
    }

    fn note(&mut self, kind: &'static str, name: &str, twice: bool) -> &mut Self {
        if twice {
            self.duplicates.push((kind, name.to_owned()));
        }
        self
    }
}
