//! What is asked of a Consul agent: keys, transactions, sessions.
//!
//! Owns requests and how their failures are worded. Never knows what is stored.

use std::time::Duration;

use base::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use net::http::{Answer, Client, Request};
use reqwest::header::HeaderName;
use reqwest::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::contract::StoreError;

/// An agent and how to reach it.
#[derive(Clone)]
pub struct Consul {
    pub client: Client,
    /// `http://127.0.0.1:8500`, perhaps with a path.
    pub base: Url,
    pub token: Option<Secret>,
    pub login: Option<(String, Secret)>,
    /// Datacenter, namespace and partition, as parameters of every request.
    pub parameters: Vec<(&'static str, String)>,
}

/// How long a session lives without being renewed.
pub const SESSION_TTL: Duration = Duration::from_secs(15);
/// Time during which a lock cannot be acquired after its session expired.
const LOCK_DELAY: &str = "5000ms";
/// Marks keys that are locks.
const LOCK_FLAGS: u64 = 0x2ddc_cbc0_58a5_0c18;

const TOKEN: HeaderName = HeaderName::from_static("x-consul-token");

/// A key as it is stored.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Pair {
    #[serde(deserialize_with = "bytes")]
    pub value: Vec<u8>,
    pub modify_index: u64,
    /// Empty if the key is not locked.
    pub session: String,
}

fn bytes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    STANDARD.decode(text).map_err(serde::de::Error::custom)
}

/// One step of a transaction.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Step<'a> {
    verb: &'static str,
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    flags: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl<'a> Step<'a> {
    fn new(verb: &'static str, key: &'a str) -> Step<'a> {
        Step { verb, key, value: None, flags: 0, index: None, session: None }
    }

    pub fn set(key: &'a str, value: &[u8]) -> Step<'a> {
        Step { value: Some(STANDARD.encode(value)), ..Step::new("set", key) }
    }

    /// Sets a key that was last changed at that index; 0: that is not there.
    pub fn cas(key: &'a str, value: &[u8], index: u64) -> Step<'a> {
        Step { value: Some(STANDARD.encode(value)), index: Some(index), ..Step::new("cas", key) }
    }

    pub fn delete(key: &'a str) -> Step<'a> {
        Step::new("delete", key)
    }

    pub fn lock(key: &'a str, session: &'a str) -> Step<'a> {
        Step { session: Some(session), flags: LOCK_FLAGS, ..Step::new("lock", key) }
    }

    pub fn unlock(key: &'a str, session: &'a str) -> Step<'a> {
        Step { session: Some(session), flags: LOCK_FLAGS, ..Step::new("unlock", key) }
    }

    /// Fails unless the session holds the key's lock.
    pub fn check_session(key: &'a str, session: &'a str) -> Step<'a> {
        Step { session: Some(session), ..Step::new("check-session", key) }
    }
}

/// What became of a transaction.
pub enum Outcome {
    /// Done; the index of each result.
    Done(Vec<u64>),
    /// Nothing was done. `retried`: an earlier attempt of the same transaction had no answer, and may have been done.
    Refused { failures: Vec<Failure>, retried: bool },
    /// The request has more bytes than the agent takes.
    TooLarge(StoreError),
}

/// Why a step failed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
pub struct Failure {
    pub op_index: usize,
    pub what: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TransactionAnswer {
    results: Option<Vec<TransactionResult>>,
    errors: Option<Vec<Failure>>,
}

#[derive(Deserialize)]
struct TransactionResult {
    #[serde(rename = "KV")]
    pair: Option<Pair>,
}

impl Consul {
    fn request(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Request {
        let mut url = self.base.clone();
        // The library leaves escapes as they are.
        let path = path.replace('%', "%25");
        url.set_path(&format!("{}/v1/{path}", self.base.path().trim_end_matches('/')));
        if !query.is_empty() || !self.parameters.is_empty() {
            let given = query.iter().copied();
            url.query_pairs_mut().extend_pairs(given.chain(self.parameters.iter().map(|(k, v)| (*k, v.as_str()))));
        }
        let mut request = Request::new(method, url);
        if let Some(token) = &self.token {
            request = request.secret_header(TOKEN, token);
        }
        request.login(self.login.as_ref())
    }

    async fn send(&self, request: &Request) -> Result<Answer, StoreError> {
        self.client.send(request).await.map_err(|failure| StoreError::new(failure.to_string()))
    }

    /// A key. None if it is not there.
    pub async fn get(&self, key: &str) -> Result<Option<Pair>, StoreError> {
        let answer = self.send(&self.request(Method::GET, &format!("kv/{}", trimmed(key)), &[])).await?;
        match answer.status {
            StatusCode::NOT_FOUND => Ok(None),
            StatusCode::OK => Ok(read::<Vec<Pair>>(&answer)?.into_iter().next()),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Waits, no longer than that, until a key is changed after the index; gives the key and its new index.
    pub async fn watch(&self, key: &str, index: u64, wait: Duration) -> Result<(Option<Pair>, u64), StoreError> {
        let (index, wait) = (index.to_string(), format!("{}ms", wait.as_millis()));
        let query = [("index", index.as_str()), ("wait", wait.as_str()), ("consistent", "")];
        let request = self.request(Method::GET, &format!("kv/{}", trimmed(key)), &query).once();
        let answer = self.send(&request).await?;
        let index = answer.header("x-consul-index").and_then(|text| text.parse().ok()).unwrap_or(0);
        match answer.status {
            StatusCode::NOT_FOUND => Ok((None, index)),
            StatusCode::OK => Ok((read::<Vec<Pair>>(&answer)?.into_iter().next(), index)),
            _ => Err(unexpected(&answer)),
        }
    }

    /// The keys that begin so, up to the next slash.
    pub async fn keys(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let query = [("keys", ""), ("separator", "/")];
        let answer = self.send(&self.request(Method::GET, &format!("kv/{}", trimmed(prefix)), &query)).await?;
        match answer.status {
            StatusCode::NOT_FOUND => Ok(Vec::new()),
            StatusCode::OK => read(&answer),
            _ => Err(unexpected(&answer)),
        }
    }

    pub async fn put(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let request = self.request(Method::PUT, &format!("kv/{}", trimmed(key)), &[]).body(value);
        let answer = self.send(&request).await?;
        match answer.status {
            StatusCode::OK if answer.body.trim_ascii() == b"true" => Ok(()),
            StatusCode::OK => Err(StoreError::new(format!("the key {key:?} was not stored"))),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Removes a key, or all keys that begin so.
    pub async fn delete(&self, key: &str, recurse: bool) -> Result<(), StoreError> {
        let query: &[_] = if recurse { &[("recurse", "")] } else { &[] };
        let answer = self.send(&self.request(Method::DELETE, &format!("kv/{}", trimmed(key)), query)).await?;
        if answer.status == StatusCode::OK { Ok(()) } else { Err(unexpected(&answer)) }
    }

    /// Does all steps or none.
    pub async fn transaction(&self, steps: &[Step<'_>]) -> Result<Outcome, StoreError> {
        #[derive(Serialize)]
        struct Entry<'a> {
            #[serde(rename = "KV")]
            step: &'a Step<'a>,
        }
        let entries: Vec<_> = steps.iter().map(|step| Entry { step }).collect();
        let body = serde_json::to_vec(&entries).map_err(|e| StoreError::new(e.to_string()))?;
        let answer = self.send(&self.request(Method::PUT, "txn", &[]).body(body)).await?;
        match answer.status {
            StatusCode::OK => {
                let results = read::<TransactionAnswer>(&answer)?.results.unwrap_or_default();
                Ok(Outcome::Done(results.into_iter().map(|r| r.pair.map_or(0, |pair| pair.modify_index)).collect()))
            }
            StatusCode::CONFLICT => {
                let failures = read::<TransactionAnswer>(&answer)?.errors.unwrap_or_default();
                Ok(Outcome::Refused { failures, retried: answer.attempts > 1 })
            }
            _ => {
                let error = unexpected(&answer);
                if error.text.contains("too large") { Ok(Outcome::TooLarge(error)) } else { Err(error) }
            }
        }
    }

    /// Makes a session, which ends unless it is renewed.
    pub async fn create_session(&self) -> Result<String, StoreError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "UPPERCASE")]
        struct Created {
            id: String,
        }
        let body = serde_json::json!({
            "Name": "Consul API Lock",
            "TTL": format!("{}s", SESSION_TTL.as_secs()),
            "LockDelay": LOCK_DELAY,
        });
        let request = self.request(Method::PUT, "session/create", &[]).body(body.to_string());
        let answer = self.send(&request).await?;
        if answer.status != StatusCode::OK {
            return Err(unexpected(&answer));
        }
        Ok(read::<Created>(&answer)?.id)
    }

    /// False if there is no such session any more.
    pub async fn renew_session(&self, id: &str) -> Result<bool, StoreError> {
        let answer = self.send(&self.request(Method::PUT, &format!("session/renew/{id}"), &[]).once()).await?;
        match answer.status {
            StatusCode::OK => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            _ => Err(unexpected(&answer)),
        }
    }

    pub async fn destroy_session(&self, id: &str) -> Result<(), StoreError> {
        let answer = self.send(&self.request(Method::PUT, &format!("session/destroy/{id}"), &[])).await?;
        if answer.status == StatusCode::OK { Ok(()) } else { Err(unexpected(&answer)) }
    }
}

fn trimmed(key: &str) -> &str {
    key.strip_prefix('/').unwrap_or(key)
}

fn read<'a, T: Deserialize<'a>>(answer: &'a Answer) -> Result<T, StoreError> {
    serde_json::from_slice(&answer.body)
        .map_err(|e| StoreError::new(format!("the agent's answer is not understood: {e}")))
}

fn unexpected(answer: &Answer) -> StoreError {
    let body = String::from_utf8_lossy(&answer.body);
    StoreError::new(format!("Unexpected response code: {} ({})", answer.status.as_u16(), body.trim()))
}

/// The failures of a transaction, a line each.
pub fn reasons(failures: &[Failure]) -> String {
    failures.iter().map(|failure| failure.what.as_str()).collect::<Vec<_>>().join("\n")
}
