//! The calling end: a [`Channel`] carries any number of calls at once over one connection.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::SendRequest;
use http::uri::PathAndQuery;
use prost::Message;
use tokio_stream::{Stream, StreamExt};
use tonic::client::Grpc;
use tonic::{Request, Status, Streaming};

use super::body::{self, Ended, Incoming, failure};
use super::codec::{Bare, Encoded};
use super::pieces::Pieces;
use super::{CONNECTION_WINDOW, FRAME_SIZE, STREAM_WINDOW, STREAMS, Transport};

/// A connection to a plugin. Cheap to clone; the connection closes when the last clone is dropped.
#[derive(Clone)]
pub struct Channel {
    grpc: Grpc<ClientConnection>,
    ended: Ended,
}

/// The path of a method, parsed once: "/package.Service/Method".
#[derive(Clone, Debug)]
pub struct Method(PathAndQuery);

impl Method {
    pub fn new(path: &str) -> Method {
        Method(PathAndQuery::try_from(path).unwrap_or_else(|_| PathAndQuery::from_static("/")))
    }
}

impl Channel {
    /// Speaks HTTP/2 over `io`. The connection is served by a task of the current runtime.
    pub async fn connect(io: impl Transport) -> Result<Channel, Status> {
        let (sender, connection) = h2::client::Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_frame_size(FRAME_SIZE)
            .initial_max_send_streams(STREAMS as usize)
            .enable_push(false)
            .handshake::<_, Bytes>(io)
            .await
            .map_err(|error| Status::unavailable(error.to_string()))?;
        let ended = Ended::default();
        let note = ended.clone();
        tokio::spawn(async move {
            let reason = match connection.await {
                Ok(()) => "the connection was closed".to_owned(),
                Err(error) => error.to_string(),
            };
            if let Ok(mut note) = note.lock() {
                *note = Some(reason);
            }
        });
        let origin = http::Uri::from_static("http://localhost");
        let grpc = Grpc::with_origin(ClientConnection { sender, ended: ended.clone() }, origin);
        Ok(Channel { grpc: grpc.max_decoding_message_size(usize::MAX), ended })
    }

    /// True once the connection is gone: every call from now on fails.
    pub fn has_ended(&self) -> bool {
        self.ended.lock().map(|ended| ended.is_some()).unwrap_or(true)
    }

    /// A call with one message each way; the answer is not decoded.
    pub async fn call<M: Message + 'static>(&self, method: &Method, request: M) -> Result<Bytes, Status> {
        let mut grpc = self.grpc.clone();
        grpc.ready().await?;
        let answer = grpc.unary(outgoing(request), method.0.clone(), Bare::default()).await?;
        Ok(answer.into_inner())
    }

    /// A call that is answered with any number of messages.
    pub async fn open<M: Message + 'static>(&self, method: &Method, request: M) -> Result<Streaming<Bytes>, Status> {
        let mut grpc = self.grpc.clone();
        grpc.ready().await?;
        let answer = grpc.server_streaming(outgoing(request), method.0.clone(), Bare::default()).await?;
        Ok(answer.into_inner())
    }

    /// A call with any number of messages, which is answered with one; that is not decoded.
    pub async fn upload<M: Message + 'static>(
        &self,
        method: &Method,
        requests: impl Stream<Item = M> + Send + 'static,
    ) -> Result<Bytes, Status> {
        let mut grpc = self.grpc.clone();
        grpc.ready().await?;
        let requests = Request::new(requests.map(encoded));
        let answer = grpc.client_streaming(requests, method.0.clone(), Bare::default()).await?;
        Ok(answer.into_inner())
    }
}

/// Messages of a stream, to be encoded.
fn encoded<M: Message>(message: M) -> Encoded<M> {
    Encoded(Some(message))
}

fn outgoing<M: Message>(message: M) -> Request<Encoded<M>> {
    let Some(pieces) = Pieces::of(&message) else { return Request::new(Encoded(Some(message))) };
    let mut request = Request::new(Encoded(None));
    request.extensions_mut().insert(pieces);
    request
}

/// The HTTP/2 connection, as the service that tonic calls.
#[derive(Clone)]
struct ClientConnection {
    sender: SendRequest<Bytes>,
    ended: Ended,
}

impl tower_service::Service<http::Request<tonic::body::Body>> for ClientConnection {
    type Response = http::Response<Incoming>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Status>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        self.sender.poll_ready(cx).map_err(|error| failure(error, &self.ended))
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let pieces = head.extensions.remove::<Pieces>();
        let sent = self.sender.send_request(http::Request::from_parts(head, ()), false);
        let ended = self.ended.clone();
        Box::pin(async move {
            let work = async {
                let (response, mut stream) = sent?;
                // The messages of a request are there already.
                let sent = match pieces {
                    Some(pieces) => pieces.send(&mut stream, true),
                    None => body::send(body, &mut stream).await,
                };
                // A server may answer before it has read the whole request.
                response.await.map_err(|error| sent.err().unwrap_or(error))
            };
            match work.await {
                Ok(response) => Ok(response.map(|stream| Incoming::new(stream, ended))),
                Err(error) => Err(failure(error, &ended)),
            }
        })
    }
}
