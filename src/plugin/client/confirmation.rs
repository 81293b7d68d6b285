//! Whether a cached schema is what its provider says now.

use async_trait::async_trait;
use bytes::Bytes;
use terrane_protocol::grpc::Channel;
use terrane_protocol::grpc::client::Method;
use terrane_protocol::provider::has_errors;
use terrane_protocol::wire::diagnostic;
use terrane_protocol::wire::protocol::Protocol;
use terrane_protocol::wire::schema::WireSchemas;
use terrane_protocol::wire::v6::message as wire;

use crate::schema_cache::{CacheKey, Entry};

/// A process that can be asked whether its schema is that of a cached entry.
#[async_trait]
pub trait SchemaSource: Send + Sync {
    async fn differs(&self, entry: Entry) -> bool;
}

/// Asks the process for its schema, and records in the cache whether the entry is the same. A failure shows in other calls.
pub async fn confirm<P: Protocol>(channel: Channel, method: Method, cache: Option<CacheKey>) {
    let response = channel.call(&method, wire::get_provider_schema::Request {}).await;
    if let (Ok(response), Some((cache, key))) = (response, cache)
        && let Some(entry) = cache.load(&key)
    {
        cache.confirm(&key, same_response::<P>(entry, response));
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
