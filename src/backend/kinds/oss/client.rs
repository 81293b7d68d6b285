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

use crate::contract::StoreError;
use crate::objects::failure::Failure;
use crate::objects::key_list::KeyList;

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

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct ErrorBody {
    code: String,
    message: String,
    request_id: String,
}

/// Where a bucket is: a part of the host's name, or of the path if the host is a number.
pub fn base(endpoint: &str, bucket: &str) -> Result<String, StoreError> {
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
        let mut list = KeyList::new(prefix);
        loop {
            let answer = self.call(Method::GET, "", &list.query(), Bytes::new()).await?;
            if !list.add(&answer.text()).map_err(Failure::unanswered)? {
                return Ok(list.into_keys());
            }
        }
    }

    async fn call(&self, method: Method, key: &str, query: &str, body: Bytes) -> Result<Answer, Failure> {
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
        let (mut head, body) = request.body(body).map_err(Failure::unanswered)?.into_parts();
        self.signer.sign(&mut head, None).await.map_err(Failure::unanswered)?;
        let answer = cloud::send(&self.client, Request::from_parts(head, body)).await.map_err(Failure::unanswered)?;
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
    let mut error_body: ErrorBody = quick_xml::de::from_str(&answer.text()).unwrap_or_default();
    if is_head && answer.status.as_u16() == 404 {
        error_body.code = "NoSuchKey".to_owned();
    }
    let id = if error_body.request_id.is_empty() { header } else { &error_body.request_id };
    let (status, code, message) = (answer.status.as_u16(), &error_body.code, &error_body.message);
    let text = format!(
        "oss: service returned error: StatusCode={status}, ErrorCode={code}, ErrorMessage=\"{message}\", RequestId={id}"
    );
    Failure { status, code: error_body.code, text, attempts: answer.attempts }
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
