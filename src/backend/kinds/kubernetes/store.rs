//! The state of one workspace: a secret, or several if the compressed state is too large for one. Its lock is a lease that
//! names the holder.
//!
//! Owns these formats, which are the reference's. Parts are only replaced in the versions that were last seen, so that two
//! that write at the same time do not mix theirs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use base::name::COMMAND;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::client::{Api, ObjectKind, Refusal};
use crate::contract::{FirstState, LockError, LockInfo, StateStore, StoreError, StoreFacts};
use crate::objects::gzip::{compress, decompress};
use crate::objects::watched_lock::{LockSlot, WatchedLock};

pub const STATE: &str = "tfstate";
pub const SUFFIX: &str = "tfstateSecretSuffix";
pub const WORKSPACE: &str = "tfstateWorkspace";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const LOCK_INFO: &str = "app.terraform.io/lock-info";

/// Bytes of a part.
const PART: usize = 1024 * 1024;
/// How often a held lock is looked at.
const LOOK: Duration = Duration::from_secs(10);

/// What the objects of one state are called.
pub struct ObjectNames {
    namespace: String,
    /// Of the first part.
    name: String,
    labels: BTreeMap<String, String>,
}

impl ObjectNames {
    pub fn new(namespace: &str, workspace: &str, suffix: &str, more: &BTreeMap<String, String>) -> ObjectNames {
        let own = [(STATE, "true"), (SUFFIX, suffix), (WORKSPACE, workspace), (MANAGED_BY, "terraform")];
        let mut labels: BTreeMap<_, _> = own.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        labels.extend(more.clone());
        ObjectNames { namespace: namespace.into(), name: format!("{STATE}-{workspace}-{suffix}"), labels }
    }

    /// All parts have these labels.
    pub fn selector(&self) -> String {
        self.labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
    }

    pub fn lease(&self) -> String {
        format!("lock-{}", self.name)
    }

    fn name(&self, part: usize) -> String {
        if part == 0 { self.name.clone() } else { format!("{}-part-{part}", self.name) }
    }

    /// Number and name of a secret that is a part of this state.
    pub fn part(&self, secret: &Value) -> Option<(usize, String)> {
        let name = secret["metadata"]["name"].as_str()?;
        let number = match name.strip_prefix(&self.name)? {
            "" => 0,
            rest => rest.strip_prefix("-part-")?.parse().ok()?,
        };
        Some((number, name.to_owned()))
    }

    fn check(&self) -> Result<(), StoreError> {
        check_name(&self.name)
    }

    fn object(&self, kind: &str, name: &str) -> Value {
        json!({
            "apiVersion": if kind == "Lease" { "coordination.k8s.io/v1" } else { "v1" },
            "kind": kind,
            "metadata": { "name": name, "namespace": self.namespace, "labels": self.labels },
        })
    }
}

/// What names of objects have to be like.
fn check_name(name: &str) -> Result<(), StoreError> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        let ends = bytes.first().zip(bytes.last());
        ends.is_some_and(|(a, z)| is_letter(*a) && is_letter(*z)) && bytes.iter().all(|b| is_letter(*b) || *b == b'-')
    };
    let mut problems = Vec::new();
    if name.len() > 253 {
        problems.push("must be no more than 253 characters");
    }
    if !name.split('.').all(is_label) {
        problems.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        );
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(StoreError::new(format!(
        "the secret name {name} is invalid, {}\nThis is a requirement for Kubernetes secret names. \nThe workspace name and key must adhere to Kubernetes naming conventions.",
        problems.join(",")
    )))
}

pub struct KubernetesStore {
    api: Api,
    place: Arc<ObjectNames>,
    journal: PathBuf,
    /// The metadata of the parts as last seen, in order. None: not known.
    parts: Mutex<Option<Vec<Value>>>,
    slot: LockSlot,
}

impl KubernetesStore {
    pub fn new(api: Api, place: ObjectNames, journal: PathBuf) -> KubernetesStore {
        KubernetesStore { api, place: Arc::new(place), journal, parts: Mutex::default(), slot: LockSlot::default() }
    }

    fn known_parts(&self) -> MutexGuard<'_, Option<Vec<Value>>> {
        self.parts.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The secrets of the state, in order.
    async fn secrets(&self, content: bool) -> Result<Vec<Value>, StoreError> {
        let found = self.api.list(ObjectKind::Secrets, &self.place.selector(), content).await?;
        let numbered = found.into_iter().filter_map(|secret| Some((self.place.part(&secret)?.0, secret)));
        let secrets: BTreeMap<usize, Value> = numbered.collect();
        if let Some(lost) = (0..secrets.len()).find(|number| content && !secrets.contains_key(number)) {
            return Err(StoreError::damaged(format!(
                "The state is stored in several secrets, and the secret {:?} of the namespace {:?} is missing. Restore it, or \
                 remove all secrets of this state and write a whole one with \"{COMMAND} state push\".",
                self.place.name(lost),
                self.place.namespace
            )));
        }
        *self.known_parts() = Some(secrets.values().map(|secret| secret["metadata"].clone()).collect());
        Ok(secrets.into_values().collect())
    }

    /// Makes the first part with the first state. One that another process makes meanwhile is as good.
    pub async fn create_if_missing(&self, first: &FirstState) -> Result<(), StoreError> {
        if !self.secrets(false).await?.is_empty() {
            return Ok(());
        }
        self.place.check()?;
        let payload = compress(&first.content()?)?;
        *self.known_parts() = None;
        match self.api.create(ObjectKind::Secrets, &self.secret(0, &payload, None)).await {
            Ok(_) => Ok(()),
            Err(refusal) if refusal.status == StatusCode::CONFLICT => Ok(()),
            Err(refusal) => Err(refusal.error),
        }
    }

    fn secret(&self, part: usize, payload: &[u8], metadata: Option<&Value>) -> Value {
        let mut secret = self.place.object("Secret", &self.place.name(part));
        match metadata {
            Some(metadata) => secret["metadata"] = metadata.clone(),
            None => secret["metadata"]["annotations"] = json!({ "encoding": "gzip" }),
        }
        secret["data"] = json!({ STATE: STANDARD.encode(payload) });
        secret
    }

    /// Stores one part; gives its metadata.
    async fn store_part(&self, part: usize, payload: &[u8], old: Option<&Value>) -> Result<Value, StoreError> {
        let name = self.place.name(part);
        let secret = self.secret(part, payload, old);
        let sent = match old {
            Some(_) => self.api.replace(ObjectKind::Secrets, &name, &secret).await,
            None => self.api.create(ObjectKind::Secrets, &secret).await,
        };
        let mut stored = match sent {
            Ok(stored) => stored,
            // The answer to an earlier attempt was lost, but that attempt may have done it.
            Err(refusal) if refusal.retried && refusal.status == StatusCode::CONFLICT => {
                let now = self.api.get(ObjectKind::Secrets, &name).await?;
                now.filter(|now| now["data"] == secret["data"]).ok_or(refusal.error)?
            }
            Err(refusal) => return Err(refusal.error),
        };
        Ok(stored["metadata"].take())
    }

    /// Writes the parts of a payload over those that there are, and removes what is left of those.
    async fn store_all(&self, payload: &[u8], old: &[Value]) -> Result<(), StoreError> {
        let mut stored = Vec::new();
        for (number, part) in payload.chunks(PART).enumerate() {
            stored.push(self.store_part(number, part, old.get(number)).await?);
        }
        for number in (stored.len()..old.len()).rev() {
            self.api.delete(ObjectKind::Secrets, &self.place.name(number)).await?;
        }
        *self.known_parts() = Some(stored);
        Ok(())
    }

    /// The lease, and the ID of the lock that it stands for.
    async fn lease(&self) -> Result<Option<(Value, Option<String>)>, StoreError> {
        let lease = self.api.get(ObjectKind::Leases, &self.place.lease()).await?;
        Ok(lease.map(|lease| {
            let holder = holder(&lease);
            (lease, holder)
        }))
    }

    /// Tries to acquire the lock once. None: another process was faster; try again.
    async fn try_lock(&self, info: &LockInfo) -> Result<Option<()>, LockError> {
        let failed = |error: StoreError| LockError::new(error.text);
        let sent = match self.lease().await.map_err(failed)? {
            // By an attempt whose answer was lost.
            Some((_, Some(id))) if id == info.id => return Ok(Some(())),
            Some((lease, Some(_))) => {
                let reason = "the state is already locked by another terraform client".to_owned();
                return Err(LockError { reason, holder: lock_info(&lease), busy: true });
            }
            Some((mut lease, None)) => {
                hold(&mut lease, info);
                self.api.replace(ObjectKind::Leases, &self.place.lease(), &lease).await
            }
            None => {
                let mut lease = self.place.object("Lease", &self.place.lease());
                hold(&mut lease, info);
                self.api.create(ObjectKind::Leases, &lease).await
            }
        };
        match sent {
            Ok(_) => Ok(Some(())),
            Err(Refusal { status: StatusCode::CONFLICT | StatusCode::NOT_FOUND, .. }) => Ok(None),
            Err(refusal) => Err(failed(refusal.error)),
        }
    }

    /// Takes the holder's name from the lease, if it is that one.
    async fn release(&self, id: &str) -> Result<(), StoreError> {
        // A conflict comes from another process, or from an earlier attempt of this one whose response was lost.
        for attempt in 1.. {
            let found = self.lease().await?;
            let Some((mut lease, Some(holder))) = found else {
                return if attempt > 1 { Ok(()) } else { Err(StoreError::lock_gone("state is already unlocked")) };
            };
            if holder != id {
                let info = lock_info(&lease).map(|info| format!("\n{info}")).unwrap_or_default();
                return Err(StoreError::lock_gone(format!("lock id {id:?} does not match existing lock{info}")));
            }
            if let Some(spec) = lease["spec"].as_object_mut() {
                spec.remove("holderIdentity");
            }
            if let Some(annotations) = lease["metadata"]["annotations"].as_object_mut() {
                annotations.remove(LOCK_INFO);
            }
            match self.api.replace(ObjectKind::Leases, &self.place.lease(), &lease).await {
                Ok(_) => return Ok(()),
                Err(refusal) if refusal.status == StatusCode::CONFLICT && attempt < 5 => {}
                Err(refusal) => return Err(refusal.error),
            }
        }
        Ok(())
    }
}

fn holder(lease: &Value) -> Option<String> {
    lease["spec"]["holderIdentity"].as_str().filter(|holder| !holder.is_empty()).map(str::to_owned)
}

fn lock_info(lease: &Value) -> Option<LockInfo> {
    LockInfo::from_json(lease["metadata"]["annotations"][LOCK_INFO].as_str()?.as_bytes())
}

fn hold(lease: &mut Value, info: &LockInfo) {
    lease["spec"]["holderIdentity"] = json!(info.id);
    lease["metadata"]["annotations"][LOCK_INFO] = json!(String::from_utf8_lossy(&info.to_json()));
}

/// Polls the lease; returns the reason when another process holds it.
async fn keep(api: Api, name: String, id: String) -> String {
    loop {
        tokio::time::sleep(LOOK).await;
        match api.get(ObjectKind::Leases, &name).await {
            Ok(Some(lease)) if holder(&lease).as_deref() == Some(&id) => {}
            // Leases do not expire: a server that cannot be asked has not given it away.
            Err(error) => tracing::warn!("backend/kubernetes: the lease cannot be looked at: {error}"),
            Ok(lease) => return no_longer(lease.as_ref()),
        }
    }
}

fn no_longer(lease: Option<&Value>) -> String {
    match lease.and_then(holder) {
        Some(other) => format!("the lease is held by {other:?}"),
        None => "the lease was released".to_owned(),
    }
}

#[async_trait]
impl StateStore for KubernetesStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts::remote(self.journal.clone())
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let mut payload = Vec::new();
        for secret in self.secrets(true).await? {
            let Some(data) = secret["data"][STATE].as_str() else { return Ok(None) };
            let part = STANDARD.decode(data).map_err(|_| StoreError::damaged("the secret does not hold base64"))?;
            payload.extend_from_slice(&part);
        }
        if payload.is_empty() {
            return Ok(None);
        }
        Ok(Some(decompress(&payload)?).filter(|plain| !plain.is_empty()))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        self.place.check()?;
        if let Some(held) = self.slot.get() {
            held.check()?;
            let lease = self.api.get(ObjectKind::Leases, &self.place.lease()).await?;
            if lease.as_ref().and_then(holder).as_deref() != Some(&held.id) {
                return Err(held.report(no_longer(lease.as_ref())));
            }
        }
        let known = self.known_parts().take();
        let old = match known {
            Some(parts) => parts,
            None => {
                self.secrets(false).await?;
                self.known_parts().take().unwrap_or_default()
            }
        };
        self.store_all(&compress(&snapshot)?, &old).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        self.place.check().map_err(|error| LockError::new(error.text))?;
        for _ in 0..5 {
            if self.try_lock(info).await?.is_some() {
                let keep = keep(self.api.clone(), self.place.lease(), info.id.clone());
                self.slot.put(WatchedLock::new(info.id.clone(), keep));
                *self.known_parts() = None;
                return Ok(info.id.clone());
            }
        }
        Err(LockError { busy: true, ..LockError::new("the lease changes all the time") })
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        if self.slot.of_id(id)?.is_some() {
            self.slot.clear();
        }
        self.release(id).await
    }

    async fn lock_lost(&self) -> StoreError {
        self.slot.lost().await
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_as_the_server_does() {
        for name in ["tfstate-default-x", "a.b", &"a".repeat(253)] {
            assert_eq!(check_name(name), Ok(()));
        }
        for name in ["tfstate-a_b-x", "tfstate-A-x", "tfstate--", "a..b", "", &"a".repeat(254)] {
            assert!(check_name(name).unwrap_err().text.contains("is invalid"), "{name}");
        }
    }

    #[test]
    fn chunks_are_distinguished_from_other_secrets() {
        let place = ObjectNames::new("n", "w", "s", &BTreeMap::from([("own".into(), "label".into())]));
        let part = |name: &str| place.part(&json!({ "metadata": { "name": name } })).map(|(number, _)| number);
        assert_eq!(part("tfstate-w-s"), Some(0));
        assert_eq!(part("tfstate-w-s-part-12"), Some(12));
        assert_eq!((part("tfstate-w-s-other"), part("tfstate-v-s"), part("tfstate-w-s-part-x")), (None, None, None));
        let expected =
            "app.kubernetes.io/managed-by=terraform,own=label,tfstate=true,tfstateSecretSuffix=s,tfstateWorkspace=w";
        assert_eq!(place.selector(), expected);
    }
}
