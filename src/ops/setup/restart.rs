//! Records that a command must start again because it used outdated schemas.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the command has to start again: a cached schema was outdated.
#[derive(Debug, Default)]
pub struct Restart(AtomicBool);

impl Restart {
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
