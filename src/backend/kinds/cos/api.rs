//! Interfaces of Tencent Cloud besides its object store: roles and tags, as JSON with signatures of version 3.

use std::fmt;

use bytes::Bytes;
use net::http::{Client, Request};
use reqsign_core::hash::{hex_hmac_sha256, hex_sha256, hmac_sha256};
use reqsign_tencent_cos::Credential;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value as Json;
use url::Url;

use crate::contract::StoreError;

const ALGORITHM: &str = "TC3-HMAC-SHA256";
const CONTENT: &str = "application/json";
/// Of both services.
const VERSION: &str = "2018-08-13";

/// Where the interfaces are asked.
#[derive(Clone, Debug)]
pub struct Api {
    pub client: Client,
    /// `https://{service}.tencentcloudapi.com`
    pub address: String,
    pub region: String,
}

/// An error of the service, or none of its answers.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Empty without an answer.
    pub code: String,
    text: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Failure {
    /// There are no keys to sign a request with.
    pub fn without_keys(why: StoreError) -> Failure {
        Failure { code: "ClientError.NoKeys".to_owned(), text: why.text }
    }
}

/// Whether a request may be sent again if there is no answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    Allowed,
    Never,
}

impl Api {
    /// Calls an action of a service. Gives the content of `Response`.
    pub async fn call(
        &self,
        (service, action): (&str, &str),
        input: &Json,
        keys: &Credential,
        repeat: Repeat,
    ) -> Result<Json, Failure> {
        let failed = |why: &dyn fmt::Display| {
            let text = format!(
                "[TencentCloudSDKError] Code=ClientError.NetworkError, Message=Fail to get response because {why}"
            );
            Failure { code: String::new(), text }
        };
        let url = Url::parse(&self.address.replace("{service}", service)).map_err(|e| failed(&e))?;
        let body = Bytes::from(input.to_string());
        let mut request = Request::new(reqwest::Method::POST, url.clone()).body(body.clone());
        request.headers = self.headers(service, action, &url, &body, keys).map_err(|e| failed(&e))?;
        let request = if repeat == Repeat::Never { request.once() } else { request };
        let answer = self.client.send(&request).await.map_err(|why| failed(&why))?;
        let mut said: Json = serde_json::from_slice(&answer.body)
            .map_err(|_| failed(&format!("the status is {}, and the answer no JSON", answer.status.as_u16())))?;
        let response = said["Response"].take();
        let error = &response["Error"];
        if error.is_null() {
            return Ok(response);
        }
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let (code, message, id) = (text(&error["Code"]), text(&error["Message"]), text(&response["RequestId"]));
        let shown = format!("[TencentCloudSDKError] Code={code}, Message={message}, RequestId={id}");
        Err(Failure { code, text: shown })
    }

    fn headers(
        &self,
        service: &str,
        action: &str,
        url: &Url,
        body: &[u8],
        keys: &Credential,
    ) -> Result<HeaderMap, reqwest::header::InvalidHeaderValue> {
        let now = jiff::Timestamp::now();
        let host = match url.port() {
            Some(port) => format!("{}:{port}", url.host_str().unwrap_or_default()),
            None => url.host_str().unwrap_or_default().to_owned(),
        };
        let authorization = authorization(service, &host, body, keys, now);
        let seconds = now.as_second().to_string();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(CONTENT));
        let mut set = |name: &'static str, value: &str, secret: bool| {
            let mut value = HeaderValue::from_str(value)?;
            value.set_sensitive(secret);
            headers.insert(HeaderName::from_static(name), value);
            Ok(())
        };
        set("authorization", &authorization, true)?;
        set("x-tc-action", action, false)?;
        set("x-tc-version", VERSION, false)?;
        set("x-tc-timestamp", &seconds, false)?;
        set("x-tc-region", &self.region, false)?;
        set("x-tc-language", "en-US", false)?;
        if let Some(token) = &keys.security_token {
            set("x-tc-token", token, true)?;
        }
        Ok(headers)
    }
}

/// <https://www.tencentcloud.com/document/product/213/33224>
fn authorization(service: &str, host: &str, body: &[u8], keys: &Credential, now: jiff::Timestamp) -> String {
    let signed = "content-type;host";
    let request = format!("POST\n/\n\ncontent-type:{CONTENT}\nhost:{host}\n\n{signed}\n{}", hex_sha256(body));
    let date = now.strftime("%Y-%m-%d").to_string();
    let scope = format!("{date}/{service}/tc3_request");
    let text = format!("{ALGORITHM}\n{}\n{scope}\n{}", now.as_second(), hex_sha256(request.as_bytes()));
    let key = hmac_sha256(format!("TC3{}", keys.secret_key).as_bytes(), date.as_bytes());
    let key = hmac_sha256(&hmac_sha256(&key, service.as_bytes()), b"tc3_request");
    let signature = hex_hmac_sha256(&key, text.as_bytes());
    format!("{ALGORITHM} Credential={}/{scope}, SignedHeaders={signed}, Signature={signature}", keys.secret_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed separately, from the description of the service.
    #[test]
    fn signatures_are_those_of_the_description() {
        let keys = Credential { secret_id: "AKID".into(), secret_key: "key".into(), ..Credential::default() };
        let now = jiff::Timestamp::from_second(1_700_000_000).unwrap();
        let found = authorization("tag", "tag.tencentcloudapi.com", b"{\"TagKey\":\"a\"}", &keys, now);
        let expected = "TC3-HMAC-SHA256 Credential=AKID/2023-11-14/tag/tc3_request, SignedHeaders=content-type;host, Signature=531f48544e96e97c903ffd743c9a88b292cc1d96836601c830cac6b568249beb";
        assert_eq!(found, expected);
    }
}
