//! Repositories of Mercurial, by the hg program.

use std::path::Path;

use base::{env, program};
use tokio::process::Command;

use super::address::Address;
use super::git::finish;
use super::{FetchError, Fetcher};

/// Clones a repository and updates to `rev` (or `ref`).
pub async fn fetch(fetcher: &Fetcher, mut address: Address, target: &Path) -> Result<(), FetchError> {
    let search_path = fetcher.environment.get(env::PATH).unwrap_or_default();
    let Some(program) = program::find("hg", search_path) else {
        return Err(FetchError::new("hg must be available and on the PATH"));
    };
    let revision = [address.take("rev"), address.take("ref")].into_iter().flatten().next();
    if let Some(revision) = revision.as_ref().filter(|r| r.starts_with('-')) {
        return Err(FetchError::new(format!("invalid ref: {revision:?}")));
    }
    let mut clone = Command::new(&program);
    clone.args(["clone", "-U", "--"]).arg(address.to_string()).arg(target);
    finish(&program, clone, fetcher, &address).await?;
    let mut update = Command::new(&program);
    update.arg("update").args(revision).current_dir(target);
    finish(&program, update, fetcher, &address).await
}
