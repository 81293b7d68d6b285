//! S3's REST interface: objects are read, written, removed and listed.
//!
//! Owns addresses, headers for encryption and checksums, and how errors are worded. Never knows states or locks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use gotext::hex::hex;
use http::{HeaderValue, Method, Request};
use net::aws::{ServiceError, regions, unanswered};
use net::cloud;
use net::http::{Answer, Client};
use net::percent::encoded;
use reqsign_aws_v4::Credential;
use reqsign_core::Signer;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::settings::{BucketSettings, Encryption};

/// Objects of one bucket.
pub struct Objects {
    pub client: Client,
    pub signer: Signer<Credential>,
    pub settings: BucketSettings,
    /// With the bucket where it belongs, without a slash behind.
    pub base: String,
}

/// Why an object could not be had.
#[derive(Clone, Debug)]
pub enum Failure {
    /// An error response of S3.
    Refused(ServiceError),
    /// There is no answer, or the bucket is in another region.
    Other(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused(error) => write!(f, "{error}"),
            Failure::Other(text) => f.write_str(text),
        }
    }
}

impl Failure {
    pub fn code(&self) -> &str {
        match self {
            Failure::Refused(error) => &error.code,
            Failure::Other(_) => "",
        }
    }

    pub fn status(&self) -> u16 {
        match self {
            Failure::Refused(error) => error.status,
            Failure::Other(_) => 0,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ErrorBody {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    request_id: String,
    #[serde(default)]
    host_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listing {
    #[serde(default)]
    contents: Vec<Listed>,
    next_continuation_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listed {
    key: String,
}

/// Versions and markers of deletions come in the order of time, mixed.
#[derive(Deserialize)]
struct VersionListing {
    #[serde(rename = "$value", default)]
    entries: Vec<VersionEntry>,
}

#[derive(Deserialize)]
enum VersionEntry {
    Version(ListedVersion),
    #[serde(other)]
    Other,
}

/// A version of an object.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ListedVersion {
    key: String,
    pub version_id: String,
    pub last_modified: String,
}

impl Objects {
    pub fn new(client: Client, signer: Signer<Credential>, settings: BucketSettings) -> Objects {
        let base = base(&settings);
        Objects { client, signer, settings, base }
    }

    /// An object's content; None if there is none.
    pub async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.get_with(key, "").await
    }

    /// The content of a version of an object; None if it is gone.
    pub async fn get_version(&self, key: &str, id: &str) -> Result<Option<Vec<u8>>, Failure> {
        match self.get_with(key, &format!("versionId={}", encoded(id, false))).await {
            Err(failure) if failure.code() == "NoSuchVersion" => Ok(None),
            other => other,
        }
    }

    async fn get_with(&self, key: &str, query: &str) -> Result<Option<Vec<u8>>, Failure> {
        let mut headers = Vec::new();
        if let Encryption::Customer(..) = &self.settings.encryption {
            headers.extend(self.encryption());
        }
        match self.call("GetObject", Method::GET, key, query, headers, Bytes::new()).await {
            Ok(answer) => Ok(Some(answer.body)),
            Err(failure) if failure.code() == "NoSuchKey" => Ok(None),
            // Without a body it is not said what there is none of.
            Err(failure) if failure.status() == 404 && failure.code() == "NotFound" => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The newest versions of an object, so many at most. Markers of deletions count, and are left out.
    pub async fn versions(&self, key: &str, limit: usize) -> Result<Vec<ListedVersion>, Failure> {
        // Other keys that begin so come behind it.
        let query = format!("max-keys={limit}&prefix={}&versions=", encoded(key, false));
        let answer = self.call("ListObjectVersions", Method::GET, "", &query, Vec::new(), Bytes::new()).await?;
        let text = String::from_utf8_lossy(&answer.body);
        let versions = listed_versions(&text).map_err(|e| {
            Failure::Other(format!("operation error S3: ListObjectVersions, deserialization failed, {e}"))
        })?;
        Ok(versions.into_iter().filter(|version| version.key == key).collect())
    }

    pub async fn exists(&self, key: &str) -> Result<bool, Failure> {
        let mut headers = Vec::new();
        if let Encryption::Customer(..) = &self.settings.encryption {
            headers.extend(self.encryption());
        }
        match self.call("HeadObject", Method::HEAD, key, "", headers, Bytes::new()).await {
            Ok(_) => Ok(true),
            Err(failure) if failure.status() == 404 => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Writes an object; with `new`, only where there is none. Gives how often the request was sent.
    pub async fn put(&self, key: &str, body: Bytes, new: bool) -> Result<u32, Failure> {
        let mut headers = vec![("content-type", "application/json".to_owned())];
        headers.extend(self.encryption());
        headers.extend(self.settings.acl.iter().map(|acl| ("x-amz-acl", acl.clone())));
        if !self.settings.skip_checksum {
            headers.push(("x-amz-sdk-checksum-algorithm", "SHA256".into()));
            headers.push(("x-amz-checksum-sha256", STANDARD.encode(Sha256::digest(&body))));
        }
        if new {
            headers.push(("if-none-match", "*".into()));
        }
        self.call("PutObject", Method::PUT, key, "", headers, body).await.map(|answer| answer.attempts)
    }

    pub async fn delete(&self, key: &str) -> Result<(), Failure> {
        self.call("DeleteObject", Method::DELETE, key, "", Vec::new(), Bytes::new()).await.map(|_| ())
    }

    /// The keys of all objects that begin so.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, Failure> {
        let (mut keys, mut token) = (Vec::new(), None::<String>);
        loop {
            let next = token.take().map_or_else(String::new, |t| format!("continuation-token={}&", encoded(&t, false)));
            let query = format!("{next}list-type=2&max-keys=1000&prefix={}", encoded(prefix, false));
            let answer = self.call("ListObjectsV2", Method::GET, "", &query, Vec::new(), Bytes::new()).await?;
            let text = String::from_utf8_lossy(&answer.body);
            let page: Listing = quick_xml::de::from_str(&text).map_err(|e| {
                Failure::Other(format!("operation error S3: ListObjectsV2, deserialization failed, {e}"))
            })?;
            keys.extend(page.contents.into_iter().map(|listed| listed.key));
            match page.next_continuation_token.filter(|token| !token.is_empty()) {
                Some(next) => token = Some(next),
                None => return Ok(keys),
            }
        }
    }

    fn encryption(&self) -> Vec<(&'static str, String)> {
        match &self.settings.encryption {
            Encryption::Default => Vec::new(),
            Encryption::Aes256 => vec![("x-amz-server-side-encryption", "AES256".into())],
            Encryption::Kms(key) => vec![
                ("x-amz-server-side-encryption", "aws:kms".into()),
                ("x-amz-server-side-encryption-aws-kms-key-id", key.clone()),
            ],
            Encryption::Customer(key, md5) => vec![
                ("x-amz-server-side-encryption-customer-algorithm", "AES256".into()),
                ("x-amz-server-side-encryption-customer-key", key.reveal().to_owned()),
                ("x-amz-server-side-encryption-customer-key-md5", md5.clone()),
            ],
        }
    }

    async fn call(
        &self,
        name: &str,
        method: Method,
        key: &str,
        query: &str,
        headers: Vec<(&'static str, String)>,
        body: Bytes,
    ) -> Result<Answer, Failure> {
        let operation = format!("S3: {name}");
        let failed = |why: &dyn std::fmt::Display| Failure::Other(unanswered(&operation, why));
        let joint = if query.is_empty() { "" } else { "?" };
        let slash = if key.is_empty() && self.is_in_path() { "" } else { "/" };
        let url = format!("{}{slash}{}{joint}{query}", self.base, encoded(key, true));
        let mut request = Request::builder().method(method).uri(url);
        request = request.header("x-amz-content-sha256", hex(&Sha256::digest(&body)));
        for (name, value) in headers {
            let mut value = HeaderValue::try_from(value).map_err(|e| failed(&e))?;
            value.set_sensitive(name.ends_with("customer-key"));
            request = request.header(name, value);
        }
        let (mut head, body) = request.body(body).map_err(|e| failed(&e))?.into_parts();
        self.signer.sign(&mut head, None).await.map_err(|e| failed(&e))?;
        let answer = cloud::send(&self.client, Request::from_parts(head, body)).await.map_err(|e| failed(&e))?;
        if answer.status.is_success() { Ok(answer) } else { Err(self.refused(operation, &answer)) }
    }

    fn is_in_path(&self) -> bool {
        self.base.ends_with(&format!("/{}", self.settings.bucket))
    }

    fn refused(&self, operation: String, answer: &Answer) -> Failure {
        let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
        let text = String::from_utf8_lossy(&answer.body);
        let body = quick_xml::de::from_str::<ErrorBody>(&text).ok();
        let said = body.as_ref().filter(|body| !body.code.is_empty());
        let status = answer.status;
        if status.as_u16() == 301 {
            let (ours, theirs) = (&self.settings.region, header("x-amz-bucket-region"));
            let why = format!("requested bucket from {ours:?}, actual location {theirs:?}");
            let ids = format!("RequestID: {}, HostID: {}", header("x-amz-request-id"), header("x-amz-id-2"));
            return Failure::Other(format!(
                "operation error {operation}, https response error StatusCode: 301, {ids}, {why}"
            ));
        }
        let reason = || status.canonical_reason().unwrap_or("UnknownError").replace(' ', "");
        let either = |said: &str, header: String| if said.is_empty() { header } else { said.to_owned() };
        let request_id = either(said.map_or("", |body| &body.request_id), header("x-amz-request-id"));
        let host_id = either(said.map_or("", |body| &body.host_id), header("x-amz-id-2"));
        Failure::Refused(ServiceError {
            operation,
            status: status.as_u16(),
            request_id,
            host_id: Some(host_id),
            code: said.map_or_else(reason, |body| body.code.clone()),
            message: said.map_or_else(reason, |body| body.message.clone()),
        })
    }
}

fn listed_versions(answer: &str) -> Result<Vec<ListedVersion>, quick_xml::DeError> {
    let listing: VersionListing = quick_xml::de::from_str(answer)?;
    let version = |entry| match entry {
        VersionEntry::Version(version) => Some(version),
        VersionEntry::Other => None,
    };
    Ok(listing.entries.into_iter().filter_map(version).collect())
}

/// The address of the bucket.
fn base(settings: &BucketSettings) -> String {
    let (scheme, host) = match &settings.endpoint {
        Some(url) => {
            let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
            (scheme.to_owned(), rest.trim_end_matches('/').to_owned())
        }
        None => ("https".to_owned(), regions::host("s3", &settings.region, settings.variant)),
    };
    let bucket = &settings.bucket;
    let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
    let is_address = host.starts_with('[') || name.parse::<std::net::Ipv4Addr>().is_ok();
    // A host below a certificate's `*` has no further dots.
    match settings.path_style || is_address || bucket.contains('.') {
        true => format!("{scheme}://{host}/{bucket}"),
        false => format!("{scheme}://{bucket}.{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_listed_without_markers_of_deletions() {
        let one = |kind: &str, id: &str| {
            format!(
                "<{kind}><Key>k</Key><VersionId>{id}</VersionId><IsLatest>false</IsLatest><Owner><ID>o</ID></Owner>\
                 <LastModified>2026-01-02T03:04:05.000Z</LastModified></{kind}>"
            )
        };
        let entries = one("Version", "c") + &one("DeleteMarker", "b") + &one("Version", "a");
        let listing = |entries: &str| {
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListVersionsResult \
                 xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>bucket</Name><Prefix>k</Prefix><KeyMarker/>\
                 <IsTruncated>false</IsTruncated>{entries}</ListVersionsResult>"
            )
        };
        let ids = |entries: &str| -> Vec<String> {
            listed_versions(&listing(entries)).unwrap().into_iter().map(|one| one.version_id).collect()
        };
        assert_eq!(ids(&entries), ["c", "a"]);
        assert!(ids("").is_empty());
    }
}
