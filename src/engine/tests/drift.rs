//! What a plan reports as changed outside.

use model::plan::Mode;
use model::state::State;

use super::world::*;

/// Other sensitive paths than those stored are no drift, since Terraform 1.12: the value is the same.
#[tokio::test]
async fn sensitivity_alone_is_no_drift() {
    let world = World::new();
    let text = "resource \"test_thing\" \"a\" {\n  name   = \"a\"\n  secret = \"s\"\n}";
    let (mut state, _) = apply(&world, text, &State::default()).await;
    let config = config(&[("main.tf", text)]);
    let (addr, provider) = state.instances().map(|(addr, provider, _)| (addr, provider.clone())).next().unwrap();
    assert_ne!(state.instance(&addr).unwrap().current.as_ref().unwrap().sensitive.len(), 0);
    state.instance_mut(&addr, &provider).current.as_mut().unwrap().sensitive = std::sync::Arc::from([]);
    for mode in [Mode::Normal, Mode::RefreshOnly] {
        let (planned, _) = plan(&world, &config, &state, Options { mode, ..Options::default() }).await;
        assert!(planned.unwrap().drift.is_empty(), "{mode:?}");
    }
}

/// Observed: without reading objects, sensitive paths that the state does not have are recorded by an update.
#[tokio::test]
async fn sensitivity_alone_is_an_update_without_refresh() {
    let world = World::new();
    let text = "resource \"test_thing\" \"a\" {\n  name   = \"a\"\n  secret = \"s\"\n}";
    let (mut state, _) = apply(&world, text, &State::default()).await;
    let (addr, provider) = state.instances().map(|(addr, provider, _)| (addr, provider.clone())).next().unwrap();
    let recorded = state.instance(&addr).unwrap().current.as_ref().unwrap().sensitive.clone();
    state.instance_mut(&addr, &provider).current.as_mut().unwrap().sensitive = std::sync::Arc::from([]);
    let config = config(&[("main.tf", text)]);
    for no_refresh in [false, true] {
        let (planned, _) = plan(&world, &config, &state, Options { no_refresh, ..Options::default() }).await;
        let planned = planned.unwrap();
        assert_eq!(actions(&planned).len(), usize::from(no_refresh));
        if no_refresh {
            let (state, found) = apply_plan(&world, &config, planned).await;
            assert!(found.is_empty(), "{:?}", texts(&found));
            assert_eq!(state.instance(&addr).unwrap().current.as_ref().unwrap().sensitive, recorded);
        }
    }
}
