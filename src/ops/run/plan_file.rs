//! The plan file: writing it, reading it, and decoding those of other programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use ::encryption::{Encryption, Layout, is_sealed};
use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::files::{ConfigFiles, Disk, Files, Overlay, reason};
use model::addr::{AbsResourceInstance, Provider};
use model::deps::Requirements;
use model::deps::lock::LOCK_FILE;
use model::plan::Plan;
use model::plan::file::{self, BackendSettings, PLAN_NOT_WRITTEN, PlanFileError, SavedPlan, StoredSchemas, StoredType};
use model::state::StateMeta;
use model::version::compatible_version;
use terrane_protocol::schema::ResourceMode;

use super::session::Session;
use crate::backends::{self, encryption};
use crate::configuration::load;
use crate::interface::planning::{Planned, Schemas};
use crate::opentofu;
use crate::plugins::factories::Factories;
use crate::plugins::schemas;
use crate::setup::Setup;

/// Writes the plan with everything that applying it needs. The diagnostics of a plan that is written are warnings.
pub async fn write(path: &Path, session: &Session, planned: &Planned) -> Result<Diagnostics, Diagnostics> {
    let plan = &*planned.plan;
    let (kind, config, provider) = match backends::open::recorded(&session.setup)? {
        Some(record) => (record.kind, record.config, record.provider),
        None => ("local".to_string(), "{}".to_string(), None),
    };
    let saved = SavedPlan {
        plan: plan.clone(),
        state: meta_of(session),
        backend: BackendSettings { kind, workspace: session.setup.workdir.workspace.clone(), config, provider },
        config: session.snapshot.clone(),
        lock: session.setup.root.read(Path::new(LOCK_FILE)).ok(),
        schemas: schemas_for_showing(session, planned).await,
        undecoded: None,
    };
    tracing::info!("backend/local: writing plan output to: {}", path.display());
    let failed = |why: String| {
        Diagnostics::from(Diagnostic::error(PLAN_NOT_WRITTEN, format!("The plan file could not be written: {why}.")))
    };
    let mut content = file::write(&saved)?;
    let encryption = encryption::of(&session.setup).await?;
    if let Some(cipher) = &encryption.plan {
        content = cipher.seal(&content, Layout::Compact).await.map_err(|error| failed(error.to_string()))?;
    }
    let opened = |error: &std::io::Error| failed(format!("open {}: {}", path.display(), reason(error)));
    atomic::write_private(path, &content).map_err(|e| opened(&e))?;
    let in_clear = !is_sealed(&content) && opentofu::warns_of_passphrase_in_plan(session.setup.dialect());
    Ok(passphrase_in_plan(path, &encryption, plan).filter(|_| in_clear).into_iter().collect())
}

/// Warns of a plan in clear with the passphrase of something that is encrypted.
fn passphrase_in_plan(path: &Path, encryption: &Encryption, plan: &Plan) -> Option<Diagnostic> {
    let mut in_plan = encryption.passphrase_variables.iter().filter(|name| plan.variables.contains_key(*name));
    let variable = in_plan.next()?;
    let detail = format!(
        "The plan is not encrypted, and it contains the value of var.{variable}, from which a passphrase is made. Whoever can read \
         {} can read what that passphrase encrypts. Encrypt plans, too (\"plan\" in the encryption configuration), or set \"ephemeral = \
         true\" in the variable's block: values of ephemeral variables are not stored.",
        path.display()
    );
    Some(Diagnostic::warning("The plan file contains a passphrase", detail))
}

/// The schemas that showing the plan needs. None without all of them: then it needs the providers.
async fn schemas_for_showing(session: &Session, planned: &Planned) -> StoredSchemas {
    let mut types: BTreeMap<&Provider, BTreeSet<StoredType>> = BTreeMap::new();
    let mut add = |provider, mode, kind: &Arc<str>| {
        types.entry(provider).or_default().insert(StoredType::Resource(mode, kind.clone()));
    };
    let plan = &planned.plan;
    for state in [&plan.prior_state, &plan.previous_state] {
        for (addr, resource) in &state.resources {
            add(&resource.provider.provider, addr.resource.mode, &addr.resource.kind);
        }
    }
    let deferred = plan.deferred.iter().map(|deferred| &deferred.change);
    for change in plan.changes.iter().chain(&plan.drift).chain(deferred) {
        let resource = &change.addr.resource.resource;
        add(&change.provider.provider, resource.mode, &resource.kind);
    }
    let modules = planned.config.modules();
    for (addr, resource) in modules.iter().flat_map(|module| &module.resources) {
        add(&resource.provider, addr.mode, &addr.kind);
    }
    for (addr, action) in modules.iter().flat_map(|module| &module.actions) {
        types.entry(&action.provider).or_default().insert(StoredType::Action(addr.kind.clone()));
    }
    let (requirements, _) = Requirements::of_config(&planned.config);
    let needed = requirements.0.into_keys().chain(types.keys().map(|provider| (*provider).clone()));
    let mut kept = StoredSchemas::default();
    for (provider, schemas) in &schemas::available(&*session.factories, needed).await {
        let types: Vec<StoredType> = types.get(provider).into_iter().flatten().cloned().collect();
        if let Err(why) = kept.add(provider.clone(), &types, &**schemas) {
            tracing::warn!("the plan file has no schemas: provider {provider}: {why}");
            return StoredSchemas::default();
        }
    }
    kept
}

/// Lineage and serial of the state that the plan was made from.
fn meta_of(session: &Session) -> StateMeta {
    match &session.held.loaded.file {
        Some(file) => file.meta.clone(),
        None => StateMeta { terraform_version: compatible_version().into(), serial: 0, lineage: String::new() },
    }
}

/// The configuration's files as they were when the plan was made.
pub fn files(setup: &Setup, saved: &SavedPlan) -> Arc<dyn ConfigFiles> {
    let mut config = saved.config.clone();
    if let Some(undecoded) = &saved.undecoded {
        config.files.push((load::manifest_path(&setup.workdir), undecoded.modules.clone()));
    }
    Arc::new(Overlay::masking(config.to_memory(), Arc::new(setup.root.clone())))
}

/// As [`decode`], with the schemas in the plan file or of these providers.
pub async fn decode_with(saved: &mut SavedPlan, factories: &Factories) -> Result<(), Diagnostics> {
    let Some(undecoded) = &saved.undecoded else { return Ok(()) };
    let providers = undecoded.providers();
    let schemas = match undecoded.stored_schemas().and_then(|stored| stored.all(providers.iter().cloned())) {
        Some(stored) => stored,
        None => schemas::gather(factories, providers).await?,
    };
    decode(saved, &schemas)
}

/// Reads what a plan of another program holds by the schemas of its providers.
pub fn decode(saved: &mut SavedPlan, schemas: &Schemas) -> Result<(), Diagnostics> {
    let of = |provider: &Provider| {
        let schemas = schemas.get(provider);
        schemas.ok_or_else(|| PlanFileError::NoProvider(provider.clone()))
    };
    let no_schema = |what, kind: &str| PlanFileError::NoSchema { what, kind: kind.to_owned() };
    let type_of = |provider: &Provider, addr: &AbsResourceInstance| {
        let of_provider = of(provider)?;
        let resource = &addr.resource.resource;
        let schema = match resource.mode {
            ResourceMode::Managed => of_provider.managed(&resource.kind),
            ResourceMode::Data => of_provider.data(&resource.kind),
            ResourceMode::Ephemeral => of_provider.ephemeral(&resource.kind),
            ResourceMode::List => of_provider.list_resource(&resource.kind),
        };
        let schema = schema?.ok_or_else(|| no_schema("resource", &resource.kind))?;
        Ok(schema.implied_type().clone())
    };
    let type_of_action = |provider: &Provider, kind: &str| {
        let schema = of(provider)?.action(kind)?.ok_or_else(|| no_schema("action", kind))?;
        Ok(schema.implied_type().clone())
    };
    saved
        .decode(&type_of, &type_of_action)
        .map_err(|why| Diagnostic::error("Failed to read plan from plan file", why.to_string()).into())
}

/// The plan in a file; the name is shown as the user gave it.
pub async fn read(setup: &Setup, path: &Path) -> Result<SavedPlan, Diagnostics> {
    let (name, content) = content(path)?;
    let encryption = encryption::of(setup).await?;
    let content = encryption::open_plan(&encryption, content).await;
    file::read_any(&name, &content.map_err(|why| encryption::plan_not_loaded(setup.dialect(), &name, &why))?)
}

/// Checks that a file holds a plan, as far as that can be seen without a key.
pub fn check(path: &Path) -> Result<(), Diagnostics> {
    let (name, content) = content(path)?;
    if is_sealed(&content) { Ok(()) } else { file::read_any(&name, &content).map(|_| ()) }
}

fn content(path: &Path) -> Result<(String, Vec<u8>), Diagnostics> {
    let name = path.display().to_string();
    let problem = |why: String| Diagnostics::from(Diagnostic::error(file::not_loaded(&name), why));
    if !Disk.exists(path) {
        return Err(problem(format!("Error: stat {name}: no such file or directory")));
    }
    if Disk.is_dir(path) {
        let detail = "The specified path is a directory, not a plan file. You can use the global -chdir flag to use this \
                      directory as the configuration root.";
        return Err(problem(detail.to_owned()));
    }
    let content = Disk.read(path).map_err(|e| problem(format!("Error: {e}")))?;
    Ok((name, content))
}
