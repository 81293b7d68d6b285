//! Records that a command used outdated schemas.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the command has to start anew, because it was misled by the cache.
#[derive(Debug, Default)]
pub struct Misled(AtomicBool);

impl Misled {
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The answer, once.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}
