//! `file`: a file, a folder or a text, copied to another machine.

use std::sync::Arc;

use async_trait::async_trait;
use base::dialect::Dialect;
use base::env::Environment;
use base::stop::Stop;
use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics, ProvisionRequest, Provisioner};
use terrane_protocol::schema::Schema;
use terrane_value::{Type, Value};

use super::connection::{RemoteError, connected, settings};
use super::{failed, schema, text_of};
use crate::ssh::{Communicator, SshError, UploadSource, expand_home};
use crate::wording::io_text;

const NAME: &str = "file";

#[derive(Default)]
pub struct File {
    stop: Stop,
    dialect: Dialect,
}

#[async_trait]
impl Provisioner for File {
    async fn schema(&self) -> Result<Arc<Schema>, ProviderDiagnostics> {
        Ok(schema(&[
            ("source", Type::String, false),
            ("content", Type::String, false),
            ("destination", Type::String, true),
        ]))
    }

    async fn validate(&self, config: Value) -> ProviderDiagnostics {
        let given = |name| config.get(name).is_some_and(|value: &Value| !value.is_null());
        let summary = match (given("source"), given("content")) {
            (true, true) => "Cannot set both 'source' and 'content'",
            (false, false) => "Must provide one of 'source' or 'content'",
            _ => return Vec::new(),
        };
        vec![ProviderDiagnostic::error(summary, "")]
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

impl File {
    pub fn new(dialect: Dialect) -> File {
        File { stop: Stop::default(), dialect }
    }

    async fn run(&self, request: &ProvisionRequest) -> Result<(), RemoteError> {
        let settings = settings(request, self.dialect)?;
        let destination = text_of(&request.config, "destination").unwrap_or_default().to_owned();
        let upload = upload(&request.config)?;
        connected(settings, &request.output, &self.stop, |mut communicator| async move {
            send(&mut communicator, upload, &destination).await.map_err(RemoteError::Upload)
        })
        .await
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Upload {
    Text(Vec<u8>),
    File(String),
    /// With its trailing slash, if there was one.
    Folder(String),
}

fn upload(config: &Value) -> Result<Upload, RemoteError> {
    if let Some(content) = text_of(config, "content") {
        return Ok(Upload::Text(content.into()));
    }
    let home = Environment::process().home_dir();
    let source = expand_home(text_of(config, "source").unwrap_or_default(), home.as_deref());
    match std::fs::metadata(&source) {
        Ok(metadata) if metadata.is_dir() => Ok(Upload::Folder(source)),
        Ok(_) => Ok(Upload::File(source)),
        Err(error) => Err(RemoteError::Source(io_text("stat", &source, &error))),
    }
}

async fn send(communicator: &mut Communicator, upload: Upload, destination: &str) -> Result<(), SshError> {
    match upload {
        Upload::Text(content) => communicator.upload(destination, UploadSource::Bytes(content)).await,
        Upload::File(path) => communicator.upload(destination, UploadSource::File(path.into())).await,
        Upload::Folder(path) => communicator.upload_folder(destination, &path).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(source: Option<&str>, content: Option<&str>) -> Value {
        let text = |text: Option<&str>| text.map_or(Value::null(Type::String), Value::string);
        Value::object([("source", text(source)), ("content", text(content)), ("destination", Value::string("d"))])
    }

    #[tokio::test]
    async fn one_source() {
        for (source, content, expected) in [
            (Some("a"), Some("b"), "Cannot set both 'source' and 'content'"),
            (None, None, "Must provide one of 'source' or 'content'"),
        ] {
            assert_eq!(File::default().validate(config(source, content)).await[0].summary, expected);
        }
        assert!(File::default().validate(config(None, Some(""))).await.is_empty());
    }

    #[test]
    fn what_to_send() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        let file = format!("{path}/f");
        std::fs::write(&file, "").unwrap();
        assert_eq!(upload(&config(None, Some("x"))), Ok(Upload::Text(b"x".to_vec())));
        assert_eq!(upload(&config(Some(&file), None)), Ok(Upload::File(file)));
        assert_eq!(upload(&config(Some(&format!("{path}/")), None)), Ok(Upload::Folder(format!("{path}/"))));
        assert_eq!(
            upload(&config(Some("nope"), None)).unwrap_err().to_string(),
            "stat nope: no such file or directory"
        );
    }
}
