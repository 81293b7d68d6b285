//! Providers: their configuration, and the types that they offer.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use super::action::Action;
use super::context::Context;
use super::data_source::{DataSource, Ephemeral};
use super::erased::{AnyDataSource, AnyEphemeral, AnyFunction, AnyResource, Offered};
use super::erased_kinds::{AnyAction, AnyList};
use super::error::Error;
use super::function::Function;
use super::list::ListResource;
use super::model::{Model, Values};
use super::resource::{Resource, Validation};
use super::schema::Schema;
use crate::model::provider::StateStores;
use crate::model::schema as wire;

/// A provider.
///
/// ```
/// # use terrane::sdk::{Context, Error, Model, Provider, Types, Values};
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
/// # terrane::sdk::validate_implementation(Todo).unwrap();
/// ```
pub trait Provider: Send + Sync + 'static {
    /// The provider block; `()` if it has no arguments.
    type Config: Model;
    /// What resources and the others need of the configuration: a client, for example.
    type Data: Send + Sync + 'static;

    /// By default that of the model.
    fn schema(&self) -> Schema {
        Schema::of::<Self::Config>()
    }

    /// The arguments of `provider_meta` blocks; none: there are no such blocks.
    fn meta_schema(&self) -> Option<Schema> {
        None
    }

    /// Checks of the configuration beyond those of the schema.
    fn validate(&self, _validation: &mut Validation<'_, Self::Config>) {}

    /// Makes the data that the types need. The configuration may have unknown values during plan.
    fn configure(
        &self,
        context: &mut Context<()>,
        config: Values<Self::Config>,
    ) -> impl Future<Output = Result<Self::Data, Error>> + Send;

    /// Adds the types of the provider.
    fn types(&self, types: &mut Types<Self::Data>);
}

/// The types that a provider offers, by name.
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
    pub fn resource(&mut self, name: &str, resource: impl Resource<Data = D>) -> &mut Self {
        let offered = Arc::new(Offered::new(resource.schema(), resource));
        let twice = self.resources.insert(Arc::from(name), offered).is_some();
        self.note("Resource", name, twice)
    }

    /// Adds a data source by its full name.
    pub fn data_source(&mut self, name: &str, source: impl DataSource<Data = D>) -> &mut Self {
        let offered = Arc::new(Offered::new(source.schema(), source));
        let twice = self.data_sources.insert(Arc::from(name), offered).is_some();
        self.note("Data Source", name, twice)
    }

    /// Adds an ephemeral resource type by its full name.
    pub fn ephemeral(&mut self, name: &str, ephemeral: impl Ephemeral<Data = D>) -> &mut Self {
        let offered = Arc::new(Offered::new(ephemeral.schema(), ephemeral));
        let twice = self.ephemeral.insert(Arc::from(name), offered).is_some();
        self.note("Ephemeral Resource", name, twice)
    }

    /// Adds a function by the name after `provider::NAME::`.
    pub fn function(&mut self, name: &str, function: impl Function) -> &mut Self {
        let twice = self.functions.insert(Arc::from(name), Arc::new(function)).is_some();
        self.note("Function", name, twice)
    }

    /// Adds a list resource by the name of the managed resource type whose objects it lists.
    pub fn list(&mut self, name: &str, list: impl ListResource<Data = D>) -> &mut Self {
        let offered = Arc::new(Offered::new(list.schema(), list));
        let twice = self.lists.insert(Arc::from(name), offered).is_some();
        self.note("List Resource", name, twice)
    }

    /// Adds an action by its full name.
    pub fn action(&mut self, name: &str, action: impl Action<Data = D>) -> &mut Self {
        let offered = Arc::new(Offered::new(action.schema(), action));
        let twice = self.actions.insert(Arc::from(name), offered).is_some();
        self.note("Action", name, twice)
    }

    /// No resource plans destructions by itself: hosts need not ask, which saves a call for each object.
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
