//! Data sources and ephemeral resources.

use std::future::{Future, ready};
use std::time::SystemTime;

use super::context::Context;
use super::error::Error;
use super::model::{Model, Values};
use super::resource::Validation;
use super::schema::Schema;

/// A data source: reads an object that it does not manage.
pub trait DataSource: Send + Sync + 'static {
    /// What the provider's `configure` returns.
    type Data: Send + Sync + 'static;
    type Model: Model;

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
pub trait Ephemeral: Send + Sync + 'static {
    /// What the provider's `configure` returns.
    type Data: Send + Sync + 'static;
    type Model: Model;

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

    fn close(&self, _context: &mut Context<Self::Data>) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }
}

/// An opened ephemeral object.
#[non_exhaustive]
pub struct Opened<M> {
    pub value: M,
    pub renew_at: Option<SystemTime>,
}

impl<M> Opened<M> {
    pub fn new(value: M) -> Opened<M> {
        Opened { value, renew_at: None }
    }

    /// The host calls `renew` at this time.
    #[must_use]
    pub fn renew_at(mut self, time: SystemTime) -> Opened<M> {
        self.renew_at = Some(time);
        self
    }
}
