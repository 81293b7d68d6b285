//! The connection of a provisioner that works on another machine.

use base::env::{self, Environment};
use base::stop::Stop;
use model::version::tofu_at_least;
use terrane_protocol::provider::{Output, ProvisionRequest};
use terrane_value::Value;

use crate::ssh::Communicator;
use crate::ssh::settings::Settings;

/// What stopping leaves behind in place of a result.
pub const INTERRUPTED: &str = "interrupted";

/// The settings of the request's connection; winrm is refused by name.
pub fn settings(request: &ProvisionRequest) -> Result<Settings, String> {
    let connection = &request.connection;
    if connection.is_null() {
        return Err("Missing connection configuration for provisioner.".into());
    }
    let get = |name: &str| connection.get(name).and_then(text);
    match get("type").as_deref() {
        None | Some("" | "ssh") => {}
        Some("winrm") if tofu_at_least(13) => {
            return Err("'winrm' connections are not supported in OpenTofu v1.13 or later".into());
        }
        Some("winrm") => return Err("connection type 'winrm' is not supported yet: use 'ssh'".into()),
        Some(other) => return Err(format!("connection type '{other}' not supported")),
    }
    let socket = Environment::process().non_empty(env::SSH_AUTH_SOCK).map(Into::into);
    Settings::read(&get, socket)
}

/// A primitive as text; none for null.
fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .map(str::to_owned)
        .or_else(|| value.as_number().map(ToString::to_string))
        .or_else(|| value.as_bool().map(|flag| flag.to_string()))
}

/// Connects and works, unless told to stop first.
pub async fn connected<W, F>(settings: Settings, output: &Output, stop: &Stop, work: W) -> Result<(), String>
where
    W: FnOnce(Communicator) -> F,
    F: Future<Output = Result<(), String>>,
{
    let whole = async {
        let lines = |line: &str| output(line);
        work(Communicator::connect(settings, &lines).await?).await
    };
    tokio::select! {
        result = whole => result,
        () = stop.stopping() => Err(INTERRUPTED.into()),
    }
}
