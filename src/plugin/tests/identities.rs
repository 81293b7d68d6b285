//! Identities of objects, generated configuration and capabilities between client and server.

use std::sync::Arc;

use terrane_protocol::provider::*;
use terrane_value::{Type, Value};

use super::loopback;
use super::thing::{identity, thing, thing_type};

fn read_request(current_identity: Option<Identity>) -> ReadRequest {
    ReadRequest {
        kind: "t_thing".into(),
        current: thing("x", Value::string("i")),
        current_identity,
        private: Arc::default(),
        provider_meta: no_provider_meta(),
        client: ClientCapabilities::default(),
    }
}

#[tokio::test]
async fn identities_are_part_of_requests_and_answers() {
    for protocol in [5, 6] {
        let process = loopback(protocol).await;
        let provider = process.provider();
        let read = provider.read_resource(read_request(None)).await;
        assert_eq!((read.identity, read.deferred), (Some(identity("read")), None));
        let read = provider.read_resource(read_request(Some(identity("stored")))).await;
        assert_eq!(read.identity, Some(identity("stored")));
        let older = Identity { schema_version: 1, ..identity("stored") };
        let read = provider.read_resource(read_request(Some(older))).await;
        assert_eq!(read.diagnostics[0].summary, "Invalid resource identity");

        let source_identity = Some(Identity { schema_version: 7, json: "source".into() });
        let request = MoveRequest {
            source_provider: "example.com/t/t".to_owned(),
            source_kind: "t_other".into(),
            source_version: 3,
            source_state: b"{}"[..].into(),
            source_identity,
            source_private: Arc::from(*b"kept"),
            target_kind: "t_thing".into(),
        };
        let moved = provider.move_resource_state(request.clone()).await;
        assert_eq!((moved.identity, &*moved.private), (Some(identity("source")), &b"kept"[..]));
        assert_eq!(moved.state, thing("t_other", Value::string("moved")));
        let moved = provider.move_resource_state(MoveRequest { source_identity: None, ..request }).await;
        assert_eq!(moved.identity, None);
    }
}

#[tokio::test]
async fn stored_identities_are_upgraded() {
    for protocol in [5, 6] {
        let process = loopback(protocol).await;
        let provider = process.provider();
        let stored = |schema_version| Identity { schema_version, json: "old".into() };
        let (upgraded, found) = provider.upgrade_resource_identity("t_thing", stored(1)).await;
        assert_eq!((upgraded, found), (Some(identity("old")), vec![ProviderDiagnostic::warning("Upgraded", "")]));
        let (upgraded, found) = provider.upgrade_resource_identity("t_thing", stored(0)).await;
        assert_eq!((upgraded, found), (None, vec![ProviderDiagnostic::error("Unknown version", "")]));
    }
}

#[tokio::test]
async fn configuration_is_generated_from_a_state() {
    for protocol in [5, 6] {
        let process = loopback(protocol).await;
        let provider = process.provider();
        assert!(provider.schemas().await.unwrap().capabilities().generate_resource_config);
        let state = thing("x", Value::string("i"));
        let (config, found) = provider.generate_resource_config("t_thing", state.clone()).await;
        assert_eq!(config, thing("x", Value::null(Type::String)));
        assert_eq!(found, vec![ProviderDiagnostic::warning("Generated", "")]);
        let (config, found) = provider.generate_resource_config("t_none", state).await;
        assert!(config.is_null());
        assert_eq!(found[0].summary, "unknown resource type \"t_none\"");
    }
}

/// The private data of an earlier plan is in protocol 6 only.
#[tokio::test]
async fn planned_private_data_comes_back() {
    for (protocol, expected) in [(5, b"private"), (6, b"earlier")] {
        let process = loopback(protocol).await;
        let config = thing("x", Value::null(Type::String));
        let request = PlanRequest {
            kind: "t_thing".into(),
            prior: Value::null(thing_type()),
            proposed: config.clone(),
            config,
            prior_private: Arc::default(),
            provider_meta: no_provider_meta(),
            client: ClientCapabilities { store_planned_private: true, ..ClientCapabilities::default() },
            prior_identity: None,
            planned_private: Arc::from(*b"earlier"),
        };
        let planned = process.provider().plan_resource_change(request).await;
        assert_eq!((&*planned.private, planned.identity), (&expected[..], None));
    }
}
