//! The state of one workspace of the service: versions of it, and the workspace's lock.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use base::name::PROGRAM;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use encryption::is_sealed;
use gotext::hex::hex;
use http::Method;
use md5::{Digest, Md5};
use net::http::Answer;
use serde_json::{Map, Value as Json, json};

use super::api::{STILL_PENDING, elements, id, segment, text};
use super::workspaces::{Workspace, Workspaces};
use crate::contract::versions::{Version, Versions, utc};
use crate::contract::{ForcedWrites, LockError, LockInfo, REMOTE_SNAPSHOT_PAUSE, StateStore, StoreError, StoreFacts};

/// When snapshots are sent while a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshots {
    /// As often as to any other store.
    Always,
    /// Only where the service asks for them.
    WhenAsked,
    Never,
}

/// What the store of a workspace is opened with.
pub struct Opening {
    pub workspaces: Workspaces,
    pub workspace: Workspace,
    pub journal: PathBuf,
    /// The run that this process carries out, on a machine of the service.
    pub run: Option<String>,
    pub snapshots: Snapshots,
}

/// The state of one workspace.
pub struct HcpStore {
    opening: Opening,
    /// The lock that this store took.
    held: Mutex<Option<LockInfo>>,
    /// A state was not taken: the workspace stays locked, so that no other run works on the old one.
    upload_failed: AtomicBool,
    /// The next state may be of another lineage, or older.
    forced: AtomicBool,
    /// The seconds between snapshots that the service asks for; 0: it asks for none.
    interval: AtomicU64,
}

/// The service's word on how often it wants snapshots, in seconds.
const INTERVAL: &str = "x-terraform-snapshot-interval";
/// The longest pause that the service may ask for.
const LONGEST_INTERVAL: u64 = 3600;
/// The beginning of the reason that a lock is taken with. The lock's JSON follows.
const REASON: &str = "Locked by Terraform";
/// How often a lock that the service holds on to is released again.
const UNLOCK_ATTEMPTS: u32 = 60;

impl HcpStore {
    pub fn new(opening: Opening) -> HcpStore {
        let (held, upload_failed, forced, interval) = Default::default();
        HcpStore { opening, held, upload_failed, forced, interval }
    }

    fn held(&self) -> MutexGuard<'_, Option<LockInfo>> {
        self.held.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn path(&self, what: &str) -> String {
        format!("workspaces/{}/{what}", segment(&self.opening.workspace.id))
    }

    /// The ID by which any user may release the workspace's lock.
    fn public_id(&self) -> String {
        format!("{}/{}", self.opening.workspaces.organization, self.opening.workspace.name)
    }

    fn note_interval(&self, answer: &Answer) {
        let asked = answer.header(INTERVAL).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        self.interval.store(asked.min(LONGEST_INTERVAL), Ordering::SeqCst);
    }

    /// Who holds the workspace's lock, if the service shows the reason and that says so.
    async fn holder(&self) -> Option<LockInfo> {
        let now = self.opening.workspaces.read(&self.opening.workspace.name).await.ok().flatten()?;
        let (_, json) = now.locked_reason.split_once('{')?;
        LockInfo::from_json(format!("{{{json}").as_bytes())
    }

    async fn create_version(&self, snapshot: &[u8]) -> Result<(), StoreError> {
        let api = &self.opening.workspaces.api;
        let mut version = self.version(snapshot);
        let made = match api.send_whole(Method::POST, &self.path("state-versions"), Some(&version)).await {
            Ok(made) => made,
            // Older services have no addresses for uploads.
            Err(e) if e.text.contains("param is missing or the value is empty: state") => {
                version["data"]["attributes"]["state"] = STANDARD.encode(snapshot).into();
                return Ok(api.post(&self.path("state-versions"), Some(&version)).await.map(drop)?);
            }
            // An earlier attempt may have been carried out.
            Err(e) if e.is_conflict() && e.retried && self.is_stored(snapshot).await => return Ok(()),
            Err(e) => return Err(e.into()),
        };
        self.note_interval(&made);
        let made: Json = serde_json::from_slice(&made.body).unwrap_or_default();
        let address = text(&made["data"], "hosted-state-upload-url");
        if address.is_empty() {
            return Err(StoreError::new("the service gave no address for the state"));
        }
        api.upload(address, snapshot.to_vec()).await?;
        api.get(&format!("state-versions/{}", segment(id(&made["data"]))), &[]).await?;
        Ok(())
    }

    async fn is_stored(&self, snapshot: &[u8]) -> bool {
        self.read().await.is_ok_and(|stored| stored.as_deref() == Some(snapshot))
    }

    /// What is sent about a state before the state itself.
    fn version(&self, snapshot: &[u8]) -> Json {
        let state: Json = serde_json::from_slice(snapshot).unwrap_or_default();
        let outputs = match is_sealed(snapshot) {
            true => json!({}),
            false => outputs(&state),
        };
        let mut data = json!({
            "type": "state-versions",
            "attributes": {
                "lineage": state["lineage"].as_str().unwrap_or_default(),
                "serial": state["serial"].as_u64().unwrap_or_default(),
                "md5": hex(&Md5::digest(snapshot)),
                "force": self.forced.load(Ordering::SeqCst),
                "json-state-outputs": STANDARD.encode(outputs.to_string()),
            },
        });
        if let Some(run) = &self.opening.run {
            data["relationships"] = json!({"run": {"data": {"type": "runs", "id": run}}});
        }
        json!({ "data": data })
    }

    /// Releases the own lock; the service may need time to take in the last state.
    async fn release(&self) -> Result<(), StoreError> {
        let api = &self.opening.workspaces.api;
        let mut pause = Duration::from_secs(1);
        for _ in 0..UNLOCK_ATTEMPTS {
            match api.post(&self.path("actions/unlock"), None).await {
                Err(e) if e.text == STILL_PENDING => {
                    tokio::time::sleep(pause).await;
                    pause = Duration::from_secs(3).min(pause * 2);
                }
                // An earlier attempt may have been carried out.
                Err(e) if e.retried && e.is_conflict() && e.text == "workspace already unlocked" => return Ok(()),
                other => return Ok(other.map(drop)?),
            }
        }
        Err(StoreError::new(STILL_PENDING))
    }
}

/// The outputs of a state as the service shows them.
fn outputs(state: &Json) -> Json {
    let outputs = state["outputs"].as_object();
    let one = |(name, output): (&String, &Json)| {
        let mut shown = Map::new();
        shown.insert("sensitive".to_owned(), output["sensitive"].as_bool().unwrap_or_default().into());
        for part in ["type", "value"] {
            shown.insert(part.to_owned(), output[part].clone());
        }
        (name.clone(), Json::Object(shown))
    };
    Json::Object(outputs.into_iter().flatten().map(one).collect())
}

#[async_trait]
impl StateStore for HcpStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts {
            snapshot_pause: self.snapshot_pause(),
            versions: Some(self),
            forced: Some(self),
            ..StoreFacts::remote(self.opening.journal.clone())
        }
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let api = &self.opening.workspaces.api;
        let (found, answer) = match api.get_whole(&self.path("current-state-version")).await {
            Ok(found) => found,
            Err(e) if e.is_not_found() => return Ok(None),
            Err(e) => return Err(StoreError::new(format!("error retrieving state: {e}"))),
        };
        self.note_interval(&answer);
        let address = text(&found["data"], "hosted-state-download-url");
        let state = api.download(address).await;
        let state = state.map_err(|e| StoreError::new(format!("error downloading state: {e}")))?;
        Ok((!state.is_empty()).then_some(state))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let done = self.create_version(&snapshot).await;
        self.upload_failed.store(done.is_err(), Ordering::SeqCst);
        done.map_err(|e| StoreError { text: format!("error uploading state: {e}"), ..e })?;
        self.forced.store(false, Ordering::SeqCst);
        Ok(())
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        let reason = format!("{REASON} {}", String::from_utf8_lossy(&info.to_json()));
        let api = &self.opening.workspaces.api;
        match api.post(&self.path("actions/lock"), Some(&json!({ "reason": reason }))).await {
            Ok(_) => {}
            Err(e) if e.is_conflict() => {
                let holder = self.holder().await;
                // The answer to an earlier attempt got lost: the lock is ours.
                if !(e.retried && holder.as_ref().is_some_and(|holder| holder.id == info.id)) {
                    let id = self.public_id();
                    let reason = format!("{e} (lock ID: \"{id}\")");
                    let holder = holder.unwrap_or_else(|| LockInfo { id, ..LockInfo::default() });
                    return Err(LockError { reason, holder: Some(holder), busy: true });
                }
            }
            Err(e) => return Err(LockError::new(e.text)),
        }
        self.upload_failed.store(false, Ordering::SeqCst);
        *self.held() = Some(info.clone());
        Ok(info.id.clone())
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let held = self.held().as_ref().map(|info| info.id.clone());
        if let Some(own) = held {
            if own != id {
                return Err(StoreError::lock_mismatch(id, &own));
            }
            if self.upload_failed.load(Ordering::SeqCst) {
                tracing::warn!("{PROGRAM} keeps the workspace locked: its state could not be uploaded");
                return Ok(());
            }
            self.release().await?;
            *self.held() = None;
            return Ok(());
        }
        let public = self.public_id();
        if id != public {
            match self.holder().await {
                Some(holder) if holder.id == id => {}
                Some(_) => return Err(StoreError::lock_mismatch(id, &public)),
                None if self.opening.workspace.locked => return Err(StoreError::lock_mismatch(id, &public)),
                None => return Err(StoreError::not_locked(id)),
            }
        }
        let api = &self.opening.workspaces.api;
        Ok(api.post(&self.path("actions/force-unlock"), None).await.map(drop)?)
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}

impl HcpStore {
    /// The shortest time between two snapshots of one run.
    fn snapshot_pause(&self) -> Duration {
        let asked = self.interval.load(Ordering::SeqCst);
        match self.opening.snapshots {
            Snapshots::Always => REMOTE_SNAPSHOT_PAUSE,
            Snapshots::WhenAsked if asked > 0 => REMOTE_SNAPSHOT_PAUSE.max(Duration::from_secs(asked)),
            _ => Duration::MAX,
        }
    }
}

impl ForcedWrites for HcpStore {
    fn force_next_write(&self) {
        self.forced.store(true, Ordering::SeqCst);
    }
}

#[async_trait]
impl Versions for HcpStore {
    async fn versions(&self, limit: usize) -> Result<Vec<Version>, StoreError> {
        let Opening { workspaces, workspace, .. } = &self.opening;
        let size = limit.to_string();
        let query = [
            ("filter[organization][name]", &*workspaces.organization),
            ("filter[workspace][name]", &*workspace.name),
            ("page[size]", &*size),
        ];
        let found = workspaces.api.get("state-versions", &query).await;
        let found = found.map_err(|e| StoreError::new(format!("error listing state versions: {e}")))?;
        let version = |one: &Json| Version { id: id(one).to_owned(), written: utc(text(one, "created-at")) };
        Ok(elements(&found["data"]).iter().take(limit).map(version).collect())
    }

    async fn version(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let api = &self.opening.workspaces.api;
        let found = match api.get(&format!("state-versions/{}", segment(id)), &[]).await {
            Ok(found) => found,
            Err(e) if e.is_not_found() => return Ok(None),
            Err(e) => return Err(StoreError::new(format!("error retrieving state version {id}: {e}"))),
        };
        let address = text(&found["data"], "hosted-state-download-url");
        if address.is_empty() {
            return Ok(None);
        }
        let state = api.download(address).await;
        let state = state.map_err(|e| StoreError::new(format!("error downloading state: {e}")))?;
        Ok((!state.is_empty()).then_some(state))
    }
}
