//! Encryption by programs of the user's own.

use std::path::Path;

use base::limits;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

use super::command::{self, Failure, Protocol};
use super::key::Key;
use super::metadata::{self, first_value};

const PROTOCOL: Protocol =
    Protocol { magic: "OpenTofu-External-Encryption-Method", speaker: "external method", unread: "external method" };

/// The programs, each with its arguments.
#[derive(Clone, Debug)]
pub struct Programs {
    pub encrypt: Vec<String>,
    pub decrypt: Vec<String>,
}

impl Programs {
    pub fn check(&self) -> Result<(), String> {
        for (name, command) in [("encrypt_command", &self.encrypt), ("decrypt_command", &self.decrypt)] {
            match command.first() {
                None => return Err(format!("the {name} option is required")),
                Some(program) if program.is_empty() => {
                    return Err(format!("the first entry of {name} must not be empty"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    pub async fn seal(&self, key: Option<&Key>, plain: &[u8]) -> Result<Vec<u8>, String> {
        run(&self.encrypt, key, plain).await
    }

    pub async fn open(&self, key: Option<&Key>, sealed: &[u8]) -> Result<Vec<u8>, String> {
        if sealed.is_empty() {
            return Err("Cannot decrypt empty data.".into());
        }
        run(&self.decrypt, key, sealed).await
    }
}

async fn run(command: &[String], key: Option<&Key>, payload: &[u8]) -> Result<Vec<u8>, String> {
    let mut question = String::from("{");
    if let Some(key) = key {
        question.push_str(&format!("\"key\":\"{}\",", STANDARD.encode(key.bytes())));
    }
    question.push_str("\"payload\":\"");
    STANDARD.encode_string(payload, &mut question);
    question.push_str("\"}");
    let failed = |what: &str, why: &str, stderr: &str| format!("{what} ({why})\n-----\nStderr:\n-------\n{stderr}\n");
    let answer = command::ask(command, Path::new(""), &PROTOCOL, question.as_bytes(), limits::state()).await;
    let (answer, stderr) = answer.map_err(|failure| match failure {
        Failure::Header { why, stderr } => failed("external encryption method failure", &why, &stderr),
        Failure::Exit { why, stderr } => {
            failed("external encryption method exited with non-zero exit code", &why, &stderr)
        }
        Failure::Broken { why, stderr } => failed("external encryption method exited with an error", &why, &stderr),
    })?;
    payload_of(&answer).map_err(|why| failed("external encryption method returned an invalid JSON", &why, &stderr))
}

/// The payload of an answer, which has nothing else.
fn payload_of(answer: &[u8]) -> Result<Vec<u8>, String> {
    let mut payload = Vec::new();
    for (name, value) in metadata::object(first_value(answer)?)? {
        match (name.to_ascii_lowercase().as_str(), value) {
            ("payload", Json::String(text)) => payload = super::payload::from_base64(&text)?,
            ("payload", Json::Null) => {}
            ("payload", _) => {
                return Err("json: cannot unmarshal into Go struct field OutputV1.payload of type []uint8".into());
            }
            _ => return Err(metadata::unknown_field(&name)),
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
            assert_eq!(payload_of(answer.as_bytes()), Err(expected.into()), "{answer}");
        }
    }
}
