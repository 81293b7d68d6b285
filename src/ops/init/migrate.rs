//! `state migrate`: copies states from the backend that a `*.tfmigrate.hcl` file names to the one of the configuration, and takes
//! that into use.

use std::path::Path;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::files::Disk;
use crate::model::config::{self, Backend};
use crate::ops::backends::settings::BackendSettings;
use crate::ops::backends::{open_settings, record};
use crate::ops::configuration::load;
use crate::ops::interface::options::StateOptions;
use crate::ops::setup::Setup;
use crate::ops::setup::workdir::select_workspace;

use super::migration::{Migration, Side};

pub struct MigrateRequest {
    /// Copies states without asking.
    pub force_copy: bool,
    pub options: StateOptions,
}

/// The kinds of the backends concerned, when copying begins and when it is done.
pub enum MigrateEvent<'a> {
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
    let from_settings = settings(&source)?;
    let settings = settings(wanted)?;
    let (from, to) = (from_settings.kind.name(), settings.kind.name());
    tell(MigrateEvent::Started { from, to });
    let (old, found) = open_settings(setup, &from_settings, &StateOptions::default()).await?;
    warnings.extend(found);
    let (new, found) = open_settings(setup, &settings, &StateOptions::default()).await?;
    warnings.extend(found);
    let mut migration = Migration {
        setup,
        options: &request.options,
        force: request.force_copy,
        ignore_version: false,
        from: Side { kind: from.to_owned(), backend: old },
        to: Side { kind: to.to_owned(), backend: new },
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
    let recorded = record::write(&setup.workdir.data_dir, Some(&settings.record()));
    recorded.map_err(|e| failed(format!("Error saving the backend configuration: {e}")))?;
    tell(MigrateEvent::Finished { from, to });
    Ok(())
}

fn settings(block: &Backend) -> Result<BackendSettings, Diagnostics> {
    match BackendSettings::of_block(block, None) {
        (Some(settings), problems) if !problems.has_errors() => Ok(settings),
        (_, problems) => Err(problems),
    }
}

fn unknown_destination() -> Diagnostic {
    Diagnostic::error(
        "Unknown migration destination",
        "No configuration was provided for where to migrate the state to. Please ensure that a file with a .tf extension is present \
         and contains valid state_store or backend configuration inside the terraform block.",
    )
}
