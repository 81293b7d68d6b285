//! The selections of the lock file, for commands that only show them.

use std::path::Path;

use crate::base::source::SourceFile;
use crate::model::addr;
use crate::model::deps::lock::{LOCK_FILE, Lock};

/// Providers with the versions selected, sorted; nothing where there is no lock file or it cannot be read.
pub fn selections() -> Vec<(addr::Provider, String)> {
    let Ok(text) = std::fs::read_to_string(Path::new(LOCK_FILE)) else { return Vec::new() };
    let (lock, _) = Lock::parse(SourceFile::new(LOCK_FILE, text));
    let mut all: Vec<_> = lock.providers.into_iter().map(|(p, locked)| (p, locked.version.to_string())).collect();
    all.sort_by_key(|(provider, _)| provider.to_string());
    all
}

/// This machine as providers' packages name it: `linux_amd64`.
pub fn platform() -> String {
    crate::install::package::platform()
}
