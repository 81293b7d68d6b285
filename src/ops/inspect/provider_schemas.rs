//! `providers schema`: the schemas of the providers of the working directory.

use std::collections::BTreeSet;
use std::path::Path;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::files::Disk;
use crate::model::addr;
use crate::model::deps::Requirements;

use crate::ops::backends;
use crate::ops::configuration::load;
use crate::ops::configuration::variables;
use crate::ops::interface::options::{StateOptions, VariableArgument};
use crate::ops::interface::planning::Schemas;
use crate::ops::plugins::factories::Factories;
use crate::ops::plugins::packages;
use crate::ops::plugins::schemas;
use crate::ops::run::operation::CANCELED;
use crate::ops::setup::Setup;

/// The schemas of every provider that the configuration requires or the state speaks of. Warnings are not given, as in the
/// reference: what is shown is for programs.
pub async fn all(setup: &Setup, arguments: &[VariableArgument]) -> Result<Schemas, Diagnostics> {
    let (module, problems) = load::backend_module(setup);
    if problems.has_errors() {
        return Err(problems);
    }
    let options = StateOptions { lock: false, ..StateOptions::default() };
    let block = module.as_ref().and_then(|module| module.backend.as_ref());
    let opened = backends::open(setup, block, &options).await?;
    let (_, problems) = variables::collect(setup, arguments);
    if problems.has_errors() {
        return Err(problems);
    }
    let (loaded, problems) = load::config(Path::new("."), setup, &Disk);
    let Some(loaded) = loaded.filter(|_| !problems.has_errors()) else { return Err(problems) };
    let (requirements, problems) = Requirements::of_config(&loaded.config);
    if problems.has_errors() {
        return Err(problems);
    }
    let found = packages::resolve(setup, &requirements).await?;
    let held = backends::hold(&opened, "", &options, setup, None).await?;
    let state = held.loaded.file.as_ref().map(|file| Requirements::of_state(&file.state)).unwrap_or_default();
    let needed: BTreeSet<addr::Provider> = requirements.0.into_keys().chain(state.0.into_keys()).collect();
    if let Some(provider) = needed.iter().find(|provider| !found.origins.contains_key(provider)) {
        return Err(schemas::unavailable(provider).into());
    }
    let factories = Factories::without_cache(setup, found.origins);
    let work = schemas::gather(&factories, needed);
    let schemas = tokio::select! {
        schemas = work => schemas,
        () = setup.stop.stopping() => Err(Diagnostic::error(CANCELED, "").into()),
    };
    factories.shutdown().await;
    schemas
}
