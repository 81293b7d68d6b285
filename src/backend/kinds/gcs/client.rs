//! The JSON interface of Google Cloud Storage: objects with generations are read, written, removed and listed.

use base::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderValue, Method, Request};
use net::cloud;
use net::http::{Answer, Client};
use net::percent::encoded;
use reqsign_core::Signer;
use reqsign_google::Credential;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::objects::failure::Failure;

/// Objects of one bucket.
pub struct Objects {
    pub client: Client,
    /// None for an emulator.
    pub signer: Option<Signer<Credential>>,
    pub bucket: String,
    /// `https://storage.googleapis.com/storage/v1`
    pub base: String,
    /// The customer's own key, in base64.
    pub key: Option<Secret>,
    pub kms_key: Option<String>,
}

/// An object's content and which version of the object it is.
pub struct Object {
    pub content: Vec<u8>,
    pub generation: String,
}

#[derive(Deserialize)]
struct ErrorAnswer {
    error: ErrorBody,
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(default)]
    message: String,
    #[serde(default)]
    errors: Vec<ErrorItem>,
}

#[derive(Deserialize)]
struct ErrorItem {
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listing {
    #[serde(default)]
    items: Vec<Listed>,
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
}

#[derive(Deserialize)]
struct VersionListing {
    #[serde(default)]
    items: Vec<ListedVersion>,
    #[serde(rename = "nextPageToken")]
    next: Option<String>,
}

/// A version of an object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedVersion {
    name: String,
    pub generation: String,
    pub time_created: String,
}

#[derive(Deserialize)]
struct Written {
    generation: String,
}

type Headers = Vec<(&'static str, String)>;

/// What an object holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Encrypted with the user's key, if there is one.
    State,
    /// In clear, and only where there is none yet.
    Lock,
}

impl Objects {
    /// None if there is no such object. `secret`: it is encrypted with the customer's key.
    pub async fn get(&self, name: &str, secret: bool) -> Result<Option<Object>, Failure> {
        self.get_at(format!("{}?alt=media", self.object(name)), secret).await
    }

    /// A version of an object, which is encrypted with the customer's key if there is one. None if it is gone.
    pub async fn get_version(&self, name: &str, generation: &str) -> Result<Option<Object>, Failure> {
        let generation = encoded(generation, false);
        self.get_at(format!("{}?alt=media&generation={generation}", self.object(name)), true).await
    }

    async fn get_at(&self, url: String, secret: bool) -> Result<Option<Object>, Failure> {
        match self.call(Method::GET, url, self.customer_key(secret), Bytes::new()).await {
            Ok(answer) => {
                let generation = answer.header("x-goog-generation").unwrap_or_default().to_owned();
                Ok(Some(Object { content: answer.body, generation }))
            }
            Err(failure) if failure.status == 404 => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The versions of an object, in any order.
    pub async fn versions(&self, name: &str) -> Result<Vec<ListedVersion>, Failure> {
        let (mut versions, mut token) = (Vec::new(), String::new());
        loop {
            let (bucket, prefix) = (encoded(&self.bucket, false), encoded(name, false));
            let url = format!("{}/b/{bucket}/o?pageToken={token}&prefix={prefix}&versions=true", self.base);
            let answer = self.call(Method::GET, url, Vec::new(), Bytes::new()).await?;
            let page: VersionListing = serde_json::from_slice(&answer.body).map_err(|e| unreadable(&e))?;
            versions.extend(page.items.into_iter().filter(|one| one.name == name));
            match page.next.filter(|token| !token.is_empty()) {
                Some(next) => token = encoded(&next, false),
                None => return Ok(versions),
            }
        }
    }

    pub async fn exists(&self, name: &str) -> Result<bool, Failure> {
        match self.call(Method::GET, self.object(name), Vec::new(), Bytes::new()).await {
            Ok(_) => Ok(true),
            Err(failure) if failure.status == 404 => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// The generation that was written.
    pub async fn put(&self, name: &str, content: &[u8], what: Content) -> Result<String, Failure> {
        let boundary = uuid::Uuid::new_v4().simple().to_string();
        let kind = "application/json; charset=utf-8";
        let metadata = json!({ "bucket": self.bucket, "name": name, "contentType": kind });
        let mut body = format!(
            "--{boundary}\r\nContent-Type: application/json\r\n\r\n{metadata}\r\n--{boundary}\r\nContent-Type: {kind}\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(content);
        body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        let (host, path) = self.base.split_at(self.base.find("/storage/v1").unwrap_or(self.base.len()));
        let path = if path.is_empty() { "/storage/v1" } else { path };
        let bucket = encoded(&self.bucket, false);
        let mut url = format!("{host}/upload{path}/b/{bucket}/o?uploadType=multipart&name={}", encoded(name, false));
        if what == Content::Lock {
            url.push_str("&ifGenerationMatch=0");
        }
        if let Some(key) = self.kms_key.as_ref().filter(|_| what == Content::State) {
            url.push_str(&format!("&kmsKeyName={}", encoded(key, false)));
        }
        let mut headers = self.customer_key(what == Content::State);
        headers.push(("content-type", format!("multipart/related; boundary={boundary}")));
        let answer = self.call(Method::POST, url, headers, Bytes::from(body)).await?;
        let written: Written = serde_json::from_slice(&answer.body).map_err(|e| unreadable(&e))?;
        Ok(written.generation)
    }

    /// Removes an object, with a generation only if it is that version.
    pub async fn delete(&self, name: &str, generation: Option<&str>) -> Result<(), Failure> {
        let condition = generation.map_or_else(String::new, |generation| format!("?ifGenerationMatch={generation}"));
        let url = format!("{}{condition}", self.object(name));
        self.call(Method::DELETE, url, Vec::new(), Bytes::new()).await.map(|_| ())
    }

    /// Names that begin so, without those in folders below.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, Failure> {
        let (mut names, mut token) = (Vec::new(), String::new());
        loop {
            let bucket = encoded(&self.bucket, false);
            let prefix = encoded(prefix, false);
            let url = format!("{}/b/{bucket}/o?delimiter=%2F&prefix={prefix}&pageToken={token}", self.base);
            let answer = self.call(Method::GET, url, Vec::new(), Bytes::new()).await?;
            let page: Listing = serde_json::from_slice(&answer.body).map_err(|e| unreadable(&e))?;
            names.extend(page.items.into_iter().map(|item| item.name));
            match page.next_page_token.filter(|token| !token.is_empty()) {
                Some(next) => token = encoded(&next, false),
                None => return Ok(names),
            }
        }
    }

    fn object(&self, name: &str) -> String {
        format!("{}/b/{}/o/{}", self.base, encoded(&self.bucket, false), encoded(name, false))
    }

    fn customer_key(&self, secret: bool) -> Headers {
        let Some(key) = self.key.as_ref().filter(|_| secret) else { return Vec::new() };
        let bytes = STANDARD.decode(key.reveal()).unwrap_or_default();
        vec![
            ("x-goog-encryption-algorithm", "AES256".into()),
            ("x-goog-encryption-key", key.reveal().to_owned()),
            ("x-goog-encryption-key-sha256", STANDARD.encode(Sha256::digest(bytes))),
        ]
    }

    async fn call(&self, method: Method, url: String, headers: Headers, body: Bytes) -> Result<Answer, Failure> {
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            let mut value = HeaderValue::try_from(value).map_err(Failure::unanswered)?;
            value.set_sensitive(name == "x-goog-encryption-key");
            request = request.header(name, value);
        }
        let (mut head, body) = request.body(body).map_err(Failure::unanswered)?.into_parts();
        if let Some(signer) = &self.signer {
            signer.sign(&mut head, None).await.map_err(Failure::unanswered)?;
        }
        let answer = cloud::send(&self.client, Request::from_parts(head, body)).await.map_err(Failure::unanswered)?;
        if answer.status.is_success() { Ok(answer) } else { Err(refused(&answer)) }
    }
}

fn unreadable(why: &serde_json::Error) -> Failure {
    Failure::unanswered(format_args!("the answer cannot be read: {why}"))
}

fn refused(answer: &Answer) -> Failure {
    let status = answer.status.as_u16();
    let text = match serde_json::from_slice::<ErrorAnswer>(&answer.body) {
        Ok(ErrorAnswer { error }) => match error.errors.as_slice() {
            [item] if item.message == error.message => {
                format!("googleapi: Error {status}: {}, {}", error.message, item.reason)
            }
            [] => format!("googleapi: Error {status}: {}", error.message),
            items => {
                let more = items.iter().map(|item| format!("Reason: {}, Message: {}\n", item.reason, item.message));
                format!("googleapi: Error {status}: {}\nMore details:\n{}", error.message, more.collect::<String>())
            }
        },
        Err(_) => {
            let body = String::from_utf8_lossy(&answer.body);
            let body: String = body.chars().take(500).collect();
            format!("googleapi: got HTTP response code {status} with body: {body}")
        }
    };
    Failure { status, code: String::new(), text, attempts: answer.attempts }
}
