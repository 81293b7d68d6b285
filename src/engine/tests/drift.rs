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
