//! The processes of a command: counted while they run, reported when they start, killed together.

use std::sync::{Arc, Mutex, MutexGuard};

use base::process::ProcessId;
use tokio::sync::watch;

/// Called with each process that starts: what it serves, and its number.
pub type StartListener = Arc<dyn Fn(&str, ProcessId) + Send + Sync>;

/// The processes that were started and have not ended. Clones share them.
#[derive(Clone, Default)]
pub struct Children(Arc<Shared>);

#[derive(Default)]
struct Shared {
    running: watch::Sender<usize>,
    /// True once all of them are to be killed.
    killed: watch::Sender<bool>,
    started: Mutex<Started>,
}

#[derive(Default)]
struct Started {
    listener: Option<StartListener>,
    processes: Vec<(String, ProcessId)>,
}

impl std::fmt::Debug for Children {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} processes", *self.0.running.borrow())
    }
}

impl Children {
    /// Ends when no process runs, also of those that nothing holds any more.
    pub async fn all_ended(&self) {
        // The sender lives in self, so waiting cannot fail.
        let _ = self.0.running.subscribe().wait_for(|running| *running == 0).await;
    }

    /// Kills every process, also those that are still starting. From now on none can be started.
    pub fn kill_all(&self) {
        self.0.killed.send_replace(true);
    }

    /// Reports the processes that were started before to the listener, and from now on each as soon as it exists.
    pub fn on_start(&self, listener: StartListener) {
        let mut started = self.started();
        started.processes.iter().filter(|(_, process)| process.is_alive()).for_each(|(name, id)| listener(name, *id));
        started.listener = Some(listener);
    }

    /// None: all are being killed. Counted before that is asked, so that who kills all waits for this one or keeps it from
    /// being started.
    pub(super) fn add(&self) -> Option<CountedChild> {
        self.0.running.send_modify(|running| *running += 1);
        let counted = CountedChild(self.clone());
        (!*self.0.killed.borrow()).then_some(counted)
    }

    /// Records a process, and reports it to the listener. `name`: what it serves.
    pub(super) fn announce(&self, name: &str, pid: u32) {
        let process = ProcessId::of(pid);
        let mut started = self.started();
        started.processes.push((name.to_owned(), process));
        if let Some(listener) = &started.listener {
            listener(name, process);
        }
    }

    fn started(&self) -> MutexGuard<'_, Started> {
        self.0.started.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// One of the counted processes.
pub struct CountedChild(Children);

impl CountedChild {
    /// Ends once all processes are to be killed.
    pub(super) async fn killed(&self) {
        let _ = self.0.0.killed.subscribe().wait_for(|killed| *killed).await;
    }
}

impl Drop for CountedChild {
    fn drop(&mut self) {
        self.0.0.running.send_modify(|running| *running -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_started_once_all_are_killed() {
        let children = Children::default();
        let running = children.add();
        assert!(running.is_some());
        children.kill_all();
        assert!(children.add().is_none());
        drop(running);
        children.all_ended().await;
    }
}
