//! `.terraform/modules/modules.json`: which modules are installed, and where.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::addr;
use crate::config::module_source;
use crate::deps::Version;
use crate::deps::version::VersionError;

/// Installed modules by their path in the tree; the root is the entry with an empty path.
#[derive(Clone, Debug, Default)]
pub struct ModuleManifest {
    records: BTreeMap<addr::Module, ModuleRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRecord {
    /// The source address in its normal form.
    pub source: String,
    pub version: Option<Version>,
    pub dir: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct File {
    #[serde(rename = "Modules", default)]
    modules: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    #[serde(rename = "Key")]
    key: String,
    #[serde(rename = "Source")]
    source: String,
    #[serde(rename = "Version", default, skip_serializing_if = "String::is_empty")]
    version: String,
    #[serde(rename = "Dir")]
    dir: String,
}

/// Why a text is no manifest.
#[derive(Debug)]
pub enum ManifestError {
    Json(serde_json::Error),
    /// The version of the module with this key.
    Version {
        key: String,
        text: String,
        error: VersionError,
    },
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManifestError::Json(error) => write!(f, "error unmarshalling snapshot: {error}"),
            ManifestError::Version { key, text, error } => write!(f, "invalid version {text:?} for {key}: {error}"),
        }
    }
}

impl std::error::Error for ManifestError {}

impl ModuleManifest {
    /// Reads the text of a manifest.
    pub fn parse(text: &str) -> Result<ModuleManifest, ManifestError> {
        if text.is_empty() {
            return Ok(ModuleManifest::default());
        }
        let file: File = serde_json::from_str(text).map_err(ManifestError::Json)?;
        let mut records = BTreeMap::new();
        for entry in file.modules {
            let version = match entry.version.as_str() {
                "" => None,
                text => Some(Version::parse(text).map_err(|error| {
                    let (key, text) = (entry.key.clone(), text.to_owned());
                    ManifestError::Version { key, text, error }
                })?),
            };
            let path = match entry.key.as_str() {
                "" => addr::Module::root(),
                key => key.split('.').map(Into::into).collect::<Vec<_>>().into(),
            };
            // Paths of other systems.
            let dir = PathBuf::from(entry.dir.replace('\\', "/"));
            // Older programs left out the usual registry's host.
            let source = match module_source::parse_registry(&entry.source) {
                Ok(source) => source.to_string(),
                Err(_) => entry.source,
            };
            records.insert(path, ModuleRecord { source, version, dir });
        }
        Ok(ModuleManifest { records })
    }

    /// The text of the file, sorted by path.
    pub fn to_json(&self) -> String {
        let entries = self.records.iter().map(|(path, record)| Entry {
            key: path.0.join("."),
            source: record.source.clone(),
            version: record.version.as_ref().map(Version::to_string).unwrap_or_default(),
            dir: record.dir.to_string_lossy().into_owned(),
        });
        let mut modules: Vec<Entry> = entries.collect();
        modules.sort_by(|a, b| a.key.cmp(&b.key));
        serde_json::to_string(&File { modules }).unwrap_or_default()
    }

    pub fn get(&self, path: &addr::Module) -> Option<&ModuleRecord> {
        self.records.get(path)
    }

    pub fn insert(&mut self, path: addr::Module, source: &str, version: Option<Version>, dir: &Path) {
        self.records.insert(path, ModuleRecord { source: source.to_owned(), version, dir: dir.to_owned() });
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Forgets a module and everything that it calls.
    pub fn remove(&mut self, path: &addr::Module) {
        self.records.retain(|known, _| !known.starts_with(path));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&addr::Module, &ModuleRecord)> {
        self.records.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_survives_a_round_trip() {
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a.b","Source":"registry.terraform.io/x/y/z","Version":"1.2.3","Dir":".terraform/modules/a.b"}]}"#;
        let manifest = ModuleManifest::parse(text).unwrap();
        assert_eq!(manifest.to_json(), text);
        let record = manifest.get(&addr::Module::root().child("a").child("b")).unwrap();
        assert_eq!(record.dir, Path::new(".terraform/modules/a.b"));
        let older = ModuleManifest::parse(&text.replace("registry.terraform.io/", "")).unwrap();
        assert_eq!(older.to_json(), text);
    }
}
