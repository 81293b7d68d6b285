//! Actions: operations that change no object of the state.

use std::future::{Future, ready};

use terrane_protocol::provider::Output;

use super::context::Context;
use super::error::Error;
use super::model::{Model, Values};
use super::request::Validation;
use super::schema::Schema;

/// An action.
///
/// ```
/// # use terrane_sdk::{Action, Context, Error, Model, Progress, Values};
/// /// Restarts a machine.
/// #[derive(Model)]
/// struct RestartConfig {
///     #[attribute(required)]
///     name: String,
/// }
///
/// struct Restart;
///
/// impl Action for Restart {
///     type Data = ();
///     type Config = RestartConfig;
///
///     async fn invoke(
///         &self,
///         _context: &mut Context<()>,
///         config: Values<RestartConfig>,
///         progress: &Progress,
///     ) -> Result<(), Error> {
///         progress.report(&format!("restarting {}", config.model()?.name));
///         Ok(())
///     }
/// }
/// ```
pub trait Action: Send + Sync + 'static {
    /// What the provider's `configure` returns.
    type Data: Send + Sync + 'static;
    /// The arguments of the action.
    type Config: Model;

    /// By default that of the model.
    ///
    /// ```
    /// # use terrane_sdk::{Action, Context, Error, Progress, Schema, Values};
    /// # struct Restart; impl Action for Restart { type Data = (); type Config = ();
    /// fn schema(&self) -> Schema {
    ///     Schema::of::<()>().description("Restarts all machines.")
    /// }
    /// # async fn invoke(&self, _: &mut Context<()>, _: Values<()>, _: &Progress) -> Result<(), Error> { Ok(()) } }
    /// ```
    fn schema(&self) -> Schema {
        Schema::of::<Self::Config>()
    }

    /// Checks of the configuration beyond those of the schema.
    ///
    /// ```
    /// # use terrane_sdk::{Action, Context, Error, Field, Model, Progress, Validation, Values};
    /// # #[derive(Model)] struct Restart { #[attribute(required)] name: String }
    /// # struct RestartAction; impl Action for RestartAction { type Data = (); type Config = Restart;
    /// fn validate(&self, validation: &mut Validation<'_, Restart>) {
    ///     if let Ok(Field::Known(name)) = validation.config.get(Restart::NAME)
    ///         && name.contains(' ')
    ///     {
    ///         validation.error(Restart::NAME.path(), "Invalid name", "Names of machines have no spaces.");
    ///     }
    /// }
    /// # async fn invoke(&self, _: &mut Context<()>, _: Values<Restart>, _: &Progress) -> Result<(), Error> { Ok(()) } }
    /// ```
    fn validate(&self, _validation: &mut Validation<'_, Self::Config>) {}

    /// Called while the run is planned: says early that the action cannot be invoked.
    ///
    /// ```
    /// # use terrane_sdk::{Action, Context, Error, Progress, Values};
    /// # struct Restart; impl Action for Restart { type Data = Vec<String>; type Config = ();
    /// async fn plan(&self, context: &mut Context<Vec<String>>, _config: Values<()>) -> Result<(), Error> {
    ///     if context.data()?.is_empty() {
    ///         return Err(Error::new("No machines", "There are no machines to restart. Create one first."));
    ///     }
    ///     Ok(())
    /// }
    /// # async fn invoke(&self, _: &mut Context<Vec<String>>, _: Values<()>, _: &Progress) -> Result<(), Error> { Ok(()) } }
    /// ```
    fn plan(
        &self,
        _context: &mut Context<Self::Data>,
        _config: Values<Self::Config>,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }

    /// Does it. The configuration is known.
    ///
    /// ```
    /// # use terrane_sdk::{Action, Context, Error, Model, Progress, Values};
    /// # #[derive(Model)] struct Touch { #[attribute(required)] path: String }
    /// # struct TouchAction; impl Action for TouchAction { type Data = (); type Config = Touch;
    /// async fn invoke(&self, _: &mut Context<()>, config: Values<Touch>, progress: &Progress) -> Result<(), Error> {
    ///     let path = config.model()?.path;
    ///     std::fs::write(&path, "")?;
    ///     progress.report(&format!("{path} is empty now"));
    ///     Ok(())
    /// }
    /// # }
    /// ```
    fn invoke(
        &self,
        context: &mut Context<Self::Data>,
        config: Values<Self::Config>,
        progress: &Progress,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Messages for the user while an action runs.
///
/// ```
/// # use std::time::Duration;
/// # use terrane_sdk::Progress;
/// async fn count_down(progress: &Progress) {
///     for seconds in (1..=3).rev() {
///         progress.report(&format!("{seconds} seconds left"));
///         tokio::time::sleep(Duration::from_secs(1)).await;
///     }
/// }
/// ```
pub struct Progress {
    pub(super) output: Output,
}

impl Progress {
    /// Shows a line.
    ///
    /// ```
    /// # use terrane_sdk::{Action, Context, Error, Progress, Values, testing};
    /// # struct Greet; impl Action for Greet { type Data = (); type Config = ();
    /// # async fn invoke(&self, _: &mut Context<()>, _: Values<()>, progress: &Progress) -> Result<(), Error> {
    /// progress.report("Hello.");
    /// # Ok(()) } }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
    /// assert_eq!(testing::invoke(&Greet, &mut testing::context(()), ()).await?, ["Hello."]);
    /// # Ok(()) }
    /// ```
    pub fn report(&self, message: &str) {
        (self.output)(message);
    }
}
