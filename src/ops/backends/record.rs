//! The record of the backend of a working directory: `.terraform/terraform.tfstate`. The format is the
//! reference's; called as `tofu`, that of OpenTofu.

use std::io;
use std::path::{Path, PathBuf};

use base::atomic;
use base::dialect::Dialect;
use base::files::named;
use base::name::PROGRAM;
use model::plan::file::StoreProviderSettings;
use model::state::file::go_json;
use model::version::compatible_version;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::opentofu;

/// The backend that `init` set up.
#[derive(Clone, Debug)]
pub struct BackendRecord {
    pub kind: String,
    /// The settings as JSON text, those of the command line included.
    pub config: String,
    /// Of the settings in the configuration; the reference's own way of hashing is not ours, so only equality counts.
    pub hash: u32,
    /// The provider of a state store; backends have none.
    pub provider: Option<StoreProviderSettings>,
}

/// Why a record cannot be used.
#[derive(Debug)]
pub enum ReadError {
    File(io::Error),
    /// A state of an old program, or a record of a newer one.
    Format(String),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::File(error)
    }
}

const VERSION: u32 = 3;

/// What is looked at before the rest of a file is read.
#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    version: u32,
    #[serde(default)]
    terraform_version: Option<String>,
    #[serde(default)]
    backend: Option<IgnoredAny>,
    /// Remote state as programs before 0.9 had it.
    #[serde(default)]
    remote: Option<IgnoredAny>,
}

impl Header {
    fn problem(&self) -> Option<String> {
        match self.version {
            0 => Some("invalid syntax: no format version number".to_owned()),
            VERSION if self.remote.is_some() && self.backend.is_none() => Some(
                "this working directory uses legacy remote state and so must first be upgraded using Terraform v0.9"
                    .to_owned(),
            ),
            VERSION => None,
            other => Some(format!(
                "unsupported backend state version {other}; you may need to use {PROGRAM} CLI v{} to work in this directory",
                self.terraform_version.as_deref().unwrap_or_default()
            )),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    /// Old records and those of OpenTofu have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terraform_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backend: Option<Record>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_store: Option<StoreRecord>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(rename = "type")]
    kind: String,
    config: Box<RawValue>,
    hash: u64,
}

/// The fields in the order in which the reference writes them.
#[derive(Serialize, Deserialize)]
struct StoreRecord {
    #[serde(rename = "type")]
    kind: String,
    provider: ProviderRecord,
    config: Box<RawValue>,
    hash: u64,
    provider_supply_mode: String,
}

#[derive(Serialize, Deserialize)]
struct ProviderRecord {
    version: Option<String>,
    source: String,
    config: Box<RawValue>,
}

fn record_path(data_dir: &Path) -> PathBuf {
    data_dir.join("terraform.tfstate")
}

/// The recorded backend; None if nothing but the local backend without settings was ever set up.
pub fn read(data_dir: &Path) -> Result<Option<BackendRecord>, ReadError> {
    let path = record_path(data_dir);
    let content = match std::fs::read(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|e| named(e, "open", &path))?,
    };
    let header: Header = serde_json::from_slice(&content).map_err(|e| named(e.into(), "read", &path))?;
    if let Some(problem) = header.problem() {
        return Err(ReadError::Format(problem));
    }
    let file: File = serde_json::from_slice(&content).map_err(|e| named(e.into(), "read", &path))?;
    if let Some(store) = file.state_store.filter(|record| !record.kind.is_empty()) {
        return Ok(Some(of_store(store)));
    }
    let record = file.backend.filter(|record| !record.kind.is_empty());
    Ok(record.map(|r| BackendRecord {
        kind: r.kind,
        config: r.config.get().to_string(),
        hash: r.hash as u32,
        provider: None,
    }))
}

fn of_store(record: StoreRecord) -> BackendRecord {
    let provider = StoreProviderSettings {
        source: record.provider.source,
        version: record.provider.version,
        supply: record.provider_supply_mode,
        config: record.provider.config.get().to_string(),
    };
    let (kind, config, hash) = (record.kind, record.config.get().to_string(), record.hash as u32);
    BackendRecord { kind, config, hash, provider: Some(provider) }
}

/// Records a backend; None: records that there is none.
pub fn write(data_dir: &Path, dialect: Dialect, record: Option<&BackendRecord>) -> io::Result<()> {
    let path = record_path(data_dir);
    if record.is_none() && !path.exists() {
        return Ok(());
    }
    let content = place(record).and_then(|place| encode(place, dialect)).map_err(|e| named(e, "write", &path))?;
    std::fs::create_dir_all(data_dir).map_err(|e| named(e, "mkdir", data_dir))?;
    atomic::write(&path, &content)
}

/// Where states are.
enum RecordContent {
    Unset,
    Backend(Record),
    Store(StoreRecord),
}

fn place(record: Option<&BackendRecord>) -> io::Result<RecordContent> {
    let Some(record) = record else { return Ok(RecordContent::Unset) };
    let (kind, hash) = (record.kind.clone(), record.hash.into());
    let config = RawValue::from_string(record.config.clone())?;
    let Some(of) = &record.provider else { return Ok(RecordContent::Backend(Record { kind, config, hash })) };
    let provider = ProviderRecord {
        version: of.version.clone(),
        source: of.source.clone(),
        config: RawValue::from_string(of.config.clone())?,
    };
    Ok(RecordContent::Store(StoreRecord { kind, provider, config, hash, provider_supply_mode: of.supply.clone() }))
}

/// The content of the file as a program lays it out.
fn encode(place: RecordContent, dialect: Dialect) -> io::Result<Vec<u8>> {
    let (backend, state_store) = match place {
        RecordContent::Unset => (None, None),
        RecordContent::Backend(backend) => (Some(backend), None),
        RecordContent::Store(store) => (None, Some(store)),
    };
    let is_deeper = opentofu::records_backend_deeper(dialect);
    let terraform_version = (!is_deeper).then(|| compatible_version().to_owned());
    let text = serde_json::to_string(&File { version: VERSION, terraform_version, backend, state_store })?;
    let content = go_json(&text);
    Ok(if is_deeper { deeper(&content) } else { content })
}

/// JSON text with twice the indentation, and a line ending at its end.
fn deeper(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in content.split(|byte| *byte == b'\n') {
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        out.extend(std::iter::repeat_n(b' ', indent));
        out.extend(line);
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_is_the_reference_s() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join(".terraform");
        assert!(read(&data).unwrap().is_none());
        let config = "{\"path\":\"x/<y>.tfstate\",\"workspace_dir\":null}";
        let record = BackendRecord { kind: "local".into(), config: config.into(), hash: 1293398979, provider: None };
        write(&data, Dialect::default(), Some(&record)).unwrap();
        let expected = "{\n  \"version\": 3,\n  \"terraform_version\": \"RELEASE\",\n  \"backend\": {\n    \"type\": \"local\",\n    \"config\": {\n      \"path\": \"x/\\u003cy\\u003e.tfstate\",\n      \"workspace_dir\": null\n    },\n    \"hash\": 1293398979\n  }\n}".replace("RELEASE", compatible_version());
        assert_eq!(std::fs::read_to_string(data.join("terraform.tfstate")).unwrap(), expected);
        let again = read(&data).unwrap().unwrap();
        assert_eq!((again.kind.as_str(), again.hash), ("local", 1293398979));
        write(&data, Dialect::default(), None).unwrap();
        assert!(read(&data).unwrap().is_none());
        let empty =
            "{\n  \"version\": 3,\n  \"terraform_version\": \"RELEASE\"\n}".replace("RELEASE", compatible_version());
        assert_eq!(std::fs::read_to_string(data.join("terraform.tfstate")).unwrap(), empty);
    }

    #[test]
    fn files_of_other_formats_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let check = |content: &str, expected: &str| {
            std::fs::write(dir.path().join("terraform.tfstate"), content).unwrap();
            match read(dir.path()) {
                Err(ReadError::Format(why)) => assert!(why.contains(expected), "{content}: {why}"),
                other => assert_eq!(expected, "", "{content}: {other:?}"),
            }
        };
        check("{\"version\":3,\"remote\":{\"type\":\"http\",\"config\":{}}}", "uses legacy remote state");
        check("{\"version\":3,\"remote\":{}}", "uses legacy remote state");
        check("{\"version\":3,\"remote\":null}", "");
        let both = "{\"version\":3,\"remote\":{},\"backend\":{\"type\":\"local\",\"config\":{},\"hash\":1}}";
        check(both, "");
        check("{}", "no format version number");
        check(
            "{\"version\":4,\"terraform_version\":\"1.2.3\"}",
            "version 4; you may need to use Terrane CLI v1.2.3 to work",
        );
    }

    #[test]
    fn a_state_store_is_recorded_with_its_provider() {
        let dir = tempfile::tempdir().unwrap();
        let provider = StoreProviderSettings {
            source: "registry.terraform.io/a/p".into(),
            version: Some("1.0.0".into()),
            supply: "managed_by_terraform".into(),
            config: "{\"label\":null}".into(),
        };
        let record =
            BackendRecord { kind: "p_s".into(), config: "{\"dir\":\"d\"}".into(), hash: 5, provider: Some(provider) };
        write(dir.path(), Dialect::default(), Some(&record)).unwrap();
        let expected = "{\n  \"version\": 3,\n  \"terraform_version\": \"RELEASE\",\n  \"state_store\": {\n    \"type\": \"p_s\",\n    \"provider\": {\n      \"version\": \"1.0.0\",\n      \"source\": \"registry.terraform.io/a/p\",\n      \"config\": {\n        \"label\": null\n      }\n    },\n    \"config\": {\n      \"dir\": \"d\"\n    },\n    \"hash\": 5,\n    \"provider_supply_mode\": \"managed_by_terraform\"\n  }\n}".replace("RELEASE", compatible_version());
        assert_eq!(std::fs::read_to_string(dir.path().join("terraform.tfstate")).unwrap(), expected);
        let again = read(dir.path()).unwrap().unwrap();
        assert_eq!((again.kind, again.config.replace([' ', '\n'], ""), again.hash), (record.kind, record.config, 5));
        let (was, is) = (record.provider.unwrap(), again.provider.unwrap());
        assert_eq!((is.source, is.version, is.supply), (was.source, was.version, was.supply));
    }

    #[test]
    fn the_record_of_opentofu_is_indented_deeper_and_has_no_version() {
        let config = RawValue::from_string("{\"path\":\"x\"}".into()).unwrap();
        let content =
            encode(RecordContent::Backend(Record { kind: "local".into(), config, hash: 7 }), Dialect::OpenTofu)
                .unwrap();
        let expected = "{\n    \"version\": 3,\n    \"backend\": {\n        \"type\": \"local\",\n        \"config\": {\n            \"path\": \"x\"\n        },\n        \"hash\": 7\n    }\n}\n";
        assert_eq!(String::from_utf8(content).unwrap(), expected);
    }
}
