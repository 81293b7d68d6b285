//! OSS's REST interface: objects are read, written, removed and listed.

use bytes::Bytes;
use http::{Method, Request};
use net::cloud;
use net::http::{Answer, Client};
use net::percent::encoded;
use reqsign_aliyun_oss::Credential;
use reqsign_core::Signer;
use serde::Deserialize;
use url::{Host, Url};

/// Objects of one bucket.
pub struct Objects {
    pub client: Client,
    pub signer: Signer<Credential>,
    pub bucket: String,
    /// With the bucket where it belongs, with a slash at the end.
    pub base: String,
    pub encrypt: bool,
    pub acl: Option<String>,
}

/// Why an object could not be had.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Of the service; empty without an answer.
    pub code: String,
    text: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct ErrorBody {
    code: String,
    message: String,
    request_id: String,
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

/// Where a bucket is: a part of the host's name, or of the path if the host is a number.
pub fn base(endpoint: &str, bucket: &str) -> Result<String, String> {
    let failed = |why: url::ParseError| format!("the endpoint {endpoint:?} is not an address: {why}");
    let url = Url::parse(endpoint).map_err(failed)?;
    let (scheme, rest) = endpoint.split_once("://").unwrap_or(("https", endpoint));
    let rest = rest.trim_end_matches('/');
    Ok(match url.host() {
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => format!("{scheme}://{rest}/{bucket}/"),
        _ => format!("{scheme}://{bucket}.{rest}/"),
    })
}

impl Objects {
    /// An object's content; None if there is none.
    pub async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
        absent(self.call(Method::GET, key, "", Bytes::new()).await).map(|found| found.map(|answer| answer.body))
    }

    pub async fn exists(&self, key: &str) -> Result<bool, Failure> {
        absent(self.call(Method::HEAD, key, "", Bytes::new()).await).map(|found| found.is_some())
    }

    pub async fn put(&self, key: &str, body: Bytes) -> Result<(), Failure> {
        self.call(Method::PUT, key, "", body).await.map(|_| ())
    }

    pub async fn delete(&self, key: &str) -> Result<(), Failure> {
        self.call(Method::DELETE, key, "", Bytes::new()).await.map(|_| ())
    }

    /// The keys of all objects that begin so.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, Failure> {
        let (mut keys, mut marker) = (Vec::new(), String::new());
        loop {
            let next = if marker.is_empty() { String::new() } else { format!("marker={}&", encoded(&marker, false)) };
            let query = format!("{next}max-keys=1000&prefix={}", encoded(prefix, false));
            let answer = self.call(Method::GET, "", &query, Bytes::new()).await?;
            let page: Listing = quick_xml::de::from_str(&answer.text()).map_err(|e| Failure {
                code: String::new(),
                text: format!("the list of objects cannot be read: {e}"),
            })?;
            keys.extend(page.contents.into_iter().map(|listed| listed.key));
            let next = page.next_marker.or_else(|| keys.last().cloned()).filter(|next| *next != marker);
            match next.filter(|_| page.is_truncated) {
                Some(next) => marker = next,
                None => return Ok(keys),
            }
        }
    }

    async fn call(&self, method: Method, key: &str, query: &str, body: Bytes) -> Result<Answer, Failure> {
        let failed = |why: &dyn std::fmt::Display| Failure { code: String::new(), text: why.to_string() };
        let joint = if query.is_empty() { "" } else { "?" };
        let url = format!("{}{}{joint}{query}", self.base, encoded(key, true));
        let mut request = Request::builder().method(&method).uri(url);
        if method == Method::PUT {
            request = request.header("content-type", "application/json");
            if let Some(acl) = &self.acl {
                request = request.header("x-oss-object-acl", acl);
            }
            if self.encrypt {
                request = request.header("x-oss-server-side-encryption", "AES256");
            }
        }
        let (mut head, body) = request.body(body).map_err(|e| failed(&e))?.into_parts();
        self.signer.sign(&mut head, None).await.map_err(|e| failed(&e))?;
        let answer = cloud::send(&self.client, Request::from_parts(head, body)).await.map_err(|why| failed(&why))?;
        if answer.status.is_success() { Ok(answer) } else { Err(refused(&answer, method == Method::HEAD)) }
    }
}

/// None for an object that is not there; a bucket must be.
fn absent(result: Result<Answer, Failure>) -> Result<Option<Answer>, Failure> {
    match result {
        Ok(answer) => Ok(Some(answer)),
        Err(failure) if failure.code == "NoSuchKey" => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// An error response, as the service's library for Go words it. Those to HEAD have no body.
fn refused(answer: &Answer, is_head: bool) -> Failure {
    let header = answer.header("x-oss-request-id").unwrap_or_default();
    let mut said: ErrorBody = quick_xml::de::from_str(&answer.text()).unwrap_or_default();
    if is_head && answer.status.as_u16() == 404 {
        said.code = "NoSuchKey".to_owned();
    }
    let id = if said.request_id.is_empty() { header } else { &said.request_id };
    let (status, code, message) = (answer.status.as_u16(), &said.code, &said.message);
    let text = format!(
        "oss: service returned error: StatusCode={status}, ErrorCode={code}, ErrorMessage=\"{message}\", RequestId={id}"
    );
    Failure { code: said.code, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_names_of_hosts_but_not_in_numbers() {
        let cases = [
            ("https://oss-cn-x.aliyuncs.com", "https://b.oss-cn-x.aliyuncs.com/"),
            ("http://localhost:80/", "http://b.localhost:80/"),
            ("http://127.0.0.1:9", "http://127.0.0.1:9/b/"),
            ("http://[::1]:9", "http://[::1]:9/b/"),
        ];
        for (endpoint, expected) in cases {
            assert_eq!(base(endpoint, "b").unwrap(), expected);
        }
        assert!(base("https://", "b").is_err());
    }
}
