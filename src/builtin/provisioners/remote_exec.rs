//! `remote-exec`: scripts, run on another machine.

use std::sync::Arc;

use async_trait::async_trait;
use base::dialect::Dialect;
use base::stop::Stop;
use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics, ProvisionRequest, Provisioner};
use terrane_protocol::schema::Schema;
use terrane_value::{Type, Value};

use super::connection::{RemoteError, connected, settings};
use super::{failed, schema};
use crate::ssh::{Communicator, ExecError, Lines, UploadSource};
use crate::wording::io_text;

const NAME: &str = "remote-exec";

#[derive(Default)]
pub struct RemoteExec {
    stop: Stop,
    dialect: Dialect,
}

#[async_trait]
impl Provisioner for RemoteExec {
    async fn schema(&self) -> Result<Arc<Schema>, ProviderDiagnostics> {
        Ok(schema(&[
            ("inline", Type::list(Type::String), false),
            ("script", Type::String, false),
            ("scripts", Type::list(Type::String), false),
        ]))
    }

    async fn validate(&self, config: Value) -> ProviderDiagnostics {
        let set = ["inline", "script", "scripts"];
        let set = set.iter().filter_map(|name| config.get(name)).filter(|value| !value.is_null()).count();
        if set == 1 {
            return Vec::new();
        }
        vec![ProviderDiagnostic::error(
            "Invalid remote-exec provisioner configuration",
            "Only one of \"inline\", \"script\", or \"scripts\" must be set",
        )]
    }

    async fn provision(&self, request: ProvisionRequest) -> ProviderDiagnostics {
        match self.run(&request).await {
            Ok(()) => Vec::new(),
            Err(error) => failed(NAME, error.to_string()),
        }
    }

    async fn stop(&self) -> Result<(), String> {
        self.stop.stop();
        Ok(())
    }
}

impl RemoteExec {
    pub fn new(dialect: Dialect) -> RemoteExec {
        RemoteExec { stop: Stop::default(), dialect }
    }

    async fn run(&self, request: &ProvisionRequest) -> Result<(), RemoteError> {
        let settings = settings(request, self.dialect)?;
        let scripts = scripts(&request.config)?;
        let output = request.output.clone();
        connected(settings, &request.output, &self.stop, |mut communicator| async move {
            let lines = |line: &str| output(line);
            for script in &scripts {
                run_script(&mut communicator, script, &lines).await?;
            }
            Ok(())
        })
        .await
    }
}

async fn run_script(communicator: &mut Communicator, script: &[u8], lines: Lines<'_>) -> Result<(), RemoteError> {
    let path = communicator.script_path();
    communicator.upload_script(&path, script).await.map_err(RemoteError::ScriptUpload)?;
    let command = communicator.quote(&path);
    communicator.run(&command, lines).await.map_err(|error| match error {
        ExecError::Start(error) => RemoteError::ScriptStart(error),
        error @ ExecError::Exit { .. } => RemoteError::ScriptFailed(error),
    })?;
    // What the script held must not stay behind; that it cannot be emptied is no reason to fail.
    communicator.upload(&path, UploadSource::Bytes(Vec::new())).await.ok();
    Ok(())
}

/// The scripts' contents; the lines of `inline` make one.
fn scripts(config: &Value) -> Result<Vec<Vec<u8>>, RemoteError> {
    let texts = |name: &str| -> Result<Vec<String>, RemoteError> {
        let elements = config.get(name).map(Value::elements).unwrap_or_default();
        elements
            .iter()
            .map(|element| element.as_str().map(str::to_owned).ok_or(RemoteError::InvalidScript { is_null: true }))
            .collect()
    };
    if config.get("inline").is_some_and(|inline| !inline.is_null()) {
        let lines = texts("inline")?;
        return Ok(vec![format!("{}\n", lines.join("\n")).into_bytes()]);
    }
    let mut paths = texts("scripts")?;
    paths.extend(config.get("script").and_then(Value::as_str).map(str::to_owned));
    paths
        .iter()
        .map(|path| {
            if path.is_empty() {
                return Err(RemoteError::InvalidScript { is_null: false });
            }
            std::fs::read(path).map_err(|error| {
                let why = io_text("open", path, &error);
                RemoteError::Script { path: path.clone(), why }
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(inline: Option<Vec<Value>>, script: Option<&str>) -> Value {
        let list = |elements: Option<Vec<Value>>| {
            elements.map_or(Value::null(Type::list(Type::String)), |elements| Value::list(Type::String, elements))
        };
        Value::object([
            ("inline", list(inline)),
            ("script", script.map_or(Value::null(Type::String), Value::string)),
            ("scripts", list(None)),
        ])
    }

    #[tokio::test]
    async fn one_kind_of_script() {
        for (config, valid) in [
            (config(None, None), false),
            (config(Some(vec![]), None), true),
            (config(None, Some("x")), true),
            (config(Some(vec![]), Some("x")), false),
        ] {
            assert_eq!(RemoteExec::default().validate(config).await.is_empty(), valid);
        }
    }

    #[test]
    fn collects() {
        let inline = Some(vec![Value::string("a"), Value::string("b")]);
        assert_eq!(scripts(&config(inline, None)), Ok(vec![b"a\nb\n".to_vec()]));
        assert_eq!(
            scripts(&config(None, Some("nope"))).unwrap_err().to_string(),
            "Failed to open script 'nope': open nope: no such file or directory"
        );
        let null = Some(vec![Value::null(Type::String)]);
        assert_eq!(scripts(&config(null, None)), Err(RemoteError::InvalidScript { is_null: true }));
    }

    #[tokio::test]
    async fn connection_is_checked_first() {
        let connection =
            |pairs: Vec<(&str, &str)>| Value::object(pairs.into_iter().map(|(k, v)| (k, Value::string(v))));
        for (connection, expected) in [
            (Value::null_dynamic(), "Missing connection configuration for provisioner."),
            (connection(vec![("type", "foo"), ("host", "h")]), "connection type 'foo' not supported"),
            (connection(vec![("type", "winrm")]), "connection type 'winrm' is not supported yet: use 'ssh'"),
            (connection(vec![("host", "")]), "host for provisioner cannot be empty"),
            (
                connection(vec![("host", "127.0.0.1"), ("private_key", "x")]),
                "Failed to read ssh private key: no key found",
            ),
        ] {
            let config = config(Some(vec![Value::string("true")]), None);
            let output = Arc::new(|_: &str| {});
            let found = RemoteExec::default().provision(ProvisionRequest { config, connection, output }).await;
            assert_eq!(
                (found[0].summary.as_str(), found[0].detail.as_str()),
                ("remote-exec provisioner error", expected)
            );
        }
    }
}
