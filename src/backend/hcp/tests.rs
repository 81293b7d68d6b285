//! The service's states and workspaces, against a stub of it.

use std::sync::Arc;

use async_trait::async_trait;
use base::env::Environment;
use base::secret::Secret;
use model::service::Host;
use terrane_value::{Type, Value};
use url::Url;

use super::*;
use crate::conformance::{self, Names};
use crate::contract::LockInfo;
use crate::contract::services::{Services, SharedServices};
use crate::kinds::Kind;
use crate::kinds::hcp::{Cloud, Remote};
use crate::servers::hcp::{HcpStub, ORGANIZATION, TOKEN};
use crate::servers::stub::Fault;

const HOST: &str = "tfe.example.com";

/// One host, with a token for it.
struct OneHost(Url);

#[async_trait]
impl Services for OneHost {
    async fn find(&self, host: &Host, id: &str) -> Result<Url, StoreError> {
        let missing = || StoreError::new(format!("host {host} does not provide {id}"));
        if host.as_str() == HOST { Ok(self.0.clone()) } else { Err(missing()) }
    }

    async fn token(&self, host: &Host) -> Option<Secret> {
        (host.as_str() == HOST).then(|| Secret::new(TOKEN))
    }
}

fn context(stub: &HcpStub, variables: &[(&str, &str)]) -> Context {
    let services = OneHost(Url::parse(&format!("{}/api/v2/", stub.stub.url())).unwrap());
    let environment = Environment::of(variables.iter().copied());
    Context { services: SharedServices(Arc::new(services)), ..Context::new(environment, "/none") }
}

fn config(hostname: &str, workspaces: &[(&'static str, Value)]) -> Value {
    let text = Value::string;
    let names = ["name", "prefix", "project"].map(|name| (name, Value::null(Type::String)));
    let mut all: std::collections::BTreeMap<&str, Value> = names.into_iter().collect();
    all.insert("tags", Value::null_dynamic());
    all.extend(workspaces.iter().cloned());
    Value::object([
        ("hostname", text(hostname)),
        ("organization", text(ORGANIZATION)),
        ("token", Value::null(Type::String)),
        ("workspaces", Value::object(all)),
    ])
}

async fn open(stub: &HcpStub, kind: &dyn Kind, workspaces: &[(&'static str, Value)]) -> Arc<dyn Backend> {
    kind.open(&config(HOST, workspaces), &context(stub, &[])).await.unwrap().into_states()
}

fn tags(names: &[&str]) -> (&'static str, Value) {
    ("tags", Value::tuple(names.iter().map(Value::string).collect()))
}

fn prefix(text: &str) -> (&'static str, Value) {
    ("prefix", Value::string(text))
}

#[tokio::test]
async fn versions_of_a_workspace() {
    let stub = HcpStub::start();
    let backend = open(&stub, &Remote, &[("name", Value::string("w"))]).await;
    conformance::check_versions(&*backend, "default", &[3, 2, 1]).await;
}

#[tokio::test]
async fn does_what_every_backend_does() {
    let stub = HcpStub::start();
    stub.service().demands_locks = false;
    stub.service().workspace("elsewhere");
    let names = Names { main: "main", other: "other", third: "a" };
    conformance::check_named(&*open(&stub, &Remote, &[prefix("app-")]).await, &names).await;
    assert_eq!(stub.names(), ["app-main", "app-other", "elsewhere"]);

    let stub = HcpStub::start();
    stub.service().demands_locks = false;
    stub.service().workspace("elsewhere");
    conformance::check_named(&*open(&stub, &Cloud, &[tags(&["app", "net"])]).await, &names).await;
    assert_eq!(stub.names(), ["elsewhere", "main", "other"]);
}

#[tokio::test]
async fn one_workspace_has_the_name_of_the_configuration() {
    let stub = HcpStub::start();
    let name = [("name", Value::string("prod"))];
    let remote = open(&stub, &Remote, &name).await;
    assert_eq!(remote.workspaces().await.unwrap_err().kind, ErrorKind::WorkspacesUnsupported);
    assert_eq!(remote.store("x").await.err().unwrap().kind, ErrorKind::WorkspacesUnsupported);
    remote.store("default").await.unwrap();
    let cloud = open(&stub, &Cloud, &name).await;
    assert_eq!(cloud.workspaces().await.unwrap(), ["prod"]);
    assert_eq!(cloud.store("default").await.err().unwrap().kind, ErrorKind::DefaultUnsupported);
    cloud.store("prod").await.unwrap();
    assert_eq!(stub.names(), ["prod"]);
}

#[tokio::test]
async fn new_workspaces_have_tags_and_a_project() {
    let stub = HcpStub::start();
    let values = Value::object([("team", Value::string("x"))]);
    let settings = [("tags", values), ("project", Value::string("Platform"))];
    let cloud = open(&stub, &Cloud, &settings).await;
    for name in ["a", "b", "c"] {
        cloud.store(name).await.unwrap();
    }
    stub.service().workspace("elsewhere").tags = vec![("team".into(), "y".into())];
    assert_eq!(cloud.workspaces().await.unwrap(), ["a", "b", "c"]);
    let service = stub.service();
    let (id, _) = service.projects.iter().find(|(_, name)| name == "Platform").unwrap();
    for workspace in service.workspaces.iter().filter(|one| one.name != "elsewhere") {
        assert_eq!(workspace.project.as_ref(), Some(id));
        assert_eq!(workspace.tags, [("team".to_owned(), "x".to_owned())]);
    }
}

#[tokio::test]
async fn tags_that_are_missing_are_added() {
    for tag_values in [true, false] {
        let stub = HcpStub::start();
        stub.service().tag_values = tag_values;
        stub.service().workspace("old").tags = vec![("net".into(), String::new())];
        open(&stub, &Cloud, &[tags(&["app", "net"])]).await.store("old").await.unwrap();
        let tags: Vec<String> = stub.service().workspace("old").tags.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(tags.iter().filter(|tag| *tag == "app").count(), 1, "{tag_values}: {tags:?}");
    }
    let stub = HcpStub::start();
    stub.service().tag_values = false;
    stub.service().workspace("old");
    let values = Value::object([("team", Value::string("x"))]);
    let refused = open(&stub, &Cloud, &[("tags", values)]).await.store("old").await.err().unwrap();
    assert!(refused.text.contains("does not support key/value tags"), "{refused}");
}

const STATE: &str = r#"{"version":4,"serial":3,"lineage":"l","outputs":{"o":{"value":[1],"type":["tuple",["number"]],"sensitive":true}}}"#;

#[tokio::test]
async fn states_go_with_their_outputs_and_older_services_get_them_inline() {
    for uploads in [true, false] {
        let stub = HcpStub::start();
        stub.service().uploads = uploads;
        let store = open(&stub, &Remote, &[("name", Value::string("w"))]).await.store("default").await.unwrap();
        let id = store.lock(&LockInfo::new("x")).await.unwrap();
        store.write(Arc::from(STATE.as_bytes())).await.unwrap();
        assert_eq!(store.read().await.unwrap().unwrap(), STATE.as_bytes());
        let version = stub.service().versions.last().unwrap().clone();
        assert_eq!((version.serial, version.lineage.as_str()), (3, "l"));
        assert_eq!(version.outputs.to_string(), r#"{"o":{"sensitive":true,"type":["tuple",["number"]],"value":[1]}}"#);
        let other = STATE.replace("\"l\"", "\"m\"");
        assert!(store.write(Arc::from(other.as_bytes())).await.is_err(), "of another lineage");
        if let Some(forced) = store.facts().forced {
            forced.force_next_write();
        }
        store.write(Arc::from(other.as_bytes())).await.unwrap();
        store.unlock(&id).await.unwrap();
    }
}

#[tokio::test]
async fn a_workspace_stays_locked_if_its_state_was_not_taken() {
    let stub = HcpStub::start();
    let backend = open(&stub, &Remote, &[("name", Value::string("w"))]).await;
    let store = backend.store("default").await.unwrap();
    let id = store.lock(&LockInfo::new("x")).await.unwrap();
    store.write(Arc::from(STATE.as_bytes())).await.unwrap();
    store.write(Arc::from(STATE.replace("3", "2").as_bytes())).await.unwrap_err();
    store.unlock(&id).await.unwrap();
    let other = backend.store("default").await.unwrap();
    let refused = other.lock(&LockInfo::new("x")).await.unwrap_err();
    assert_eq!(refused.reason, "workspace already locked (lock ID: \"acme/w\")");
    assert_eq!(refused.holder.unwrap().id, id);
    other.unlock("acme/x").await.unwrap_err();
    other.unlock("acme/w").await.unwrap();
    assert!(stub.service().workspace("w").locked.is_none());
    // What the reference locks has no ID but the workspace's name.
    stub.service().workspace("w").locked = Some("Locked by Terraform".into());
    let refused = other.lock(&LockInfo::new("x")).await.unwrap_err();
    assert_eq!(refused.holder.unwrap().id, "acme/w");
}

#[tokio::test]
async fn lost_answers_do_no_harm() {
    let stub = HcpStub::start();
    let store = open(&stub, &Remote, &[("name", Value::string("w"))]).await.store("default").await.unwrap();
    let next = |fault| stub.stub.fault(stub.stub.calls().len(), fault);
    next(Fault::Unanswered);
    let id = store.lock(&LockInfo::new("x")).await.unwrap();
    for fault in [Fault::Lost, Fault::Unanswered, Fault::Truncated, Fault::Status(429), Fault::Status(503)] {
        next(fault);
        let serial = stub.stub.calls().len();
        let state = STATE.replace("3", &serial.to_string());
        store.write(Arc::from(state.as_bytes())).await.unwrap();
        next(fault);
        assert_eq!(store.read().await.unwrap().unwrap(), state.as_bytes());
    }
    next(Fault::Unanswered);
    store.unlock(&id).await.unwrap();
    assert!(stub.service().workspace("w").locked.is_none());
}

#[tokio::test]
async fn tokens_go_to_their_host_only() {
    let stub = HcpStub::start();
    let elsewhere = crate::servers::stub::Stub::start(|_| crate::servers::stub::Answer::new(200, "{}"));
    let hcp = connect::remote(&config(HOST, &[prefix("x")]), &context(&stub, &[])).await;
    let hcp = hcp.unwrap();
    hcp.api().download(&format!("{}/state", elsewhere.url())).await.unwrap();
    hcp.api().upload(&format!("{}/state", elsewhere.url()), Vec::new()).await.unwrap();
    assert!(elsewhere.calls().iter().all(|call| !call.headers.contains_key("authorization")));
    let refused = hcp.api().download("file:///etc/passwd").await.unwrap_err();
    assert!(refused.text.contains("neither HTTP nor HTTPS"), "{refused}");
}

/// Summary and detail of why a backend cannot be opened.
async fn refused(stub: &HcpStub, kind: &dyn Kind, config: &Value, variables: &[(&str, &str)]) -> (String, String) {
    let mut problems = kind.open(config, &context(stub, variables)).await.err().expect("it was opened");
    let problem = problems.remove(0);
    assert!(!format!("{problem:?}").contains(TOKEN));
    (problem.summary, problem.detail)
}

#[tokio::test]
async fn what_keeps_it_from_being_opened_is_said() {
    let stub = HcpStub::start();
    let name = [("name", Value::string("w"))];
    let (summary, _) = refused(&stub, &Cloud, &config("other.example.com", &name), &[]).await;
    assert_eq!(summary, "Host other.example.com does not provide tfe.v2");
    let mut wrong = config(HOST, &name).entries().to_map();
    wrong.insert("organization".into(), Value::string("nobody"));
    let (summary, detail) = refused(&stub, &Remote, &Value::object(wrong), &[]).await;
    assert_eq!(summary, "Failed to read organization \"nobody\" at host tfe.example.com");
    assert!(detail.contains("your API token for tfe.example.com is valid"), "{detail}");
    let tagged = config(HOST, &[tags(&["app"])]);
    let (summary, detail) = refused(&stub, &Cloud, &tagged, &[("TF_WORKSPACE", "w")]).await;
    assert_eq!(summary, "Invalid workspace selection");
    assert_eq!(detail, "Terrane failed to find workspace \"w\" in organization acme.");
    stub.service().workspace("w");
    let (_, detail) = refused(&stub, &Cloud, &tagged, &[("TF_WORKSPACE", "w")]).await;
    assert!(detail.ends_with("with the tags specified in your configuration:\n[app]"), "{detail}");
}

#[tokio::test]
async fn snapshots_are_sent_as_often_as_the_service_wants() {
    let stub = HcpStub::start();
    let backend = open(&stub, &Cloud, &[("name", Value::string("w"))]).await;
    let store = backend.store("w").await.unwrap();
    assert_eq!(store.facts().snapshot_pause, std::time::Duration::MAX);
    stub.service().snapshot_interval = Some(40);
    store.lock(&LockInfo::new("x")).await.unwrap();
    store.write(Arc::from(STATE.as_bytes())).await.unwrap();
    assert_eq!(store.facts().snapshot_pause, std::time::Duration::from_secs(40));
}
