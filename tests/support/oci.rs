//! Oracle's Object Storage as far as states need it: a server that is one bucket with versions, checks signatures and keeps objects.
//!
//! Stands alone with the stub server: the library's own tests use this file too.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use serde_json::{Value, json};

use super::stub::{Answer, Call, Stub};

/// The name of the service for `CLIENT_HOST_OVERRIDES`.
pub const SERVICE: &str = "oci_object_storage.ObjectStorageClient";
pub const NAMESPACE: &str = "ns";
pub const BUCKET: &str = "states";
pub const TENANCY: &str = "ocid1.tenancy.oc1..t";
pub const USER: &str = "ocid1.user.oc1..u";
pub const FINGERPRINT: &str = "11:22:33";

pub struct OciStub {
    pub stub: Stub,
    /// The key that requests are signed with, as PEM.
    pub key: String,
    bucket: Arc<Mutex<Bucket>>,
}

#[derive(Default)]
struct Bucket {
    public_key: Vec<u8>,
    /// The accepted name of the key.
    key_id: String,
    /// Versions of each object, the newest last; none of them is empty. With the number that identifies it.
    objects: BTreeMap<String, Vec<(u64, Vec<u8>)>>,
    uploads: BTreeMap<String, BTreeMap<u64, Vec<u8>>>,
    count: u64,
    /// Objects in one page of a list.
    page: usize,
}

impl OciStub {
    pub fn start() -> OciStub {
        let key = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let pkcs8 = AsDer::<aws_lc_rs::encoding::Pkcs8V1Der<'_>>::as_der(&key).unwrap();
        let pem =
            format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(pkcs8.as_ref()));
        let public_key = key.public_key().as_ref().to_vec();
        let key_id = format!("{TENANCY}/{USER}/{FINGERPRINT}");
        let bucket = Arc::new(Mutex::new(Bucket { public_key, key_id, page: 1000, ..Bucket::default() }));
        let serving = bucket.clone();
        OciStub { stub: Stub::start(move |call| serving.lock().unwrap().answer(call)), key: pem, bucket }
    }

    /// The names of the objects, sorted.
    pub fn names(&self) -> Vec<String> {
        self.bucket.lock().unwrap().objects.keys().cloned().collect()
    }

    pub fn content(&self, name: &str) -> Vec<u8> {
        self.bucket.lock().unwrap().objects[name].last().unwrap().1.clone()
    }

    pub fn put_object(&self, name: &str, content: &[u8]) {
        self.bucket.lock().unwrap().put(name, content.to_vec());
    }

    pub fn set_page(&self, objects: usize) {
        self.bucket.lock().unwrap().page = objects;
    }

    /// From now on requests are signed for this key.
    pub fn set_key_id(&self, key_id: &str) {
        self.bucket.lock().unwrap().key_id = key_id.to_owned();
    }

    /// Sets variables that name the stub and its key.
    pub fn configure(&self, set: &mut dyn FnMut(&str, &str)) {
        set("CLIENT_HOST_OVERRIDES", &self.host_override());
        let key = self.key.replace('\n', "\\n");
        for (name, value) in [
            ("OCI_region", "us-test-1"),
            ("OCI_tenancy_ocid", TENANCY),
            ("OCI_user_ocid", USER),
            ("OCI_fingerprint", FINGERPRINT),
            ("OCI_private_key", &key),
        ] {
            set(name, value);
        }
    }

    /// What `CLIENT_HOST_OVERRIDES` needs.
    pub fn host_override(&self) -> String {
        format!("{SERVICE}={}", self.stub.url())
    }
}

impl Bucket {
    fn put(&mut self, name: &str, content: Vec<u8>) -> u64 {
        self.count += 1;
        self.objects.entry(name.to_owned()).or_default().push((self.count, content));
        self.count
    }

    fn answer(&mut self, call: &Call) -> Answer {
        if let Some(why) = self.unsigned(call) {
            return error(401, "NotAuthenticated", &why);
        }
        let folder = format!("/n/{NAMESPACE}/b/{BUCKET}/");
        let Some(rest) = call.path.strip_prefix(&folder) else {
            return error(
                404,
                "BucketNotFound",
                "Either the bucket does not exist or you are not authorized to access it",
            );
        };
        if let Some(sum) = call.headers.get("content-md5")
            && *sum != STANDARD.encode(Md5::digest(&call.body))
        {
            return error(400, "UnmatchedContentMD5", "The computed MD5 does not match");
        }
        match rest.split_once('/').unwrap_or((rest, "")) {
            ("o", "") => self.list(call),
            ("o", name) => self.object(call, name),
            ("objectversions", _) => self.versions(call),
            ("u", name) => self.upload(call, name),
            _ => Answer::new(405, ""),
        }
    }

    fn object(&mut self, call: &Call, name: &str) -> Answer {
        let missing = || error(404, "ObjectNotFound", "The object was not found");
        let newest = self.objects.get(name).and_then(|versions| versions.last()).cloned();
        match (&*call.method, newest) {
            ("PUT", Some(_)) if call.headers.contains_key("if-none-match") => {
                error(412, "IfNoneMatchFailed", "The If-None-Match header is '*' but there is an existing entity")
            }
            ("PUT", _) => Answer::new(200, "").with("ETag", self.put(name, call.body.clone())),
            ("GET" | "DELETE", None) => missing(),
            ("HEAD", None) => Answer::new(404, ""),
            ("GET", Some((number, content))) => Answer::new(200, content).with("ETag", number),
            ("HEAD", Some((number, _))) => Answer::new(200, "").with("ETag", number),
            ("DELETE", Some((number, _))) => {
                let wanted = call.headers.get("if-match").map_or(number.to_string(), Clone::clone);
                if wanted != number.to_string() {
                    return error(412, "IfMatchFailed", "The If-Match header does not match");
                }
                let version = call.parameter("versionId").map(str::to_owned);
                let left: Vec<_> = match (version, self.objects.remove(name)) {
                    (Some(version), Some(all)) => all.into_iter().filter(|(n, _)| n.to_string() != version).collect(),
                    _ => Vec::new(),
                };
                if !left.is_empty() {
                    self.objects.insert(name.to_owned(), left);
                }
                Answer::new(204, "")
            }
            _ => Answer::new(405, ""),
        }
    }

    fn list(&self, call: &Call) -> Answer {
        let (prefix, start) = (call.parameter("prefix").unwrap_or(""), call.parameter("start").unwrap_or(""));
        let found = self.objects.keys().filter(|name| name.starts_with(prefix) && name.as_str() >= start);
        let names: Vec<&String> = found.collect();
        let objects: Vec<Value> = names.iter().take(self.page).map(|name| json!({ "name": name })).collect();
        Answer::new(200, json!({ "objects": objects, "nextStartWith": names.get(self.page) }).to_string())
    }

    fn versions(&self, call: &Call) -> Answer {
        let prefix = call.parameter("prefix").unwrap_or("");
        let all = self.objects.iter().filter(|(name, _)| name.starts_with(prefix));
        let all = all.flat_map(|(name, versions)| versions.iter().map(move |(number, _)| (name, number)));
        let all: Vec<Value> = all.map(|(name, n)| json!({ "name": name, "versionId": n.to_string() })).collect();
        let first: usize = call.parameter("page").map_or(0, |page| page.parse().unwrap());
        let end = all.len().min(first + self.page);
        let answer = Answer::new(200, json!({ "items": all[first..end] }).to_string());
        if end < all.len() { answer.with("opc-next-page", end) } else { answer }
    }

    fn upload(&mut self, call: &Call, name: &str) -> Answer {
        let id = call.parameter("uploadId").unwrap_or("").to_owned();
        match (&*call.method, call.parameter("uploadPartNum")) {
            ("POST", _) if id.is_empty() => {
                self.count += 1;
                let id = format!("upload {}", self.count);
                self.uploads.insert(id.clone(), BTreeMap::new());
                Answer::new(200, json!({ "uploadId": id }).to_string())
            }
            _ if !self.uploads.contains_key(&id) => error(404, "NoSuchUpload", "The upload does not exist"),
            ("PUT", Some(number)) => {
                let number = number.parse().unwrap();
                self.uploads.get_mut(&id).unwrap().insert(number, call.body.clone());
                Answer::new(200, "").with("ETag", format!("part{number}"))
            }
            ("POST", _) => {
                let details: Value = serde_json::from_slice(&call.body).unwrap();
                let parts = self.uploads.remove(&id).unwrap();
                let given = details["partsToCommit"].as_array().unwrap().iter();
                assert!(
                    given
                        .map(|part| part["etag"].as_str().unwrap().to_owned())
                        .eq(parts.keys().map(|n| format!("part{n}")))
                );
                self.put(name, parts.into_values().flatten().collect());
                Answer::new(200, "")
            }
            _ => {
                self.uploads.remove(&id);
                Answer::new(204, "")
            }
        }
    }

    /// Why a request is refused.
    fn unsigned(&self, call: &Call) -> Option<String> {
        let header = |name: &str| call.headers.get(name).map_or("", String::as_str);
        let authorization = header("authorization");
        let part =
            |name: &str| authorization.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
        let has_body = matches!(&*call.method, "PUT" | "POST");
        let names = match has_body {
            true => "date (request-target) host content-length content-type x-content-sha256",
            false => "date (request-target) host",
        };
        if part("keyId") != Some(&self.key_id)
            || part("algorithm") != Some("rsa-sha256")
            || part("headers") != Some(names)
        {
            return Some(format!("unexpected: {authorization}"));
        }
        if has_body && header("x-content-sha256") != STANDARD.encode(digest(&SHA256, &call.body)) {
            return Some("the hash of the body differs".to_owned());
        }
        let value = |name: &str| match name {
            "(request-target)" => format!("{} {}", call.method.to_lowercase(), call.target),
            _ => header(name).to_owned(),
        };
        let text = names.split(' ').map(|name| format!("{name}: {}", value(name))).collect::<Vec<_>>().join("\n");
        let signature = STANDARD.decode(part("signature").unwrap_or("")).unwrap_or_default();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &self.public_key);
        key.verify(text.as_bytes(), &signature).err().map(|_| "the signature is wrong".to_owned())
    }
}

fn error(status: u16, code: &str, message: &str) -> Answer {
    Answer::new(status, json!({ "code": code, "message": message }).to_string()).with("opc-request-id", "R1")
}
