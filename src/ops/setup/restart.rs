//! Commands that start again because they used outdated schemas.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the command has to start again: a cached schema was outdated.
#[derive(Debug, Default)]
pub struct Restart(AtomicBool);

impl Restart {
    /// Asks for another attempt.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True if the attempt does not count: its results are not to be kept or shown.
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the result of the first attempt that does not ask for another one.
    pub async fn repeated<T, F: Future<Output = T>>(&self, mut attempt: impl FnMut() -> F) -> T {
        loop {
            let result = attempt().await;
            if !self.0.swap(false, Ordering::Relaxed) {
                return result;
            }
        }
    }
}
