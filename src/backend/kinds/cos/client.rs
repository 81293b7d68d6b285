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
use crate::contract::StoreError;
use crate::objects::key_list::KeyList;

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
    pub async fn get(&self, key: &str) -> Result<Option<Object>, StoreError> {
        let failed = |why: &str| StoreError::new(format!("failed to open file at {key}: {why}"));
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

    pub async fn exists(&self, key: &str) -> Result<bool, StoreError> {
        match self.call(Method::HEAD, key, "", Bytes::new()).await {
            Ok(_) => Ok(true),
            Err(Refusal::Missing(_)) => Ok(false),
            Err(refusal) => Err(format!("failed to open file at {key}: {}", refusal.text()).into()),
        }
    }

    /// Writes an object and returns its checksum.
    pub async fn put(&self, key: &str, content: Bytes) -> Result<String, StoreError> {
        let checksum = hex(&Md5::digest(&content));
        let written = self.call(Method::PUT, key, "", content).await;
        written.map(|_| checksum).map_err(|refusal| format!("failed to save file to {key}: {}", refusal.text()).into())
    }

    /// Removes an object, if there is one.
    pub async fn delete(&self, key: &str) -> Result<(), StoreError> {
        match self.call(Method::DELETE, key, "", Bytes::new()).await {
            Ok(_) | Err(Refusal::Missing(_)) => Ok(()),
            Err(refusal) => Err(format!("failed to delete file {key}: {}", refusal.text()).into()),
        }
    }

    /// The keys of all objects that begin so.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let mut list = KeyList::new(prefix);
        loop {
            let answer = match self.call(Method::GET, "", &list.query(), Bytes::new()).await {
                Ok(answer) => answer,
                Err(Refusal::Missing(_)) => return Err(format!("bucket {} not exists", self.bucket).into()),
                Err(refusal) => return Err(refusal.text().into()),
            };
            if !list.add(&answer.text())? {
                return Ok(list.into_keys());
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
    let error_body: ErrorBody = quick_xml::de::from_str(&answer.text()).unwrap_or_default();
    let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
    let id = if error_body.request_id.is_empty() { header("x-cos-request-id") } else { error_body.request_id };
    let trace = if error_body.trace_id.is_empty() { header("x-cos-trace-id") } else { error_body.trace_id };
    let text = format!(
        "{request}: {} {}(Message: {}, RequestId: {id}, TraceId: {trace})",
        answer.status.as_u16(),
        error_body.code,
        error_body.message
    );
    let is_missing = answer.status == StatusCode::NOT_FOUND;
    match is_missing && (error_body.code == "NoSuchKey" || request.starts_with("HEAD")) {
        true => Refusal::Missing(text),
        // Of a list it is the bucket that is missing.
        false if is_missing && request.contains("?max-keys") => Refusal::Missing(text),
        false => Refusal::Other(text),
    }
}
