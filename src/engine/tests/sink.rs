//! The calls that the state sink receives, their order, and what happens when it fails.

use model::plan::Mode;
use model::state::State;

use super::world::*;

const TWO: &str = r#"
    resource "test_thing" "a" { name = "a" }
    resource "test_thing" "b" {
      name  = "b"
      input = test_thing.a.output
      provisioner "note" { text = "b" }
    }
    output "o" { value = test_thing.b.output }"#;

#[tokio::test]
async fn changes_are_recorded_before_and_after_the_provider_call() {
    let created = [
        "begin",
        "configure none",
        "started test_thing.a",
        "create a",
        "finished test_thing.a",
        "started test_thing.b",
        "create b",
        // Tainted until its provisioner has run.
        "finished test_thing.b",
        "note b",
        "finished test_thing.b",
        "output o",
    ];
    let until = |call: &str| {
        let end = created.iter().position(|line| *line == call).unwrap();
        created[..=end].to_vec()
    };
    // What was not started is as it was, which is recorded.
    let not_started = |name: &'static str, finished: &'static str| [until(name), vec![finished]].concat();
    // The call that fails, what is done, what the state has.
    let a = vec!["test_thing.a"];
    let both = vec!["test_thing.a", "test_thing.b"];
    for (failing, log, state) in [
        ("none", created.to_vec(), both.clone()),
        ("begin", until("begin"), vec![]),
        ("started test_thing.a", not_started("started test_thing.a", "finished test_thing.a"), vec![]),
        ("finished test_thing.a", until("finished test_thing.a"), a.clone()),
        ("started test_thing.b", not_started("started test_thing.b", "finished test_thing.b"), a),
        ("output o", created.to_vec(), both),
    ] {
        let world = World::new();
        *world.sink.lock().unwrap() = Some(failing.to_string());
        let (after, found) = apply(&world, TWO, &State::default()).await;
        assert_eq!(found.has_errors(), failing != "none", "{failing}: {:?}", texts(&found));
        assert!(failing == "none" || texts(&found).contains(&format!("not recorded: {failing}")), "{failing}");
        let seen: Vec<String> = world.took();
        assert_eq!(seen, log, "{failing}");
        assert_eq!(addresses(&after), state, "{failing}");
    }
}

/// The plan knows the value of an output before the object that it refers to exists.
#[tokio::test]
async fn outputs_are_recorded_once_all_that_they_refer_to_is() {
    let config = r#"
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" {
          name  = "b"
          input = test_thing.a.output
        }
        output "before" { value = test_thing.a.name }
        output "late"   { value = test_thing.b.name }
        output "plain"  { value = "plain" }"#;
    let world = World::new();
    *world.sink.lock().unwrap() = Some("started test_thing.b".to_string());
    let _ = apply(&world, config, &State::default()).await;
    let recorded = world.record.lock().unwrap().state.outputs.clone();
    assert_eq!(recorded.keys().map(|name| &**name).collect::<Vec<_>>(), ["before", "plain"]);
    let world = World::new();
    let _ = apply(&world, config, &State::default()).await;
    assert_eq!(world.record.lock().unwrap().state.outputs.len(), 3);
}

/// What cannot be recorded as started is not destroyed.
#[tokio::test]
async fn destroying_is_recorded_too() {
    let world = World::new();
    let (state, _) = apply(&world, TWO, &State::default()).await;
    for (failing, left) in [("none", 0), ("started test_thing.b", 2), ("finished test_thing.b", 1)] {
        let world = World::new();
        *world.sink.lock().unwrap() = Some(failing.to_string());
        let config = config(&[("main.tf", TWO)]);
        let (after, found) = apply_as(&world, &config, &state, Mode::Destroy).await;
        assert_eq!(found.has_errors(), failing != "none", "{failing}: {:?}", texts(&found));
        assert_eq!(after.instances().count(), left, "{failing}");
        let log = world.took();
        assert_eq!(log.iter().any(|line| line == "destroy b"), failing != "started test_thing.b", "{log:?}");
        assert_eq!(log.iter().any(|line| line == "destroy a"), failing == "none", "{log:?}");
    }
}
