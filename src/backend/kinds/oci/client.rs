//! Object Storage's REST interface: objects are read, written in one or several parts, removed and listed.

use base::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use md5::{Digest, Md5};
use net::http::{Answer, Client, Request};
use net::percent::encoded;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::access::Access;
use super::sign::{Host, sign};
use crate::objects::failure::Failure;

/// The largest object that is written in one part, in bytes.
const PART: usize = if cfg!(test) { 1 << 10 } else { 128 << 20 };
/// The largest object that may be written in one part, in bytes.
const LARGEST_PART: u64 = 50 << 30;

/// Objects of one bucket.
pub struct Objects {
    pub client: Client,
    pub access: Access,
    /// `https://HOST/n/NAMESPACE/b/BUCKET`
    pub base: String,
    pub encryption: Encryption,
}

/// How states are encrypted by the service.
pub enum Encryption {
    Default,
    /// The OCID of a key.
    Kms(String),
    Customer {
        key: Secret,
        hash: String,
        algorithm: String,
    },
}

impl Encryption {
    fn headers(&self) -> Vec<(&'static str, &str)> {
        match self {
            Encryption::Default => Vec::new(),
            Encryption::Kms(key) => vec![("opc-sse-kms-key-id", key)],
            Encryption::Customer { .. } => self.read_headers(),
        }
    }

    fn read_headers(&self) -> Vec<(&'static str, &str)> {
        match self {
            Encryption::Default | Encryption::Kms(_) => Vec::new(),
            Encryption::Customer { key, hash, algorithm } => vec![
                ("opc-sse-customer-algorithm", algorithm),
                ("opc-sse-customer-key", key.reveal()),
                ("opc-sse-customer-key-sha256", hash),
            ],
        }
    }
}

/// True for an object that is not there. Answers to HEAD have no body, and thus no code.
fn is_missing_object(failure: &Failure) -> bool {
    failure.status == 404 && matches!(failure.code.as_str(), "ObjectNotFound" | "")
}

/// An object's content, and what identifies this content.
pub struct Object {
    pub content: Vec<u8>,
    pub etag: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    code: String,
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listing {
    #[serde(default)]
    objects: Vec<Listed>,
    next_start_with: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
}

#[derive(Deserialize)]
struct ObjectVersions {
    #[serde(default)]
    items: Vec<ObjectVersion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectVersion {
    name: String,
    version_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Upload {
    upload_id: String,
}

/// A request for the bucket.
struct Call<'a> {
    method: Method,
    /// Behind the bucket, encoded.
    path: String,
    headers: Vec<(&'static str, &'a str)>,
    body: Bytes,
}

impl Call<'_> {
    fn new(method: Method, path: String) -> Call<'static> {
        Call { method, path, headers: Vec::new(), body: Bytes::new() }
    }
}

fn object(name: &str) -> String {
    format!("/o/{}", encoded(name, false))
}

impl Objects {
    /// A state; None if there is none.
    pub async fn get(&self, name: &str) -> Result<Option<Object>, Failure> {
        self.read(Call { headers: self.encryption.read_headers(), ..Call::new(Method::GET, object(name)) }).await
    }

    /// A lock, which is never encrypted with a key of the settings; None if there is none.
    pub async fn get_lock(&self, name: &str) -> Result<Option<Object>, Failure> {
        self.read(Call::new(Method::GET, object(name))).await
    }

    async fn read(&self, call: Call<'_>) -> Result<Option<Object>, Failure> {
        match self.call(call).await {
            Ok(answer) => {
                let etag = answer.header("etag").unwrap_or_default().to_owned();
                Ok(Some(Object { content: answer.body, etag }))
            }
            Err(failure) if is_missing_object(&failure) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    pub async fn exists(&self, name: &str) -> Result<bool, Failure> {
        let call = Call { headers: self.encryption.read_headers(), ..Call::new(Method::HEAD, object(name)) };
        self.read(call).await.map(|found| found.is_some())
    }

    /// Writes a lock, unless there is one.
    pub async fn put_lock(&self, name: &str, body: Bytes) -> Result<(), Failure> {
        let call = Call { headers: vec![("if-none-match", "*")], body, ..Call::new(Method::PUT, object(name)) };
        self.call(call).await.map(|_| ())
    }

    /// Writes a state: a large one in several parts and, if that fails, in one.
    pub async fn put(&self, name: &str, body: Bytes) -> Result<(), Failure> {
        if body.len() > PART {
            match self.put_parts(name, &body).await {
                Ok(()) => return Ok(()),
                Err(failure) if body.len() as u64 > LARGEST_PART => return Err(failure),
                Err(failure) => tracing::warn!("the state is written in one part, because parts failed: {failure}"),
            }
        }
        let sum = STANDARD.encode(Md5::digest(&body));
        let mut headers = self.encryption.headers();
        headers.push(("content-md5", &sum));
        self.call(Call { headers, body, ..Call::new(Method::PUT, object(name)) }).await.map(|_| ())
    }

    async fn put_parts(&self, name: &str, body: &Bytes) -> Result<(), Failure> {
        let details = Bytes::from(json!({ "object": name }).to_string());
        let headers = self.encryption.headers();
        let begun = self.call(Call { headers, body: details, ..Call::new(Method::POST, "/u".to_owned()) }).await?;
        let Upload { upload_id } = parsed(&begun)?;
        let path = format!("/u/{}?uploadId={}", encoded(name, false), encoded(&upload_id, false));
        let result = self.put_each_part(&path, body).await;
        if result.is_err()
            && let Err(failure) = self.call(Call::new(Method::DELETE, path)).await
        {
            tracing::warn!("an unfinished upload of {name} was not removed: {failure}");
        }
        result
    }

    async fn put_each_part(&self, path: &str, body: &Bytes) -> Result<(), Failure> {
        let mut parts = Vec::new();
        for (index, start) in (0..body.len()).step_by(PART).enumerate() {
            let part = body.slice(start..body.len().min(start + PART));
            let sum = STANDARD.encode(Md5::digest(&part));
            let mut headers = self.encryption.headers();
            headers.push(("content-md5", &sum));
            let number = index + 1;
            let path = format!("{path}&uploadPartNum={number}");
            let answer = self.call(Call { headers, body: part, ..Call::new(Method::PUT, path) }).await?;
            let etag =
                answer.header("etag").ok_or_else(|| Failure::unanswered("the service gave no ETag for a part"))?;
            parts.push(json!({ "partNum": number, "etag": etag }));
        }
        let details = Bytes::from(json!({ "partsToCommit": parts }).to_string());
        self.call(Call { body: details, ..Call::new(Method::POST, path.to_owned()) }).await.map(|_| ())
    }

    /// Removes the lock with this content. False: it is not there.
    pub async fn delete_lock(&self, name: &str, etag: &str) -> Result<bool, Failure> {
        let headers = if etag.is_empty() { Vec::new() } else { vec![("if-match", etag)] };
        match self.call(Call { headers, ..Call::new(Method::DELETE, object(name)) }).await {
            Ok(_) => Ok(true),
            Err(failure) if is_missing_object(&failure) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Removes all versions of these objects, whose names begin with `prefix`.
    pub async fn delete_versions(&self, prefix: &str, names: &[&str]) -> Result<(), Failure> {
        for version in self.versions(prefix).await? {
            if !names.contains(&version.name.as_str()) {
                continue;
            }
            let id = version.version_id.map_or_else(String::new, |id| format!("?versionId={}", encoded(&id, false)));
            match self.call(Call::new(Method::DELETE, format!("{}{id}", object(&version.name)))).await {
                Ok(_) => {}
                Err(failure) if is_missing_object(&failure) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    async fn versions(&self, prefix: &str) -> Result<Vec<ObjectVersion>, Failure> {
        let (mut all, mut next) = (Vec::new(), String::new());
        loop {
            let path = format!("/objectversions?prefix={}{next}", encoded(prefix, false));
            let answer = self.call(Call::new(Method::GET, path)).await?;
            let page: ObjectVersions = parsed(&answer)?;
            all.extend(page.items);
            match answer.header("opc-next-page").filter(|page| !page.is_empty()) {
                Some(page) => next = format!("&page={}", encoded(page, false)),
                None => return Ok(all),
            }
        }
    }

    /// The names of all objects that begin so.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, Failure> {
        let (mut names, mut next) = (Vec::new(), String::new());
        loop {
            let path = format!("/o?prefix={}&limit=1000{next}", encoded(prefix, false));
            let page: Listing = parsed(&self.call(Call::new(Method::GET, path)).await?)?;
            names.extend(page.objects.into_iter().map(|listed| listed.name));
            match page.next_start_with.filter(|start| !start.is_empty()) {
                Some(start) => next = format!("&start={}", encoded(&start, false)),
                None => return Ok(names),
            }
        }
    }

    async fn call(&self, call: Call<'_>) -> Result<Answer, Failure> {
        let url = Url::parse(&format!("{}{}", self.base, call.path)).map_err(Failure::unanswered)?;
        let mut request = Request::new(call.method, url);
        for (name, value) in &call.headers {
            let mut value = HeaderValue::from_str(value).map_err(|_| {
                Failure::unanswered(format!("the header {name:?} cannot have the value of the setting"))
            })?;
            value.set_sensitive(name.ends_with("customer-key"));
            request.headers.insert(HeaderName::from_static(name), value);
        }
        let identity = self.access.identity().await.map_err(Failure::unanswered)?;
        sign(&mut request, &call.body, &identity, Host::Signed).map_err(Failure::unanswered)?;
        if matches!(request.method, Method::PUT | Method::POST) {
            request = request.body(call.body);
        }
        let answer = self.client.send(&request).await.map_err(Failure::unanswered)?;
        if answer.status.is_success() { Ok(answer) } else { Err(refused(&answer)) }
    }
}

fn parsed<T: serde::de::DeserializeOwned>(answer: &Answer) -> Result<T, Failure> {
    let parsed = serde_json::from_slice(&answer.body);
    parsed.map_err(|e| Failure::unanswered(format!("the answer of Object Storage cannot be read: {e}")))
}

/// An error response, as the service's library for Go words it.
fn refused(answer: &Answer) -> Failure {
    let error_body: ErrorBody = serde_json::from_slice(&answer.body).unwrap_or_default();
    let (status, code, message) = (answer.status.as_u16(), &error_body.code, &error_body.message);
    let id = answer.header("opc-request-id").unwrap_or_default();
    let text = format!(
        "Error returned by ObjectStorage Service. Http Status Code: {status}. Error Code: {code}. Opc request id: {id}. Message: {message}"
    );
    Failure { status, code: error_body.code, text, attempts: answer.attempts }
}
