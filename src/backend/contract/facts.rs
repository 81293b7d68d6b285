//! What a store is like, and what else it can do.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::error::StoreError;
use super::versions::Versions;

/// The pause between two snapshots of one run where each is sent over a network, as long as the reference's.
pub const REMOTE_SNAPSHOT_PAUSE: Duration = Duration::from_secs(20);

/// What a store is like, and what it can do besides keeping a state.
#[derive(Clone)]
pub struct StoreFacts<'s> {
    /// Where on this machine the journal of a run belongs.
    pub journal: PathBuf,
    /// The first and the longest pause between two attempts to take a busy lock.
    pub lock_pauses: RangeInclusive<Duration>,
    /// True if a lock can only be released by the process that holds it.
    pub locks_are_of_processes: bool,
    /// The file of this machine that the state is in, if it is in one: two stores with one file are the same place.
    pub state_file: Option<PathBuf>,
    /// True if states are files of this machine: then their history may be as readable as they are, encrypted ones are laid out for
    /// people, and the journal is not what is left of a write that was refused.
    pub keeps_files: bool,
    /// The shortest time between two snapshots of one run: stores that others pay for are not written to every second.
    pub snapshot_pause: Duration,
    /// True if what is written does not replace what is read, so that even an unchanged state must be written.
    pub writes_elsewhere: bool,
    /// Backups of the state before a run.
    pub backups: Option<&'s dyn FileBackups>,
    /// Checks of the store itself that can be turned off.
    pub forced: Option<&'s dyn ForcedWrites>,
    /// Earlier snapshots, if the store itself keeps them. They are as they were stored: encrypted, if states are.
    pub versions: Option<&'s dyn Versions>,
}

impl StoreFacts<'_> {
    /// Of a store on this machine that can do nothing else.
    pub fn local(journal: PathBuf) -> StoreFacts<'static> {
        StoreFacts {
            journal,
            lock_pauses: Duration::from_secs(1)..=Duration::from_secs(16),
            locks_are_of_processes: false,
            state_file: None,
            keeps_files: false,
            snapshot_pause: Duration::ZERO,
            writes_elsewhere: false,
            backups: None,
            forced: None,
            versions: None,
        }
    }

    /// Of a store behind a network that can do nothing else.
    pub fn remote(journal: PathBuf) -> StoreFacts<'static> {
        StoreFacts { snapshot_pause: REMOTE_SNAPSHOT_PAUSE, ..StoreFacts::local(journal) }
    }
}

/// What to keep of what was stored before it is replaced, given both; none: nothing.
pub type BackupContent = Arc<dyn Fn(Vec<u8>, &[u8]) -> Result<Option<Vec<u8>>, StoreError> + Send + Sync>;

/// Backups that a store makes of what it replaces.
pub trait FileBackups: Send + Sync {
    /// The run begins with what is stored now: the first write from here on keeps a backup of that.
    fn restart(&self);

    /// How backups are made from now on.
    fn make_by(&self, content: BackupContent);
}

/// Stores that refuse a state of another lineage, or an older one.
pub trait ForcedWrites: Send + Sync {
    /// The next state may be of another lineage, or older than the stored one.
    fn force_next_write(&self);
}
