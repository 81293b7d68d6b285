//! The state of one workspace: a key, or pieces that the key lists if the state is too large for one. Its lock is a key
//! beside it that a session locks, with the lock's info in another one.
//!
//! Owns these formats, which are the reference's. Under a lock every write is refused by the agent unless the lock is held
//! at that moment.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use gotext::hex;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};

use super::client::{Consul, Outcome, Pair, SESSION_TTL, Step, reasons};
use super::settings::Options;
use crate::contract::{LockError, LockInfo, StateStore, StoreError, StoreFacts};
use crate::objects::gzip::{compress, decompress};
use crate::objects::watched_lock::{LockSlot, WatchedLock};

/// Bytes of a chunk: the default limit of agents for one value.
const PIECE: usize = 512 * 1024;
/// How long one look at the lock waits for a change of it.
const WATCH: Duration = Duration::from_secs(60);
/// The pause after a look, or a renewal, that failed.
const PAUSE: Duration = Duration::from_secs(2);

pub struct ConsulStore {
    consul: Consul,
    path: String,
    options: Options,
    journal: PathBuf,
    /// What the key held when it was last read or written. None: not known.
    stored: Mutex<Option<Stored>>,
    /// Payloads of so many bytes were too large for one value.
    too_large: AtomicUsize,
    slot: LockSlot,
}

#[derive(Clone, Default)]
struct Stored {
    /// 0: there was no key.
    index: u64,
    chunks: Option<Chunks>,
}

/// A key whose state is in pieces.
#[derive(Clone, Serialize, Deserialize)]
pub struct Chunks {
    chunks: Vec<String>,
    #[serde(rename = "current-hash")]
    hash: String,
}

/// The pieces that a value lists, if it is such a list.
pub fn chunks_of(value: &[u8]) -> Option<Chunks> {
    // States are long, lists of their pieces are not.
    if value.len() > PIECE || !value.starts_with(b"{") {
        return None;
    }
    serde_json::from_slice(value).ok()
}

impl Chunks {
    /// What the names of the pieces begin with.
    pub fn folder(&self, path: &str) -> String {
        format!("{}/tfstate.{}/", path.trim_end_matches('/'), self.hash)
    }
}

impl ConsulStore {
    pub fn new(consul: Consul, path: String, options: Options, journal: PathBuf) -> ConsulStore {
        let too_large = AtomicUsize::new(usize::MAX);
        ConsulStore { consul, path, options, journal, stored: Mutex::default(), too_large, slot: LockSlot::default() }
    }

    fn stored(&self) -> MutexGuard<'_, Option<Stored>> {
        self.stored.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn lock_key(&self) -> String {
        format!("{}/.lock", self.path.trim_end_matches('/'))
    }

    fn info_key(&self) -> String {
        format!("{}/.lockinfo", self.path.trim_end_matches('/'))
    }

    /// Reads the key and remembers what it held.
    async fn look(&self) -> Result<Option<Pair>, StoreError> {
        let pair = self.consul.get(&self.path).await?;
        let stored = pair
            .as_ref()
            .map_or_else(Stored::default, |pair| Stored { index: pair.modify_index, chunks: chunks_of(&pair.value) });
        *self.stored() = Some(stored);
        Ok(pair)
    }

    /// Stores the key's value, if it still is what it was when it was last read.
    async fn store(&self, value: &[u8], old: &Stored) -> Result<Outcome, StoreError> {
        let (held, lock_key) = (self.slot.get(), self.lock_key());
        let mut steps = Vec::new();
        if let Some(held) = &held {
            held.check()?;
            steps.push(Step::check_session(&lock_key, &held.id));
        }
        // Without locks, the key may exist by now: then the last writer wins.
        steps.push(match old.index {
            0 => Step::set(&self.path, value),
            index => Step::cas(&self.path, value, index),
        });
        let outcome = self.consul.transaction(&steps).await?;
        let Outcome::Refused { failures, retried } = &outcome else { return Ok(outcome) };
        if let Some(held) = held.filter(|_| failures.iter().any(|failure| failure.op_index == 0)) {
            return Err(held.report(reasons(failures)));
        }
        // The answer to an earlier attempt was lost, but that attempt may have done it.
        if *retried && let Some(pair) = self.consul.get(&self.path).await?.filter(|pair| pair.value == value) {
            return Ok(Outcome::Done(vec![pair.modify_index]));
        }
        Err(StoreError::new(format!("consul CAS failed with transaction errors: {}", reasons(failures))))
    }

    /// Stores the pieces of a payload, then the list of them.
    async fn store_pieces(&self, payload: &[u8], snapshot: &[u8], old: &Stored) -> Result<(u64, Chunks), StoreError> {
        let mut list = Chunks { chunks: Vec::new(), hash: hex::hex(&Md5::digest(snapshot)) };
        let folder = list.folder(&self.path);
        for (number, piece) in payload.chunks(PIECE).enumerate() {
            let key = format!("{folder}{number}");
            self.consul.put(&key, piece.to_vec()).await?;
            list.chunks.push(key);
        }
        let text = serde_json::to_vec(&list).map_err(|e| StoreError::new(e.to_string()))?;
        match self.store(&text, old).await? {
            Outcome::Done(indexes) => Ok((indexes.last().copied().unwrap_or(0), list)),
            Outcome::TooLarge(error) => Err(error),
            Outcome::Refused { failures, .. } => Err(StoreError::new(reasons(&failures))),
        }
    }

    async fn holder(&self) -> Result<Option<LockInfo>, StoreError> {
        let pair = self.consul.get(&self.info_key()).await?;
        Ok(pair.and_then(|pair| LockInfo::from_json(&pair.value)))
    }

    /// Locks with a session that is there.
    async fn lock_with(&self, session: &str, info: &LockInfo) -> Result<(), LockError> {
        let info = LockInfo {
            id: session.to_owned(),
            info: format!("consul session: {session}"),
            path: self.path.clone(),
            ..info.clone()
        };
        let (lock_key, info_key) = (self.lock_key(), self.info_key());
        let steps = [Step::lock(&lock_key, session), Step::set(&info_key, &info.to_json())];
        let failed = |error: StoreError| LockError::new(error.text);
        match self.consul.transaction(&steps).await.map_err(failed)? {
            Outcome::Done(_) => Ok(()),
            Outcome::TooLarge(error) => Err(failed(error)),
            Outcome::Refused { failures, .. } => {
                let holder = self.holder().await.map_err(failed)?;
                let reason = if holder.is_some() { String::new() } else { reasons(&failures) };
                Err(LockError { reason, holder, busy: true })
            }
        }
    }

    /// Releases a lock that another process holds, by ending its session.
    async fn release_elsewhere(&self, id: &str) -> Result<(), StoreError> {
        let lock = self.consul.get(&self.lock_key()).await?.unwrap_or_default();
        match lock.session.as_str() {
            "" => return Err(StoreError::not_locked(id)),
            session if session != id => return Err(StoreError::lock_mismatch(id, session)),
            _ => {}
        }
        let (lock_key, info_key) = (self.lock_key(), self.info_key());
        // Released before its session ends, the lock is free at once.
        let steps = [Step::unlock(&lock_key, id), Step::delete(&info_key), Step::delete(&lock_key)];
        self.consul.transaction(&steps).await?;
        self.consul.destroy_session(id).await
    }
}

/// Renews a session and watches the lock that it holds; gives the reason when either is gone.
async fn keep(consul: Consul, lock_key: String, session: String) -> String {
    tokio::select! {
        why = renew(&consul, &session) => why,
        why = watch(&consul, &lock_key, &session) => why,
    }
}

async fn renew(consul: &Consul, session: &str) -> String {
    let mut last = Instant::now();
    let mut pause = SESSION_TTL / 2;
    loop {
        tokio::time::sleep(pause).await;
        let asked = Instant::now();
        let left = SESSION_TTL.saturating_sub(last.elapsed());
        pause = match tokio::time::timeout(left.max(PAUSE), consul.renew_session(session)).await {
            Ok(Ok(true)) => {
                last = asked;
                SESSION_TTL / 2
            }
            Ok(Ok(false)) => return format!("the session {session} has ended"),
            Ok(Err(error)) if last.elapsed() > SESSION_TTL => {
                return format!("the session {session} could not be renewed: {error}");
            }
            Err(_) if last.elapsed() > SESSION_TTL => {
                return format!("the session {session} could not be renewed: the agent does not answer");
            }
            _ => PAUSE,
        };
    }
}

async fn watch(consul: &Consul, lock_key: &str, session: &str) -> String {
    let mut index = 0;
    loop {
        match consul.watch(lock_key, index, WATCH).await {
            // An agent that does not wait is asked at intervals.
            Ok((Some(pair), now)) if pair.session == session && now <= index => tokio::time::sleep(PAUSE).await,
            Ok((Some(pair), now)) if pair.session == session => index = now,
            Ok(_) => return format!("the session {session} no longer holds it"),
            // Whether the session is still there is for its renewal to find out.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

#[async_trait]
impl StateStore for ConsulStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts::remote(self.journal.clone())
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(pair) = self.look().await? else { return Ok(None) };
        let chunks = chunks_of(&pair.value);
        let mut payload = pair.value;
        if let Some(chunks) = &chunks {
            payload.clear();
            for key in &chunks.chunks {
                let piece = self.consul.get(key).await?;
                let piece = piece.ok_or_else(|| StoreError::new(format!("Key {key:?} could not be found")))?;
                payload.extend_from_slice(&piece.value);
            }
        }
        if payload.first() == Some(&0x1f) {
            payload = decompress(&payload)?;
        }
        if chunks.is_some_and(|chunks| chunks.hash != hex::hex(&Md5::digest(&payload))) {
            return Err(StoreError::new("The remote state does not match the expected hash"));
        }
        Ok(Some(payload).filter(|payload| !payload.is_empty()))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let known = self.stored().clone();
        let old = match known {
            Some(stored) => stored,
            None => {
                self.look().await?;
                self.stored().clone().unwrap_or_default()
            }
        };
        let compressed = if self.options.gzip { Some(compress(&snapshot)?) } else { None };
        let payload = compressed.as_deref().unwrap_or(&snapshot);
        let mut new = Stored::default();
        let is_too_large = payload.len() >= self.too_large.load(Ordering::Relaxed);
        match if is_too_large { None } else { Some(self.store(payload, &old).await?) } {
            Some(Outcome::Done(indexes)) => new.index = indexes.last().copied().unwrap_or(0),
            _ => {
                self.too_large.fetch_min(payload.len(), Ordering::Relaxed);
                let (index, chunks) = self.store_pieces(payload, &snapshot, &old).await?;
                new = Stored { index, chunks: Some(chunks) };
            }
        }
        let kept = new.chunks.as_ref().map(|chunks| chunks.hash.clone());
        *self.stored() = Some(new);
        if let Some(chunks) = old.chunks.filter(|chunks| Some(&chunks.hash) != kept.as_ref()) {
            // The state is saved: pieces that stay are only in the way.
            if let Err(error) = self.consul.delete(&chunks.folder(&self.path), true).await {
                tracing::warn!("backend/consul: pieces of an old state stay: {error}");
            }
        }
        Ok(())
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        if !self.options.lock {
            return Ok(String::new());
        }
        if self.slot.get().is_some() {
            return Err(LockError::new(format!("state {:?} already locked", self.path)));
        }
        let session = self.consul.create_session().await.map_err(|error| LockError::new(error.text))?;
        if let Err(error) = self.lock_with(&session, info).await {
            // It would expire by itself.
            let _ = self.consul.destroy_session(&session).await;
            return Err(error);
        }
        *self.stored() = None;
        let keep = keep(self.consul.clone(), self.lock_key(), session.clone());
        self.slot.put(WatchedLock::new(session.clone(), keep));
        Ok(session)
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        if !self.options.lock {
            return Ok(());
        }
        let Some(held) = self.slot.of_id(id)? else { return self.release_elsewhere(id).await };
        self.slot.clear();
        let (lock_key, info_key) = (self.lock_key(), self.info_key());
        let steps = [Step::unlock(&lock_key, id), Step::delete(&info_key), Step::delete(&lock_key)];
        let outcome = self.consul.transaction(&steps).await?;
        // Ends by itself too, as it is no longer renewed.
        if let Err(error) = self.consul.destroy_session(id).await {
            tracing::warn!("backend/consul: the session {id} stays until it expires: {error}");
        }
        match outcome {
            Outcome::Refused { retried: true, .. } => Ok(()),
            Outcome::Refused { failures, .. } => Err(held.report(reasons(&failures))),
            Outcome::TooLarge(error) => Err(error),
            Outcome::Done(_) => Ok(()),
        }
    }

    async fn lock_lost(&self) -> StoreError {
        self.slot.lost().await
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }
}
