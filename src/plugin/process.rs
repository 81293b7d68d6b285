//! A plugin's process: started, connected to, watched, asked to end, killed.
//!
//! Owns everything about the process and nothing about what it is asked. A process that is dropped is killed.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use base::process::ProcessId;
use base::{env, log};
use terrane_protocol::grpc::Channel;
use terrane_protocol::grpc::client::Method;
use terrane_protocol::handshake::{Address, COOKIE, Handshake, Refusal, UNRECOGNIZED_CAUSES, VERSIONS};
use terrane_protocol::tls::{self, TlsIdentity};
use terrane_protocol::wire::goplugin;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::{Notify, oneshot, watch};

use super::diagnose::{additional_notes, os_error_text};
use super::output::{self, Collected};

/// How long a plugin may take to print its handshake.
pub const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a plugin may take to end when it was asked to.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the last words of a dead process are waited for.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(2);

/// How to start a plugin.
#[derive(Clone, Debug)]
pub struct Launch {
    pub command: PathBuf,
    pub args: Vec<String>,
    /// Added to our own environment.
    pub env: Vec<(String, String)>,
    pub security: Security,
    pub start_timeout: Duration,
    /// The name that levels of the log are set by: "aws".
    pub log_name: String,
    /// What the process is counted in while it runs.
    pub children: Children,
}

/// Hears of each process that starts: what it serves, and its number.
pub type StartListener = Arc<dyn Fn(&str, ProcessId) + Send + Sync>;

/// The processes that were started and have not ended. Clones share them.
#[derive(Clone, Default)]
pub struct Children(Arc<Family>);

#[derive(Default)]
struct Family {
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

    /// The listener hears of the processes that were started before, and from now on of each as soon as it exists.
    pub fn on_start(&self, listener: StartListener) {
        let mut started = self.started();
        started.processes.iter().filter(|(_, process)| process.is_alive()).for_each(|(name, id)| listener(name, *id));
        started.listener = Some(listener);
    }

    /// None: all are being killed. Counted before that is asked, so that who kills all waits for this one or keeps it from
    /// being started.
    fn add(&self) -> Option<CountedChild> {
        self.0.running.send_modify(|running| *running += 1);
        let counted = CountedChild(self.clone());
        (!*self.0.killed.borrow()).then_some(counted)
    }

    fn tell(&self, name: &str, pid: u32) {
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

    async fn killed(&self) {
        let _ = self.0.killed.subscribe().wait_for(|killed| *killed).await;
    }
}

/// One of the counted processes.
struct CountedChild(Children);

impl Drop for CountedChild {
    fn drop(&mut self) {
        self.0.0.running.send_modify(|running| *running -= 1);
    }
}

/// How the two ends know each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Certificates made for this connection.
    MutualTls,
    /// Not at all: TF_DISABLE_PLUGIN_TLS.
    None,
    /// The plugin is this program: by the socket's credentials. It also has a separate process group, out of
    /// reach of the terminal's interrupt, and no input; other plugins ignore the interrupt themselves and may ask
    /// their user for something on the terminal.
    OwnProgram,
}

/// A plugin that is running and connected.
pub struct Plugin {
    pub channel: Channel,
    /// The protocol version that it chose.
    pub version: u16,
    pub process: Arc<Process>,
}

/// Why a plugin could not be started: a text without a name in it, for the caller to say which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError(pub String);

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

/// A process that may have ended by now.
pub struct Process {
    /// 0 if unknown.
    pub pid: u32,
    /// The file's name: "terraform-provider-aws_v5.100.0_x5".
    pub program: String,
    exit: watch::Receiver<Option<String>>,
    kill: Arc<Notify>,
    collected: Arc<Mutex<Collected>>,
    /// Not ours to end.
    reattached: bool,
}

impl Launch {
    /// Starts the process and connects to it. `name` is what it serves, for the listener.
    pub async fn start(&self, name: &str) -> Result<Plugin, StartError> {
        let identity = match self.security {
            Security::MutualTls => {
                Some(TlsIdentity::generate(super::crypto()).map_err(|error| StartError(error.to_string()))?)
            }
            _ => None,
        };
        let counted = self.children.add().ok_or_else(|| StartError("the command is ending".to_owned()))?;
        let mut child = self
            .command(identity.as_ref())
            .spawn()
            .map_err(|error| StartError(format!("fork/exec {}: {}", self.command.display(), os_error_text(&error))))?;
        let program = self.command.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let pid = child.id().unwrap_or(0);
        self.children.tell(name, pid);
        log!(Debug, "starting plugin: path={} args={:?} pid={pid}", self.command.display(), self.args);

        let collected = Arc::new(Mutex::new(Collected::default()));
        let (first_line, line) = oneshot::channel();
        let source = output::Source { log_name: self.log_name.clone(), module: format!("provider.{program}") };
        let stdout = child.stdout.take().map(|stdout| tokio::spawn(output::watch_stdout(stdout, first_line)));
        let stderr =
            child.stderr.take().map(|stderr| tokio::spawn(output::watch_stderr(stderr, source, collected.clone())));
        let (note, exit) = watch::channel(None);
        let kill = Arc::new(Notify::new());
        let group = self.security == Security::OwnProgram;
        tokio::spawn(watch_process(child, group, kill.clone(), stderr, note, counted));
        drop(stdout);

        let process = Arc::new(Process { pid, program, exit, kill, collected, reattached: false });
        let handshake = self.handshake(line, &process).await?;
        let channel = connect(&handshake, identity.as_ref(), self.security, pid, self.start_timeout).await?;
        log!(Debug, "using plugin: pid={pid} version={}", handshake.version);
        Ok(Plugin { channel, version: handshake.version, process })
    }

    fn command(&self, identity: Option<&TlsIdentity>) -> Command {
        let mut command = Command::new(&self.command);
        command.args(&self.args).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command.env(COOKIE.0, COOKIE.1);
        command.env(env::PLUGIN_MIN_PORT, "10000").env(env::PLUGIN_MAX_PORT, "25000");
        command.env(env::PLUGIN_PROTOCOL_VERSIONS, VERSIONS.map(|version| version.to_string()).join(","));
        match identity {
            Some(identity) => command.env(env::PLUGIN_CLIENT_CERT, identity.pem()),
            None => command.env_remove(env::PLUGIN_CLIENT_CERT),
        };
        if self.security == Security::OwnProgram {
            // Both ends check each other by the socket's credentials and need no TLS.
            command.env(env::TERRANE_PLUGIN_PEER, std::process::id().to_string()).stdin(Stdio::null());
            #[cfg(unix)]
            command.process_group(0);
        } else {
            command.env_remove(env::TERRANE_PLUGIN_PEER);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Waits for the handshake line, the end of the output, the end of the process or the timeout.
    async fn handshake(&self, line: oneshot::Receiver<String>, process: &Process) -> Result<Handshake, StartError> {
        let mut exit = process.exit.clone();
        let gone = async {
            let _ = exit.wait_for(Option::is_some).await;
            // Its last line may still be on the way.
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let line = tokio::select! {
            biased;
            line = line => line.ok(),
            () = gone => return Err(StartError("plugin exited before we could connect".to_owned())),
            () = tokio::time::sleep(self.start_timeout) => {
                return Err(StartError("timeout while waiting for plugin to start".to_owned()));
            }
        };
        match Handshake::parse(line.as_deref().unwrap_or_default()) {
            Ok(handshake) => Ok(handshake),
            Err(refusal @ Refusal::Incompatible(_)) => Err(StartError(refusal.to_string())),
            Err(refusal @ Refusal::Unrecognized(_)) => {
                let mut text = refusal.to_string();
                if line.is_none() {
                    text.push_str("\nFailed to read any lines from plugin's stdout");
                }
                text.push('\n');
                text.push_str(UNRECOGNIZED_CAUSES);
                text.push_str(&additional_notes(&self.command));
                text.push_str(&process.startup_errors().await);
                Err(StartError(text))
            }
        }
    }
}

/// Waits for the process to end, by itself or because it is to be killed, and for all that it wrote; then says how.
async fn watch_process(
    mut child: Child,
    group: bool,
    kill: Arc<Notify>,
    stderr: Option<tokio::task::JoinHandle<()>>,
    exit: watch::Sender<Option<String>>,
    counted: CountedChild,
) {
    let pid = child.id().unwrap_or_default();
    let status = tokio::select! {
        status = child.wait() => status,
        () = async { tokio::select! { () = kill.notified() => {}, () = counted.0.killed() => {} } } => {
            if group {
                base::process::signal_group(child.id(), base::process::Signal::Kill);
            }
            let _ = child.start_kill();
            child.wait().await
        }
    };
    let how = status.map_or_else(|error| error.to_string(), describe_exit);
    log!(Debug, "plugin process exited: pid={pid} {how}");
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
            log!(Warn, "plugin failed to exit gracefully: pid={}", self.pid);
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

    /// What the dead process leaves for its user to read, after the text of the call that failed: its panic, told
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
    async fn startup_errors(&self) -> String {
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

/// Connects to the address in the handshake and authenticates the server.
async fn connect(
    handshake: &Handshake,
    identity: Option<&TlsIdentity>,
    security: Security,
    pid: u32,
    timeout: Duration,
) -> Result<Channel, StartError> {
    let connected = tokio::time::timeout(timeout, connect_at_last(handshake, identity, security, pid)).await;
    connected.unwrap_or_else(|_| Err("timeout while connecting to the plugin".to_owned())).map_err(StartError)
}

const NO_CERTIFICATE: &str = "it announced no certificate, so the connection would not be encrypted; a plugin that knows \
                              no mutual TLS can be used with TF_DISABLE_PLUGIN_TLS=1";

async fn connect_at_last(
    handshake: &Handshake,
    identity: Option<&TlsIdentity>,
    security: Security,
    pid: u32,
) -> Result<Channel, String> {
    let tls = || match (&handshake.certificate, identity) {
        (Some(server), Some(identity)) => {
            let config = identity.client_config(server, Some(super::small_rsa::verify));
            config.map(Some).map_err(|error| error.to_string())
        }
        (None, Some(_)) => Err(format!("cannot connect to the plugin: {NO_CERTIFICATE}")),
        (_, None) => Ok(None),
    };
    let failed = |error: &dyn std::fmt::Display| format!("cannot connect to the plugin: {error}");
    match &handshake.address {
        Address::Unix(path) => {
            let stream = terrane_protocol::socket::connect(path).await.map_err(|error| failed(&at(path, &error)))?;
            if security == Security::OwnProgram {
                terrane_protocol::socket::check_peer(&stream, pid).map_err(|error| failed(&error))?;
            }
            over(stream, tls()?).await.map_err(|error| failed(&error))
        }
        Address::Tcp(address) => {
            let stream = TcpStream::connect(address).await.map_err(|error| failed(&format!("{address}: {error}")))?;
            let _ = stream.set_nodelay(true);
            over(stream, tls()?).await.map_err(|error| failed(&error))
        }
    }
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("{}: {}", path.display(), os_error_text(error))
}

async fn over(
    stream: impl terrane_protocol::grpc::Transport,
    tls: Option<Arc<rustls::ClientConfig>>,
) -> Result<Channel, String> {
    let channel = match tls {
        Some(config) => {
            let connector = tokio_rustls::TlsConnector::from(config);
            let stream = connector.connect(tls::server_name(), stream).await.map_err(|error| error.to_string())?;
            Channel::connect(stream).await
        }
        None => Channel::connect(stream).await,
    };
    channel.map_err(|status| super::failure::status_text(&status))
}

/// Connects to a plugin that runs already, without TLS.
pub async fn reattach(address: &Address, version: u16, pid: u32) -> Result<Plugin, StartError> {
    let handshake = Handshake { version, address: address.clone(), certificate: None };
    let channel = connect(&handshake, None, Security::None, pid, START_TIMEOUT).await?;
    Ok(Plugin { channel, version, process: Arc::new(Process::reattached(pid)) })
}

#[cfg(test)]
mod tests {
    use super::Children;

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
