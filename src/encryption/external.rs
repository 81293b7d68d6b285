//! Encryption by programs of the user's own.

use std::fmt;
use std::path::{Path, PathBuf};

use base::limits;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

use super::command::{self, Failure, Protocol};
use super::key::Key;
use super::metadata::{self, JsonError, first_value};

const PROTOCOL: Protocol =
    Protocol { magic: "OpenTofu-External-Encryption-Method", speaker: "external method", unread: "external method" };

/// Why a program gave no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// There is nothing to decrypt.
    Empty,
    Unanswered(Failure),
    /// The answer is not the JSON that it should be. `stderr` is what the program said there.
    Answer {
        why: JsonError,
        stderr: String,
    },
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut failed = |what: &str, why: &dyn fmt::Display, stderr: &str| {
            write!(f, "{what} ({why})\n-----\nStderr:\n-------\n{stderr}\n")
        };
        match self {
            ProgramError::Empty => f.write_str("Cannot decrypt empty data."),
            ProgramError::Unanswered(Failure::Header { why, stderr }) => {
                failed("external encryption method failure", why, stderr)
            }
            ProgramError::Unanswered(Failure::Exit { why, stderr }) => {
                failed("external encryption method exited with non-zero exit code", why, stderr)
            }
            ProgramError::Unanswered(Failure::Broken { why, stderr }) => {
                failed("external encryption method exited with an error", why, stderr)
            }
            ProgramError::Answer { why, stderr } => {
                failed("external encryption method returned an invalid JSON", why, stderr)
            }
        }
    }
}

impl std::error::Error for ProgramError {}

/// The programs, each with its arguments.
#[derive(Clone, Debug)]
pub struct Programs {
    pub encrypt: Vec<String>,
    pub decrypt: Vec<String>,
    /// Where they start. Empty: in the folder of this process.
    pub folder: PathBuf,
}

impl Programs {
    pub async fn seal(&self, key: Option<&Key>, plain: &[u8]) -> Result<Vec<u8>, ProgramError> {
        run(&self.encrypt, &self.folder, key, plain).await
    }

    pub async fn open(&self, key: Option<&Key>, sealed: &[u8]) -> Result<Vec<u8>, ProgramError> {
        if sealed.is_empty() {
            return Err(ProgramError::Empty);
        }
        run(&self.decrypt, &self.folder, key, sealed).await
    }
}

async fn run(command: &[String], folder: &Path, key: Option<&Key>, payload: &[u8]) -> Result<Vec<u8>, ProgramError> {
    let mut question = String::from("{");
    if let Some(key) = key {
        question.push_str(&format!("\"key\":\"{}\",", STANDARD.encode(key.bytes())));
    }
    question.push_str("\"payload\":\"");
    STANDARD.encode_string(payload, &mut question);
    question.push_str("\"}");
    let answer = command::ask(command, folder, &PROTOCOL, question.as_bytes(), limits::state()).await;
    let (answer, stderr) = answer.map_err(ProgramError::Unanswered)?;
    payload_of(&answer).map_err(|why| ProgramError::Answer { why, stderr })
}

/// The payload of an answer, which has nothing else.
fn payload_of(answer: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut payload = Vec::new();
    for (name, value) in metadata::object(first_value(answer)?)? {
        match (name.to_ascii_lowercase().as_str(), value) {
            ("payload", Json::String(text)) => payload = super::payload::from_base64(&text)?,
            ("payload", Json::Null) => {}
            ("payload", _) => return Err(JsonError::Payload),
            _ => return Err(JsonError::UnknownField(name)),
        }
    }
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_a_payload_and_nothing_else() {
        assert_eq!(payload_of(b"{\"payload\":\"AAE=\"} more"), Ok(vec![0, 1]));
        let cases = [
            ("", "EOF"),
            ("{", "unexpected EOF"),
            ("hello", "invalid character 'h' looking for beginning of value"),
            ("{\"payload\":\"\",\"more\":1}", "json: unknown field \"more\""),
            ("[]", "json: cannot unmarshal array into Go value"),
        ];
        for (answer, expected) in cases {
            assert_eq!(payload_of(answer.as_bytes()).unwrap_err().to_string(), expected, "{answer}");
        }
    }
}
