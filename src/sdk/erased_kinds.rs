//! List resources and actions behind traits without type parameters.

use async_trait::async_trait;
use terrane_protocol::provider::{ListRequest, ProviderDiagnostics};
use terrane_value::Value;

use super::action::{Action, Progress};
use super::context::Context;
use super::erased::{AnyType, Offered, check};
use super::error::Error;
use super::list::{ListResource, Query, Results};
use super::model::Values;
use super::request::Validation;

#[async_trait]
pub(super) trait AnyList<D>: AnyType {
    fn validate(&self, config: Value, found: &mut ProviderDiagnostics);
    async fn list(
        &self,
        context: &mut Context<D>,
        request: ListRequest,
        results: &mut Results<'_>,
    ) -> Result<(), Error>;
}

#[async_trait]
impl<L: ListResource> AnyList<L::Data> for Offered<L> {
    fn validate(&self, config: Value, found: &mut ProviderDiagnostics) {
        self.inner().validate(&mut Validation { config: Values::new(config.clone()), found });
        check(self.schema(), &config, true, found);
    }

    async fn list(
        &self,
        context: &mut Context<L::Data>,
        request: ListRequest,
        results: &mut Results<'_>,
    ) -> Result<(), Error> {
        let ListRequest { config, include_object, limit, .. } = request;
        let query = Query { config: Values::new(config), include_object, limit };
        self.inner().list(context, query, results).await
    }
}

#[async_trait]
pub(super) trait AnyAction<D>: AnyType {
    fn validate(&self, config: Value, found: &mut ProviderDiagnostics);
    async fn plan(&self, context: &mut Context<D>, config: Value) -> Result<(), Error>;
    async fn invoke(&self, context: &mut Context<D>, config: Value, progress: &Progress) -> Result<(), Error>;
}

#[async_trait]
impl<A: Action> AnyAction<A::Data> for Offered<A> {
    fn validate(&self, config: Value, found: &mut ProviderDiagnostics) {
        self.inner().validate(&mut Validation { config: Values::new(config.clone()), found });
        check(self.schema(), &config, true, found);
    }

    async fn plan(&self, context: &mut Context<A::Data>, config: Value) -> Result<(), Error> {
        self.inner().plan(context, Values::new(config)).await
    }

    async fn invoke(&self, context: &mut Context<A::Data>, config: Value, progress: &Progress) -> Result<(), Error> {
        self.inner().invoke(context, Values::new(config), progress).await
    }
}
