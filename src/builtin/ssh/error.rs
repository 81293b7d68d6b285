//! Why something over SSH failed. Texts are those of the reference, which are those of Go's libraries.

use std::fmt;
use std::path::PathBuf;

use super::keys::SshKeyError;
use super::proxy::DialError;

/// Why there is no connection, or why something over it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SshError {
    /// A key of the settings cannot be used.
    Key(SshKeyError),
    /// The first server cannot be reached.
    Dial(DialError),
    /// The agent does not answer. `purpose`: what it was asked for.
    Agent {
        purpose: &'static str,
        why: String,
    },
    /// The server accepts none of the methods that it was offered.
    NoMethod {
        attempted: Vec<&'static str>,
    },
    /// The server at `user@host:port` does not prove who it is, or does not let us in.
    Handshake {
        server: String,
        why: Box<SshError>,
    },
    Bastion(Box<SshError>),
    /// The bastion does not connect to the target.
    Tunnel(String),
    /// What the library for the protocol says.
    Protocol(String),
    /// No attempt succeeded in time. `last`: why the last one failed.
    Timeout {
        last: Option<Box<SshError>>,
    },
    Scp(ScpError),
    /// A script cannot be made executable.
    Chmod(Box<ExecError>),
}

impl SshError {
    pub fn library(error: russh::Error) -> SshError {
        SshError::Protocol(error.to_string())
    }
}

impl fmt::Display for SshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SshError::Key(error) => error.fmt(f),
            SshError::Dial(error) => error.fmt(f),
            SshError::Agent { purpose, why } => write!(f, "{purpose}: {why}"),
            SshError::NoMethod { attempted } => write!(
                f,
                "ssh: unable to authenticate, attempted methods [{}], no supported methods remain",
                attempted.join(" ")
            ),
            SshError::Handshake { server, why } => {
                write!(f, "SSH authentication failed ({server}): ssh: handshake failed: {why}")
            }
            SshError::Bastion(error) => write!(f, "Error connecting to bastion: {error}"),
            SshError::Tunnel(why) => write!(f, "ssh: rejected: connect failed ({why})"),
            SshError::Protocol(why) => f.write_str(why),
            SshError::Timeout { last: Some(last) } => write!(f, "timeout - last error: {last}"),
            SshError::Timeout { last: None } => f.write_str("timeout - last error: <nil>"),
            SshError::Scp(error) => error.fmt(f),
            SshError::Chmod(error) => {
                write!(f, "Error chmodding script file to 0777 in remote machine {error}")
            }
        }
    }
}

impl std::error::Error for SshError {}

impl From<SshKeyError> for SshError {
    fn from(error: SshKeyError) -> SshError {
        SshError::Key(error)
    }
}

impl From<ScpError> for SshError {
    fn from(error: ScpError) -> SshError {
        SshError::Scp(error)
    }
}

/// Why files cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScpError {
    /// A local file cannot be opened.
    Open {
        path: PathBuf,
        why: String,
    },
    /// A local file or folder cannot be read.
    Read {
        path: PathBuf,
        why: String,
    },
    /// The content of a local file cannot be read.
    Content(String),
    Shorter {
        name: String,
    },
    /// The connection broke.
    Connection(String),
    /// The other side ended without an answer.
    Ended,
    /// What the other side says.
    Refused(String),
    /// There is no `scp` on the other side.
    NotInstalled,
    Exit {
        code: u32,
        said: String,
    },
}

impl fmt::Display for ScpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScpError::Open { path, why } => write!(f, "open {}: {why}", path.display()),
            ScpError::Read { path, why } => write!(f, "{}: {why}", path.display()),
            ScpError::Content(why) | ScpError::Connection(why) | ScpError::Refused(why) => f.write_str(why),
            ScpError::Shorter { name } => write!(f, "{name} became shorter while it was sent"),
            ScpError::Ended => f.write_str("EOF"),
            ScpError::NotInstalled => f.write_str(
                "SCP failed to start. This usually means that SCP is not\nproperly installed on the remote system.",
            ),
            ScpError::Exit { code, said } => write!(f, "Process exited with status {code}: {said}"),
        }
    }
}

impl std::error::Error for ScpError {}

/// Why a remote command counts as failed; displays as users know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecError {
    /// It ran and ended otherwise than with status 0.
    Exit { command: String, how: String },
    /// It could not be started.
    Start(SshError),
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExecError::Exit { command, how } => write!(f, "error executing {command:?}: {how}"),
            ExecError::Start(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExecError {}
