//! How many snapshots are kept, and where.

use backend::durable::HistoryPlace;
use backend::durable::user_key::UserKey;
use base::env::{Environment, TERRANE_STATE_HISTORY};

use crate::interface::options::StateOptions;
use crate::setup::{Setup, user_data};

const DEFAULT_LIMIT: usize = 20;

/// The histories in the data directory, unless none is wanted. State files that the command line names have none.
/// Snapshots of states that are not on this machine are not left readable in the working directory.
pub fn place(setup: &Setup, options: &StateOptions) -> Option<HistoryPlace> {
    let limit = limit(&setup.environment);
    if limit == 0 || options.state.is_some() || options.state_out.is_some() {
        return None;
    }
    let dir = setup.workdir.data_dir.join("history");
    let user_key = user_data::folder(&setup.environment).map(|folder| UserKey::at(folder.join("history.key")));
    Some(HistoryPlace { dir, limit, user_key })
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
