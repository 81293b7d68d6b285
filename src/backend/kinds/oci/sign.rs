//! Signatures of requests: RSA with SHA-256 over named headers, as draft 8 of "Signing HTTP Messages" describes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Method};
use net::http::Request;
use net::rsa_key::RsaKey;
use sha2::{Digest, Sha256};
use url::Url;

use crate::contract::StoreError;

/// What signs a request: a key, and the name by which the service knows it.
#[derive(Clone, Debug)]
pub struct Identity {
    /// `TENANCY/USER/FINGERPRINT`, or `ST$TOKEN`: then it is a secret.
    pub key_id: String,
    pub key: RsaKey,
}

/// Which headers are signed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Host {
    Signed,
    /// The service that issues tokens signs no host.
    Unsigned,
}

/// Adds the date, the headers of the body and the signature. The body of a request without content is empty.
pub fn sign(request: &mut Request, body: &[u8], identity: &Identity, host: Host) -> Result<(), StoreError> {
    let has_body = matches!(request.method, Method::PUT | Method::POST);
    let date = jiff::Timestamp::now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let mut signed = vec![("date", date), ("(request-target)", target(&request.method, &request.url))];
    if host == Host::Signed {
        signed.push(("host", authority(&request.url)));
    }
    if has_body {
        let content_type = request.headers.get("content-type").and_then(|value| value.to_str().ok());
        signed.push(("content-length", body.len().to_string()));
        signed.push(("content-type", content_type.unwrap_or("application/json").to_owned()));
        signed.push(("x-content-sha256", STANDARD.encode(Sha256::digest(body))));
    }
    let text = signed.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n");
    let names = signed.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
    let signature = STANDARD.encode(identity.key.sign(text.as_bytes())?);
    let authorization = format!(
        "Signature version=\"1\",headers=\"{names}\",keyId=\"{}\",algorithm=\"rsa-sha256\",signature=\"{signature}\"",
        identity.key_id
    );
    for (name, value) in signed.into_iter().chain([("authorization", authorization)]) {
        if !matches!(name, "(request-target)" | "host") {
            let mut value = HeaderValue::try_from(value).map_err(|_| format!("the header {name:?} cannot be sent"))?;
            value.set_sensitive(name == "authorization");
            request.headers.insert(name, value);
        }
    }
    Ok(())
}

fn target(method: &Method, url: &Url) -> String {
    let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
    format!("{} {}{query}", method.as_str().to_ascii_lowercase(), url.path())
}

fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
