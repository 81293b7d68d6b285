//! The bodies of HTTP/2 messages in the form that tonic takes and gives them.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::{RecvStream, SendStream};
use http_body::{Body, Frame};
use tonic::{Code, Status};

/// The reason why a connection ended, for errors of calls.
pub type Ended = Arc<Mutex<Option<String>>>;

/// What comes. It does not keep its connection open.
pub struct Incoming {
    stream: RecvStream,
    ended: Ended,
    /// All data has come; the trailers have not.
    drained: bool,
}

impl Incoming {
    pub fn new(stream: RecvStream, ended: Ended) -> Incoming {
        Incoming { stream, ended, drained: false }
    }
}

impl Body for Incoming {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if !self.drained {
            match ready!(self.stream.poll_data(cx)) {
                Some(Ok(data)) => {
                    let _ = self.stream.flow_control().release_capacity(data.len());
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(failure(error, &self.ended)))),
                None => self.drained = true,
            }
        }
        let trailers = ready!(self.stream.poll_trailers(cx)).map_err(|error| failure(error, &self.ended));
        Poll::Ready(trailers.transpose().map(|trailers| trailers.map(Frame::trailers)))
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }
}

/// Sends a body to its end. Each piece waits for what comes after it, if that is there already: the last one then
/// carries the end of the stream, and a request is one frame.
pub async fn send(
    mut body: impl Body<Data = Bytes, Error = Status> + Unpin,
    to: &mut SendStream<Bytes>,
) -> Result<(), h2::Error> {
    let mut held: Option<Bytes> = None;
    loop {
        let next = std::future::poll_fn(|cx| match Pin::new(&mut body).poll_frame(cx) {
            Poll::Ready(frame) => Poll::Ready(Next::Frame(frame)),
            Poll::Pending if held.is_some() => Poll::Ready(Next::Later),
            Poll::Pending => to.poll_reset(cx).map(|_| Next::Unwanted),
        });
        let frame = match next.await {
            Next::Frame(Some(frame)) => frame,
            Next::Frame(None) => return to.send_data(held.unwrap_or_default(), true),
            Next::Later => {
                to.send_data(held.take().unwrap_or_default(), false)?;
                continue;
            }
            Next::Unwanted => return Ok(()),
        };
        if let Some(held) = held.take() {
            to.send_data(held, false)?;
        }
        match frame.map(Frame::into_data) {
            Ok(Ok(data)) => held = Some(data),
            Ok(Err(frame)) => return frame.into_trailers().map_or(Ok(()), |trailers| to.send_trailers(trailers)),
            Err(_) => {
                to.send_reset(h2::Reason::CANCEL);
                return Ok(());
            }
        }
    }
}

/// What [`send`] has to do next.
enum Next {
    Frame(Option<Result<Frame<Bytes>, Status>>),
    /// There is nothing to send now: what is held must not wait for it.
    Later,
    /// The other end has lost interest; so have we.
    Unwanted,
}

/// What a failure of the connection means for the calls on it.
pub fn failure(error: h2::Error, ended: &Ended) -> Status {
    let ended = ended.lock().ok().and_then(|ended| ended.clone());
    match ended {
        Some(reason) => Status::unavailable(format!("{error}: {reason}")),
        None if error.is_remote() && error.is_reset() => Status::new(Code::Cancelled, error.to_string()),
        None => Status::unavailable(error.to_string()),
    }
}
