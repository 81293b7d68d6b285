//! Keys from a program of the user's own.

use async_trait::async_trait;
use base::limits;
use lang::syntax::body::BodySchema;
use serde_json::Value as Json;

use super::{BuildError, KeyProvider, Kind, Need, ProvideError, Provided};
use crate::command::{self, Failure, Protocol};
use crate::key::{Key, Keys};
use crate::metadata::{self, JsonError, first_value};
use crate::payload::from_base64;
use crate::services::Services;
use crate::settings::Settings;

pub struct External;

const PROTOCOL: Protocol =
    Protocol { magic: "OpenTofu-External-Key-Provider", speaker: "external key provider", unread: "external binary" };

const DATA: &str = "external_data";

#[async_trait]
impl Kind for External {
    fn name(&self) -> &'static str {
        "external"
    }

    fn schema(&self) -> BodySchema {
        BodySchema::new().required("command")
    }

    async fn build(
        &self,
        settings: &mut Settings,
        _: Option<Keys>,
        _: &Services,
    ) -> Result<Box<dyn KeyProvider>, BuildError> {
        let command = settings.texts("command");
        if command.is_empty() {
            return Err(BuildError::setting("the command option is required"));
        }
        Ok(Box::new(ExternalProvider { command }))
    }
}

struct ExternalProvider {
    command: Vec<String>,
}

#[async_trait]
impl KeyProvider for ExternalProvider {
    async fn provide(&self, stored: Option<&[u8]>, _: Need) -> Result<Provided, ProvideError> {
        let question = match stored.map(stored_data).transpose()?.flatten() {
            Some(data) => with_data(&data),
            None => b"null".to_vec(),
        };
        let said = |why: &str, stderr: &str| format!("{why}\n\nStderr:\n-------\n{stderr}");
        let answer = command::ask(&self.command, &PROTOCOL, &question, limits::answer()).await;
        let (answer, stderr) = answer.map_err(|failure| {
            ProvideError::Program(match failure {
                // What OpenTofu says when it has killed the program for that.
                Failure::Header { .. } => "external key provider protocol failure: signal: killed".to_owned(),
                Failure::Exit { why, stderr } => {
                    said(&format!("the external command exited with a non-zero exit code ({why})"), &stderr)
                }
                Failure::Broken { why, stderr } => {
                    said(&format!("the external command exited with an error ({why})"), &stderr)
                }
            })
        })?;
        read_answer(&answer).map_err(|why| {
            let why = format!("the external command returned an invalid JSON response ({why})");
            ProvideError::Program(said(&why, &stderr))
        })
    }
}

/// The input of the program.
fn stored_data(metadata: &[u8]) -> Result<Option<Json>, ProvideError> {
    let read: Json = serde_json::from_slice(metadata)
        .map_err(|error| ProvideError::Metadata(terrane_value::json_error::syntax_error(metadata, &error)))?;
    if read.is_null() {
        return Ok(None);
    }
    let members = metadata::object(read).map_err(|why| ProvideError::Metadata(why.to_string()))?;
    let data = members.into_iter().rfind(|(name, _)| name.eq_ignore_ascii_case(DATA));
    match data {
        None | Some((_, Json::Null)) => Ok(None),
        Some((_, data @ Json::Object(_))) => Ok(Some(data)),
        Some(_) => Err(ProvideError::Metadata(format!("json: {DATA} is not an object"))),
    }
}

fn with_data(data: &Json) -> Vec<u8> {
    let mut text = format!("{{\"{DATA}\":").into_bytes();
    metadata::write(&mut text, data);
    text.push(b'}');
    text
}

fn read_answer(answer: &[u8]) -> Result<Provided, JsonError> {
    let (mut keys, mut data) = (Keys::default(), Json::Null);
    for (name, value) in metadata::object(first_value(answer)?)? {
        match name.to_ascii_lowercase().as_str() {
            "keys" if !value.is_null() => keys = read_keys(value)?,
            "meta" if !value.is_null() => {
                for (name, value) in metadata::object(value)? {
                    match (name.eq_ignore_ascii_case(DATA), value) {
                        (true, value @ (Json::Object(_) | Json::Null)) => data = value,
                        (true, _) => return Err(JsonError::Field { name: DATA.to_owned(), expected: "an object" }),
                        (false, _) => return Err(JsonError::UnknownField(name)),
                    }
                }
            }
            "keys" | "meta" => {}
            _ => return Err(JsonError::UnknownField(name)),
        }
    }
    Ok(Provided { keys, metadata: with_data(&data) })
}

fn read_keys(value: Json) -> Result<Keys, JsonError> {
    let mut keys = Keys::default();
    for (name, value) in metadata::object(value)? {
        let slot = match name.to_ascii_lowercase().as_str() {
            "encryption_key" => &mut keys.encryption,
            "decryption_key" => &mut keys.decryption,
            _ => return Err(JsonError::UnknownField(name)),
        };
        *slot = match value {
            Json::Null => None,
            Json::String(text) => Some(Key::new(from_base64(&text)?)).filter(|key| !key.bytes().is_empty()),
            _ => return Err(JsonError::Field { name, expected: "a string" }),
        };
    }
    Ok(keys)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    async fn ask(script: &str, stored: Option<&str>) -> Result<(Keys, String), ProvideError> {
        let header = r#"echo '{"magic":"OpenTofu-External-Key-ExternalProvider","version":1}'; "#;
        let command = ["sh".to_owned(), "-c".to_owned(), format!("{header}{script}")].to_vec();
        let provided = ExternalProvider { command }.provide(stored.map(str::as_bytes), Need::Both).await?;
        Ok((provided.keys, String::from_utf8_lossy(&provided.metadata).into_owned()))
    }

    #[tokio::test]
    async fn the_program_receives_its_stored_metadata() {
        let echo = r#"read x || true; echo '{"keys":{"encryption_key":"AAE="},"meta":{"external_data":{"z":1.0,"asked":"'"$(printf %s "$x" | tr '"' "'")"'"}}}'"#;
        let (keys, metadata) = ask(echo, None).await.unwrap();
        assert_eq!(keys, Keys { encryption: Some(Key::new([0, 1])), decryption: None });
        assert_eq!(metadata, r#"{"external_data":{"asked":"null","z":1}}"#);
        let (_, metadata) = ask(echo, Some(r#"{"external_data":{"b":2}}"#)).await.unwrap();
        assert_eq!(metadata, r#"{"external_data":{"asked":"{'external_data':{'b':2}}","z":1}}"#);
        let (_, metadata) = ask("echo '{\"keys\":{}}'", Some("{\"external_data\":null}")).await.unwrap();
        assert_eq!(metadata, r#"{"external_data":null}"#);
    }

    #[tokio::test]
    async fn other_answers_are_refused() {
        let cases = [
            (
                "echo '{\"more\":1}'",
                "the external command returned an invalid JSON response (json: unknown field \"more\")",
            ),
            (
                "echo '{\"keys\":{\"other\":1}}'",
                "the external command returned an invalid JSON response (json: unknown field \"other\")",
            ),
            (
                "echo hello",
                "the external command returned an invalid JSON response (invalid character 'h' looking for beginning of value)",
            ),
            ("exit 3", "the external command exited with a non-zero exit code (exit status 3)"),
        ];
        for (script, expected) in cases {
            let Err(ProvideError::Program(why)) = ask(script, None).await else { panic!("{script}") };
            assert_eq!(why, format!("{expected}\n\nStderr:\n-------\n"));
        }
        assert!(matches!(ask("true", Some("x")).await, Err(ProvideError::Metadata(_))));
    }
}
