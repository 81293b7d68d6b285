//! Ephemeral objects: opened, renewed as long as they are open, closed.

use base::diag::Severity;
use model::state::State;

use super::world::*;

const CONFIG: &str = r#"
    ephemeral "test_thing" "e" {
      name = "e"
    }
    resource "test_thing" "a" {
      name       = "a"
      depends_on = [ephemeral.test_thing.e]
    }"#;

#[tokio::test]
async fn open_objects_are_renewed_until_they_are_closed() {
    let world = World::new();
    let (_, found) = apply(&world, CONFIG, &State::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let said = world.took();
    let said: Vec<&str> = said.iter().map(String::as_str).filter(|line| !line.starts_with("configure")).collect();
    assert_eq!(said, ["open e", "renew 1", "renew 2", "create a", "close 0"]);
}

/// The reference drops the errors.
#[tokio::test]
async fn failed_renewals_warn_and_are_the_last() {
    let world = World::new();
    world.fail(&["renew 1"]);
    let (planned, found) = plan(&world, &config(&[("main.tf", CONFIG)]), &State::default(), Options::default()).await;
    assert!(!planned.unwrap().errored);
    assert_eq!(texts(&found), ["renewal failed: The lease is gone."]);
    assert!(found.iter().all(|d| d.severity == Severity::Warning));
    let said = world.took();
    assert!(said.contains(&"renew 1".to_string()) && !said.contains(&"renew 2".to_string()), "{said:?}");
    assert_eq!(said.last().map(String::as_str), Some("close 0"));
}

#[tokio::test]
async fn panicking_renewals_are_errors() {
    let world = World::new();
    world.panic(&["renew"]);
    let (_, found) = plan(&world, &config(&[("main.tf", CONFIG)]), &State::default(), Options::default()).await;
    assert!(texts(&found).iter().any(|text| text.contains("renew is broken")), "{:?}", texts(&found));
}
