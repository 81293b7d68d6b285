//! The backend against a stub of OSS and Tablestore.

use std::time::Duration;

use base::env::Environment;
use server::{ACCESS_KEY, BUCKET, OssStub, SECRET_KEY, TABLE};
use stub::FAULTS;

use super::*;
use crate::conformance;
use crate::contract::Backend;
use crate::contract::{ErrorKind, LockInfo};
use crate::servers::stub;

use crate::servers::oss as server;

fn context(variables: &[(&str, &str)]) -> Context {
    Context::new(Environment::of(variables.iter().copied()), "/none")
}

fn config(settings: &[(&str, Value)]) -> Value {
    let ty = Oss.schema().implied_type();
    let attributes = ty.object_type().unwrap().attributes.clone();
    Value::object(attributes.into_iter().map(|(name, ty)| {
        let set = settings.iter().rfind(|(set, _)| **set == *name);
        let value = set.map_or_else(|| Value::null(ty.clone()), |(_, value)| value.clone());
        (name, value)
    }))
}

async fn open(stub: &OssStub, more: &[(&str, &str)]) -> Arc<dyn Backend> {
    let url = stub.stub.url();
    let mut all = vec![("bucket", BUCKET), ("access_key", ACCESS_KEY), ("secret_key", SECRET_KEY)];
    all.extend([("endpoint", &*url), ("tablestore_endpoint", &*url)]);
    all.extend(more);
    let all: Vec<_> = all.into_iter().map(|(name, text)| (name, Value::string(text))).collect();
    Oss.open(&config(&all), &context(&[])).await.unwrap().into_states()
}

#[tokio::test]
async fn contract_of_backends() {
    for settings in
        [&[("tablestore_table", TABLE)][..], &[("tablestore_table", TABLE), ("prefix", ""), ("key", "a b/ü")]]
    {
        let stub = OssStub::start();
        conformance::check(&*open(&stub, settings).await).await;
    }
}

#[tokio::test]
async fn objects_and_rows_are_where_the_reference_has_them() {
    let stub = OssStub::start();
    let settings = [("tablestore_table", TABLE), ("prefix", "p/q/"), ("acl", "private")];
    let backend = open(&stub, &settings).await;
    for workspace in ["default", "w"] {
        let store = backend.store(workspace).await.unwrap();
        let id = store.lock(&LockInfo::new("x")).await.unwrap();
        store.write(Arc::from(&b"{}"[..])).await.unwrap();
        let info = stub.rows().into_values().find_map(|mut columns| columns.remove("Info")).unwrap();
        assert_eq!(LockInfo::from_json(info.as_bytes()).unwrap().id, id);
        store.unlock(&id).await.unwrap();
    }
    assert_eq!(stub.keys(), ["p/q/terraform.tfstate", "p/q/w/terraform.tfstate"]);
    let put = stub.stub.calls().into_iter().rfind(|call| call.method == "PUT").unwrap();
    assert_eq!(put.headers["x-oss-object-acl"], "private");
    assert_eq!(put.headers.get("x-oss-server-side-encryption"), None);
    let rows = stub.rows();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows["states/p/q/w/terraform.tfstate-md5"]["Digest"], "99914b932bd37a50b983c5e7c90ae93b");
    // Other objects below the prefix are not workspaces.
    for other in ["p/q/x/other.tfstate", "p/q/y", "p/q/z/terraform.tfstate/more"] {
        stub.put_object(other, b"{}");
    }
    stub.set_page(1);
    assert_eq!(backend.workspaces().await.unwrap(), ["default", "w"]);
    backend.delete_workspace("w", false).await.unwrap();
    assert_eq!(stub.rows().into_keys().collect::<Vec<_>>(), ["states/p/q/terraform.tfstate-md5"]);
}

#[tokio::test]
async fn states_match_their_checksums() {
    let stub = OssStub::start();
    let store = open(&stub, &[("tablestore_table", TABLE)]).await.store("default").await.unwrap();
    store.write(Arc::from(&b"{}"[..])).await.unwrap();
    stub.put_object("env:/terraform.tfstate", b"{ }");
    let stale = store.read().await.unwrap_err().text;
    assert!(stale.starts_with("state data in OSS does not have the expected content.\n"), "{stale}");
    assert!(
        stale.ends_with(&format!(
            "to the following value: {}",
            gotext::hex::hex(&<md5::Md5 as md5::Digest>::digest(b"{ }"))
        )),
        "{stale}"
    );
    // Left by a process that was killed after the upload.
    let digest = "states/env:/terraform.tfstate-md5";
    let pending = gotext::hex::hex(&<md5::Md5 as md5::Digest>::digest(b"{ }"));
    stub.set_row(digest, &[("Digest", "99914b932bd37a50b983c5e7c90ae93b"), ("PendingDigest", &pending)]);
    assert_eq!(store.read().await.unwrap().unwrap(), b"{ }");
    stub.set_row(digest, &[("Digest", "x")]);
    assert!(store.read().await.unwrap().is_some());
}

#[tokio::test]
async fn texts_of_errors() {
    let stub = OssStub::start();
    let store = open(&stub, &[("tablestore_table", TABLE)]).await.store("default").await.unwrap();
    let info = LockInfo::new("x");
    let id = store.lock(&info).await.unwrap();
    // A request that is repeated finds its own lock.
    assert_eq!(store.lock(&info).await.unwrap(), id);
    let refused = store.lock(&LockInfo::new("y")).await.unwrap_err();
    assert_eq!(refused.reason, "invoking PutRow got an error: OTSConditionCheckFail Condition check failed. R2");
    assert_eq!(refused.holder.unwrap().path, "states/env:/terraform.tfstate");
    let wrong = store.unlock("z").await.unwrap_err();
    assert!(wrong.text.starts_with("lock id \"z\" does not match existing lock\nLock Info:\n"), "{}", wrong.text);
    store.unlock(&id).await.unwrap();
    let gone = store.unlock(&id).await.unwrap_err();
    assert_eq!(gone.text, "failed to retrieve lock info: unexpected end of JSON input");
    assert_eq!(gone.kind, ErrorKind::LockGone);
    let table = open(&stub, &[("tablestore_table", "none")]).await.store("default").await.unwrap();
    let refused = table.lock(&info).await.unwrap_err();
    assert!(refused.reason.contains("OTSObjectNotExist Requested table does not exist. R2"), "{}", refused.reason);
    let secret = open(&stub, &[("secret_key", "wrong")]).await;
    let why = secret.workspaces().await.unwrap_err().text;
    let expected = "oss: service returned error: StatusCode=403, ErrorCode=SignatureDoesNotMatch, ErrorMessage=\"The request signature we calculated does not match.\", RequestId=R1";
    assert_eq!(why, expected);
    let bucket = open(&stub, &[("bucket", "none")]).await.store("default").await.unwrap();
    let why = bucket.read().await.unwrap_err().text;
    assert!(why.contains("ErrorCode=NoSuchBucket"), "{why}");
}

/// Without a table nothing is locked, as in the reference.
#[tokio::test]
async fn states_without_a_table_are_not_locked() {
    let stub = OssStub::start();
    let store = open(&stub, &[]).await.store("default").await.unwrap();
    assert_eq!(store.lock(&LockInfo::new("x")).await.unwrap(), "");
    assert_eq!(store.lock(&LockInfo::new("y")).await.unwrap(), "");
    store.unlock("").await.unwrap();
    assert!(stub.stub.calls().is_empty());
    let table = [("bucket", Value::string("b")), ("tablestore_table", Value::string("t"))];
    let why = Oss.open(&config(&table), &context(&[])).await.err().unwrap().remove(0).summary;
    assert_eq!(why, "tablestore_table needs tablestore_endpoint");
}

#[tokio::test]
async fn faults_on_the_way_are_survived() {
    let trials = FAULTS.into_iter().flat_map(|fault| (0..5).map(move |after| (fault, after)));
    let trials = trials.map(|(fault, after)| async move {
        let stub = OssStub::start();
        let store = open(&stub, &[("tablestore_table", TABLE)]).await.store("default").await.unwrap();
        stub.stub.fault(after, fault);
        let id = store.lock(&LockInfo::new("x")).await.unwrap();
        store.write(Arc::from(&b"{}"[..])).await.unwrap();
        assert!(store.read().await.unwrap().is_some());
        assert_eq!(store.unlock(&id).await, Ok(()), "{fault:?} {after}");
    });
    let all = futures_util::future::join_all(trials);
    tokio::time::timeout(Duration::from_secs(30), all).await.unwrap();
}

#[test]
fn settings_are_checked() {
    let text = |text: &str| Value::string(text);
    let bucket = ("bucket", text("b"));
    let checked = |settings: &[(&str, Value)]| {
        let found = Oss.check(&config(settings), &context(&[]));
        found.into_iter().map(|problem| problem.summary).collect::<Vec<_>>()
    };
    assert!(checked(&[bucket.clone(), ("key", text("a/b")), ("acl", text("public-read"))]).is_empty());
    let all = [
        ("key", text("a/")),
        ("prefix", text("./a")),
        ("acl", text("x")),
        ("assume_role_session_expiration", Value::number(3600)),
    ];
    assert_eq!(
        checked(&all),
        [
            "\"acl\" must be a valid ACL value , expected private, public-read or public-read-write, got \"x\"",
            "\"bucket\": required field is not set",
            "key can not start and end with '/'",
            "workspace_key_prefix must not start with '/' or './'",
        ]
    );
    let short = ("assume_role_session_expiration", Value::number(899));
    let expected = "expected assume_role_session_expiration to be in the range (900 - 3600), got 899";
    assert_eq!(checked(&[bucket, short]), [expected]);
}
