//! Workspaces of object stores: the list of them, and those that are made when they are first opened.

use std::sync::Arc;

use crate::contract::{DEFAULT_WORKSPACE, FirstState, LockInfo, StateStore, StoreError};

/// Writes the first state where there is none, under its lock, so that the workspace is listed. `name` and `title` are the backend's in
/// messages: `s3` and `S3`.
pub async fn create(store: &dyn StateStore, name: &str, title: &str, first: &FirstState) -> Result<(), StoreError> {
    let locked = store.lock(&LockInfo::new("init")).await;
    let id = locked.map_err(|e| StoreError::new(format!("failed to lock {name} state: {e}")))?;
    let made = async {
        // Another process may have created it before this one acquired the lock.
        match store.read().await? {
            Some(_) => Ok(()),
            None => store.write(Arc::from(first.content()?)).await,
        }
    };
    let made = made.await;
    store.unlock(&id).await.map_err(|e| {
        StoreError::new(format!(
            "Error unlocking {title} state. Lock ID: {id}\n\nError: {e}\n\nYou may have to force-unlock this state in order to use it again.\n"
        ))
    })?;
    made
}

/// The workspaces of objects `FOLDER/WORKSPACE/REST` that are states: the default one first, the others sorted. `folder` ends in a slash,
/// or is empty; `key` gives the name of a workspace's state.
pub fn listed(names: &[String], folder: &str, key: impl Fn(&str) -> String) -> Vec<String> {
    let of = |object: &String| {
        let (name, _) = object.strip_prefix(folder)?.split_once('/')?;
        (!name.is_empty() && name != DEFAULT_WORKSPACE && *object == key(name)).then(|| name.to_owned())
    };
    with_default(names.iter().filter_map(of))
}

/// The default workspace, and the others sorted behind it.
pub fn with_default(others: impl Iterator<Item = String>) -> Vec<String> {
    let mut workspaces: Vec<String> = others.filter(|name| name != DEFAULT_WORKSPACE).collect();
    workspaces.sort();
    workspaces.insert(0, DEFAULT_WORKSPACE.to_owned());
    workspaces
}
