//! Tencent Cloud as far as states need it: one server that is a bucket of COS and the service of tags, checks signatures and keeps objects.
//!
//! Stands alone with the stub server: the library's own tests use this file too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use aws_lc_rs::hmac::{self, HMAC_SHA1_FOR_LEGACY_USE_ONLY, HMAC_SHA256, Key};
use serde_json::{Value, json};

use super::stub::{Answer, Call, Stub};

/// The keys that the service knows.
pub const SECRET_ID: &str = "AKID-test";
pub const SECRET_KEY: &str = "secret-of-the-test";
/// The host of the bucket.
pub const BUCKET: &str = "states-1250000000";

pub struct CosStub {
    pub stub: Stub,
    cloud: Arc<Mutex<Cloud>>,
}

#[derive(Default)]
struct Cloud {
    /// Content and checksum.
    objects: BTreeMap<String, (Vec<u8>, String)>,
    tags: BTreeSet<(String, String)>,
    /// Objects in one page of a list.
    page: usize,
}

impl CosStub {
    pub fn start() -> CosStub {
        let cloud = Arc::new(Mutex::new(Cloud { page: 1000, ..Cloud::default() }));
        let serving = cloud.clone();
        CosStub { stub: Stub::start(move |call| serving.lock().unwrap().answer(call)), cloud }
    }

    /// The keys of the objects, sorted.
    pub fn keys(&self) -> Vec<String> {
        self.cloud.lock().unwrap().objects.keys().cloned().collect()
    }

    pub fn put_object(&self, key: &str, content: &[u8], checksum: &str) {
        self.cloud.lock().unwrap().objects.insert(key.to_owned(), (content.to_vec(), checksum.to_owned()));
    }

    pub fn tags(&self) -> Vec<String> {
        self.cloud.lock().unwrap().tags.iter().map(|(key, value)| format!("{key}={value}")).collect()
    }

    pub fn add_tag(&self, key: &str, value: &str) {
        self.cloud.lock().unwrap().tags.insert((key.to_owned(), value.to_owned()));
    }

    pub fn set_page(&self, objects: usize) {
        self.cloud.lock().unwrap().page = objects;
    }
}

impl Cloud {
    fn answer(&mut self, call: &Call) -> Answer {
        match call.headers.get("x-tc-action") {
            Some(action) => self.action(call, action),
            None => self.object(call),
        }
    }

    fn object(&mut self, call: &Call) -> Answer {
        if let Some(refusal) = unsigned(call) {
            return error(403, "SignatureDoesNotMatch", &refusal);
        }
        let key = call.path.trim_start_matches('/');
        match (&*call.method, self.objects.get(key)) {
            ("GET", _) if key.is_empty() => self.list(call),
            ("GET" | "HEAD" | "DELETE", None) => error(404, "NoSuchKey", "The specified key does not exist."),
            ("HEAD", Some(_)) => Answer::new(200, ""),
            ("GET", Some((content, checksum))) => Answer::new(200, content.clone()).with("x-cos-meta-md5", checksum),
            ("PUT", _) => {
                let checksum = call.headers.get("x-cos-meta-md5").cloned().unwrap_or_default();
                self.objects.insert(key.to_owned(), (call.body.clone(), checksum));
                // The vendor's library for Go insists on it.
                Answer::new(200, "").with("x-cos-hash-crc64ecma", crc64(&call.body))
            }
            ("DELETE", Some(_)) => {
                self.objects.remove(key);
                Answer::new(204, "")
            }
            _ => Answer::new(405, ""),
        }
    }

    fn list(&self, call: &Call) -> Answer {
        let (prefix, marker) = (call.parameter("prefix").unwrap_or(""), call.parameter("marker").unwrap_or(""));
        let mut keys: Vec<&String> =
            self.objects.keys().filter(|key| key.starts_with(prefix) && key.as_str() > marker).collect();
        let truncated = keys.len() > self.page;
        keys.truncate(self.page);
        let next = keys.last().filter(|_| truncated).map(|key| format!("<NextMarker>{key}</NextMarker>"));
        let items: String = keys.iter().map(|key| format!("<Contents><Key>{key}</Key></Contents>")).collect();
        Answer::new(
            200,
            format!(
                "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>{truncated}</IsTruncated>{}{items}</ListBucketResult>",
                next.unwrap_or_default()
            ),
        )
    }

    fn action(&mut self, call: &Call, action: &str) -> Answer {
        let service = if action == "AssumeRole" { "sts" } else { "tag" };
        if call.headers.get("authorization") != Some(&authorization(call, service)) {
            return failed("AuthFailure.SignatureFailure", "The signature is incorrect.");
        }
        let input: Value = serde_json::from_slice(&call.body).unwrap();
        let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
        let tag = (text("TagKey"), text("TagValue"));
        let shown = json!({ "TagKey": tag.0, "TagValue": tag.1, "CanDelete": 1 });
        let response = match action {
            "CreateTag" if !self.tags.insert(tag.clone()) => {
                return failed("ResourceInUse.TagDuplicate", "The tag already exists.");
            }
            "DeleteTag" if !self.tags.remove(&tag) => {
                return failed("ResourceNotFound.TagNonExist", "The tag does not exist.");
            }
            "AssumeRole" => json!({
                "Credentials": { "TmpSecretId": SECRET_ID, "TmpSecretKey": SECRET_KEY, "Token": "of-the-role" },
                "ExpiredTime": 4_070_908_800_u64,
            }),
            "DescribeTags" if self.tags.contains(&tag) => json!({ "TotalCount": 1, "Tags": [shown] }),
            "DescribeTags" => json!({ "TotalCount": 0, "Tags": [] }),
            _ => json!({}),
        };
        let mut response = response;
        response["RequestId"] = json!("R2");
        Answer::new(200, json!({ "Response": response }).to_string())
    }
}

/// An error of COS.
fn error(status: u16, code: &str, text: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{text}</Message><RequestId>R1</RequestId><TraceId>T1</TraceId></Error>"
    );
    Answer::new(status, body)
}

/// An error of the other services: their status is 200.
fn failed(code: &str, text: &str) -> Answer {
    let error = json!({ "Code": code, "Message": text });
    Answer::new(200, json!({ "Response": { "Error": error, "RequestId": "R2" } }).to_string())
}

/// The checksum of ECMA-182, with its bits reflected.
fn crc64(bytes: &[u8]) -> u64 {
    let step = |crc: u64| if crc & 1 == 0 { crc >> 1 } else { (crc >> 1) ^ 0xC96C_5795_D787_0F42 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u64::from(*byte), |crc, _| step(crc)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Text with all but unreserved characters as `%XX`.
fn encoded(text: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if safe(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Why a request to the bucket is refused.
fn unsigned(call: &Call) -> Option<String> {
    let header = |name: &str| call.headers.get(name).cloned().unwrap_or_default();
    let authorization = header("authorization");
    let parts: BTreeMap<&str, &str> = authorization.split('&').filter_map(|part| part.split_once('=')).collect();
    let part = |name: &str| parts.get(name).copied().unwrap_or_default();
    let sign = |key: &str, text: &str| {
        hex(hmac::sign(&Key::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes()), text.as_bytes()).as_ref())
    };
    let lines = |names: &str, value: &dyn Fn(&str) -> String| {
        let named = names.split(';').filter(|name| !name.is_empty());
        named.map(|name| format!("{name}={}", encoded(&value(name)))).collect::<Vec<_>>().join("&")
    };
    let parameters = lines(part("q-url-param-list"), &|name| call.parameter(name).unwrap_or_default().to_owned());
    let headers = lines(part("q-header-list"), &header);
    let request = format!("{}\n{}\n{parameters}\n{headers}\n", call.method.to_lowercase(), call.path);
    let hash = hex(digest(&SHA1_FOR_LEGACY_USE_ONLY, request.as_bytes()).as_ref());
    let text = format!("sha1\n{}\n{hash}\n", part("q-sign-time"));
    let expected = sign(&sign(SECRET_KEY, part("q-key-time")), &text);
    match () {
        () if part("q-ak") != SECRET_ID => Some("The key does not exist.".to_owned()),
        () if part("q-signature") != expected => Some(format!("The signature of {request:?} is wrong.")),
        () => None,
    }
}

/// What version 3 of the signatures makes of a request.
fn authorization(call: &Call, service: &str) -> String {
    let header = |name: &str| call.headers.get(name).cloned().unwrap_or_default();
    let sha256 = |text: &[u8]| hex(digest(&SHA256, text).as_ref());
    let mac = |key: &[u8], text: &str| hmac::sign(&Key::new(HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec();
    let seconds = header("x-tc-timestamp");
    let date = jiff::Timestamp::from_second(seconds.parse().unwrap_or(0)).unwrap().strftime("%Y-%m-%d").to_string();
    let (kind, host, body) = (header("content-type"), header("host"), sha256(&call.body));
    let request = format!("POST\n/\n\ncontent-type:{kind}\nhost:{host}\n\ncontent-type;host\n{body}");
    let scope = format!("{date}/{service}/tc3_request");
    let text = format!("TC3-HMAC-SHA256\n{seconds}\n{scope}\n{}", sha256(request.as_bytes()));
    let key = mac(format!("TC3{SECRET_KEY}").as_bytes(), &date);
    let signature = hex(&mac(&mac(&mac(&key, service), "tc3_request"), &text));
    format!("TC3-HMAC-SHA256 Credential={SECRET_ID}/{scope}, SignedHeaders=content-type;host, Signature={signature}")
}
