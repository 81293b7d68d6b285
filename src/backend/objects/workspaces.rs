//! Workspaces of object stores: the list of them, and those that are made when they are first opened.

use std::sync::Arc;

use terrane_value::Value;

use super::path::joined;
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

/// The name of a workspace's state: that of the default one is in the folder itself, others are in folders of their own below it.
pub fn state_key(folder: &str, workspace: &str, key: &str) -> String {
    match workspace {
        DEFAULT_WORKSPACE => joined(&[folder, key]),
        name => joined(&[folder, name, key]),
    }
}

/// What is wrong with the settings `bucket`, `key` and `prefix`. `prefix`: what messages call the last one.
pub fn place_problems(config: &Value, prefix: &str) -> Vec<String> {
    let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_missing = config.get("bucket").is_none_or(Value::is_null);
    let is_rooted = text("prefix").starts_with('/') || text("prefix").starts_with("./");
    let checks = [
        (is_missing, "\"bucket\": required field is not set".to_owned()),
        (text("key").starts_with('/') || text("key").ends_with('/'), "key can not start and end with '/'".to_owned()),
        (is_rooted, format!("{prefix} must not start with '/' or './'")),
    ];
    checks.into_iter().filter(|(is_wrong, _)| *is_wrong).map(|(_, why)| why).collect()
}

/// The default workspace, and the others sorted behind it.
pub fn with_default(others: impl Iterator<Item = String>) -> Vec<String> {
    let mut workspaces: Vec<String> = others.filter(|name| name != DEFAULT_WORKSPACE).collect();
    workspaces.sort();
    workspaces.insert(0, DEFAULT_WORKSPACE.to_owned());
    workspaces
}
