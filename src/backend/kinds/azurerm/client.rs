//! The REST interface of Azure's blobs: read, written, leased, listed.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderValue, Method, Request};
use net::cloud;
use net::http::{Answer, Client};
use net::percent::encoded;
use reqsign_azure_storage::Credential;
use reqsign_core::Signer;
use serde::Deserialize;

use crate::objects::failure::Failure;

const VERSION: &str = "2023-11-03";
const META: &str = "x-ms-meta-";

/// Names, in lower case, and values that a blob has besides its content.
pub type Metadata = BTreeMap<String, String>;

/// The blobs of one container.
pub struct Blobs {
    pub client: Client,
    pub signer: Signer<Credential>,
    /// `https://ACCOUNT.blob.core.windows.net`
    pub base: String,
    pub container: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listing {
    blobs: Listed,
    #[serde(default)]
    next_marker: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listed {
    #[serde(default)]
    blob: Vec<Blob>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Blob {
    name: String,
    version_id: Option<String>,
    snapshot: Option<String>,
}

/// Which earlier content of a blob: one that the service kept when it was replaced, or one that a client asked it to keep. Both are
/// times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Earlier {
    Version(String),
    Snapshot(String),
}

type Headers = Vec<(String, String)>;

fn lease_header(lease: Option<&str>) -> Headers {
    lease.map(|id| ("x-ms-lease-id".to_owned(), id.to_owned())).into_iter().collect()
}

fn metadata_headers(metadata: &Metadata) -> impl Iterator<Item = (String, String)> {
    metadata.iter().map(|(name, value)| (format!("{META}{name}"), value.clone()))
}

impl Blobs {
    /// None if there is no such blob.
    pub async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let answer = self.call(Method::GET, self.url(name, ""), Headers::new(), Bytes::new()).await;
        if_there(answer).map(|answer| answer.map(|answer| answer.body))
    }

    /// None if it is gone.
    pub async fn get_earlier(&self, name: &str, earlier: &Earlier) -> Result<Option<Vec<u8>>, Failure> {
        let query = match earlier {
            Earlier::Version(time) => format!("?versionid={}", encoded(time, false)),
            Earlier::Snapshot(time) => format!("?snapshot={}", encoded(time, false)),
        };
        let answer = self.call(Method::GET, self.url(name, &query), Headers::new(), Bytes::new()).await;
        if_there(answer).map(|answer| answer.map(|answer| answer.body))
    }

    /// The earlier contents of a blob that the service has, the oldest first.
    pub async fn earlier(&self, name: &str) -> Result<Vec<Earlier>, Failure> {
        let of = |blob: Blob| {
            let is_set = |text: &String| !text.is_empty();
            blob.snapshot.filter(is_set).map(Earlier::Snapshot).or(blob.version_id.filter(is_set).map(Earlier::Version))
        };
        let blobs = self.blobs(name, "&include=snapshots,versions").await?;
        Ok(blobs.into_iter().filter(|blob| blob.name == name).filter_map(of).collect())
    }

    /// None if there is no such blob.
    pub async fn metadata(&self, name: &str) -> Result<Option<Metadata>, Failure> {
        let answer = self.call(Method::HEAD, self.url(name, ""), Headers::new(), Bytes::new()).await;
        let of = |answer: Answer| {
            let own = answer.headers.iter().filter_map(|(name, value)| {
                Some((name.as_str().strip_prefix(META)?.to_owned(), value.to_str().ok()?.to_owned()))
            });
            own.collect()
        };
        if_there(answer).map(|answer| answer.map(of))
    }

    pub async fn put(
        &self,
        name: &str,
        content: Bytes,
        lease: Option<&str>,
        metadata: &Metadata,
    ) -> Result<(), Failure> {
        let mut headers = lease_header(lease);
        headers.extend(metadata_headers(metadata));
        headers.push(("x-ms-blob-type".into(), "BlockBlob".into()));
        headers.push(("content-type".into(), "application/json".into()));
        self.call(Method::PUT, self.url(name, ""), headers, content).await.map(|_| ())
    }

    /// Makes a blob without content. One that is there already stays as it is.
    pub async fn create(&self, name: &str) -> Result<(), Failure> {
        let headers = [("x-ms-blob-type", "BlockBlob"), ("content-type", "application/json"), ("if-none-match", "*")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        match self.call(Method::PUT, self.url(name, ""), headers, Bytes::new()).await {
            Err(failure) if !matches!(failure.status, 409 | 412) => Err(failure),
            _ => Ok(()),
        }
    }

    /// Refused without the lease of a blob that is leased.
    pub async fn set_metadata(&self, name: &str, lease: Option<&str>, metadata: &Metadata) -> Result<(), Failure> {
        let mut headers = lease_header(lease);
        headers.extend(metadata_headers(metadata));
        self.call(Method::PUT, self.url(name, "?comp=metadata"), headers, Bytes::new()).await.map(|_| ())
    }

    pub async fn snapshot(&self, name: &str, lease: Option<&str>) -> Result<(), Failure> {
        self.call(Method::PUT, self.url(name, "?comp=snapshot"), lease_header(lease), Bytes::new()).await.map(|_| ())
    }

    /// Takes a lease without an end.
    pub async fn acquire(&self, name: &str, id: &str) -> Result<(), Failure> {
        let headers = [("x-ms-lease-action", "acquire"), ("x-ms-lease-duration", "-1"), ("x-ms-proposed-lease-id", id)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        self.call(Method::PUT, self.url(name, "?comp=lease"), headers, Bytes::new()).await.map(|_| ())
    }

    pub async fn release(&self, name: &str, id: &str) -> Result<(), Failure> {
        let mut headers = lease_header(Some(id));
        headers.push(("x-ms-lease-action".into(), "release".into()));
        match self.call(Method::PUT, self.url(name, "?comp=lease"), headers, Bytes::new()).await {
            // The answer to an earlier attempt was lost.
            Err(failure) if failure.attempts > 1 && failure.status == 409 => Ok(()),
            result => result.map(|_| ()),
        }
    }

    /// One that is not there is removed already.
    pub async fn delete(&self, name: &str) -> Result<(), Failure> {
        let headers = vec![("x-ms-delete-snapshots".to_owned(), "include".to_owned())];
        if_there(self.call(Method::DELETE, self.url(name, ""), headers, Bytes::new()).await).map(|_| ())
    }

    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, Failure> {
        Ok(self.blobs(prefix, "").await?.into_iter().map(|blob| blob.name).collect())
    }

    async fn blobs(&self, prefix: &str, more: &str) -> Result<Vec<Blob>, Failure> {
        let (mut blobs, mut marker) = (Vec::new(), String::new());
        loop {
            let next = if marker.is_empty() { String::new() } else { format!("&marker={}", encoded(&marker, false)) };
            let query = format!("?restype=container&comp=list&prefix={}{more}{next}", encoded(prefix, false));
            let url = format!("{}/{}{query}", self.base, encoded(&self.container, false));
            let answer = self.call(Method::GET, url, Headers::new(), Bytes::new()).await?;
            let text = String::from_utf8_lossy(&answer.body);
            let page: Listing = quick_xml::de::from_str(text.trim_start_matches('\u{feff}'))
                .map_err(|e| Failure::unanswered(format_args!("the answer cannot be read: {e}")))?;
            blobs.extend(page.blobs.blob);
            if page.next_marker.is_empty() {
                return Ok(blobs);
            }
            marker = page.next_marker;
        }
    }

    #[cfg(test)]
    pub async fn create_container(&self) -> Result<(), Failure> {
        let url = format!("{}/{}?restype=container", self.base, encoded(&self.container, false));
        self.call(Method::PUT, url, Headers::new(), Bytes::new()).await.map(|_| ())
    }

    fn url(&self, name: &str, query: &str) -> String {
        format!("{}/{}/{}{query}", self.base, encoded(&self.container, false), encoded(name, true))
    }

    async fn call(&self, method: Method, url: String, headers: Headers, body: Bytes) -> Result<Answer, Failure> {
        let mut request = Request::builder().method(method).uri(url).header("x-ms-version", VERSION);
        if !body.is_empty() {
            request = request.header("content-length", body.len());
        }
        for (name, value) in headers {
            request = request.header(name, HeaderValue::try_from(value).map_err(Failure::unanswered)?);
        }
        let (mut head, body) = request.body(body).map_err(Failure::unanswered)?.into_parts();
        self.signer.sign(&mut head, None).await.map_err(Failure::unanswered)?;
        head.headers.remove("content-length");
        let answer = cloud::send(&self.client, Request::from_parts(head, body)).await.map_err(Failure::unanswered)?;
        if answer.status.is_success() { Ok(answer) } else { Err(refused(&answer)) }
    }
}

fn if_there(answer: Result<Answer, Failure>) -> Result<Option<Answer>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(failure) if failure.status == 404 && failure.code != "ContainerNotFound" => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn refused(answer: &Answer) -> Failure {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct ErrorBody {
        #[serde(default)]
        message: String,
    }
    let (status, code) = (answer.status.as_u16(), answer.header("x-ms-error-code").unwrap_or_default().to_owned());
    let text = String::from_utf8_lossy(&answer.body);
    let error_body =
        quick_xml::de::from_str::<ErrorBody>(text.trim_start_matches('\u{feff}')).map(|error_body| error_body.message);
    let first = error_body.unwrap_or_default().lines().next().unwrap_or_default().to_owned();
    let reason = answer.status.canonical_reason().unwrap_or_default();
    let text = match (code.is_empty(), first.is_empty()) {
        (true, _) => format!("unexpected status {status} ({status} {reason})"),
        (false, true) => format!("unexpected status {status} ({status} {reason}) with {code}"),
        (false, false) => format!("unexpected status {status} ({status} {reason}) with {code}: {first}"),
    };
    Failure { status, code, text, attempts: answer.attempts }
}
