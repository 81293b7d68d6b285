//! Requests to providers that are not answered for long are reported.

use model::state::State;

use super::world::*;

const CONFIG: &str = r#"
    provider "test" {
      region = "here"
    }
    resource "test_thing" "a" {
      name = "a"
    }"#;

/// The reports of a plan in which a request is answered after 65 seconds.
async fn reports(hanging: &'static str) -> Vec<String> {
    let world = World::new();
    let (state, found) = apply(&world, CONFIG, &State::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    *world.hanging.lock().unwrap() = Some((hanging, 65));
    let (planned, found) = plan(&world, &config(&[("main.tf", CONFIG)]), &state, Options::default()).await;
    assert!(planned.is_some_and(|plan| !plan.errored) && found.is_empty(), "{:?}", texts(&found));
    std::mem::take(&mut *world.pending.lock().unwrap())
}

#[tokio::test]
async fn pending_requests_are_reported_at_growing_intervals() {
    let provider = "provider[\"registry.terraform.io/hashicorp/test\"]";
    let cases = [
        ("GetProviderSchema", provider),
        ("ValidateProviderConfig", provider),
        ("ConfigureProvider", provider),
        ("UpgradeResourceState", "test_thing.a"),
        ("ReadResource", "test_thing.a"),
        ("ValidateResourceConfig", "test_thing.a"),
        ("PlanResourceChange", "test_thing.a"),
    ];
    for (request, subject) in cases {
        let expected = [10, 20, 40].map(|seconds| format!("{subject} hashicorp/test {request} {seconds}"));
        assert_eq!(reports(request).await, expected);
    }
}

#[tokio::test]
async fn reports_say_that_the_run_was_interrupted() {
    let world = World::new();
    *world.hanging.lock().unwrap() = Some(("GetProviderSchema", 15));
    world.schedule.stop.stop();
    let (_, found) = plan(&world, &config(&[("main.tf", CONFIG)]), &State::default(), Options::default()).await;
    assert!(found.has_errors());
    let expected = "provider[\"registry.terraform.io/hashicorp/test\"] hashicorp/test GetProviderSchema 10 stopping";
    assert_eq!(*world.pending.lock().unwrap(), [expected]);
}
