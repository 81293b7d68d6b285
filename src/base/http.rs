//! The HTTP client: one per command, over TLS with the system's certificates and the proxies of the
//! environment. Failed requests are retried until the command is asked to stop.
//!
//! Owns redirects, retries, limits and how failures are worded. Never knows what is asked for, and never shows a secret.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Method, StatusCode};
use url::Url;

use super::env::{self, Environment};
use super::secret::{Secret, redacted};
use super::stop::Stop;

/// Answers are followed so far.
const MOST_REDIRECTS: usize = 10;
/// Answers that are read whole are no larger.
const MOST_BYTES: u64 = 64 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(400);
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub struct Options {
    pub user_agent: String,
    /// How long an answer that is read whole may take, from the first byte sent to the last received.
    pub timeout: Duration,
    /// How long a download may bring nothing.
    pub idle: Duration,
    /// Attempts after the first.
    pub retries: u32,
}

impl Options {
    pub fn of(environment: &Environment, program: &str) -> Options {
        let number =
            |name: &str| environment.non_empty(name).and_then(|text| text.parse::<u32>().ok()).filter(|n| *n > 0);
        let mut user_agent = program.to_owned();
        if let Some(more) = environment.non_empty(env::TF_APPEND_USER_AGENT) {
            user_agent.push_str(&format!(" {}", more.trim()));
        }
        let timeout = Duration::from_secs(number(env::TF_REGISTRY_CLIENT_TIMEOUT).unwrap_or(10).into());
        let retries = number(env::TF_REGISTRY_DISCOVERY_RETRY).unwrap_or(1);
        Options { user_agent, timeout, idle: timeout * 3, retries }
    }
}

/// Cheap to clone; nothing is read or opened before the first request.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    options: Options,
    stop: Stop,
    client: OnceLock<Result<reqwest::Client, String>>,
    /// For this machine's own addresses, which no proxy leads to.
    direct: OnceLock<Result<reqwest::Client, String>>,
}

/// What to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub url: Url,
    /// Fields of a form, encoded, for [`Client::post`].
    form: Option<Secret>,
    pub headers: Vec<(&'static str, String)>,
    /// Sent as a bearer token to this very host, and to none that it leads to.
    pub token: Option<Secret>,
    /// Name and password, under the same rule.
    pub login: Option<(String, Secret)>,
    /// Headers under the same rule: a signature, say.
    pub signed: Vec<(&'static str, Secret)>,
    /// GET unless said otherwise; never with a body.
    pub method: Method,
    /// False: the first failure counts.
    pub retry: bool,
}

impl Request {
    pub fn new(url: Url) -> Request {
        Request {
            url,
            form: None,
            headers: Vec::new(),
            token: None,
            login: None,
            signed: Vec::new(),
            method: Method::GET,
            retry: true,
        }
    }

    pub fn put(url: Url) -> Request {
        Request { method: Method::PUT, ..Request::new(url) }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Request {
        self.headers.push((name, value.into()));
        self
    }

    pub fn token(mut self, token: Option<Secret>) -> Request {
        self.token = token;
        self
    }

    pub fn login(mut self, login: Option<(String, Secret)>) -> Request {
        self.login = login;
        self
    }

    pub fn signed(mut self, headers: Vec<(&'static str, Secret)>) -> Request {
        self.signed = headers;
        self
    }

    /// The fields of a form to send. Any of them may be a secret.
    pub fn form(mut self, fields: &[(&str, &str)]) -> Request {
        let encoded = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.form = Some(Secret::new(encoded));
        self
    }

    pub fn once(mut self) -> Request {
        self.retry = false;
        self
    }
}

/// A response with any status.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Where it came from, after redirects.
    pub url: Url,
    /// Empty for downloads: their bytes went elsewhere.
    pub body: Vec<u8>,
    /// How often was asked.
    pub attempts: u32,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    /// What was tried: `Get`, `Post`.
    verb: &'static str,
    /// Redacted.
    url: String,
    why: String,
    pub attempts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The command was asked to stop.
    Stopped,
    TimedOut,
    TooLarge,
    /// It may be there the next time.
    Unreachable,
    Other,
}

/// `Get "https://example.com/": why`
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\": {}", self.verb, self.url, self.why)
    }
}

impl std::error::Error for Failure {}

/// How far a download is: bytes so far, and all if the host says.
pub type Progress<'a> = &'a (dyn Fn(u64, Option<u64>) + Send + Sync);

impl Client {
    pub fn new(options: Options, stop: Stop) -> Client {
        Client { shared: Arc::new(Shared { options, stop, client: OnceLock::new(), direct: OnceLock::new() }) }
    }

    pub fn stop(&self) -> &Stop {
        &self.shared.stop
    }

    /// Asks and reads the whole answer. Hosts that cannot be reached, and those that say that they are in trouble, are asked
    /// again.
    pub async fn get(&self, request: &Request) -> Result<Answer, Failure> {
        let most = if request.retry { self.attempts() } else { 1 };
        for attempt in 1.. {
            let work = tokio::time::timeout(self.shared.options.timeout, self.whole(request));
            let result = tokio::select! {
                result = work => result.unwrap_or_else(|_| Err(timed_out(&request.url))),
                () = self.shared.stop.stopping() => Err(stopped(request.url.as_str())),
            };
            if attempt >= most || !self.pause(attempt, &result).await? {
                return result
                    .map(|answer| Answer { attempts: attempt, ..answer })
                    .map_err(|failure| Failure { attempts: attempt, ..failure });
            }
        }
        Err(failure(&request.url, FailureKind::Other, "nothing was asked"))
    }

    /// Writes an answer's bytes where the caller wants them. Only an answer of status 200 is written; an interrupted download is an error.
    pub async fn download(
        &self,
        request: &Request,
        into: &mut (dyn Write + Send),
        limit: u64,
        progress: Progress<'_>,
    ) -> Result<Answer, Failure> {
        tokio::select! {
            result = self.stream(request, into, limit, progress) => result,
            () = self.shared.stop.stopping() => Err(stopped(request.url.as_str())),
        }
    }

    /// Sends a form, once, and reads the whole answer. Redirects are not followed: the content is only for
    /// this host.
    pub async fn post(&self, request: &Request) -> Result<Answer, Failure> {
        let send = async {
            let client = self.client(is_loopback(&request.url)).await;
            let client = client.map_err(|why| failure(&request.url, FailureKind::Other, &why))?;
            crate::log!(Debug, "http: Post {}", redacted(request.url.as_str()));
            let mut sent = client.request(Method::POST, request.url.clone()).headers(headers(request, true));
            if let Some(form) = &request.form {
                sent = sent.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form.reveal().to_owned());
            }
            let response = sent.send().await.map_err(|e| worded(&request.url, &e))?;
            read_whole(response, request.url.clone()).await
        };
        let result = tokio::select! {
            result = tokio::time::timeout(self.shared.options.timeout, send) => {
                result.unwrap_or_else(|_| Err(timed_out(&request.url)))
            }
            () = self.shared.stop.stopping() => Err(stopped(request.url.as_str())),
        };
        result.map_err(|failure| Failure { verb: "Post", ..failure })
    }

    /// How often at most something is asked for.
    pub fn attempts(&self) -> u32 {
        self.shared.options.retries + 1
    }

    /// Waits for the time to ask again, after so many attempts. False: the next one would end as this one.
    pub async fn pause(&self, attempts: u32, result: &Result<Answer, Failure>) -> Result<bool, Failure> {
        let (asked, url) = match result {
            Ok(answer) if is_trouble(answer.status) => (asked_pause(&answer.headers), answer.url.as_str()),
            Err(e) if matches!(e.kind, FailureKind::Unreachable | FailureKind::TimedOut) => (None, &*e.url),
            _ => return Ok(false),
        };
        let usual = FIRST_PAUSE * 2u32.saturating_pow(attempts.saturating_sub(1).min(16));
        tokio::select! {
            () = tokio::time::sleep(asked.unwrap_or(usual).min(LONGEST_PAUSE)) => Ok(true),
            () = self.shared.stop.stopping() => Err(stopped(url)),
        }
    }

    async fn whole(&self, request: &Request) -> Result<Answer, Failure> {
        let (response, url) = self.follow(request).await?;
        read_whole(response, url).await
    }

    async fn stream(
        &self,
        request: &Request,
        into: &mut (dyn Write + Send),
        limit: u64,
        progress: Progress<'_>,
    ) -> Result<Answer, Failure> {
        let idle = self.shared.options.idle;
        let late = |_| timed_out(&request.url);
        let (mut response, url) = tokio::time::timeout(idle, self.follow(request)).await.map_err(late)??;
        let answer = |response: &mut reqwest::Response, url: Url| Answer {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            url,
            body: Vec::new(),
            attempts: 1,
        };
        if response.status() != StatusCode::OK {
            return Ok(answer(&mut response, url));
        }
        let (mut have, all) = (0, response.content_length());
        if all.is_some_and(|all| all > limit) {
            return Err(too_large(&url, limit));
        }
        loop {
            let next = tokio::time::timeout(idle, response.chunk()).await.map_err(late)?;
            let Some(piece) = next.map_err(|e| worded(&url, &e))? else { break };
            have += piece.len() as u64;
            if have > limit {
                return Err(too_large(&url, limit));
            }
            into.write_all(&piece).map_err(|e| failure(&url, FailureKind::Other, &e.to_string()))?;
            progress(have, all);
        }
        Ok(answer(&mut response, url))
    }

    /// The first answer that is no redirect. Credentials stay with the host that they are for.
    async fn follow(&self, request: &Request) -> Result<(reqwest::Response, Url), Failure> {
        let mut url = request.url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let same =
                url.host() == request.url.host() && url.port_or_known_default() == request.url.port_or_known_default();
            let headers = headers(request, same && (url.scheme() == "https" || request.url.scheme() == "http"));
            crate::log!(Debug, "http: Get {}", redacted(url.as_str()));
            let client = self.client(is_loopback(&url)).await.map_err(|why| failure(&url, FailureKind::Other, &why))?;
            let sent = client.request(request.method.clone(), url.clone()).headers(headers).send().await;
            let response = sent.map_err(|e| worded(&url, &e))?;
            let led = response.status().is_redirection().then(|| response.headers().get(LOCATION)).flatten();
            let Some(location) = led.and_then(|value| value.to_str().ok()) else { return Ok((response, url)) };
            let next = url.join(location).ok().filter(|next| matches!(next.scheme(), "http" | "https"));
            url = next.ok_or_else(|| {
                failure(&url, FailureKind::Other, &format!("failed to parse Location header {:?}", redacted(location)))
            })?;
        }
        Err(failure(&request.url, FailureKind::Other, &format!("stopped after {MOST_REDIRECTS} redirects")))
    }

    /// Made once; reading the system's certificates takes long enough to keep it off the other tasks.
    async fn client(&self, direct: bool) -> Result<reqwest::Client, String> {
        fn place(shared: &Shared, direct: bool) -> &OnceLock<Result<reqwest::Client, String>> {
            if direct { &shared.direct } else { &shared.client }
        }
        if let Some(made) = place(&self.shared, direct).get() {
            return made.clone();
        }
        let shared = self.shared.clone();
        let make = move || place(&shared, direct).get_or_init(|| build(&shared.options, direct)).clone();
        let made = tokio::task::spawn_blocking(make).await;
        made.unwrap_or_else(|e| Err(e.to_string()))
    }
}

async fn read_whole(mut response: reqwest::Response, url: Url) -> Result<Answer, Failure> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|e| worded(&url, &e))? {
        body.extend_from_slice(&piece);
        if body.len() as u64 > MOST_BYTES {
            return Err(too_large(&url, MOST_BYTES));
        }
    }
    let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
    Ok(Answer { status, headers, url, body, attempts: 1 })
}

fn build(options: &Options, direct: bool) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .user_agent(&options.user_agent)
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(options.idle);
    if direct {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|e| format!("cannot set up TLS: {}", innermost(&e)))
}

/// Also the hosts of machines in a cloud, which are on this machine's own link.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback() || address.is_link_local(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn headers(request: &Request, with_credentials: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    let credentials = match (&request.token, &request.login) {
        (Some(token), _) => Some(format!("Bearer {}", token.reveal())),
        (None, Some((name, password))) => Some(basic(name, password)),
        (None, None) => None,
    };
    for (name, value) in request.signed.iter().filter(|_| with_credentials) {
        if let Ok(mut value) = HeaderValue::from_str(value.reveal()) {
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    if let Some(mut value) = credentials.filter(|_| with_credentials).and_then(|c| HeaderValue::from_str(&c).ok()) {
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    headers
}

fn basic(name: &str, password: &Secret) -> String {
    use base64::Engine;
    let pair = format!("{name}:{}", password.reveal());
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
}

/// The host is there, but not well: it may be the next time.
fn is_trouble(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

fn asked_pause(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

fn failure(url: &Url, kind: FailureKind, why: &str) -> Failure {
    Failure { kind, verb: "Get", url: redacted(url.as_str()), why: why.to_owned(), attempts: 1 }
}

fn stopped(url: &str) -> Failure {
    Failure {
        kind: FailureKind::Stopped,
        verb: "Get",
        url: redacted(url),
        why: "context canceled".to_owned(),
        attempts: 1,
    }
}

const TIMED_OUT: &str = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";

fn timed_out(url: &Url) -> Failure {
    failure(url, FailureKind::TimedOut, TIMED_OUT)
}

fn too_large(url: &Url, limit: u64) -> Failure {
    failure(url, FailureKind::TooLarge, &format!("the response is larger than {limit} bytes"))
}

fn worded(url: &Url, error: &reqwest::Error) -> Failure {
    let (kind, why) = explain(url, error);
    failure(url, kind, &why)
}

/// The library's error in the words that people of the field search for.
pub fn explain(url: &Url, error: &reqwest::Error) -> (FailureKind, String) {
    let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    let mut dns = false;
    while let Some(e) = cause {
        dns |= e.to_string().starts_with("dns error");
        if let Some(io) = e.downcast_ref::<std::io::Error>() {
            if let Some(tls) = tls_error(io) {
                return (FailureKind::Other, tls_words(tls));
            }
            if io.kind() == std::io::ErrorKind::UnexpectedEof {
                return (FailureKind::Unreachable, "unexpected EOF".to_owned());
            }
            if io.kind() == std::io::ErrorKind::ConnectionRefused {
                return (FailureKind::Unreachable, format!("dial tcp {host}:{port}: connect: connection refused"));
            }
        }
        cause = e.source();
    }
    if dns {
        return (FailureKind::Unreachable, format!("dial tcp: lookup {host}: no such host"));
    }
    if error.is_timeout() {
        return (FailureKind::TimedOut, TIMED_OUT.to_owned());
    }
    let kind = if error.is_builder() { FailureKind::Other } else { FailureKind::Unreachable };
    (kind, innermost(error))
}

/// The error that others wrap, perhaps more than once: a custom error is no source of the one around it.
fn tls_error(error: &std::io::Error) -> Option<&rustls::Error> {
    let inner = error.get_ref()?;
    inner.downcast_ref().or_else(|| tls_error(inner.downcast_ref::<std::io::Error>()?))
}

fn tls_words(error: &rustls::Error) -> String {
    use rustls::CertificateError;
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "tls: failed to verify certificate: x509: certificate signed by unknown authority".to_owned()
        }
        rustls::Error::InvalidCertificate(why) => format!("tls: failed to verify certificate: {why}"),
        other => format!("tls: {other}"),
    }
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
