//! COS's REST interface: objects are read, written, removed and listed. Each has the MD5 of its content as metadata.

use bytes::Bytes;
use gotext::hex::hex;
use http::{Method, Request, StatusCode};
use md5::{Digest, Md5};
use net::cloud;
use net::http::{Answer, Client};
use net::percent::encoded;
use reqsign_core::SignRequest;
use reqsign_tencent_cos::RequestSigner;
use serde::Deserialize;

use super::credentials::Keys;

const CHECKSUM: &str = "x-cos-meta-md5";

/// Objects of one bucket.
pub struct Objects {
    pub client: Client,
    pub keys: Keys,
    pub bucket: String,
    /// With the bucket's name, without a slash at the end.
    pub base: String,
    pub encrypt: bool,
    pub acl: String,
}

/// An object's content and its checksum.
pub struct Object {
    pub content: Vec<u8>,
    pub checksum: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct ErrorBody {
    code: String,
    message: String,
    request_id: String,
    trace_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listing {
    #[serde(default)]
    contents: Vec<Listed>,
    #[serde(default)]
    is_truncated: bool,
    next_marker: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listed {
    key: String,
}

/// Why there is no answer, or the service's error.
#[derive(Debug)]
enum Refusal {
    None(String),
    Missing(String),
    Other(String),
}

impl Refusal {
    fn text(self) -> String {
        match self {
            Refusal::None(text) | Refusal::Missing(text) | Refusal::Other(text) => text,
        }
    }
}

impl Objects {
    /// An object whose content matches its checksum; None if there is none.
    pub async fn get(&self, key: &str) -> Result<Option<Object>, String> {
        let failed = |why: &str| format!("failed to open file at {key}: {why}");
        let answer = match self.call(Method::GET, key, "", Bytes::new()).await {
            Ok(answer) => answer,
            Err(Refusal::Missing(_)) => return Ok(None),
            Err(refusal) => return Err(failed(&refusal.text())),
        };
        let checksum = answer.header(CHECKSUM).unwrap_or_default().to_owned();
        if checksum.len() != 32 {
            return Err(failed(&format!("checksum {checksum} invalid")));
        }
        let actual = hex(&Md5::digest(&answer.body));
        if actual != checksum {
            return Err(failed(&format!("checksum mismatch, {actual} != {checksum}")));
        }
        Ok(Some(Object { content: answer.body, checksum }))
    }

    pub async fn exists(&self, key: &str) -> Result<bool, String> {
        match self.call(Method::HEAD, key, "", Bytes::new()).await {
            Ok(_) => Ok(true),
            Err(Refusal::Missing(_)) => Ok(false),
            Err(refusal) => Err(format!("failed to open file at {key}: {}", refusal.text())),
        }
    }

    /// Writes an object and returns its checksum.
    pub async fn put(&self, key: &str, content: Bytes) -> Result<String, String> {
        let checksum = hex(&Md5::digest(&content));
        let written = self.call(Method::PUT, key, "", content).await;
        written.map(|_| checksum).map_err(|refusal| format!("failed to save file to {key}: {}", refusal.text()))
    }

    /// Removes an object, if there is one.
    pub async fn delete(&self, key: &str) -> Result<(), String> {
        match self.call(Method::DELETE, key, "", Bytes::new()).await {
            Ok(_) | Err(Refusal::Missing(_)) => Ok(()),
            Err(refusal) => Err(format!("failed to delete file {key}: {}", refusal.text())),
        }
    }

    /// The keys of all objects that begin so.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, String> {
        let (mut keys, mut marker) = (Vec::new(), String::new());
        loop {
            let next = if marker.is_empty() { String::new() } else { format!("marker={}&", encoded(&marker, false)) };
            let query = format!("{next}max-keys=1000&prefix={}", encoded(prefix, false));
            let answer = match self.call(Method::GET, "", &query, Bytes::new()).await {
                Ok(answer) => answer,
                Err(Refusal::Missing(_)) => return Err(format!("bucket {} not exists", self.bucket)),
                Err(refusal) => return Err(refusal.text()),
            };
            let page: Listing = quick_xml::de::from_str(&answer.text())
                .map_err(|e| format!("the list of objects cannot be read: {e}"))?;
            keys.extend(page.contents.into_iter().map(|listed| listed.key));
            let next = page.next_marker.or_else(|| keys.last().cloned()).filter(|next| *next != marker);
            match next.filter(|_| page.is_truncated) {
                Some(next) => marker = next,
                None => return Ok(keys),
            }
        }
    }

    async fn call(&self, method: Method, key: &str, query: &str, body: Bytes) -> Result<Answer, Refusal> {
        let failed = |why: &dyn std::fmt::Display| Refusal::None(why.to_string());
        let joint = if query.is_empty() { "" } else { "?" };
        let url = format!("{}/{}{joint}{query}", self.base, encoded(key, true));
        let mut request = Request::builder().method(&method).uri(&url);
        if method == Method::PUT {
            request = request.header("content-type", "application/json").header("x-cos-acl", &self.acl);
            request = request.header(CHECKSUM, hex(&Md5::digest(&body)));
            if self.encrypt {
                request = request.header("x-cos-server-side-encryption", "AES256");
            }
        }
        let (mut head, body) = request.body(body).map_err(|e| failed(&e))?.into_parts();
        let keys = self.keys.get().await.map_err(|why| failed(&why))?;
        let signer = RequestSigner::new();
        let signed = signer.sign_request(self.keys.context(), &mut head, Some(&keys), None);
        signed.await.map_err(|e| failed(&e))?;
        let answer = cloud::send(&self.client, Request::from_parts(head, body)).await.map_err(|why| failed(&why))?;
        if answer.status.is_success() { Ok(answer) } else { Err(refused(&format!("{method} {url}"), &answer)) }
    }
}

/// An error response, as the service's library for Go words it. Those to HEAD have no body.
fn refused(request: &str, answer: &Answer) -> Refusal {
    let said: ErrorBody = quick_xml::de::from_str(&answer.text()).unwrap_or_default();
    let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
    let id = if said.request_id.is_empty() { header("x-cos-request-id") } else { said.request_id };
    let trace = if said.trace_id.is_empty() { header("x-cos-trace-id") } else { said.trace_id };
    let text = format!(
        "{request}: {} {}(Message: {}, RequestId: {id}, TraceId: {trace})",
        answer.status.as_u16(),
        said.code,
        said.message
    );
    let is_missing = answer.status == StatusCode::NOT_FOUND;
    match is_missing && (said.code == "NoSuchKey" || request.starts_with("HEAD")) {
        true => Refusal::Missing(text),
        // Of a list it is the bucket that is missing.
        false if is_missing && request.contains("?max-keys") => Refusal::Missing(text),
        false => Refusal::Other(text),
    }
}
