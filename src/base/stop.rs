//! Being asked to stop: running, then stopping (finish what runs, start nothing), then killed (abandon what runs).
//!
//! Owns the token that work looks at and the signals that move it. Never decides what stopping means.

use std::sync::Arc;

use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Running,
    Stopping,
    Killed,
}

/// A token that all the work of one command shares; it only ever moves forward.
#[derive(Clone, Debug)]
pub struct Stop {
    stage: Arc<watch::Sender<Stage>>,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { stage: Arc::new(watch::Sender::new(Stage::Running)) }
    }
}

impl Stop {
    pub fn new() -> Stop {
        Stop::default()
    }

    pub fn stage(&self) -> Stage {
        *self.stage.borrow()
    }

    /// True once asked to stop, gently or not.
    pub fn is_stopping(&self) -> bool {
        self.stage() >= Stage::Stopping
    }

    pub fn is_killed(&self) -> bool {
        self.stage() == Stage::Killed
    }

    /// Asks to finish what runs and start nothing.
    pub fn stop(&self) {
        self.advance(Stage::Stopping);
    }

    /// Asks to abandon what runs.
    pub fn kill(&self) {
        self.advance(Stage::Killed);
    }

    fn advance(&self, to: Stage) {
        self.stage.send_if_modified(|stage| {
            let moves = *stage < to;
            *stage = (*stage).max(to);
            moves
        });
    }

    /// Completes once the stage is at least `Stopping`.
    pub async fn stopping(&self) {
        self.reached(Stage::Stopping).await;
    }

    /// Completes once the stage is `Killed`.
    pub async fn killed(&self) {
        self.reached(Stage::Killed).await;
    }

    async fn reached(&self, stage: Stage) {
        // The sender lives in self, so waiting cannot fail.
        let _ = self.stage.subscribe().wait_for(|now| *now >= stage).await;
    }
}

/// From now on the first interrupt (or termination) signal stops and the second one kills; `heard` is called after each
/// with the stage that it led to. Needs a running tokio runtime.
pub fn listen(stop: Stop, heard: impl Fn(Stage) + Send + 'static) -> std::io::Result<()> {
    let mut signals = Signals::new()?;
    tokio::spawn(async move {
        while signals.next().await {
            // Told first: work that stops at once may end the process.
            match stop.stage() {
                Stage::Running => {
                    heard(Stage::Stopping);
                    stop.stop();
                }
                Stage::Stopping | Stage::Killed => {
                    heard(Stage::Killed);
                    stop.kill();
                }
            }
        }
    });
    Ok(())
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) -> bool {
        tokio::select! {
            got = self.interrupt.recv() => got.is_some(),
            got = self.terminate.recv() => got.is_some(),
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        Ok(Signals)
    }

    async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn moves_forward_only_and_wakes_the_waiting() {
        let stop = Stop::new();
        let waiting = tokio::spawn({
            let stop = stop.clone();
            async move {
                stop.stopping().await;
                stop.stage()
            }
        });
        assert!(!stop.is_stopping());
        stop.stop();
        assert_eq!(waiting.await.unwrap(), Stage::Stopping);
        stop.kill();
        stop.stop();
        assert!(stop.is_killed());
        stop.killed().await;
    }
}
