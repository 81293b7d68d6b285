//! A process that runs: watched, asked to end, killed, and what it leaves to report.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::process::{Group, Signal};
use terrane_protocol::grpc::Channel;
use terrane_protocol::grpc::client::Method;
use terrane_protocol::wire::goplugin;
use tokio::process::Child;
use tokio::sync::{Notify, watch};

use super::children::CountedChild;
use super::output::Collected;

/// How long a plugin may take to end when it was asked to.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the last words of a dead process are waited for.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(2);

/// A process that may have ended by now.
pub struct Process {
    /// 0 if unknown.
    pub pid: u32,
    /// The file's name: "terraform-provider-aws_v5.100.0_x5".
    pub program: String,
    pub(super) exit: watch::Receiver<Option<String>>,
    pub(super) kill: Arc<Notify>,
    pub(super) collected: Arc<Mutex<Collected>>,
    /// Not ours to end.
    pub(super) reattached: bool,
}

/// Waits for the process to end, by itself or because it is to be killed, and for all that it wrote; then says how.
pub async fn watch_process(
    mut child: Child,
    group: Option<Group>,
    kill: Arc<Notify>,
    stderr: Option<tokio::task::JoinHandle<()>>,
    exit: watch::Sender<Option<String>>,
    counted: CountedChild,
) {
    let pid = child.id().unwrap_or_default();
    let status = tokio::select! {
        status = child.wait() => status,
        () = async { tokio::select! { () = kill.notified() => {}, () = counted.killed() => {} } } => {
            if let Some(group) = group {
                group.signal(Signal::Kill);
            }
            let _ = child.start_kill();
            child.wait().await
        }
    };
    let how = status.map_or_else(|error| error.to_string(), describe_exit);
    tracing::debug!("plugin process exited: pid={pid} {how}");
    drop(counted);
    if let Some(stderr) = stderr {
        // A grandchild may hold the pipe open for ever.
        let _ = tokio::time::timeout(Duration::from_millis(500), stderr).await;
    }
    let _ = exit.send(Some(how));
}

/// "exit status 3", "signal: killed".
fn describe_exit(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let name = match signal {
            libc::SIGKILL => "killed",
            libc::SIGSEGV => "segmentation fault",
            libc::SIGABRT => "aborted",
            libc::SIGTERM => "terminated",
            libc::SIGINT => "interrupt",
            libc::SIGPIPE => "broken pipe",
            libc::SIGBUS => "bus error",
            libc::SIGILL => "illegal instruction",
            _ => return format!("signal: {signal}"),
        };
        return format!("signal: {name}");
    }
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => status.to_string(),
    }
}

impl Process {
    /// A process that another program has started and will end.
    pub fn reattached(pid: u32) -> Process {
        let (_, exit) = watch::channel(None);
        Process { pid, program: String::new(), exit, kill: Arc::default(), collected: Arc::default(), reattached: true }
    }

    /// Asks the plugin to end; kills it if it does not. Ends when it is gone.
    pub async fn shutdown(&self, channel: &Channel) {
        if self.reattached {
            return;
        }
        let mut exit = self.exit.clone();
        let asked = async {
            let shutdown = Method::new("/plugin.GRPCController/Shutdown");
            // The answer may be lost with the process.
            let _ = channel.call(&shutdown, goplugin::Empty {}).await;
            let _ = exit.wait_for(Option::is_some).await;
        };
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, asked).await.is_err() {
            tracing::warn!("plugin failed to exit gracefully: pid={}", self.pid);
            self.kill().await;
        }
    }

    pub async fn kill(&self) {
        self.kill.notify_one();
        let _ = self.exit.clone().wait_for(Option::is_some).await;
    }

    /// How the process has ended; waits a little for a process that is about to.
    async fn exit(&self) -> Option<String> {
        let mut exit = self.exit.clone();
        let ended = tokio::time::timeout(LAST_WORDS_TIMEOUT, exit.wait_for(Option::is_some)).await;
        ended.ok()?.ok()?.clone()
    }

    /// What the dead process leaves for its user to read, after the text of the call that failed: its panic, reported
    /// once, or how it ended. Empty for a process that lives.
    pub async fn exit_report(&self) -> String {
        if self.reattached {
            return String::new();
        }
        let Some(exit) = self.exit().await else { return String::new() };
        let (panic, tail) = match self.collected.lock() {
            Ok(mut collected) => (collected.take_panic(), collected.tail()),
            Err(_) => (None, String::new()),
        };
        let name = &self.program;
        match panic {
            Some(panic) => format!(
                "\n\nStack trace from the {name} plugin:\n\n{panic}\n\nError: The {name} plugin crashed!\n\n\
                 This is always indicative of a bug within the plugin. It would be immensely helpful if you could \
                 report the crash with the plugin's maintainers so that it can be fixed. The output above should help \
                 diagnose the issue."
            ),
            None if tail.is_empty() => format!("\n\nThe {name} process has ended: {exit}."),
            None => format!("\n\nThe {name} process has ended: {exit}. The last that it wrote:\n{tail}"),
        }
    }

    /// What a process wrote that ended before it could be spoken to.
    pub(super) async fn startup_errors(&self) -> String {
        if tokio::time::timeout(Duration::from_millis(200), self.exit.clone().wait_for(Option::is_some)).await.is_err()
        {
            return String::new();
        }
        let tail = self.collected.lock().map(|collected| collected.tail()).unwrap_or_default();
        if tail.is_empty() { tail } else { format!("\nThe plugin wrote to its standard error:\n{tail}\n") }
    }

    pub fn has_ended(&self) -> bool {
        self.exit.borrow().is_some()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill.notify_one();
    }
}
