//! The types of a provider behind traits without type parameters: values in, values out.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use terrane_protocol::provider::{IdentitySchema, ProviderDiagnostic, ProviderDiagnostics};
use terrane_protocol::schema as wire;
use terrane_value::{Path, Value};

use super::context::Context;
use super::data_source::{DataSource, Ephemeral};
use super::error::Error;
use super::function::{Function, FunctionError, Signature};
use super::model::{Model, Values};
use super::plan::{Planned, Proposal, plan, without_write_only};
use super::request::{Creation, Import, Moved, Plan, Stored, Update, Validation};
use super::resource::Resource;
use super::schema::Schema;
use super::validate::{Check, without_empty_blocks};

/// A type with its schema.
pub(super) struct Offered<T> {
    schema: Schema,
    wire: Arc<wire::Schema>,
    inner: T,
}

impl<T> Offered<T> {
    pub fn new(schema: Schema, inner: T) -> Offered<T> {
        Offered { wire: Arc::new(schema.to_model()), schema, inner }
    }

    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// An object that an author made, with what is missing of it, and without write-only values.
    fn stored(&self, object: impl Model) -> Value {
        let value = object.into_value();
        if value.is_null() || !value.is_known() {
            return value;
        }
        let mut attributes = value.entries().to_map();
        if attributes.len() < self.schema.block.attributes.len() + self.schema.block.blocks.len() {
            for (name, empty) in self.wire.block.empty_value().entries() {
                attributes.entry(name.clone()).or_insert_with(|| empty.clone());
            }
        }
        let value = Value::object(attributes);
        if self.wire.block.has_write_only() { without_write_only(&self.schema.block, &value) } else { value }
    }

    fn null(&self) -> Value {
        Value::null(self.wire.implied_type().clone())
    }
}

/// What all types have.
pub(super) trait AnyType: Send + Sync {
    fn schema(&self) -> &Schema;
    fn wire(&self) -> &Arc<wire::Schema>;
}

impl<T: Send + Sync> AnyType for Offered<T> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn wire(&self) -> &Arc<wire::Schema> {
        &self.wire
    }
}

/// Checks a configuration by a schema.
pub(super) fn check(schema: &Schema, config: &Value, write_only_allowed: bool, found: &mut ProviderDiagnostics) {
    if schema.unchecked {
        return;
    }
    let config = &without_empty_blocks(&schema.block, config);
    Check { config, write_only_allowed, found }.object(&schema.block, &Path::new(), config);
    if let Some(message) = &schema.block.deprecation {
        found.push(ProviderDiagnostic::warning("Deprecated", message));
    }
}

/// A change to plan or to apply.
pub(super) struct Change {
    pub config: Value,
    pub prior: Value,
    /// Proposed or planned.
    pub after: Value,
}

/// An object after an operation, with what went wrong.
pub(super) struct Outcome {
    pub value: Value,
    pub error: Option<Error>,
}

#[async_trait]
pub(super) trait AnyResource<D>: AnyType {
    fn validate(&self, config: Value, write_only_allowed: bool, found: &mut ProviderDiagnostics);
    async fn plan(&self, context: &mut Context<D>, change: Change) -> Result<Planned, Error>;
    async fn apply(&self, context: &mut Context<D>, change: Change) -> Outcome;
    async fn read(&self, context: &mut Context<D>, current: Value) -> Result<Value, Error>;
    async fn import(&self, context: &mut Context<D>, import: Import) -> Result<Value, Error>;
    async fn upgrade(&self, context: &mut Context<D>, stored: Stored) -> Result<Value, Error>;
    async fn move_from(&self, context: &mut Context<D>, moved: Moved) -> Result<Value, Error>;
    fn identity_schema(&self) -> Option<IdentitySchema>;
    async fn upgrade_identity(&self, context: &mut Context<D>, version: i64, json: &str) -> Result<Value, Error>;
}

impl<R: Resource> Offered<R> {
    /// Stores the object's identity in the context.
    fn identify(&self, context: &mut Context<R::Data>, object: &R::Model, call: &str) -> Result<(), Error> {
        if self.inner.identity_schema().is_none() {
            return Ok(());
        }
        if let Some(identity) = self.inner.identity(object) {
            context.identity = Some(identity);
        }
        if context.identity.is_some() {
            return Ok(());
        }
        let detail = "The provider returned no identity for the object, although the type has one. This is always an \
                      error in the provider.";
        Err(Error::new(format!("Missing Resource Identity After {call}"), detail))
    }

    async fn create(&self, context: &mut Context<R::Data>, change: Change) -> Outcome {
        let (config, planned) = (Values::new(change.config), Values::new(change.after));
        let mut creation = Creation { config, planned, partial: None };
        let created = self.inner.create(context, &mut creation).await;
        let partial = creation.partial.unwrap_or_else(|| self.null());
        self.outcome(context, created, partial, "Create")
    }

    async fn update(&self, context: &mut Context<R::Data>, change: Change) -> Outcome {
        let (config, planned) = (Values::new(change.config), Values::new(change.after));
        let mut update = Update { config, prior: Values::new(change.prior.clone()), planned, partial: None };
        let updated = self.inner.update(context, &mut update).await;
        self.outcome(context, updated, update.partial.unwrap_or(change.prior), "Update")
    }

    async fn delete(&self, context: &mut Context<R::Data>, prior: Value) -> Outcome {
        let deleted = match R::Model::from_value(&prior) {
            Ok(state) => self.inner.delete(context, state).await,
            Err(mismatch) => Err(mismatch.into()),
        };
        match deleted {
            Ok(()) => {
                context.private = Default::default();
                Outcome { value: self.null(), error: None }
            }
            Err(error) => Outcome { value: prior, error: Some(error) },
        }
    }

    fn outcome(
        &self,
        context: &mut Context<R::Data>,
        object: Result<R::Model, Error>,
        partial: Value,
        call: &str,
    ) -> Outcome {
        match object {
            Ok(object) => {
                let error = self.identify(context, &object, call).err();
                Outcome { value: self.stored(object), error }
            }
            Err(error) => {
                let value = if partial.is_null() { partial } else { self.stored(super::Object(partial)) };
                Outcome { value, error: Some(error) }
            }
        }
    }
}

#[async_trait]
impl<R: Resource> AnyResource<R::Data> for Offered<R> {
    fn validate(&self, config: Value, write_only_allowed: bool, found: &mut ProviderDiagnostics) {
        self.inner.validate(&mut Validation { config: Values::new(config.clone()), found });
        check(&self.schema, &config, write_only_allowed, found);
    }

    async fn plan(&self, context: &mut Context<R::Data>, change: Change) -> Result<Planned, Error> {
        let Change { config, prior, after } = change;
        let block = &self.schema.block;
        let planned = plan(&Proposal { block, config: &config, prior: &prior, proposed: &after });
        let is_destroy = planned.value.is_null();
        let mut plan = Plan {
            config: Values::new(config),
            prior: Values::new(prior),
            planned: Values::new(planned.value),
            requires_replace: planned.requires_replace,
        };
        self.inner.plan(context, &mut plan).await?;
        let value = plan.planned.into_inner();
        if is_destroy != value.is_null() {
            let detail = "The provider planned an object for a destruction, or none for a change. This is always an \
                          error in the provider.";
            return Err(Error::new("Unexpected Planned Resource State on Destroy", detail));
        }
        let mut requires_replace = plan.requires_replace;
        requires_replace.sort_by_cached_key(ToString::to_string);
        requires_replace.dedup();
        Ok(Planned { value, requires_replace })
    }

    async fn apply(&self, context: &mut Context<R::Data>, change: Change) -> Outcome {
        if change.after.is_null() {
            self.delete(context, change.prior).await
        } else if change.prior.is_null() {
            self.create(context, change).await
        } else {
            self.update(context, change).await
        }
    }

    async fn read(&self, context: &mut Context<R::Data>, current: Value) -> Result<Value, Error> {
        let state = R::Model::from_value(&current)?;
        match self.inner.read(context, state).await? {
            Some(object) => {
                self.identify(context, &object, "Read")?;
                Ok(self.stored(object))
            }
            None => {
                context.identity = None;
                Ok(self.null())
            }
        }
    }

    async fn import(&self, context: &mut Context<R::Data>, import: Import) -> Result<Value, Error> {
        if let Import::Identity(identity) = &import {
            context.identity = Some(identity.clone());
        }
        let object = self.inner.import(context, import).await?;
        if let Some(identity) = self.inner.identity(&object) {
            context.identity = Some(identity);
        }
        Ok(self.stored(object))
    }

    async fn upgrade(&self, context: &mut Context<R::Data>, stored: Stored) -> Result<Value, Error> {
        if stored.version == self.schema.version {
            return stored.object();
        }
        Ok(self.stored(self.inner.upgrade(context, stored).await?))
    }

    async fn move_from(&self, context: &mut Context<R::Data>, moved: Moved) -> Result<Value, Error> {
        Ok(self.stored(self.inner.move_from(context, moved).await?))
    }

    fn identity_schema(&self) -> Option<IdentitySchema> {
        self.inner.identity_schema()
    }

    async fn upgrade_identity(&self, context: &mut Context<R::Data>, version: i64, json: &str) -> Result<Value, Error> {
        self.inner.upgrade_identity(context, version, json).await
    }
}

#[async_trait]
pub(super) trait AnyDataSource<D>: AnyType {
    fn validate(&self, config: Value, found: &mut ProviderDiagnostics);
    async fn read(&self, context: &mut Context<D>, config: Value) -> Result<Value, Error>;
}

#[async_trait]
impl<S: DataSource> AnyDataSource<S::Data> for Offered<S> {
    fn validate(&self, config: Value, found: &mut ProviderDiagnostics) {
        self.inner.validate(&mut Validation { config: Values::new(config.clone()), found });
        check(&self.schema, &config, true, found);
    }

    async fn read(&self, context: &mut Context<S::Data>, config: Value) -> Result<Value, Error> {
        Ok(self.stored(self.inner.read(context, Values::new(config)).await?))
    }
}

#[async_trait]
pub(super) trait AnyEphemeral<D>: AnyType {
    fn validate(&self, config: Value, found: &mut ProviderDiagnostics);
    async fn open(&self, context: &mut Context<D>, config: Value) -> Result<(Value, Option<SystemTime>), Error>;
    async fn renew(&self, context: &mut Context<D>) -> Result<Option<SystemTime>, Error>;
    async fn close(&self, context: &mut Context<D>) -> Result<(), Error>;
}

#[async_trait]
impl<E: Ephemeral> AnyEphemeral<E::Data> for Offered<E> {
    fn validate(&self, config: Value, found: &mut ProviderDiagnostics) {
        self.inner.validate(&mut Validation { config: Values::new(config.clone()), found });
        check(&self.schema, &config, true, found);
    }

    async fn open(&self, context: &mut Context<E::Data>, config: Value) -> Result<(Value, Option<SystemTime>), Error> {
        let opened = self.inner.open(context, Values::new(config)).await?;
        Ok((self.stored(opened.value), opened.renew_at))
    }

    async fn renew(&self, context: &mut Context<E::Data>) -> Result<Option<SystemTime>, Error> {
        self.inner.renew(context).await
    }

    async fn close(&self, context: &mut Context<E::Data>) -> Result<(), Error> {
        self.inner.close(context).await
    }
}

#[async_trait]
pub(super) trait AnyFunction: Send + Sync {
    fn signature(&self) -> Signature;
    async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError>;
}

#[async_trait]
impl<F: Function> AnyFunction for F {
    fn signature(&self) -> Signature {
        Function::signature(self)
    }

    async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        Function::call(self, arguments).await
    }
}
