//! The restart of a command that used an outdated schema of the cache.
//!
//! When a command fails that has used entries, the providers are asked for their schemas: if one differs, its package is excluded
//! from the cache, and the command starts anew unless it has changed something.

use super::factories::Factories;
use crate::setup::Setup;

/// Checks the entries that were used, of all providers if the command has failed. Where one is outdated and nothing was
/// changed yet, the command starts anew.
pub async fn check(setup: &Setup, factories: &Factories, failed: bool) {
    if exclude_outdated(setup, factories, failed).await {
        tracing::info!("starting the command anew: it has used schemas that are not those of the providers");
        setup.restart.set();
    }
}

/// As [`check`], for a command that may have changed something, which is not started anew.
pub async fn check_after_changes(setup: &Setup, factories: &Factories, failed: bool) {
    exclude_outdated(setup, factories, failed).await;
}

async fn exclude_outdated(setup: &Setup, factories: &Factories, failed: bool) -> bool {
    !setup.stop.is_stopping() && factories.exclude_outdated_schemas(failed).await
}
