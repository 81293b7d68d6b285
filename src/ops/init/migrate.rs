//! `state migrate`: copies states from the backend that a `*.tfmigrate.hcl` file names to the one of the configuration, and takes
//! that into use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend;
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::files::Disk;
use crate::install::event::InstallEvent;
use crate::model::addr;
use crate::model::config::{self, Backend};
use crate::model::deps::Lock;
use crate::model::model_errors::UNWRITABLE_LOCK;
use crate::ops::backends::settings::BackendSettings;
use crate::ops::backends::{open_settings, record, state_store};
use crate::ops::configuration::load;
use crate::ops::interface::options::StateOptions;
use crate::ops::plugins::state_stores::{self, Supply};
use crate::ops::plugins::{lock_file, packages};
use crate::ops::setup::Setup;
use crate::ops::setup::network::Network;
use crate::ops::setup::workdir::select_workspace;

use super::migration::{Migration, Side};
use super::store_provider::{Purpose, Trust};
use super::{InitEvent, InitRequest, store_provider};

pub struct MigrateRequest {
    /// Copies states without asking.
    pub force_copy: bool,
    pub options: StateOptions,
    /// Lock files that select the providers of state stores.
    pub source_lock: Option<PathBuf>,
    pub destination_lock: Option<PathBuf>,
    /// The providers of state stores are upgraded.
    pub upgrade: bool,
}

/// What happens, in order. `from` and `to` describe the places concerned for people: `backend "local"`.
pub enum MigrateEvent<'a> {
    /// The provider of a state store is about to be installed.
    Installing,
    Install(InstallEvent),
    Installed,
    /// Whether it may keep the states.
    Trust(Trust),
    Started {
        from: &'a str,
        to: &'a str,
    },
    /// What to tell besides, such as what was recovered from an interrupted run.
    Diagnostics(Diagnostics),
    Finished {
        from: &'a str,
        to: &'a str,
    },
}

/// Errors and warnings; with errors, nothing or only whole states were copied.
pub async fn run(
    setup: &Setup,
    request: &MigrateRequest,
    tell: &mut (dyn FnMut(MigrateEvent<'_>) + Send),
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    match migrate(setup, request, tell, &mut diagnostics).await {
        Ok(()) => diagnostics,
        Err(problems) => {
            diagnostics.extend(problems);
            diagnostics
        }
    }
}

async fn migrate(
    setup: &Setup,
    request: &MigrateRequest,
    tell: &mut (dyn FnMut(MigrateEvent<'_>) + Send),
    warnings: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    setup.workdir.check_workspace()?;
    let (module, problems) = load::backend_module(setup);
    if problems.has_errors() {
        return Err(problems);
    }
    let Some(wanted) = module.as_ref().and_then(|module| module.backend.as_ref()) else {
        return Err(unknown_destination().into());
    };
    let (source, problems) = config::migration_source(Path::new("."), &Disk);
    let Some(source) = source else { return Err(problems) };
    let network = Network::new(setup);
    let mut places = Places { setup, network: &network, tell, warnings, lock: Lock::default() };
    // The source is read in the version that wrote it.
    let place = Place { name: "source", lock_file: request.source_lock.clone(), upgrade: false };
    let from_settings = places.settings(&source, place).await?;
    let (lock_file, upgrade) = (request.destination_lock.clone(), request.upgrade);
    let settings = places.settings(wanted, Place { name: "destination", lock_file, upgrade }).await?;
    let lock = places.lock;
    let (from, to) = (&*described(&from_settings), &*described(&settings));
    tell(MigrateEvent::Started { from, to });
    let (old, found) = open_settings(setup, &from_settings, &StateOptions::default()).await?;
    warnings.extend(found);
    let (new, found) = open_settings(setup, &settings, &StateOptions::default()).await?;
    warnings.extend(found);
    let mut migration = Migration {
        setup,
        is_command: true,
        options: &request.options,
        force: request.force_copy,
        ignore_version: false,
        from: side(&from_settings, old),
        to: side(&settings, new),
        workspace: setup.workdir.workspace.clone(),
        found: Diagnostics::new(),
    };
    let result = migration.run().await;
    let found = std::mem::take(&mut migration.found);
    if !found.is_empty() {
        tell(MigrateEvent::Diagnostics(found));
    }
    let failed = |why: String| Diagnostics::from(Diagnostic::error(why, ""));
    let migrated = result.map_err(failed)?;
    if migrated.refused {
        return Err(failed("Migration aborted by user.".to_owned()));
    }
    if let Some(name) = &migrated.select {
        select_workspace(&setup.workdir.data_dir, name).map_err(|e| failed(e.to_string()))?;
    }
    keep_selection(lock)?;
    let recorded = record::write(&setup.workdir.data_dir, Some(&settings.record()));
    recorded.map_err(|e| failed(format!("Error saving the backend configuration: {e}")))?;
    tell(MigrateEvent::Finished { from, to });
    Ok(())
}

/// The source or the destination.
struct Place {
    name: &'static str,
    /// A lock file for its provider.
    lock_file: Option<PathBuf>,
    /// The provider is upgraded.
    upgrade: bool,
}

/// Finds the settings of the places concerned; the providers of state stores are installed for that.
struct Places<'a, 't> {
    setup: &'a Setup,
    network: &'a Network,
    tell: &'t mut (dyn FnMut(MigrateEvent<'_>) + Send),
    warnings: &'t mut Diagnostics,
    /// The provider of the destination.
    lock: Lock,
}

impl Places<'_, '_> {
    async fn settings(&mut self, block: &Backend, place: Place) -> Result<BackendSettings, Diagnostics> {
        self.lock = Lock::default();
        let Some(store) = &block.store else {
            return match BackendSettings::of_block(block, None) {
                (Some(settings), problems) if !problems.has_errors() => Ok(settings),
                (_, problems) => Err(problems),
            };
        };
        if state_stores::supply(self.setup, &store.source())? == Supply::Managed {
            self.install(store, place).await?;
        }
        let settings = state_store::of_block(self.setup, block, store, (&[], None)).await?;
        self.lock = self.setup.stores.selected();
        self.lock.providers.retain(|provider, _| *provider == store.source());
        Ok(settings)
    }

    async fn install(&mut self, store: &config::StoreProvider, place: Place) -> Result<(), Diagnostics> {
        (self.tell)(MigrateEvent::Installing);
        let tell = &mut *self.tell;
        let mut hear = |event: InitEvent| match event {
            InitEvent::Install(event) => tell(MigrateEvent::Install(event)),
            InitEvent::StoreProviderInstalled => tell(MigrateEvent::Installed),
            InitEvent::StoreProviderTrust(trust) => tell(MigrateEvent::Trust(trust)),
            _ => {}
        };
        let request = InitRequest { state_provider_lock_file: place.lock_file, ..InitRequest::default() };
        let provider = store.source();
        let wanted = (&provider, store_provider::constraints(store));
        let purpose = Purpose { request: &request, place: Some(place.name) };
        let found = store_provider::get(self.setup, self.network, wanted, place.upgrade, purpose, &mut hear).await?;
        self.warnings.extend(found);
        Ok(())
    }
}

fn side(settings: &BackendSettings, backend: Arc<dyn backend::Backend>) -> Side {
    Side { kind: settings.kind.name().to_owned(), is_store: settings.kind.is_provided(), backend }
}

/// A place of states as people read it.
fn described(settings: &BackendSettings) -> String {
    let kind = settings.kind.name();
    let Some(provider) = settings.record().provider else { return format!("backend {kind:?}") };
    let source = addr::Provider::parse_source(&provider.source);
    let source = source.map_or(provider.source, |source| source.for_display());
    match provider.version {
        Some(version) => format!("state store {kind:?} ({source} {version})"),
        None => format!("state store {kind:?} ({source})"),
    }
}

/// Selects the provider of the new place of the states in the lock file, for the commands that follow.
fn keep_selection(selected: Lock) -> Result<(), Diagnostics> {
    let (lock, problems) = packages::lock_file();
    if problems.has_errors() {
        return Err(problems);
    }
    let with = lock.clone().with(selected);
    if lock.same_packages(&with) {
        return Ok(());
    }
    lock_file::write(&with).map_err(|e| Diagnostic::error(UNWRITABLE_LOCK, e.to_string()).into())
}

fn unknown_destination() -> Diagnostic {
    Diagnostic::error(
        "Unknown migration destination",
        "No configuration was provided for where to migrate the state to. Please ensure that a file with a .tf extension is present \
         and contains valid state_store or backend configuration inside the terraform block.",
    )
}
