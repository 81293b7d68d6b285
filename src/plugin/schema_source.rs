//! Whether a cached schema is what its provider says now.

use async_trait::async_trait;
use bytes::Bytes;

use super::provider_client::ProviderClient;
use super::schema_cache::Entry;
use super::wire::diagnostic;
use super::wire::protocol::{Call, Protocol};
use super::wire::schema::WireSchemas;
use super::wire::v6::message as wire;
use crate::model::provider::has_errors;

/// A process that can be asked whether its schema is that of a cached entry.
#[async_trait]
pub trait SchemaSource: Send + Sync {
    async fn differs(&self, entry: Entry) -> bool;
}

#[async_trait]
impl<P: Protocol> SchemaSource for ProviderClient<P> {
    async fn differs(&self, entry: Entry) -> bool {
        // A failure to answer says nothing: it may be what made the command fail.
        let asked = self.raw_call(Call::GetProviderSchema, wire::get_provider_schema::Request {}).await;
        asked.is_ok_and(|response| !same_response::<P>(entry, response))
    }
}

/// Whether a cached entry says what a response says. What cannot be read is not the same as anything.
pub fn same_response<P: Protocol>(entry: Entry, response: Bytes) -> bool {
    if entry.version != P::VERSION || entry.response == response {
        return entry.version == P::VERSION;
    }
    match (WireSchemas::<P>::read(entry.response), WireSchemas::<P>::read(response)) {
        (Ok((old, _)), Ok((new, said))) => !has_errors(&diagnostic::from_wire(said)) && old.same(&new),
        _ => false,
    }
}
