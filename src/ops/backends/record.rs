//! The record of the backend of a working directory: `.terraform/terraform.tfstate`. The format is the
//! reference's; called as `tofu`, that of OpenTofu.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::base::atomic;
use crate::base::files::named;
use crate::base::name::{self, Name};
use crate::model::state::file::go_json;
use crate::model::version::language_version;

/// The backend that `init` set up.
#[derive(Clone, Debug)]
pub struct BackendRecord {
    pub kind: String,
    /// The settings as JSON text, those of the command line included.
    pub config: String,
    /// Of the settings in the configuration; the reference's own way of hashing is not ours, so only equality counts.
    pub hash: u32,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    /// Old records and those of OpenTofu have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terraform_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backend: Option<Record>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(rename = "type")]
    kind: String,
    config: Box<RawValue>,
    hash: u64,
}

fn record_path(data_dir: &Path) -> PathBuf {
    data_dir.join("terraform.tfstate")
}

/// The recorded backend; None if nothing but the local backend without settings was ever set up.
pub fn read(data_dir: &Path) -> io::Result<Option<BackendRecord>> {
    let path = record_path(data_dir);
    let content = match std::fs::read(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|e| named(e, "open", &path))?,
    };
    let file: File = serde_json::from_slice(&content).map_err(|e| named(e.into(), "read", &path))?;
    let record = file.backend.filter(|record| !record.kind.is_empty());
    Ok(record.map(|r| BackendRecord { kind: r.kind, config: r.config.get().to_string(), hash: r.hash as u32 }))
}

/// Records a backend; None: records that there is none.
pub fn write(data_dir: &Path, record: Option<&BackendRecord>) -> io::Result<()> {
    let path = record_path(data_dir);
    if record.is_none() && !path.exists() {
        return Ok(());
    }
    let backend = record.map(|record| -> io::Result<Record> {
        let config = RawValue::from_string(record.config.clone()).map_err(|e| named(e.into(), "write", &path))?;
        Ok(Record { kind: record.kind.clone(), config, hash: record.hash.into() })
    });
    let content = encode(backend.transpose()?, name::current()).map_err(|e| named(e, "write", &path))?;
    std::fs::create_dir_all(data_dir).map_err(|e| named(e, "mkdir", data_dir))?;
    atomic::write(&path, &content)
}

/// The content of the file as a program lays it out.
fn encode(backend: Option<Record>, program: Name) -> io::Result<Vec<u8>> {
    let is_opentofu = program == Name::OpenTofu;
    let terraform_version = (!is_opentofu).then(|| language_version().to_owned());
    let text = serde_json::to_string(&File { version: 3, terraform_version, backend })?;
    let content = go_json(&text);
    Ok(if is_opentofu { deeper(&content) } else { content })
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
        let record = BackendRecord { kind: "local".into(), config: config.into(), hash: 1293398979 };
        write(&data, Some(&record)).unwrap();
        let expected = "{\n  \"version\": 3,\n  \"terraform_version\": \"1.11.4\",\n  \"backend\": {\n    \"type\": \"local\",\n    \"config\": {\n      \"path\": \"x/\\u003cy\\u003e.tfstate\",\n      \"workspace_dir\": null\n    },\n    \"hash\": 1293398979\n  }\n}";
        assert_eq!(std::fs::read_to_string(data.join("terraform.tfstate")).unwrap(), expected);
        let again = read(&data).unwrap().unwrap();
        assert_eq!((again.kind.as_str(), again.hash), ("local", 1293398979));
        write(&data, None).unwrap();
        assert!(read(&data).unwrap().is_none());
        let empty = "{\n  \"version\": 3,\n  \"terraform_version\": \"1.11.4\"\n}";
        assert_eq!(std::fs::read_to_string(data.join("terraform.tfstate")).unwrap(), empty);
    }

    #[test]
    fn the_record_of_opentofu_is_indented_deeper_and_has_no_version() {
        let config = RawValue::from_string("{\"path\":\"x\"}".into()).unwrap();
        let content = encode(Some(Record { kind: "local".into(), config, hash: 7 }), Name::OpenTofu).unwrap();
        let expected = "{\n    \"version\": 3,\n    \"backend\": {\n        \"type\": \"local\",\n        \"config\": {\n            \"path\": \"x\"\n        },\n        \"hash\": 7\n    }\n}\n";
        assert_eq!(String::from_utf8(content).unwrap(), expected);
    }
}
