//! The states of this machine after they were moved to another backend.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use backend::{DEFAULT_WORKSPACE, ErrorKind, OpenBackend, StoreError};
use base::diag::{Diagnostic, Diagnostics};

/// Empties the states of this machine that are elsewhere now. Their backups stay.
pub async fn erase(local: &Arc<OpenBackend>, new: &Arc<OpenBackend>, names: &[String]) -> Result<(), Diagnostics> {
    let failed = |why: String| {
        let text = format!(
            "Error deleting local state after migration: {why}\n\nYour local state is deleted after successfully migrating it to the \
             newly\nconfigured backend. As part of the deletion process, a backup is made at\nthe standard backup path unless \
             explicitly asked not to. To cleanly operate\nwith a backend, we must delete the local state file. Please resolve \
             the\nissue above and retry the command."
        );
        Diagnostics::from(Diagnostic::error(text, ""))
    };
    let places = state_files(new).await.map_err(|e| failed(e.text))?;
    let mut stores = Vec::new();
    for name in names {
        let store = local.store(name).await.map_err(|e| failed(e.text))?;
        // The new backend may keep its states in the very same files.
        if store.facts().state_file.is_some_and(|file| places.iter().any(|place| is_same_file(place, &file))) {
            return Ok(());
        }
        stores.push(store);
    }
    for store in stores {
        store.erase().await.map_err(|e| failed(e.text))?;
    }
    Ok(())
}

/// The files that a backend keeps its states in, if they are files of this machine.
async fn state_files(backend: &Arc<OpenBackend>) -> Result<Vec<PathBuf>, StoreError> {
    let names = match backend.workspaces().await {
        Err(e) if e.kind == ErrorKind::WorkspacesUnsupported => vec![DEFAULT_WORKSPACE.to_owned()],
        other => other?,
    };
    let mut files = Vec::new();
    for name in names {
        files.extend(backend.store(&name).await?.facts().state_file);
    }
    Ok(files)
}

/// True for two paths of one file: links to it count.
fn is_same_file(one: &Path, other: &Path) -> bool {
    if one == other {
        return true;
    }
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (one.metadata(), other.metadata()) {
        use std::os::unix::fs::MetadataExt;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
