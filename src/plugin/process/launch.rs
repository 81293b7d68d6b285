//! Starting a plugin's process: its environment, its handshake, the connection.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::env;
use base::process::Group;
use terrane_protocol::grpc::Channel;
use terrane_protocol::handshake::{Address, COOKIE, Handshake, Refusal, UNRECOGNIZED_CAUSES, VERSIONS};
use terrane_protocol::tls::TlsIdentity;
use tokio::process::Command;
use tokio::sync::{Notify, oneshot, watch};

use super::children::Children;
use super::connect::{ConnectError, connect};
use super::diagnose::{additional_notes, os_error_text};
use super::output::{self, Collected};
use super::running::{Process, watch_process};

/// How long a plugin may take to print its handshake.
pub const START_TIMEOUT: Duration = Duration::from_secs(60);

/// How to start a plugin.
#[derive(Clone, Debug)]
pub struct Launch {
    pub command: PathBuf,
    pub args: Vec<String>,
    /// Added to our own environment.
    pub env: Vec<(String, String)>,
    pub security: Security,
    pub start_timeout: Duration,
    /// Where the program starts. Empty: in the folder of this process.
    pub folder: PathBuf,
    /// The name that levels of the log are set by: "aws".
    pub log_name: String,
    /// What the process is counted in while it runs.
    pub children: Children,
}

/// How the two ends know each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Certificates made for this connection.
    MutualTls,
    /// Not at all: TF_DISABLE_PLUGIN_TLS.
    None,
    /// The plugin is this program: by the socket's credentials, or by certificates where there are only TCP ports. It also
    /// has a separate process group, out of reach of the terminal's interrupt, and no input; other plugins ignore the
    /// interrupt themselves and may ask their user for something on the terminal.
    OwnProgram,
}

impl Security {
    /// True if certificates made for the connection protect it. A TCP port does not say which process is at the other end.
    fn needs_certificates(self) -> bool {
        match self {
            Security::MutualTls => true,
            Security::None => false,
            Security::OwnProgram => cfg!(not(unix)),
        }
    }
}

/// A plugin that is running and connected.
pub struct Plugin {
    pub channel: Channel,
    /// The protocol version that it chose.
    pub version: u16,
    pub process: Arc<Process>,
}

/// Why a plugin could not be started. Its text has no name in it: the caller says which plugin it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError {
    /// The command is ending, so that no process starts any more.
    Ending,
    /// There is no certificate for our end of the connection.
    TlsIdentity(String),
    /// The system does not run the program.
    Program {
        path: PathBuf,
        why: String,
    },
    /// The process ended before it said where it listens.
    Exited,
    /// The process did not say in time where it listens.
    Timeout,
    /// It speaks another version of the protocol than we do.
    Incompatible(Refusal),
    /// What it said is not the handshake of a plugin. `notes`: what can be said of the program.
    Unrecognized {
        refusal: Refusal,
        notes: String,
    },
    Connect(ConnectError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Ending => f.write_str("the command is ending"),
            StartError::TlsIdentity(why) => f.write_str(why),
            StartError::Program { path, why } => write!(f, "fork/exec {}: {why}", path.display()),
            StartError::Exited => f.write_str("plugin exited before we could connect"),
            StartError::Timeout => f.write_str("timeout while waiting for plugin to start"),
            StartError::Incompatible(refusal) => refusal.fmt(f),
            StartError::Unrecognized { refusal, notes } => write!(f, "{refusal}{notes}"),
            StartError::Connect(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StartError {}

impl From<ConnectError> for StartError {
    fn from(error: ConnectError) -> StartError {
        StartError::Connect(error)
    }
}

impl Launch {
    /// Starts the process and connects to it. `name` is what it serves, for the listener.
    pub async fn start(&self, name: &str) -> Result<Plugin, StartError> {
        let identity = if self.security.needs_certificates() {
            let made = TlsIdentity::generate(crate::crypto());
            Some(made.map_err(|why| StartError::TlsIdentity(why.to_string()))?)
        } else {
            None
        };
        let counted = self.children.add().ok_or(StartError::Ending)?;
        let mut child = self.command(identity.as_ref()).spawn().map_err(|error| self.not_started(&error))?;
        let program = self.command.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let group = (self.security == Security::OwnProgram).then(|| Group::of(&child));
        let pid = child.id().unwrap_or(0);
        self.children.announce(name, pid);
        tracing::debug!("starting plugin: path={} args={:?} pid={pid}", self.command.display(), self.args);

        let collected = Arc::new(Mutex::new(Collected::default()));
        let (first_line, line) = oneshot::channel();
        let source = output::Source { log_name: self.log_name.clone(), module: format!("provider.{program}") };
        let stdout = child.stdout.take().map(|stdout| tokio::spawn(output::watch_stdout(stdout, first_line)));
        let stderr =
            child.stderr.take().map(|stderr| tokio::spawn(output::watch_stderr(stderr, source, collected.clone())));
        let (note, exit) = watch::channel(None);
        let kill = Arc::new(Notify::new());
        tokio::spawn(watch_process(child, group, kill.clone(), stderr, note, counted));
        drop(stdout);

        let process = Arc::new(Process { pid, program, exit, kill, collected, reattached: false });
        let handshake = self.handshake(line, &process).await?;
        let peer = (self.security == Security::OwnProgram).then_some(pid);
        let channel = connect(&handshake, identity.as_ref(), peer, self.start_timeout).await?;
        tracing::debug!("using plugin: pid={pid} version={}", handshake.version);
        Ok(Plugin { channel, version: handshake.version, process })
    }

    /// The system's error names no file: without /dev/null, which is the input of our own plugins, it is the same as without the
    /// program.
    fn not_started(&self, error: &io::Error) -> StartError {
        let has_no_input = cfg!(unix) && self.security == Security::OwnProgram && !Path::new("/dev/null").exists();
        let opening = if has_no_input && error.kind() == io::ErrorKind::NotFound { "open /dev/null: " } else { "" };
        StartError::Program { path: self.command.clone(), why: format!("{opening}{}", os_error_text(error)) }
    }

    fn command(&self, identity: Option<&TlsIdentity>) -> Command {
        let mut command = Command::new(&self.command);
        command.args(&self.args).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        if !self.folder.as_os_str().is_empty() {
            command.current_dir(&self.folder);
        }
        command.env(COOKIE.0, COOKIE.1);
        command.env(env::PLUGIN_MIN_PORT, "10000").env(env::PLUGIN_MAX_PORT, "25000");
        command.env(env::PLUGIN_PROTOCOL_VERSIONS, VERSIONS.map(|version| version.to_string()).join(","));
        match identity {
            Some(identity) => command.env(env::PLUGIN_CLIENT_CERT, identity.pem()),
            None => command.env_remove(env::PLUGIN_CLIENT_CERT),
        };
        if self.security == Security::OwnProgram {
            // Where sockets have credentials, both ends check each other by them and need no TLS.
            command.env(env::TERRANE_PLUGIN_PEER, std::process::id().to_string()).stdin(Stdio::null());
            base::process::in_new_group(&mut command);
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
            () = gone => return Err(StartError::Exited),
            () = tokio::time::sleep(self.start_timeout) => {
                return Err(StartError::Timeout);
            }
        };
        match Handshake::parse(line.as_deref().unwrap_or_default()) {
            Ok(handshake) => Ok(handshake),
            Err(refusal @ Refusal::Incompatible(_)) => Err(StartError::Incompatible(refusal)),
            Err(refusal @ Refusal::Unrecognized(_)) => {
                let mut notes = String::new();
                if line.is_none() {
                    notes.push_str("\nFailed to read any lines from plugin's stdout");
                }
                notes.push('\n');
                notes.push_str(UNRECOGNIZED_CAUSES);
                notes.push_str(&additional_notes(&self.command));
                notes.push_str(&process.startup_errors().await);
                Err(StartError::Unrecognized { refusal, notes })
            }
        }
    }
}

/// Connects to a plugin that runs already, without TLS.
pub async fn reattach(address: &Address, version: u16, pid: u32) -> Result<Plugin, StartError> {
    let handshake = Handshake { version, address: address.clone(), certificate: None };
    let channel = connect(&handshake, None, None, START_TIMEOUT).await?;
    Ok(Plugin { channel, version, process: Arc::new(Process::reattached(pid)) })
}
