//! The answering end of the calls that list objects.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use terrane_value::Type;
use tokio::sync::mpsc;
use tonic::Status;
use tracing::Instrument as _;
use wire::list_resource::Event;

use super::grpc::{Reply, encoded};
use super::provider_server::{Answer, ProviderServer, bad, decode, either, encode, only_diagnostics, require};
use super::wire::message as wire;
use super::wire::protocol::Protocol;
use super::wire::{diagnostic, identity};
use crate::provider::{
    INVALID_IDENTITY, IdentitySchema, ListRequest, ListResult, ListSink, ProviderDiagnostic, ProviderDiagnostics,
    ValidateListRequest,
};
use crate::schema::Schema;

/// Results that may wait for the caller; the provider waits then.
const BUFFER: usize = 16;

impl<P: Protocol> ProviderServer<P> {
    async fn list_resource(&self, kind: &str) -> Answer<Arc<Schema>> {
        require(self.schemas().await?.list_resource(kind), || format!("unknown list resource type {kind:?}"))
    }

    pub(super) async fn validate_list(
        &self,
        request: wire::validate_list_resource_config::Request,
    ) -> Result<Reply, Status> {
        let answer = async {
            let schema = self.list_resource(&request.type_name).await?;
            let request = ValidateListRequest {
                kind: request.type_name.into(),
                config: decode(request.config, schema.implied_type())?,
                include_object: decode(request.include_resource_object, &Type::Bool)?,
                limit: decode(request.limit, &Type::Number)?,
            };
            Ok(self.provider().validate_list_config(request).await)
        };
        Ok(only_diagnostics(either(answer.await)))
    }

    pub(super) async fn list(&self, request: wire::list_resource::Request) -> Result<Reply, Status> {
        let (sender, receiver) = mpsc::channel(BUFFER);
        let (request, results) = match self.listing(request, sender.clone()).await {
            Ok(listing) => listing,
            Err(failures) => return Ok(Reply::Message(failed(failures))),
        };
        let provider = self.provider().clone();
        let task = async move {
            let diagnostics = tokio::select! {
                diagnostics = provider.list_resources(request, &results) => diagnostics,
                // The caller has what it wants, or is gone.
                () = sender.closed() => return,
            };
            if !diagnostics.is_empty() {
                let _ = sender.send(Ok(failed(diagnostics))).await;
            }
        };
        tokio::spawn(task.in_current_span());
        Ok(Reply::Stream(receiver))
    }

    async fn listing(&self, request: wire::list_resource::Request, sender: Sender) -> Answer<(ListRequest, Results)> {
        let kind = &request.type_name;
        let config = decode(request.config, self.list_resource(kind).await?.implied_type())?;
        let object = self.managed(kind).await?;
        let identity = self.provider().identity_schema(kind).await?;
        let identity = identity.ok_or_else(|| vec![bad(format!("objects of the type {kind:?} have no identity"))])?;
        let limit = u64::try_from(request.limit).ok().filter(|limit| *limit > 0);
        let left = AtomicU64::new(limit.unwrap_or(u64::MAX));
        let results = Results { identity, object, left, sender };
        let include_object = request.include_resource_object;
        Ok((ListRequest { kind: request.type_name.into(), config, include_object, limit }, results))
    }
}

type Sender = mpsc::Sender<Result<Bytes, Status>>;

/// Sends results to the caller, up to its limit.
struct Results {
    identity: IdentitySchema,
    object: Arc<Schema>,
    left: AtomicU64,
    sender: Sender,
}

impl Results {
    fn event(&self, result: ListResult) -> Event {
        match identity::to_wire(&result.identity, &self.identity) {
            Ok(identity) => Event {
                identity: Some(identity),
                display_name: result.display_name,
                resource_object: result.object.and_then(|object| encode(&object, self.object.implied_type())),
                diagnostic: diagnostic::to_wire(result.diagnostics),
            },
            Err(error) => {
                let detail = format!("The identity of {:?} does not fit its schema: {error}.", result.display_name);
                let diagnostic = vec![ProviderDiagnostic::error(INVALID_IDENTITY, detail)];
                Event { diagnostic: diagnostic::to_wire(diagnostic), ..Event::default() }
            }
        }
    }
}

#[async_trait]
impl ListSink for Results {
    async fn add(&self, result: ListResult) -> ControlFlow<()> {
        let take = |left: u64| left.checked_sub(1);
        let Ok(before) = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) else {
            return ControlFlow::Break(());
        };
        let sent = self.sender.send(Ok(encoded(&self.event(result)))).await;
        if sent.is_err() || before == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// What is reported about a list as a whole.
fn failed(diagnostics: ProviderDiagnostics) -> Bytes {
    encoded(&Event { diagnostic: diagnostic::to_wire(diagnostics), ..Event::default() })
}
