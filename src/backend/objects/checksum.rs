//! Checksums of states that are recorded beside them, in a table: what is read must match, at the latest when a service has caught up.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use gotext::hex::hex;
use md5::{Digest, Md5};
use tokio::time::Instant;

use crate::contract::StoreError;

/// How long a state may take to match the checksum that is recorded for it.
const CONSISTENCY: Duration = if cfg!(test) { Duration::from_millis(100) } else { Duration::from_secs(10) };
const CONSISTENCY_PAUSE: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(2) };

/// The attribute with the checksum of the state, which is the reference's, and that of a state that is being uploaded.
pub const DIGEST: &str = "Digest";
pub const PENDING: &str = "PendingDigest";

/// The MD5 of a state, as it is recorded.
pub fn checksum(content: &[u8]) -> String {
    hex(&Md5::digest(content))
}

/// The checksums that are recorded for a state: that of the state, and that of one that is being uploaded, or was when a process
/// ended. None if there is none, or it cannot be read.
#[derive(Clone, Debug, Default)]
pub struct RecordedChecksums {
    pub current: Option<String>,
    pub pending: Option<String>,
}

impl RecordedChecksums {
    /// Only what can be a checksum counts.
    pub fn of(current: Option<String>, pending: Option<String>) -> RecordedChecksums {
        let valid = |text: &String| text.len() == 32;
        RecordedChecksums { current: current.filter(valid), pending: pending.filter(valid) }
    }

    fn allow(&self, actual: &str) -> bool {
        let is_actual = |recorded: &String| recorded.eq_ignore_ascii_case(actual);
        self.current.as_ref().is_none_or(is_actual) || self.pending.as_ref().is_some_and(is_actual)
    }
}

/// The checksum of the content that was read or written last.
#[derive(Default)]
pub struct KnownChecksum(Mutex<Option<String>>);

impl KnownChecksum {
    fn known(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn get(&self) -> Option<String> {
        self.known().clone()
    }

    pub fn set(&self, checksum: String) {
        *self.known() = Some(checksum).filter(|checksum| !checksum.is_empty());
    }

    /// Reads until the content matches what is recorded, for a while. `stale` is the error for an actual checksum (empty: there is no
    /// state) and a recorded one.
    pub async fn read<F>(
        &self,
        read: impl Fn() -> F,
        stale: impl Fn(&str, &str) -> StoreError,
    ) -> Result<Option<Vec<u8>>, StoreError>
    where
        F: Future<Output = (Result<Option<Vec<u8>>, StoreError>, RecordedChecksums)>,
    {
        let deadline = Instant::now() + CONSISTENCY;
        loop {
            let (content, recorded) = read().await;
            let content = content?;
            let actual = content.as_deref().map(checksum).unwrap_or_default();
            if recorded.allow(&actual) {
                self.set(actual);
                return Ok(content);
            }
            if Instant::now() >= deadline {
                return Err(stale(&actual, &recorded.current.unwrap_or_default()));
            }
            tokio::time::sleep(CONSISTENCY_PAUSE).await;
        }
    }
}
