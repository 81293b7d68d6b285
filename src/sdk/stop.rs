//! The request to stop: a token that all calls of one provider share.

use std::sync::Arc;

use tokio::sync::watch;

/// A token that only ever moves forward.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Stop {
    requested: Arc<watch::Sender<bool>>,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { requested: Arc::new(watch::Sender::new(false)) }
    }
}

impl Stop {
    pub fn new() -> Stop {
        Stop::default()
    }

    pub fn stop(&self) {
        self.requested.send_replace(true);
    }

    pub fn is_stopping(&self) -> bool {
        *self.requested.borrow()
    }

    /// Completes once stopped.
    pub async fn stopping(&self) {
        // The sender lives in self, so waiting cannot fail.
        let _ = self.requested.subscribe().wait_for(|requested| *requested).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stopping_wakes_those_who_wait() {
        let stop = Stop::new();
        let waiting = tokio::spawn({
            let stop = stop.clone();
            async move { stop.stopping().await }
        });
        assert!(!stop.is_stopping());
        stop.stop();
        waiting.await.unwrap();
        assert!(stop.is_stopping());
    }
}
