//! What the import command does to the state; each expectation was seen on the reference, release 1.11.4.

use model::state::State;

use super::world::*;

async fn imported(world: &std::sync::Arc<World>, text: &str, state: &State, addr: &str, id: &str) -> State {
    let (after, found) = import(world, text, state, addr, id).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    after.unwrap()
}

async fn refused(text: &str, state: &State, addr: &str, id: &str) -> (Vec<String>, Vec<String>) {
    let world = World::new();
    let (after, found) = import(&world, text, state, addr, id).await;
    assert!(after.is_none());
    (texts(&found), world.took())
}

const ONE: &str = r#"resource "test_thing" "a" { name = "a" }"#;

#[tokio::test]
async fn objects_are_kept_as_the_provider_reads_them() {
    let world = World::new();
    let text = format!("{ONE}\nresource \"test_thing\" \"b\" {{ input = test_thing.a.id }}");
    let text = format!("{text}\nresource \"test_thing\" \"c\" {{ input = test_thing.b.id }}");
    let state = imported(&world, &text, &State::default(), "test_thing.b", "x").await;
    assert_eq!(world.took(), ["configure none", "import x"]);
    assert_eq!(addresses(&state), ["test_thing.b"]);
    let (_, _, instance) = state.instances().next().unwrap();
    let object = instance.current.as_ref().unwrap();
    assert_eq!((&*object.private, object.dependencies.len()), (&b"x"[..], 0));
    assert_eq!(object.sensitive.len(), 1);
}

#[tokio::test]
async fn objects_of_other_types_and_names_are_imported_too() {
    let id = "x+test_other:y+z+test_other:w";
    let state = imported(&World::new(), ONE, &State::default(), "test_thing.a", id).await;
    let expected = ["test_other.a", "test_other.a-1", "test_thing.a", "test_thing.a-1"];
    assert_eq!(addresses(&state), expected);
    let (found, _) = refused(ONE, &state, "test_thing.a", "x+y").await;
    let managed = |addr: &str| {
        format!(
            "Resource already managed by Terrane: Terrane is already managing a remote object for {addr}. To import to this \
             address you must first remove the existing object from the state."
        )
    };
    assert_eq!(found, [managed("test_thing.a"), managed("test_thing.a-1")]);
    let (found, _) = refused(ONE, &State::default(), "test_thing.a", "test_none:x").await;
    assert_eq!(found, ["provider does not support resource type \"test_none\": "]);
}

#[tokio::test]
async fn objects_that_are_not_there_are_errors() {
    let world = World::new();
    world.fail(&["x"]);
    let (after, found) = import(&world, ONE, &State::default(), "test_thing.a", "x").await;
    assert_eq!((after.is_none(), texts(&found)), (true, vec!["import failed: x".into()]));
    assert!(found.iter().all(|d| d.address.is_none() && d.subject.is_none()));
    let world = World::new();
    world.gone.lock().unwrap().push("x".into());
    let (after, found) = import(&world, ONE, &State::default(), "test_thing.a", "x").await;
    assert!(after.is_none());
    assert_eq!(found.iter().next().unwrap().summary, "Cannot import non-existent remote object");
    // The reference reports success where it has imported nothing.
    let (found, _) = refused(ONE, &State::default(), "test_thing.a", "").await;
    assert_eq!(found.len(), 1, "{found:?}");
}

const CHANGED: &str = r#"
    resource "test_thing" "a" {}
    resource "test_thing" "kept" { name = "changed" }
    resource "test_thing" "later" {}
    resource "test_thing" "fewer" { count = 1 }
    moved {
      from = test_thing.former
      to   = test_thing.later
    }
    import {
      to = test_thing.later
      id = "later"
    }
    removed {
      from = test_thing.gone
      lifecycle { destroy = false }
    }
    data "test_thing" "fewer" {
      count = 1
      name  = "read"
    }
    output "names" { value = [test_thing.kept.name, test_thing.fewer[*].id, test_thing.later.name, test_thing.a.id] }"#;

/// Other objects are neither read nor changed, and nothing is planned.
#[tokio::test]
async fn other_objects_stay_as_they_are_stored() {
    let world = World::new();
    let before = r#"
        resource "test_thing" "kept" { name = "kept" }
        resource "test_thing" "gone" { name = "gone" }
        resource "test_thing" "former" { name = "former" }
        resource "test_thing" "fewer" { count = 2 }
        data "test_thing" "gone" { name = "gone" }
        data "test_thing" "fewer" {
          count = 2
          name  = "fewer"
        }
        output "gone" { value = "x" }"#;
    let (state, _) = apply(&world, before, &State::default()).await;
    world.took();
    world.gone.lock().unwrap().push("id-1".into());
    let state = imported(&world, CHANGED, &state, "test_thing.a", "x").await;
    let log = world.took();
    assert_eq!(log.iter().filter(|line| !line.starts_with("configure")).count(), 2, "{log:?}");
    let expected = [
        "data.test_thing.fewer[0]",
        "data.test_thing.gone",
        "test_thing.a",
        "test_thing.fewer[0]",
        "test_thing.fewer[1]",
        "test_thing.former",
        "test_thing.gone",
        "test_thing.kept",
    ];
    assert_eq!(addresses(&state), expected);
    let outputs: Vec<&str> = state.outputs.keys().map(|name| &**name).collect();
    assert_eq!(outputs, ["names"]);
    let names = &state.outputs["names"].value;
    let parts: Vec<bool> = names.elements().iter().map(|part| part.is_null()).collect();
    assert_eq!(parts, [false, false, true, false]);
}

#[tokio::test]
async fn what_has_no_object_yet_is_unknown() {
    let text = r#"
        resource "test_thing" "a" {}
        resource "test_thing" "counted" { count = 2 }
        resource "test_thing" "keyed" { for_each = toset(["x"]) }
        data "test_thing" "d" { name = test_thing.counted[1].id }
        output "counted" { value = test_thing.counted[1].id }
        output "keyed" { value = test_thing.keyed["nothing"].id }
        output "data" { value = "${data.test_thing.d.id}" }"#;
    let world = World::new();
    let state = imported(&world, text, &State::default(), "test_thing.a", "x").await;
    let nulls: Vec<bool> = state.outputs.values().map(|output| output.value.is_null()).collect();
    assert_eq!(nulls, [true; 3]);
    let state = imported(&world, text, &state, "test_thing.counted[1]", "y").await;
    assert_eq!(state.outputs["counted"].value.as_str(), Some("y"));
    assert!(addresses(&state).contains(&"data.test_thing.d".to_string()));
    // Once it has some, it has no others.
    let state = imported(&world, text, &state, "test_thing.counted[0]", "z").await;
    let (after, found) = import(&world, text, &state, "test_thing.keyed[\"x\"]", "y").await;
    assert!(after.is_none() && found.iter().any(|d| d.summary == "Invalid index"), "{:?}", texts(&found));
    // What a data source is read by is not known any more.
    let mut fewer = state.clone();
    fewer.resources.retain(|addr, _| addr.to_string() != "test_thing.counted" && addr.to_string() != "test_thing.a");
    let state = imported(&world, text, &fewer, "test_thing.a", "x").await;
    assert_eq!(addresses(&state), ["test_thing.a"]);
}

#[tokio::test]
async fn instances_that_the_block_does_not_have_are_errors() {
    let text = r#"
        resource "test_thing" "a" { count = 1 }
        resource "test_thing" "b" { for_each = toset(["x"]) }"#;
    for addr in ["test_thing.a", "test_thing.a[1]", "test_thing.a[\"x\"]", "test_thing.b[0]", "test_thing.b[\"y\"]"] {
        let (found, log) = refused(text, &State::default(), addr, "x").await;
        let expected = format!(
            "Configuration for import target does not exist: The configuration for the given import {addr} does not exist. All \
             target instances must have an associated configuration to be imported."
        );
        assert_eq!((found, log), (vec![expected], vec!["configure none".into()]));
    }
}

#[tokio::test]
async fn provider_configurations_must_be_known() {
    let text = r#"
        provider "test" { region = test_thing.b.id }
        provider "test" { alias = "known" }
        resource "test_thing" "a" { provider = test.known }
        resource "test_thing" "b" { provider = test.known }
        resource "test_thing" "c" {}"#;
    let (found, _) = refused(text, &State::default(), "test_thing.a", "x").await;
    let expected = "Invalid provider configuration: The configuration for provider[\"registry.terraform.io/hashicorp/test\"] \
                    depends on values that cannot be determined until apply.";
    assert_eq!(found, [expected]);
    let state = imported(&World::new(), text, &State::default(), "test_thing.b", "x").await;
    assert_eq!(addresses(&state), ["test_thing.b"]);
}

#[tokio::test]
async fn conditions_warn_but_for_those_of_outputs() {
    let with = |output: &str| {
        format!(
            r#"resource "test_thing" "a" {{
              lifecycle {{
                precondition {{
                  condition     = path.module == "elsewhere"
                  error_message = "Never looked at."
                }}
              }}
            }}
            resource "test_thing" "b" {{
              lifecycle {{
                precondition {{
                  condition     = test_thing.a.id == "y"
                  error_message = "Other."
                }}
              }}
            }}
            check "c" {{
              assert {{
                condition     = test_thing.a.id == "y"
                error_message = "Other."
              }}
            }}
            output "o" {{
              value = 1
              precondition {{
                condition     = {output}
                error_message = "Other."
              }}
            }}"#
        )
    };
    let world = World::new();
    let (state, found) =
        import(&world, &with("path.module != \"elsewhere\""), &State::default(), "test_thing.a", "x").await;
    assert!(state.unwrap().checks.is_none() && !found.has_errors());
    let summaries: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
    assert_eq!(summaries, ["Resource precondition failed", "Check block assertion failed"]);
    let (state, found) =
        import(&world, &with("test_thing.a.id == \"y\""), &State::default(), "test_thing.a", "x").await;
    assert!(state.is_none() && found.has_errors());
}

/// Bodies of managed resources are not evaluated, so that they need not be sound.
#[tokio::test]
async fn bodies_are_not_evaluated() {
    let text = r#"
        resource "test_thing" "a" { name = test_thing.none.id }
        resource "test_thing" "b" { name = can(1).x }"#;
    let state = imported(&World::new(), text, &State::default(), "test_thing.a", "x").await;
    assert_eq!(addresses(&state), ["test_thing.a"]);
}
