//! What a plan reports as changed outside.

use super::world::*;
use crate::model::plan::{Action, Mode};
use crate::model::state::State;

/// Observed: other sensitive paths than those stored count as drift, though the value is the same.
#[tokio::test]
async fn sensitivity_alone_is_drift() {
    let world = World::new();
    let text = "resource \"test_thing\" \"a\" {\n  name   = \"a\"\n  secret = \"s\"\n}";
    let (mut state, _) = apply(&world, text, &State::default()).await;
    let config = config(&[("main.tf", text)]);
    for expected in [0, 1] {
        for mode in [Mode::Normal, Mode::RefreshOnly] {
            let options = Options { mode, ..Options::default() };
            let (planned, _) = plan(&world, &config, &state, options).await;
            let planned = planned.unwrap();
            assert_eq!(planned.drift.len(), expected, "{mode:?}");
            assert!(planned.drift.iter().all(|drift| drift.action == Action::Update), "{mode:?}");
        }
        let (addr, provider, _) = state.instances().map(|(a, p, i)| (a, p.clone(), i.clone())).next().unwrap();
        state.instance_mut(&addr, &provider).current.as_mut().unwrap().sensitive = std::sync::Arc::from([]);
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
