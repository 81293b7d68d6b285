//! Requests to the collector, with the TLS settings and proxies of all other requests.
//!
//! gRPC is one unary call with the same message as HTTP: it is framed here, so that no second client is needed.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::{BodyExt, Limited};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, TE};
use tokio::runtime::Runtime;

use super::settings::{ExportSettings, Protocol};
use crate::http;

/// The largest answer that is read; its content is of no use.
const MOST_ANSWER: usize = 1 << 20;

/// Why the collector gave no answer.
#[derive(Clone, Debug)]
enum ExchangeError {
    /// The client cannot be made of the settings.
    Settings(String),
    Runtime(String),
    Address,
    Timeout(Duration),
    Http(String),
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExchangeError::Settings(why) | ExchangeError::Runtime(why) | ExchangeError::Http(why) => f.write_str(why),
            ExchangeError::Address => f.write_str("the address is invalid"),
            ExchangeError::Timeout(limit) => write!(f, "no answer within {limit:?}"),
        }
    }
}

impl std::error::Error for ExchangeError {}

#[derive(Debug)]
pub struct Collector {
    settings: http::Settings,
    protocol: Protocol,
    timeout: Duration,
    connected: OnceLock<Result<Connected, ExchangeError>>,
}

/// Made by the first request, on the thread that exports: reading certificates takes a while.
#[derive(Debug)]
struct Connected {
    runtime: Runtime,
    client: reqwest::Client,
}

impl Collector {
    pub fn new(settings: &ExportSettings) -> Collector {
        Collector {
            settings: settings.http.clone(),
            protocol: settings.protocol,
            timeout: settings.timeout,
            connected: OnceLock::new(),
        }
    }

    fn connect(&self) -> Result<Connected, ExchangeError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let client = self.settings.client(self.protocol == Protocol::Grpc).map_err(ExchangeError::Settings)?;
        Ok(Connected { runtime: runtime.map_err(|error| ExchangeError::Runtime(error.to_string()))?, client })
    }

    fn exchange(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ExchangeError> {
        let connected = self.connected.get_or_init(|| self.connect()).as_ref().map_err(Clone::clone)?;
        let work = async {
            match self.protocol {
                Protocol::Http => send(&connected.client, request).await.map(|(answer, _)| answer),
                Protocol::Grpc => call(&connected.client, request).await,
            }
        };
        let timed = connected.runtime.block_on(async { tokio::time::timeout(self.timeout, work).await });
        timed.unwrap_or(Err(ExchangeError::Timeout(self.timeout)))
    }
}

#[async_trait]
impl HttpClient for Collector {
    /// The library awaits this on a separate thread, where it may block.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        self.exchange(request).map_err(|why| {
            tracing::warn!("telemetry: the collector cannot be reached: {why}");
            why.into()
        })
    }
}

/// The answer, and the fields that follow its body.
async fn send(
    client: &reqwest::Client,
    request: Request<Bytes>,
) -> Result<(Response<Bytes>, HeaderMap), ExchangeError> {
    let request = request.try_into().map_err(|_| ExchangeError::Address)?;
    let response = client.execute(request).await.map_err(|error| ExchangeError::Http(http::explanation(&error)))?;
    let (head, body) = http_parts(response);
    let body = Limited::new(body, MOST_ANSWER).collect().await;
    let body = body.map_err(|error| ExchangeError::Http(error.to_string()))?;
    let trailers = body.trailers().cloned().unwrap_or_default();
    Ok((Response::from_parts(head, body.to_bytes()), trailers))
}

fn http_parts(response: reqwest::Response) -> (::http::response::Parts, reqwest::Body) {
    ::http::Response::<reqwest::Body>::from(response).into_parts()
}

/// The same by gRPC. The answer has the status of HTTP that means as much.
async fn call(client: &reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, ExchangeError> {
    let (answer, trailers) = send(client, framed(request)).await?;
    if !answer.status().is_success() {
        return Ok(answer);
    }
    // An answer without a message has its status in front.
    let status = trailers.get("grpc-status").or_else(|| answer.headers().get("grpc-status"));
    let status = status.and_then(|text| text.to_str().ok()?.parse().ok());
    if status != Some(0) {
        tracing::warn!("telemetry: the collector answers with gRPC status {status:?}");
    }
    let mut answer = Response::new(Bytes::new());
    *answer.status_mut() = http_status(status);
    Ok(answer)
}

/// A request with its message in the format of gRPC: a mark whether it is compressed, its length, and the message.
fn framed(request: Request<Bytes>) -> Request<Bytes> {
    let (mut head, body) = request.into_parts();
    let compression = head.headers.remove(CONTENT_ENCODING);
    let mut frame = vec![u8::from(compression.is_some())];
    frame.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
    frame.extend_from_slice(&body);
    if let Some(compression) = compression {
        head.headers.insert("grpc-encoding", compression);
    }
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    head.headers.insert(TE, HeaderValue::from_static("trailers"));
    Request::from_parts(head, frame.into())
}

/// Which failures are worth another try is the same for both protocols.
fn http_status(grpc: Option<u32>) -> ::http::StatusCode {
    use ::http::StatusCode;
    match grpc {
        Some(0) => StatusCode::OK,
        // Cancelled, deadline exceeded, aborted, out of range, unavailable, data loss.
        Some(1 | 4 | 10 | 11 | 14 | 15) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_framed_for_grpc() {
        let request = |encoding: Option<&str>| {
            let mut builder =
                Request::post("http://c/").header("x-key", "k").header(CONTENT_TYPE, "application/x-protobuf");
            if let Some(encoding) = encoding {
                builder = builder.header(CONTENT_ENCODING, encoding);
            }
            framed(builder.body(Bytes::from_static(b"abc")).unwrap())
        };
        let plain = request(None);
        assert_eq!(&plain.body()[..], b"\0\0\0\0\x03abc");
        assert_eq!(plain.headers()[CONTENT_TYPE], "application/grpc");
        assert_eq!(plain.headers()["x-key"], "k");
        let compressed = request(Some("gzip"));
        assert_eq!(compressed.body()[0], 1);
        assert_eq!(compressed.headers()["grpc-encoding"], "gzip");
        assert!(!compressed.headers().contains_key(CONTENT_ENCODING));
    }

    #[test]
    fn statuses_of_grpc_say_what_is_tried_again() {
        for (grpc, http) in [(Some(0), 200), (Some(14), 503), (Some(16), 400), (Some(8), 400), (None, 400)] {
            assert_eq!(http_status(grpc).as_u16(), http, "{grpc:?}");
        }
    }
}
