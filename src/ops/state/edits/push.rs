//! `state push`

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use backend::durable::replace::replace_state;
use base::files::named;
use model::state::file::{self, StateFile, problems_text};

use super::{EditRefusal, Locking, MoveEnd, check_configuration, hold};
use crate::backends::{encryption, read_state};
use crate::interface::listen::Listener;
use crate::interface::options::StateOptions;
use crate::setup::Setup;

/// Writes a state file, or the input for `-`, in place of the current state. Unless `force`, it must be
/// a later one of the same history.
pub async fn push(
    setup: &Setup,
    path: &str,
    force: bool,
    locking: Locking,
    listener: &dyn Listener,
    input: impl FnOnce() -> io::Result<Vec<u8>>,
) -> Result<(), EditRefusal> {
    check_configuration(setup)?;
    let source = source(setup, path, input).await?;
    let ignore_remote_version = locking.ignore_remote_version;
    let options = StateOptions { ignore_remote_version, ..StateOptions::default() };
    let (store, warnings) = read_state::open_to_change(setup, &options).await?;
    if !warnings.is_empty() {
        listener.diagnostics(warnings);
    }
    if force && let Some(forced) = store.facts().forced {
        forced.force_next_write();
    }
    let mut held = hold(setup, locking, store, "state-push", MoveEnd::Destination, listener).await?;
    if let Err(mut problems) = held.take_up_journal(listener).await {
        problems.extend(held.release().await);
        return Err(problems.into());
    }
    let written = replace_state(&held.store, &held.loaded, source, force).await;
    let released = held.release().await;
    match written {
        Err(error) => Err(EditRefusal::NotSaved(error.text)),
        Ok(()) if released.has_errors() => Err(released.into()),
        Ok(()) => Ok(()),
    }
}

/// The content of a file, if it can be opened.
fn opened(path: &Path) -> Result<io::Result<Vec<u8>>, EditRefusal> {
    let mut file = File::open(path).map_err(|error| EditRefusal::NoSource(named(error, "open", path).to_string()))?;
    let mut content = Vec::new();
    Ok(file.read_to_end(&mut content).map(|_| content).map_err(|error| named(error, "read", path)))
}

async fn source(
    setup: &Setup,
    path: &str,
    input: impl FnOnce() -> io::Result<Vec<u8>>,
) -> Result<StateFile, EditRefusal> {
    let unread = |reason: String| EditRefusal::BadSource { path: path.to_owned(), reason };
    let content = match path {
        "-" => input(),
        path => opened(Path::new(path))?,
    };
    let content = content
        .map_err(|error| unread(format!("Failed to read state file: The state file could not be read: {error}")))?;
    // What a run kept that could not be stored is encrypted as the state is.
    let content = match ::encryption::is_sealed(&content) {
        true => {
            let encryption = encryption::of(setup).await?;
            encryption::open_state(&encryption, content).await.map_err(|error| unread(error.to_string()))?
        }
        false => content,
    };
    match file::read(&content) {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(unread("no state".into())),
        Err(problems) => Err(unread(problems_text(&problems))),
    }
}
