//! The answering end of the calls that concern a provider's state stores.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use prost::Message;
use tokio::sync::mpsc;
use tonic::Status;

use super::grpc::server::Messages;
use super::grpc::{self, Reply, reply};
use super::provider_server::{Answer, ProviderServer, answer_or, decode, either, only_diagnostics, read, require};
use super::wire::chunks::{self, Assembly, Chunks};
use super::wire::diagnostic;
use super::wire::message as wire;
use super::wire::protocol::{Call, Protocol};
use crate::provider::{ProviderDiagnostic, ProviderDiagnostics, StateStores, has_errors};
use crate::schema::Schema;

impl<P: Protocol> ProviderServer<P> {
    fn stores(&self) -> Answer<&dyn StateStores> {
        let missing = || vec![ProviderDiagnostic::error("This provider has no state stores", "")];
        self.provider().state_stores().ok_or_else(missing)
    }

    async fn store_schema(&self, kind: &str) -> Answer<Arc<Schema>> {
        require(self.schemas().await?.state_store(kind), || format!("unknown state store type {kind:?}"))
    }

    /// True for the path of the call whose request has several messages.
    pub fn is_upload(&self, path: &str) -> bool {
        P::VERSION >= 6 && P::call(path) == Some(Call::WriteStateBytes)
    }

    /// Answers one of the calls with one request.
    pub(super) async fn answer_store(&self, call: Call, request: Bytes) -> Result<Reply, Status> {
        match call {
            _ if P::VERSION < 6 => Err(grpc::unimplemented(&P::path(call))),
            Call::ValidateStateStoreConfig => self.validate_store(read(request)?).await,
            Call::ConfigureStateStore => self.configure_store(read(request)?).await,
            Call::ReadStateBytes => self.read_state(read(request)?).await,
            Call::LockState => self.lock_state(read(request)?).await,
            Call::UnlockState => self.unlock_state(read(request)?).await,
            Call::GetStates => self.get_states(read(request)?).await,
            Call::DeleteState => self.delete_state(read(request)?).await,
            _ => Err(grpc::unimplemented(&P::path(call))),
        }
    }

    async fn validate_store(&self, request: wire::validate_state_store::Request) -> Result<Reply, Status> {
        let kind = &request.type_name;
        let answer = async {
            let config = decode(request.config, self.store_schema(kind).await?.implied_type())?;
            Ok(self.stores()?.validate_state_store(kind, config).await)
        };
        Ok(only_diagnostics(either(answer.await)))
    }

    async fn configure_store(&self, request: wire::configure_state_store::Request) -> Result<Reply, Status> {
        let kind = &request.type_name;
        let size = chunks::answer(request.capabilities.unwrap_or_default().chunk_size);
        let answer = async {
            let config = decode(request.config, self.store_schema(kind).await?.implied_type())?;
            let said = self.stores()?.configure_state_store(kind, config).await;
            if let Some(size) = usize::try_from(size).ok().filter(|_| !has_errors(&said)) {
                self.chunk_size.store(size, Ordering::Relaxed);
            }
            Ok(said)
        };
        let diagnostics = diagnostic::to_wire(either(answer.await));
        let capabilities = Some(wire::StateStoreServerCapabilities { chunk_size: size });
        Ok(reply(&wire::configure_state_store::Response { diagnostics, capabilities }))
    }

    async fn read_state(&self, request: wire::read_state_bytes::Request) -> Result<Reply, Status> {
        let answer = async { self.stores()?.read_state(&request.type_name, &request.state_id).await };
        let failed = |diagnostics| {
            let message = wire::read_state_bytes::Response { diagnostics, ..Default::default() };
            vec![grpc::encoded(&message)]
        };
        let messages = match answer.await {
            Ok(content) => {
                Chunks::of(content.into(), self.chunk_size.load(Ordering::Relaxed)).map(read_message).collect()
            }
            Err(problems) => failed(diagnostic::to_wire(problems)),
        };
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            for message in messages {
                if sender.send(Ok(message)).await.is_err() {
                    return;
                }
            }
        });
        Ok(Reply::Stream(receiver))
    }

    /// Takes the chunks of a state to their end, then writes it.
    pub(super) async fn write_state(&self, mut messages: Messages) -> Result<Reply, Status> {
        let (mut meta, mut assembly) = (None, Assembly::default());
        while let Some(message) = messages.next().await? {
            let chunk = wire::write_state_bytes::RequestChunk::decode(message);
            let chunk = chunk.map_err(|error| Status::internal(format!("the request cannot be read: {error}")))?;
            meta = meta.or(chunk.meta);
            assembly.add(&chunk.bytes, chunk.total_length, chunk.range);
        }
        let meta = meta.ok_or_else(|| Status::invalid_argument("no chunk says which state it belongs to"))?;
        let answer = async {
            let content = assembly.end().map_err(|why| vec![ProviderDiagnostic::error(why.to_string(), "")])?;
            Ok(self.stores()?.write_state(&meta.type_name, &meta.state_id, content.into()).await)
        };
        Ok(only_diagnostics(either(answer.await)))
    }

    async fn lock_state(&self, request: wire::lock_state::Request) -> Result<Reply, Status> {
        let wire::lock_state::Request { type_name, state_id, operation } = request;
        let answer = async { self.stores()?.lock_state(&type_name, &state_id, &operation).await };
        let answer = answer.await.map(|lock_id| wire::lock_state::Response { lock_id, ..Default::default() });
        let failed = |diagnostics| wire::lock_state::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer, failed)))
    }

    async fn unlock_state(&self, request: wire::unlock_state::Request) -> Result<Reply, Status> {
        let wire::unlock_state::Request { type_name, state_id, lock_id } = request;
        let answer: Answer<ProviderDiagnostics> =
            async { Ok(self.stores()?.unlock_state(&type_name, &state_id, &lock_id).await) }.await;
        Ok(only_diagnostics(either(answer)))
    }

    async fn get_states(&self, request: wire::get_states::Request) -> Result<Reply, Status> {
        let answer = async { self.stores()?.states(&request.type_name).await };
        let answer = answer.await.map(|state_id| wire::get_states::Response { state_id, ..Default::default() });
        let failed = |diagnostics| wire::get_states::Response { diagnostics, ..Default::default() };
        Ok(reply(&answer_or(answer, failed)))
    }

    async fn delete_state(&self, request: wire::delete_state::Request) -> Result<Reply, Status> {
        let answer: Answer<ProviderDiagnostics> =
            async { Ok(self.stores()?.delete_state(&request.type_name, &request.state_id).await) }.await;
        Ok(only_diagnostics(either(answer)))
    }
}

fn read_message(chunk: chunks::Chunk) -> Bytes {
    let chunks::Chunk { bytes, total_length, range } = chunk;
    let range = Some(range);
    grpc::encoded(&wire::read_state_bytes::Response { bytes, total_length, range, ..Default::default() })
}
