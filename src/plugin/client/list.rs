//! The calls of a provider's client that list objects.

use std::ops::ControlFlow;
use std::sync::Arc;

use terrane_protocol::provider::{
    IdentitySchema, ListRequest, ListResult, ListSink, ProviderDiagnostic, ProviderDiagnostics, ValidateListRequest,
    has_errors, no_identity_schema,
};
use terrane_protocol::schema::{ProviderSchemas, Schema};
use terrane_protocol::wire::protocol::{Call, Protocol};
use terrane_protocol::wire::v6::message as wire;
use terrane_protocol::wire::{WireError, diagnostic, identity, value};
use terrane_value::Type;
use wire::list_resource::Event;

use super::provider::{ProviderClient, one, require};

impl<P: Protocol> ProviderClient<P> {
    async fn list_resource(&self, kind: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        let schemas = self.wire_schemas().await?;
        require(schemas.list_resource(kind), || format!("unknown list resource type {kind:?}"))
    }

    pub(super) async fn try_validate_list(
        &self,
        request: &ValidateListRequest,
    ) -> Result<ProviderDiagnostics, ProviderDiagnostics> {
        let schema = self.list_resource(&request.kind).await?;
        let message = wire::validate_list_resource_config::Request {
            type_name: request.kind.to_string(),
            config: value::to_wire(&request.config, schema.implied_type()),
            include_resource_object: value::to_wire(&request.include_object, &Type::Bool),
            limit: value::to_wire(&request.limit, &Type::Number),
        };
        Ok(self.validate(Call::ValidateListResourceConfig, message).await)
    }

    pub(super) async fn try_list(
        &self,
        request: &ListRequest,
        results: &dyn ListSink,
    ) -> Result<ProviderDiagnostics, ProviderDiagnostics> {
        let kind = &request.kind;
        let schema = self.list_resource(kind).await?;
        let object = self.managed(kind).await?;
        let identity = self.identity_schemas().await?.get(&**kind).ok_or_else(|| one(no_identity_schema(kind)))?;
        let message = wire::list_resource::Request {
            type_name: kind.to_string(),
            config: value::to_wire(&request.config, schema.implied_type()),
            include_resource_object: request.include_object,
            limit: request.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(0),
        };
        let mut left = request.limit.unwrap_or(u64::MAX);
        let mut about_all = Vec::new();
        let mut events = self.open(Call::ListResource, message).await.map_err(one)?;
        while left > 0
            && let Some(event) = self.next::<Event>(&mut events).await.map_err(one)?
        {
            let result = match self.result(kind, event, identity, &object) {
                Ok(result) => result,
                // After an error, the other results are of no use.
                Err(found) => {
                    let failed = has_errors(&found);
                    about_all.extend(found);
                    if failed {
                        break;
                    }
                    continue;
                }
            };
            left -= 1;
            if let ControlFlow::Break(()) = results.add(result).await {
                break;
            }
        }
        Ok(about_all)
    }

    /// The result of an event, or the diagnostics of one that contains no result.
    fn result(
        &self,
        kind: &str,
        event: Event,
        identity: &IdentitySchema,
        object: &Schema,
    ) -> Result<ListResult, ProviderDiagnostics> {
        let garbage = |error: WireError| one(self.garbage(Call::ListResource, error));
        let diagnostics = diagnostic::from_wire(event.diagnostic);
        if has_errors(&diagnostics) {
            return Err(diagnostics);
        }
        let Some(identity) = identity::from_wire(event.identity, identity).map_err(garbage)? else {
            return match diagnostics.is_empty() {
                true => Err(one(ProviderDiagnostic::error(
                    format!("missing identity data in ListResource event for {kind}"),
                    "",
                ))),
                false => Err(diagnostics),
            };
        };
        let object =
            event.resource_object.map(|object_data| value::from_wire(Some(object_data), object.implied_type()));
        let object = object.transpose().map_err(garbage)?.filter(|object| !object.is_null());
        Ok(ListResult { identity, display_name: event.display_name, object, diagnostics })
    }
}
