//! Moving states from one backend to another. Here is `state migrate`, which copies them from the backend that a `*.tfmigrate.hcl`
//! file names to the one of the configuration, and takes that into use; `moving` copies, also for `init`, with the questions of
//! `texts`, and in its own way to and from `cloud` blocks.
//!
//! Never changes the source.

mod cloud;
pub mod error;
pub mod moving;
mod texts;

use std::path::{Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics};
use install::event::InstallEvent;
use model::addr;
use model::config::{self, Backend};
use model::deps::Lock;

use self::error::MigrationError;
use self::moving::{Migration, Side};
use crate::backends::open::open_settings;
use crate::backends::settings::BackendSettings;
use crate::backends::{record, state_store};
use crate::configuration::load;
use crate::interface::options::StateOptions;
use crate::plugins::packages;
use crate::plugins::state_stores::{self, Supply};
use crate::providers::install::{incomplete_lock, keep_lock};
use crate::providers::store_provider::{self, ProviderChoice, Purpose};
use crate::providers::{ProviderEvent, Trust};
use crate::setup::Setup;
use crate::setup::network::Network;
use crate::setup::workdir::select_workspace;

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
    /// The lock file is new, or not what it was.
    LockCreated,
    LockChanged,
    /// What to tell besides, such as what was recovered from an interrupted run.
    Diagnostics(Diagnostics),
    /// After the errors: the states were not all copied, or they were, and what follows failed.
    Failed {
        from: &'a str,
        to: &'a str,
        is_copied: bool,
    },
    Finished {
        from: &'a str,
        to: &'a str,
    },
}

type TellMigration<'a> = &'a mut (dyn FnMut(MigrateEvent<'_>) + Send);

/// Copies the states, and takes the destination into use. Reports errors and warnings through `tell`. Returns false after an error;
/// then nothing or only whole states were copied.
pub async fn run(setup: &Setup, request: &MigrateRequest, tell: TellMigration<'_>) -> bool {
    let mut warnings = Diagnostics::new();
    let opened = open(setup, request, tell, &mut warnings).await;
    let places = match opened {
        Ok(places) => places,
        Err(problems) => {
            warnings.extend(problems);
            tell(MigrateEvent::Diagnostics(warnings));
            return false;
        }
    };
    let (from, to) = (&*described(&places.from_settings), &*described(&places.settings));
    tell(MigrateEvent::Started { from, to });
    let copied = copy(setup, request, &places, tell).await;
    let is_copied = copied.is_ok();
    let finished = match copied {
        Ok(()) => take_into_use(setup, places, tell, &mut warnings),
        Err(problems) => Err(problems),
    };
    let has_failed = finished.is_err();
    warnings.extend(finished.err().unwrap_or_default());
    tell(MigrateEvent::Diagnostics(warnings));
    tell(match has_failed {
        true => MigrateEvent::Failed { from, to, is_copied },
        false => MigrateEvent::Finished { from, to },
    });
    !has_failed
}

/// Both places, open.
struct OpenPlaces {
    from_settings: BackendSettings,
    settings: BackendSettings,
    from: Side,
    to: Side,
    /// The provider of the destination.
    lock: Lock,
}

/// Installs the providers of both places and opens them; all errors of the places are reported together.
async fn open(
    setup: &Setup,
    request: &MigrateRequest,
    tell: TellMigration<'_>,
    warnings: &mut Diagnostics,
) -> Result<OpenPlaces, Diagnostics> {
    setup.workdir.check_workspace()?;
    let (module, mut problems) = load::backend_module(setup);
    let (source, found) = config::migration_source(Path::new("."), &setup.root);
    problems.extend(found);
    let Some(source) = source.filter(|_| !problems.has_errors()) else { return Err(problems) };
    let network = Network::new(setup);
    let mut places = Places { setup, network: &network, tell, warnings, lock: Lock::default() };
    // The source is read in the version that wrote it.
    let place = MigrationPlace { name: "source", lock_file: request.source_lock.clone(), upgrade: false };
    let from = places.open(&source, place).await?;
    let to = match module.as_ref().and_then(|module| module.backend.as_ref()) {
        Some(wanted) => {
            let (lock_file, upgrade) = (request.destination_lock.clone(), request.upgrade);
            places.open(wanted, MigrationPlace { name: "destination", lock_file, upgrade }).await?
        }
        None => Err(unknown_destination().into()),
    };
    match (from, to) {
        (Ok((from_settings, from)), Ok((settings, to))) => {
            Ok(OpenPlaces { from_settings, settings, from, to, lock: places.lock })
        }
        (from, to) => Err(from.err().into_iter().chain(to.err()).flatten().collect()),
    }
}

async fn copy(
    setup: &Setup,
    request: &MigrateRequest,
    places: &OpenPlaces,
    tell: TellMigration<'_>,
) -> Result<(), Diagnostics> {
    let mut migration = Migration {
        setup,
        is_command: true,
        options: &request.options,
        force: request.force_copy,
        ignore_version: false,
        from: places.from.clone(),
        to: places.to.clone(),
        workspace: setup.workdir.workspace.clone(),
        found: Diagnostics::new(),
    };
    let result = migration.run().await;
    let found = std::mem::take(&mut migration.found);
    if !found.is_empty() {
        tell(MigrateEvent::Diagnostics(found));
    }
    let failed = |why: String| plain(format!("State migration failed: {why}"));
    let migrated = result.map_err(|why| failed(why.to_string()))?;
    if migrated.refused {
        return Err(failed(MigrationError::Aborted.to_string()));
    }
    if let Some(name) = &migrated.select {
        select_workspace(&setup.workdir.data_dir, name).map_err(|e| failed(e.to_string()))?;
    }
    Ok(())
}

/// Records the destination and the version of its provider.
fn take_into_use(
    setup: &Setup,
    places: OpenPlaces,
    tell: TellMigration<'_>,
    warnings: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    keep_selection(setup, places.lock, tell, warnings)?;
    let recorded = record::write(&setup.workdir.data_dir, setup.dialect(), Some(&places.settings.record()));
    recorded.map_err(|e| plain(format!("Error saving the backend configuration: {e}")))
}

/// An error that is one text.
fn plain(text: String) -> Diagnostics {
    Diagnostic::error(text, "").into()
}

/// The source or the destination.
struct MigrationPlace {
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
    tell: TellMigration<'t>,
    warnings: &'t mut Diagnostics,
    /// The provider of the destination.
    lock: Lock,
}

impl Places<'_, '_> {
    /// Opens a place. The outer error ends the command, the inner one waits for those of the other place.
    async fn open(
        &mut self,
        block: &Backend,
        place: MigrationPlace,
    ) -> Result<Result<(BackendSettings, Side), Diagnostics>, Diagnostics> {
        if let Some(store) = &block.store
            && state_stores::supply(self.setup, &store.source())? == Supply::Managed
        {
            self.install(store, place).await?;
        }
        let settings = match self.settings(block).await {
            Ok(settings) => settings,
            Err(problems) => return Ok(Err(problems)),
        };
        Ok(open_settings(self.setup, &settings, &StateOptions::default()).await.map(|(backend, found)| {
            self.warnings.extend(found);
            let side = Side { kind: settings.kind.name().to_owned(), is_store: settings.kind.is_provided(), backend };
            (settings, side)
        }))
    }

    async fn settings(&mut self, block: &Backend) -> Result<BackendSettings, Diagnostics> {
        self.lock = Lock::default();
        let Some(store) = &block.store else {
            return match BackendSettings::of_block(block, None) {
                (Some(settings), problems) if !problems.has_errors() => Ok(settings),
                (_, problems) => Err(problems),
            };
        };
        let settings = state_store::of_block(self.setup, block, store, (&[], None)).await?;
        self.lock = self.setup.stores.selected();
        self.lock.providers.retain(|provider, _| *provider == store.source());
        Ok(settings)
    }

    async fn install(&mut self, store: &config::StoreProvider, place: MigrationPlace) -> Result<(), Diagnostics> {
        (self.tell)(MigrateEvent::Installing);
        let tell = &mut *self.tell;
        let mut hear = |event: ProviderEvent| match event {
            ProviderEvent::Install(event) => tell(MigrateEvent::Install(event)),
            ProviderEvent::StoreProviderInstalled => tell(MigrateEvent::Installed),
            ProviderEvent::StoreProviderTrust(trust) => tell(MigrateEvent::Trust(trust)),
            _ => {}
        };
        let provider = store.source();
        let purpose = Purpose { plugin_dirs: &[], lock_file: place.lock_file.as_deref(), place: Some(place.name) };
        let lock = store_provider::selections(self.setup, &provider, purpose)?;
        let (constraints, upgrade) = (store_provider::constraints(store), place.upgrade);
        let wanted = ProviderChoice { provider: &provider, constraints, lock, upgrade };
        let found = store_provider::get(self.setup, self.network, wanted, purpose, &mut hear).await?;
        self.warnings.extend(found);
        Ok(())
    }
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
fn keep_selection(
    setup: &Setup,
    selected: Lock,
    tell: TellMigration<'_>,
    warnings: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let (lock, problems) = packages::lock_file(&setup.root);
    if problems.has_errors() {
        return Err(problems);
    }
    let with = lock.clone().with(selected);
    if lock.same_packages(&with) {
        return Ok(());
    }
    let only_here = setup.stores.only_here().into_iter().filter(|provider| with.get(provider).is_some());
    warnings.extend(incomplete_lock(only_here.collect()));
    keep_lock(&with, setup.dialect(), &mut |event| {
        tell(if matches!(event, ProviderEvent::LockCreated) {
            MigrateEvent::LockCreated
        } else {
            MigrateEvent::LockChanged
        });
    })?;
    Ok(())
}

fn unknown_destination() -> Diagnostic {
    Diagnostic::error(
        "Unknown migration destination",
        "No configuration was provided for where to migrate the state to. Please ensure that a file with a .tf extension is present \
         and contains valid state_store or backend configuration inside the terraform block.",
    )
}
