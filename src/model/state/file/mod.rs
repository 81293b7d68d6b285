//! The state file: detecting its version, reading it, writing it.
//!
//! The format is version 4 of the reference, byte for byte; only the reference changes it. Older versions
//! are upgraded in steps (`upgrade`), newer ones are refused. Works on bytes; never opens a file.

mod address;
mod json_text;
mod render;
mod upgrade;
mod v4;

pub(crate) use address::{deferred_instance, module_instance, provider_config, resource_instance};
use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::name::PROGRAM;
pub(super) use json_text::compact_parts;
pub use render::{Rendered, StateChange};
use serde::Deserialize;
use serde_json::value::RawValue;
use terrane_value::json_error::syntax_error;
pub(super) use v4::{merge_checks, merge_output, merge_resource};

use super::{State, StateMeta};
use crate::opentofu;
use crate::version::compatible_version;

/// A state with what identifies the snapshot.
#[derive(Clone, Debug)]
pub struct StateFile {
    pub meta: StateMeta,
    pub state: State,
}

const UNSUPPORTED: &str = "Unsupported state file format";
const INVALID: &str = "Invalid state file format";

/// Reads the content of a state file; None if it is empty, which is how a state that was never written looks.
pub fn read(content: &[u8]) -> Result<Option<StateFile>, Diagnostics> {
    if content.is_empty() {
        return Ok(None);
    }
    if let Some(file) = v4::parse(content) {
        return v4::state_of(file).map(Some);
    }
    // Go's decoder takes what is not quite JSON: broken UTF-8, and keys that are there twice.
    let text = String::from_utf8_lossy(content);
    match json_text::without_repeated_keys(&text, "outputs") {
        Some(text) => read_other(text.as_bytes()),
        None => read_other(content),
    }
}

/// Reads what is no well-formed file of version 4.
fn read_other(content: &[u8]) -> Result<Option<StateFile>, Diagnostics> {
    if content.starts_with(b"tfstate") {
        return Err(unsupported(
            "The state is stored in a legacy binary format that is not supported since Terraform v0.7. To continue, first upgrade the state using Terraform 0.6.16 or earlier.",
        ));
    }
    match sniff_version(content)? {
        0 => Err(unsupported(
            "The state file uses JSON syntax but has a version number of zero. There was never a JSON-based state format zero, so this state file is invalid and cannot be processed.",
        )),
        1..=3 => upgrade::read(content).map(Some),
        4 => v4::read(content).map(Some),
        version => {
            let origin = match sniff_program(content) {
                Some(program) => format!("was created by Terraform {program}"),
                None => "may have been created by a newer version of Terraform".to_string(),
            };
            Err(unsupported(format!(
                "The state file uses format version {version}, which is not supported by {PROGRAM} {language}. This state file {origin}.",
                language = compatible_version()
            )))
        }
    }
}

/// The content of the file for a state. To write many snapshots of one state, keep a [`Rendered`].
/// Errors: values that no file can hold, unknown ones for example.
pub fn write(meta: &StateMeta, state: &State) -> Result<Vec<u8>, Diagnostics> {
    Ok(Rendered::of(state)?.to_bytes(meta).to_vec())
}

/// As [`write()`], without blanks or line endings.
pub fn write_compact(meta: &StateMeta, state: &State) -> Result<Vec<u8>, Diagnostics> {
    let indented = write(meta, state)?;
    Ok(json_text::compact(&String::from_utf8_lossy(&indented)).into_bytes())
}

/// Valid JSON laid out as the reference lays out what it saves; without a line ending.
pub fn go_json(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    json_text::indent(text, 0, &mut out);
    out
}

/// The diagnostics of a state that cannot be read, as one text: how they appear within another message.
pub fn problems_text(diagnostics: &Diagnostics) -> String {
    let text = |d: &Diagnostic| match d.detail.is_empty() {
        true => d.summary.clone(),
        false => format!("{}: {}", d.summary, d.detail),
    };
    let errors: Vec<String> = diagnostics.iter().filter(|d| d.is_error()).map(text).collect();
    match &errors[..] {
        [] => String::new(),
        [one] => one.clone(),
        many => format!("{} problems:\n\n- {}", many.len(), many.join("\n- ")),
    }
}

fn unsupported(detail: impl Into<String>) -> Diagnostics {
    Diagnostic::error(UNSUPPORTED, detail).into()
}

const NO_VERSION: &str =
    "The state file does not have a \"version\" attribute, which is required to identify the format version.";

/// OpenTofu's sentence, and what to do.
const ENCRYPTED: &str = "This state file is encrypted and can not be read without an encryption configuration. Add the \"encryption\" block that \
     it was written with to the block \"terraform\" of the root module, or set TF_ENCRYPTION.";

// The dialect of states is that of the process, as states are read and written everywhere, by stores too.

fn stores_deprecations() -> bool {
    opentofu::stores_deprecations(Dialect::of_process())
}

fn stores_provider_of_objects() -> bool {
    opentofu::stores_provider_of_objects(Dialect::of_process())
}

fn sniff_version(content: &[u8]) -> Result<u64, Diagnostics> {
    #[derive(Deserialize)]
    struct Sniff<'a> {
        #[serde(borrow)]
        version: Option<&'a RawValue>,
        #[serde(borrow)]
        encryption_version: Option<&'a RawValue>,
    }
    // Syntax first, to distinguish a truncated file from one that is not a state.
    let whole: Result<&RawValue, _> = serde_json::from_slice(content);
    let raw = match whole {
        Ok(raw) => raw.get(),
        Err(error) => {
            let offset = byte_offset(content, &error);
            let what = format!("The state file could not be parsed as JSON: syntax error at byte offset {offset}.");
            return Err(match opentofu::looks_for_encryption_first(Dialect::of_process()) {
                true => {
                    let why = syntax_error(content, &error);
                    two(what, format!("The state file can not be checked for presence of encryption: {why}"))
                }
                false => both(what),
            });
        }
    };
    if !raw.starts_with('{') {
        return Err(match raw {
            "null" => unsupported(NO_VERSION),
            other => both(bad_version(other)),
        });
    }
    let sniff: Sniff<'_> = serde_json::from_str(raw).map_err(|e| conformity(&e.to_string()))?;
    match sniff.version.map(RawValue::get) {
        None if sniff.encryption_version.is_some_and(|version| !matches!(version.get(), "null" | "\"\"")) => {
            Err(unsupported(ENCRYPTED))
        }
        None => Err(unsupported(NO_VERSION)),
        Some(text) => text.parse().map_err(|_| unsupported(bad_version(text))),
    }
}

fn both(first: String) -> Diagnostics {
    two(first, NO_VERSION)
}

fn two(first: impl Into<String>, second: impl Into<String>) -> Diagnostics {
    vec![Diagnostic::error(UNSUPPORTED, first), Diagnostic::error(UNSUPPORTED, second)].into()
}

fn bad_version(text: &str) -> String {
    format!("The version in the state file is {}. A positive whole number is required.", json_kind(text))
}

/// What a JSON text is, as Go's decoder words it.
fn json_kind(text: &str) -> String {
    match text.bytes().next() {
        Some(b'"') => "string".into(),
        Some(b'{') => "object".into(),
        Some(b'[') => "array".into(),
        Some(b't' | b'f') => "bool".into(),
        _ => format!("number {text}"),
    }
}

fn conformity(why: &str) -> Diagnostics {
    let detail = format!("The state file does not conform to the expected JSON data structure: {why}.");
    Diagnostic::error(INVALID, detail).into()
}

fn byte_offset(content: &[u8], error: &serde_json::Error) -> usize {
    let before: usize =
        content.split_inclusive(|b| *b == b'\n').take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    // Of a character that no string may hold, the one before it is counted.
    let at = usize::from(error.to_string().starts_with("control character"));
    (before + error.column() + at).min(content.len())
}

fn sniff_program(content: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Sniff {
        terraform_version: Option<String>,
    }
    let sniff: Sniff = serde_json::from_slice(content).ok()?;
    sniff.terraform_version.filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from the reference with `state list -state=FILE`.
    #[test]
    fn unreadable_files_are_explained() {
        let syntax = "The state file could not be parsed as JSON: syntax error at byte offset";
        let cases = [
            (
                "{\"version\": 4, \"serial\": }",
                format!("2 problems:\n\n- {UNSUPPORTED}: {syntax} 26.\n- {UNSUPPORTED}: {NO_VERSION}"),
            ),
            (
                "{\"version\": 4, \"serial\"",
                format!("2 problems:\n\n- {UNSUPPORTED}: {syntax} 23.\n- {UNSUPPORTED}: {NO_VERSION}"),
            ),
            (
                "{\"version\":4} x",
                format!("2 problems:\n\n- {UNSUPPORTED}: {syntax} 15.\n- {UNSUPPORTED}: {NO_VERSION}"),
            ),
            (
                "{\"version\": 4, \"lineage\": \"x\n",
                format!("2 problems:\n\n- {UNSUPPORTED}: {syntax} 29.\n- {UNSUPPORTED}: {NO_VERSION}"),
            ),
            (" \n", format!("2 problems:\n\n- {UNSUPPORTED}: {syntax} 2.\n- {UNSUPPORTED}: {NO_VERSION}")),
            ("{}", format!("{UNSUPPORTED}: {NO_VERSION}")),
            ("null", format!("{UNSUPPORTED}: {NO_VERSION}")),
            (
                "{\"version\":\"4\"}",
                format!("{UNSUPPORTED}: The version in the state file is string. A positive whole number is required."),
            ),
            (
                "{\"version\":-4}",
                format!(
                    "{UNSUPPORTED}: The version in the state file is number -4. A positive whole number is required."
                ),
            ),
            (
                "{\"version\":5}",
                format!(
                    "{UNSUPPORTED}: The state file uses format version 5, which is not supported by Terrane {language}. This state file may have been created by a newer version of Terraform.",
                    language = compatible_version()
                ),
            ),
            (
                "{\"version\":5,\"terraform_version\":\"2.1.0\"}",
                format!(
                    "{UNSUPPORTED}: The state file uses format version 5, which is not supported by Terrane {language}. This state file was created by Terraform 2.1.0.",
                    language = compatible_version()
                ),
            ),
        ];
        for (content, expected) in cases {
            let problems = read(content.as_bytes()).map(|_| ()).unwrap_err();
            assert_eq!(problems_text(&problems), expected, "{content}");
        }
        assert!(read(b"").unwrap().is_none());
        assert!(read(b"tfstate\x01").is_err());
    }
}
