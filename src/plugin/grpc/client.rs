//! The calling end: a [`Channel`] carries any number of calls at once over one connection.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{RecvStream, SendStream};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, TE};
use http::{Request, StatusCode, Uri};

use super::{CONNECTION_WINDOW, Code, FRAME_SIZE, STREAM_WINDOW, Status, Transport, Unframer, percent_decode};

/// A connection to a plugin. Cheap to clone; the connection closes when the last clone is dropped.
#[derive(Clone)]
pub struct Channel {
    sender: SendRequest<Bytes>,
    /// Why the connection ended, once it has: calls that fail because of it say so.
    ended: Ended,
}

/// The path of a method, parsed once: "/package.Service/Method".
#[derive(Clone, Debug)]
pub struct Method(Uri);

impl Method {
    pub fn new(path: &str) -> Method {
        let uri = Uri::builder().scheme("http").authority("localhost").path_and_query(path).build();
        Method(uri.unwrap_or_default())
    }

    pub fn path(&self) -> &str {
        self.0.path()
    }
}

impl Channel {
    /// Speaks HTTP/2 over `io`. The connection is served by a task of the current runtime.
    pub async fn connect(io: impl Transport) -> Result<Channel, Status> {
        let (sender, connection) = h2::client::Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_frame_size(FRAME_SIZE)
            .initial_max_send_streams(1 << 16)
            .enable_push(false)
            .handshake::<_, Bytes>(io)
            .await
            .map_err(Status::unavailable)?;
        let ended = Arc::new(Mutex::new(None));
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
        Ok(Channel { sender, ended })
    }

    /// True once the connection is gone: every call from now on fails.
    pub fn has_ended(&self) -> bool {
        self.ended.lock().map(|ended| ended.is_some()).unwrap_or(true)
    }

    /// A call with one message each way. `request` comes with its prefix ([`super::frame`]), the answer without.
    pub async fn call(&self, method: &Method, request: Bytes) -> Result<Bytes, Status> {
        let mut answer = self.open(method, request).await?;
        let first = answer.message().await?;
        match first {
            Some(message) => {
                // The status comes after the message, and counts.
                match answer.message().await? {
                    None => Ok(message),
                    Some(_) => Err(Status::new(Code::Internal, "more than one message came back")),
                }
            }
            None => Err(Status::new(Code::Internal, "no message came back")),
        }
    }

    /// A call that is answered with any number of messages.
    pub async fn open(&self, method: &Method, request: Bytes) -> Result<Answer, Status> {
        let (response, mut send) = self.send_head(method).await?;
        send.send_data(request, true).map_err(|error| self.failure(error))?;
        let response = response.await.map_err(|error| self.failure(error))?;
        Answer::new(self.ended.clone(), response)
    }

    /// A call of any number of messages, sent by `messages` (each with its prefix), answered with one.
    pub async fn upload(&self, method: &Method, messages: impl IntoIterator<Item = Bytes>) -> Result<Bytes, Status> {
        let (response, mut send) = self.send_head(method).await?;
        for message in messages {
            send.send_data(message, false).map_err(|error| self.failure(error))?;
        }
        send.send_data(Bytes::new(), true).map_err(|error| self.failure(error))?;
        let response = response.await.map_err(|error| self.failure(error))?;
        let mut answer = Answer::new(self.ended.clone(), response)?;
        answer.message().await?.ok_or_else(|| Status::new(Code::Internal, "no message came back"))
    }

    async fn send_head(&self, method: &Method) -> Result<(h2::client::ResponseFuture, SendStream<Bytes>), Status> {
        let mut request = Request::new(());
        *request.method_mut() = http::Method::POST;
        *request.version_mut() = http::Version::HTTP_2;
        *request.uri_mut() = method.0.clone();
        let headers = request.headers_mut();
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        let mut sender = self.sender.clone().ready().await.map_err(|error| self.failure(error))?;
        sender.send_request(request, false).map_err(|error| self.failure(error))
    }

    fn failure(&self, error: h2::Error) -> Status {
        failure(error, &self.ended)
    }
}

type Ended = Arc<Mutex<Option<String>>>;

fn failure(error: h2::Error, ended: &Ended) -> Status {
    let ended = ended.lock().ok().and_then(|ended| ended.clone());
    let code = if error.is_remote() && error.is_reset() { Code::Cancelled } else { Code::Unavailable };
    match ended {
        Some(reason) => Status::new(Code::Unavailable, format!("{error}: {reason}")),
        None => Status::new(code, error.to_string()),
    }
}

/// The messages that come back from a call, in their order.
pub struct Answer {
    /// Not the channel: an answer that is waited for does not keep the connection open.
    ended: Ended,
    body: RecvStream,
    unframer: Unframer,
    done: bool,
}

impl Answer {
    fn new(ended: Ended, response: http::Response<RecvStream>) -> Result<Answer, Status> {
        let (head, body) = response.into_parts();
        if head.status != StatusCode::OK {
            return Err(Status::new(Code::Unknown, format!("unexpected HTTP status {}", head.status)));
        }
        // An answer without messages has its status here already.
        let done = head.headers.contains_key("grpc-status");
        if done {
            check(&head.headers)?;
        }
        Ok(Answer { ended, body, unframer: Unframer::default(), done })
    }

    /// The next message; `None` once the call has ended well.
    pub async fn message(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            if let Some(message) = self.unframer.next()? {
                return Ok(Some(message));
            }
            if self.done {
                return Ok(None);
            }
            match self.body.data().await {
                Some(data) => {
                    let data = data.map_err(|error| failure(error, &self.ended))?;
                    let _ = self.body.flow_control().release_capacity(data.len());
                    self.unframer.push(data);
                }
                None => {
                    self.done = true;
                    let trailers = self.body.trailers().await.map_err(|error| failure(error, &self.ended))?;
                    check(&trailers.unwrap_or_default())?;
                    if self.unframer.is_torn() {
                        return Err(Status::new(Code::Internal, "the last message is incomplete"));
                    }
                }
            }
        }
    }
}

/// The status in the headers that end a call.
fn check(trailers: &HeaderMap) -> Result<(), Status> {
    let Some(code) = trailers.get("grpc-status") else {
        return Err(Status::new(Code::Internal, "the answer has no status"));
    };
    if code.as_bytes() == b"0" {
        return Ok(());
    }
    let code = code.to_str().ok().and_then(|code| code.parse().ok()).map_or(Code::Unknown, Code::from_number);
    let message = trailers.get("grpc-message").map(|message| percent_decode(message.as_bytes())).unwrap_or_default();
    Err(Status { code, message })
}
