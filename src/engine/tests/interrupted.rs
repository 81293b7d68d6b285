//! Walks that do not finish: interrupted or panicking steps leave an error and an incomplete plan.

use base::stop::Stage;
use model::plan::Mode;
use model::state::State;

use super::schedule::{Interrupt, Schedule};
use super::world::*;
use crate::{ApplyInput, Facts, GivenVariables, ValidateInput};

const THREE: &str = r#"
    resource "test_thing" "a" {
      count = 3
      name  = "a${count.index}"
    }
    resource "test_thing" "b" {
      name  = "b"
      input = test_thing.a[*].id
    }
    output "o" { value = test_thing.b.id }"#;

fn stopping(after: u64) -> std::sync::Arc<World> {
    World::scheduled(Schedule::seeded(1, 1, Some(Interrupt { after, stage: Stage::Stopping })))
}

#[tokio::test]
async fn an_interrupted_plan_is_an_error_and_incomplete() {
    let config = config(&[("main.tf", THREE)]);
    let (state, _) = apply(&World::new(), THREE, &State::default()).await;
    for (mode, state, has_plan) in [
        (Mode::Normal, State::default(), true),
        (Mode::Normal, state.clone(), true),
        (Mode::RefreshOnly, state.clone(), true),
        // Without its refresh there is no plan to destroy.
        (Mode::Destroy, state, false),
    ] {
        for after in 0..3 {
            let world = stopping(after);
            let (plan, found) = plan(&world, &config, &state, Options { mode, ..Options::default() }).await;
            assert_eq!(texts(&found), ["execution halted: "], "{mode:?} {after}");
            assert_eq!(plan.is_some(), has_plan, "{mode:?} {after}");
            if let Some(plan) = plan {
                assert!(plan.errored && !plan.complete && !plan.applyable, "{mode:?} {after}");
                assert!(plan.changes.len() < 4);
            }
            assert_eq!(world.took().iter().filter(|line| *line == "stop").count(), 1, "plugins are asked to stop");
        }
    }
}

#[tokio::test]
async fn an_interrupted_validation_is_an_error() {
    let world = World::new();
    world.schedule.stop.stop();
    let input = ValidateInput { facts: Facts::of(config(&[("main.tf", THREE)])), parallelism: 1 };
    assert_eq!(texts(&crate::validate(input, &world.ports()).await), ["execution halted: "]);
}

#[tokio::test]
async fn an_interrupted_import_leaves_no_state() {
    let world = stopping(0);
    let (state, found) = import(&world, THREE, &State::default(), "test_thing.b", "x").await;
    assert!(state.is_none());
    assert_eq!(texts(&found), ["execution halted: "]);
    assert_eq!(world.took(), ["configure none", "import x", "stop"]);
}

#[tokio::test]
async fn an_interrupted_apply_keeps_what_was_done() {
    let config = config(&[("main.tf", THREE)]);
    let (planned, _) = plan(&World::new(), &config, &State::default(), Options::default()).await;
    // Planned, started, changed, answered and finished are five points of each instance. What is not started is not done.
    for (after, done) in [(0, 0), (1, 1), (4, 1), (5, 1), (6, 2), (10, 2), (11, 3), (15, 3)] {
        let world = stopping(after);
        let (state, found) = apply_plan(&world, &config, planned.clone().unwrap()).await;
        assert!(texts(&found).contains(&"execution halted: ".to_string()), "{after}");
        let names: Vec<String> = (0..done).map(|i| format!("test_thing.a[{i}]")).collect();
        assert_eq!(addresses(&state), names, "{after}");
    }
}

/// The panic's text and the address of the instance are in the error; independent nodes run.
#[tokio::test]
async fn a_panicking_step_is_an_error_with_its_address() {
    let error = |address: &str, text: &str| {
        format!(
            "Terrane crashed: While working on {address}, Terrane encountered an internal error: {text} is broken\n\nThis is a \
             bug in Terrane; please report it. The operation is incomplete."
        )
    };
    let config = config(&[("main.tf", THREE)]);
    for (name, address) in [("a1", "test_thing.a[1]"), ("b", "test_thing.b")] {
        let world = World::new();
        world.panic(&[&format!("plan {name}")]);
        let (plan, found) = plan(&world, &config, &State::default(), Options::default()).await;
        assert_eq!(texts(&found), [error(address, &format!("plan {name}"))]);
        assert_eq!(found.iter().next().unwrap().address.as_deref(), Some(address));
        let plan = plan.unwrap();
        assert!(plan.errored && !plan.complete && !plan.applyable);
        assert_eq!(plan.changes.len(), if name == "b" { 3 } else { 2 });

        let world = World::new();
        world.panic(&[&format!("create {name}")]);
        let (state, found) = apply_as(&world, &config, &State::default(), Mode::Normal).await;
        assert_eq!(texts(&found), [error(address, &format!("create {name}"))]);
        assert_eq!(state.instances().count(), if name == "b" { 3 } else { 2 });
        // What became of the object is not known: its change stays open.
        let open: Vec<String> = world.record.lock().unwrap().open.iter().map(|(a, _)| a.to_string()).collect();
        assert_eq!(open, [address]);
    }
}

/// A provisioner that waits for another instance of its block must not wait for ever.
#[tokio::test]
async fn a_waiting_provisioner_goes_on_when_the_other_instance_fails() {
    let text = r#"resource "test_thing" "a" {
        count = 2
        name  = "a${count.index}"
        provisioner "note" { text = "${count.index} beside ${try(test_thing.a[1].name, "none")}" }
    }"#;
    let config = config(&[("main.tf", text)]);
    let (planned, _) = plan(&World::new(), &config, &State::default(), Options::default()).await;
    let panicking = World::new();
    panicking.panic(&["create a1"]);
    // The first instance is created when the interrupt comes; the second is never begun.
    for world in [panicking, stopping(3)] {
        let input = ApplyInput {
            facts: world.known.facts(&config),
            plan: planned.clone().unwrap().into(),
            variables: GivenVariables::new(),
            parallelism: 1,
        };
        let (outcome, found) = crate::apply(input, &world.ports()).await;
        assert!(found.has_errors());
        assert_eq!(addresses(&outcome.state.unwrap()), ["test_thing.a[0]"]);
    }
}
