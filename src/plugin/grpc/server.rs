//! The answering end: puts a [`Service`] on a connection.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use h2::SendStream;
use h2::server::SendResponse;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Request, Response};
use tokio::sync::mpsc;

use super::{CONNECTION_WINDOW, Code, FRAME_SIZE, STREAM_WINDOW, Status, Transport, Unframer, percent_encode};

/// What is called: paths are "/package.Service/Method".
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// `messages` gives the caller's messages; a unary call has one.
    async fn call(&self, path: &str, messages: Messages) -> Result<Reply, Status>;
}

/// The caller's messages, without their prefixes.
pub struct Messages {
    body: h2::RecvStream,
    unframer: Unframer,
}

impl Messages {
    /// The next message, `None` when the caller has sent its last.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            if let Some(message) = self.unframer.next()? {
                return Ok(Some(message));
            }
            match self.body.data().await {
                Some(Ok(data)) => {
                    let _ = self.body.flow_control().release_capacity(data.len());
                    self.unframer.push(data);
                }
                Some(Err(error)) => return Err(Status::new(Code::Cancelled, error.to_string())),
                None => return Ok(None),
            }
        }
    }

    /// The one message of a unary call.
    pub async fn single(mut self) -> Result<Bytes, Status> {
        self.next().await?.ok_or_else(|| Status::new(Code::Internal, "the call came without a message"))
    }
}

/// The answer to a call; messages with their prefixes ([`super::frame`]).
pub enum Reply {
    Message(Bytes),
    /// Messages until the sender is dropped; an error ends the call.
    Stream(mpsc::Receiver<Result<Bytes, Status>>),
}

/// Serves one connection until the other end closes it.
pub async fn serve_connection(io: impl Transport, service: Arc<dyn Service>) -> Result<(), h2::Error> {
    let mut connection = h2::server::Builder::new()
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_frame_size(FRAME_SIZE)
        .max_concurrent_streams(1 << 16)
        .handshake::<_, Bytes>(io)
        .await?;
    while let Some(accepted) = connection.accept().await {
        let (request, respond) = accepted?;
        tokio::spawn(answer(request, respond, service.clone()));
    }
    Ok(())
}

async fn answer(request: Request<h2::RecvStream>, mut respond: SendResponse<Bytes>, service: Arc<dyn Service>) {
    let (head, body) = request.into_parts();
    let messages = Messages { body, unframer: Unframer::default() };
    let reply = tokio::select! {
        biased;
        reply = service.call(head.uri.path(), messages) => reply,
        // The caller has lost interest; so have we.
        _ = std::future::poll_fn(|cx| respond.poll_reset(cx)) => return,
    };
    // Failing to send means that the caller is gone: nobody to tell.
    let _ = match reply {
        Ok(Reply::Message(message)) => send_message(&mut respond, message),
        Ok(Reply::Stream(messages)) => send_stream(&mut respond, messages).await,
        Err(status) => send_failure(&mut respond, &status),
    };
}

fn head() -> Response<()> {
    let mut response = Response::new(());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

fn send_message(respond: &mut SendResponse<Bytes>, message: Bytes) -> Result<(), h2::Error> {
    let mut body = respond.send_response(head(), false)?;
    body.send_data(message, false)?;
    body.send_trailers(trailers(None))
}

async fn send_stream(
    respond: &mut SendResponse<Bytes>,
    mut messages: mpsc::Receiver<Result<Bytes, Status>>,
) -> Result<(), h2::Error> {
    let mut body: SendStream<Bytes> = respond.send_response(head(), false)?;
    loop {
        let next = tokio::select! {
            next = messages.recv() => next,
            _ = std::future::poll_fn(|cx| body.poll_reset(cx)) => return Ok(()),
        };
        match next {
            Some(Ok(message)) => body.send_data(message, false)?,
            Some(Err(status)) => return body.send_trailers(trailers(Some(&status))),
            None => return body.send_trailers(trailers(None)),
        }
    }
}

fn send_failure(respond: &mut SendResponse<Bytes>, status: &Status) -> Result<(), h2::Error> {
    let mut response = head();
    response.headers_mut().extend(trailers(Some(status)));
    respond.send_response(response, true).map(drop)
}

fn trailers(failure: Option<&Status>) -> HeaderMap {
    let mut trailers = HeaderMap::with_capacity(2);
    match failure {
        None => {
            trailers.insert("grpc-status", HeaderValue::from_static("0"));
        }
        Some(status) => {
            trailers.insert("grpc-status", HeaderValue::from(status.code.number()));
            if let Ok(message) = HeaderValue::from_str(&percent_encode(&status.message)) {
                trailers.insert("grpc-message", message);
            }
        }
    }
    trailers
}

#[cfg(test)]
mod tests {
    use super::super::{Channel, client::Method, frame_bytes};
    use super::*;

    struct Echo;

    #[async_trait]
    impl Service for Echo {
        async fn call(&self, path: &str, mut messages: Messages) -> Result<Reply, Status> {
            match path {
                "/t.T/Echo" => Ok(Reply::Message(frame_bytes(&messages.single().await?))),
                "/t.T/Twice" => {
                    let message = messages.single().await?;
                    let (sender, receiver) = mpsc::channel(1);
                    tokio::spawn(async move {
                        for _ in 0..2 {
                            let _ = sender.send(Ok(frame_bytes(&message))).await;
                        }
                        let _ = sender.send(Err(Status::new(Code::Other(9), "enough, ü"))).await;
                    });
                    Ok(Reply::Stream(receiver))
                }
                "/t.T/Count" => {
                    let mut count = 0u8;
                    while messages.next().await?.is_some() {
                        count += 1;
                    }
                    Ok(Reply::Message(frame_bytes(&[count])))
                }
                other => Err(Status::unimplemented(other)),
            }
        }
    }

    async fn channel() -> Channel {
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        tokio::spawn(serve_connection(far, Arc::new(Echo)));
        Channel::connect(near).await.unwrap()
    }

    #[tokio::test]
    async fn calls_of_every_shape_are_answered() {
        let channel = channel().await;
        let echo = Method::new("/t.T/Echo");
        assert_eq!(channel.call(&echo, frame_bytes(b"hi")).await.unwrap(), b"hi"[..]);
        let large = vec![5; 20 << 20];
        assert_eq!(channel.call(&echo, frame_bytes(&large)).await.unwrap(), large);
        let calls: Vec<_> = (0..500u32)
            .map(|i| {
                let (channel, echo) = (channel.clone(), echo.clone());
                tokio::spawn(async move { channel.call(&echo, frame_bytes(&i.to_be_bytes())).await.unwrap() })
            })
            .collect();
        for (i, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap(), (i as u32).to_be_bytes()[..]);
        }

        let mut answer = channel.open(&Method::new("/t.T/Twice"), frame_bytes(b"x")).await.unwrap();
        assert_eq!(answer.message().await.unwrap().unwrap(), b"x"[..]);
        assert_eq!(answer.message().await.unwrap().unwrap(), b"x"[..]);
        assert_eq!(answer.message().await, Err(Status::new(Code::Other(9), "enough, ü")));

        let three = (0..3).map(|_| frame_bytes(b"m"));
        assert_eq!(channel.upload(&Method::new("/t.T/Count"), three).await.unwrap(), [3u8][..]);

        let unknown = channel.call(&Method::new("/t.T/No"), frame_bytes(b"")).await;
        assert_eq!(unknown, Err(Status::new(Code::Unimplemented, "unknown method No for service t.T")));
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
        let mut call = std::pin::pin!(channel.call(&method, frame_bytes(b"hi")));
        let soon = std::time::Duration::from_millis(50);
        assert!(tokio::time::timeout(soon, &mut call).await.is_err(), "the call is under way");
        server.abort();
        assert_eq!(call.await.unwrap_err().code, Code::Unavailable);
    }

    #[tokio::test]
    async fn a_lost_connection_fails_every_call() {
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        let channel = Channel::connect(near).await.unwrap();
        drop(far);
        let lost = channel.call(&Method::new("/t.T/Echo"), frame_bytes(b"hi")).await.unwrap_err();
        assert_eq!(lost.code, Code::Unavailable);
    }
}
