//! Schemas of several providers at once.

use base::diag::{Diagnostic, Diagnostics};
use engine::ports::Providers;
use model::addr;
use model::deps::Requirements;
use model::state::State;
use terrane_protocol::provider::NO_SCHEMAS;

use super::factories::Factories;
use super::origin::Origin;
use super::packages;
use crate::interface::planning::Schemas;
use crate::setup::Setup;

/// The schemas of the given providers; unavailable ones are left out.
pub async fn available(providers: &dyn Providers, needed: impl IntoIterator<Item = addr::Provider>) -> Schemas {
    let mut schemas = Schemas::new();
    for provider in needed {
        if schemas.contains_key(&provider) {
            continue;
        }
        if let Ok(found) = providers.schemas(&provider).await {
            schemas.insert(provider, found);
        }
    }
    schemas
}

/// The schemas of all providers in a state, as far as they are available.
pub async fn available_for_state(factories: &Factories, state: &State) -> Schemas {
    available(factories, state.resources.values().map(|r| r.provider.provider.clone())).await
}

/// The schemas of all that a state holds, from providers that are started for it and ended again. Without all of them
/// it would be unknown what is sensitive.
pub async fn of_state(setup: &Setup, state: &State) -> Result<Schemas, Diagnostics> {
    if state.resources.is_empty() {
        return Ok(Schemas::new());
    }
    let requirements = Requirements::of_state(state);
    let found = packages::available(setup, &requirements).await?;
    if let Some(provider) =
        requirements.0.keys().find(|p| matches!(found.origins.get(p), None | Some(Origin::Missing(_))))
    {
        return Err(unavailable(provider).into());
    }
    let factories = Factories::new(setup, found.origins, found.provisioner_programs);
    let schemas = gather(&factories, requirements.0.into_keys()).await;
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
