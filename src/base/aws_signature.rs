//! Signature version 4 of AWS, for requests of objects.
//!
//! Pure: keys, a place and a moment in, headers out. Never knows where keys come from, and never shows one.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use url::Url;

use super::secret::Secret;
use crate::base::hex::hex;

/// The identity that signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    pub id: String,
    pub secret: Secret,
    /// Of keys that are good for a while only.
    pub token: Option<Secret>,
}

/// The headers of a GET without a body. The path and the query of `url` must be encoded by [`encoded`], and the parameters sorted by name.
/// `now` counts seconds since 1970.
pub fn sign(url: &Url, keys: &Keys, region: &str, service: &str, now: i64) -> Vec<(&'static str, Secret)> {
    let time = jiff::Timestamp::from_second(now).unwrap_or_default();
    let moment = time.strftime("%Y%m%dT%H%M%SZ").to_string();
    let day = &moment[..moment.len().min(8)];
    let host = match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    };
    let empty = hex(&Sha256::digest(b""));
    let mut headers = vec![("host", host), ("x-amz-content-sha256", empty.clone()), ("x-amz-date", moment.clone())];
    headers.extend(keys.token.iter().map(|token| ("x-amz-security-token", token.reveal().to_owned())));
    let named: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let named = named.join(";");
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let request = format!("GET\n{}\n{}\n{lines}\n{named}\n{empty}", url.path(), url.query().unwrap_or_default());

    let scope = format!("{day}/{region}/{service}/aws4_request");
    let text = format!("AWS4-HMAC-SHA256\n{moment}\n{scope}\n{}", hex(&Sha256::digest(request.as_bytes())));
    let first = format!("AWS4{}", keys.secret.reveal()).into_bytes();
    let key = [day, region, service, "aws4_request"].iter().fold(first, |key, part| mac(&key, part));
    let signature = hex(&mac(&key, &text));
    let authorization =
        format!("AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={named}, Signature={signature}", keys.id);
    headers.remove(0);
    headers.push(("authorization", authorization));
    headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect()
}

/// Text as paths and parameters must have it: everything but unreserved characters as `%XX`, slashes too unless `keep_slash`.
pub fn encoded(text: &str, keep_slash: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) => out.push(b as char),
            b'/' if keep_slash => out.push('/'),
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    // Keys of any length will do.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Amazon's documentation of the signature ("GET Bucket (List Objects)").
    #[test]
    fn as_documented() {
        let keys = Keys {
            id: "AKIAIOSFODNN7EXAMPLE".into(),
            secret: Secret::new("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            token: None,
        };
        let url = Url::parse("https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J").unwrap();
        let headers = sign(&url, &keys, "us-east-1", "s3", 1_369_353_600);
        let shown: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {}", value.reveal())).collect();
        assert_eq!(
            shown,
            [
                "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "x-amz-date: 20130524T000000Z",
                "authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
                 SignedHeaders=host;x-amz-content-sha256;x-amz-date, \
                 Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
            ]
        );
        // What the reference sends for a folder.
        let mine = Keys { id: "id".into(), secret: Secret::new("secret"), token: None };
        let url = Url::parse("http://127.0.0.1:19555/bucket?prefix=some%20dir%2Fx%2By").unwrap();
        let headers = sign(&url, &mine, "eu-west-9", "s3", 1_795_192_720);
        let signature = "Signature=121bd1a80778479691825801d37ab92cbb3036ffd94423b6bf92335d2ee0cf12";
        assert!(headers.last().unwrap().1.reveal().ends_with(signature));
        let token = Keys { token: Some(Secret::new("t")), ..keys };
        assert!(
            sign(&url, &token, "x", "s3", 0)
                .iter()
                .any(|(name, value)| *name == "x-amz-security-token" && value.reveal() == "t")
        );
        assert_eq!((encoded("a b/c+~", true), encoded("a/b", false)), ("a%20b/c%2B~".into(), "a%2Fb".into()));
    }
}
