//! `show`: the state, or the content of a state or plan file.

use std::path::Path;
use std::sync::Arc;

use ::encryption::{Encryption, SealError, is_sealed, outside};
use base::diag::{Diagnostic, Diagnostics};
use base::files::{Disk, Files};
use model::addr::Resource;
use model::config::{Config, Module};
use model::deps::Requirements;
use model::plan::file::{self as plan_file, PlanFileError, SavedPlan};
use model::state::file::{self as state_file, StateFile};
use terrane_protocol::schema::ResourceMode;

use crate::backends::encryption::{self, Unopened};
use crate::backends::read_state;
use crate::configuration::load;
use crate::interface::options::StateOptions;
use crate::interface::planning::{Planned, Schemas};
use crate::plugins::factories::Factories;
use crate::plugins::{packages, schemas};
use crate::run;
use crate::setup::Setup;

/// What is to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShowRequest {
    /// The current state.
    State,
    /// A state file or a saved plan.
    File(String),
    Plan(String),
    Config,
    /// The module in a folder.
    Module(String),
}

/// What there is to show.
pub enum ShowSubject {
    /// There is no state.
    Nothing,
    State {
        file: StateFile,
        schemas: Schemas,
    },
    Plan {
        planned: Box<Planned>,
    },
    Config {
        config: Arc<Config>,
        schemas: Schemas,
    },
    Module(Box<Module>),
}

pub async fn run(setup: &Setup, wanted: &ShowRequest) -> Result<(ShowSubject, Diagnostics), Diagnostics> {
    match wanted {
        ShowRequest::State => current(setup).await,
        ShowRequest::File(path) => file(setup, path).await,
        ShowRequest::Plan(path) => match file(setup, path).await {
            Ok(found @ (ShowSubject::Plan { .. }, _)) => Ok(found),
            Err(problems) if Path::new(path).exists() => Err(problems),
            Ok(_) | Err(_) => Err(no_plan(path)),
        },
        ShowRequest::Config => config(setup).await,
        ShowRequest::Module(dir) => module(setup, dir),
    }
}

/// Whether what is shown is encrypted where it is stored.
pub async fn is_encrypted(setup: &Setup, wanted: &ShowRequest) -> bool {
    match wanted {
        ShowRequest::State => encryption::of(setup).await.is_ok_and(|encryption| encryption.state.is_some()),
        ShowRequest::File(path) | ShowRequest::Plan(path) => {
            Disk.read(Path::new(path)).is_ok_and(|content| is_sealed(&content))
        }
        ShowRequest::Config | ShowRequest::Module(_) => false,
    }
}

fn no_plan(path: &str) -> Diagnostics {
    let text = match Disk.read(Path::new(path)) {
        Ok(content) => plan_file::neither(&content, &PlanFileError::NotArchive),
        Err(error) => neither_read(&error.to_string()),
    };
    Diagnostic::error(text, "").into()
}

/// The configuration, with the schemas of its providers.
async fn config(setup: &Setup) -> Result<(ShowSubject, Diagnostics), Diagnostics> {
    let (loaded, mut diagnostics) = load::any_config(Path::new("."), setup, &setup.root);
    let Some(loaded) = loaded.filter(|_| !diagnostics.has_errors()) else { return Err(diagnostics) };
    let requirements = diagnostics.take(Requirements::of_config(&loaded.config));
    let found = packages::available(setup, &requirements).await?;
    let factories = Factories::new(setup, found.origins, found.provisioner_programs);
    let schemas = schemas::available(&*factories, requirements.0.keys().cloned()).await;
    factories.shutdown().await;
    Ok((ShowSubject::Config { config: loaded.config, schemas: schemas.into_iter().collect() }, diagnostics))
}

/// A module on its own: nothing has to be installed for it.
fn module(setup: &Setup, dir: &str) -> Result<(ShowSubject, Diagnostics), Diagnostics> {
    if !Path::new(dir).is_dir() {
        let detail = format!("Module directory {dir} does not exist or cannot be read.");
        return Err(Diagnostic::error("Failed to read module directory", detail).into());
    }
    let (module, diagnostics) = load::module_alone(setup.dialect(), Path::new(dir));
    match module.filter(|_| !diagnostics.has_errors()) {
        Some(module) => Ok((ShowSubject::Module(Box::new(module)), diagnostics)),
        None => Err(diagnostics),
    }
}

async fn file(setup: &Setup, path: &str) -> Result<(ShowSubject, Diagnostics), Diagnostics> {
    let encryption = encryption::of(setup).await?;
    let content = Disk
        .read(Path::new(path))
        .map_err(|e| unreadable(&format!("Error loading statefile: {e}"), &neither_read(&e.to_string())))?;
    if encryption.plan.is_some() || encryption.state.is_some() || is_sealed(&content) {
        return encrypted(setup, &encryption, path, content).await;
    }
    if plan_file::is_archive(&content) {
        let saved = plan_file::read(path, &content)?;
        return plan(setup, saved).await.map(|shown| (shown, Diagnostics::new()));
    }
    match state_file::read(&content) {
        Ok(Some(file)) => Ok((of_state(setup, file).await?, Diagnostics::new())),
        Ok(None) => Ok((ShowSubject::Nothing, Diagnostics::new())),
        Err(problems) => {
            let why = format!("Error reading {path} as a statefile: {}", state_file::problems_text(&problems));
            Err(unreadable(&why, &plan_file::neither(&content, &PlanFileError::NotArchive)))
        }
    }
}

/// A file where files are encrypted: which kind it is shows only when it is open.
async fn encrypted(
    setup: &Setup,
    encryption: &Encryption,
    path: &str,
    content: Vec<u8>,
) -> Result<(ShowSubject, Diagnostics), Diagnostics> {
    // Only states say whose they are.
    let is_state = outside(&content).is_ok_and(|outside| !outside.lineage.is_empty());
    let mut planned = None;
    if !is_state {
        planned = Some(encryption::open_plan(encryption, content.clone()).await);
    }
    if let Some(Ok(content)) = &planned
        && plan_file::is_archive(content)
    {
        let saved = plan_file::read(path, content)?;
        return plan(setup, saved).await.map(|shown| (shown, Diagnostics::new()));
    }
    let state = match encryption::open_state(encryption, content.clone()).await {
        Ok(plain) => state_file::read(&plain).map_err(|problems| state_file::problems_text(&problems)),
        // A state, encrypted or not, that the keys do not fit: the file is no plan.
        Err(error @ SealError::Explained { .. }) if is_state => return Err(error.diagnostics()),
        Err(error) => Err(error.to_string()),
    };
    let why = match state {
        Ok(Some(file)) => return Ok((of_state(setup, file).await?, Diagnostics::new())),
        Ok(None) if is_state => return Ok((ShowSubject::Nothing, Diagnostics::new())),
        Ok(None) => "no state".to_owned(),
        Err(why) => why,
    };
    let plan_why = match planned {
        Some(planned) => planned.err(),
        None => encryption::open_plan(encryption, content).await.err(),
    };
    let plan_why = match plan_why {
        Some(Unopened::Encrypted) => {
            let detail = format!("Plan read error: {}", Unopened::Encrypted);
            return Err(Diagnostic::error("Couldn't show local plan", detail).into());
        }
        Some(why @ Unopened::Explained(_)) => return Err(encryption::plan_not_loaded(setup.dialect(), path, &why)),
        Some(Unopened::Unread(why)) => why,
        None => "zip: not a valid zip file".to_owned(),
    };
    let mut problems = setup.encryption.take_warnings();
    let detail = format!("State read error: Error reading {path} as a statefile: {why}\n\nPlan read error: {plan_why}");
    problems.push(Diagnostic::error(UNREADABLE, detail));
    Err(problems)
}

const UNREADABLE: &str = "Failed to read the given file as a state or plan file";

fn unreadable(state: &str, plan: &str) -> Diagnostics {
    Diagnostic::error(UNREADABLE, format!("State read error: {state}\n\nPlan read error: {plan}")).into()
}

/// The same for a file that cannot be read at all.
fn neither_read(why: &str) -> String {
    format!("couldn't load the provided path as either a local plan file ({why}) or a saved cloud plan ({why})")
}

async fn current(setup: &Setup) -> Result<(ShowSubject, Diagnostics), Diagnostics> {
    let (opened, loaded) = read_state::current(setup, &StateOptions::default()).await?;
    let warnings = opened.warnings.into_iter().chain(loaded.warnings).collect();
    match loaded.file {
        None => Ok((ShowSubject::Nothing, warnings)),
        Some(file) => Ok((of_state(setup, file).await?, warnings)),
    }
}

async fn of_state(setup: &Setup, file: StateFile) -> Result<ShowSubject, Diagnostics> {
    check_config(setup)?;
    let schemas = schemas::of_state(setup, &file.state).await?;
    Ok(ShowSubject::State { file, schemas })
}

/// As in the reference, a state is shown only if the configuration has no errors.
fn check_config(setup: &Setup) -> Result<(), Diagnostics> {
    let (_, problems) = load::any_config(Path::new("."), setup, &setup.root);
    if problems.has_errors() { Err(problems) } else { Ok(()) }
}

async fn plan(setup: &Setup, mut saved: SavedPlan) -> Result<ShowSubject, Diagnostics> {
    let files = run::plan_file::files(setup, &saved);
    let (loaded, mut diagnostics) = load::planned_config(setup, &*files, &saved.plan.variables);
    let Some(loaded) = loaded.filter(|_| !diagnostics.has_errors()) else { return Err(diagnostics) };
    let requirements = diagnostics.take(Requirements::of_config(&loaded.config));
    let requirements = requirements.merge(Requirements::of_state(&saved.plan.prior_state));
    let schemas = match stored_schemas(&saved, &requirements, &loaded.config) {
        Some(schemas) => schemas,
        None => schemas_of_providers(setup, &saved, &requirements).await?,
    };
    run::plan_file::decode(&mut saved, &schemas)?;
    let planned = Planned { plan: Arc::new(saved.plan), config: loaded.config, schemas };
    Ok(ShowSubject::Plan { planned: Box::new(planned) })
}

/// The schemas in the plan file, if they are all that showing it needs. Those of OpenTofu have no ephemeral resources.
fn stored_schemas(saved: &SavedPlan, requirements: &Requirements, config: &Config) -> Option<Schemas> {
    let Some(undecoded) = &saved.undecoded else { return saved.schemas.all(requirements.0.keys().cloned()) };
    let providers = requirements.0.keys().cloned().chain(undecoded.providers());
    let is_ephemeral = |addr: &Resource| addr.mode == ResourceMode::Ephemeral;
    let has_ephemeral = config.modules().iter().any(|module| module.resources.keys().any(is_ephemeral));
    undecoded.stored_schemas().filter(|_| !has_ephemeral)?.all_by_any_host(providers)
}

/// The schemas of the providers of the plan that are available.
async fn schemas_of_providers(
    setup: &Setup,
    saved: &SavedPlan,
    requirements: &Requirements,
) -> Result<Schemas, Diagnostics> {
    let found = packages::available(setup, requirements).await?;
    let factories = Factories::new(setup, found.origins, found.provisioner_programs);
    let mut schemas = schemas::available_for_state(&factories, &saved.plan.prior_state).await;
    schemas.extend(schemas::available(&*factories, requirements.0.keys().cloned()).await);
    factories.shutdown().await;
    Ok(schemas)
}
