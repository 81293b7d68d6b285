//! The requests for one state: reading, writing, locking.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use net::http::{Answer, Request, without_secrets};
use reqwest::header::{CONTENT_TYPE, HeaderName};
use reqwest::{Method, StatusCode};
use url::Url;

use super::settings::Endpoint;
use crate::contract::{LockError, LockInfo, StateStore, StoreError, StoreFacts};

/// The state behind an address.
pub struct HttpStore {
    endpoint: Arc<Endpoint>,
    journal: PathBuf,
    /// The lock that this store took.
    held: Mutex<Option<LockInfo>>,
}

const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

impl HttpStore {
    pub fn new(endpoint: Arc<Endpoint>, journal: PathBuf) -> HttpStore {
        HttpStore { endpoint, journal, held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, Option<LockInfo>> {
        self.held.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Sends a request; `what` is what errors say was tried. Retries are over when this fails.
    async fn ask(&self, method: &Method, url: &Url, body: Option<Vec<u8>>, what: &str) -> Result<Answer, StoreError> {
        let mut request = Request::new(method.clone(), url.clone()).login(self.endpoint.login.as_ref());
        if let Some(body) = body {
            let digest = STANDARD.encode(Md5::digest(&body));
            request = request.header(CONTENT_TYPE, "application/json").header(CONTENT_MD5, &digest).body(body);
        }
        let gave_up = |attempts: u32, why: String| {
            let address = without_secrets(url);
            StoreError::new(format!("Failed to {what}: {method} {address} giving up after {attempts} attempt(s){why}"))
        };
        match self.endpoint.client.send(&request).await {
            Ok(answer) if answer.is_trouble() => Err(gave_up(answer.attempts, String::new())),
            Ok(answer) => Ok(answer),
            Err(failure) => Err(gave_up(failure.attempts, format!(": {failure}"))),
        }
    }
}

fn unexpected(status: StatusCode) -> StoreError {
    StoreError::new(match status {
        StatusCode::UNAUTHORIZED => "HTTP remote state endpoint requires auth".to_owned(),
        StatusCode::FORBIDDEN => "HTTP remote state endpoint invalid auth".to_owned(),
        status => format!("Unexpected HTTP response code {}", status.as_u16()),
    })
}

#[async_trait]
impl StateStore for HttpStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts::remote(self.journal.clone())
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let answer = self.ask(&Method::GET, &self.endpoint.address, None, "get state").await?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => return Ok(None),
            status => return Err(unexpected(status)),
        }
        if let Some(digest) = answer.header("content-md5").filter(|_| !answer.body.is_empty()) {
            let decoded = STANDARD.decode(digest);
            decoded.map_err(|e| StoreError::new(format!("Failed to decode Content-MD5 '{digest}': {e}")))?;
        }
        Ok((!answer.body.is_empty()).then_some(answer.body))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let lock = self.held().as_ref().map(|info| info.id.clone());
        let url = lock.map_or_else(|| self.endpoint.address.clone(), |id| with_lock(&self.endpoint.address, &id));
        let answer = self.ask(&self.endpoint.update_method, &url, Some(snapshot.to_vec()), "upload state").await?;
        match answer.status {
            StatusCode::OK | StatusCode::CREATED | StatusCode::NO_CONTENT => Ok(()),
            status => Err(StoreError::new(format!("HTTP error: {}", status.as_u16()))),
        }
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        let Some(address) = &self.endpoint.lock else { return Ok(String::new()) };
        let answer = self.ask(&self.endpoint.lock_method, address, Some(info.to_json()), "lock").await;
        let answer = answer.map_err(|e| LockError::new(e.text))?;
        let holder = match answer.status {
            StatusCode::OK => None,
            StatusCode::CONFLICT | StatusCode::LOCKED => Some(LockInfo::from_json(&answer.body)),
            status => return Err(LockError::new(unexpected(status).text)),
        };
        match holder {
            // The answer to an earlier attempt got lost: the lock is ours.
            Some(Some(holder)) if holder.id == info.id => {}
            Some(Some(holder)) => {
                let reason = format!("HTTP remote state already locked: ID={}", holder.id);
                let holder = (!holder.id.is_empty()).then_some(holder);
                return Err(LockError { reason, holder, busy: true });
            }
            Some(None) => {
                let reason = "HTTP remote state already locked, failed to unmarshal body".to_owned();
                return Err(LockError { reason, holder: None, busy: true });
            }
            None => {}
        }
        *self.held() = Some(info.clone());
        Ok(info.id.clone())
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let own = self.held().clone().filter(|info| info.id == id);
        let Some(address) = self.endpoint.unlock.as_ref().filter(|_| !id.is_empty()) else {
            *self.held() = None;
            return Ok(());
        };
        let info = own.unwrap_or_else(|| forced(id));
        let answer = self.ask(&self.endpoint.unlock_method, address, Some(info.to_json()), "unlock").await?;
        if answer.status != StatusCode::OK {
            return Err(StoreError::new(format!("Unexpected HTTP response code {}", answer.status.as_u16())));
        }
        *self.held() = None;
        Ok(())
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}

/// What `force-unlock` knows of a lock: its id.
fn forced(id: &str) -> LockInfo {
    LockInfo { id: id.to_owned(), created: "0001-01-01T00:00:00Z".to_owned(), ..LockInfo::default() }
}

/// The address with the lock's id as the parameter `ID`; parameters are sorted by name, as the reference sends them.
fn with_lock(address: &Url, id: &str) -> Url {
    let others = address.query_pairs().filter(|(name, _)| name != "ID");
    let mut pairs: Vec<(String, String)> = others.map(|(n, v)| (n.into_owned(), v.into_owned())).collect();
    pairs.push(("ID".to_owned(), id.to_owned()));
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    let mut url = address.clone();
    url.query_pairs_mut().clear().extend_pairs(pairs);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_is_a_parameter_among_others() {
        let address = Url::parse("https://u:p@h/x?b=1&ID=old&a=2%20c").unwrap();
        assert_eq!(with_lock(&address, "n").as_str(), "https://u:p@h/x?ID=n&a=2+c&b=1");
        assert_eq!(with_lock(&Url::parse("http://h").unwrap(), "n").as_str(), "http://h/?ID=n");
    }
}
