//! `state history`: earlier snapshots of the state, as this machine and the store keep them.

use std::fmt;

use backend::contract::versions::Version;
use backend::durable::history::{HistoryEntry, SnapshotHeader, identity};
use backend::durable::sealing::opened;
use backend::{StateAccess, StateSession, load};
use base::diag::{Diagnostic, Diagnostics};
use encryption::is_sealed;
use futures_util::StreamExt;
use model::state::StateMeta;

use crate::backends::read_state;
use crate::interface::options::StateOptions;
use crate::setup::Setup;

/// The snapshots of a workspace.
#[derive(Clone, Debug)]
pub struct Listing {
    pub workspace: String,
    /// None: there is no state now.
    pub current: Option<StateMeta>,
    /// The newest first.
    pub snapshots: Vec<Snapshot>,
    /// What the store keeps and could not be read.
    pub warnings: Diagnostics,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub serial: u64,
    pub lineage: String,
    /// RFC 3339 in UTC.
    pub written: String,
    /// What the lock was taken for.
    pub operation: String,
    /// Bytes of the state file.
    pub size: u64,
    pub is_encrypted: bool,
    /// Lineage and serial are those of the state now.
    pub is_current: bool,
    /// The store's ID of it; none: it is on this machine.
    pub version: Option<String>,
}

impl Snapshot {
    fn of(header: SnapshotHeader, current: Option<&StateMeta>) -> Snapshot {
        let SnapshotHeader { serial, lineage, written, operation, size, sealed: is_encrypted, .. } = header;
        let is_current = is_of(current, serial, &lineage);
        Snapshot { serial, lineage, written, operation, size, is_encrypted, is_current, version: None }
    }
}

fn is_of(current: Option<&StateMeta>, serial: u64, lineage: &str) -> bool {
    current.is_some_and(|meta| meta.serial == serial && meta.lineage == lineage)
}

/// A snapshot and where it is.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub snapshot: Snapshot,
    pub place: SnapshotPlace,
}

#[derive(Clone, Debug)]
pub enum SnapshotPlace {
    Machine(HistoryEntry),
    /// A version's ID.
    Store(String),
}

impl fmt::Display for SnapshotPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotPlace::Machine(entry) => write!(f, "{}", entry.path.display()),
            SnapshotPlace::Store(id) => write!(f, "the version {id} of the store"),
        }
    }
}

pub const NOT_LISTED: &str = "Failed to list the versions of the state";
const HISTORY_OFF: &str = "No history is kept";
/// How many versions are read at a time.
const SIDE_BY_SIDE: usize = 8;

/// What this machine keeps of the workspace in use.
pub async fn list_of_machine(setup: &Setup) -> Result<Vec<Snapshot>, Diagnostics> {
    let opened = read_state::open(setup, &StateOptions::default()).await?;
    Ok(of_machine(&opened.store, None)?.into_iter().map(|one| one.snapshot).collect())
}

/// All that is kept of the workspace in use.
pub async fn list(setup: &Setup) -> Result<Listing, Diagnostics> {
    let opened = read_state::open(setup, &StateOptions::default()).await?;
    let loaded = load(&opened.store, StateAccess::ReadOnly).await?;
    let current = loaded.file.map(|file| file.meta);
    let mut all = of_machine(&opened.store, current.as_ref())?;
    let mut warnings = Diagnostics::new();
    match of_store(&opened.store, current.as_ref()).await {
        Ok(stored) => {
            if let Some(why) = stored.unread_text() {
                warnings.warning("Versions of the state could not be read", why);
            }
            all = merged(all, stored.candidates);
        }
        Err(why) => warnings.warning(NOT_LISTED, format!("{why}\n\nOnly the snapshots of this machine are listed.")),
    }
    let snapshots = all.into_iter().map(|one| one.snapshot).collect();
    Ok(Listing { workspace: setup.workdir.workspace.clone(), current, snapshots, warnings })
}

/// What this machine keeps, without a request.
pub fn of_machine(store: &StateSession, current: Option<&StateMeta>) -> Result<Vec<Candidate>, Diagnostics> {
    let Some(history) = store.history() else {
        let detail = "The environment variable TERRANE_STATE_HISTORY is 0, so that no snapshots are kept.";
        return Err(Diagnostic::error(HISTORY_OFF, detail).into());
    };
    let entries =
        history.entries().map_err(|e| Diagnostic::error("Failed to read the state history", e.to_string()))?;
    let candidate = |entry: HistoryEntry| {
        let snapshot = Snapshot::of(entry.header.clone(), current);
        Candidate { snapshot, place: SnapshotPlace::Machine(entry) }
    };
    Ok(entries.into_iter().map(candidate).collect())
}

/// What the store keeps.
#[derive(Default)]
pub struct Stored {
    pub candidates: Vec<Candidate>,
    /// Why versions could not be read.
    unread: Vec<String>,
}

impl Stored {
    /// None: all versions could be read.
    pub fn unread_text(&self) -> Option<String> {
        let first = self.unread.first()?;
        Some(format!(
            "{} of the versions that the store keeps could not be read. The newest of them: {first}",
            self.unread.len()
        ))
    }
}

/// What the store keeps, if it keeps any: it knows neither serials nor lineages, so that each version is read.
pub async fn of_store(store: &StateSession, current: Option<&StateMeta>) -> Result<Stored, String> {
    let mut stored = Stored::default();
    let (Some(history), Some(versions)) = (store.history(), store.facts().versions) else { return Ok(stored) };
    let listed = versions.versions(history.limit()).await.map_err(|e| e.to_string())?;
    let reading = listed.into_iter().map(|version| read(store, version, current));
    let found: Vec<_> = futures_util::stream::iter(reading).buffered(SIDE_BY_SIDE).collect().await;
    for read in found {
        match read {
            // The store also keeps what was written twice: the newest is enough.
            Ok(Some(candidate)) if !stored.candidates.iter().any(|known| is_same(known, &candidate)) => {
                stored.candidates.push(candidate);
            }
            Ok(_) => {}
            Err(why) => stored.unread.push(why),
        }
    }
    Ok(stored)
}

/// A version with what its content tells. None: it holds no state, or is gone.
async fn read(
    store: &StateSession,
    version: Version,
    current: Option<&StateMeta>,
) -> Result<Option<Candidate>, String> {
    let found = content(store, &version.id).await.map_err(|why| format!("version {}: {why}", version.id))?;
    let Some((content, is_encrypted)) = found else { return Ok(None) };
    let Some((serial, lineage)) = identity(&content) else { return Ok(None) };
    let is_current = is_of(current, serial, &lineage);
    let snapshot = Snapshot {
        serial,
        lineage,
        written: version.written,
        operation: String::new(),
        size: content.len() as u64,
        is_encrypted,
        is_current,
        version: Some(version.id.clone()),
    };
    Ok(Some(Candidate { snapshot, place: SnapshotPlace::Store(version.id) }))
}

/// A version's state file, and whether it is encrypted in the store.
async fn content(store: &StateSession, id: &str) -> Result<Option<(Vec<u8>, bool)>, String> {
    let Some(versions) = store.facts().versions else { return Ok(None) };
    let Some(stored) = versions.version(id).await.map_err(|e| e.to_string())? else { return Ok(None) };
    let is_encrypted = is_sealed(&stored);
    let plain = match store.cipher() {
        Some(cipher) => opened(cipher, stored).await.map_err(|e| e.to_string())?.plain,
        None if is_encrypted => return Err("it is encrypted, and the configuration has no encryption for it".into()),
        None => stored,
    };
    Ok(Some((plain, is_encrypted)))
}

fn is_same(one: &Candidate, other: &Candidate) -> bool {
    (one.snapshot.serial, &one.snapshot.lineage) == (other.snapshot.serial, &other.snapshot.lineage)
}

/// Both, the newest first; what is in both is listed as this machine has it.
fn merged(machine: Vec<Candidate>, stored: Vec<Candidate>) -> Vec<Candidate> {
    let is_new = |one: &Candidate| !machine.iter().any(|known| is_same(known, one));
    let new: Vec<Candidate> = stored.into_iter().filter(is_new).collect();
    let mut all = machine;
    all.extend(new);
    // Where the times are equal, the order stays.
    all.sort_by(|one, other| other.snapshot.written.cmp(&one.snapshot.written));
    all
}

impl Candidate {
    /// The snapshot as a state file that is not encrypted.
    pub async fn content(&self, store: &StateSession) -> Result<Vec<u8>, String> {
        match (&self.place, store.history()) {
            (SnapshotPlace::Machine(entry), Some(history)) => history.snapshot(entry).await.map_err(|e| e.to_string()),
            (SnapshotPlace::Machine(_), None) => Err(HISTORY_OFF.into()),
            (SnapshotPlace::Store(id), _) => {
                let found = content(store, id).await?;
                found.map(|(content, _)| content).ok_or_else(|| format!("{} is gone", self.place))
            }
        }
    }
}

pub fn unreadable(why: String) -> Diagnostics {
    Diagnostic::error("Failed to read the snapshot", why).into()
}
