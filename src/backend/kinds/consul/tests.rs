//! The `consul` backend against a stub of Consul.

use std::time::Duration;

use consul::ConsulStub;
use stub::FAULTS;

use super::*;
use crate::conformance::{self, noisy_state as content};
use crate::contract::{ErrorKind, LockInfo};
use crate::servers::{consul, stub};

async fn try_open(settings: &[(&str, Value)], variables: &[(&str, &str)]) -> Result<Arc<dyn Backend>, String> {
    let path = [("path", Value::string("a/b"))];
    conformance::open(&ConsulKind, &[&path, settings].concat(), variables).await.map_err(|problem| problem.summary)
}

async fn open(stub: &ConsulStub, settings: &[(&str, Value)]) -> Arc<dyn Backend> {
    let address = [("address", Value::string(stub.address()))];
    try_open(&[&address, settings].concat(), &[]).await.unwrap()
}

async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work).await.unwrap()
}

#[tokio::test]
async fn does_what_every_backend_does() {
    let stub = ConsulStub::start();
    conformance::check(&*open(&stub, &[]).await).await;
    conformance::check(&*open(&ConsulStub::start(), &[("gzip", Value::bool(true))]).await).await;
    assert_eq!(stub.keys(), ["a/b", "a/b-env:other"]);
    assert_eq!(stub.sessions(), [""; 0]);
}

#[tokio::test]
async fn settings_name_the_agent() {
    let text = Value::string;
    type Case<'a> = (&'a [(&'a str, Value)], &'a [(&'a str, &'a str)], &'a str);
    let cases: [Case<'_>; 6] = [
        (&[("address", text("ftp://x"))], &[], "Unknown protocol scheme: ftp"),
        (&[("path", text("/a"))], &[], "Invalid key. Key must not begin with a '/': /a"),
        (&[("cert_file", text("x"))], &[], "both client cert and client key must be provided"),
        (&[("ca_file", text("/nowhere/ca"))], &[], "open /nowhere/ca: no such file or directory"),
        (
            &[],
            &[("CONSUL_HTTP_TOKEN_FILE", "/nowhere/t")],
            "Error loading token file: open /nowhere/t: no such file or directory",
        ),
        (&[], &[("CONSUL_HTTP_ADDR", "unix:///run/x")], "Consul agents on Unix sockets are not supported"),
    ];
    for (settings, variables, expected) in cases {
        assert_eq!(try_open(settings, variables).await.err().as_deref(), Some(expected));
    }
    let stub = ConsulStub::start();
    let address = stub.address();
    let variables = [
        ("CONSUL_HTTP_ADDR", address.as_str()),
        ("CONSUL_HTTP_TOKEN", "t0ken"),
        ("CONSUL_HTTP_AUTH", "me:pass"),
        ("CONSUL_NAMESPACE", "n s"),
    ];
    let settings = [("datacenter", text("d")), ("path", text("p%20/x y?"))];
    try_open(&settings, &variables).await.unwrap().store("default").await.unwrap().read().await.unwrap();
    let call = stub.stub.calls().remove(0);
    assert_eq!(call.line(), "GET /v1/kv/p%20/x y?");
    assert_eq!((call.parameter("dc"), call.parameter("ns")), (Some("d"), Some("n s")));
    assert_eq!(call.headers["x-consul-token"], "t0ken");
    assert_eq!(call.headers["authorization"], "Basic bWU6cGFzcw==");
}

#[tokio::test]
async fn large_states_are_stored_in_pieces() {
    for gzip in [false, true] {
        let stub = ConsulStub::start();
        let backend = open(&stub, &[("gzip", Value::bool(gzip))]).await;
        let store = backend.store("w").await.unwrap();
        let id = store.lock(&LockInfo::new("x")).await.unwrap();
        let sizes = [10, 1_200_000, 1_300_000, 20, 1_100_000];
        for (seed, size) in (1..).zip(sizes) {
            let content = content(size, seed);
            store.write(content.clone()).await.unwrap();
            let other = open(&stub, &[]).await.store("w").await.unwrap();
            assert!(other.read().await.unwrap().unwrap() == *content, "{size} bytes");
            let pieces = stub.keys().iter().filter(|key| key.contains("/tfstate.")).count();
            let expected = if size < 100 {
                0
            } else if gzip {
                2
            } else {
                3
            };
            assert_eq!(pieces, expected, "{size} bytes, {gzip}: pieces of older states are removed");
        }
        // The same state once more: its pieces must stay.
        store.write(content(1_100_000, 5)).await.unwrap();
        assert!(store.read().await.unwrap().unwrap() == *content(1_100_000, 5));
        store.unlock(&id).await.unwrap();
        assert_eq!(backend.workspaces().await.unwrap(), ["default", "w"]);
        backend.delete_workspace("w", false).await.unwrap();
        assert_eq!(stub.keys(), [""; 0]);
    }
}

#[tokio::test]
async fn damaged_states_are_not_read() {
    let stub = ConsulStub::start();
    let store = open(&stub, &[]).await.store("default").await.unwrap();
    store.write(content(1_200_000, 1)).await.unwrap();
    let piece = stub.keys().into_iter().find(|key| key.ends_with("/1")).unwrap();
    stub.set(&piece, b"else");
    assert_eq!(store.read().await.unwrap_err().text, "The remote state does not match the expected hash");
    stub.set("a/b", br#"{"chunks":["a/b/gone"],"current-hash":"0"}"#);
    assert_eq!(store.read().await.unwrap_err().text, "Key \"a/b/gone\" could not be found");
    stub.set("a/b", b"\x1fnot gzip");
    assert!(store.read().await.unwrap_err().text.starts_with("the state cannot be decompressed: "));
}

#[tokio::test]
async fn writes_without_a_lock_lose_to_earlier_ones() {
    let stub = ConsulStub::start();
    let (a, b) = (open(&stub, &[]).await, open(&stub, &[("lock", Value::bool(false))]).await);
    let (a, b) = (a.store("default").await.unwrap(), b.store("default").await.unwrap());
    a.write(content(1, 1)).await.unwrap();
    assert_eq!(b.lock(&LockInfo::new("x")).await.unwrap(), "", "locks are switched off");
    b.read().await.unwrap();
    a.write(content(2, 2)).await.unwrap();
    let refused = b.write(content(3, 3)).await.unwrap_err();
    assert_eq!(refused.text, "consul CAS failed with transaction errors: failed to set key \"a/b\", index is stale");
    assert!(a.read().await.unwrap().unwrap() == *content(2, 2));
    b.unlock("").await.unwrap();
}

#[tokio::test]
async fn holders_are_named_in_the_reference_s_way() {
    let stub = ConsulStub::start();
    let (mine, yours) = (open(&stub, &[]).await, open(&stub, &[]).await);
    let (mine, yours) = (mine.store("default").await.unwrap(), yours.store("default").await.unwrap());
    let id = mine.lock(&LockInfo::new("OperationTypeApply")).await.unwrap();
    let error = yours.lock(&LockInfo::new("OperationTypePlan")).await.unwrap_err();
    assert!(error.busy && error.to_string().starts_with("Lock Info:\n  ID:        00000001-"), "{error}");
    let holder = error.holder.unwrap();
    assert_eq!((holder.path.as_str(), holder.info), ("a/b", format!("consul session: {id}")));
    assert_eq!(stub.sessions(), [id.as_str()], "the session of the attempt is not left");
    // The reference releases by this id too.
    yours.unlock(&id).await.unwrap();
    let lost = soon(mine.lock_lost()).await;
    assert_eq!(lost.kind, ErrorKind::LockGone);
    assert!(mine.write(content(1, 1)).await.is_err());
    let next = yours.lock(&LockInfo::new("x")).await.unwrap();
    assert!(mine.unlock(&id).await.is_err());
    yours.unlock(&next).await.unwrap();
}

#[tokio::test]
async fn expired_sessions_lose_the_lock() {
    let stub = ConsulStub::start();
    let store = open(&stub, &[]).await.store("default").await.unwrap();
    store.lock(&LockInfo::new("x")).await.unwrap();
    store.write(content(1, 1)).await.unwrap();
    stub.expire_sessions();
    // Even before it is known here, the agent refuses what is written.
    let refused = store.write(content(2, 2)).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::LockGone);
    assert!(soon(store.lock_lost()).await.text.starts_with("the state lock was lost: "));
    assert!(store.read().await.unwrap().unwrap() == *content(1, 1));
}

/// What a run does with a store.
async fn run(backend: &dyn Backend) -> Result<(), String> {
    let text = |error: StoreError| error.text;
    let store = backend.store("w").await.map_err(text)?;
    let id = store.lock(&LockInfo::new("x")).await.map_err(|error| error.to_string())?;
    store.read().await.map_err(text)?;
    store.write(content(50, 1)).await.map_err(text)?;
    store.write(content(600_000, 2)).await.map_err(text)?;
    store.write(content(60, 3)).await.map_err(text)?;
    store.unlock(&id).await.map_err(text)?;
    backend.workspaces().await.map_err(text)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_at_each_request_are_survived() {
    let stub = ConsulStub::start();
    run(&*open(&stub, &[]).await).await.unwrap();
    let requests = stub.stub.lines().len();
    assert!((10..40).contains(&requests), "{requests}");
    let cases = FAULTS.iter().flat_map(|fault| (0..requests).map(move |number| (number, *fault)));
    let runs = cases.map(async |(number, fault)| {
        let stub = ConsulStub::start();
        stub.stub.fault(number, fault);
        let result = run(&*open(&stub, &[]).await).await;
        assert_eq!(result, Ok(()), "request {number}, {fault:?}");
        let store = open(&stub, &[]).await.store("w").await.unwrap();
        assert!(store.read().await.unwrap().unwrap() == *content(60, 3), "request {number}, {fault:?}");
        assert_eq!(stub.keys(), ["a/b-env:w"], "request {number}, {fault:?}");
        // What is not known to be made expires.
        stub.expire_sessions();
        stub.end_delays();
        store.lock(&LockInfo::new("x")).await.unwrap();
    });
    futures_util::future::join_all(runs).await;
}
