//! HTTP for backends: one way to send a request, with the backend's own TLS settings and proxies, retries and timeouts.
//!
//! Owns which failures are retried and how they are reported. Never knows what a request means. No error shows user names,
//! passwords, query strings or header values.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::tls::{Certificate, Identity};
use reqwest::{Method, NoProxy, Proxy, StatusCode};
use url::Url;

use crate::base::env::{self, Environment};
use crate::base::http::{FailureKind, explain};
use crate::base::name::TERRANE;
use crate::base::secret::Secret;
use crate::model::version::PROGRAM_VERSION;

/// How a backend's requests are sent.
#[derive(Clone, Debug)]
pub struct Settings {
    pub tls: Tls,
    pub proxies: Proxies,
    pub user_agent: String,
    /// Attempts after the first.
    pub retries: u32,
    /// The first and the longest pause between two attempts; each is twice as long as the one before.
    pub pauses: RangeInclusive<Duration>,
    pub connect_timeout: Duration,
    /// How long a server may send nothing.
    pub idle_timeout: Duration,
}

impl Settings {
    /// The system's certificates and the environment's proxies; two retries, after one and two seconds.
    pub fn new(environment: &Environment) -> Settings {
        let mut user_agent = format!("{TERRANE}/{PROGRAM_VERSION}");
        if let Some(more) = environment.non_empty(env::TF_APPEND_USER_AGENT) {
            user_agent.push_str(&format!(" {}", more.trim()));
        }
        Settings {
            tls: Tls::default(),
            proxies: Proxies::of(environment),
            user_agent,
            retries: 2,
            pauses: Duration::from_secs(1)..=Duration::from_secs(30),
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(300),
        }
    }
}

/// Certificates in PEM and other TLS settings.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// Certificates of authorities, in place of the system's.
    pub authorities: Option<String>,
    /// Certificates of authorities in addition to those of the system.
    pub more_authorities: Option<String>,
    /// The client's certificate chain and its key.
    pub identity: Option<(String, Secret)>,
    pub skip_verification: bool,
}

/// Addresses of proxies; requests to this machine itself use none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    pub http: Option<String>,
    pub https: Option<String>,
    /// Hosts that are asked directly, separated by commas.
    pub except: String,
}

impl Proxies {
    pub fn of(environment: &Environment) -> Proxies {
        let either = |upper: &str, lower: &str| {
            let text = environment.non_empty(upper).or_else(|| environment.non_empty(lower));
            text.map(str::to_owned)
        };
        let all = either(env::ALL_PROXY, env::all_proxy);
        Proxies {
            http: either(env::HTTP_PROXY, env::http_proxy).or_else(|| all.clone()),
            https: either(env::HTTPS_PROXY, env::https_proxy).or(all),
            except: either(env::NO_PROXY, env::no_proxy).unwrap_or_default(),
        }
    }

    fn build(&self) -> Result<Vec<Proxy>, String> {
        let except = || NoProxy::from_string(&format!("localhost,127.0.0.0/8,::1,{}", self.except));
        let both = [(&self.http, Proxy::http as fn(String) -> _), (&self.https, Proxy::https)];
        let set = both.into_iter().filter_map(|(address, make)| Some((address.as_ref()?, make)));
        set.map(|(address, make)| {
            // Without a scheme it is one of HTTP.
            let address = if address.contains("://") { address.clone() } else { format!("http://{address}") };
            let made = make(address).map_err(|_| "the address of a proxy is invalid".to_owned())?;
            Ok(made.no_proxy(except()))
        })
        .collect()
    }
}

/// Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    inner: reqwest::Client,
    settings: Settings,
}

/// A request, which may be sent several times.
#[derive(Clone)]
pub struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Option<bytes::Bytes>,
    /// False: the first failure counts.
    pub retry: bool,
}

impl Request {
    pub fn new(method: Method, url: Url) -> Request {
        Request { method, url, headers: HeaderMap::new(), body: None, retry: true }
    }

    pub fn header(mut self, name: HeaderName, value: &str) -> Request {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// A header that no log shows.
    pub fn secret_header(mut self, name: HeaderName, value: &Secret) -> Request {
        if let Ok(mut value) = HeaderValue::from_str(value.reveal()) {
            value.set_sensitive(true);
            self.headers.insert(name, value);
        }
        self
    }

    /// Name and password, for basic authentication.
    pub fn login(self, name: &str, password: &Secret) -> Request {
        use base64::Engine;
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{name}:{}", password.reveal()));
        self.secret_header(reqwest::header::AUTHORIZATION, &Secret::new(format!("Basic {pair}")))
    }

    pub fn body(mut self, body: impl Into<bytes::Bytes>) -> Request {
        self.body = Some(body.into());
        self
    }

    pub fn once(mut self) -> Request {
        self.retry = false;
        self
    }
}

/// A response with any status: the last one, after retries.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub attempts: u32,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The server has trouble: 429, or 5xx but 501.
    pub fn is_trouble(&self) -> bool {
        is_trouble(self.status)
    }
}

/// Why there is no answer: `Get "https://example.com/": why`.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub text: String,
    pub attempts: u32,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Failure {}

impl Client {
    /// Reads certificates and keys; an error says which text is at fault, never what it holds.
    pub fn new(settings: Settings) -> Result<Client, String> {
        let mut builder = reqwest::Client::builder()
            .user_agent(&settings.user_agent)
            .connect_timeout(settings.connect_timeout)
            .read_timeout(settings.idle_timeout)
            .no_proxy();
        for proxy in settings.proxies.build()? {
            builder = builder.proxy(proxy);
        }
        if let Some(pem) = &settings.tls.authorities {
            builder = builder.tls_certs_only(certificates(pem)?);
        }
        if let Some(pem) = &settings.tls.more_authorities {
            builder = builder.tls_certs_merge(certificates(pem)?);
        }
        if let Some((chain, key)) = &settings.tls.identity {
            let pem = format!("{chain}\n{}\n", key.reveal());
            let identity = Identity::from_pem(pem.as_bytes());
            builder =
                builder.identity(identity.map_err(|e| format!("cannot load client certificate: {}", innermost(&e)))?);
        }
        let builder = builder.tls_danger_accept_invalid_certs(settings.tls.skip_verification);
        let inner = builder.build().map_err(|e| format!("cannot set up TLS: {}", innermost(&e)))?;
        Ok(Client { inner, settings })
    }

    /// The library's client, for libraries that send requests themselves.
    pub fn inner(&self) -> &reqwest::Client {
        &self.inner
    }

    /// Sends a request and reads the whole answer. Failed connections and answers of servers in trouble are retried.
    pub async fn send(&self, request: &Request) -> Result<Answer, Failure> {
        let most = if request.retry { self.settings.retries.saturating_add(1) } else { 1 };
        let mut attempt = 1;
        loop {
            let result = self.attempt(request).await;
            let asked = match &result {
                Ok(answer) if answer.is_trouble() => retry_after(&answer.headers),
                Err(failure) if matches!(failure.kind, FailureKind::Unreachable | FailureKind::TimedOut) => None,
                _ => return counted(result, attempt),
            };
            if attempt >= most {
                return counted(result, attempt);
            }
            let pause = asked.unwrap_or_else(|| self.pause(attempt));
            crate::log!(Debug, "{} {} is retried in {pause:?}", request.method, shown(&request.url));
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    fn pause(&self, attempt: u32) -> Duration {
        let (first, longest) = (*self.settings.pauses.start(), *self.settings.pauses.end());
        first.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1).min(30))).min(longest)
    }

    async fn attempt(&self, request: &Request) -> Result<Answer, Failure> {
        crate::log!(Debug, "{} {}", request.method, shown(&request.url));
        let mut sent = self.inner.request(request.method.clone(), request.url.clone()).headers(request.headers.clone());
        if let Some(body) = &request.body {
            sent = sent.body(body.clone());
        }
        let mut response = sent.send().await.map_err(|e| failure(request, &e))?;
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|e| failure(request, &e))? {
            body.extend_from_slice(&piece);
        }
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        crate::log!(Debug, "{} {}: {}", request.method, shown(&request.url), status.as_u16());
        Ok(Answer { status, headers, body, attempts: 1 })
    }
}

fn counted(result: Result<Answer, Failure>, attempts: u32) -> Result<Answer, Failure> {
    result.map(|answer| Answer { attempts, ..answer }).map_err(|failure| Failure { attempts, ..failure })
}

fn failure(request: &Request, error: &reqwest::Error) -> Failure {
    let (kind, why) = explain(&request.url, error);
    let method = request.method.as_str();
    let verb = format!("{}{}", &method[..1], method[1..].to_ascii_lowercase());
    Failure { kind, text: format!("{verb} \"{}\": {why}", shown(&request.url)), attempts: 1 }
}

/// An address without user name, password, query and fragment.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for addresses without a host, which have neither.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

fn certificates(pem: &str) -> Result<Vec<Certificate>, String> {
    let read = Certificate::from_pem_bundle(pem.as_bytes()).unwrap_or_default();
    if read.is_empty() { Err("failed to append certs".to_owned()) } else { Ok(read) }
}

fn is_trouble(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

/// The pause that a server asks for, in seconds or as a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.replace("GMT", "+0000")).ok()?;
    Some(Duration::try_from(date.duration_since(jiff::Timestamp::now())).unwrap_or_default())
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}

#[cfg(test)]
#[path = "web_tests.rs"]
mod tests;
