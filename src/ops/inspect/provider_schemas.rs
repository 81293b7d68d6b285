//! `providers schema`: the schemas of the providers of the working directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base::diag::{Diagnostic, Diagnostics};
use engine::ports::Providers;
use model::addr;
use model::deps::Requirements;
use model::provider_diagnostics::about_body;
use render::json::provider_schemas::Identities;

use crate::backends;
use crate::backends::held::{self, HeldAccess};
use crate::configuration::{load, variables};
use crate::interface::options::{StateOptions, VariableArgument};
use crate::interface::planning::Schemas;
use crate::plugins::factories::Factories;
use crate::plugins::{packages, schemas};
use crate::run::session::CANCELED;
use crate::setup::Setup;

/// What providers say about their types.
pub struct Described {
    pub schemas: Schemas,
    pub identities: BTreeMap<addr::Provider, Identities>,
}

/// The schemas of every provider that the configuration requires or the state speaks of. Warnings are not given, as in the
/// reference: what is shown is for programs.
pub async fn all(setup: &Setup, arguments: &[VariableArgument]) -> Result<Described, Diagnostics> {
    let (module, problems) = load::backend_module(setup);
    if problems.has_errors() {
        return Err(problems);
    }
    let options = StateOptions { lock: false, ..StateOptions::default() };
    let block = module.as_ref().and_then(|module| module.backend.as_ref());
    let opened = backends::open::open(setup, block, &options).await?;
    let (_, problems) = variables::collect(setup, arguments);
    if problems.has_errors() {
        return Err(problems);
    }
    let (loaded, problems) = load::any_config(Path::new("."), setup, &setup.root);
    let Some(loaded) = loaded.filter(|_| !problems.has_errors()) else { return Err(problems) };
    let (requirements, problems) = Requirements::of_config(&loaded.config);
    if problems.has_errors() {
        return Err(problems);
    }
    let found = packages::resolve(setup, &requirements).await?;
    let held = held::hold(&opened.store, "", &options, setup, HeldAccess::Read).await?;
    let state = held.loaded.file.as_ref().map(|file| Requirements::of_state(&file.state)).unwrap_or_default();
    let needed: BTreeSet<addr::Provider> = requirements.0.into_keys().chain(state.0.into_keys()).collect();
    if let Some(provider) = needed.iter().find(|provider| !found.origins.contains_key(provider)) {
        return Err(schemas::unavailable(provider).into());
    }
    let factories = Factories::without_cache(setup, found.origins);
    let work = async {
        let schemas = schemas::gather(&factories, needed).await?;
        let identities = identities(&factories, &schemas).await?;
        Ok(Described { schemas, identities })
    };
    let schemas = tokio::select! {
        schemas = work => schemas,
        () = setup.stop.stopping() => Err(Diagnostic::error(CANCELED, "").into()),
    };
    factories.shutdown().await;
    schemas
}

/// The schemas of identities, provider by provider.
async fn identities(
    factories: &Factories,
    schemas: &Schemas,
) -> Result<BTreeMap<addr::Provider, Identities>, Diagnostics> {
    let mut all = BTreeMap::new();
    for (provider, of_provider) in schemas {
        let process = factories.unconfigured(provider).await?;
        let mut found = Identities::new();
        for kind in of_provider.managed_names() {
            let identity = process.identity_schema(&kind).await;
            let identity = identity.map_err(|errors| about_body(errors, None, None))?;
            found.extend(identity.map(|schema| (kind, schema)));
        }
        all.insert(provider.clone(), found);
    }
    Ok(all)
}
