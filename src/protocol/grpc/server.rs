//! The answering end: puts a [`Service`] on a connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use h2::server::SendResponse;
use http_body::Body as _;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tonic::server::Grpc;
use tonic::{Status, Streaming};

use super::body::{self, Ended, Incoming};
use super::codec::Bare;
use super::pieces::Pieces;
use super::{CONNECTION_WINDOW, FRAME_SIZE, STREAM_WINDOW, STREAMS, Transport};

/// What is called: paths are "/package.Service/Method".
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// `messages` gives the caller's messages; a unary call has one.
    async fn call(&self, path: &str, messages: Messages) -> Result<Reply, Status>;
}

/// The caller's messages, encoded.
pub struct Messages(Streaming<Bytes>);

impl Messages {
    /// The next message, `None` when the caller has sent its last.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        self.0.message().await
    }

    /// The one message of a unary call.
    pub async fn single(mut self) -> Result<Bytes, Status> {
        let message = self.next().await?.ok_or_else(|| Status::internal("the call came without a message"))?;
        // To the end: a stream that is left before its end is reset, which the other end takes for an attack in time.
        match self.next().await? {
            None => Ok(message),
            Some(_) => Err(Status::internal("the call came with more than one message")),
        }
    }
}

/// The answer to a call; its messages are encoded.
pub enum Reply {
    Message(Bytes),
    /// A large message.
    Pieces(Pieces),
    /// Messages until the sender is dropped; an error ends the call.
    Stream(mpsc::Receiver<Result<Bytes, Status>>),
    /// Nothing more.
    End,
}

impl Stream for Reply {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Reply::Stream(messages) = &mut *self {
            return messages.poll_recv(cx);
        }
        Poll::Ready(match std::mem::replace(&mut *self, Reply::End) {
            Reply::Message(message) => Some(Ok(message)),
            _ => None,
        })
    }
}

/// Serves one connection until the other end closes it.
pub async fn serve_connection(io: impl Transport, service: Arc<dyn Service>) -> Result<(), h2::Error> {
    let mut connection = h2::server::Builder::new()
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_frame_size(FRAME_SIZE)
        .max_concurrent_streams(STREAMS)
        .handshake::<_, Bytes>(io)
        .await?;
    while let Some(accepted) = connection.accept().await {
        let (request, respond) = accepted?;
        tokio::spawn(answer(request, respond, service.clone()));
    }
    Ok(())
}

async fn answer(request: http::Request<h2::RecvStream>, mut respond: SendResponse<Bytes>, service: Arc<dyn Service>) {
    let path = request.uri().path().to_owned();
    let request = request.map(|stream| Incoming::new(stream, Ended::default()));
    let mut grpc = Grpc::new(Bare::default()).max_decoding_message_size(usize::MAX);
    let response = tokio::select! {
        biased;
        // The form of a call with streams both ways has all other forms in it.
        response = grpc.streaming(Handler { path, service }, request) => response,
        // The caller has lost interest; so have we.
        _ = std::future::poll_fn(|cx| respond.poll_reset(cx)) => return,
    };
    let (mut head, body) = response.into_parts();
    let pieces = head.extensions.remove::<Pieces>();
    let head = http::Response::from_parts(head, ());
    // If sending fails, the caller is gone and cannot receive an error.
    let Ok(mut stream) = respond.send_response(head, body.is_end_stream()) else { return };
    if pieces.is_some_and(|pieces| pieces.send(&mut stream, false).is_err()) {
        return;
    }
    if !body.is_end_stream() {
        let _ = body::send(body, &mut stream).await;
    }
}

fn response(reply: Reply) -> tonic::Response<Reply> {
    let Reply::Pieces(pieces) = reply else { return tonic::Response::new(reply) };
    let mut response = tonic::Response::new(Reply::End);
    response.extensions_mut().insert(pieces);
    response
}

/// One call of a service, as a trait object for tonic.
struct Handler {
    path: String,
    service: Arc<dyn Service>,
}

impl tower_service::Service<tonic::Request<Streaming<Bytes>>> for Handler {
    type Response = tonic::Response<Reply>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Status>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: tonic::Request<Streaming<Bytes>>) -> Self::Future {
        let (path, service) = (std::mem::take(&mut self.path), self.service.clone());
        let messages = Messages(request.into_inner());
        Box::pin(async move { service.call(&path, messages).await.map(response) })
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::super::client::Method;
    use super::super::{Channel, unimplemented};
    use super::*;

    struct Echo;

    #[async_trait]
    impl Service for Echo {
        async fn call(&self, path: &str, mut messages: Messages) -> Result<Reply, Status> {
            match path {
                "/t.T/Echo" => Ok(Reply::Message(messages.single().await?)),
                "/t.T/Twice" => {
                    let message = messages.single().await?;
                    let (sender, receiver) = mpsc::channel(1);
                    tokio::spawn(async move {
                        for _ in 0..2 {
                            let _ = sender.send(Ok(message.clone())).await;
                        }
                        let _ = sender.send(Err(Status::new(Code::FailedPrecondition, "100% enough,\nü"))).await;
                    });
                    Ok(Reply::Stream(receiver))
                }
                "/t.T/Count" => {
                    let mut count = 0u8;
                    while messages.next().await?.is_some() {
                        count += 1;
                    }
                    Ok(Reply::Message(Bytes::from(vec![count])))
                }
                other => Err(unimplemented(other)),
            }
        }
    }

    async fn channel() -> Channel {
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        tokio::spawn(serve_connection(far, Arc::new(Echo)));
        Channel::connect(near).await.unwrap()
    }

    /// As messages, byte strings are encoded as their first field is.
    fn text(bytes: &[u8]) -> (Vec<u8>, Bytes) {
        let message = bytes.to_vec();
        (message.clone(), prost::Message::encode_to_vec(&message).into())
    }

    #[tokio::test]
    async fn calls_of_every_shape_are_answered() {
        let channel = channel().await;
        let echo = Method::new("/t.T/Echo");
        for (message, encoded) in [text(b""), text(b"hi"), text(&vec![5; 20 << 20])] {
            assert_eq!(channel.call(&echo, message).await.unwrap(), encoded);
        }
        let calls: Vec<_> = (0..500u32)
            .map(|i| {
                let (channel, echo) = (channel.clone(), echo.clone());
                tokio::spawn(async move { channel.call(&echo, i.to_be_bytes().to_vec()).await.unwrap() })
            })
            .collect();
        for (i, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap(), text(&(i as u32).to_be_bytes()).1);
        }

        let (message, encoded) = text(b"x");
        let mut answer = channel.open(&Method::new("/t.T/Twice"), message).await.unwrap();
        assert_eq!(answer.message().await.unwrap().unwrap(), encoded);
        assert_eq!(answer.message().await.unwrap().unwrap(), encoded);
        let end = answer.message().await.unwrap_err();
        assert_eq!((end.code(), end.message()), (Code::FailedPrecondition, "100% enough,\nü"));

        let count = Method::new("/t.T/Count");
        assert_eq!(channel.call(&count, text(b"m").0).await.unwrap(), [1u8][..]);
        for size in [1, 100_000] {
            let messages = tokio_stream::iter((0..7).map(move |_| vec![1u8; size]));
            assert_eq!(channel.upload(&count, messages).await.unwrap(), [7u8][..]);
        }
        let refused = channel.upload(&Method::new("/t.T/No"), tokio_stream::iter([text(b"x").0])).await;
        assert_eq!(refused.unwrap_err().code(), Code::Unimplemented);

        let unknown = channel.call(&Method::new("/t.T/No"), ()).await.unwrap_err();
        assert_eq!((unknown.code(), unknown.message()), (Code::Unimplemented, "unknown method No for service t.T"));
    }

    #[tokio::test]
    async fn a_call_that_its_caller_gives_up_ends() {
        struct Waiting(mpsc::Sender<()>);
        #[async_trait]
        impl Service for Waiting {
            async fn call(&self, _path: &str, _messages: Messages) -> Result<Reply, Status> {
                // Held until the call ends: the channel closes then.
                let _held = self.0.clone();
                std::future::pending().await
            }
        }
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        let (held, mut calls) = mpsc::channel(1);
        let weak = held.downgrade();
        tokio::spawn(serve_connection(far, Arc::new(Waiting(held))));
        let channel = Channel::connect(near).await.unwrap();
        let method = Method::new("/t.T/Echo");
        let count = || weak.upgrade().map_or(0, |sender| sender.strong_count());
        let before = count();
        let call = tokio::time::timeout(std::time::Duration::from_millis(50), channel.call(&method, ()));
        assert!(call.await.is_err(), "the call is under way");
        tokio::time::timeout(std::time::Duration::from_secs(5), async {
            while count() != before {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        })
        .await
        .unwrap();
        assert!(!channel.has_ended());
        calls.close();
    }

    #[tokio::test]
    async fn a_connection_lost_in_the_middle_of_a_call_fails_it() {
        struct Never;
        #[async_trait]
        impl Service for Never {
            async fn call(&self, _path: &str, _messages: Messages) -> Result<Reply, Status> {
                std::future::pending().await
            }
        }
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        let server = tokio::spawn(serve_connection(far, Arc::new(Never)));
        let channel = Channel::connect(near).await.unwrap();
        let method = Method::new("/t.T/Echo");
        let mut call = std::pin::pin!(channel.call(&method, ()));
        let soon = std::time::Duration::from_millis(50);
        assert!(tokio::time::timeout(soon, &mut call).await.is_err(), "the call is under way");
        server.abort();
        assert_eq!(call.await.unwrap_err().code(), Code::Unavailable);
    }

    #[tokio::test]
    async fn a_lost_connection_fails_every_call() {
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        let channel = Channel::connect(near).await.unwrap();
        drop(far);
        let lost = channel.call(&Method::new("/t.T/Echo"), ()).await.unwrap_err();
        assert_eq!(lost.code(), Code::Unavailable);
    }
}
