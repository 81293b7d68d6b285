//! The client: one way to send a request, with retries, until the command is asked to stop.

use std::io::Write;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::env::{self, Environment};
use base::limits::{self, Limit};
use base::secret::redacted;
use base::stop::Stop;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use url::Url;

use super::failure::{Failure, FailureKind, TIMED_OUT, explain, innermost};
use super::request::{Answer, Request};
use super::transport::{Proxies, Tls, without_secrets};

/// Answers are followed so far.
const MOST_REDIRECTS: usize = 10;

/// How requests are sent.
#[derive(Clone, Debug)]
pub struct Settings {
    pub tls: Tls,
    pub proxies: Proxies,
    pub user_agent: String,
    /// Attempts after the first.
    pub retries: u32,
    /// The first and the longest pause between two attempts; each is twice as long as the one before.
    pub pauses: RangeInclusive<Duration>,
    /// The longest pause that a server may ask for.
    pub asked_pause: Duration,
    pub connect_timeout: Duration,
    /// How long a server may send nothing.
    pub idle_timeout: Duration,
    /// How long one attempt at an answer that is read whole may take.
    pub answer_timeout: Option<Duration>,
    /// The largest answer that is read whole, unless a request says less.
    pub answer_limit: Limit,
    /// Errors and logs show the addresses' queries, but for what is secret in them.
    pub shows_queries: bool,
}

impl Settings {
    /// For state stores: the system's certificates and the environment's proxies; two retries, after one and two seconds.
    /// `program` is how it is named to servers.
    pub fn for_states(environment: &Environment, program: &str) -> Settings {
        let mut user_agent = program.to_owned();
        if let Some(more) = environment.non_empty(env::TF_APPEND_USER_AGENT) {
            user_agent.push_str(&format!(" {}", more.trim()));
        }
        Settings {
            tls: Tls::default(),
            proxies: Proxies::of(environment),
            user_agent,
            retries: 2,
            pauses: Duration::from_secs(1)..=Duration::from_secs(30),
            asked_pause: Duration::MAX,
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(300),
            answer_timeout: None,
            answer_limit: limits::state(),
            shows_queries: false,
        }
    }

    /// For registries, mirrors and packages: as the environment says how patient to be.
    pub fn for_packages(environment: &Environment, program: &str) -> Settings {
        let number =
            |name: &str| environment.non_empty(name).and_then(|text| text.parse::<u32>().ok()).filter(|n| *n > 0);
        let timeout = Duration::from_secs(number(env::TF_REGISTRY_CLIENT_TIMEOUT).unwrap_or(10).into());
        Settings {
            retries: number(env::TF_REGISTRY_DISCOVERY_RETRY).unwrap_or(1),
            pauses: Duration::from_millis(400)..=Duration::from_secs(20),
            asked_pause: Duration::from_secs(20),
            connect_timeout: timeout * 3,
            idle_timeout: timeout * 3,
            answer_timeout: Some(timeout),
            answer_limit: limits::response(),
            shows_queries: true,
            ..Settings::for_states(environment, program)
        }
    }

    fn build(&self) -> Result<reqwest::Client, String> {
        self.client(false)
    }

    /// The library's client, for what is not a request and its answer. `http2`: no other version of HTTP is spoken.
    pub fn client(&self, http2: bool) -> Result<reqwest::Client, String> {
        let builder = reqwest::Client::builder()
            .user_agent(&self.user_agent)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(self.connect_timeout)
            .read_timeout(self.idle_timeout);
        let builder = if http2 { builder.http2_prior_knowledge() } else { builder };
        let builder = self.tls.apply(self.proxies.apply(builder)?)?;
        builder.build().map_err(|e| format!("cannot set up TLS: {}", innermost(&e)))
    }

    fn display_url(&self, request: &Request) -> String {
        match self.shows_queries && !request.has_secret_address() {
            true => redacted(request.url.as_str()),
            false => request.display_url(),
        }
    }
}

/// How far a download is: bytes so far, and all if the host says.
pub type Progress<'a> = &'a (dyn Fn(u64, Option<u64>) + Send + Sync);

/// Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: Settings,
    stop: Stop,
    inner: OnceLock<Result<reqwest::Client, String>>,
}

impl Client {
    /// Nothing is read or opened before the first request. Requests end when `stop` asks for it.
    pub fn new(settings: Settings, stop: Stop) -> Client {
        Client { shared: Arc::new(Shared { settings, stop, inner: OnceLock::new() }) }
    }

    /// A client that no interrupt stops. Reads certificates and keys; an error says which text is at fault, never what it holds.
    pub fn build(settings: Settings) -> Result<Client, String> {
        let client = Client::new(settings, Stop::new());
        let inner = client.shared.settings.build()?;
        client.shared.inner.get_or_init(|| Ok(inner)).clone()?;
        Ok(client)
    }

    pub fn stop(&self) -> &Stop {
        &self.shared.stop
    }

    /// Sends a request and reads the whole answer. Hosts that cannot be reached, and those that say that they are in trouble, are
    /// asked again.
    pub async fn send(&self, request: &Request) -> Result<Answer, Failure> {
        let most = if request.retry { self.attempts() } else { 1 };
        let mut attempt = 1;
        loop {
            let result = tokio::select! {
                result = self.answer(request) => result,
                () = self.shared.stop.stopping() => Err(self.stopped(request)),
            };
            if attempt >= most || !self.pause(attempt, request, &result).await? {
                return result
                    .map(|answer| Answer { attempts: attempt, ..answer })
                    .map_err(|failure| Failure { attempts: attempt, ..failure });
            }
            attempt += 1;
        }
    }

    /// Writes an answer's bytes where the caller wants them. Only an answer of status 200 is written; an interrupted download is an error.
    pub async fn download(
        &self,
        request: &Request,
        into: &mut (dyn Write + Send),
        limit: Limit,
        progress: Progress<'_>,
    ) -> Result<Answer, Failure> {
        tokio::select! {
            result = self.stream(request, into, limit, progress) => result,
            () = self.shared.stop.stopping() => Err(self.stopped(request)),
        }
    }

    /// How often at most something is asked for.
    pub fn attempts(&self) -> u32 {
        self.shared.settings.retries.saturating_add(1)
    }

    /// Waits for the time to ask again, after so many attempts. False: the next one would end as this one.
    pub async fn pause(
        &self,
        attempts: u32,
        request: &Request,
        result: &Result<Answer, Failure>,
    ) -> Result<bool, Failure> {
        let asked = match result {
            Ok(answer) if answer.is_trouble() => retry_after(&answer.headers),
            Err(e) if matches!(e.kind, FailureKind::Unreachable | FailureKind::TimedOut) => None,
            _ => return Ok(false),
        };
        let settings = &self.shared.settings;
        let (first, longest) = (*settings.pauses.start(), *settings.pauses.end());
        let usual = || first.saturating_mul(2u32.saturating_pow(attempts.saturating_sub(1).min(30))).min(longest);
        let pause = asked.map_or_else(usual, |asked| asked.min(settings.asked_pause));
        tracing::debug!("http: {} {} is retried in {pause:?}", request.method, settings.display_url(request));
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(true),
            () = self.shared.stop.stopping() => Err(self.stopped(request)),
        }
    }

    async fn answer(&self, request: &Request) -> Result<Answer, Failure> {
        let whole = async {
            let (response, sent) = self.follow(request).await?;
            self.read_whole(response, sent).await
        };
        match self.shared.settings.answer_timeout {
            Some(timeout) => tokio::time::timeout(timeout, whole)
                .await
                .unwrap_or_else(|_| Err(self.failure(request, FailureKind::TimedOut, TIMED_OUT))),
            None => whole.await,
        }
    }

    async fn read_whole(&self, mut response: reqwest::Response, sent: Request) -> Result<Answer, Failure> {
        let limit = sent.answer_limit.unwrap_or(self.shared.settings.answer_limit);
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|e| self.explained(&sent, &e))? {
            body.extend_from_slice(&piece);
            if body.len() as u64 > limit.bytes {
                return Err(self.too_large(&sent, &limit.exceeded()));
            }
        }
        Ok(Answer { body, ..head(&mut response, sent.url) })
    }

    async fn stream(
        &self,
        request: &Request,
        into: &mut (dyn Write + Send),
        limit: Limit,
        progress: Progress<'_>,
    ) -> Result<Answer, Failure> {
        let (mut response, sent) = self.follow(request).await?;
        if response.status() != StatusCode::OK {
            return Ok(head(&mut response, sent.url));
        }
        let (mut have, all) = (0, response.content_length());
        if all.is_some_and(|all| all > limit.bytes) {
            return Err(self.too_large(&sent, &limit.exceeded()));
        }
        while let Some(piece) = response.chunk().await.map_err(|e| self.explained(&sent, &e))? {
            have += piece.len() as u64;
            if have > limit.bytes {
                return Err(self.too_large(&sent, &limit.exceeded()));
            }
            into.write_all(&piece).map_err(|e| self.failure(&sent, FailureKind::Other, &e.to_string()))?;
            progress(have, all);
        }
        Ok(head(&mut response, sent.url))
    }

    /// The first answer that leads nowhere else, and the request that it answers.
    async fn follow(&self, request: &Request) -> Result<(reqwest::Response, Request), Failure> {
        let client = self.inner().await.map_err(|why| self.failure(request, FailureKind::Other, &why))?;
        let mut sent = request.clone();
        for _ in 0..=MOST_REDIRECTS {
            let shown = self.shared.settings.display_url(&sent);
            tracing::debug!("http: {} {shown}", sent.method);
            let mut builder = client.request(sent.method.clone(), sent.url.clone()).headers(sent.headers.clone());
            if let Some(body) = sent.body_bytes() {
                builder = builder.body(body);
            }
            let response = builder.send().await.map_err(|e| self.explained(&sent, &e))?;
            let status = response.status();
            tracing::debug!("http: {} {shown}: {}", sent.method, status.as_u16());
            let location = sent.follows(status).then(|| response.headers().get(LOCATION)).flatten();
            let Some(location) = location.and_then(|value| value.to_str().ok()) else { return Ok((response, sent)) };
            let next = sent.url.join(location).ok().filter(|next| matches!(next.scheme(), "http" | "https"));
            let next = next.ok_or_else(|| {
                let shown =
                    if sent.has_secret_address() { String::new() } else { format!(" {:?}", redacted(location)) };
                let why = format!("failed to parse Location header{shown}");
                self.failure(&sent, FailureKind::Other, &why)
            })?;
            if !request.may_lead_to(&next) {
                let why = format!("refused to follow the redirect to plain HTTP, {}", without_secrets(&next));
                return Err(self.failure(&sent, FailureKind::Other, &why));
            }
            sent = request.redirected(&sent, status, next);
        }
        Err(self.failure(request, FailureKind::Other, &format!("stopped after {MOST_REDIRECTS} redirects")))
    }

    /// Made once; reading the system's certificates takes long enough to keep it off the other tasks.
    async fn inner(&self) -> Result<reqwest::Client, String> {
        if let Some(made) = self.shared.inner.get() {
            return made.clone();
        }
        let shared = self.shared.clone();
        let make = move || shared.inner.get_or_init(|| shared.settings.build()).clone();
        tokio::task::spawn_blocking(make).await.unwrap_or_else(|e| Err(e.to_string()))
    }

    fn failure(&self, request: &Request, kind: FailureKind, why: &str) -> Failure {
        let url = self.shared.settings.display_url(request);
        Failure { kind, verb: request.verb(), url, why: why.to_owned(), attempts: 1 }
    }

    fn explained(&self, request: &Request, error: &reqwest::Error) -> Failure {
        let (kind, why) = explain(&request.url, error);
        self.failure(request, kind, &why)
    }

    fn stopped(&self, request: &Request) -> Failure {
        self.failure(request, FailureKind::Stopped, "context canceled")
    }

    fn too_large(&self, request: &Request, exceeded: &str) -> Failure {
        self.failure(request, FailureKind::TooLarge, &format!("the response is {exceeded}"))
    }
}

/// An answer without its body.
fn head(response: &mut reqwest::Response, url: Url) -> Answer {
    let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
    Answer { status, headers, url, body: Vec::new(), attempts: 1 }
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

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
