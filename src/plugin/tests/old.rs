//! Providers of a time before some calls: what their callers are shown.

use std::ops::ControlFlow;
use std::sync::Arc;

use async_trait::async_trait;
use terrane_protocol::grpc::server::{Messages, serve_connection};
use terrane_protocol::grpc::{Reply, Service, unimplemented};
use terrane_protocol::handshake::Address;
use terrane_protocol::provider::*;
use terrane_protocol::provider_server::ProviderServer;
use terrane_protocol::wire::v6::V6;
use terrane_value::{Type, Value};
use tonic::Status;

use super::thing::{Thing, identity, settings, thing};
use crate::reattach::Reattach;
use crate::start::reattach_provider;

/// Answers for its schema alone.
struct SchemaOnly(ProviderServer<V6>);

#[async_trait]
impl Service for SchemaOnly {
    async fn call(&self, path: &str, messages: Messages) -> Result<Reply, Status> {
        let request = messages.single().await?;
        match path.ends_with("/GetProviderSchema") {
            true => self.0.answer(path, request).await.unwrap(),
            false => Err(unimplemented(path)),
        }
    }
}

/// Takes nothing.
struct Nothing;

#[async_trait]
impl ListSink for Nothing {
    async fn add(&self, result: ListResult) -> ControlFlow<()> {
        panic!("nothing was to be listed: {result:?}")
    }
}

fn plan_request() -> PlanActionRequest {
    let (kind, config) = (Arc::from("t_thing"), settings(None, false));
    PlanActionRequest { kind, config, client: ClientCapabilities::default() }
}

fn invoke_request() -> InvokeActionRequest {
    let PlanActionRequest { kind, config, client } = plan_request();
    InvokeActionRequest { kind, config, client, progress: Arc::new(|text| panic!("progress: {text}")) }
}

fn list_request() -> ListRequest {
    ListRequest { kind: "t_thing".into(), config: settings(None, false), include_object: false, limit: None }
}

fn validate_request() -> ValidateListRequest {
    let (include_object, limit) = (Value::bool(false), Value::null(Type::Number));
    ValidateListRequest { kind: "t_thing".into(), config: settings(None, false), include_object, limit }
}

/// The diagnostics of every optional call.
async fn optional_calls(provider: &dyn Provider) -> Vec<(&'static str, ProviderDiagnostics)> {
    let object = thing("x", Value::string("i"));
    let config = settings(None, false);
    vec![
        ("UpgradeResourceIdentity", provider.upgrade_resource_identity("t_thing", identity("x")).await.1),
        ("GenerateResourceConfig", provider.generate_resource_config("t_thing", object).await.1),
        ("ValidateListResourceConfig", provider.validate_list_config(validate_request()).await),
        ("ListResource", provider.list_resources(list_request(), &Nothing).await),
        ("ValidateActionConfig", provider.validate_action_config("t_thing", config).await),
        ("PlanAction", provider.plan_action(plan_request()).await.diagnostics),
        ("InvokeAction", provider.invoke_action(invoke_request()).await),
    ]
}

#[tokio::test]
async fn calls_that_a_provider_lacks_are_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap().to_string());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve_connection(stream, Arc::new(SchemaOnly(ProviderServer::new(Arc::new(Thing))))).await
    });
    let at = Reattach { version: 6, pid: 0, address };
    let process = reattach_provider(&at, "example.com/t/old").await.unwrap();
    let provider = process.provider();
    // Providers of a time before identities have none, which is no error.
    assert_eq!(provider.identity_schema("t_thing").await, Ok(None));
    for (call, found) in optional_calls(&*provider).await {
        // Without identities there is nothing to list.
        let (summary, part) = match call {
            "ListResource" => (
                "Identity schema not found for resource type t_thing; this is a bug in the provider - please report it there",
                String::new(),
            ),
            _ => ("Unsupported plugin method", format!("The plugin6.(*GRPCProvider).{call} method is not supported")),
        };
        assert_eq!((found.len(), found[0].summary.as_str()), (1, summary), "{call}");
        assert!(found[0].detail.contains(&part) && has_errors(&found), "{found:?}");
    }
}
