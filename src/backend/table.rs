//! The table of backends: names, schemas, and how to open one.
//!
//! Owns which backends there are. The caller evaluates a backend's block by its schema and passes the value.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use base::diag::{self, Diagnostic};
use base::env::Environment;
use base::suggest;
use gotext::hex::hex;
use sha2::{Digest, Sha256};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block};
use terrane_value::{Path, Type, Value};

use super::services::SharedServices;
use super::store::Backend;
use super::{azurerm, consul, cos, gcs, hcp, http, kubernetes, local, memory, oci, oss, pg, s3};

/// A backend that configurations may name.
#[async_trait]
pub trait Kind: Send + Sync {
    fn name(&self) -> &str;

    /// The settings that its block has.
    fn schema(&self) -> Block;

    /// What is wrong with settings of the schema's type, as far as they alone show it. Connects to nothing. A problem with an
    /// attribute is shown at its place in the block, or at the block if it is not written there; one without, at no place.
    fn check(&self, _config: &Value, _context: &Context) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    /// What the provider that implements the backend says about settings, warnings included. Other backends say nothing.
    async fn ask(&self, _config: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    /// Connects, with settings of the schema's type that are known, unmarked and checked. What the environment gives for
    /// settings that are null is read here, so that it is recorded nowhere.
    async fn open(&self, config: &Value, context: &Context) -> Result<Arc<dyn Backend>, Vec<ProviderDiagnostic>>;
}

/// What a backend is opened with besides its settings.
#[derive(Clone, Debug)]
pub struct Context {
    pub environment: Environment,
    /// The working directory's data folder.
    pub data_dir: PathBuf,
    pub files: StateFiles,
    pub services: SharedServices,
}

impl Context {
    /// A context without options of the command line, in which no host is known.
    pub fn new(environment: Environment, data_dir: impl Into<PathBuf>) -> Context {
        let (files, services) = Default::default();
        Context { environment, data_dir: data_dir.into(), files, services }
    }

    /// As [`Context::journal`], where one working directory may have the states of several places, as settings of the
    /// environment change. `place` identifies the state.
    pub fn journal_of(&self, workspace: &str, place: &[&str]) -> PathBuf {
        let mut hash = Sha256::new();
        for part in place {
            hash.update(part);
            hash.update([0]);
        }
        journal_in(&self.data_dir, &format!("{workspace}.{}", hex(&hash.finalize()[..PLACE_DIGITS / 2])))
    }

    /// Where the journal of a state belongs that is not kept in files of this machine.
    pub fn journal(&self, workspace: &str) -> PathBuf {
        journal_in(&self.data_dir, workspace)
    }
}

/// Digits of the hash in the name of a journal.
const PLACE_DIGITS: usize = 12;

/// Journals of the same workspace for states of other places.
pub fn other_journals(journal: &FilePath) -> Vec<PathBuf> {
    let workspace = |path: &FilePath| {
        let name = path.file_name()?.to_str()?.strip_suffix(".journal")?;
        let (workspace, digits) = name.rsplit_once('.')?;
        let is_place = digits.len() == PLACE_DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
        is_place.then(|| workspace.to_owned())
    };
    let (Some(ours), Some(folder)) = (workspace(journal), journal.parent()) else { return Vec::new() };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut others: Vec<PathBuf> =
        entries.filter(|path| path != journal && workspace(path).as_ref() == Some(&ours)).collect();
    others.sort();
    others
}

fn journal_in(data_dir: &std::path::Path, workspace: &str) -> PathBuf {
    data_dir.join("journals").join(format!("{workspace}.journal"))
}

/// `-state`, `-state-out` and `-backup`: they matter to the local backend only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateFiles {
    pub state: Option<PathBuf>,
    pub state_out: Option<PathBuf>,
    pub backup: Option<String>,
}

/// All of them, sorted by name.
pub const KINDS: &[&dyn Kind] = &[
    &azurerm::AzureRm,
    &hcp::Cloud,
    &consul::ConsulKind,
    &cos::Cos,
    &gcs::Gcs,
    &http::Http,
    &memory::InMemory,
    &kubernetes::Kubernetes,
    &local::Local,
    &oci::Oci,
    &oss::Oss,
    &pg::Pg,
    &hcp::Remote,
    &s3::S3,
];

const REMOVED: &[&str] = &["artifactory", "etcd", "etcdv3", "manta", "swift"];

/// The backend of a name, or why there is none (for the caller to attach the place).
pub fn find(name: &str) -> Result<&'static dyn Kind, Diagnostic> {
    if let Some(kind) = KINDS.iter().find(|kind| kind.name() == name) {
        return Ok(*kind);
    }
    Err(no_backend(match name {
        "azure" => "The \"azure\" backend name has been removed, please use \"azurerm\".".to_string(),
        name if REMOVED.contains(&name) => {
            format!("The {name:?} backend is not supported in Terraform v1.3 or later.")
        }
        name => format!("There is no backend type named {name:?}."),
    })
    .with_tip(close_backend(name)))
}

/// Which backend was probably meant, as a question.
fn close_backend(name: &str) -> String {
    suggest::question(name, KINDS.iter().map(|kind| kind.name()))
}

/// The error for a name that no backend has.
pub fn no_backend(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Unsupported backend type", detail.into()).of_kind(diag::Kind::UnknownBackend)
}

/// What is wrong with settings that lack one that the schema requires, for kinds that do not say it better themselves.
pub fn missing_setting(schema: &Block, config: &Value) -> Option<ProviderDiagnostic> {
    let is_missing = |name: &Arc<str>| config.get(name).is_none_or(Value::is_null);
    let (name, _) = schema.attributes.iter().find(|(name, attribute)| attribute.required && is_missing(name))?;
    let detail = format!("The backend configuration is incorrect: attribute {:?} is required.", &**name);
    Some(ProviderDiagnostic::error(INVALID_SETTINGS, detail).at(Path::default()))
}

/// The summary where settings are not what the schema says.
pub const INVALID_SETTINGS: &str = "Invalid backend configuration";

/// An optional setting.
pub fn optional(ty: Type, description: &str) -> Attribute {
    Attribute { optional: true, description: description.into(), ..Attribute::new(ty) }
}

/// A schema of these settings.
pub fn block(attributes: &[(&str, Attribute)]) -> Block {
    Block { attributes: attributes.iter().map(|(n, a)| ((*n).into(), a.clone())).collect(), ..Block::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_backends_are_explained() {
        let cases = [
            ("x", "There is no backend type named \"x\"."),
            ("etcd", "The \"etcd\" backend is not supported in Terraform v1.3 or later."),
            ("azure", "The \"azure\" backend name has been removed, please use \"azurerm\"."),
        ];
        for (name, detail) in cases {
            assert_eq!(find(name).map(|_| ()).unwrap_err().detail, detail);
        }
        assert!(KINDS.is_sorted_by_key(|kind| kind.name()));
    }

    #[test]
    fn journals_belong_to_places() {
        let dir = tempfile::tempdir().unwrap();
        let context = Context::new(Environment::default(), dir.path());
        let names = [("a", ["x", "y"]), ("a", ["x", "z"]), ("a", ["xy", ""]), ("a.b", ["x", "y"])];
        let journals = names.map(|(workspace, place)| context.journal_of(workspace, &place));
        std::fs::create_dir(dir.path().join("journals")).unwrap();
        for journal in &journals {
            std::fs::write(journal, "").unwrap();
        }
        std::fs::write(context.journal("a"), "").unwrap();
        let mut others = journals[1..3].to_vec();
        others.sort();
        assert_eq!(other_journals(&journals[0]), others);
        assert_eq!(context.journal_of("a", &["x", "y"]), journals[0]);
        assert!(other_journals(FilePath::new("nowhere/.terraform.tfstate.journal")).is_empty());
    }
}
