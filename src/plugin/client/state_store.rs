//! The calls of a provider's client that concern its state stores. States cross the wire in chunks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use prost::Message;
use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics, StateStores, has_errors};
use terrane_protocol::schema::{ProviderSchemas, Schema};
use terrane_protocol::wire::chunks::{self, Assembly, Chunk, Chunks};
use terrane_protocol::wire::protocol::{Call, Protocol};
use terrane_protocol::wire::v6::message as wire;
use terrane_protocol::wire::{diagnostic, value};
use terrane_value::Value;

use super::provider::{ProviderClient, one, require};

impl<P: Protocol> ProviderClient<P> {
    async fn state_store(&self, kind: &str) -> Result<Arc<Schema>, ProviderDiagnostics> {
        let schemas = self.wire_schemas().await?;
        require(schemas.state_store(kind), || format!("unknown state store type {kind:?}"))
    }

    async fn try_configure_store(
        &self,
        kind: &str,
        config: &Value,
    ) -> Result<ProviderDiagnostics, ProviderDiagnostics> {
        let call = Call::ConfigureStateStore;
        let schema = self.state_store(kind).await?;
        let request = wire::configure_state_store::Request {
            type_name: kind.to_owned(),
            config: value::to_wire(config, schema.implied_type()),
            capabilities: Some(wire::StateStoreClientCapabilities { chunk_size: chunks::PROPOSED_SIZE }),
        };
        let response: wire::configure_state_store::Response = self.call(call, request).await.map_err(one)?;
        let mut diagnostics = diagnostic::from_wire(response.diagnostics);
        if !has_errors(&diagnostics) {
            match chunks::accepted(response.capabilities.unwrap_or_default().chunk_size) {
                Ok(size) => self.chunk_size.store(size, Ordering::Relaxed),
                Err(why) => diagnostics.push(ProviderDiagnostic::error(why.to_string(), "")),
            }
        }
        Ok(diagnostics)
    }

    async fn try_read_state(&self, kind: &str, state: &str) -> Result<Vec<u8>, ProviderDiagnostics> {
        let call = Call::ReadStateBytes;
        let request = wire::read_state_bytes::Request { type_name: kind.to_owned(), state_id: state.to_owned() };
        let mut events = self.open(call, request).await.map_err(one)?;
        let mut assembly = Assembly::default();
        while let Some(chunk) = self.next::<wire::read_state_bytes::Response>(&mut events).await.map_err(one)? {
            let diagnostics = diagnostic::from_wire(chunk.diagnostics);
            if has_errors(&diagnostics) {
                return Err(diagnostics);
            }
            assembly.add(&chunk.bytes, chunk.total_length, chunk.range);
        }
        assembly.end().map_err(|why| one(ProviderDiagnostic::error(why.to_string(), "")))
    }

    async fn try_write_state(
        &self,
        kind: &str,
        state: &str,
        content: Bytes,
    ) -> Result<ProviderDiagnostics, ProviderDiagnostics> {
        let call = Call::WriteStateBytes;
        let size = match self.chunk_size.load(Ordering::Relaxed) {
            0 => return Err(one(ProviderDiagnostic::error("The state store is not configured", ""))),
            size => size,
        };
        let mut meta = Some(wire::RequestChunkMeta { type_name: kind.to_owned(), state_id: state.to_owned() });
        let messages = Chunks::of(content, size).map(move |chunk| {
            let Chunk { bytes, total_length, range } = chunk;
            wire::write_state_bytes::RequestChunk { meta: meta.take(), bytes, total_length, range: Some(range) }
        });
        self.log_call(call);
        let answer = match self.channel.upload(&self.methods[call as usize], stream::iter(messages)).await {
            Ok(answer) => answer,
            Err(status) => return Err(one(self.failure(call, status).await)),
        };
        let response = wire::write_state_bytes::Response::decode(answer);
        let response = response.map_err(|error| one(self.garbage(call, error)))?;
        Ok(diagnostic::from_wire(response.diagnostics))
    }
}

#[async_trait]
impl<P: Protocol> StateStores for ProviderClient<P> {
    async fn validate_state_store(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        let schema = match self.state_store(kind).await {
            Ok(schema) => schema,
            Err(failures) => return failures,
        };
        let config = value::to_wire(&config, schema.implied_type());
        let request = wire::validate_state_store::Request { type_name: kind.to_owned(), config };
        self.validate(Call::ValidateStateStoreConfig, request).await
    }

    async fn configure_state_store(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        self.try_configure_store(kind, &config).await.unwrap_or_else(|failures| failures)
    }

    async fn read_state(&self, kind: &str, state: &str) -> Result<Vec<u8>, ProviderDiagnostics> {
        self.try_read_state(kind, state).await
    }

    async fn write_state(&self, kind: &str, state: &str, content: Arc<[u8]>) -> ProviderDiagnostics {
        let content = Bytes::from_owner(content);
        self.try_write_state(kind, state, content).await.unwrap_or_else(|failures| failures)
    }

    async fn lock_state(&self, kind: &str, state: &str, operation: &str) -> Result<String, ProviderDiagnostics> {
        let (type_name, state_id) = (kind.to_owned(), state.to_owned());
        let request = wire::lock_state::Request { type_name, state_id, operation: operation.to_owned() };
        let response: wire::lock_state::Response = self.call(Call::LockState, request).await.map_err(one)?;
        let diagnostics = diagnostic::from_wire(response.diagnostics);
        if has_errors(&diagnostics) { Err(diagnostics) } else { Ok(response.lock_id) }
    }

    async fn unlock_state(&self, kind: &str, state: &str, lock: &str) -> ProviderDiagnostics {
        let (type_name, state_id) = (kind.to_owned(), state.to_owned());
        let request = wire::unlock_state::Request { type_name, state_id, lock_id: lock.to_owned() };
        self.validate(Call::UnlockState, request).await
    }

    async fn states(&self, kind: &str) -> Result<Vec<String>, ProviderDiagnostics> {
        let request = wire::get_states::Request { type_name: kind.to_owned() };
        let response: wire::get_states::Response = self.call(Call::GetStates, request).await.map_err(one)?;
        let diagnostics = diagnostic::from_wire(response.diagnostics);
        if has_errors(&diagnostics) { Err(diagnostics) } else { Ok(response.state_id) }
    }

    async fn delete_state(&self, kind: &str, state: &str) -> ProviderDiagnostics {
        let request = wire::delete_state::Request { type_name: kind.to_owned(), state_id: state.to_owned() };
        self.validate(Call::DeleteState, request).await
    }
}
