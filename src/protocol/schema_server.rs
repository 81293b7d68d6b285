//! The answering end of the calls that describe a provider: schemas, names and functions.

use std::sync::Arc;

use tonic::Status;

use super::grpc::{Reply, reply};
use super::provider_server::ProviderServer;
use super::wire::message as wire;
use super::wire::protocol::Protocol;
use super::wire::{diagnostic, function, schema};
use crate::schema::ProviderSchemas;

impl<P: Protocol> ProviderServer<P> {
    pub(super) async fn get_schema(&self) -> Result<Reply, Status> {
        let schemas = match self.schemas().await {
            Ok(schemas) => schemas,
            Err(failures) => {
                let diagnostics = diagnostic::to_wire(failures);
                return Ok(reply(&wire::get_provider_schema::Response { diagnostics, ..Default::default() }));
            }
        };
        let response = schema::to_response::<P>(&**schemas).map_err(|error| Status::internal(error.to_string()))?;
        Ok(Reply::Message(response.into()))
    }

    pub(super) async fn get_metadata(&self) -> Result<Reply, Status> {
        let response = match self.schemas().await {
            Ok(schemas) => metadata::<P>(&**schemas),
            Err(failures) => {
                wire::get_metadata::Response { diagnostics: diagnostic::to_wire(failures), ..Default::default() }
            }
        };
        Ok(reply(&response))
    }

    pub(super) async fn get_functions(&self) -> Result<Reply, Status> {
        let mut response = wire::get_functions::Response::default();
        match self.schemas().await {
            Err(failures) => response.diagnostics = diagnostic::to_wire(failures),
            Ok(schemas) => {
                for name in schemas.function_names() {
                    if let Ok(Some(signature)) = schemas.function(&name) {
                        response.functions.insert(name.to_string(), function::to_wire(&signature));
                    }
                }
            }
        }
        Ok(reply(&response))
    }
}

/// The names of everything that a provider has.
fn metadata<P: Protocol>(schemas: &dyn ProviderSchemas) -> wire::get_metadata::Response {
    use wire::get_metadata::*;
    fn each<M>(names: Vec<Arc<str>>, message: fn(String) -> M) -> Vec<M> {
        names.into_iter().map(|name| message(name.to_string())).collect()
    }
    // Protocol 5 has none.
    let stores = if P::VERSION >= 6 { schemas.state_store_names() } else { Vec::new() };
    Response {
        server_capabilities: Some(schema::to_capabilities(schemas.capabilities())),
        diagnostics: Vec::new(),
        data_sources: each(schemas.data_names(), |type_name| DataSourceMetadata { type_name }),
        resources: each(schemas.managed_names(), |type_name| ResourceMetadata { type_name }),
        functions: each(schemas.function_names(), |name| FunctionMetadata { name }),
        ephemeral_resources: each(schemas.ephemeral_names(), |type_name| EphemeralMetadata { type_name }),
        list_resources: each(schemas.list_resource_names(), |type_name| ListResourceMetadata { type_name }),
        state_stores: each(stores, |type_name| StateStoreMetadata { type_name }),
        actions: each(schemas.action_names(), |type_name| ActionMetadata { type_name }),
    }
}
