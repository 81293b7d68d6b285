//! Actions: operations that change no object of the state.

use std::future::{Future, ready};

use super::context::Context;
use super::error::Error;
use super::model::{Model, Values};
use super::resource::Validation;
use super::schema::Schema;
use crate::model::provider::Output;

/// An action.
///
/// ```
/// # use terrane::sdk::{Action, Context, Error, Model, Progress, Values};
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
    fn schema(&self) -> Schema {
        Schema::of::<Self::Config>()
    }

    /// Checks of the configuration beyond those of the schema.
    fn validate(&self, _validation: &mut Validation<'_, Self::Config>) {}

    /// Called while the run is planned: says early that the action cannot be invoked.
    fn plan(
        &self,
        _context: &mut Context<Self::Data>,
        _config: Values<Self::Config>,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }

    /// Does it. The configuration is known.
    fn invoke(
        &self,
        context: &mut Context<Self::Data>,
        config: Values<Self::Config>,
        progress: &Progress,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Messages for the user while an action runs.
pub struct Progress {
    pub(super) output: Output,
}

impl Progress {
    /// Shows a line.
    pub fn report(&self, message: &str) {
        (self.output)(message);
    }
}
