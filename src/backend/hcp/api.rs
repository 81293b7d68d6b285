//! The interface of HCP Terraform and Terraform Enterprise: JSON:API over HTTP with a token.
//!
//! Owns requests and how errors are worded. The token goes to the host of the service only.

use std::fmt;
use std::time::Duration;

use base::env::Environment;
use base::secret::Secret;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, Method};
use model::version::compatible_version;
use net::http::{Answer, Client, Request};
use serde_json::Value as Json;
use url::Url;

use crate::contract::StoreError;
use crate::web;

const MEDIA_TYPE: &str = "application/vnd.api+json";
const VERSION: HeaderName = HeaderName::from_static("terraform-version");
const INTEGRATION: HeaderName = HeaderName::from_static("x-terraform-integration");

/// A connection to the service.
#[derive(Clone)]
pub struct Api {
    client: Client,
    base: Url,
    token: Secret,
    /// The name that requests give for what makes them.
    integration: Option<&'static str>,
}

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The status of the answer; none: there was no answer.
    pub status: Option<u16>,
    pub text: String,
    /// The request was sent more than once, so an earlier attempt may have been carried out.
    pub retried: bool,
}

impl ApiError {
    pub fn is_not_found(&self) -> bool {
        self.status == Some(404)
    }

    pub fn is_conflict(&self) -> bool {
        self.status == Some(409)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<ApiError> for StoreError {
    fn from(error: ApiError) -> StoreError {
        StoreError::new(error.text)
    }
}

impl Api {
    /// `base` ends in a slash.
    pub fn new(
        base: Url,
        token: Secret,
        integration: Option<&'static str>,
        environment: &Environment,
    ) -> Result<Api, ApiError> {
        let mut settings = web::settings(environment);
        settings.retries = 5;
        settings.pauses = Duration::from_millis(700)..=Duration::from_secs(8);
        Ok(Api { client: Client::build(settings).map_err(broken)?, base, token, integration })
    }

    /// Asks for a document.
    pub async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Json, ApiError> {
        document(&self.ask(&self.request(Method::GET, path, query)?).await?)
    }

    /// As `get`, with the answer's headers.
    pub async fn get_whole(&self, path: &str) -> Result<(Json, Answer), ApiError> {
        let answer = self.ask(&self.request(Method::GET, path, &[])?).await?;
        Ok((document(&answer)?, answer))
    }

    /// All resources of a list.
    pub async fn pages(&self, path: &str, query: &[(String, String)]) -> Result<Vec<Json>, ApiError> {
        let mut found = Vec::new();
        let mut page = None;
        loop {
            let mut all: Vec<(&str, &str)> = query.iter().map(|(name, value)| (&**name, &**value)).collect();
            let number = page.map(|page: u64| page.to_string());
            all.extend(number.as_deref().map(|number| ("page[number]", number)));
            let mut answer = self.get(path, &all).await?;
            if let Json::Array(items) = answer["data"].take() {
                found.extend(items);
            }
            let next = answer["meta"]["pagination"]["next-page"].as_u64();
            // A server that names an earlier page would be asked forever.
            if next.is_none() || next <= page {
                return Ok(found);
            }
            page = next;
        }
    }

    /// Sends a document, or nothing; null if the answer has no body.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Json>) -> Result<Json, ApiError> {
        document(&self.send_whole(method, path, body).await?)
    }

    /// As `send`, with the answer's headers.
    pub async fn send_whole(&self, method: Method, path: &str, body: Option<&Json>) -> Result<Answer, ApiError> {
        let request = self.request(method, path, &[])?.header(CONTENT_TYPE, MEDIA_TYPE);
        let request = request.body(body.map(Json::to_string).unwrap_or_default());
        self.ask(&request).await
    }

    pub async fn post(&self, path: &str, body: Option<&Json>) -> Result<Json, ApiError> {
        self.send(Method::POST, path, body).await
    }

    /// Downloads from an address that the service gave.
    pub async fn download(&self, address: &str) -> Result<Vec<u8>, ApiError> {
        Ok(self.ask(&self.foreign(Method::GET, address)?).await?.body)
    }

    /// Uploads to an address that the service gave. Such addresses hold their own permission: the token is not sent.
    pub async fn upload(&self, address: &str, body: Vec<u8>) -> Result<(), ApiError> {
        let mut request = self.foreign(Method::PUT, address)?;
        request.headers.remove(AUTHORIZATION);
        let request = request.header(CONTENT_TYPE, "application/octet-stream").body(body);
        self.ask(&request).await.map(drop)
    }

    fn request(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Result<Request, ApiError> {
        let mut url = self.base.join(path).map_err(|e| broken(e.to_string()))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(self.to(method, url))
    }

    /// A request to an address of an answer, which may be relative.
    fn foreign(&self, method: Method, address: &str) -> Result<Request, ApiError> {
        let url = self.base.join(address).map_err(|e| broken(format!("the service gave an invalid address: {e}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(broken("the service gave an address that is neither HTTP nor HTTPS".to_owned()));
        }
        // Some of these addresses are all the permission that their content needs.
        Ok(self.to(method, url).with_secret_address())
    }

    fn to(&self, method: Method, url: Url) -> Request {
        let is_ours = url.origin() == self.base.origin();
        let mut request = Request::new(method, url);
        if is_ours {
            request = request.token(Some(&self.token)).header(ACCEPT, MEDIA_TYPE);
            request = request.header(VERSION, compatible_version());
            if let Some(name) = self.integration {
                request = request.header(INTEGRATION, name);
            }
        }
        request
    }

    /// Sends a request; an answer other than of success is an error.
    async fn ask(&self, request: &Request) -> Result<Answer, ApiError> {
        let answer = self.client.send(request).await.map_err(|failure| ApiError {
            status: None,
            retried: failure.attempts > 1,
            text: failure.to_string(),
        })?;
        if (200..400).contains(&answer.status.as_u16()) { Ok(answer) } else { Err(refused(request, &answer)) }
    }
}

/// The error for an answer that makes no sense.
pub(super) fn broken(text: String) -> ApiError {
    ApiError { status: None, text, retried: false }
}

/// The document of an answer; null if it has none.
fn document(answer: &Answer) -> Result<Json, ApiError> {
    if answer.body.is_empty() {
        return Ok(Json::Null);
    }
    serde_json::from_slice(&answer.body).map_err(|e| broken(format!("the answer of the service is not JSON: {e}")))
}

/// What the service says of a request that it refuses.
fn refused(request: &Request, answer: &Answer) -> ApiError {
    let status = answer.status.as_u16();
    let path = request.url.path();
    let text = match status {
        401 => "unauthorized".to_owned(),
        404 => "resource not found".to_owned(),
        409 if path.ends_with("actions/lock") => "workspace already locked".to_owned(),
        409 if path.ends_with("actions/force-unlock") => "workspace already unlocked".to_owned(),
        409 if path.ends_with("actions/unlock") => unlock_refused(&errors(answer)),
        409 if path.ends_with("actions/safe-delete") => delete_refused(&errors(answer)),
        _ => {
            let all = errors(answer);
            match all.is_empty() {
                true => format!("{} {}: {}", request.method, request.display_url(), answer.status),
                false => all.join("\n"),
            }
        }
    };
    ApiError { status: Some(status), text, retried: answer.attempts > 1 }
}

/// The errors that an answer lists: title, and detail if there is one.
fn errors(answer: &Answer) -> Vec<String> {
    let body: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
    let all = body["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |error: &Json| {
        let title = error["title"].as_str().unwrap_or_default();
        match error["detail"].as_str().unwrap_or_default() {
            "" => title.to_owned(),
            detail => format!("{title}\n\n{detail}"),
        }
    };
    all.iter().map(one).collect()
}

fn unlock_refused(errors: &[String]) -> String {
    let says = |what: &str| errors.iter().any(|error| error.contains(what));
    if says("latest state version is still pending") {
        return STILL_PENDING.to_owned();
    }
    let owner = [("is locked by Run", "run"), ("is locked by Team", "team"), ("is locked by User", "user")];
    match owner.iter().find(|(text, _)| says(text)) {
        Some((_, owner)) => format!("unable to unlock workspace locked by {owner}"),
        None => "workspace already unlocked".to_owned(),
    }
}

/// The text of a refusal to unlock that is over soon.
pub const STILL_PENDING: &str = "unable to unlock workspace while state version upload is still pending";

fn delete_refused(errors: &[String]) -> String {
    let says = |what: &str| errors.iter().any(|error| error.contains(what));
    let why = if says("locked") {
        "Workspace is currently locked. Workspace must be unlocked before it can be safely deleted"
    } else if says("being processed") {
        "Latest workspace state is being processed to discover resources, please try again later"
    } else {
        "workspace cannot be safely deleted because it is still managing resources"
    };
    format!("conflict\n{why}")
}

/// One segment of a path, with all special bytes encoded.
pub fn segment(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let encoded = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encoded).collect()
}

/// An attribute of a resource that is a text; empty if it has none.
pub fn text<'a>(resource: &'a Json, attribute: &str) -> &'a str {
    resource["attributes"][attribute].as_str().unwrap_or_default()
}

/// The ID of a resource; empty if it has none.
pub fn id(resource: &Json) -> &str {
    resource["id"].as_str().unwrap_or_default()
}

/// The ID of a related resource.
pub fn related<'a>(resource: &'a Json, name: &str) -> Option<&'a str> {
    resource["relationships"][name]["data"]["id"].as_str()
}

/// The elements of a list; none for anything else.
pub fn elements(list: &Json) -> &[Json] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}
