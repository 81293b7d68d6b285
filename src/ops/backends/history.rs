//! How many snapshots are kept, and where.

use std::sync::Arc;

use backend::{Backend, BackendWithHistory, UserKey};
use base::diag::Diagnostics;
use base::env::{Environment, TERRANE_STATE_HISTORY};

use super::encryption;
use crate::interface::options::StateOptions;
use crate::setup::{Setup, user_data};

const DEFAULT_LIMIT: usize = 20;

/// The backend with a history in the data directory, unless none is wanted. State files that the command line names have none.
/// Snapshots of states that are not on this machine are not left readable in the working directory.
pub async fn recorded(
    setup: &Setup,
    backend: Arc<dyn Backend>,
    options: &StateOptions,
) -> Result<Arc<dyn Backend>, Diagnostics> {
    let limit = limit(&setup.environment);
    if limit == 0 || options.state.is_some() || options.state_out.is_some() {
        return Ok(backend);
    }
    let cipher = encryption::of(setup).await?.state.clone();
    let dir = setup.workdir.data_dir.join("history");
    let user_key = user_data::folder(&setup.environment).map(|folder| UserKey::at(folder.join("history.key")));
    Ok(Arc::new(BackendWithHistory { inner: backend, dir, limit, cipher, user_key }))
}

/// A text that is no number does not count.
fn limit(environment: &Environment) -> usize {
    environment.non_empty(TERRANE_STATE_HISTORY).and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_number() {
        for (text, expected) in [("", 20), ("0", 0), ("7", 7), ("many", 20)] {
            assert_eq!(limit(&Environment::of([("TERRANE_STATE_HISTORY", text)])), expected, "{text}");
        }
    }
}
