//! Client and server against each other, and the client against a real provider if there is one.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use terrane_protocol::handshake::{Address, Handshake};
use terrane_protocol::provider::*;
use terrane_protocol::schema::Schema;
use terrane_protocol::serve::{Caller, Plugin, serve};
use terrane_protocol::tls::TlsIdentity;
use terrane_value::{Path, Type, Value};
use thing::{DEFERRED, Thing, identity, schemas, thing, thing_type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::client::provisioner::ProvisionerClient;
use super::process::{Children, Launch, START_TIMEOUT, Security};
use super::reattach::Reattach;
use super::schema_cache::SchemaCache;
use super::start::{ProviderProcess, reattach_provider, start_provider};

mod actions;
mod identities;
mod lists;
mod old;
#[cfg(unix)]
mod shells;
mod thing;

/// Serves a provider in this process and connects to it.
async fn loopback(protocol: u16) -> ProviderProcess {
    let caller = Caller { versions: vec![5, 6], ..Caller::default() };
    let handshake = listen(Plugin::Provider(Arc::new(Thing)), protocol, caller).await;
    let at = Reattach { version: handshake.version, pid: 0, address: handshake.address };
    reattach_provider(&at, "example.com/t/t").await.unwrap()
}

async fn listen(plugin: Plugin, protocol: u16, caller: Caller) -> Handshake {
    let (send, line) = tokio::sync::oneshot::channel();
    tokio::spawn(serve(plugin, protocol, caller, super::crypto(), move |line| {
        let _ = send.send(line.to_owned());
        Ok(())
    }));
    Handshake::parse(&line.await.unwrap()).unwrap()
}

#[tokio::test]
async fn everything_crosses_both_protocols() {
    for protocol in [5, 6] {
        let process = loopback(protocol).await;
        assert_eq!(process.protocol(), protocol);
        let provider = process.provider();
        let known = provider.schemas().await.unwrap();
        assert!(known.capabilities().plan_destroy);
        assert_eq!(known.managed("t_thing").unwrap().unwrap().implied_type(), &thing_type());

        let none = ClientCapabilities::default();
        let all = ClientCapabilities { deferral_allowed: true, write_only_attributes_allowed: true, ..none };
        let (_, warned) = provider.validate_provider_config(Value::empty_object()).await;
        assert_eq!(warned, vec![ProviderDiagnostic::warning("Hm", "not good")]);
        let bad = provider.validate_resource_config("t_thing", thing("bad", Value::null(Type::String)), all).await;
        assert_eq!(bad, vec![ProviderDiagnostic::error("Bad name", "").at(Path::new().attr("name"))]);
        let secret =
            provider.validate_resource_config("t_thing", thing("secret", Value::null(Type::String)), none).await;
        assert_eq!(secret, vec![ProviderDiagnostic::error("WriteOnly Attribute Not Allowed", "")]);
        let missing = provider.validate_resource_config("t_none", Value::empty_object(), none).await;
        assert_eq!(missing, vec![ProviderDiagnostic::error("unknown resource type \"t_none\"", "")]);
        let config = Value::empty_object();
        let request = ConfigureRequest { terraform_version: "1.2.3".to_owned(), config, client: none };
        assert_eq!(provider.configure(request).await, Vec::new());

        let kind: Arc<str> = "t_thing".into();
        let (prior, config) = (Value::null(thing_type()), thing("x", Value::null(Type::String)));
        let plan = PlanRequest {
            kind: kind.clone(),
            prior: prior.clone(),
            proposed: config.clone(),
            config: config.clone(),
            prior_private: Arc::default(),
            provider_meta: no_provider_meta(),
            prior_identity: Some(identity("prior")),
            planned_private: Arc::default(),
            client: all,
        };
        let planned = provider.plan_resource_change(plan).await;
        assert_eq!((planned.deferred, planned.identity.clone()), (Some(DEFERRED), Some(identity("prior"))));
        assert_eq!(planned.planned, thing("x", Value::unknown(Type::String)));
        assert_eq!(planned.requires_replace, vec![Path::new().attr("name")]);
        let apply = ApplyRequest {
            kind: kind.clone(),
            prior,
            planned: planned.planned,
            config: config.clone(),
            planned_private: planned.private,
            planned_identity: planned.identity,
            provider_meta: no_provider_meta(),
        };
        let applied = provider.apply_resource_change(apply).await;
        assert_eq!(applied.new_state, thing("x", Value::string("made")));
        assert_eq!(applied.identity, Some(identity("prior")));
        assert!(applied.legacy_type_system && applied.diagnostics[0].summary == "Half done");
        let raw = RawState::Json(br#"{"id":"i","name":"x","tags":{"k":"v"}}"#.as_slice().into());
        let upgrade = UpgradeRequest { kind: kind.clone(), version: 0, raw };
        assert_eq!(provider.upgrade_resource_state(upgrade).await.0, thing("x", Value::string("i")));

        let imported = provider.import_resource_state("t_thing", "id7", all).await;
        assert_eq!(imported.deferred, Some(DEFERRED));
        let imported = imported.objects;
        assert_eq!(imported[0].state, thing("imported", Value::string("id7")));
        assert_eq!(imported[0].identity, Some(identity("imported")));
        let schema = provider.identity_schema("t_thing").await.unwrap().unwrap();
        assert_eq!((schema.version, schema.attributes.len()), (2, 2));
        assert!(schema.attributes["name"].is_required() && !schema.attributes["place"].is_required());
        assert_eq!(provider.identity_schema("t_other").await, Ok(None));
        let identity = Value::object([("name", Value::string("n")), ("place", Value::null(Type::String))]);
        let imported = provider.import_by_identity("t_thing", identity, all).await;
        assert_eq!(imported.deferred, None);
        assert_eq!(imported.objects[0].state, thing("n", Value::string("found")));
        let provider_meta = no_provider_meta();
        let data = ReadDataRequest { kind, address: String::new(), config: config.clone(), provider_meta, client: all };
        let read = provider.read_data_source(data).await;
        assert!((read.state, read.deferred) == (config.clone(), Some(DEFERRED)));
        let opened = provider.open_ephemeral("t_thing", config.clone(), all).await;
        assert_eq!(opened.deferred, Some(DEFERRED));
        assert_eq!((opened.result, opened.private, opened.renew_at), (config, b"p".to_vec(), Some((5, 7))));
        assert_eq!(provider.call_function("twice", vec![Value::string("ab")]).await, Ok(Value::string("abab")));
        let failed = provider.call_function("twice", vec![Value::string("")]).await;
        assert_eq!(failed, Err(FunctionError { text: "nothing".to_owned(), argument: Some(0) }));
        assert_eq!(provider.stop().await, Err("will not".to_owned()));
    }
}

struct Echo;

#[async_trait]
impl Provisioner for Echo {
    async fn schema(&self) -> Result<Arc<Schema>, ProviderDiagnostics> {
        Ok(schemas().managed["t_thing"].clone())
    }

    async fn validate(&self, _config: Value) -> ProviderDiagnostics {
        vec![ProviderDiagnostic::warning("Hm", "")]
    }

    async fn provision(&self, request: ProvisionRequest) -> ProviderDiagnostics {
        (request.output)("one ");
        tokio::task::yield_now().await;
        (request.output)(&format!("port {:?}", request.connection.get("port").and_then(Value::as_i64)));
        vec![ProviderDiagnostic::error("Failed", "")]
    }

    async fn stop(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Every process of the machine can connect to a TCP port.
#[tokio::test]
async fn strangers_do_not_end_a_plugin() {
    let client = TlsIdentity::generate(super::crypto()).unwrap();
    let caller = Caller { certificate: Some(client.pem()), tcp_ports: Some(20_000..=30_000), ..Caller::default() };
    let handshake = listen(Plugin::Provider(Arc::new(Thing)), 5, caller).await;
    let Address::Tcp(address) = handshake.address else { panic!("{:?}", handshake.address) };
    for stranger in 1..=5 {
        let mut stream = TcpStream::connect(&*address).await.unwrap_or_else(|e| panic!("stranger {stranger}: {e}"));
        stream.write_all(b"no TLS at all").await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap_or_else(|e| panic!("stranger {stranger}: {e}"));
    }
}

#[tokio::test]
async fn provisioners_stream_their_output() {
    let handshake = listen(Plugin::Provisioner(Arc::new(Echo)), 5, Caller::default()).await;
    let plugin = super::process::reattach(&handshake.address, 5, 0).await.unwrap();
    let provisioner = ProvisionerClient::new(&plugin, "echo".to_owned());
    let config = thing("x", Value::null(Type::String));
    assert_eq!(provisioner.validate(config.clone()).await, vec![ProviderDiagnostic::warning("Hm", "")]);
    let seen = Arc::new(Mutex::new(String::new()));
    let output: Output = {
        let seen = seen.clone();
        Arc::new(move |text: &str| seen.lock().unwrap().push_str(text))
    };
    let connection = Value::object([("port", Value::int(22))]);
    let failures = provisioner.provision(ProvisionRequest { config, connection, output }).await;
    assert_eq!(failures, vec![ProviderDiagnostic::error("Failed", "")]);
    assert_eq!(*seen.lock().unwrap(), "one port Some(22)");
    assert_eq!(provisioner.stop().await, Ok(()));
}

/// Set TERRANE_TEST_PROVIDER to the path of the AWS provider's executable to run this against the real thing.
#[tokio::test]
#[ignore = "a measurement of a provider that TERRANE_TEST_PROVIDER names"]
async fn a_real_provider_is_driven() {
    let path = std::env::var_os("TERRANE_TEST_PROVIDER").expect("TERRANE_TEST_PROVIDER names a provider");
    let kept = tempfile::tempdir().unwrap();
    let cache = Some((SchemaCache::new(kept.path().join("schemas"), ""), "h1:test".to_owned()));
    for run in ["first", "warm"] {
        let launch = Launch {
            command: path.clone().into(),
            args: Vec::new(),
            env: Vec::new(),
            security: Security::MutualTls,
            start_timeout: START_TIMEOUT,
            folder: Default::default(),
            log_name: "aws".to_owned(),
            children: Children::default(),
        };
        let clock = std::time::Instant::now();
        let process = start_provider(&launch, "registry.terraform.io/hashicorp/aws", cache.clone()).await.unwrap();
        println!("{run}: started {:?}, protocol {}", clock.elapsed(), process.protocol());
        let clock = std::time::Instant::now();
        let provider = process.provider();
        let known = provider.schemas().await.unwrap();
        println!("{run}: schemas {:?}", clock.elapsed());
        let clock = std::time::Instant::now();
        assert!(known.managed("aws_instance").unwrap().unwrap().implied_type().attribute("ami").is_some());
        println!("{run}: aws_instance {:?}", clock.elapsed());
        assert!(known.managed_names().len() > 1000 && known.capabilities().get_provider_schema_optional);
        let schema = known.provider().unwrap();
        let ty = schema.implied_type().object_type().unwrap();
        let config = Value::object(ty.attributes.iter().map(|(name, ty)| {
            let empty = if ty.is_list() {
                Value::list(ty.element_type().unwrap().clone(), Vec::new())
            } else {
                Value::set(ty.element_type().cloned().unwrap_or(Type::Dynamic), Vec::new())
            };
            let is_block = schema.block.blocks.contains_key(name);
            (name.clone(), if is_block { empty } else { Value::null(ty.clone()) })
        }));
        let clock = std::time::Instant::now();
        let (_, diagnostics) = provider.validate_provider_config(config).await;
        assert!(!has_errors(&diagnostics), "{diagnostics:?}");
        println!("{run}: validated {:?}", clock.elapsed());
        let arn = provider.call_function("trim_iam_role_path", vec![Value::string("arn:aws:iam::1:role/a/b")]).await;
        assert_eq!(arn, Ok(Value::string("arn:aws:iam::1:role/b")));
        let clock = std::time::Instant::now();
        process.shutdown().await;
        assert!(process.has_ended());
        println!("{run}: ended {:?}", clock.elapsed());
    }
}
