//! Plans that only refresh, and their applies; each expectation was seen on the reference, release 1.11.4.

use model::plan::{Action, Mode, Plan};
use model::state::{CheckStatus, Object, ObjectStatus, State};
use terrane_protocol::provider::Identity;
use terrane_value::Value;

use super::world::*;
use crate::verbs::planned::has_same_objects;

async fn refresh_only(world: &std::sync::Arc<World>, text: &str, state: &State) -> (Plan, Vec<String>) {
    let options = Options { mode: Mode::RefreshOnly, ..Options::default() };
    let (planned, found) = plan(world, &config(&[("main.tf", text)]), state, options).await;
    (planned.unwrap(), texts(&found))
}

#[tokio::test]
async fn applies_evaluate_outputs_and_checks_again() {
    let text = r#"
        resource "test_thing" "a" { name = "a" }
        output "id" { value = test_thing.a.id }
        output "name" { value = "known" }
        check "c" {
          assert {
            condition     = test_thing.a.id == "x"
            error_message = "Other."
          }
        }"#;
    let world = World::new();
    let (planned, found) = refresh_only(&world, text, &State::default()).await;
    assert!(planned.applyable);
    let (state, again) = apply_plan(&world, &config(&[("main.tf", text)]), planned).await;
    assert_eq!((found.len(), texts(&again)), (1, found));
    let outputs: Vec<(&str, bool)> = state.outputs.iter().map(|(name, o)| (&**name, o.value.is_null())).collect();
    assert_eq!(outputs, [("id", true), ("name", false)]);
    assert_eq!(state.checks.unwrap()[0].status, CheckStatus::Unknown);
    assert_eq!(addresses(&State { checks: None, ..state }), [""; 0]);
}

#[tokio::test]
async fn conditions_of_absent_objects_are_evaluated() {
    let text = r#"
        resource "test_thing" "a" {
          name = "a"
          lifecycle {
            postcondition {
              condition     = path.module == "."
              error_message = "Elsewhere."
            }
          }
        }
        resource "test_thing" "b" {
          name = "b"
          lifecycle {
            postcondition {
              condition     = self.id == "x"
              error_message = "Other."
            }
          }
        }"#;
    let (planned, found) = refresh_only(&World::new(), text, &State::default()).await;
    assert!(found.is_empty(), "{found:?}");
    let status: Vec<CheckStatus> = planned.checks.iter().map(|check| check.status).collect();
    assert_eq!(status, [CheckStatus::Pass, CheckStatus::Unknown]);
}

/// The references of outputs see the objects that the configuration does not want any more.
#[tokio::test]
async fn applies_see_objects_that_are_left_alone() {
    let with = |keys: &str| {
        format!(
            r#"resource "test_thing" "a" {{
              for_each = toset([{keys}])
              name     = each.key
            }}
            output "all" {{ value = join(",", keys(test_thing.a)) }}
            output "more" {{ value = {} }}"#,
            keys.len()
        )
    };
    let world = World::new();
    let (state, _) = apply(&world, &with("\"x\", \"y\""), &State::default()).await;
    let (planned, _) = refresh_only(&world, &with("\"y\""), &state).await;
    assert!(planned.outputs.iter().any(|o| o.action == Action::Update) && planned.applyable);
    let (state, found) = apply_plan(&world, &config(&[("main.tf", &with("\"y\""))]), planned).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(state.outputs["all"].value.as_str(), Some("x,y"));
}

/// Observed: dependencies that the configuration has not any more stay, in their place.
#[tokio::test]
async fn kept_dependencies_are_no_change() {
    let with = |input: &str| {
        format!(
            r#"resource "test_thing" "a" {{ name = "a" }}
            resource "test_thing" "b" {{ input = {input} }}
            resource "test_thing" "c" {{ input = test_thing.b.id }}"#
        )
    };
    let world = World::new();
    let (state, _) = apply(&world, &with("test_thing.a.name"), &State::default()).await;
    let (planned, _) = refresh_only(&world, &with("\"a\""), &state).await;
    assert!(!planned.applyable);
}

/// Observed with a provider that began to report identities after the state was written.
#[tokio::test]
async fn new_identities_are_no_change() {
    let world = World::new();
    let (state, _) = apply(&world, "resource \"test_thing\" \"a\" { name = \"a\" }", &State::default()).await;
    let (addr, provider) = state.instances().map(|(addr, provider, _)| (addr, provider.clone())).next().unwrap();
    let with = |change: fn(&mut Object)| {
        let mut state = state.clone();
        change(state.instance_mut(&addr, &provider).current.as_mut().unwrap());
        state
    };
    let identified = with(|object| object.identity = Some(Identity { schema_version: 0, json: "{}".into() }));
    let tainted = with(|object| object.status = ObjectStatus::Tainted);
    assert!(has_same_objects(&state, &identified));
    assert!(!has_same_objects(&state, &tainted) && !has_same_objects(&state, &State::default()));
}

#[tokio::test]
async fn data_sources_that_cannot_be_read_leave_the_state() {
    let text = r#"
        resource "test_thing" "a" { name = "a" }
        data "test_thing" "d" { name = test_thing.a.id }"#;
    let world = World::new();
    let (mut state, _) = apply(&world, text, &State::default()).await;
    state.resources.retain(|addr, _| addr.to_string() != "test_thing.a");
    assert_eq!(addresses(&state), ["data.test_thing.d"]);
    let (planned, found) = refresh_only(&world, text, &state).await;
    assert!(found.is_empty() && !planned.applyable, "{found:?}");
    assert_eq!(addresses(&planned.prior_state), [""; 0]);
}

/// Observed: instances with keys are not there, in the plan as in what it stores.
#[tokio::test]
async fn data_sources_with_keys_that_cannot_be_read_have_no_instances() {
    let with = |value: &str| {
        format!(
            "resource \"test_thing\" \"a\" {{\n name = \"a\"\n}}\n\
             data \"test_thing\" \"d\" {{\n count = 2\n name = test_thing.a.id\n}}\noutput \"o\" {{\n value = {value}\n}}"
        )
    };
    let world = World::new();
    let (length, first) = (with("length(data.test_thing.d)"), with("data.test_thing.d[0].id"));
    let (mut state, _) = apply(&world, &length, &State::default()).await;
    state.resources.retain(|addr, _| addr.to_string() != "test_thing.a");
    let (planned, found) = refresh_only(&world, &length, &state).await;
    assert!(found.is_empty() && planned.outputs[0].change.after == Value::int(0), "{found:?}");
    let (stored, found) = apply_plan(&world, &config(&[("main.tf", &length)]), planned).await;
    assert!(found.is_empty() && stored.outputs["o"].value == Value::int(0), "{:?}", texts(&found));
    let options = Options { mode: Mode::RefreshOnly, ..Options::default() };
    let (_, found) = plan(&world, &config(&[("main.tf", &first)]), &state, options).await;
    assert_eq!(found.iter().map(|d| &*d.summary).collect::<Vec<_>>(), ["Invalid index"]);
}

/// Observed: it plans to remove them, is not applyable because no value has changed, and is refused.
#[tokio::test]
async fn plans_that_only_remove_outputs_are_refused() {
    let with = |outputs: &str| format!("resource \"test_thing\" \"a\" {{ name = \"a\" }}\n{outputs}");
    let world = World::new();
    let (state, _) = apply(&world, &with("output \"o\" { value = 1 }"), &State::default()).await;
    let (planned, found) = refresh_only(&world, &with(""), &state).await;
    assert!(found.is_empty() && !planned.applyable && planned.outputs[0].action == Action::Delete, "{found:?}");
    let (state, found) = apply_plan(&world, &config(&[("main.tf", &with(""))]), planned).await;
    let found: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
    assert_eq!((found, state.outputs.len()), (vec!["Cannot apply non-applyable plan"], 1));
    // Beside something to record they are removed too.
    let new = with("output \"p\" { value = 1 }");
    let (planned, _) = refresh_only(&world, &new, &state).await;
    let (state, found) = apply_plan(&world, &config(&[("main.tf", &new)]), planned).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(state.outputs.keys().map(|name| &**name).collect::<Vec<_>>(), ["p"]);
}
