//! Being asked to stop: running, then stopping (finish what runs, start nothing), then killed (abandon what runs).
//!
//! Owns the token that work looks at and the signals that move it. Never decides what stopping means.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// The same signal again within this time is no second wish: a terminal and a program around this one pass on the same key press.
const ECHO: Duration = Duration::from_millis(100);

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

/// Handles signals from now on: the first one (interrupt, termination or closed terminal) stops, the second kills. `report` is called
/// before each of them, with the new stage. Needs a running tokio runtime.
pub fn listen(stop: Stop, report: impl Fn(Stage) + Send + 'static) -> std::io::Result<()> {
    let mut signals = Signals::new()?;
    tokio::spawn(async move {
        let mut first = None;
        while let Some(kind) = signals.next().await {
            if is_echo(first, kind) {
                continue;
            }
            first.get_or_insert_with(|| (kind, Instant::now()));
            // Told first: work that stops at once may end the process.
            match stop.stage() {
                Stage::Running => {
                    report(Stage::Stopping);
                    stop.stop();
                }
                Stage::Stopping | Stage::Killed => {
                    report(Stage::Killed);
                    stop.kill();
                }
            }
        }
    });
    Ok(())
}

/// Whether a signal only repeats the first one.
fn is_echo(first: Option<(StopSignal, Instant)>, kind: StopSignal) -> bool {
    first.is_some_and(|(first, heard)| first == kind && heard.elapsed() < ECHO)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopSignal {
    Interrupt,
    Terminate,
    HangUp,
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` where closed terminals are to be ignored, as under `nohup`.
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        let hang_up = if is_ignored(libc::SIGHUP) { None } else { Some(signal(SignalKind::hangup())?) };
        let [interrupt, terminate] = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
        Ok(Signals { interrupt, terminate, hang_up })
    }

    async fn next(&mut self) -> Option<StopSignal> {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            got = self.interrupt.recv() => got.map(|()| StopSignal::Interrupt),
            got = self.terminate.recv() => got.map(|()| StopSignal::Terminate),
            got = hang_up => got.map(|()| StopSignal::HangUp),
        }
    }
}

#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: a zeroed sigaction is a valid one to be filled in; without a new action nothing changes.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Turns the signal of the file size limit into an error of the write, which is reported as a full disk is. What we
/// start gets the signal as before: a handler does not outlive `exec`.
#[cfg(unix)]
pub fn survive_file_size_limit() {
    extern "C" fn nothing(_: i32) {}
    // SAFETY: the handler does nothing at all, and zeroes stand for no flags and no other signals blocked.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut());
    }
}

#[cfg(not(unix))]
pub fn survive_file_size_limit() {}

/// The events of the console. The system ends the process a few seconds after the last two.
#[cfg(windows)]
struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
    break_key: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
        Ok(Signals { interrupt: ctrl_c()?, break_key: ctrl_break()?, close: ctrl_close()?, shutdown: ctrl_shutdown()? })
    }

    async fn next(&mut self) -> Option<StopSignal> {
        tokio::select! {
            got = self.interrupt.recv() => got.map(|()| StopSignal::Interrupt),
            got = self.break_key.recv() => got.map(|()| StopSignal::Terminate),
            got = self.close.recv() => got.map(|()| StopSignal::HangUp),
            got = self.shutdown.recv() => got.map(|()| StopSignal::Terminate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_signal_at_once_is_an_echo() {
        let now = Instant::now();
        let earlier = now.checked_sub(ECHO).unwrap();
        for (first, kind, expected) in [
            (None, StopSignal::Interrupt, false),
            (Some((StopSignal::Interrupt, now)), StopSignal::Interrupt, true),
            (Some((StopSignal::Interrupt, now)), StopSignal::Terminate, false),
            (Some((StopSignal::Interrupt, earlier)), StopSignal::Interrupt, false),
        ] {
            assert_eq!(is_echo(first, kind), expected, "{first:?} {kind:?}");
        }
    }

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
