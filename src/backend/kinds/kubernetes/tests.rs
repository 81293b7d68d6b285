//! The `kubernetes` backend against a stub of the API server.

use std::time::Duration;

use base::env::Environment;
use cluster::KubernetesStub;
use stub::FAULTS;
use terrane_value::Type;

use super::*;
use crate::conformance::{self, noisy_state as content};
use crate::contract::{ErrorKind, LockInfo};
use crate::servers::{kubernetes as cluster, stub};

const LEASE: &str = "namespaces/default/leases/lock-tfstate-w-x";

async fn try_open(settings: &[(&str, Value)], variables: &[(&str, &str)]) -> Result<Arc<dyn Backend>, String> {
    let suffix = [("secret_suffix", Value::string("x"))];
    conformance::open(&Kubernetes, &[&suffix, settings].concat(), variables).await.map_err(|problem| problem.summary)
}

async fn open(stub: &KubernetesStub) -> Arc<dyn Backend> {
    try_open(&[("host", Value::string(stub.stub.url()))], &[]).await.unwrap()
}

#[tokio::test]
async fn does_what_every_backend_does() {
    let stub = KubernetesStub::start();
    conformance::check(&*open(&stub).await).await;
    let secret = stub.object("namespaces/default/secrets/tfstate-other-x").unwrap();
    assert_eq!(secret["metadata"]["annotations"], serde_json::json!({ "encoding": "gzip" }));
    assert_eq!(
        secret["metadata"]["labels"],
        serde_json::json!({
            "app.kubernetes.io/managed-by": "terraform",
            "tfstate": "true",
            "tfstateSecretSuffix": "x",
            "tfstateWorkspace": "other",
        })
    );
    let lease = stub.object("namespaces/default/leases/lock-tfstate-default-x").unwrap();
    assert!(lease["spec"]["holderIdentity"].is_null() && lease["metadata"]["annotations"][LOCK].is_null());
}

const LOCK: &str = "app.terraform.io/lock-info";

#[tokio::test]
async fn large_states_are_stored_in_parts() {
    let stub = KubernetesStub::start();
    let backend = open(&stub).await;
    let store = backend.store("w").await.unwrap();
    let id = store.lock(&LockInfo::new("x")).await.unwrap();
    for (seed, (size, parts)) in (1..).zip([(10, 1..2), (17_000_000, 11..99), (3_000_000, 2..5), (20, 1..2)]) {
        let content = content(size, seed);
        store.write(content.clone()).await.unwrap();
        assert!(open(&stub).await.store("w").await.unwrap().read().await.unwrap().unwrap() == *content, "{size}");
        let secrets = stub.names().iter().filter(|name| name.contains("/secrets/")).count();
        assert!(parts.contains(&secrets), "{size} bytes: {secrets}");
    }
    store.unlock(&id).await.unwrap();
    backend.delete_workspace("w", false).await.unwrap();
    assert_eq!(stub.names(), [""; 0]);
}

#[tokio::test]
async fn writes_without_a_lock_lose_to_earlier_ones() {
    let stub = KubernetesStub::start();
    let (a, b) = (open(&stub).await.store("w").await.unwrap(), open(&stub).await.store("w").await.unwrap());
    a.read().await.unwrap();
    b.read().await.unwrap();
    a.write(content(1, 1)).await.unwrap();
    let refused = b.write(content(2, 2)).await.unwrap_err();
    assert!(refused.text.contains("the object has been modified"), "{refused}");
    assert!(b.read().await.unwrap().unwrap() == *content(1, 1));
}

#[tokio::test]
async fn holders_are_named_and_losses_noticed() {
    let stub = KubernetesStub::start();
    let (mine, yours) = (open(&stub).await.store("w").await.unwrap(), open(&stub).await.store("w").await.unwrap());
    let info = LockInfo::new("OperationTypeApply");
    let id = mine.lock(&info).await.unwrap();
    let annotation = stub.object(LEASE).unwrap()["metadata"]["annotations"][LOCK].clone();
    assert_eq!(annotation.as_str().unwrap().as_bytes(), info.to_json());
    let error = yours.lock(&LockInfo::new("x")).await.unwrap_err();
    assert_eq!(error.reason, "the state is already locked by another terraform client");
    assert_eq!(error.holder.unwrap(), info);
    let wrong = yours.unlock("wrong").await.unwrap_err();
    assert!(wrong.text.starts_with("lock id \"wrong\" does not match existing lock\nLock Info:\n"), "{wrong}");
    yours.unlock(&id).await.unwrap();
    assert_eq!(yours.unlock(&id).await.unwrap_err().text, "state is already unlocked");
    let other = yours.lock(&LockInfo::new("x")).await.unwrap();
    let refused = mine.write(content(1, 1)).await.unwrap_err();
    let expected = format!("the state lock was lost: the lease is held by {other:?}");
    assert_eq!((&refused.kind, refused.text.as_str()), (&ErrorKind::LockGone, expected.as_str()));
    let lost = tokio::time::timeout(Duration::from_secs(5), mine.lock_lost()).await.unwrap();
    assert_eq!(lost, refused);
    assert!(mine.unlock(&id).await.is_err());
}

#[tokio::test]
async fn damaged_states_are_not_read() {
    let stub = KubernetesStub::start();
    let store = open(&stub).await.store("w").await.unwrap();
    store.write(content(3_000_000, 1)).await.unwrap();
    stub.change("namespaces/default/secrets/tfstate-w-x-part-1", |secret| secret["data"]["tfstate"] = "AAAA".into());
    let damaged = store.read().await.unwrap_err();
    assert!(damaged.kind == ErrorKind::Damaged && damaged.text.starts_with("the state cannot be decompressed: "));
    let part = "namespaces/default/secrets/tfstate-w-x-part-1";
    stub.change(part, |secret| secret["metadata"]["labels"]["tfstate"] = "false".into());
    let lost = store.read().await.unwrap_err();
    assert!(lost.kind == ErrorKind::Damaged && lost.text.contains("\"tfstate-w-x-part-1\""), "{lost}");
    stub.change(part, |secret| secret["metadata"]["labels"]["tfstate"] = "true".into());
    stub.change("namespaces/default/secrets/tfstate-w-x", |secret| secret["data"] = serde_json::json!({}));
    assert_eq!(store.read().await.unwrap(), None);
}

#[tokio::test]
async fn settings_and_files_give_access() {
    let stub = KubernetesStub::start();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config");
    let yaml = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: k}}}}]\nclusters: [{{name: k, cluster: {{server: \"{}\"}}}}]\n",
        stub.stub.url()
    );
    std::fs::write(&path, yaml).unwrap();
    stub.require("Bearer t0ken");
    let path = path.to_str().unwrap();
    let variables = [("KUBE_CONFIG_PATHS", path), ("KUBE_TOKEN", "t0ken"), ("KUBE_NAMESPACE", "n")];
    try_open(&[], &variables).await.unwrap().store("w").await.unwrap();
    assert_eq!(stub.names(), ["namespaces/n/secrets/tfstate-w-x"]);
    let refused = try_open(&[], &variables[..1]).await.unwrap().workspaces().await.unwrap_err();
    assert_eq!(refused.text, "Unauthorized");

    let text = Value::string;
    type Case<'a> = (&'a [(&'a str, Value)], &'a [(&'a str, &'a str)], &'a str);
    let cases: [Case<'_>; 6] = [
        (&[("secret_suffix", text("a-1"))], &variables, "secret_suffix must not end with '-<number>', got \"a-1\""),
        (
            &[],
            &[],
            "Failed to initialize kubernetes configuration: invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable",
        ),
        (
            &[("config_context", text("y"))],
            &variables,
            "Failed to initialize kubernetes configuration: context \"y\" does not exist",
        ),
        (
            &[("config_path", text("/nowhere/x"))],
            &[],
            "Failed to initialize kubernetes configuration: open /nowhere/x: no such file or directory",
        ),
        (
            &[("in_cluster_config", Value::bool(true))],
            &[],
            "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined",
        ),
        (
            &[],
            &[("KUBE_CONFIG_PATH", path), ("KUBE_INSECURE", "maybe")],
            "invalid value for \"insecure\": strconv.ParseBool: parsing \"maybe\": invalid syntax",
        ),
    ];
    for (settings, variables, expected) in cases {
        assert_eq!(try_open(settings, variables).await.err().as_deref(), Some(expected));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn programs_give_tokens_which_are_renewed() {
    let stub = KubernetesStub::start();
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let script =
        format!("echo x >> {0}; n=$(wc -l < {0}); printf '{{\"status\":{{\"token\":\"t%s\"}}}}' $n", count.display());
    let exec = Value::object([
        ("api_version", Value::string("client.authentication.k8s.io/v1")),
        ("command", Value::string("sh")),
        ("args", Value::strings(["-c", &script])),
        ("env", Value::null(Type::map(Type::String))),
    ]);
    let settings = [("host", Value::string(stub.stub.url())), ("exec", exec)];
    let path = std::env::var("PATH").unwrap();
    let backend = try_open(&settings, &[("PATH", &path)]).await.unwrap();
    for token in ["Bearer t1", "Bearer t1", "Bearer t2"] {
        stub.require(token);
        backend.workspaces().await.unwrap();
    }
}

#[cfg(unix)]
#[tokio::test]
async fn files_and_programs_of_settings_are_in_the_folder_of_the_command() {
    let stub = KubernetesStub::start();
    let dir = tempfile::tempdir().unwrap();
    let yaml = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: k}}}}]\nclusters: [{{name: k, cluster: {{server: \"{}\"}}}}]\n",
        stub.stub.url()
    );
    std::fs::write(dir.path().join("config"), yaml).unwrap();
    std::fs::write(dir.path().join("credential.json"), "{\"status\":{\"token\":\"t0ken\"}}").unwrap();
    stub.require("Bearer t0ken");
    let exec = Value::object([
        ("api_version", Value::string("client.authentication.k8s.io/v1")),
        ("command", Value::string("cat")),
        ("args", Value::strings(["credential.json"])),
        ("env", Value::null(Type::map(Type::String))),
    ]);
    let path = std::env::var("PATH").unwrap();
    let environment = Environment::of([("PATH", path.as_str()), ("KUBE_CONFIG_PATHS", "/nowhere")]);
    let context = Context { folder: dir.path().to_owned(), ..Context::new(environment, std::env::temp_dir()) };
    let settings = [("secret_suffix", Value::string("x")), ("exec", exec)];
    for config in [
        ("config_path", Value::string("config")),
        ("config_paths", Value::list(Type::String, vec![Value::string("./config")])),
    ] {
        let backend = conformance::open_in(&Kubernetes, &[&settings[..], &[config]].concat(), &context).await.unwrap();
        assert_eq!(backend.workspaces().await.unwrap(), ["default"]);
    }
}

/// What a run does with a store.
async fn run(backend: &dyn Backend) -> Result<(), String> {
    let text = |error: StoreError| error.text;
    let store = backend.store("w").await.map_err(text)?;
    let id = store.lock(&LockInfo::new("x")).await.map_err(|error| error.to_string())?;
    store.read().await.map_err(text)?;
    store.write(content(50, 1)).await.map_err(text)?;
    store.write(content(1_600_000, 2)).await.map_err(text)?;
    store.write(content(60, 3)).await.map_err(text)?;
    store.unlock(&id).await.map_err(text)?;
    backend.workspaces().await.map_err(text)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_at_each_request_are_survived() {
    let stub = KubernetesStub::start();
    run(&*open(&stub).await).await.unwrap();
    let requests = stub.stub.lines().len();
    assert!((10..30).contains(&requests), "{requests}");
    let cases = FAULTS.iter().flat_map(|fault| (0..requests).map(move |number| (number, *fault)));
    let runs = cases.map(async |(number, fault)| {
        let stub = KubernetesStub::start();
        stub.stub.fault(number, fault);
        let result = run(&*open(&stub).await).await;
        assert_eq!(result, Ok(()), "request {number}, {fault:?}");
        let store = open(&stub).await.store("w").await.unwrap();
        assert!(store.read().await.unwrap().unwrap() == *content(60, 3), "request {number}, {fault:?}");
        assert_eq!(stub.names(), [LEASE, "namespaces/default/secrets/tfstate-w-x"], "request {number}, {fault:?}");
        store.lock(&LockInfo::new("x")).await.unwrap();
    });
    futures_util::future::join_all(runs).await;
}
