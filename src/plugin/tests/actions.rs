//! Actions between client and server.

use std::sync::{Arc, Mutex};

use terrane_protocol::provider::*;
use terrane_value::Value;

use super::loopback;
use super::thing::{DEFERRED, settings};

/// Invokes the action; gives what it reported on its way and at its end.
async fn invoke(provider: &dyn Provider, kind: &str, config: Value) -> (Vec<String>, ProviderDiagnostics) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let progress: Output = {
        let seen = seen.clone();
        Arc::new(move |text: &str| seen.lock().unwrap().push(text.to_owned()))
    };
    let client = ClientCapabilities::default();
    let found = provider.invoke_action(InvokeActionRequest { kind: kind.into(), config, client, progress }).await;
    (Arc::into_inner(seen).unwrap().into_inner().unwrap(), found)
}

#[tokio::test]
async fn actions_report_their_progress_and_their_end() {
    for protocol in [5, 6] {
        let process = loopback(protocol).await;
        let provider = process.provider();
        let schemas = provider.schemas().await.unwrap();
        assert_eq!(schemas.action_names(), vec![Arc::from("t_thing")]);
        assert_eq!(schemas.action("t_thing").unwrap().unwrap().implied_type(), settings(None, true).ty());

        let cases = [(0, false, vec![]), (3, false, vec!["step 0", "step 1", "step 2"]), (1, true, vec!["step 0"])];
        for (count, fail, steps) in cases {
            let (seen, found) = invoke(&*provider, "t_thing", settings(Some(count), fail)).await;
            assert_eq!(seen, steps);
            let failed = ProviderDiagnostic::error("Action failed", "");
            assert_eq!(found, if fail { vec![failed] } else { Vec::new() });
        }
        let (seen, found) = invoke(&*provider, "t_none", settings(None, false)).await;
        assert_eq!((seen, found[0].summary.as_str()), (Vec::new(), "unknown action type \"t_none\""));
    }
}

#[tokio::test]
async fn actions_are_validated_and_planned() {
    for protocol in [5, 6] {
        let process = loopback(protocol).await;
        let provider = process.provider();
        assert_eq!(provider.validate_action_config("t_thing", settings(None, false)).await, Vec::new());
        let refused = provider.validate_action_config("t_thing", settings(None, true)).await;
        assert_eq!(refused, vec![ProviderDiagnostic::error("Cannot act", "")]);
        for (deferral_allowed, deferred) in [(false, None), (true, Some(DEFERRED))] {
            let client = ClientCapabilities::of_engine(deferral_allowed);
            let request = PlanActionRequest { kind: "t_thing".into(), config: settings(None, false), client };
            let diagnostics = vec![ProviderDiagnostic::warning("Planned", "")];
            assert_eq!(provider.plan_action(request).await, PlanActionResponse { deferred, diagnostics });
        }
    }
}
