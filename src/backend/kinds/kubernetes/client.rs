//! Requests to a cluster's API server, with credentials that may have to be fetched anew.
//!
//! Owns authentication and how failures are worded. Never knows what is stored.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::env::Environment;
use base::secret::Secret;
use net::http::{Answer, Client, Failure, Proxies, Request, Settings, Tls};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use super::exec;
use super::kubeconfig::{Access, text};
use crate::contract::StoreError;
use crate::web;

/// How long the token of a file is used before the file is read again.
const TOKEN_FILE_AGE: Duration = Duration::from_secs(60);
/// Credentials are renewed so long before they expire.
const MARGIN: Duration = Duration::from_secs(10);

/// The objects of one kind in one namespace.
#[derive(Clone, Copy, Debug)]
pub enum ObjectKind {
    Secrets,
    Leases,
}

/// A server, with credentials.
#[derive(Clone)]
pub struct Api {
    shared: Arc<Shared>,
}

struct Shared {
    access: Access,
    base: Url,
    namespace: String,
    environment: Environment,
    login: Mutex<Option<Login>>,
}

/// Credentials as they are now, and the client that shows them.
#[derive(Clone)]
struct Login {
    client: Client,
    token: Option<Secret>,
    expires: Option<Instant>,
}

/// An answer that is no success.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub error: StoreError,
    /// An earlier attempt of the same request had no answer, and may have been carried out.
    pub retried: bool,
}

impl From<Refusal> for StoreError {
    fn from(refusal: Refusal) -> StoreError {
        refusal.error
    }
}

impl Api {
    /// The server's address.
    pub fn address(&self) -> &str {
        self.shared.base.as_str()
    }

    /// Sends nothing yet; reads nothing but what `access` holds.
    pub fn new(access: Access, namespace: String, environment: &Environment) -> Result<Api, StoreError> {
        let server =
            if access.server.contains("://") { access.server.clone() } else { format!("http://{}", access.server) };
        let base = Url::parse(&server).map_err(|error| format!("invalid server address: {error}"))?;
        let shared = Shared { access, base, namespace, environment: environment.clone(), login: Mutex::default() };
        // What is wrong with certificates is known now, unless a program gives them.
        shared.client(None)?;
        Ok(Api { shared: Arc::new(shared) })
    }

    fn url(&self, kind: ObjectKind, name: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.shared.base.clone();
        let (group, plural) = match kind {
            ObjectKind::Secrets => ("api/v1", "secrets"),
            ObjectKind::Leases => ("apis/coordination.k8s.io/v1", "leases"),
        };
        let base = self.shared.base.path().trim_end_matches('/').to_owned();
        let name = if name.is_empty() { String::new() } else { format!("/{name}") };
        url.set_path(&format!("{base}/{group}/namespaces/{}/{plural}{name}", self.shared.namespace));
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    pub async fn get(&self, kind: ObjectKind, name: &str) -> Result<Option<Value>, StoreError> {
        match self.send(Request::new(Method::GET, self.url(kind, name, &[]))).await {
            Ok(object) => Ok(Some(object)),
            Err(refusal) if refusal.status == StatusCode::NOT_FOUND => Ok(None),
            Err(refusal) => Err(refusal.error),
        }
    }

    /// The objects that have these labels; without `content` servers may leave out all but their metadata.
    pub async fn list(&self, kind: ObjectKind, selector: &str, content: bool) -> Result<Vec<Value>, StoreError> {
        const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
        let mut request = Request::new(Method::GET, self.url(kind, "", &[("labelSelector", selector)]));
        if !content {
            request = request.header(ACCEPT, METADATA);
        }
        let mut list = self.send(request).await?;
        match list["items"].take() {
            Value::Array(items) => Ok(items),
            _ => Ok(Vec::new()),
        }
    }

    pub async fn create(&self, kind: ObjectKind, object: &Value) -> Result<Value, Refusal> {
        self.send(with_body(Request::new(Method::POST, self.url(kind, "", &[])), object)).await
    }

    /// Replaces an object, if it is still of the version that `object` names.
    pub async fn replace(&self, kind: ObjectKind, name: &str, object: &Value) -> Result<Value, Refusal> {
        self.send(with_body(Request::new(Method::PUT, self.url(kind, name, &[])), object)).await
    }

    /// Removes an object; one that is not there is as good.
    pub async fn delete(&self, kind: ObjectKind, name: &str) -> Result<(), StoreError> {
        match self.send(Request::new(Method::DELETE, self.url(kind, name, &[]))).await {
            Ok(_) => Ok(()),
            Err(refusal) if refusal.status == StatusCode::NOT_FOUND => Ok(()),
            Err(refusal) => Err(refusal.error),
        }
    }

    /// Sends a request; once more, with fresh credentials, if those that there are turn out to be too old.
    async fn send(&self, request: Request) -> Result<Value, Refusal> {
        let login = self.login(false).await?;
        let mut answer = self.attempt(&login, &request).await?;
        if answer.status == StatusCode::UNAUTHORIZED && self.shared.can_renew() {
            let login = self.login(true).await?;
            answer = self.attempt(&login, &request).await?;
        }
        let retried = answer.attempts > 1;
        if !answer.status.is_success() {
            return Err(Refusal { status: answer.status, error: refused(&answer), retried });
        }
        serde_json::from_slice(&answer.body).map_err(|error| Refusal {
            status: answer.status,
            error: StoreError::new(format!("the server's answer is not understood: {error}")),
            retried,
        })
    }

    async fn attempt(&self, login: &Login, request: &Request) -> Result<Answer, Refusal> {
        let mut request = request.clone();
        if let Some(token) = &login.token {
            request = request.token(Some(token));
        } else {
            request = request.login(self.shared.access.login.as_ref());
        }
        for (name, value) in &self.shared.access.impersonate {
            if let Ok(value) = HeaderValue::from_str(value) {
                request.headers.append(HeaderName::from_static(name), value);
            }
        }
        login.client.send(&request).await.map_err(failed)
    }

    async fn login(&self, fresh: bool) -> Result<Login, Refusal> {
        let mut current = self.shared.login.lock().await;
        let is_good = |login: &&Login| !fresh && login.expires.is_none_or(|at| at > Instant::now());
        if let Some(login) = current.as_ref().filter(is_good) {
            return Ok(login.clone());
        }
        let login = self.shared.log_in().await.map_err(failed)?;
        *current = Some(login.clone());
        Ok(login)
    }
}

impl Shared {
    fn can_renew(&self) -> bool {
        let access = &self.access;
        access.token.is_none() && (access.token_file.is_some() || access.exec.is_some())
    }

    async fn log_in(&self) -> Result<Login, StoreError> {
        if let Some(token) = &self.access.token {
            return Ok(Login { client: self.client(None)?, token: Some(token.clone()), expires: None });
        }
        if let Some(path) = &self.access.token_file {
            let token = Secret::new(text(Path::new(path))?.trim());
            let expires = Some(Instant::now() + TOKEN_FILE_AGE);
            return Ok(Login { client: self.client(None)?, token: Some(token), expires });
        }
        let Some(exec) = &self.access.exec else {
            return Ok(Login { client: self.client(None)?, token: None, expires: None });
        };
        let given = exec::run(exec, &self.access, &self.environment).await?;
        let expires = given.expires.map(|at| {
            let left = at.duration_since(jiff::Timestamp::now());
            Instant::now() + Duration::try_from(left).unwrap_or_default().saturating_sub(MARGIN)
        });
        Ok(Login { client: self.client(given.identity)?, token: given.token, expires })
    }

    fn client(&self, identity: Option<(String, Secret)>) -> Result<Client, StoreError> {
        let access = &self.access;
        let own = access.certificate.clone().zip(access.key.clone());
        let tls = Tls {
            authorities: access.authorities.clone(),
            identity: identity.or(own),
            skip_verification: access.insecure,
            ..Tls::default()
        };
        let mut settings = Settings { tls, ..web::settings(&self.environment) };
        if let Some(proxy) = &access.proxy {
            settings.proxies = Proxies { http: Some(proxy.clone()), https: Some(proxy.clone()), except: String::new() };
        }
        Ok(Client::build(settings)?)
    }
}

fn with_body(request: Request, object: &Value) -> Request {
    request.header(CONTENT_TYPE, "application/json").body(object.to_string())
}

fn failed(error: impl Into<RequestFailure>) -> Refusal {
    Refusal { status: StatusCode::BAD_GATEWAY, error: error.into().0, retried: false }
}

struct RequestFailure(StoreError);

impl From<StoreError> for RequestFailure {
    fn from(error: StoreError) -> RequestFailure {
        RequestFailure(error)
    }
}

impl From<Failure> for RequestFailure {
    fn from(failure: Failure) -> RequestFailure {
        RequestFailure(StoreError::new(failure.to_string()))
    }
}

/// What the server says, or else what it answered.
fn refused(answer: &Answer) -> StoreError {
    let error_body = serde_json::from_slice::<Value>(&answer.body).ok();
    let message = error_body.as_ref().and_then(|status| status["message"].as_str()).filter(|text| !text.is_empty());
    StoreError::new(message.map_or_else(|| refusal_text(answer.status), str::to_owned))
}

/// What a status means without the server's words: as the reference says it, except where that says nothing.
fn refusal_text(status: StatusCode) -> String {
    let text = match status.as_u16() {
        400 => "the server rejected our request for an unknown reason",
        401 => "the server has asked for the client to provide credentials",
        403 => "the server does not allow the request",
        404 => "the server could not find the requested resource",
        405 => "the server does not allow this method on the requested resource",
        406 => "the server was unable to respond with a content type that the client supports",
        409 => "the server reported a conflict",
        422 => "the server rejected our request due to an error in our request",
        429 => "the server has received too many requests and has asked us to try again later",
        503 => "the server is currently unable to handle the request",
        504 => {
            "the server was unable to return a response in the time allotted, but may still be processing the request"
        }
        code @ 500.. => return format!("an error on the server ({code}) has prevented the request from succeeding"),
        code => {
            return format!("the server responded with the status code {code} but did not return more information");
        }
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observed with answers that are no status objects.
    #[test]
    fn refusals_without_words_say_what_happened() {
        let error_body = |status: u16, body: &str| {
            let url = Url::parse("https://h").unwrap();
            let status = StatusCode::from_u16(status).unwrap();
            refused(&Answer { status, headers: Default::default(), url, body: body.into(), attempts: 1 }).text
        };
        assert_eq!(error_body(400, "oops"), "the server rejected our request for an unknown reason");
        assert_eq!(error_body(400, r#"{"kind":"Status","message":""}"#), error_body(400, ""));
        assert_eq!(error_body(403, r#"{"message":"secrets is forbidden"}"#), "secrets is forbidden");
        assert_eq!(
            error_body(410, ""),
            "the server responded with the status code 410 but did not return more information"
        );
        assert_eq!(error_body(502, ""), "an error on the server (502) has prevented the request from succeeding");
    }
}
