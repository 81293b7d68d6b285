//! Lists of objects between client and server.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use terrane_protocol::provider::*;
use terrane_value::{Path, Type, Value};

use super::loopback;
use super::thing::{identity, settings, thing};

/// Takes at most so many results.
struct Taken {
    most: usize,
    results: Mutex<Vec<ListResult>>,
}

#[async_trait]
impl ListSink for Taken {
    async fn add(&self, result: ListResult) -> ControlFlow<()> {
        let mut results = self.results.lock().unwrap();
        results.push(result);
        if results.len() < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

async fn list(provider: &dyn Provider, request: ListRequest, most: usize) -> (Vec<ListResult>, Vec<String>) {
    let taken = Taken { most, results: Mutex::default() };
    let found = provider.list_resources(request, &taken).await;
    (taken.results.into_inner().unwrap(), found.into_iter().map(|diagnostic| diagnostic.summary).collect())
}

fn request(count: Option<i64>, fail: bool) -> ListRequest {
    ListRequest { kind: "t_thing".into(), config: settings(count, fail), include_object: false, limit: None }
}

#[tokio::test]
async fn lists_give_their_results_one_after_the_other() {
    for protocol in [5, 6] {
        let process = loopback(protocol).await;
        let provider = process.provider();
        let schemas = provider.schemas().await.unwrap();
        assert_eq!(schemas.list_resource_names(), vec![Arc::from("t_thing")]);
        assert_eq!(schemas.list_resource("t_thing").unwrap().unwrap().implied_type(), settings(None, true).ty());

        let whole = ListRequest { include_object: true, ..request(Some(2), false) };
        let (results, found) = list(&*provider, whole, 9).await;
        let result = |name: &str, id: &str, diagnostics| ListResult {
            identity: identity(name),
            display_name: name.to_owned(),
            object: Some(thing(name, Value::string(id))),
            diagnostics,
        };
        let warning = ProviderDiagnostic::warning("Old", "");
        assert_eq!(results, vec![result("thing 0", "id0", vec![]), result("thing 1", "id1", vec![warning])]);
        assert_eq!(found, ["Listed"]);

        let limited = |limit| ListRequest { limit: Some(limit), ..request(None, false) };
        // The last three never end by themselves.
        let cases = [
            (request(Some(0), false), 9, 0, vec!["Listed"]),
            (request(Some(3), true), 9, 3, vec!["List failed"]),
            (ListRequest { limit: Some(5), ..request(Some(3), false) }, 9, 3, vec!["Listed"]),
            (limited(3), 9, 3, vec![]),
            (limited(40), 2, 2, vec![]),
            (request(None, false), 2, 2, vec![]),
        ];
        for (request, most, count, diagnostics) in cases {
            let (results, found) = list(&*provider, request, most).await;
            assert_eq!((results.len(), found), (count, diagnostics.into_iter().map(str::to_owned).collect()));
            assert!(results.iter().all(|result| result.object.is_none()));
        }
        let unknown = ListRequest { kind: "t_none".into(), ..request(None, false) };
        assert_eq!(list(&*provider, unknown, 1).await.1, ["unknown list resource type \"t_none\""]);
    }
}

#[tokio::test]
async fn lists_are_validated_with_what_is_not_known_yet() {
    for protocol in [5, 6] {
        let process = loopback(protocol).await;
        let cases = [
            (Value::bool(true), Value::int(7), "true Some(7)"),
            (Value::unknown(Type::Bool), Value::unknown(Type::Number), "false None"),
            (Value::null(Type::Bool), Value::null(Type::Number), "true None"),
        ];
        for (include_object, limit, seen) in cases {
            let (kind, config) = (Arc::from("t_thing"), settings(None, false));
            let request = ValidateListRequest { kind, config, include_object, limit };
            let expected = ProviderDiagnostic::warning(seen, "").at(Path::new().attr("count"));
            assert_eq!(process.provider().validate_list_config(request).await, vec![expected]);
        }
    }
}
