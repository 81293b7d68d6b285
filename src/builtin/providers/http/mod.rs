//! `data "http"`: one request, with the redirect and retry rules of Go's client and `go-retryablehttp`.
//!
//! The rules are pure functions: `retry`, `redirect`, `header` and `address` (URL validation). `exchange`,
//! `connection`, `proxy` and `tls` do the I/O. There is no connection pool and no cookie jar.
//!
//! `reqwest` is not used because it always sends an `Accept` header, to which servers react.

mod address;
mod connection;
mod exchange;
mod header;
pub mod provider;
mod proxy;
mod redirect;
mod retry;
#[cfg(test)]
mod tests;
mod tls;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use address::AddressError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use exchange::{BodyError, Client, ErrorKind, ExchangeError, Reply, describe};
pub use proxy::Proxies;
use redirect::ChainRequest;
pub use retry::Retry;
use terrane_value::text::lossy_text;
pub use tls::TlsSettings;
use tokio::time::Instant;
use url::Url;

use super::failure::Failure;

/// The values of `method`.
pub const METHODS: [&str; 3] = ["GET", "POST", "HEAD"];

/// The arguments of the data source.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Also the `id`.
    pub url: String,
    pub method: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub body: Option<String>,
    /// The time limit of one attempt, including redirects and the body.
    pub timeout_ms: Option<u64>,
    pub tls: TlsSettings,
    pub retry: Retry,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status_code: u16,
    /// By canonical name. Repeated headers are joined with a comma and a space.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Response {
    /// Returns whether the body is valid UTF-8. If not, the warning `NOT_UTF8` applies.
    pub fn is_utf8(&self) -> bool {
        std::str::from_utf8(&self.body).is_ok()
    }

    /// The body with a replacement character for each byte that is not UTF-8.
    pub fn text(&self) -> String {
        lossy_text(&self.body).into_owned()
    }

    pub fn base64(&self) -> String {
        STANDARD.encode(&self.body)
    }
}

/// Summary and detail of the warning about a body that is not text.
pub const NOT_UTF8: (&str, &str) = (
    "Response body is not recognized as UTF-8",
    "Terraform may not properly handle the response_body if the contents are binary.",
);

/// Makes the request. Status 429 and statuses from 500 on, except 501, are retried, and are errors after the last
/// attempt.
pub async fn fetch(request: &Request, proxies: &Proxies) -> Result<Response, Failure> {
    let tls = Arc::new(request.tls.config()?);
    let first = first_hop(request)?;
    let body = request.body.clone().unwrap_or_default().into();
    let client = Client { tls, proxies, body };
    let mut attempts = 0;
    loop {
        let deadline = request.timeout_ms.map(|limit| Instant::now() + Duration::from_millis(limit));
        let expired = || ExchangeError {
            kind: ErrorKind::Timeout,
            reason: describe(
                &first,
                &first,
                "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
            ),
        };
        let result = within(deadline, client.attempt(&first)).await.unwrap_or_else(|| Err(expired()));
        attempts += 1;
        let (wait, error) = match result {
            Ok(reply) if !retry::is_retried(reply.status()) => return read(reply, deadline).await,
            Ok(reply) => (retry::retry_after(reply.status(), reply.headers(), SystemTime::now()), None),
            Err(error) => (None, Some(error)),
        };
        let is_permanent = error.as_ref().is_some_and(|error| error.kind == ErrorKind::Permanent);
        if is_permanent || attempts > request.retry.attempts {
            return Err(gave_up(request, attempts, error));
        }
        tokio::time::sleep(wait.unwrap_or_else(|| request.retry.wait(attempts - 1))).await;
    }
}

/// Builds the first request. Errors that Go finds only when it sends the request count as an attempt.
fn first_hop(request: &Request) -> Result<ChainRequest, Failure> {
    let method = request.method();
    let refused = |reason: String| {
        let reason = format!("{} {:?}: {reason}", exchange::operation(method), request.url);
        gave_up(request, 1, Some(ExchangeError::permanent(reason)))
    };
    let url = match address::parse(&request.url) {
        Ok(url) => url,
        Err(AddressError::Malformed(reason)) => {
            let detail = format!("Error creating request: parse {:?}: {reason}", request.url);
            return Err(Failure::new("Error creating request", detail));
        }
        Err(AddressError::Unsupported(reason)) => return Err(refused(reason)),
    };
    let headers = header::configured(&request.headers).map_err(|error| refused(error.to_string()))?;
    Ok(ChainRequest::first(&request.url, url, method, headers))
}

impl Request {
    fn method(&self) -> &str {
        self.method.as_deref().filter(|method| !method.is_empty()).unwrap_or("GET")
    }
}

async fn read(reply: Reply, deadline: Option<Instant>) -> Result<Response, Failure> {
    let response = within(deadline, reply.read()).await.unwrap_or(Err(BodyError::Timeout));
    response
        .map_err(|error| Failure::new("Error reading response body", format!("Error reading response body: {error}")))
}

/// Returns the result of a future, or `None` after the deadline.
async fn within<T>(deadline: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}

/// The failure after the last attempt. `error` is `None` if there was a response with a retryable status.
fn gave_up(request: &Request, attempts: u64, error: Option<ExchangeError>) -> Failure {
    let url =
        Url::parse(&request.url).map_or_else(|_| request.url.clone(), |url| address::as_written(&request.url, &url));
    let mut problem = format!("{} {url} giving up after {attempts} attempt(s)", request.method());
    let is_timeout = error.as_ref().is_some_and(|error| error.kind == ErrorKind::Timeout);
    if let Some(error) = error {
        problem.push_str(&format!(": {}", error.reason));
    }
    let detail = match request.timeout_ms {
        Some(limit) if is_timeout => {
            format!("request exceeded the specified timeout: {}, err: {problem}", milliseconds_text(limit))
        }
        None if is_timeout => format!("timeout error: {problem}"),
        _ => format!("Error making request: {problem}"),
    };
    Failure::new("Error making request", detail)
}

/// A number of milliseconds as Go writes a duration: `150ms`, `1.5s`, `2m0s`.
fn milliseconds_text(milliseconds: u64) -> String {
    if milliseconds < 1000 {
        return format!("{milliseconds}ms");
    }
    let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000);
    let seconds = format!("{}s", rest as f64 / 1000.0);
    match (minutes / 60, minutes % 60) {
        (0, 0) => seconds,
        (0, minutes) => format!("{minutes}m{seconds}"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
    }
}
