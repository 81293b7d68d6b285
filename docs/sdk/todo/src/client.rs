//! The client of the service: JSON over HTTP. Knows nothing of providers, but for its error.

use std::fmt;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A client; clones share their connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    address: String,
    token: Option<String>,
}

/// A note of the service.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Note {
    #[serde(skip_serializing)]
    pub id: String,
    pub list: String,
    pub title: String,
    pub body: Option<String>,
    pub done: bool,
    pub tags: Vec<String>,
    pub reminder: Option<Reminder>,
    #[serde(skip_serializing)]
    pub created_at: String,
    #[serde(skip_serializing)]
    pub updated_at: String,
    /// The version of the note: the header of responses.
    #[serde(skip)]
    pub etag: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Reminder {
    pub at: String,
    pub channel: String,
}

#[derive(Debug, Deserialize)]
pub struct Session {
    pub token: String,
    /// How long it is valid.
    pub seconds: u64,
}

/// Why a request failed.
#[derive(Debug)]
pub enum Error {
    /// There was no response, or not the expected one.
    Transport(reqwest::Error),
    Status {
        status: StatusCode,
        text: String,
    },
}

type Result<T> = std::result::Result<T, Error>;

impl Client {
    pub fn new(address: &str, token: Option<String>) -> Client {
        Client { http: reqwest::Client::new(), address: address.trim_end_matches('/').to_owned(), token }
    }

    pub async fn create_note(&self, note: &Note) -> Result<Note> {
        read_note(send(self.request(Method::POST, "/notes").json(note)).await?).await
    }

    /// None if there is no such note.
    pub async fn note(&self, id: &str) -> Result<Option<Note>> {
        match send(self.request(Method::GET, &format!("/notes/{id}"))).await {
            Ok(response) => read_note(response).await.map(Some),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All notes, or those with a tag.
    pub async fn notes(&self, tag: Option<&str>) -> Result<Vec<Note>> {
        let request = self.request(Method::GET, "/notes").query(&tag.map(|tag| [("tag", tag)]));
        Ok(send(request).await?.json().await?)
    }

    /// Fails if the note is not the version `etag` any more.
    pub async fn update_note(&self, id: &str, etag: &str, note: &Note) -> Result<Note> {
        let request = self.request(Method::PUT, &format!("/notes/{id}")).header("If-Match", etag);
        read_note(send(request.json(note)).await?).await
    }

    pub async fn set_secret(&self, id: &str, secret: &str) -> Result<()> {
        let request = self.request(Method::PUT, &format!("/notes/{id}/secret"));
        send(request.json(&json!({ "secret": secret }))).await.map(drop)
    }

    /// Deletes a note; one that is gone is fine.
    pub async fn delete_note(&self, id: &str) -> Result<()> {
        match send(self.request(Method::DELETE, &format!("/notes/{id}"))).await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    pub async fn open_session(&self) -> Result<Session> {
        Ok(send(self.request(Method::POST, "/sessions")).await?.json().await?)
    }

    pub async fn renew_session(&self, token: &str) -> Result<Session> {
        Ok(send(self.request(Method::PUT, &format!("/sessions/{token}"))).await?.json().await?)
    }

    pub async fn close_session(&self, token: &str) -> Result<()> {
        send(self.request(Method::DELETE, &format!("/sessions/{token}"))).await.map(drop)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.address));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }
}

async fn send(request: RequestBuilder) -> Result<Response> {
    let response = request.send().await?;
    let status = response.status();
    tracing::debug!(status = status.as_u16(), "response of the service");
    if status.is_success() {
        return Ok(response);
    }
    Err(Error::Status { status, text: response.text().await.unwrap_or_default() })
}

async fn read_note(response: Response) -> Result<Note> {
    let etag = response.headers().get("etag").and_then(|etag| etag.to_str().ok()).unwrap_or_default().to_owned();
    Ok(Note { etag, ..response.json().await? })
}

impl Error {
    fn is_not_found(&self) -> bool {
        matches!(self, Error::Status { status: StatusCode::NOT_FOUND, .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Transport(error) => error.fmt(f),
            Error::Status { status: StatusCode::PRECONDITION_FAILED, .. } => {
                f.write_str("The note was changed by someone else since the plan. Plan again.")
            }
            Error::Status { status, text } => write!(f, "The service answered {status}: {text}"),
        }
    }
}

impl From<reqwest::Error> for Error {
    fn from(error: reqwest::Error) -> Error {
        Error::Transport(error)
    }
}

/// What users see: so that `?` is enough in resources.
impl From<Error> for terrane_sdk::Error {
    fn from(error: Error) -> terrane_sdk::Error {
        terrane_sdk::Error::new("Request to the to-do service failed", error.to_string())
    }
}
