//! Saved plan files: a format of our own, versioned. Files of Terraform and OpenTofu are read too.
//!
//! A zip archive: `terrane-plan.json` (module `text`), the states before and after refresh as
//! state files, the configuration's files as they were read, the dependency lock file, and schemas. Only the version that wrote
//! a plan may apply it, so the format may change freely: count `FORMAT` up whenever it does.

mod addresses;
mod error;
mod invocations;
mod policies;
mod protobuf;
mod stored_schemas;
mod text;
mod tfplan;
mod tfplan_actions;
mod tfplan_values;
mod values;

use std::io::{Cursor, Read, Write};
use std::path::PathBuf;

use base::diag::{Diagnostic, Diagnostics};
use base::files::Memory;
use base::name::COMMAND;
pub use error::PlanFileError;
use stored_schemas::Writer;
pub use stored_schemas::{StoredSchemas, StoredType};
use terrane_value::json_error;
pub use tfplan::Undecoded;
pub use tfplan_values::{ActionTypeOf, TypeOf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::Plan;
use crate::state::StateMeta;
use crate::state::file::{self as state_file, StateFile};

/// The summary where a plan cannot be kept.
pub const PLAN_NOT_WRITTEN: &str = "Failed to write plan file";

/// Of what this program writes.
const FORMAT: u32 = 7;

const PLAN: &str = "terrane-plan.json";
const PRIOR: &str = "tfstate";
const PREVIOUS: &str = "tfstate-prev";
const SCHEMAS: &str = "terrane-schemas";
/// In bytes. Those of a plan with all types of a large provider are below it.
const MOST_SCHEMAS: u64 = 64 << 20;
const LOCK: &str = ".terraform.lock.hcl";
const CONFIG: &str = "config/";

/// Everything that applying a plan later needs.
#[derive(Clone, Debug, Default)]
pub struct SavedPlan {
    pub plan: Plan,
    /// The state that the plan starts from; applying it to another one is refused.
    pub state: StateMeta,
    pub backend: BackendSettings,
    pub config: ConfigSnapshot,
    /// The lock file as it was; None if there was none.
    pub lock: Option<Vec<u8>>,
    /// Of what the plan and its configuration name; empty if the plan was written without them, or by another program.
    pub schemas: StoredSchemas,
    /// What a plan of another program leaves to read: see [`SavedPlan::decode`].
    pub undecoded: Option<Undecoded>,
}

/// Which backend the state is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackendSettings {
    /// "local", "s3" and so on.
    pub kind: String,
    pub workspace: String,
    /// The backend's configuration as JSON text, without what was given on the command line or in the environment.
    pub config: String,
    /// The provider of a state store; backends have none.
    pub provider: Option<StoreProviderSettings>,
}

/// The provider of a state store with its configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreProviderSettings {
    pub source: String,
    /// None if no lock file selects it.
    pub version: Option<String>,
    /// How the provider comes to commands: "managed_by_terraform" and so on.
    pub supply: String,
    /// Its configuration as JSON text.
    pub config: String,
}

/// The configuration's files as they were read: paths as the loader named them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigSnapshot {
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

impl ConfigSnapshot {
    /// As files to load the configuration from, for [`base::files::Overlay::masking`].
    pub fn to_memory(&self) -> Memory {
        Memory::of(self.files.iter().map(|(path, content)| (path, content)))
    }
}

/// The content of the plan file. Errors: values that no state can hold.
pub fn write(saved: &SavedPlan) -> Result<Vec<u8>, Diagnostics> {
    let prior = state_file::write(&saved.state, &saved.plan.prior_state)?;
    let previous = state_file::write(&saved.state, &saved.plan.previous_state)?;
    let not_packed = |why: String| Diagnostic::error(PLAN_NOT_WRITTEN, format!("The plan could not be packed: {why}."));
    let main = text::encode(saved).map_err(|e| not_packed(e.to_string()))?;
    pack(saved, &main, &prior, &previous).map_err(|e| not_packed(e.to_string()).into())
}

fn pack(saved: &SavedPlan, main: &[u8], prior: &[u8], previous: &[u8]) -> zip::result::ZipResult<Vec<u8>> {
    // Level 1: a plan is read once or twice; writing it must not cost more than making it.
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).compression_level(Some(1));
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut member = |name: &str, content: &[u8]| -> zip::result::ZipResult<()> {
        archive.start_file(name, options.large_file(content.len() > u32::MAX as usize / 2))?;
        Ok(archive.write_all(content)?)
    };
    member(PLAN, main)?;
    member(PRIOR, prior)?;
    member(PREVIOUS, previous)?;
    for (i, (_, content)) in saved.config.files.iter().enumerate() {
        member(&format!("{CONFIG}{i}"), content)?;
    }
    if let Some(lock) = &saved.lock {
        member(LOCK, lock)?;
    }
    if !saved.schemas.is_empty() {
        member(SCHEMAS, &saved.schemas.write())?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Whether a file's content may be a plan: whether it is a zip archive at all.
pub fn is_archive(content: &[u8]) -> bool {
    content.starts_with(b"PK\x03\x04")
}

/// The summary where a file cannot be read as a plan.
pub fn not_loaded(name: &str) -> String {
    format!("Failed to load {name:?} as a plan file")
}

/// Why a file is neither a plan nor names one on HCP Terraform.
pub fn neither(content: &[u8], why: &PlanFileError) -> String {
    let json: Result<serde::de::IgnoredAny, _> = serde_json::from_slice(content);
    let cloud = match json {
        Ok(_) => "invalid remote plan format, must be 1".to_owned(),
        Err(error) => json_error::syntax_error(content, &error),
    };
    format!("couldn't load the provided path as either a local plan file ({why}) or a saved cloud plan ({cloud})")
}

/// What was probably meant by a file that is no plan.
fn advice(name: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let takes = format!("\"{COMMAND} apply\" takes a saved plan");
    if ends(&["errored.tfstate"]) {
        return format!("{takes}. To save this state to the backend, run: {COMMAND} state push {name:?}");
    }
    let (what, is_known) = match ends(&[".tfstate", ".tfstate.backup"]) {
        true => (", and this is a state", true),
        false => ("", ends(&[".tf", ".tf.json", ".tofu", ".tfvars"])),
    };
    let advice = format!("{takes}{what}. To apply the configuration of this folder, leave out {name:?}.");
    if is_known { advice } else { String::new() }
}

/// As [`read`], for a path that may name a plan of any kind.
pub fn read_any(name: &str, content: &[u8]) -> Result<SavedPlan, Diagnostics> {
    read_content(content).map_err(|why| {
        let detail = match why {
            PlanFileError::NotArchive | PlanFileError::NotPlan => format!("Error: {}", neither(content, &why)),
            why => why.to_string(),
        };
        Diagnostic::error(not_loaded(name), detail).with_tip(advice(name)).into()
    })
}

/// Reads a plan file; `name` is its path as the user gave it.
pub fn read(name: &str, content: &[u8]) -> Result<SavedPlan, Diagnostics> {
    read_content(content).map_err(|why| Diagnostic::error(not_loaded(name), why.to_string()).into())
}

fn read_content(content: &[u8]) -> Result<SavedPlan, PlanFileError> {
    let mut archive = ZipArchive::new(Cursor::new(content)).map_err(|_| PlanFileError::NotArchive)?;
    let Some(main) = member(&mut archive, PLAN)? else {
        return tfplan::read(&mut archive)?.ok_or(PlanFileError::NotPlan);
    };
    let (mut saved, paths) = text::decode(&main)?;
    states(&mut archive, &mut saved)?;
    for (i, path) in paths.into_iter().enumerate() {
        let content = member(&mut archive, &format!("{CONFIG}{i}"))?;
        let content = content.ok_or_else(|| PlanFileError::NoConfigFile(path.clone()))?;
        saved.config.files.push((path.into(), content));
    }
    saved.lock = member(&mut archive, LOCK)?;
    saved.schemas = schemas(&mut archive).unwrap_or_else(|why| {
        tracing::warn!("the schemas of the plan cannot be read: {why}");
        StoredSchemas::default()
    });
    Ok(saved)
}

/// Without them, showing the plan needs its providers.
fn schemas(archive: &mut ZipArchive<Cursor<&[u8]>>) -> Result<StoredSchemas, PlanFileError> {
    let size = archive.by_name(SCHEMAS).map_or(0, |file| file.size());
    if size > MOST_SCHEMAS {
        return Err(PlanFileError::LargeSchemas(size));
    }
    let content = member(archive, SCHEMAS)?;
    content.map_or_else(|| Ok(StoredSchemas::default()), |content| stored_schemas::read(&content, Writer::Terrane))
}

/// Reads the states, which all programs keep in the same form.
fn states(archive: &mut ZipArchive<Cursor<&[u8]>>, saved: &mut SavedPlan) -> Result<(), PlanFileError> {
    let mut state = |name: &'static str| -> Result<StateFile, PlanFileError> {
        let content = member(archive, name)?.ok_or(PlanFileError::NoMember(name))?;
        state_file::read(&content)?.ok_or(PlanFileError::EmptyState(name))
    };
    let prior = state(PRIOR)?;
    saved.plan.previous_state = state(PREVIOUS)?.state;
    saved.plan.prior_state = prior.state;
    saved.state = prior.meta;
    Ok(())
}

fn member(archive: &mut ZipArchive<Cursor<&[u8]>>, name: &str) -> Result<Option<Vec<u8>>, PlanFileError> {
    let mut file = match archive.by_name(name) {
        Err(zip::result::ZipError::FileNotFound) => return Ok(None),
        other => other.map_err(|e| PlanFileError::member(name, e))?,
    };
    let mut content = Vec::new();
    file.read_to_end(&mut content).map_err(|e| PlanFileError::member(name, e))?;
    Ok(Some(content))
}

#[cfg(test)]
mod tests;
