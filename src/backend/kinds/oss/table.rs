//! A table of Tablestore with locks and checksums: rows of texts, over Tablestore's interface of protocol buffers.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Request};
use md5::{Digest, Md5};
use net::cloud;
use net::http::Client;
use prost::Message;
use reqsign_aliyun_oss::Credential;
use reqsign_core::hash::base64_hmac_sha1;
use reqsign_core::{Context, SignRequest, Signer};

use super::plain_buffer;
use crate::objects::failure::Failure;

const VERSION: &str = "2015-12-31";
const PRIMARY_KEY: &str = "LockID";

/// How often a request is sent that the service has no capacity for.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(500);

/// Temporary errors, with any status.
const PASSING: [&str; 6] = [
    "OTSRowOperationConflict",
    "OTSNotEnoughCapacityUnit",
    "OTSTableNotReady",
    "OTSPartitionUnavailable",
    "OTSServerBusy",
    "OTSStorageServerBusy",
];

/// The row exists, and must not.
pub const EXISTS: &str = "OTSConditionCheckFail";

pub struct Table {
    pub client: Client,
    /// Its request signer is a [`TableSigner`].
    pub signer: Signer<Credential>,
    /// With its scheme.
    pub endpoint: String,
    pub name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Condition {
    /// 0: any; 2: there must be no such row.
    #[prost(int32, required, tag = "1")]
    row_existence: i32,
}

#[derive(Clone, PartialEq, Message)]
struct PutRow {
    #[prost(string, required, tag = "1")]
    table: String,
    #[prost(bytes = "vec", required, tag = "2")]
    row: Vec<u8>,
    #[prost(message, required, tag = "3")]
    condition: Condition,
}

#[derive(Clone, PartialEq, Message)]
struct DeleteRow {
    #[prost(string, required, tag = "1")]
    table: String,
    #[prost(bytes = "vec", required, tag = "2")]
    key: Vec<u8>,
    #[prost(message, required, tag = "3")]
    condition: Condition,
}

#[derive(Clone, PartialEq, Message)]
struct GetRow {
    #[prost(string, required, tag = "1")]
    table: String,
    #[prost(bytes = "vec", required, tag = "2")]
    key: Vec<u8>,
    #[prost(string, repeated, tag = "3")]
    columns: Vec<String>,
    #[prost(int32, optional, tag = "5")]
    max_versions: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct GetRowResponse {
    #[prost(bytes = "vec", required, tag = "2")]
    row: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct ErrorBody {
    #[prost(string, required, tag = "1")]
    code: String,
    #[prost(string, optional, tag = "2")]
    message: Option<String>,
}

/// Whether a row may be replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    Replaced,
    Refused,
}

impl Table {
    /// Writes a row with these columns besides its id.
    pub async fn put(&self, id: &str, columns: &[(&str, &str)], existing: Existing) -> Result<(), Failure> {
        let row_existence = if existing == Existing::Refused { 2 } else { 0 };
        let row = plain_buffer::written((PRIMARY_KEY, id), columns);
        let request = PutRow { table: self.name.clone(), row, condition: Condition { row_existence } };
        self.call("/PutRow", &request).await.map(|_| ())
    }

    /// Columns of a row by name, those that it has.
    pub async fn get(&self, id: &str, columns: &[&str]) -> Result<BTreeMap<String, String>, Failure> {
        let names = [&[PRIMARY_KEY], columns].concat();
        let request = GetRow {
            table: self.name.clone(),
            key: plain_buffer::key((PRIMARY_KEY, id)),
            columns: names.into_iter().map(str::to_owned).collect(),
            max_versions: Some(1),
        };
        let answer = self.call("/GetRow", &request).await?;
        let unreadable = |why: String| Failure::unanswered(format!("decode resp failed: {why}"));
        let response = GetRowResponse::decode(&*answer).map_err(|e| unreadable(e.to_string()))?;
        plain_buffer::columns(&response.row).map_err(unreadable)
    }

    /// Deletes a row, if there is one.
    pub async fn delete(&self, id: &str) -> Result<(), Failure> {
        let key = plain_buffer::deleted((PRIMARY_KEY, id));
        let request = DeleteRow { table: self.name.clone(), key, condition: Condition { row_existence: 0 } };
        self.call("/DeleteRow", &request).await.map(|_| ())
    }

    async fn call(&self, path: &str, message: &impl Message) -> Result<Vec<u8>, Failure> {
        let body = Bytes::from(message.encode_to_vec());
        let mut attempt = 0;
        loop {
            match self.attempt(path, body.clone()).await {
                Err(failure) if PASSING.contains(&&*failure.code) && attempt + 1 < ATTEMPTS => {
                    tokio::time::sleep(PAUSE * 2u32.pow(attempt)).await;
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    async fn attempt(&self, path: &str, body: Bytes) -> Result<Vec<u8>, Failure> {
        let request = Request::post(format!("{}{path}", self.endpoint))
            .header("content-type", "application/x.pb2")
            .header(CONTENT_MD5, STANDARD.encode(Md5::digest(&body)))
            .body(body)
            .map_err(Failure::unanswered)?;
        let (mut head, body) = request.into_parts();
        self.signer.sign(&mut head, None).await.map_err(Failure::unanswered)?;
        let answer = cloud::send(&self.client, Request::from_parts(head, body)).await.map_err(Failure::unanswered)?;
        if answer.status.is_success() {
            return Ok(answer.body);
        }
        let id = answer.header("x-ots-requestid").unwrap_or_default();
        let error_body = ErrorBody::decode(&*answer.body).ok().filter(|error_body| !error_body.code.is_empty());
        let error_body = error_body.unwrap_or_else(|| ErrorBody {
            code: if answer.status.is_server_error() { "OTSServerUnavailable" } else { "OTSClientUnknownError" }.into(),
            message: Some(answer.text().chars().take(500).collect()),
        });
        let text = format!("{} {} {id}", error_body.code, error_body.message.unwrap_or_default());
        Err(Failure {
            status: answer.status.as_u16(),
            code: error_body.code,
            text: text.trim_end().to_owned(),
            attempts: answer.attempts,
        })
    }
}

const CONTENT_MD5: &str = "x-ots-contentmd5";

/// Signs requests to one instance of Tablestore.
#[derive(Debug)]
pub struct TableSigner {
    pub instance: String,
}

impl SignRequest for TableSigner {
    type Credential = Credential;

    fn required_valid_until(&self, _: &Credential, _: Option<Duration>) -> reqsign_core::time::Timestamp {
        reqsign_core::time::Timestamp::now() + Duration::from_secs(10)
    }

    async fn sign_request(
        &self,
        _: &Context,
        head: &mut Parts,
        credential: Option<&Credential>,
        _: Option<Duration>,
    ) -> reqsign_core::Result<()> {
        let Some(keys) = credential else { return Ok(()) };
        let text = |value: &str| HeaderValue::try_from(value).map_err(reqsign_core::Error::from);
        let date = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
        head.headers.insert("x-ots-date", text(&date)?);
        head.headers.insert("x-ots-apiversion", text(VERSION)?);
        head.headers.insert("x-ots-accesskeyid", text(&keys.access_key_id)?);
        head.headers.insert("x-ots-instancename", text(&self.instance)?);
        if let Some(token) = &keys.security_token {
            let mut token = text(token)?;
            token.set_sensitive(true);
            head.headers.insert("x-ots-ststoken", token);
        }
        let text_to_sign = text_to_sign(head);
        let signature = base64_hmac_sha1(keys.access_key_secret.as_bytes(), text_to_sign.as_bytes());
        head.headers.insert("x-ots-signature", text(&signature)?);
        Ok(())
    }
}

fn text_to_sign(head: &Parts) -> String {
    let headers = head.headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix("x-ots-")?;
        Some((name, value.to_str().unwrap_or_default().trim()))
    });
    let sorted: BTreeMap<&str, &str> = headers.collect();
    let lines = sorted.iter().map(|(name, value)| format!("x-ots-{name}:{value}\n"));
    format!("{}\n{}\n\n{}", head.uri.path(), head.method, lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_signed_in_their_order() {
        let request = Request::post("https://i.cn-beijing.ots.aliyuncs.com/PutRow")
            .header("content-type", "x")
            .header("x-ots-date", "d")
            .header(CONTENT_MD5, " m ")
            .body(());
        let (head, ()) = request.unwrap().into_parts();
        assert_eq!(text_to_sign(&head), "/PutRow\nPOST\n\nx-ots-contentmd5:m\nx-ots-date:d\n");
    }
}
