//! The backend against fake-gcs-server, if it is there.

use base::env::Environment;
use clouds::Server;

use super::settings::BOTH_KEYS;
use super::*;
use crate::conformance;
use crate::contract::Backend;
use crate::contract::{ErrorKind, LockInfo};
use crate::servers::clouds;

fn context(variables: &[(&str, &str)]) -> Context {
    Context::new(Environment::of(variables.iter().copied()), "/none")
}

fn config(settings: &[(&str, &str)]) -> Value {
    let ty = Gcs.schema().implied_type();
    let attributes = ty.object_type().unwrap().attributes.clone();
    Value::object(attributes.into_iter().map(|(name, ty)| {
        let set = settings.iter().find(|(set, _)| **set == *name);
        let value = set.map_or_else(|| Value::null(ty.clone()), |(_, text)| Value::string(text));
        (name, value)
    }))
}

async fn open(server: &Server, more: &[(&str, &str)]) -> Arc<dyn Backend> {
    let endpoint = format!("{}/storage/v1/", server.url());
    let mut all = vec![("bucket", "states"), ("access_token", "t"), ("storage_custom_endpoint", &endpoint)];
    all.retain(|(name, _)| more.iter().all(|(set, _)| set != name));
    all.extend(more);
    Gcs.open(&config(&all), &context(&[])).await.unwrap().into_states()
}

#[tokio::test]
async fn contract_with_and_without_a_folder() {
    let Some(server) = Server::google() else { return };
    server.request("POST", "/storage/v1/b?project=p", &[("Content-Type", "application/json")], r#"{"name":"states"}"#);
    for prefix in ["a b/c", ""] {
        conformance::check(&*open(&server, &[("prefix", prefix)]).await).await;
    }
}

#[tokio::test]
async fn versions_of_an_object() {
    let Some(server) = Server::google() else { return };
    let json = [("Content-Type", "application/json")];
    server.request("POST", "/storage/v1/b?project=p", &json, r#"{"name":"states"}"#);
    conformance::check_versions(&*open(&server, &[]).await, "default", &[3]).await;
    let body = r#"{"name":"kept","versioning":{"enabled":true}}"#;
    server.request("POST", "/storage/v1/b?project=p", &json, body);
    conformance::check_versions(&*open(&server, &[("bucket", "kept")]).await, "default", &[3, 2, 1]).await;
}

#[tokio::test]
async fn texts_of_errors() {
    let Some(server) = Server::google() else { return };
    let backend = open(&server, &[]).await;
    let why = backend.workspaces().await.unwrap_err().text;
    assert_eq!(why, "querying Cloud Storage failed: storage: bucket doesn't exist");
    server.request("POST", "/storage/v1/b?project=p", &[("Content-Type", "application/json")], r#"{"name":"states"}"#);
    let store = backend.store("default").await.unwrap();
    let info = LockInfo::new("x");
    let id = store.lock(&info).await.unwrap();
    // A request that is repeated finds its own lock.
    assert_eq!(store.lock(&info).await.unwrap(), id);
    let refused = store.lock(&LockInfo::new("y")).await.unwrap_err();
    assert!(
        refused.reason.starts_with("writing \"gs://states/default.tflock\" failed: googleapi: Error 412: "),
        "{}",
        refused.reason
    );
    let holder = refused.holder.unwrap();
    assert_eq!((holder.path.as_str(), &holder.id), ("gs://states/default.tflock", &id));
    assert_eq!(store.unlock("x").await.unwrap_err().text, "Lock ID should be numerical value, got 'x'");
    store.unlock(&id).await.unwrap();
    assert_eq!(store.unlock(&id).await.unwrap_err().kind, ErrorKind::LockGone);
    let refused = backend.delete_workspace("default", false).await.unwrap_err().text;
    assert_eq!(refused, "cowardly refusing to delete the \"default\" state");
}

#[tokio::test]
async fn settings_are_checked() {
    let checked = |settings: &[(&str, &str)], variables: &[(&str, &str)]| {
        let found = Gcs.check(&config(settings), &context(variables));
        found.into_iter().map(|d| d.summary).collect::<Vec<_>>().join(",")
    };
    let bucket = ("bucket", "b");
    assert_eq!(checked(&[bucket], &[]), "");
    assert_eq!(checked(&[bucket, ("encryption_key", ""), ("kms_encryption_key", "")], &[]), BOTH_KEYS);
    assert_eq!(checked(&[bucket, ("encryption_key", "k")], &[("GOOGLE_KMS_ENCRYPTION_KEY", "x")]), BOTH_KEYS);
    let opened = |settings: Vec<(&'static str, &'static str)>| async move {
        let result = Gcs.open(&config(&settings), &context(&[])).await;
        result.map(|_| ()).unwrap_err().remove(0).summary
    };
    let neither = "the string provided in credentials is neither valid json nor a valid file path";
    assert_eq!(opened(vec![bucket, ("credentials", "nothing")]).await, neither);
    let key = opened(vec![bucket, ("access_token", "t"), ("encryption_key", "?")]).await;
    assert!(key.starts_with("Error decoding encryption key: "), "{key}");
}
