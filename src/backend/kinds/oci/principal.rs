//! The identity of a machine: its certificate is exchanged for a token, which is used with a key that was made for it.

use std::path::PathBuf;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderName, Method};
use net::http::{Client, Request};
use net::rsa_key::{RsaKey, certificate_der};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::region;
use super::sign::{Host, Identity, sign};
use crate::contract::StoreError;

const MACHINE: &str = "http://169.254.169.254/opc/v2/identity/";
/// Tokens are renewed so long before they expire, in seconds.
const MARGIN: i64 = 300;

/// Where certificates of the machine are.
pub enum Certificates {
    /// The metadata service, with a slash at the end.
    Service(String),
    /// A folder with `ip_cert.pem`, `ip_key.pem`, `intermediate.pem` and, for an encrypted key, `leaf_passphrase`.
    Files(PathBuf),
}

impl Certificates {
    pub fn of_machine() -> Certificates {
        Certificates::Service(MACHINE.to_owned())
    }
}

/// The service that issues tokens for certificates.
pub struct Federation {
    client: Client,
    url: String,
    certificates: Certificates,
}

/// A token with its key.
pub struct Session {
    pub identity: Identity,
    /// Seconds since 1970.
    expires: i64,
}

impl Session {
    pub fn is_valid(&self) -> bool {
        jiff::Timestamp::now().as_second() + MARGIN < self.expires
    }
}

/// PEM texts.
struct Leaf {
    certificate: String,
    key: RsaKey,
    intermediate: String,
}

impl Federation {
    pub fn new(client: &Client, region: &str, certificates: Certificates) -> Federation {
        let url = format!("https://auth.{}.{}/v1/x509", region, region::domain(region));
        Federation { client: client.clone(), url, certificates }
    }

    #[cfg(test)]
    pub fn set_address(&mut self, url: &str) {
        url.clone_into(&mut self.url);
    }

    /// Requests a token.
    pub async fn session(&self) -> Result<Session, StoreError> {
        let failed = |why| StoreError::new(format!("failed to renew security token: {why}"));
        self.request().await.map_err(failed)
    }

    async fn request(&self) -> Result<Session, StoreError> {
        #[derive(Deserialize)]
        struct TokenAnswer {
            token: String,
        }
        let leaf = self.leaf().await?;
        let certificate = certificate_der(&leaf.certificate).ok_or("the certificate of the instance is not PEM")?;
        let tenancy = tenancy(&certificate).ok_or("the certificate of the instance names no tenancy")?;
        let fingerprint = fingerprint(&certificate);
        let key = RsaKey::generate()?;
        let intermediate = certificate_der(&leaf.intermediate).map(|der| STANDARD.encode(der));
        let body = json!({
            "certificate": STANDARD.encode(&certificate),
            "publicKey": STANDARD.encode(key.public_der()?),
            "intermediateCertificates": intermediate.into_iter().collect::<Vec<_>>(),
        });
        let body = body.to_string();
        let url = Url::parse(&self.url).map_err(|e| e.to_string())?;
        let mut request = Request::new(Method::POST, url).body(body.clone());
        let identity = Identity { key_id: format!("{tenancy}/fed-x509/{fingerprint}"), key: leaf.key };
        sign(&mut request, body.as_bytes(), &identity, Host::Unsigned)?;
        let answer = self.client.send(&request).await.map_err(|failure| failure.to_string())?;
        if !answer.status.is_success() {
            return Err(
                format!("the service answered with status {}: {}", answer.status.as_u16(), answer.text()).into()
            );
        }
        let answered: TokenAnswer =
            serde_json::from_slice(&answer.body).map_err(|_| "the answer of the service has no token")?;
        let expires = expiry(&answered.token).ok_or("the token of the service has no time of expiry")?;
        Ok(Session { identity: Identity { key_id: format!("ST${}", answered.token), key }, expires })
    }

    async fn leaf(&self) -> Result<Leaf, StoreError> {
        let names = match &self.certificates {
            Certificates::Service(_) => ["cert.pem", "key.pem", "intermediate.pem"],
            Certificates::Files(_) => ["ip_cert.pem", "ip_key.pem", "intermediate.pem"],
        };
        let [certificate, key, intermediate] = names.map(|name| self.text(name));
        let password = match &self.certificates {
            Certificates::Service(_) => String::new(),
            Certificates::Files(folder) => std::fs::read_to_string(folder.join("leaf_passphrase")).unwrap_or_default(),
        };
        let key = RsaKey::from_pem(&key.await?, password.trim())?;
        Ok(Leaf { certificate: certificate.await?, key, intermediate: intermediate.await? })
    }

    async fn text(&self, name: &str) -> Result<String, StoreError> {
        match &self.certificates {
            Certificates::Files(folder) => {
                let path = folder.join(name);
                std::fs::read_to_string(&path).map_err(|e| format!("open {}: {e}", path.display()).into())
            }
            Certificates::Service(base) => {
                let url = Url::parse(&format!("{base}{name}")).map_err(|e| e.to_string())?;
                let request = Request::get(url).header(HeaderName::from_static("authorization"), "Bearer Oracle");
                let answer = self.client.send(&request).await.map_err(|failure| failure.to_string())?;
                match answer.status.is_success() {
                    true => Ok(answer.text()),
                    false => Err(format!("the instance has no {name}: status {}", answer.status.as_u16()).into()),
                }
            }
        }
    }
}

/// The tenancy in the subject of a certificate: a text that begins so, after its length.
fn tenancy(der: &[u8]) -> Option<&str> {
    ["opc-tenant:", "opc-identity:"].iter().find_map(|prefix| {
        let at = der.windows(prefix.len()).position(|part| part == prefix.as_bytes())?;
        let length = usize::from(*der.get(at.checked_sub(1)?)?);
        std::str::from_utf8(der.get(at..at + length)?).ok()?.strip_prefix(prefix)
    })
}

/// The SHA-1 hash of a certificate, as pairs of capital digits.
fn fingerprint(der: &[u8]) -> String {
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, der);
    hash.as_ref().iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

/// The time of expiry in a JSON web token.
fn expiry(token: &str) -> Option<i64> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?.trim_end_matches('=')).ok()?;
    serde_json::from_slice::<serde_json::Value>(&payload).ok()?["exp"].as_i64()
}
