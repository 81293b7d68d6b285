//! Data sources and ephemeral resources.

use std::future::{Future, ready};
use std::time::SystemTime;

use super::context::Context;
use super::error::Error;
use super::model::{Model, Values};
use super::request::Validation;
use super::schema::Schema;

/// A data source: reads an object that it does not manage.
///
/// ```
/// # use terrane_sdk::{Context, DataSource, Error, Field, Model, Values};
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
    ///
    /// ```
    /// # use terrane_sdk::{Context, DataSource, Error, Schema, Values};
    /// # struct Clock; impl DataSource for Clock { type Data = (); type Model = ();
    /// fn schema(&self) -> Schema {
    ///     Schema::of::<()>().deprecated("Use the function `timestamp`.")
    /// }
    /// # async fn read(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> { Ok(()) } }
    /// ```
    fn schema(&self) -> Schema {
        Schema::of::<Self::Model>()
    }

    /// Checks of the configuration beyond those of the schema.
    ///
    /// ```
    /// # use terrane_sdk::{Context, DataSource, Error, Field, Model, Validation, Values};
    /// # #[derive(Model)] struct User { #[attribute(optional)] id: Option<String>, #[attribute(optional)] mail: Option<String> }
    /// # struct UserSource; impl DataSource for UserSource { type Data = (); type Model = User;
    /// fn validate(&self, validation: &mut Validation<'_, User>) {
    ///     if let (Ok(Field::Null), Ok(Field::Null)) = (validation.config.get(User::ID), validation.config.get(User::MAIL)) {
    ///         validation.error(User::ID.path(), "Missing user", "Set \"id\" or \"mail\".");
    ///     }
    /// }
    /// # async fn read(&self, _: &mut Context<()>, user: Values<User>) -> Result<User, Error> { user.model() } }
    /// ```
    fn validate(&self, _validation: &mut Validation<'_, Self::Model>) {}

    /// The configuration is known; what it returns is the configuration with the computed attributes filled in.
    ///
    /// ```
    /// # use terrane_sdk::{Context, DataSource, Error, Field, Model, Values};
    /// # #[derive(Model)] struct Text { #[attribute(required)] path: String, #[attribute(computed)] content: Field<String> }
    /// # struct TextSource; impl DataSource for TextSource { type Data = (); type Model = Text;
    /// async fn read(&self, _context: &mut Context<()>, config: Values<Text>) -> Result<Text, Error> {
    ///     let path = config.model()?.path;
    ///     let content = Field::Known(std::fs::read_to_string(&path)?);
    ///     Ok(Text { path, content })
    /// }
    /// # }
    /// ```
    fn read(
        &self,
        context: &mut Context<Self::Data>,
        config: Values<Self::Model>,
    ) -> impl Future<Output = Result<Self::Model, Error>> + Send;
}

/// An ephemeral resource: a value that is never stored, which is opened, renewed while it is used, and closed.
///
/// ```
/// # use terrane_sdk::{Context, Ephemeral, Error, Field, Model, Opened, Values};
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
    ///
    /// ```
    /// # use terrane_sdk::{Context, Ephemeral, Error, Opened, Schema, Values};
    /// # struct Session; impl Ephemeral for Session { type Data = (); type Model = ();
    /// fn schema(&self) -> Schema {
    ///     Schema::of::<()>().description("A session of the service.")
    /// }
    /// # async fn open(&self, _: &mut Context<()>, _: Values<()>) -> Result<Opened<()>, Error> { Ok(Opened::new(())) } }
    /// ```
    fn schema(&self) -> Schema {
        Schema::of::<Self::Model>()
    }

    /// Checks of the configuration beyond those of the schema.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Ephemeral, Error, Field, Model, Opened, Validation, Values};
    /// # #[derive(Model)] struct Token { #[attribute(required)] scopes: Vec<String> }
    /// # struct TokenResource; impl Ephemeral for TokenResource { type Data = (); type Model = Token;
    /// fn validate(&self, validation: &mut Validation<'_, Token>) {
    ///     if let Ok(Field::Known(scopes)) = validation.config.get(Token::SCOPES)
    ///         && scopes.is_empty()
    ///     {
    ///         validation.warn(Token::SCOPES.path(), "No scopes", "The token permits nothing.");
    ///     }
    /// }
    /// # async fn open(&self, _: &mut Context<()>, c: Values<Token>) -> Result<Opened<Token>, Error> { Ok(Opened::new(c.model()?)) } }
    /// ```
    fn validate(&self, _validation: &mut Validation<'_, Self::Model>) {}

    /// Private data in the context is given to `renew` and `close`.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use terrane_sdk::{Context, Ephemeral, Error, Field, Model, Opened, Values};
    /// # #[derive(Model)] struct Token { #[attribute(computed)] token: Field<String> }
    /// # struct TokenResource; impl Ephemeral for TokenResource { type Data = (); type Model = Token;
    /// async fn open(&self, context: &mut Context<()>, _config: Values<Token>) -> Result<Opened<Token>, Error> {
    ///     context.private().set_value("id", 7)?;
    ///     let soon = SystemTime::now() + Duration::from_secs(600);
    ///     Ok(Opened::new(Token { token: Field::known("secret") }).renew_at(soon))
    /// }
    /// # }
    /// ```
    fn open(
        &self,
        context: &mut Context<Self::Data>,
        config: Values<Self::Model>,
    ) -> impl Future<Output = Result<Opened<Self::Model>, Error>> + Send;

    /// Called at the time that `open` or `renew` asked for. Returns the time of the next renewal.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use terrane_sdk::{Context, Ephemeral, Error, Opened, Values};
    /// # struct Lease; impl Ephemeral for Lease { type Data = (); type Model = ();
    /// # async fn open(&self, _: &mut Context<()>, _: Values<()>) -> Result<Opened<()>, Error> { Ok(Opened::new(())) }
    /// async fn renew(&self, context: &mut Context<()>) -> Result<Option<SystemTime>, Error> {
    ///     let id: Option<i64> = context.private().get_value("id");
    ///     // Renew the lease with this id.
    ///     Ok(id.map(|_| SystemTime::now() + Duration::from_secs(600)))
    /// }
    /// # }
    /// ```
    fn renew(
        &self,
        _context: &mut Context<Self::Data>,
    ) -> impl Future<Output = Result<Option<SystemTime>, Error>> + Send {
        ready(Ok(None))
    }

    /// Called when the run does not need the object any more. By default nothing is closed.
    ///
    /// ```
    /// # use terrane_sdk::{Context, Ephemeral, Error, Opened, Values};
    /// # struct Scratch; impl Ephemeral for Scratch { type Data = (); type Model = ();
    /// # async fn open(&self, _: &mut Context<()>, _: Values<()>) -> Result<Opened<()>, Error> { Ok(Opened::new(())) }
    /// async fn close(&self, context: &mut Context<()>) -> Result<(), Error> {
    ///     match context.private().get_value::<String>("path") {
    ///         Some(path) => Ok(std::fs::remove_file(path)?),
    ///         None => Ok(()),
    ///     }
    /// }
    /// # }
    /// ```
    fn close(&self, _context: &mut Context<Self::Data>) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }
}

/// An opened ephemeral object.
///
/// ```
/// # use terrane_sdk::Opened;
/// let opened = Opened::new("a token");
/// assert_eq!((opened.value, opened.renew_at), ("a token", None));
/// ```
#[non_exhaustive]
pub struct Opened<M> {
    /// The object with everything known.
    pub value: M,
    /// When the host calls `renew`; none: never.
    pub renew_at: Option<SystemTime>,
}

impl<M> Opened<M> {
    /// An object that needs no renewal.
    ///
    /// ```
    /// # use terrane_sdk::Opened;
    /// assert_eq!(Opened::new(()).renew_at, None);
    /// ```
    pub fn new(value: M) -> Opened<M> {
        Opened { value, renew_at: None }
    }

    /// The host calls `renew` at this time.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use terrane_sdk::Opened;
    /// let soon = SystemTime::now() + Duration::from_secs(60);
    /// assert_eq!(Opened::new(()).renew_at(soon).renew_at, Some(soon));
    /// ```
    #[must_use]
    pub fn renew_at(mut self, time: SystemTime) -> Opened<M> {
        self.renew_at = Some(time);
        self
    }
}
