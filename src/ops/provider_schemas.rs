//! `providers schema`: all that the providers of the working directory describe.

use std::collections::BTreeSet;
use std::path::Path;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::files::Disk;
use crate::engine::ports::Providers;
use crate::model::addr;
use crate::model::deps::Requirements;
use crate::model::provider::NO_SCHEMAS;

use super::operation::CANCELED;
use super::options::{StateOptions, VariableArgument};
use super::planning::Schemas;
use super::provider_factories::Factories;
use super::setup::Setup;
use super::{load, open_backend, packages, variables};

/// The schemas of every provider that the configuration requires or the state speaks of. Warnings are not given, as in the
/// reference: what is shown is for programs.
pub async fn all(setup: &Setup, arguments: &[VariableArgument]) -> Result<Schemas, Diagnostics> {
    let (module, problems) = load::backend_module(setup);
    if problems.has_errors() {
        return Err(problems);
    }
    let options = StateOptions { lock: false, ..StateOptions::default() };
    let block = module.as_ref().and_then(|module| module.backend.as_ref());
    let opened = open_backend::open(setup, block, &options).await?;
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
    let held = open_backend::hold(&opened, "", &options, setup, None).await?;
    let state = held.loaded.file.as_ref().map(|file| Requirements::of_state(&file.state)).unwrap_or_default();
    let needed: BTreeSet<addr::Provider> = requirements.0.into_keys().chain(state.0.into_keys()).collect();
    if let Some(provider) = needed.iter().find(|provider| !found.origins.contains_key(provider)) {
        return Err(unavailable(provider).into());
    }
    let factories = Factories::without_cache(setup, found.origins);
    let work = gather(&factories, needed);
    let schemas = tokio::select! {
        schemas = work => schemas,
        () = setup.stop.stopping() => Err(Diagnostic::error(CANCELED, "").into()),
    };
    factories.shutdown().await;
    schemas
}

/// Asks all providers at once.
pub async fn gather(
    factories: &Factories,
    needed: impl IntoIterator<Item = addr::Provider>,
) -> Result<Schemas, Diagnostics> {
    let asked = needed.into_iter().map(|provider| async move {
        let schemas = factories.schemas(&provider).await;
        (provider, schemas)
    });
    let (mut schemas, mut problems) = (Schemas::new(), Diagnostics::new());
    for (provider, found) in futures_util::future::join_all(asked).await {
        match found {
            Ok(found) => drop(schemas.insert(provider, found)),
            Err(more) => problems.extend(more),
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(schemas) }
}

/// What is said of a provider that is not there.
pub fn unavailable(provider: &addr::Provider) -> Diagnostic {
    let name = provider.to_string();
    let why = format!("failed to instantiate provider {name:?} to obtain schema: unavailable provider {name:?}");
    unreadable(provider, &why)
}

/// What is said of a provider whose description cannot be read.
pub fn unreadable(provider: &addr::Provider, why: &str) -> Diagnostic {
    let detail = format!(
        "Error while loading schemas for plugin components: Failed to obtain provider schema: Could not load the schema for provider \
         {provider}: {why}.."
    );
    Diagnostic::error(NO_SCHEMAS, detail)
}
