//! List resources: finding the objects of a managed resource type that exist.

use std::future::Future;
use std::ops::ControlFlow;

use terrane_protocol::provider::{Identity, IdentitySchema, ListResult, ListSink};
use terrane_value::{Value, json};

use super::context::Context;
use super::error::Error;
use super::model::{Model, Values};
use super::request::Validation;
use super::schema::Schema;

/// A list resource. It has the name of the managed resource type whose objects it lists; that type has an identity.
///
/// ```
/// # use terrane_sdk::{Context, Error, ListResource, Object, Query, Results, Value};
/// struct MachineList;
///
/// impl ListResource for MachineList {
///     type Data = ();
///     type Config = ();
///
///     async fn list(&self, _context: &mut Context<()>, _query: Query<()>, results: &mut Results<'_>) -> Result<(), Error> {
///         for name in ["web", "mail"] {
///             let identity = Value::object([("name", Value::string(name))]);
///             if results.add::<Object>(&identity, name, None).await?.is_break() {
///                 break;
///             }
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait ListResource: Send + Sync + 'static {
    /// What the provider's `configure` returns.
    type Data: Send + Sync + 'static;
    /// The arguments of the list.
    type Config: Model;

    /// By default that of the model.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Error, ListResource, Query, Results, Schema};
    /// # struct Machines; impl ListResource for Machines { type Data = (); type Config = ();
    /// fn schema(&self) -> Schema {
    ///     Schema::of::<()>().description("All machines of the account.")
    /// }
    /// # async fn list(&self, _: &mut Context<()>, _: Query<()>, _: &mut Results<'_>) -> Result<(), Error> { Ok(()) } }
    /// ```
    fn schema(&self) -> Schema {
        Schema::of::<Self::Config>()
    }

    /// Checks of the configuration beyond those of the schema.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Error, Field, ListResource, Model, Query, Results, Validation};
    /// # #[derive(Model)] struct Filter { #[attribute(required)] zone: String }
    /// # struct Machines; impl ListResource for Machines { type Data = (); type Config = Filter;
    /// fn validate(&self, validation: &mut Validation<'_, Filter>) {
    ///     if let Ok(Field::Known(zone)) = validation.config.get(Filter::ZONE)
    ///         && zone.is_empty()
    ///     {
    ///         validation.error(Filter::ZONE.path(), "Missing zone", "The zone is empty.");
    ///     }
    /// }
    /// # async fn list(&self, _: &mut Context<()>, _: Query<Filter>, _: &mut Results<'_>) -> Result<(), Error> { Ok(()) } }
    /// ```
    fn validate(&self, _validation: &mut Validation<'_, Self::Config>) {}

    /// Gives each object to `results`, until there are no more or the host wants no more.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Error, ListResource, Object, Query, Results, Value};
    /// # struct Machines; impl ListResource for Machines { type Data = Vec<String>; type Config = ();
    /// async fn list(
    ///     &self,
    ///     context: &mut Context<Vec<String>>,
    ///     _query: Query<()>,
    ///     results: &mut Results<'_>,
    /// ) -> Result<(), Error> {
    ///     for name in context.data()? {
    ///         let identity = Value::object([("name", Value::string(name))]);
    ///         if results.add::<Object>(&identity, name, None).await?.is_break() {
    ///             break;
    ///         }
    ///     }
    ///     Ok(())
    /// }
    /// # }
    /// ```
    fn list(
        &self,
        context: &mut Context<Self::Data>,
        query: Query<Self::Config>,
        results: &mut Results<'_>,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// What to list.
///
/// ```
/// # use terrane_sdk::{Error, Model, Query};
/// # #[derive(Model)] struct Filter { #[attribute(optional)] tag: Option<String> }
/// fn request(query: &Query<Filter>) -> Result<String, Error> {
///     let tag = query.config.model()?.tag.unwrap_or_default();
///     Ok(format!("/machines?tag={tag}&limit={}", query.limit.unwrap_or(100)))
/// }
/// ```
#[non_exhaustive]
pub struct Query<C> {
    /// The arguments of the list.
    pub config: Values<C>,
    /// Each result should have its object.
    pub include_object: bool,
    /// The host takes no more results than these.
    pub limit: Option<u64>,
}

/// Where results go.
///
/// ```
/// # use terrane_sdk::{Error, Model, Results, Value};
/// # #[derive(Clone, Model)] struct Machine { #[attribute(required)] name: String }
/// async fn list(machines: &[Machine], results: &mut Results<'_>) -> Result<(), Error> {
///     for machine in machines {
///         let identity = Value::object([("name", Value::string(&machine.name))]);
///         if results.add(&identity, &machine.name, Some(machine.clone())).await?.is_break() {
///             break;
///         }
///     }
///     Ok(())
/// }
/// ```
pub struct Results<'a> {
    pub(super) sink: &'a dyn ListSink,
    pub(super) identity: Option<IdentitySchema>,
    pub(super) left: Option<u64>,
}

impl Results<'_> {
    /// Adds an object. `identity` is of the type of the resource type's identity schema. `Break`: the host takes no more.
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use terrane_sdk::{Error, Object, Results, Value};
    /// async fn add_name(results: &mut Results<'_>, name: &str) -> Result<ControlFlow<()>, Error> {
    ///     let identity = Value::object([("name", Value::string(name))]);
    ///     results.add::<Object>(&identity, name, None).await
    /// }
    /// ```
    pub async fn add<M: Model>(
        &mut self,
        identity: &Value,
        display_name: impl Into<String>,
        object: Option<M>,
    ) -> Result<ControlFlow<()>, Error> {
        if self.left == Some(0) {
            return Ok(ControlFlow::Break(()));
        }
        let text = self.identity.as_ref().and_then(|schema| {
            let text = json::to_json(identity, &schema.implied_type()).ok()?;
            Some(Identity { schema_version: schema.version, json: text.into() })
        });
        let Some(identity) = text.filter(|_| !identity.is_null()) else {
            let detail = "An object in the list has no identity, or one that does not fit the identity schema. This is \
                          always an error in the provider.";
            return Err(Error::new("Incomplete List Result", detail));
        };
        let result = ListResult {
            identity,
            display_name: display_name.into(),
            object: object.map(Model::into_value),
            diagnostics: Vec::new(),
        };
        let flow = self.sink.add(result).await;
        self.left = self.left.map(|left| left - 1);
        Ok(if self.left == Some(0) { ControlFlow::Break(()) } else { flow })
    }
}
