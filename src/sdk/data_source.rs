//! Data sources and ephemeral resources.

use std::future::{Future, ready};
use std::time::SystemTime;

use super::context::Context;
use super::error::Error;
use super::model::{Model, Values};
use super::resource::Validation;
use super::schema::Schema;

/// A data source: reads an object that it does not manage.
///
/// ```
/// # use terrane::sdk::{Context, DataSource, Error, Field, Model, Values};
/// /// The time of the service.
/// #[derive(Model)]
/// struct Time {
///     #[attribute(optional)]
///     zone: Option<String>,
///     #[attribute(computed)]
///     now: Field<String>,
/// }
///
/// struct TimeSource;
///
/// impl DataSource for TimeSource {
///     type Data = ();
///     type Model = Time;
///
///     async fn read(&self, _context: &mut Context<()>, config: Values<Time>) -> Result<Time, Error> {
///         Ok(Time { now: Field::known("12:00"), ..config.model()? })
///     }
/// }
/// ```
pub trait DataSource: Send + Sync + 'static {
    /// What the provider's `configure` returns.
    type Data: Send + Sync + 'static;
    /// The attributes, computed ones too.
    type Model: Model;

    /// By default that of the model.
    fn schema(&self) -> Schema {
        Schema::of::<Self::Model>()
    }

    /// Checks of the configuration beyond those of the schema.
    fn validate(&self, _validation: &mut Validation<'_, Self::Model>) {}

    /// The configuration is known; what it returns is the configuration with the computed attributes filled in.
    fn read(
        &self,
        context: &mut Context<Self::Data>,
        config: Values<Self::Model>,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send;
}

/// An ephemeral resource: a value that is never stored, which is opened, renewed while it is used, and closed.
///
/// ```
/// # use terrane::sdk::{Context, Ephemeral, Error, Field, Model, Opened, Values};
/// #[derive(Model)]
/// struct Token {
///     #[attribute(computed, sensitive)]
///     token: Field<String>,
/// }
///
/// struct TokenResource;
///
/// impl Ephemeral for TokenResource {
///     type Data = ();
///     type Model = Token;
///
///     async fn open(&self, _context: &mut Context<()>, _config: Values<Token>) -> Result<Opened<Token>, Error> {
///         Ok(Opened::new(Token { token: Field::known("secret") }))
///     }
/// }
/// ```
pub trait Ephemeral: Send + Sync + 'static {
    /// What the provider's `configure` returns.
    type Data: Send + Sync + 'static;
    /// The attributes, computed ones too.
    type Model: Model;

    /// By default that of the model.
    fn schema(&self) -> Schema {
        Schema::of::<Self::Model>()
    }

    /// Checks of the configuration beyond those of the schema.
    fn validate(&self, _validation: &mut Validation<'_, Self::Model>) {}

    /// Private data in the context is given to `renew` and `close`.
    fn open(
        &self,
        context: &mut Context<Self::Data>,
        config: Values<Self::Model>,
    ) -> impl Future<Output = Result<Opened<Self::Model>, Error>> + Send;

    /// Called at the time that `open` or `renew` asked for. Returns the time of the next renewal.
    fn renew(
        &self,
        _context: &mut Context<Self::Data>,
    ) -> impl Future<Output = Result<Option<SystemTime>, Error>> + Send {
        ready(Ok(None))
    }

    /// Called when the run does not need the object any more. By default nothing is closed.
    fn close(&self, _context: &mut Context<Self::Data>) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }
}

/// An opened ephemeral object.
#[non_exhaustive]
pub struct Opened<M> {
    /// The object with everything known.
    pub value: M,
    /// When the host calls `renew`; none: never.
    pub renew_at: Option<SystemTime>,
}

impl<M> Opened<M> {
    /// An object that needs no renewal.
    pub fn new(value: M) -> Opened<M> {
        Opened { value, renew_at: None }
    }

    /// The host calls `renew` at this time.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use terrane::sdk::Opened;
    /// let soon = SystemTime::now() + Duration::from_secs(60);
    /// assert_eq!(Opened::new(()).renew_at(soon).renew_at, Some(soon));
    /// ```
    #[must_use]
    pub fn renew_at(mut self, time: SystemTime) -> Opened<M> {
        self.renew_at = Some(time);
        self
    }
}
