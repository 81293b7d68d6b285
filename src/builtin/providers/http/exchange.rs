//! One request and its response, and the classification of errors.

use std::sync::Arc;
use std::{fmt, io};

use base::limits::{self, Limit};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;

use super::connection::{Connection, connect};
use super::header::{self, Outgoing};
use super::proxy::Proxies;
use super::redirect::{self, ChainRequest};
use super::{Response, address};
use crate::providers::tls_text::handshake_text;

/// A failed attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeError {
    pub kind: ErrorKind,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Another attempt would have the same result.
    Permanent,
    Timeout,
    Transient,
}

impl ExchangeError {
    pub fn permanent(reason: impl Into<String>) -> ExchangeError {
        ExchangeError { kind: ErrorKind::Permanent, reason: reason.into() }
    }
}

/// Why the body of a response cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It does not arrive whole, or is too long.
    Received(String),
    Decompressed(String),
    /// It does not arrive in time.
    Timeout,
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::Received(why) => f.write_str(why),
            BodyError::Decompressed(why) => write!(f, "gzip: {why}"),
            BodyError::Timeout => {
                f.write_str("context deadline exceeded (Client.Timeout or context cancellation while reading body)")
            }
        }
    }
}

impl std::error::Error for BodyError {}

/// A response whose body is not read yet.
pub struct Reply {
    response: hyper::Response<Incoming>,
    is_gzip: bool,
}

impl Reply {
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Reads the body, and decompresses it if the client asked for compression.
    pub async fn read(self) -> Result<Response, BodyError> {
        let status_code = self.status();
        let mut headers = self.headers().clone();
        let limit = limits::response();
        let collected =
            Limited::new(self.response.into_body(), usize::try_from(limit.bytes).unwrap_or(usize::MAX)).collect().await;
        let mut body =
            collected.map_err(|error| BodyError::Received(limited_error(&*error, limit)))?.to_bytes().to_vec();
        if self.is_gzip {
            headers.remove(CONTENT_ENCODING);
            headers.remove(CONTENT_LENGTH);
            body = gunzip(&body, limit).map_err(|error| BodyError::Decompressed(error.to_string()))?;
        }
        Ok(Response { status_code, headers: header::response_headers(&headers), body })
    }
}

fn gunzip(body: &[u8], limit: Limit) -> io::Result<Vec<u8>> {
    if body.is_empty() { Ok(Vec::new()) } else { limit.read(flate2::read::MultiGzDecoder::new(body)) }
}

fn limited_error(error: &(dyn std::error::Error + Send + Sync + 'static), limit: Limit) -> String {
    match error.downcast_ref::<hyper::Error>() {
        Some(error) => read_error(error),
        None if error.is::<LengthLimitError>() => format!("the response is {}", limit.exceeded()),
        None => error.to_string(),
    }
}

fn read_error(error: &hyper::Error) -> String {
    let cause = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let is_short = cause.is_some_and(|cause| cause.kind() == io::ErrorKind::UnexpectedEof);
    if is_short || error.is_incomplete_message() { "unexpected EOF".to_owned() } else { innermost(error) }
}

/// The first cause of an error.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let inner = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
    if let Some(text) = inner.and_then(|inner| inner.downcast_ref()).and_then(handshake_text) {
        return text;
    }
    match error.source() {
        Some(source) => innermost(source),
        None => error.to_string(),
    }
}

/// The settings and the body that all requests of a fetch share.
pub struct Client<'a> {
    pub tls: Arc<ClientConfig>,
    pub proxies: &'a Proxies,
    pub body: Bytes,
}

impl Client<'_> {
    /// Makes a request and follows redirects.
    pub async fn attempt(&self, first: &ChainRequest) -> Result<Reply, ExchangeError> {
        let mut hop = first.clone();
        for _ in 0..redirect::MOST {
            let located = |reason: String| describe(first, &hop, &reason);
            let reply = self.exchange(&hop).await;
            let reply = reply.map_err(|error| ExchangeError { reason: located(error.reason), ..error })?;
            let next = hop.next(first, reply.status(), reply.headers());
            match next.map_err(|reason| ExchangeError::permanent(located(reason.to_string())))? {
                Some(next) => hop = next,
                None => return Ok(reply),
            }
        }
        Err(ExchangeError::permanent(describe(first, &hop, &redirect::too_many())))
    }

    async fn exchange(&self, hop: &ChainRequest) -> Result<Reply, ExchangeError> {
        let body = if hop.has_body { self.body.clone() } else { Bytes::new() };
        let connection = connect(&hop.url, &self.tls, self.proxies).await.map_err(|error| connect_error(&error))?;
        let host = host(hop).ok_or_else(|| ExchangeError::permanent("http: invalid Host header"))?;
        let mut headers = hop.headers.clone();
        header::authorize(&mut headers, address::authorization(&hop.url));
        let has_agent = headers.contains_key(USER_AGENT);
        let Outgoing { headers, accepts_gzip } = header::outgoing(&headers, &hop.method, &host, body.len());
        let mut request = hyper::Request::new(Full::new(body));
        *request.headers_mut() = headers;
        *request.method_mut() = hop.method.parse().map_err(|_| ExchangeError::permanent("net/http: invalid method"))?;
        if connection.is_http2 && !has_agent {
            request.headers_mut().insert(USER_AGENT, HeaderValue::from_static("Go-http-client/2.0"));
        }
        let response = send(connection, request, hop).await?;
        let encoding = response.headers().get(CONTENT_ENCODING);
        let is_gzip = accepts_gzip && encoding.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"gzip"));
        Ok(Reply { response, is_gzip })
    }
}

/// Sends a request over a new connection, which ends with the response. Header names are written in title case as Go
/// does, because some servers echo them.
async fn send(
    connection: Connection,
    mut request: hyper::Request<Full<Bytes>>,
    hop: &ChainRequest,
) -> Result<hyper::Response<Incoming>, ExchangeError> {
    let url = &hop.url;
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let target = if connection.is_http2 || connection.is_forwarded {
        let host = request.headers().get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes()));
        format!("{}://{}{path}", url.scheme(), host.unwrap_or_default())
    } else {
        path.to_owned()
    };
    *request.uri_mut() = target.parse().map_err(|_| ExchangeError::permanent("net/http: invalid request URL"))?;
    if let Some(value) = connection.proxy_authorization {
        request.headers_mut().insert(PROXY_AUTHORIZATION, value);
    }
    let stream = TokioIo::new(connection.stream);
    let result = if connection.is_http2 {
        // The host is a part of the URL.
        request.headers_mut().remove(HOST);
        let (mut sender, connection) =
            http2::handshake(TokioExecutor::new(), stream).await.map_err(|error| transient(&error))?;
        tokio::spawn(connection);
        sender.send_request(request).await
    } else {
        let (mut sender, connection) = http1::Builder::new()
            .title_case_headers(true)
            .handshake(stream)
            .await
            .map_err(|error| transient(&error))?;
        tokio::spawn(connection);
        sender.send_request(request).await
    };
    result.map_err(|error| transient(&error))
}

fn host(hop: &ChainRequest) -> Option<HeaderValue> {
    let host = hop.url.host_str()?;
    let text = hop.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    HeaderValue::from_str(&text).ok()
}

fn transient(error: &hyper::Error) -> ExchangeError {
    let reason = if error.is_incomplete_message() { "EOF".to_owned() } else { innermost(error) };
    ExchangeError { kind: ErrorKind::Transient, reason }
}

fn connect_error(error: &io::Error) -> ExchangeError {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let kind = match (tls, error.kind()) {
        (Some(rustls::Error::InvalidCertificate(_)), _) => ErrorKind::Permanent,
        (_, io::ErrorKind::TimedOut) => ErrorKind::Timeout,
        _ => ErrorKind::Transient,
    };
    ExchangeError { kind, reason: tls.and_then(handshake_text).unwrap_or_else(|| error.to_string()) }
}

/// An error with the operation and the URL, as Go has it: `Get "http://host/": EOF`.
pub fn describe(first: &ChainRequest, hop: &ChainRequest, reason: &str) -> String {
    format!("{} {:?}: {reason}", operation(&first.method), hop.shown_url)
}

/// `Get` for `GET`.
pub fn operation(method: &str) -> String {
    let (first, rest) = method.split_at(method.len().min(1));
    format!("{first}{}", rest.to_lowercase())
}
