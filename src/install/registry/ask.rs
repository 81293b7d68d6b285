//! One question to a registry: with the user's token for its host, and the language version that the answer should suit.

use std::fmt;

use base::secret::redacted;
use http::HeaderName;
use model::service::Host;
use model::version::compatible_version;
use net::http::{Answer, Failure, FailureKind, Request};
use serde::de::DeserializeOwned;
use url::Url;

use super::discovery::Hosts;

const TERRAFORM_VERSION: HeaderName = HeaderName::from_static("x-terraform-version");

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    Interrupted,
    /// For people.
    Failed(String),
}

impl Hosts {
    /// Any answer but those of a host in trouble, which is given up after some attempts; `shown` says who it was.
    pub async fn ask_registry(&self, host: &Host, url: Url, shown: fn(&Url) -> String) -> Result<Answer, AskError> {
        let token = self.credentials.of(host).await;
        let request = Request::get(url).header(TERRAFORM_VERSION, compatible_version()).token(token.as_ref());
        let answer = self.http.send(&request).await.map_err(unreachable)?;
        match trouble(&answer, shown) {
            Some(why) => Err(AskError::Failed(why)),
            None => Ok(answer),
        }
    }
}

/// What to say of the answer of a host in trouble.
pub fn trouble(answer: &Answer, shown: fn(&Url) -> String) -> Option<String> {
    let why = || format!("{} returned from {}", answer.status, shown(&answer.url));
    answer.is_trouble().then(|| gave_up(answer.attempts, &why()))
}

/// The whole address.
pub fn address(url: &Url) -> String {
    redacted(url.as_str())
}

/// `example.com:8443`
pub fn host_of(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default())
}

/// Why the body of an answer is not the JSON object that it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// There is nothing.
    Empty,
    /// It does not begin as JSON does.
    Start(char),
    /// It is JSON, but not an object.
    NotAnObject,
    /// It has another form, or ends too early: what is wrong, and where.
    Form(String),
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::Empty => f.write_str("unexpected end of JSON input"),
            BodyError::Start(c) => write!(f, "invalid character '{c}' looking for beginning of value"),
            BodyError::NotAnObject => f.write_str("a JSON object is required"),
            BodyError::Form(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for BodyError {}

/// A JSON object. What is no JSON from its start on is worded as users of the field know it.
pub fn object<T: DeserializeOwned>(body: &[u8]) -> Result<T, BodyError> {
    match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => serde_json::from_slice(body).map_err(|e| BodyError::Form(e.to_string())),
        Some(byte) if byte.is_ascii_graphic() && !b"[\"-0123456789tfn".contains(byte) => {
            Err(BodyError::Start(char::from(*byte)))
        }
        Some(_) => Err(BodyError::NotAnObject),
        None => Err(BodyError::Empty),
    }
}

fn unreachable(failure: Failure) -> AskError {
    match failure.kind {
        FailureKind::Stopped => AskError::Interrupted,
        _ => AskError::Failed(gave_up(failure.attempts, &failure.to_string())),
    }
}

/// What to say after so many attempts.
pub fn gave_up(attempts: u32, why: &str) -> String {
    match attempts {
        0 | 1 => format!("the request failed, please try again later: {why}"),
        more => format!("the request failed after {more} attempts, please try again later: {why}"),
    }
}
