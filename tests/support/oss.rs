//! Alibaba Cloud as far as states need it: one server that is both OSS and Tablestore, checks signatures and keeps objects and rows.
//!
//! Stands alone with the stub server: the library's own tests use this file too.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use aws_lc_rs::hmac::{HMAC_SHA1_FOR_LEGACY_USE_ONLY, Key, sign};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};

use super::stub::{Answer, Call, Stub};

/// The keys that the service knows.
pub const ACCESS_KEY: &str = "LTAI-test";
pub const SECRET_KEY: &str = "secret-of-the-test";
pub const BUCKET: &str = "states";
pub const TABLE: &str = "locks";

pub struct OssStub {
    pub stub: Stub,
    cloud: Arc<Mutex<Cloud>>,
}

#[derive(Default)]
struct Cloud {
    objects: BTreeMap<String, Vec<u8>>,
    /// Columns by the row's key.
    rows: BTreeMap<String, BTreeMap<String, String>>,
    /// Objects in one page of a list.
    page: usize,
}

impl OssStub {
    pub fn start() -> OssStub {
        let cloud = Arc::new(Mutex::new(Cloud { page: 1000, ..Cloud::default() }));
        let serving = cloud.clone();
        OssStub { stub: Stub::start(move |call| serving.lock().unwrap().answer(call)), cloud }
    }

    /// The keys of the objects, sorted.
    pub fn keys(&self) -> Vec<String> {
        self.cloud.lock().unwrap().objects.keys().cloned().collect()
    }

    pub fn rows(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        self.cloud.lock().unwrap().rows.clone()
    }

    pub fn put_object(&self, key: &str, content: &[u8]) {
        self.cloud.lock().unwrap().objects.insert(key.to_owned(), content.to_vec());
    }

    pub fn set_row(&self, key: &str, columns: &[(&str, &str)]) {
        let columns = columns.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        self.cloud.lock().unwrap().rows.insert(key.to_owned(), columns);
    }

    pub fn set_page(&self, objects: usize) {
        self.cloud.lock().unwrap().page = objects;
    }
}

fn hmac(text: &str) -> String {
    let key = Key::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, SECRET_KEY.as_bytes());
    STANDARD.encode(sign(&key, text.as_bytes()))
}

impl Cloud {
    fn answer(&mut self, call: &Call) -> Answer {
        match call.path.strip_prefix(&format!("/{BUCKET}/")) {
            Some(key) => self.object(call, key),
            None if call.method == "POST" => self.table(call),
            None => error(404, "NoSuchBucket", "The specified bucket does not exist."),
        }
    }

    fn object(&mut self, call: &Call, key: &str) -> Answer {
        if call.headers.get("authorization") != Some(&authorization(call)) {
            return error(403, "SignatureDoesNotMatch", "The request signature we calculated does not match.");
        }
        match (&*call.method, self.objects.get(key)) {
            ("GET", _) if key.is_empty() => self.list(call),
            ("GET" | "HEAD", None) => error(404, "NoSuchKey", "The specified key does not exist."),
            ("HEAD", Some(_)) => Answer::new(200, ""),
            ("GET", Some(content)) => Answer::new(200, content.clone()),
            ("PUT", _) => {
                self.objects.insert(key.to_owned(), call.body.clone());
                Answer::new(200, "")
            }
            ("DELETE", _) => {
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

    fn table(&mut self, call: &Call) -> Answer {
        if let Some(refusal) = unsigned(call) {
            return failed(403, "OTSAuthFailed", refusal);
        }
        let fields = fields(&call.body);
        let field = |number: u64| fields.get(&number).cloned().unwrap_or_default();
        if field(1) != TABLE.as_bytes() {
            return failed(404, "OTSObjectNotExist", "Requested table does not exist.");
        }
        let consumed = message(1, &message(1, &[8, 0, 16, 1]));
        match &*call.path {
            "/PutRow" => {
                let (key, columns) = row(&field(2));
                // The condition is field 3, its expectation field 1: 2 is for rows that must not exist.
                if field(3) == [8, 2] && self.rows.contains_key(&key) {
                    return failed(403, "OTSConditionCheckFail", "Condition check failed.");
                }
                self.rows.insert(key, columns);
                Answer::new(200, consumed)
            }
            "/GetRow" => {
                let (key, _) = row(&field(2));
                let row = self.rows.get(&key).map(|columns| encoded(&key, columns)).unwrap_or_default();
                Answer::new(200, [consumed, message(2, &row)].concat())
            }
            "/DeleteRow" => {
                self.rows.remove(&row(&field(2)).0);
                Answer::new(200, consumed)
            }
            "/DescribeTable" => {
                let throughput = [message(1, &[8, 0, 16, 0]), vec![16, 0]].concat();
                let meta = message(1, &message(1, TABLE.as_bytes()));
                let options = message(3, &[8, 1, 16, 1]);
                Answer::new(200, [meta, message(2, &throughput), options, vec![32, 1]].concat())
            }
            _ => Answer::new(400, ""),
        }
    }
}

/// An error of OSS.
fn error(status: u16, code: &str, text: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{text}</Message><RequestId>R1</RequestId></Error>"
    );
    Answer::new(status, body)
}

/// An error of Tablestore.
fn failed(status: u16, code: &str, text: &str) -> Answer {
    Answer::new(status, [message(1, code.as_bytes()), message(2, text.as_bytes())].concat())
        .with("x-ots-requestid", "R2")
}

/// What version 1 of OSS's signatures makes of a request. The bucket is part of the path here.
fn authorization(call: &Call) -> String {
    let header = |name: &str| call.headers.get(name).map_or("", String::as_str);
    let named: String = call
        .headers
        .iter()
        .filter(|(name, _)| name.starts_with("x-oss-"))
        .map(|(name, value)| format!("{name}:{value}\n"))
        .collect();
    let part = if call.query.contains_key("objectMeta") { "?objectMeta" } else { "" };
    let text = format!(
        "{}\n{}\n{}\n{}\n{named}{}{part}",
        call.method,
        header("content-md5"),
        header("content-type"),
        header("date"),
        call.path
    );
    format!("OSS {ACCESS_KEY}:{}", hmac(&text))
}

/// Why a request to Tablestore is refused.
fn unsigned(call: &Call) -> Option<&'static str> {
    let header = |name: &str| call.headers.get(name).map_or("", String::as_str);
    let named = call.headers.iter().filter(|(name, _)| name.starts_with("x-ots-") && *name != "x-ots-signature");
    let named: String = named.map(|(name, value)| format!("{name}:{value}\n")).collect();
    let text = format!("{}\nPOST\n\n{named}", call.path);
    match () {
        () if header("x-ots-contentmd5") != STANDARD.encode(Md5::digest(&call.body)) => Some("Mismatch of MD5."),
        () if header("x-ots-accesskeyid") != ACCESS_KEY => Some("The access key does not exist."),
        () if header("x-ots-instancename").is_empty() => Some("There is no instance."),
        () if header("x-ots-signature") != hmac(&text) => Some("Signature mismatch."),
        () => None,
    }
}

/// A field of a message that has a length: its number, its length and its content.
fn message(number: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend(content);
    out
}

/// The fields of a message that have a length; of repeated ones the last.
fn fields(mut bytes: &[u8]) -> BTreeMap<u64, Vec<u8>> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        while let Some((first, rest)) = bytes.split_first() {
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            shift += 7;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut found = BTreeMap::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = varint(&mut bytes);
        if tag & 7 == 2 {
            let (content, rest) = bytes.split_at(value as usize);
            found.insert(tag >> 3, content.to_vec());
            bytes = rest;
        }
    }
    found
}

/// Key and columns of a row of texts.
fn row(bytes: &[u8]) -> (String, BTreeMap<String, String>) {
    let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let text = |at: usize| String::from_utf8(bytes[at + 4..at + 4 + length(at)].to_vec()).unwrap();
    assert_eq!(bytes[..5], [0x75, 0, 0, 0, 1], "header and tag of the key");
    let (mut at, mut cells) = (5, Vec::new());
    while bytes[at] != 9 {
        match bytes[at] {
            2 | 8 => at += 1,
            3 => {
                // Tags of cell and name, the name; tag, length and type of the value, the text; the checksum.
                let name = text(at + 2);
                at += 6 + name.len();
                let value = text(at + 6);
                at += 10 + value.len() + 2;
                cells.push((name, value));
            }
            tag => panic!("unexpected tag {tag}"),
        }
    }
    let (name, key) = cells.remove(0);
    assert_eq!(name, "LockID");
    (key, cells.into_iter().collect())
}

/// A row as it is answered: with the time of each value.
fn encoded(key: &str, columns: &BTreeMap<String, String>) -> Vec<u8> {
    fn crc(bytes: &[u8]) -> u8 {
        let step = |crc: u8| if crc & 0x80 == 0 { crc << 1 } else { (crc << 1) ^ 7 };
        bytes.iter().fold(0, |crc, byte| (0..8).fold(crc ^ byte, |crc, _| step(crc)))
    }
    let length = |text: &str| (text.len() as u32).to_le_bytes();
    let (mut out, mut sums) = (vec![0x75, 0, 0, 0, 1], Vec::new());
    let mut cell = |out: &mut Vec<u8>, name: &str, text: &str, time: Option<u64>| {
        out.extend([3, 4]);
        out.extend(length(name));
        out.extend(name.as_bytes());
        out.push(5);
        out.extend((text.len() as u32 + 5).to_le_bytes());
        let value = [&[3][..], &length(text), text.as_bytes()].concat();
        out.extend(&value);
        let time = time.map(|time| time.to_le_bytes().to_vec()).unwrap_or_default();
        if !time.is_empty() {
            out.push(7);
            out.extend(&time);
        }
        let sum = crc(&[name.as_bytes(), &value, &time].concat());
        out.extend([0xA, sum]);
        sums.push(sum);
    };
    cell(&mut out, "LockID", key, None);
    out.push(2);
    for (name, text) in columns {
        cell(&mut out, name, text, Some(1_700_000_000_000));
    }
    sums.push(0);
    out.extend([9, crc(&sums)]);
    out
}
