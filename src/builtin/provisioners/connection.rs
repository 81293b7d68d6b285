//! The connection of a provisioner that works on another machine.

use std::fmt;

use base::dialect::Dialect;
use base::env::{self, Environment};
use base::stop::Stop;
use model::opentofu::refuses_winrm;
use terrane_protocol::provider::{Output, ProvisionRequest};
use terrane_value::Value;

use crate::ssh::settings::{Settings, SettingsError};
use crate::ssh::{Communicator, ExecError, SshError};

/// Why a provisioner could not do its work on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteError {
    /// The resource has no connection.
    NoConnection,
    /// A type of connection that OpenTofu no longer has.
    RemovedType,
    /// A type of connection that is not supported yet.
    WinRm,
    UnknownType(String),
    Settings(SettingsError),
    Connection(SshError),
    Interrupted,
    /// The file or folder to upload cannot be read.
    Source(String),
    Upload(SshError),
    /// An element of `scripts` is null, or (false) empty.
    InvalidScript {
        is_null: bool,
    },
    Script {
        path: String,
        why: String,
    },
    ScriptUpload(SshError),
    ScriptStart(SshError),
    /// A script ran and failed.
    ScriptFailed(ExecError),
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoteError::NoConnection => f.write_str("Missing connection configuration for provisioner."),
            RemoteError::RemovedType => f.write_str("'winrm' connections are not supported in OpenTofu v1.13 or later"),
            RemoteError::WinRm => f.write_str("connection type 'winrm' is not supported yet: use 'ssh'"),
            RemoteError::UnknownType(name) => write!(f, "connection type '{name}' not supported"),
            RemoteError::Settings(error) => error.fmt(f),
            RemoteError::Connection(error) => error.fmt(f),
            RemoteError::Interrupted => f.write_str("interrupted"),
            RemoteError::Source(why) => f.write_str(why),
            RemoteError::Upload(error) => write!(f, "Upload failed: {error}"),
            RemoteError::InvalidScript { is_null: true } => f.write_str("invalid null string in 'scripts'"),
            RemoteError::InvalidScript { is_null: false } => f.write_str("invalid empty string in 'scripts'"),
            RemoteError::Script { path, why } => write!(f, "Failed to open script '{path}': {why}"),
            RemoteError::ScriptUpload(error) => write!(f, "Failed to upload script: {error}"),
            RemoteError::ScriptStart(error) => write!(f, "Error starting script: {error}"),
            RemoteError::ScriptFailed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RemoteError {}

/// The settings of the request's connection; winrm is refused by name.
pub fn settings(request: &ProvisionRequest, dialect: Dialect) -> Result<Settings, RemoteError> {
    let connection = &request.connection;
    if connection.is_null() {
        return Err(RemoteError::NoConnection);
    }
    let get = |name: &str| connection.get(name).and_then(text);
    match get("type").as_deref() {
        None | Some("" | "ssh") => {}
        Some("winrm") if refuses_winrm(dialect) => return Err(RemoteError::RemovedType),
        Some("winrm") => return Err(RemoteError::WinRm),
        Some(other) => return Err(RemoteError::UnknownType(other.to_owned())),
    }
    let socket = Environment::process().non_empty(env::SSH_AUTH_SOCK).map(Into::into);
    Settings::read(&get, socket).map_err(RemoteError::Settings)
}

/// A primitive as text; none for null.
fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .map(str::to_owned)
        .or_else(|| value.as_number().map(ToString::to_string))
        .or_else(|| value.as_bool().map(|flag| flag.to_string()))
}

/// Connects and works, unless the run is interrupted first.
pub async fn connected<W, F>(settings: Settings, output: &Output, stop: &Stop, work: W) -> Result<(), RemoteError>
where
    W: FnOnce(Communicator) -> F,
    F: Future<Output = Result<(), RemoteError>>,
{
    let whole = async {
        let lines = |line: &str| output(line);
        work(Communicator::connect(settings, &lines).await.map_err(RemoteError::Connection)?).await
    };
    tokio::select! {
        result = whole => result,
        () = stop.stopping() => Err(RemoteError::Interrupted),
    }
}
